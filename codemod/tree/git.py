"""Every call of git: over the repository that was found, and with nothing of its own configuration run.

What the user has configured for all repositories holds: their name, how they sign, who gives credentials. Of the
configuration inside a repository, which came with whatever the user cloned or unpacked, each setting that names a
command is overridden by the user's own value, or by what git does without it. Filters are never run, whoever
configured them, for they read the repository's settings themselves. See git-config(1) for what each setting does.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from codemod.errors import SymfixError
from codemod.terminal import decode, one_line

if TYPE_CHECKING:
    import subprocess

    import git

_FIXED = (
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.alternateRefsCommand", "true"),
    ("core.quotePath", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.orderFile", os.devnull),
    ("diff.submodule", "short"),
    ("push.recurseSubmodules", "no"),
)
"""What holds for every call, also over the user's own settings."""

# Settings of a repository's own that name a command, and what stands in for one where the user has none.
_COMMANDS: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern, re.DOTALL), value)
    for pattern, value in (
        (r"core\.(?:pager|editor)|sequence\.editor", "cat"),
        (r"pager\..+", "false"),
        (r"core\.askpass", ""),
        (r"diff\..+\.(?:command|textconv)", "cat"),
        (r"merge\..+\.driver", "false"),
        (r"gpg\.program|gpg\.openpgp\.program", "gpg"),
        (r"gpg\.x509\.program", "gpgsm"),
        (r"gpg\.ssh\.program", "ssh-keygen"),
        (r"gpg\.ssh\.defaultkeycommand", "false"),
        (r"protocol\.(?:https?|git|ssh)\.allow", "always"),
        (r"protocol\.(?:.+\.)?allow", "user"),
        (r"http\.(?:.+\.)?savecookies", "false"),
        (r"alias\..+|interactive\.difffilter|submodule\..+\.update|trailer\..+\.(?:cmd|command)", ""),
    )
]
_SSH = "core.sshcommand"
_ERRORS = ("fatal:", "error:", "ERROR:")
_SAID = 3  # lines of a server that are shown
_UPLOAD = re.compile(r"remote\..+\.uploadpack", re.DOTALL)
_PARTIAL = re.compile(r"extensions\.partialclone|remote\..+\.(?:promisor|partialclonefilter)", re.DOTALL)
# Of these settings the first counts, not the last, so that only an option is above them.
_PROGRAMS = {"push": "--receive-pack=git-receive-pack", "ls-remote": "--upload-pack=git-upload-pack"}
_EXT = "protocol.ext.allow"
_HELPER = re.compile(r"credential\.(?:.+\.)?helper", re.DOTALL)
_FILTER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process|required)", re.DOTALL)
# What a hook's git sets of its own repository; see git rev-parse --local-env-vars. Settings are the user's.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
)  # fmt: skip


class _Setting(NamedTuple):
    scope: str
    key: str
    """Section and name in lower case, what is between them as it is written."""
    value: str

    @property
    def own(self) -> bool:
        """Whether it came with the repository."""
        return self.scope in ("local", "worktree")


class GitFailed(SymfixError):
    """A call of git that ended with an error. `reason` is the line of its stderr that tells why, "" for none."""

    def __init__(self, root: Path, reason: str, code: int) -> None:
        super().__init__(f"{root}: git failed: {reason or f'exit code {code}'}")
        self.reason = reason


@dataclass(frozen=True)
class Git:
    """Runs git over one repository: its git folder, and the top of the work tree that belongs to it."""

    git_dir: Path
    top: Path

    def run(self, *arguments: str, cwd: Path | None = None, stdin: bytes = b"", codes: Sequence[int] = (0,)) -> bytes:
        """What `git ARGUMENTS` prints, run in `cwd` or at the top.

        Raises GitFailed where it ends with another status than `codes`, SymfixError where git cannot be run.
        """
        done = _call([*self.command, *_own_programs(arguments)], cwd or self.top, self.environment, stdin)
        if done.returncode not in codes:
            raise _failed(self.top, done)
        return done.stdout

    @functools.cached_property
    def command(self) -> list[str]:
        """`git` with the options that every call begins with. Raises SymfixError where git does not trust the owner."""
        self._check_owner()
        return ["git", f"--git-dir={self.git_dir}", f"--work-tree={self.top}", *_options()]

    @functools.cached_property
    def environment(self) -> dict[str, str]:
        """The environment of a call: the user's, with the repository's commands switched off.

        Raises SymfixError where git cannot be told: it is too old, or fetches what it lacks by a repository's program.
        """
        own = {setting.key for setting in self._settings if setting.own}
        fetching = sorted(filter(_UPLOAD.fullmatch, own))
        if fetching and any(map(_PARTIAL.fullmatch, own)):
            raise SymfixError(
                f"{self.top}: a partial clone, whose {fetching[0]} git would run for what it lacks; unset that first"
            )
        trusted = {setting.key: setting.value for setting in self._settings if not setting.own}
        overrides = []
        for key in sorted(own):
            value = next((value for pattern, value in _COMMANDS if pattern.fullmatch(key)), None)
            if value is not None:
                overrides.append((key, trusted.get(key, value)))
        if _SSH in own:
            overrides.append((_SSH, trusted.get(_SSH) or shlex.quote(os.environ.get("GIT_SSH") or "ssh")))
        if any(key.startswith("protocol.") for key in own):  # or protocol.allow would be ext's too
            overrides.append((_EXT, trusted.get(_EXT) or trusted.get("protocol.allow") or "never"))
        if any(map(_HELPER.fullmatch, own)):
            overrides.append(("credential.helper", ""))  # forgets those named so far, the user's too
            helpers = (setting for setting in self._settings if _HELPER.fullmatch(setting.key) and not setting.own)
            overrides += ((setting.key, setting.value) for setting in helpers)
        for name in sorted(self.filters):
            overrides += ((f"filter.{name}.{part}", "") for part in ("clean", "smudge", "process"))
            overrides.append((f"filter.{name}.required", "false"))
        environment = _with_settings(self._plain, overrides)
        if "core.gitproxy" in own:  # of several the first counts, but the environment above all
            environment.setdefault("GIT_PROXY_COMMAND", "")
        return environment

    @functools.cached_property
    def filters(self) -> frozenset[str]:
        """The names of all filters that are configured, the user's and the repository's; none is run."""
        matches = (_FILTER.fullmatch(setting.key) for setting in self._settings)
        return frozenset(match[1] for match in matches if match)

    def unused(self) -> str:
        """What to say where a call failed that may have needed a command of the repository's own; "" where none."""
        keys = {setting.key for setting in self._settings if setting.own}
        left = sorted(key for key in keys if key == _SSH or _HELPER.fullmatch(key))
        return f" ({left[0]} of the repository's own configuration is not run; set it with --global)" if left else ""

    def filtered(self, path: str, cwd: Path) -> str:
        """The filter that git would run on the file `path`, relative to `cwd`; "" for none."""
        if not self.filters:
            return ""
        name = decode(self.run("check-attr", "-z", "filter", "--", path, cwd=cwd)).split("\0")[2]
        return name if name in self.filters else ""

    def repository(self) -> git.Repo:
        """The repository to GitPython, whose calls of git are made as those of `run` are."""
        import git

        top, command, environment = self.top, self.command, self.environment

        class Quiet(git.Git):
            def __init__(self, working_dir: object = None) -> None:
                super().__init__(str(top))

            def execute(self, arguments: Sequence[str], *rest: Any, **options: Any) -> Any:  # type: ignore[override]
                options["env"] = {**environment, **(options.get("env") or {})}
                return super().execute([*command, *_own_programs(arguments[1:])], *rest, **options)

        class Repo(git.Repo):
            GitCommandWrapperType = Quiet

        return Repo(top, expand_vars=False)

    @functools.cached_property
    def _plain(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
        index = os.environ.get("GIT_INDEX_FILE", "")
        # In a hook of this repository, what is about to be committed.
        if index and os.path.realpath(index).startswith(os.path.realpath(self.git_dir) + os.sep):
            environment["GIT_INDEX_FILE"] = os.path.abspath(index)
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
        return _with_settings(environment, _FIXED)

    @functools.cached_property
    def _settings(self) -> list[_Setting]:
        """All settings, in the order in which git reads them."""
        done = _call([*self.command, "config", "--list", "--show-scope", "-z"], self.top, self._plain)
        if done.returncode:
            raise _failed(self.top, done)
        words = decode(done.stdout).split("\0")
        settings = []
        for scope, entry in zip(words[::2], words[1::2], strict=False):
            key, _, value = entry.partition("\n")
            settings.append(_Setting(scope, key, value))
        # What the environment gives is among the settings only since git 2.31.
        if not any(key == _FIXED[-1][0].lower() and scope == "command" for scope, key, _ in settings):
            raise SymfixError("git is too old to be told what not to run; symfix needs git 2.31 or later")
        return settings

    def _check_owner(self) -> None:
        """Raise SymfixError where another user owns the repository and git has not been told to trust it."""
        if not hasattr(os, "geteuid"):
            return
        if all(os.stat(place).st_uid == os.geteuid() for place in (self.git_dir, self.top)):
            return
        environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
        done = _call(["git", *_options(), "rev-parse", "--git-dir"], self.top, environment)
        if done.returncode:
            raise SymfixError(f"{self.top}: {one_line(decode(done.stderr))}")


def merge_file(current: Path, old: Path, new: Path) -> bytes | None:
    """What git makes of `current` when the change from `old` to `new` is merged into it, None where they conflict.

    Raises SymfixError where git cannot be run.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    command = ["git", f"--git-dir={os.devnull}", *_options(), "merge-file", "-p", "-q", str(current), str(old)]
    done = _call([*command, str(new)], current.parent, environment)
    return None if done.returncode else done.stdout


def _own_programs(arguments: Sequence[str]) -> list[str]:
    """`arguments` with git's own programs at the other end, whatever a remote of the repository names."""
    return [*arguments[:1], *filter(None, (_PROGRAMS.get(arguments[0]),)), *arguments[1:]]


def _options() -> list[str]:
    """The settings of every call once more: options count above all that the environment says."""
    return [word for key, value in _FIXED[:3] for word in ("-c", f"{key}={value}")]


def _with_settings(environment: Mapping[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """`environment` with more settings, as git takes them from there: these count above those of any file."""
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdigit() else 0
    added = dict(environment)
    for number, (key, value) in enumerate(settings, first):
        added |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    added["GIT_CONFIG_COUNT"] = str(first + len(settings))
    return added


def _call(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    import subprocess

    try:
        return subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise SymfixError(f"git cannot be run: {error.strerror}; {cwd} lies in a git checkout") from error


def _failed(root: Path, done: subprocess.CompletedProcess[bytes]) -> GitFailed:
    return GitFailed(root, reason_of(decode(done.stderr)), done.returncode)


def printed_by(error: git.GitCommandError) -> str:
    """What git printed that GitPython ran: its error has that as one line `stderr: '…'`."""
    return str(error.stderr).strip().removeprefix("stderr: '").removesuffix("'").strip()


def reason_of(printed: str) -> str:
    """What git says of its failure, on one line; "" where it says nothing.

    What a server says and which branch it rejected, else the first line that names an error. Where the remote could not
    be read, the line before that has the reason, as of ssh. The last lines are advice.
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    rejected = [line for line in lines if line.startswith("! ")]
    if said or rejected:
        return one_line("; ".join([*list(filter(None, said))[:_SAID], *rejected[:1]]))
    named = next((index for index, line in enumerate(lines) if line.startswith(_ERRORS)), len(lines) - 1)
    unread = named > 0 and "Could not read from remote" in lines[named]
    return one_line("; ".join(lines[named - unread : named + 1]))
