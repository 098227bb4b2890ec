"""`symfix fix --mode 3` in PyTorch: what is drawn is kept, shown, proved and committed; torch is told beforehand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from codemod.model import transform
from codemod.model.drawn import DrawnMeta
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.transform import Project
from codemod.prove import metas, target
from codemod.prove.target import Target
from codemod.tree.checkout import NATIVE_FUNCTIONS
from tests.conftest import MakeTree, Symfix
from tests.test_cli_bundle_tests import KnowsLines
from tests.test_cli_fix import Git, Runs, branches, runs  # noqa: F401  (a fixture)

HOME = "metas.cc"


class Writes(KnowsLines):
    """Two operators; what is drawn for one goes to the end of a file."""

    def operators(self, project: Project) -> Collection[str]:
        """Those that the tree declares."""
        return ["aten::fold", "aten::spread"]

    def functions(self, project: Project) -> Mapping[str, tuple[str, ...]]:
        """There are none."""
        return {}

    def metas(self, project: Project, drawn: Sequence[DrawnMeta]) -> Iterable[Finding]:
        """A line for each, unless it is there."""
        source = project.read(HOME)
        for meta in drawn:
            new = f"\n\nmeta {meta.overload}\n".encode()
            edits = () if meta.reason else (Edit(HOME, len(source), len(source), b"", new),)
            if new not in source:
                level = Level.REVIEW if edits else Level.MANUAL
                yield Finding(NATIVE_FUNCTIONS, 0, 6, 1, 1, Mode.TENSOR_ITERATOR, "loop", level, meta.overload,
                              (meta.operator,), "no way to trace it", meta.reason, "no-meta" if meta.reason else "",
                              edits=edits)  # fmt: skip


class Torch:
    """What the installed torch would say."""

    def __init__(self) -> None:
        self.reason = ""
        self.drawn: list[str] = []

    def untraced(self, installed: Target, operators: Sequence[str], seconds: float) -> list[str]:
        """As `codemod.prove.metas.untraced`."""
        return [operator for operator in operators if operator == "aten::fold"]

    def draw(self, installed: Target, operator: str, seconds: float) -> list[DrawnMeta]:
        """As `codemod.prove.metas.draw`."""
        self.drawn.append(operator)
        return [DrawnMeta(operator, "fold.default", "2.13.0", ("self",), ("return self",), reason=self.reason)]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    torch = Torch()
    installed = Target(sys.executable, "3.11", "", "/nonexistent/torch", "2.13.0", True, "c++20")
    monkeypatch.setattr(target, "find_target", lambda *_: installed)
    monkeypatch.setattr(metas, "untraced", torch.untraced)
    monkeypatch.setattr(metas, "draw", torch.draw)
    return torch


@pytest.fixture
def tree(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, runs: Runs) -> Path:  # noqa: F811
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    return make_tree({NATIVE_FUNCTIONS: b"- func: fold(Tensor self) -> Tensor\n", HOME: b"first\n", "test/x.txt": b""})


@pytest.fixture
def run(symfix: Symfix, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Run a command in the tree; its exit code, stdout and stderr."""
    monkeypatch.setattr(transform, "load_transforms", lambda: [Writes()])

    def command(*arguments: str) -> tuple[int, str, str]:
        outcome = symfix(*arguments, cwd=tree)
        return outcome.code, outcome.out.decode(), outcome.err

    return command


Command = Callable[..., tuple[int, str, str]]
FIX = ("fix", "--mode", "3", "--level", "review", "--yes")


@pytest.mark.parametrize("name", ["fold", "f*", "torch.fold"])
def test_a_drawn_meta_is_proved_and_committed(run: Command, tree: Path, git: Git, torch: Torch, name: str) -> None:
    code, out, err = run(*FIX, name)
    assert (code, torch.drawn, branches(git, tree)) == (0, ["aten::fold"], ["symfix/fold"])
    assert git("show", f"symfix/fold:{HOME}", cwd=tree) == b"first\n\n\nmeta fold.default\n"
    assert git("status", "--porcelain", cwd=tree) == b""
    assert "\n+meta fold.default\n" in out
    assert "symfix: 1 operator with an overload that torch 2.13.0 has no way to trace;" in err


def test_what_was_drawn_is_kept_for_every_command(run: Command, torch: Torch, tree: Path) -> None:
    assert run(*FIX, "fold")[0] == 0
    code, _, err = run(*FIX, "fold")
    assert (code, torch.drawn, "running the kernels" in err) == (0, ["aten::fold"], False)
    code, out, _ = run("diff", "--op", "fold", "--level", "review")
    assert (code, "\n+meta fold.default\n" in out) == (1, True)
    assert run("apply", "--op", "fold", "--level", "review", "--no-check")[0] == 1
    assert (tree / HOME).read_bytes() == b"first\n\n\nmeta fold.default\n"
    assert run("diff", "--level", "review")[0] == 0


def test_what_differs_from_the_kernel_is_not_offered(run: Command, tree: Path, git: Git, torch: Torch) -> None:
    torch.reason = "differs from the kernel for (4, 5): shape (4,), not (5,)"
    code, out, err = run(*FIX, "fold")
    assert (code, branches(git, tree)) == (1, [])
    assert "left alone: no-meta, 1 site: differs from the kernel for (4, 5): shape (4,), not (5,)" in " ".join(
        out.split()
    )
    assert f"symfix: fold.default: no meta: {torch.reason}\n" in err


def test_an_operator_that_traces_is_not_run(run: Command, torch: Torch) -> None:
    code, out, _ = run(*FIX, "spread")
    assert (code, torch.drawn, "nothing found" in out) == (1, [], True)


def test_without_the_mode_nothing_is_drawn(run: Command, torch: Torch) -> None:
    assert run(*[part for part in FIX if part not in ("--mode", "3")], "fold")[0] == 1
    assert torch.drawn == []


def test_a_damaged_file_of_drawn_metas_says_what_to_do(run: Command, torch: Torch, tree: Path) -> None:
    assert run(*FIX, "fold")[0] == 0
    kept = tree / ".git/symfix/metas.json"
    kept.write_text(kept.read_text().replace('"samples": 0', '"samples": "many"'))
    code, _, err = run("scan")
    assert code == 2
    assert "metas.json" in err
    assert "remove it, and draw them again with symfix fix --mode 3" in err
