"""The C++ transform: concrete accessors of Tensors, and everything behind them, made symbolic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from transforms.cpp.reading import SUFFIXES

if TYPE_CHECKING:
    from pathlib import Path

    from codemod.model.findings import Finding
    from codemod.model.transform import Project, Prover, Rule


class CppTransform:
    """Implements `codemod.model.transform.Transform`. Imports wait until needed: a warm scan needs none."""

    name = "cpp"
    suffixes = SUFFIXES

    def rules(self) -> Sequence[Rule]:
        """The rules, sorted by name."""
        from transforms.cpp.rules import load_rules

        return load_rules()

    def parse_errors(self, path: str, source: bytes) -> int:
        """How many outermost syntax errors tree-sitter finds in the masked source."""
        from transforms.cpp.reading.syntax import count_errors, parse

        return count_errors(parse(source)[0].root_node)

    def analyse(self, project: Project) -> Iterable[Finding]:
        """Every finding in the selected files."""
        if not project.files(self.suffixes):
            return ()
        from transforms.cpp.analyse import analyse_tree
        from transforms.cpp.layout import laid_out

        return laid_out(project, analyse_tree(project))

    def operators(self, project: Project) -> Collection[str]:
        """The operators of native_functions.yaml, and those that C++ registers."""
        from transforms.cpp.analyse import operators_of_tree

        return operators_of_tree(project)

    def functions(self, project: Project) -> Mapping[str, tuple[str, ...]]:
        """None: those of Python are the Python transform's."""
        return {}

    def prover(self, project: Project, scratch: Path) -> Prover:
        """The prover for the tree of `project`."""
        from transforms.cpp.overrides.prover import CppProver

        return CppProver(project, scratch)


def transform() -> CppTransform:
    """The entry point of the group `symfix.transforms`."""
    return CppTransform()
