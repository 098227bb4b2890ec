"""The unit of work of `prove`: one shard, with all that a worker on any machine needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codemod.model.transform import Override
from codemod.prove.compiler import Compiler
from codemod.prove.target import Target
from codemod.writing.changes import Change


@dataclass(frozen=True, slots=True)
class Settings:
    """What all tasks of a run share. Folders must be the same on every machine that works on them."""

    root: Path
    """Of the checkout."""
    cache: Path
    """The folder for overlays and builds."""
    target: Target
    compiler: Compiler | None
    version: str
    """Of the tree."""
    include: tuple[str, ...] = ()
    """The tree's own folders of headers."""
    further: tuple[str, ...] = ()
    """Folders of headers that the user names."""
    flags: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The flags of each source, where the checkout's compile_commands.json has them; paths relative to the root."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """The source of each function that others may need, by its qualified name."""
    prelude: str = ""
    """What goes before a source that is compiled for such functions alone."""
    seconds: float = 300
    memory: int = 8 << 30
    runner: str = ""
    """A digest of the code that runs and judges operators."""
    repros: Mapping[str, str] = field(default_factory=dict)
    """The user's scripts, by the operator they run: a name or a glob of names."""

    @property
    def versions(self) -> dict[str, str]:
        """What evidence rests on beside the code of its shard."""
        return {
            "torch": self.target.torch_version,
            "tree": self.version,
            "python": self.target.python_version,
            "compiler": self.compiler.version if self.compiler is not None else "",
            "runner": self.runner,
            **({"without": ", ".join(self.target.missing)} if self.version and self.target.missing else {}),
        }

    @property
    def same_version(self) -> bool:
        """Whether the installed torch is of the tree's version, as far as both name one."""
        return not self.version or self.target.torch_version.startswith(self.version)


@dataclass(frozen=True, slots=True)
class Task:
    """One shard: its changes, and how each of its operators is run."""

    shard: str
    key: str
    changes: tuple[Change, ...]
    overrides: tuple[Override, ...]
    checked: tuple[str, ...]
    """Sources to type-check: those that change, and for headers some that include them."""
    checks: tuple[str, ...] = ()
    """The checks of `codemod.model.xfails` that the changes may cure."""
