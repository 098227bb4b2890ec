"""Test registries: which failures the tests expect, and the entries that a cure outdates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemod.model.findings import Finding
    from codemod.model.transform import Project, Rule
    from codemod.model.xfails import AddedTest, ExpectedFailure, NewTest, Removal


class XfailTransform:
    """Implements `codemod.model.transform.Transform` and `codemod.model.xfails.KnowsTests`; `scan` finds nothing."""

    name = "xfails"
    suffixes: tuple[str, ...] = ()

    def rules(self) -> Sequence[Rule]:
        """None: entries are removed on evidence, not by a rule."""
        return ()

    def parse_errors(self, path: str, source: bytes) -> int:
        """0: the Python transform counts those of test files."""
        return 0

    def analyse(self, project: Project) -> Iterable[Finding]:
        """Nothing: that a failure is expected is no finding."""
        return ()

    def expected_failures(
        self, project: Project, families: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[ExpectedFailure]]:
        """For each of `families` the entries about its operators, in the order of their places."""
        from transforms.xfails.tree import expected_failures

        return expected_failures(project, families)

    def remove(self, project: Project, groups: Sequence[Sequence[ExpectedFailure]]) -> Sequence[Removal]:
        """For each of `groups` the removal that is right alone and beside the others'."""
        from transforms.xfails.tree import remove

        return remove(project, groups)

    def add_tests(self, project: Project, tests: Sequence[NewTest]) -> Sequence[AddedTest | None]:
        """For each test the edits that put it into the class that fits, None where none does."""
        from transforms.xfails.classes import add_tests
        from transforms.xfails.tree import FOLDERS

        return add_tests(project, tests, FOLDERS)


def transform() -> XfailTransform:
    """The entry point of the group `symfix.transforms`."""
    return XfailTransform()
