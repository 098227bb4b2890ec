"""`symfix bundle` with evidence: it is quoted, and the expected failures that it outdates go in the same commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from codemod.model import transform
from codemod.model.edits import Edit
from codemod.model.transform import Project
from codemod.model.xfails import AddedTest, ExpectedFailure, NewTest, Removal
from codemod.planning.naming import family
from codemod.prove.evidence import FOLDER, Evidence, EvidenceStore, Outcome, Verdict, evidence_key
from codemod.writing.changes import Change
from tests.codemod.fake import FakeTransform
from tests.conftest import MakeTree, Symfix

Git = Callable[..., bytes]

FILES = {
    "a.cc": b"size op:foo\n",
    "b.cc": b"size op:bar\n",
    "test/x.txt": b"first\nfoo\nbar\nlast\n",
    "test/marker": b"",
}


class KnowsLines(FakeTransform):
    """A registry of expected failures with one operator a line, and a marker file about foo."""

    def expected_failures(
        self, project: Project, families: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[ExpectedFailure]]:
        """The line of each family, and the marker."""
        text = project.read("test/x.txt").decode()
        results = []
        for operators in families:
            names = {family(operator) for operator in operators}
            found = []
            for number, line in enumerate(text.splitlines(), 1):
                if line in names:
                    start = text.index(line + "\n")
                    found.append(
                        ExpectedFailure("test/x.txt", start, start + len(line) + 1, number, "lines", "xfail", line,
                                        devices=("cpu",), checks=(f"symbolic:{line}::f",), symbolic=True)
                    )  # fmt: skip
            if "foo" in names:
                found.append(ExpectedFailure("test/marker", 0, 0, 1, "markers", "marker", "foo", devices=("cpu",),
                                             checks=("symbolic:foo::f",), symbolic=True))  # fmt: skip
            results.append(found)
        return results

    def remove(self, project: Project, groups: Sequence[Sequence[ExpectedFailure]]) -> Sequence[Removal]:
        """Whole lines, and the marker file."""
        text = project.read("test/x.txt")
        return [
            Removal(
                edits=tuple(Edit(e.path, e.start, e.end, text[e.start : e.end], b"") for e in entries if e.end),
                deleted=tuple(e.path for e in entries if not e.end),
                removed=tuple(entries),
            )
            for entries in groups
        ]

    def add_tests(self, project: Project, tests: Sequence[NewTest]) -> Sequence[AddedTest | None]:
        """There is no class that fits."""
        return [None for _ in tests]


@pytest.fixture
def tree(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    return make_tree(FILES)


@pytest.fixture
def knowing(symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> Symfix:
    """The command, with the transform that knows the registry."""
    monkeypatch.setattr(transform, "load_transforms", lambda: [KnowsLines()])
    return symfix


def keep(tree: Path, operator: str, path: str, outcome: Outcome = "cured", reason: str = "") -> None:
    old = FILES[path]
    change = Change(path, old, old.replace(b"size", b"sym_size"), ())
    evidence = Evidence(
        operator, outcome, evidence_key([change]), reason, before=Verdict("throws", 1), after=Verdict("passes"),
        versions={"torch": "2.6.0"}, checks={f"symbolic:{operator}::f": ("fails", "passes")},
    )  # fmt: skip
    EvidenceStore(tree / ".git/symfix" / FOLDER).save(evidence)


def body(git: Git, tree: Path, name: str) -> str:
    return git("log", "-1", "--format=%B", f"symfix/{name}", cwd=tree).decode()


def test_evidence_of_exactly_this_code_is_quoted(tree: Path, symfix: Symfix, git: Git) -> None:
    keep(tree, "foo", "a.cc")
    symfix("bundle", cwd=tree)
    assert "\nEvidence:\n- foo: cured: throws (mode 1) before, passes after (torch 2.6.0)\n" in body(git, tree, "foo")
    assert "\nEvidence: none;" in body(git, tree, "bar")
    (tree / "a.cc").write_bytes(b"size op:foo // changed\n")
    git("commit", "-qam", "more", cwd=tree)
    symfix("bundle", cwd=tree)
    assert "\nEvidence: none;" in body(git, tree, "foo")


def test_what_is_worse_is_said(tree: Path, symfix: Symfix) -> None:
    keep(tree, "foo", "a.cc", "worse", "adds the guard Eq(s0, 4)")
    assert "symfix: foo: symfix prove found it worse: adds the guard Eq(s0, 4)\n" in symfix("bundle", cwd=tree).err


def test_expected_failures_go_with_the_cure_and_without_evidence_stay(tree: Path, knowing: Symfix, git: Git) -> None:
    knowing("bundle", cwd=tree)
    assert git("diff", "--name-only", "HEAD", "symfix/foo", cwd=tree) == b"a.cc\n"
    keep(tree, "foo", "a.cc")
    assert knowing("bundle", cwd=tree).code == 1
    changed = git("diff", "--name-status", "HEAD", "symfix/foo", cwd=tree).decode().splitlines()
    assert changed == ["M\ta.cc", "D\ttest/marker", "M\ttest/x.txt"]
    assert git("show", "symfix/foo:test/x.txt", cwd=tree) == b"first\nbar\nlast\n"
    assert "\nExpected failures that no longer fail, removed:\n- foo in lines (test/x.txt)\n" in body(git, tree, "foo")
    assert git("diff", "--name-only", "HEAD", "symfix/bar", cwd=tree) == b"b.cc\n"


def test_entries_that_stand_together_put_their_shards_above_one_another(
    tree: Path, knowing: Symfix, git: Git, tmp_path: Path
) -> None:
    keep(tree, "foo", "a.cc")
    keep(tree, "bar", "b.cc")
    mail = knowing("bundle", "--format", "mbox", cwd=tree).out
    knowing("bundle", cwd=tree)
    assert git("show", "symfix/foo:test/x.txt", cwd=tree) == b"first\nlast\n"
    assert git("rev-parse", "symfix/foo^", cwd=tree) == git("rev-parse", "symfix/bar", cwd=tree)
    git("checkout", "-q", "-b", "mail", cwd=tree)
    git("am", "-q", "--keep-non-patch", cwd=tree, stdin=mail)
    assert git("rev-parse", "HEAD^{tree}", cwd=tree) == git("rev-parse", "symfix/foo^{tree}", cwd=tree)


def test_a_registry_with_changes_that_are_not_committed_is_refused(tree: Path, knowing: Symfix) -> None:
    keep(tree, "foo", "a.cc")
    (tree / "test/x.txt").write_bytes(b"mine\n" + FILES["test/x.txt"])
    outcome = knowing("bundle", "--allow-dirty", cwd=tree)
    assert outcome.code == 2
    assert "test/x.txt: not what the last commit holds" in outcome.err
