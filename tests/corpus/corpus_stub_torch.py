"""Import a library's Python against a stub torch and print what it registers; runs as a program of its own.

    python corpus_stub_torch.py TREE < paths

Reads the paths of modules, a line each, relative to TREE. Prints a JSON document: `registered` has a list of
[kind, operator, path, function, …] for each registration of a function, with all functions that it may mean; `skipped`
has a line for each statement that could not be run. What is neither TREE nor the standard library is a stub that takes
everything. Modules run statement by statement and both ways through their conditions, so that what one machine has not
is registered nonetheless. Folders that they make and files that they write are not there; starting programs, other
changes of files and the network are refused.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import resource
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # python -I leaves it out
from corpus_stubs import VERSION, Namespaces, Recorder, Stub, torch_library

del sys.path[0]

SECONDS = 20
"""Of processor time that one module gets for itself."""
MEMORY = 6 << 30
_REFUSED = (
    "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "socket.", "os.remove", "os.rename",
    "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.chown", "os.kill", "shutil.",
    "ctypes.dlopen", "pty.", "ftplib.", "smtplib.", "urllib.", "sqlite3.",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_HELD = ("subprocess", "multiprocessing", "concurrent", "threading", "ctypes", "socket", "asyncio", "signal")
"""Modules of the standard library that are stubs too."""


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the tree's own modules, and a stub for all others that are not of the standard library."""

    def __init__(self, root: Path, recorder: Recorder) -> None:
        self._root = root
        self._given = torch_library(recorder)
        self._ops = Namespaces(recorder)
        self._roots = sorted({root, *(p.parent.parent for p in root.rglob("__init__.py") if _topmost(p.parent))})
        self._executed: dict[Path, dict[str, Any]] = {}
        self.skipped: list[str] = []

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """A spec for every module but those of the standard library."""
        head = fullname.partition(".")[0]
        if (head in sys.stdlib_module_names and head not in _HELD) or head == "__main__":
            return None
        place = None if head == "torch" and not (self._root / "torch").is_dir() else self._place(fullname)
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=place is None or place.suffix != ".py")
        if place is not None and place.name == "__init__.py":
            spec.submodule_search_locations = [str(place.parent)]
        spec.loader_state = place
        return spec

    def _place(self, fullname: str) -> Path | None:
        """The file of a module of the tree, or its folder."""
        for root in self._roots:
            path = root.joinpath(*fullname.split("."))
            for file in (path / "__init__.py", path.with_name(path.name + ".py")):
                if file.is_file():
                    return file
            if path.is_dir() and next(path.glob("**/*.py"), None) is not None:
                return path
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A module that is empty, or gives a stub for each name."""
        module = types.ModuleType(spec.name)
        if spec.loader_state is None:
            made = Stub(spec.name)
            submodules = {"torch": ("library", "_library", "_custom_op", "_custom_ops")}.get(spec.name, ())

            def attribute(name: str) -> Any:
                return importlib.import_module(f"torch.{name}") if name in submodules else getattr(made, name)

            module.__dict__.update(__all__=[], __getattr__=attribute, __version__=VERSION)
            if spec.name == "torch":
                module.__dict__.update(ops=self._ops)
            elif spec.name.startswith(("torch.library", "torch._library", "torch._custom_op")):
                module.__dict__.update(self._given)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the statements of a module of the tree, each by itself."""
        place = module.__spec__.loader_state if module.__spec__ is not None else None
        if place is None or place.is_dir():
            return
        if place in self._executed:
            module.__dict__.update(self._executed[place])
            return
        module.__file__ = str(place)
        self._executed[place] = module.__dict__
        try:
            tree = ast.parse(place.read_bytes())
        except (SyntaxError, ValueError, RecursionError) as error:
            self.skipped.append(f"{place}:1: {error}")
            return
        self._run(tree.body, module.__dict__, str(place))

    def module_of(self, path: Path) -> str:
        """The name by which the tree itself imports a file."""
        root = max((root for root in self._roots if root in path.parents), key=lambda root: len(root.parts))
        parts = list(path.relative_to(root).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def _run(self, statements: Sequence[ast.stmt], names: dict[str, Any], path: str) -> None:
        for statement in statements:
            match statement:
                case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                    continue
                case ast.If(test=test, body=body, orelse=orelse):
                    holds = self._holds(test, names, path)
                    for branch in (orelse, body) if holds else (body, orelse):
                        self._run(branch, names, path)
                case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                    for handler in handlers:
                        names |= {handler.name: Stub("error")} if handler.name else {}
                        self._run(handler.body, names, path)
                    self._run([*body, *orelse, *final], names, path)
                case _:
                    self._statement(statement, names, path)

    def _holds(self, test: ast.expr, names: dict[str, Any], path: str) -> bool:
        try:
            return bool(eval(compile(ast.Expression(test), path, "eval", dont_inherit=True), names))
        except BaseException:
            return True

    def _statement(self, statement: ast.stmt, names: dict[str, Any], path: str) -> None:
        module = ast.Module([statement], [])
        flags = __future__.annotations.compiler_flag
        try:
            exec(compile(module, path, "exec", flags, dont_inherit=True), names)
        except BaseException as error:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for alias in statement.names:
                    names.setdefault((alias.asname or alias.name).partition(".")[0], Stub(alias.name))
            if not isinstance(statement, ast.Raise):
                self.skipped.append(f"{path}:{statement.lineno}: {type(error).__name__}: {str(error)[:200]}")


def _topmost(folder: Path) -> bool:
    return not (folder.parent / "__init__.py").is_file()


def _without_writing(opening: Callable[..., Any]) -> Callable[..., Any]:
    """`open`, with a file in memory for whatever is to be written."""

    def opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        if isinstance(mode, str) and set(mode) & set("wax+"):
            return io.BytesIO() if "b" in mode else io.StringIO()
        return opening(file, mode, *given, **named)

    return opened


def _refuse(event: str, given: tuple[Any, ...]) -> None:
    writes = event == "open" and (set(given[1] or "") & set("wax+") or (given[2] or 0) & _WRITING)
    if writes or event.startswith(_REFUSED):
        raise PermissionError(event)


def _expired(*_: object) -> None:
    raise TimeoutError(f"{SECONDS} s")


def main() -> None:
    """Run the program."""
    root = Path(sys.argv[1]).resolve()
    paths = sys.stdin.read().split("\n")
    output, sys.stdout, sys.stderr = sys.stdout, io.StringIO(), io.StringIO()
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(3000)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    recorder = Recorder(str(root))
    modules = Modules(root, recorder)
    for name in [name for name in sys.modules if name.partition(".")[0] in _HELD]:
        del sys.modules[name]
    sys.meta_path.insert(0, modules)
    signal.signal(signal.SIGVTALRM, _expired)
    builtins.exit = builtins.quit = Stub("exit")  # type: ignore[assignment]
    sys.argv, sys.path = ["python"], [entry for entry in sys.path if "site-packages" not in entry]
    tempfile.gettempdir()  # which is looked for by writing
    builtins.open = io.open = _without_writing(builtins.open)
    os.mkdir = os.makedirs = lambda *_, **__: None  # type: ignore[assignment]
    sys.addaudithook(_refuse)
    for path in filter(None, paths):
        name = modules.module_of(root / path)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            if name not in sys.modules:
                __import__(name)
        except BaseException as error:
            modules.skipped.append(f"{root / path}:1: {type(error).__name__}: {str(error)[:200]}")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    skipped = [line.replace(str(root) + os.sep, "") for line in modules.skipped]
    document = {"registered": [list(entry) for entry in recorder.registered], "skipped": skipped}
    output.write(json.dumps(document))
    output.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
