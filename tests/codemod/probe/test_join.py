"""Answers joined with findings: by the line, in a checkout that a package was installed from, and by C++ function."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode, Root
from codemod.probe.answers import Answer
from codemod.probe.join import Commands, joined, lines_below, places_below
from codemod.probe.trace import Frame

KERNELS = "aten/src/ATen/native"
CODE = "def pad(x):\n    if x.size(0) > 5:\n        return x\n"


def finding(path: str, line: int, function: str, rule: str = "size-branch", edited: bool = True) -> Finding:
    start = len("def pad(x):\n") if path.endswith(".py") else 0
    edits = (Edit(path, start, start + 1, b" ", b"  "),) if edited else ()
    return Finding(
        path=path, start=start, end=start + 1, line=line, column=1, rule=rule, mode=Mode.PYTHON_BRANCH,
        level=Level.REVIEW, message="asks for a size", function=function, operators=(), edits=edits,
        refusal="" if edited else "half", reason="" if edited else "stays concrete",
    )  # fmt: skip


def answer(place: Frame | None, native: str = "") -> Answer:
    return Answer("guard", "x.size(0) > 5", "C++ of torch" if native else "torch", place, None, "f", native=native)


def commands(root: Path, scope: str = "all") -> Commands:
    return Commands(root, str(root), scope, ("python", "train it.py"))


def test_a_line_of_an_installed_package_is_that_of_the_checkout_with_the_same_bytes(tmp_path: Path) -> None:
    root, packages = tmp_path / "checkout", tmp_path / "lib/site-packages"
    for folder in (root / "torch", packages / "torch"):
        folder.mkdir(parents=True)
        (folder / "functional.py").write_text(CODE)
    (root / "torch/other.py").write_text(CODE)
    (packages / "torch/other.py").write_text(CODE + "# newer\n")
    same, other = (answer(Frame(str(packages / "torch" / name), 2, "pad")) for name in ("functional.py", "other.py"))
    assert places_below([same, other], root) == ["torch/functional.py"]
    findings = [finding(f"torch/{name}", 2, "pad") for name in ("functional.py", "other.py")]
    named, unnamed = joined([same, other], findings, commands(root))
    assert named.command == "symfix diff --level review --rule size-branch torch/functional.py"
    assert (unnamed.finding, unnamed.command) == ("", "")


def test_the_innermost_c_function_that_has_a_finding_is_named(tmp_path: Path) -> None:
    (tmp_path / KERNELS).mkdir(parents=True)
    path = f"{KERNELS}/Correlation.cpp"
    (tmp_path / path).write_text("  sizes\n")
    asked = answer(None, "corrcoef → cov → resize_output")
    assert places_below([asked], tmp_path) == [KERNELS]
    findings = [
        finding(path, 9, "at::native::corrcoef"),
        finding(path, 7, "at::native::cov", edited=False),
        finding(path, 8, "at::native::cov", rule="sym-accessor"),
        finding(path, 3, "at::native::cov_helper"),
    ]
    (named,) = joined([asked], findings, commands(tmp_path))
    assert named.finding == "in cov: sym-accessor (review): asks for a size"
    assert named.command == f"symfix diff --level review --rule sym-accessor {path}"
    assert joined([asked], findings[3:], commands(tmp_path)) == (asked,)


def test_a_tree_without_kernels_is_not_searched_for_them(tmp_path: Path) -> None:
    assert places_below([answer(None, "cov")], tmp_path) == []


def test_an_operator_that_lacks_a_fake_has_the_finding_of_its_registration(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(CODE)
    made = dataclasses.replace(finding("ops.py", 1, "clip", "missing-fake", edited=False), operators=("shop::clip",))
    other = dataclasses.replace(finding("ops.py", 1, "clip"), operators=("shop::clip",))
    lacks = Answer("fake", "shop::clip: torch finds no fake of it", "", None, None, "f")
    (found,) = joined([lacks], [other, made], commands(tmp_path))
    assert found.finding == "at ops.py:1: missing-fake (review): stays concrete"


def test_a_command_finds_again_what_it_is_said_of(tmp_path: Path) -> None:
    """Of a library's modules `diff` says nothing by default, and a way that torch alone came it does not see."""
    (tmp_path / "net.py").write_text(CODE)
    asked = answer(Frame(str(tmp_path / "net.py"), 2, "pad"))
    shown = {}
    for root in Root:
        found = dataclasses.replace(finding("net.py", 2, "pad"), root=root)
        (named,) = joined([asked], [found], commands(tmp_path, "operators"))
        shown[root] = named.command
    plain = "symfix diff --level review --rule size-branch net.py"
    assert shown == {
        Root.OPERATOR: plain,
        Root.COMPILED: plain,
        Root.MODULE: plain.replace("diff", "diff --scope modules"),
        Root.TRACED: "symfix fix -- python 'train it.py'",
    }


def test_lines_by_which_torch_came_are_those_of_the_tree(tmp_path: Path) -> None:
    inner, outer = Frame(str(tmp_path / "net.py"), 2, "pad"), Frame(str(tmp_path / "a/main.py"), 7, "forward")
    asked = dataclasses.replace(answer(inner), stack=(Frame("/elsewhere/torch/nn.py", 3, "call"), outer, inner))
    assert lines_below([asked], tmp_path) == {("net.py", 2, "pad"), ("a/main.py", 7, "forward")}
