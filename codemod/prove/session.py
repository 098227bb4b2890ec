"""What compiling and proving need beside a plan: what the transforms say of the tree, torch, and a compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.private import kept_folder, private_folder
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.model import transform
from codemod.model.transform import Project, Prover
from codemod.prove.compiler import find_compiler, forget_old
from codemod.prove.flags import compile_flags
from codemod.prove.overlay import forget_unused
from codemod.prove.run_folder import remove_dead
from codemod.prove.target import Target
from codemod.prove.task import Settings
from codemod.terminal import note
from codemod.tree.checkout import user_cache

_DIGITS = 12
_FOLDERS = ("builds", "trees", "headers", "packages", "generated", "runner", "targets")
_PACKAGE = Path(__file__).parents[1]


def scratch() -> Path:
    """The folder for overlays, builds and generated code, which all checkouts share.

    A temporary one where that of the user's cache is not the user's alone, for what is built there is run.
    """
    base = user_cache()
    return kept_folder(base / "prove", base)


def code_digest() -> str:
    """A digest of the code that makes verdicts: this package's, and what it runs beside torch."""
    packages = (_PACKAGE / "prove", _PACKAGE / "runner")
    return digest(*(path.read_bytes() for package in packages for path in sorted(package.rglob("*.py"))))[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Provers:
    """The provers of the installed transforms for one tree."""

    root: Path
    by_suffixes: tuple[tuple[tuple[str, ...], Prover], ...]
    """Each with the suffixes of the files that are its transform's."""

    def __iter__(self) -> Iterator[Prover]:
        return (prover for _, prover in self.by_suffixes)

    def settings(self, target: Target, include: Sequence[Path] = ()) -> Settings:
        """What all tasks over `target` share; `include` are the user's folders of headers.

        Raises SymfixError where there is no compiler, or the checkout's compile_commands.json cannot be read.
        """
        cache = scratch()
        for name in _FOLDERS:
            if private_folder(cache / name, cache) is None:
                raise SymfixError(f"{cache / name}: cannot be used for what is built; remove it")
        database = compile_flags(self.root)
        if database.left_out:
            note(f"symfix: {database.left_out_line()}")
        compiler = find_compiler(cache / "builds")
        forget_old(cache / "builds")
        remove_dead()
        for name in ("trees", "headers", "packages"):
            forget_unused(cache / name)
        return Settings(
            root=self.root,
            cache=cache,
            target=target,
            compiler=compiler,
            version=next((prover.version for prover in self if prover.version), ""),
            include=tuple(dict.fromkeys(folder for prover in self for folder in prover.include)),
            further=tuple(map(str, include)),
            flags=tuple(flag for prover in self for flag in prover.flags),
            sources=database.flags,
            runner=code_digest(),
        )


def load_provers(project: Project) -> Provers:
    """The provers for the tree of `project`."""
    generated = scratch() / "generated"
    provers = [
        (tuple(plugin.suffixes), plugin.prover(project, generated))
        for plugin in transform.load_transforms()
        if isinstance(plugin, transform.Provable)
    ]
    return Provers(project.root, tuple(provers))
