"""`pytest --symfix-probe`: what torch.compile did about sizes in the tests, after their results.

Without the option nothing is imported, set or registered. With it torch's structured trace is on in this process and in
those that it starts; the tests run as they are, and `symfix probe` reads the trace in a process of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile

TYPE_CHECKING = False  # that of typing takes longer to load
if TYPE_CHECKING:
    import pytest

_OPTION = "--symfix-probe"
_TRACE = "TORCH_TRACE"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("symfix")
    group.addoption(_OPTION, action="store_true", help="say which lines torch.compile guards and compiles again for")


def pytest_configure(config: pytest.Config) -> None:
    """Trace, where that is asked for. Raises UsageError where the tests write a trace of their own."""
    if not config.getoption(_OPTION):
        return
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist has the folder of the process that reads it
        if _TRACE in os.environ:
            import pytest

            raise pytest.UsageError(
                f"{_OPTION}: {_TRACE} is set; unset it, or read what it records: symfix probe --trace"
            )
        os.environ[_TRACE] = tempfile.mkdtemp(prefix="symfix-probe-")
        config.pluginmanager.register(_Summary(os.environ[_TRACE]), "symfix-summary")
    from codemod.runner import assumptions

    assumptions.attend()
    if "torch" in sys.modules:  # it has read the variable already
        from codemod.runner import tracing

        tracing.start(os.environ[_TRACE])


class _Summary:
    """Reads the traces of all tests at their end, and takes them away."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Print what was answered, and the command that looks for a cure."""
        terminalreporter.section("symfix probe")
        if not any(name.endswith(".log") for name in os.listdir(self._folder)):
            terminalreporter.line("the tests compiled nothing")
            return
        command = [sys.executable, "-P", "-m", "codemod.cli", "probe", "--trace", self._folder]
        if sys.version_info < (3, 11):
            command.remove("-P")
        environment = {name: value for name, value in os.environ.items() if name != _TRACE}
        done = subprocess.run(command, cwd=config.invocation_params.dir, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        terminalreporter.line((done.stdout if done.returncode in (0, 1) else done.stderr).rstrip())
        if done.returncode == 1:
            arguments = [item for item in map(str, config.invocation_params.args) if item != _OPTION]
            cure = shlex.join(["symfix", "fix", "--", "python", "-m", "pytest", *arguments])
            terminalreporter.line(f"{cure} looks for a cure")

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Remove the traces."""
        os.environ.pop(_TRACE, None)
        shutil.rmtree(self._folder, ignore_errors=True)
