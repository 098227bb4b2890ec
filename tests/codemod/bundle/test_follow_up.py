"""What lands with a shard: only what evidence allows, once, and with reasons for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from codemod.bundle.follow_up import FollowUp, checks_of, follow_ups
from codemod.bundle.shards import Shard
from codemod.model.edits import Edit
from codemod.model.transform import Project
from codemod.model.xfails import AddedTest, ExpectedFailure, NewTest, Removal, describe_check, make_check, split_check
from codemod.prove.evidence import Evidence, Outcome
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from tests.codemod.fake import FakeTransform

FOO, BAR = (make_check("symbolic", name, "", "float32") for name in ("foo", "bar"))
TEST = "def test_foo_symbolic_sizes(self):\n    pass\n"


def entry(name: str, kind: str = "xfail", symbolic: bool = True) -> ExpectedFailure:
    checks = (make_check("symbolic", name, "", "float32"),) if kind == "xfail" and symbolic else ()
    return ExpectedFailure(
        "test_x.py", len(name), 9, 1, "failures", kind, name, devices=("cpu",), checks=checks, why="because",  # type: ignore[arg-type]
        symbolic=symbolic,
    )  # fmt: skip


class Knows(FakeTransform):
    """Has three entries for each operator, and a file for its tests; removing `bar`'s is refused."""

    def expected_failures(
        self, project: Project, families: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[ExpectedFailure]]:
        """An xfail, a skip, and one that concrete shapes share."""
        return [[entry(f[0]), entry(f[0], "skip"), entry(f[0], symbolic=False)] for f in families]

    def remove(self, project: Project, groups: Sequence[Sequence[ExpectedFailure]]) -> Sequence[Removal]:
        """An edit for each entry."""
        return [
            Removal(left=tuple((failure, "brackets") for failure in group))
            if any(failure.name == "bar" for failure in group)
            else Removal(
                tuple(Edit(failure.path, failure.start, failure.start, b"", b"") for failure in group), (), tuple(group)
            )
            for group in groups
        ]

    def add_tests(self, project: Project, tests: Sequence[NewTest]) -> Sequence[AddedTest | None]:
        """A file of its own for each."""
        return [
            AddedTest((Edit("t.py", 0, 0, b"", test.text.encode()),), f"t.py::{test.operators[0]}") for test in tests
        ]


def follow(evidence: dict[str, list[Evidence]]) -> dict[str, FollowUp]:
    shards = [Shard(name, (name,), ()) for name in ("foo", "bar")]
    project = CheckoutProject(Checkout(Path(), None), Cache(None))
    return follow_ups(project, [FakeTransform(), Knows()], shards, evidence)


def proved(check: str, *ends: str, outcome: Outcome = "cured", test: str = "") -> Evidence:
    before, after = ends
    return Evidence("foo", outcome, "k", checks={check: (before, after)}, test=test)


def test_without_evidence_everything_is_listed() -> None:
    foo = follow({})["foo"]
    assert (foo.edits, foo.removed) == ((), ())
    assert [(failure.name, why.partition(":")[0]) for failure, why in foo.listed] == [("foo", "no evidence")]


def test_what_evidence_cures_goes_from_its_shard_alone() -> None:
    found = follow({"foo": [proved(FOO, "fails", "passes")]})
    assert [failure.name for failure in found["foo"].removed] == ["foo"]
    assert found["foo"].edits == (Edit("test_x.py", 3, 3, b"", b""),)
    assert found["bar"].removed == ()


def test_what_cannot_be_taken_out_is_listed() -> None:
    bar = follow({"bar": [proved(BAR, "fails", "passes")]})["bar"]
    assert [(failure.name, why) for failure, why in bar.listed] == [("bar", "brackets")]


@pytest.mark.parametrize(
    "evidence",
    [
        [proved(FOO, "fails", "passes", outcome="worse")],
        [proved(FOO, "fails", "passes"), proved(FOO, "fails", "fails")],
        [proved(BAR, "fails", "passes")],
    ],
)
def test_doubt_removes_nothing(evidence: list[Evidence]) -> None:
    assert follow({"foo": evidence})["foo"].removed == ()


def test_of_two_versions_of_torch_the_one_that_failed_before_counts() -> None:
    both = [proved(FOO, "passes", "passes"), proved(FOO, "fails", "passes")]
    assert follow({"foo": both})["foo"].removed
    assert follow({"foo": both[::-1]})["foo"].removed


def test_a_test_is_added_where_no_entry_shows_the_cure() -> None:
    assert follow({"foo": [proved(FOO, "passes", "passes", test=TEST)]})["foo"].tests == ("t.py::foo",)
    assert follow({"foo": [proved(FOO, "fails", "passes", test=TEST)]})["foo"].tests == ()
    assert follow({"foo": [proved(FOO, "passes", "passes")]})["foo"].tests == ()


def test_the_checks_of_each_shard() -> None:
    project = CheckoutProject(Checkout(Path(), None), Cache(None))
    shards = [Shard(name, (name,), ()) for name in ("foo", "bar")]
    assert checks_of(project, [FakeTransform(), Knows()], shards) == {"foo": (FOO,), "bar": (BAR,)}


def test_checks_in_words() -> None:
    check = make_check("symbolic-out", "nn.functional.pad", "circular", "float32")
    assert split_check(check) == ("symbolic-out", "nn.functional.pad", "circular", "float32")
    described = "make_fx with symbolic sizes and out= over all samples of nn.functional.pad (circular), float32"
    assert describe_check(check) == described
