"""What the dispatcher gives to parameters without annotation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from codemod.cli import main
from tests.transforms.python.reach.following import tree_of
from transforms.python.flow.values import (
    A_NUMBER,
    A_SIZE,
    A_TENSOR,
    NOTHING,
    SEQUENCE,
    SOME_SHAPE,
    SOME_TENSORS,
    Value,
    maybe_none,
)
from transforms.python.reach.reached import reach
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.signatures import give_types
from transforms.schema.schema import parse_schema

ATEN = [
    "pad(Tensor self, SymInt[2] padding, *, int alpha=1) -> Tensor",
    "pad.out(Tensor self, SymInt[2] padding, *, int alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    "fold(Tensor self, int[2] padding, *, SymInt alpha) -> Tensor",
    "cut.size(Tensor self, SymInt? n) -> Tensor",
    "cut.tensor(Tensor self, Tensor? n) -> Tensor",
]
HEAD = "import torch\nfrom torch.library import custom_op, register_fake\naten = torch.ops.aten\n"
INTS = Value(SEQUENCE, items=(A_NUMBER,))


def given(source: str, name: str = "meta") -> dict[str, Value]:
    """What the parameters of a function of `source` hold, where that is known."""
    tree = tree_of({"torch/_meta_registrations.py": HEAD + source})
    registrations = Registrations(tree)
    functions = reach(tree, registrations)
    give_types(
        functions,
        registrations.roles,
        lambda names: [schema for schema in map(parse_schema, ATEN) if schema.base in names],
    )
    (reached,) = (reached for definition, reached in functions.items() if definition.function.name == name)
    return {name: value for name, value in reached.parameters.items() if value != NOTHING}


@pytest.mark.parametrize(
    ("registered", "parameters", "held"),
    [
        ("aten.pad", "x, pads, *, alpha=1", {"x": A_TENSOR, "pads": SOME_SHAPE, "alpha": A_NUMBER}),
        ("aten.pad.default", "x, pads, alpha=1", {"x": A_TENSOR, "pads": SOME_SHAPE, "alpha": A_NUMBER}),
        ("aten.pad", "x, pads: int, *, beta=1", {"x": A_TENSOR, "pads": A_NUMBER}),
        ("aten.pad", "x, *rest", {"x": A_TENSOR}),
        ("aten.pad", "*rest, alpha=1", {"alpha": A_NUMBER}),
        ("aten.pad", "x", {}),
        ("aten.stack", "xs, dim=0", {"xs": SOME_TENSORS, "dim": A_NUMBER}),
        ("[aten.pad, aten.fold]", "x, pads, *, alpha=1", {"x": A_TENSOR}),
        ("aten.fold", "x, pads, *, alpha=1", {"x": A_TENSOR, "pads": INTS, "alpha": A_SIZE}),
        ("aten.fold", "x, output_size, *, alpha=1", {"x": A_TENSOR, "output_size": INTS, "alpha": A_SIZE}),
        ("aten.fold", "x, output_size: tuple[int, int]", {"x": A_TENSOR, "output_size": INTS}),
        ("aten.pad", "x, output_size: tuple[int, int]", {"x": A_TENSOR, "output_size": SOME_SHAPE}),
        ("[aten.pad, aten.fold]", "x, output_size: list[int]", {"x": A_TENSOR, "output_size": SOME_SHAPE}),
        ("aten.cut", "x, n", {"x": A_TENSOR}),
        ("aten.cut.size", "x, n", {"x": A_TENSOR, "n": maybe_none(A_SIZE)}),
        ("aten.unknown", "x, n", {}),
    ],
)
def test_of_operators_of_aten_the_schema_says_it(registered: str, parameters: str, held: dict[str, Value]) -> None:
    assert given(f"@register_meta({registered})\ndef meta({parameters}):\n    return x\n") == held


def test_what_another_decorator_passes_on_is_not_known() -> None:
    assert given("@register_meta(aten.pad)\n@out_wrapper()\ndef meta(x, pads): ...\n")["pads"] == SOME_SHAPE
    assert given("@register_meta(aten.pad)\n@unpacked\ndef meta(x, pads): ...\n") == {}


def test_a_fake_has_what_its_custom_op_has() -> None:
    source = '@custom_op("a::cut", mutates_args=())\ndef cut(x: torch.Tensor, n: torch.SymInt, k: int = 2): ...\n'
    assert given(f"{source}@cut.register_fake\ndef meta(x, n, k=2): ...\n") == {
        "x": A_TENSOR,
        "n": A_SIZE,
        "k": A_NUMBER,
    }
    assert given(f'{source}@register_fake("a::other")\ndef meta(x, n, k=2): ...\n') == {}


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_check_of_sizes_that_only_the_schema_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # As `_pad1d_common` stood in torch 2.11: of a bool, a Tensor, `and` would ask otherwise than torch.sym_and.
    (tmp_path / "metas.py").write_text(
        "import torch\nfrom torch._meta_registrations import register_meta\naten = torch.ops.aten\n\n\n"
        "@register_meta(aten.reflection_pad1d)\ndef meta_pad(input, padding):\n    return _common(input, padding)\n\n\n"
        "def _common(input, padding):\n    left, right = padding\n    width = input.size(-1)\n"
        '    torch._check(left < width and right < width, lambda: "too wide")\n'
        "    return input.new_empty((input.size(0), width + left + right))\n",
        encoding="utf-8",
    )
    with pytest.raises(SystemExit):
        main(["diff", str(tmp_path), "--level", "review"])
    assert "sym_and(left < width, right < width)" in capsys.readouterr().out
