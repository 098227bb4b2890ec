"""Metas as torch/_meta_registrations.py writes them, and the findings that add them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.model.drawn import DrawnMeta
from codemod.model.edits import apply_edits
from codemod.model.findings import Finding, Level, Mode
from codemod.tree.cache import Cache
from codemod.tree.checkout import NATIVE_FUNCTIONS, Checkout
from codemod.tree.project import CheckoutProject
from tests.conftest import MakeTree
from transforms.python.metas.drawn import findings
from transforms.python.metas.registering import HOME, Meta, paragraph, place, registered
from transforms.python.writing.style import Style

FILE = (
    b"import torch\n\n\n@register_meta(aten.first)\ndef first(x):\n    return x\n\n\n"
    b"# Registers all of the above.\ndef activate_meta():\n    pass\n"
)
YAML = (
    b"- func: fold(Tensor self) -> Tensor\n  dispatch:\n    CPU: fold_cpu\n\n"
    b"- func: fold.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: fold_out\n\n"
    b"- func: first(Tensor self) -> Tensor\n  dispatch:\n    CPU: first_cpu\n\n"
    b"- func: lone.dim(Tensor self, int dim) -> Tensor\n  dispatch:\n    CPU: lone_cpu\n"
)
FOLD = DrawnMeta("aten::fold", "fold.default", "2.13.0", ("self",), ("return torch.empty_like(self)",), (), "", 40,
                 "passes")  # fmt: skip
OUT = replace(FOLD, overload="fold.out", body=("return aten.fold.default(self)",), outputs=("out",),
              functional="fold.default")  # fmt: skip


def of(root: Path, drawn: Sequence[DrawnMeta], *paths: str) -> list[Finding]:
    """The findings in a tree."""
    checkout = Checkout(root, None)
    return list(findings(CheckoutProject(checkout=checkout, cache=Cache(None), paths=paths), drawn))


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree({HOME: FILE, NATIVE_FUNCTIONS: YAML}, vcs=False)


def test_a_file_that_activates_nothing_has_no_place() -> None:
    assert place(b"import torch\n\n\ndef first():\n    pass\n") is None


def test_what_is_too_long_is_written_as_the_formatter_does() -> None:
    long = "torch.empty_like(parameter_0, memory_format=torch.contiguous_format)"
    meta = Meta(("fold.default",), tuple(f"parameter_{number}" for number in range(8)), (f"return {long}, {long}",))
    lines = paragraph(meta, Style()).decode().split("\n")
    assert lines[3:6] == ["def meta_fold(", "    parameter_0,", "    parameter_1,"]
    assert max(map(len, lines)) <= Style().limit < len(meta.lines()[-1])
    compile("\n".join(lines[3:]), "meta", "exec")


def test_registrations_are_read_from_decorators_alone() -> None:
    source = b"@register_meta([aten.fold.default, aten.fold.out])\ndef fold(x):\n    return aten.other.default(x)\n"
    assert registered(source) == {"fold.default", "fold.out"}


def test_several_metas_stand_behind_the_last_code_before_they_are_activated(tree: Path) -> None:
    lone = replace(FOLD, operator="aten::lone", overload="lone.dim", parameters=("self", "dim"))
    edits = [edit for finding in of(tree, [lone, FOLD]) for edit in finding.edits]
    expected = FILE.decode().replace(
        "\n\n\n# Registers",
        "\n\n\n@register_meta(aten.fold.default)\ndef meta_fold(self):\n    return torch.empty_like(self)\n"
        "\n\n@register_meta(aten.lone.dim)\ndef meta_lone_dim(self, dim):\n    return torch.empty_like(self)\n"
        "\n\n# Registers",
    )
    assert apply_edits(FILE, edits).decode() == expected


def test_an_out_variant_is_registered_with_its_functional_overload(tree: Path) -> None:
    (finding,) = of(tree, [FOLD, OUT])
    assert (finding.path, finding.line, finding.column) == (NATIVE_FUNCTIONS, 1, 9)
    assert (finding.mode, finding.level, finding.operators) == (Mode.TENSOR_ITERATOR, Level.REVIEW, ("aten::fold",))
    assert finding.edits[0].new == paragraph(
        Meta(("fold.default", "fold.out"), ("self",), ("return torch.empty_like(self)",), ("out",)), Style()
    )
    assert b"@register_meta([aten.fold.default, aten.fold.out])\n@out_wrapper()\n" in finding.edits[0].new


def test_an_out_variant_alone_calls_the_functional_overload(tree: Path) -> None:
    (finding,) = of(tree, [replace(OUT, functional="")])
    assert b"@register_meta(aten.fold.out)\n@out_wrapper()\ndef meta_fold_out(self):\n" in finding.edits[0].new


def test_what_could_not_be_drawn_is_named_with_the_reason_and_not_edited(tree: Path) -> None:
    (finding,) = of(tree, [replace(FOLD, body=(), reason="differs from the kernel for (4, 5): shape (4,), not (5,)")])
    assert (finding.level, finding.edits, finding.refusal) == (Level.MANUAL, (), "no-meta")
    assert finding.reason == "no meta can be drawn: differs from the kernel for (4, 5): shape (4,), not (5,)"


def test_sizes_that_stop_unbacked_are_named(tree: Path) -> None:
    (finding,) = of(tree, [replace(FOLD, unbacked="guard on u0")])
    assert finding.message.endswith(" on 40 calls; with unbacked sizes it stops: guard on u0")


def test_calls_that_the_kernel_does_not_survive_are_counted(tree: Path) -> None:
    (finding,) = of(tree, [replace(FOLD, fatal=3)])
    assert finding.message.endswith(" on 40 calls (on 3 more the kernel alone ends its process)")


@pytest.mark.parametrize("overload", ["first.default", "gone.default", "fold.Tensor"])
def test_nothing_for_what_the_tree_registers_or_does_not_have(tree: Path, overload: str) -> None:
    assert of(tree, [replace(FOLD, overload=overload)]) == []


def test_nothing_in_another_tree_or_where_other_files_are_asked_for(tree: Path, make_tree: MakeTree) -> None:
    assert of(tree, [FOLD], "aten") == []
    assert of(make_tree({HOME: FILE}, "library", vcs=False), [FOLD]) == []


def test_a_file_without_the_place_gets_no_meta(make_tree: MakeTree) -> None:
    root = make_tree({HOME: b"import torch\n", NATIVE_FUNCTIONS: YAML}, vcs=False)
    (finding,) = of(root, [FOLD])
    assert (finding.edits, finding.reason) == (
        (), f"no meta can be drawn: {HOME} has no activate_meta to stand before"
    )  # fmt: skip
