"""`symfix fix`: from the name of an operator to its commit, on a small tree, with runs that are told beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from codemod.model import transform
from codemod.prove import orchestrate
from codemod.prove.evidence import Evidence, EvidenceStore, Outcome, Verdict
from codemod.prove.orchestrate import ProofRequest, Proved
from tests.conftest import MakeTree, Symfix
from tests.test_cli_bundle_tests import KnowsLines

Git = Callable[..., bytes]

FILES = {
    "a.cc": b"size op:foo\n",
    "b.cc": b"size op:bar\n",
    "c.cc": b"loop op:looped\n",
    "d.cc": b"numel op:judged\n",
    "test/x.txt": b"first\nfoo\nlast\n",
    "test/marker": b"",
}
ENDS: dict[Outcome, Evidence] = {
    "cured": Evidence(
        "", "cured", "", before=Verdict("throws", 1, "Cannot call numel()"), after=Verdict("passes", frames=1)
    ),
    "unchanged": Evidence("", "unchanged", "", before=Verdict("throws", 1), after=Verdict("throws", 1, "still here")),
    "worse": Evidence("", "worse", "", "adds the guard Eq(s0, 4)"),
    "not provable": Evidence("", "not provable", "", "there is no C++ compiler"),
}


class Runs:
    """What runs of shards come to, in the place of runs: every shard is cured unless told otherwise."""

    def __init__(self) -> None:
        self.ends: dict[str, Outcome] = {}
        self.ran: list[str] = []

    def prove_all(
        self, settings: Any, requests: Iterable[ProofRequest], store: EvidenceStore, *_: Any
    ) -> Generator[Proved, None, None]:
        """As `codemod.prove.orchestrate.prove_all`."""
        for request in requests:
            kept = store.all(request.key)
            if not kept:
                self.ran.append(request.shard)
                end = ENDS[self.ends.get(request.shard, "cured")]
                fields = {name: getattr(end, name) for name in ("outcome", "reason", "before", "after", "inputs")}
                checks = {f"symbolic:{request.shard}::f": ("fails", "passes")} if end.outcome == "cured" else {}
                versions = {"torch": "2.6.0"}
                store.save(Evidence(request.shard, key=request.key, versions=versions, checks=checks, **fields))
            yield Proved(request.shard, tuple(store.all(request.key)), reused=bool(kept))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs()
    monkeypatch.setattr(orchestrate, "prove_all", runs.prove_all)
    return runs


@pytest.fixture
def tree(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, runs: Runs) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    return make_tree(FILES)


@pytest.fixture
def fix(
    symfix: Symfix, tree: Path, with_torch: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `symfix fix` in the tree; its exit code, stdout and stderr."""
    monkeypatch.setattr(transform, "load_transforms", lambda: [KnowsLines()])

    def run(*arguments: str) -> tuple[int, str, str]:
        outcome = symfix("fix", "--python", str(with_torch), *arguments, cwd=tree)
        return outcome.code, outcome.out.decode(), outcome.err

    return run


Fix = Callable[..., tuple[int, str, str]]


def branches(git: Git, tree: Path) -> list[str]:
    listed = git("for-each-ref", "--format=%(refname:short)", "refs/heads/symfix", cwd=tree)
    return listed.decode().split()


@pytest.mark.parametrize("name", ["foo", "aten::foo", "torch.foo", "F.foo"])
def test_an_operator_is_fixed_by_any_of_its_names(fix: Fix, tree: Path, git: Git, name: str) -> None:
    code, out, _ = fix(name, "--yes")
    assert code == 0
    assert branches(git, tree) == ["symfix/foo"]
    changed = git("diff", "--name-status", "HEAD", "symfix/foo", cwd=tree).decode().splitlines()
    assert changed == ["M\ta.cc", "D\ttest/marker", "M\ttest/x.txt"]
    assert git("status", "--porcelain", cwd=tree) == b""
    steps = [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line[2:3].strip()]
    assert [s for s in steps if s in ("reproduce", "plan", "prove", "beside", "commit", "pr", "next")] == [
        "reproduce", "plan", "prove", "beside", "commit", "pr", "next"
    ]  # fmt: skip
    assert "foo throws (1) over torch" in out
    assert ": Cannot call numel()" in out
    assert "\n+sym_size op:foo\n" in out
    assert "2 expected failures removed: foo" in out
    assert "### Test plan" in out


def test_what_was_done_is_kept(fix: Fix, runs: Runs) -> None:
    assert fix("foo", "--until", "prove")[0] == 0
    assert fix("foo", "--yes")[0] == 0
    code, out, _ = fix("foo", "--yes")
    assert (code, runs.ran) == (0, ["foo"])
    assert "foo cured: throws → passes (kept)" in out
    assert "a.cc" in out
    assert ", 3 files (kept)" in out


def test_without_a_terminal_nothing_is_committed_unasked(fix: Fix, tree: Path, git: Git, runs: Runs) -> None:
    code, _, err = fix("foo")
    assert (code, runs.ran, branches(git, tree)) == (2, [], [])
    assert err == "symfix: fix asks on a terminal before it commits; without one, give --yes, or --until prove\n"


@pytest.mark.parametrize(("until", "made"), [("prove", []), ("commit", ["symfix/foo"])])
def test_it_stops_after_the_step_that_is_named(fix: Fix, tree: Path, git: Git, until: str, made: list[str]) -> None:
    code, out, _ = fix("foo", "--yes", "--until", until)
    assert (code, branches(git, tree)) == (0, made)
    assert "### Test plan" not in out


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        ("unchanged", "not cured: still fails with the change: still here"),
        ("worse", "worse: foo: adds the guard Eq(s0, 4); change it by hand, in symfix review"),
        ("not provable", "not provable: there is no C++ compiler; a script of yours may run it: --repro FILE"),
    ],
)
def test_what_is_not_cured_is_not_committed(
    fix: Fix, tree: Path, git: Git, runs: Runs, outcome: Outcome, says: str
) -> None:
    runs.ends["foo"] = outcome
    code, out, _ = fix("foo", "--yes")
    assert (code, branches(git, tree)) == (1, [])
    assert says in " ".join(out.split())


def test_what_passed_before_is_no_fix(fix: Fix, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = Verdict("passes")
    passes = Evidence("", "unchanged", "", before=ends, after=ends, inputs="PyTorch's samples")
    monkeypatch.setitem(ENDS, "unchanged", passes)
    runs.ends |= {"foo": "unchanged", "bar": "unchanged"}
    code, out, _ = fix("foo", "bar", "--yes")
    assert code == 1
    says = "it passes without the change (inputs: PyTorch's samples); a script that fails: --repro FILE"
    assert f"stopped not reproduced: {says}" in " ".join(out.split())
    assert f"foo       not reproduced  {says}\n" in out


def test_what_stops_an_operator_is_said(fix: Fix) -> None:
    code, out, _ = fix("looped", "--yes")
    assert code == 1
    assert "left alone: loop-bound, 1 site: it bounds a loop (c.cc:1)" in out
    assert "symfix scan --op looped explains every site" in out
    code, out, _ = fix("judged", "--yes")
    assert code == 1
    assert "1 site can be changed, for review: --level review" in out
    assert fix("judged", "--yes", "--level", "review")[0] == 0


def test_several_end_in_a_table(fix: Fix, tree: Path, git: Git, runs: Runs, tmp_path: Path) -> None:
    runs.ends["bar"] = "unchanged"
    names = tmp_path / "names.txt"
    names.write_text("# what fails\nbar\nlooped # a loop\n")
    code, out, _ = fix("fo*", "--from", str(names), "--yes")
    assert (code, branches(git, tree)) == (1, ["symfix/foo"])
    assert out[out.index("operator  outcome") :].splitlines() == [
        "operator  outcome     branch, or what stops it",
        "foo       cured       symfix/foo",
        "bar       not cured   still fails with the change: still here",
        "looped    left alone  loop-bound, 1 site: it bounds a loop (c.cc:1)",
        "",
        "1 of 3 operators cured",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "say which operator: symfix fix cross_entropy; symfix scan lists them"),
        (("fooo",), "symfix: fooo: no operator of this tree has such a name; nearest: foo"),
        (("foo", "bar", "--repro", "a.cc"), "--repro runs one operator"),
        (("--from", "none.txt"), "none.txt: the names cannot be read: No such file or directory"),
        (("--from", "test/marker"), "test/marker: holds no names of operators; write one a line"),
    ],
)
def test_bad_input_is_one_clear_error(fix: Fix, runs: Runs, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = fix(*arguments, "--yes")
    assert (code, out, runs.ran) == (2, "", [])
    assert says in err
    assert err.count("\n") == 1


def test_a_tree_with_changes_is_refused_before_anything_runs(fix: Fix, tree: Path, runs: Runs) -> None:
    (tree / "b.cc").write_bytes(b"mine\n")
    code, _, err = fix("foo", "--yes")
    assert (code, runs.ran) == (2, [])
    assert "b.cc: not committed" in err
    assert fix("foo", "--yes", "--allow-dirty")[0] == 0


def test_what_cannot_be_committed_does_not_stop_the_others(fix: Fix, tree: Path, git: Git) -> None:
    git("branch", "symfix/foo", cwd=tree)
    code, out, _ = fix("foo", "bar", "--yes")
    assert code == 1
    assert git("diff", "--name-only", "HEAD", "symfix/bar", cwd=tree) == b"b.cc\n"
    assert "foo       blocked  the branch symfix/foo holds work that is not symfix's" in out
    assert fix("foo", "--yes")[0] == 2


def test_a_shard_is_fixed_by_its_name(fix: Fix, tree: Path, git: Git) -> None:
    (tree / "b.cc").write_bytes(b"size op:bar\nsize op:baz @both\nsize op:bar @both\n")
    git("commit", "-qam", "a helper of two", cwd=tree)
    code, out, _ = fix("helper-f", "--yes")
    assert code == 0
    assert "symfix/helper-f" in branches(git, tree)
    assert "+sym_size op:baz @both\n" in out
