"""What torch.export fixes in the forward of a module, which it runs itself, and torch.compile keeps symbolic."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def forward(self, x: Tensor, y: Tensor, n: int):\n"
MODULE = {"inlined": True, "eager": True, "exported": True}


@pytest.mark.parametrize(
    ("expression", "rule", "keeps"),
    [
        ("int(x.size(0) * 0.5)", "sym-cast", "torch.sym_int keeps it"),
        ("int(x.size(0))", "sym-cast", "torch.sym_int keeps it"),
        ("x / math.sqrt(x.size(-1))", "sym-cast", "torch.sym_sqrt keeps it"),
        ("float(x.size(0))", "sym-cast", "torch.sym_float keeps it"),
        ("[a for a in map(int, x.shape)]", "concrete-number", "map torch.sym_int"),
        ("torch.arange(int(x.max()))", "sym-cast", "torch.sym_int(x.max().item()) keeps it"),
        ("torch.arange(int(x.max() + 1))", "sym-cast", "torch.sym_int((x.max() + 1).item()) keeps it"),
        ("self.size_of(len(x))", "tensor-length", "x.size(0) keeps it"),
    ],
)
def test_conversions_are_named(look: Any, expression: str, rule: str, keeps: str) -> None:
    source = f"{HEAD}    return g({expression})\n"
    (finding,) = look(source, **MODULE)
    assert (finding.rule, finding.refusal, finding.edits) == (rule, "exported", ())
    assert keeps in finding.reason
    assert "torch.export runs" in finding.reason
    assert not look(source, **MODULE | {"exported": False})


@pytest.mark.parametrize(
    "expression",
    ["min(x.size(0), 4)", "round(x.size(0) / 2)", "torch.tensor(x.size(0))", "int(x.dim())", "int(n)", "x[y.size(0)]"],
)
def test_what_export_keeps_too_is_not(look: Any, expression: str) -> None:
    assert not look(f"{HEAD}    return g({expression})\n", **MODULE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.arange(len(x), device=x.device)", "torch.arange(x.size(0), device=x.device)"),
        ("torch.zeros((2 * len(x), 3))", "torch.zeros((2 * x.size(0), 3))"),
        ("torch.full((len(x),), fill_value=0.0)", "torch.full((x.size(0),), fill_value=0.0)"),
        ("y + len(x)", "y + x.size(0)"),
        ("2 * len(x) * y[:, None]", "2 * x.size(0) * y[:, None]"),
        ("-(torch.ones(3) % (len(x) + 1))", "-(torch.ones(3) % (x.size(0) + 1))"),
    ],
)
def test_a_length_that_torch_is_given_becomes_a_size(rewrite: Any, before: str, after: str) -> None:
    source = f"{HEAD}    return {before}\n"
    assert rewrite(source, **MODULE) == source.replace(before, after)


@pytest.mark.parametrize(
    "expression",
    [
        "torch.tensor(len(x))",
        "self.rows[len(x)]",
        "str(len(x))",
        "torch.split(y, len(x))",
        "len(x) * n",
        "self.w * len(x)",
    ],
)
def test_a_length_that_something_else_is_given_stays(rewrite: Any, expression: str) -> None:
    source = f"{HEAD}    return {expression}\n"
    assert rewrite(source, **MODULE) == source


@pytest.mark.parametrize("other", ["self.rows[len(x)]", "int(n * x.size(0))", "int(y.max())"])
def test_one_is_left_where_the_same_export_stops_at_another(look: Any, other: str) -> None:
    source = f"{HEAD}    rows = torch.arange(len(x))\n    return g(rows, {other})\n"
    first, last = look(source, **MODULE)
    assert (first.rule, first.refusal, first.edits) == ("tensor-length", "half", ())
    assert "the same call stops at line 3" in first.reason
    assert last.refusal == "exported"
    first, last = look(source.replace("    return", "    if n:\n        return"), **MODULE)
    assert (bool(first.edits), last.refusal) == (True, "exported")


@pytest.mark.parametrize("number", ["int(rows * 0.5)", "x.shape[1:].numel()", "len(x)", "int(y.max())"])
def test_nothing_else_is_withdrawn_for_them(rewrite: Any, number: str) -> None:
    """torch.compile does not stop there."""
    body = "    rows = x.size(0)\n    total = torch.as_tensor([rows])\n"
    source = f"{HEAD}{body}    return y.new_zeros({number}, 2) + total\n"
    assert "total = torch.tensor([rows])" in rewrite(source, **MODULE)


@pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated, and used
@pytest.mark.parametrize(
    "expression",
    [
        "torch.arange(x.size(0))",
        "torch.zeros((2 * x.size(0), 3))",
        "torch.full((x.size(0),), 1.0)",
        "torch.topk(x[:, 0], x.size(0))[0]",
        "torch.narrow(x, 0, 0, x.size(0))",
        "torch.div(x, x.size(0))",
        "torch.nn.functional.pad(x, (0, x.size(0)))",
    ],
)
def test_torch_takes_the_size_for_the_number_where_it_is_traced_by_jit(expression: str) -> None:
    torch = pytest.importorskip("torch")
    function = eval(f"lambda x: {expression}", {"torch": torch, "__name__": __name__})
    traced = torch.jit.trace(function, torch.ones(4, 4), check_trace=False)
    given, expected = traced(torch.ones(6, 4)), function(torch.ones(6, 4))
    assert (given.shape, given.dtype) == (expected.shape, expected.dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
@pytest.mark.parametrize(
    "expression", ["x + x.size(0)", "3 * x.size(0) * x", "x / x.size(0)", "x * (1 + x.size(0))", "x.size(0) ** x.real"]
)
def test_a_tensor_takes_the_size_for_the_number_where_it_is_traced_by_jit(dtype: str, expression: str) -> None:
    torch = pytest.importorskip("torch")
    function = eval(f"lambda x: {expression}", {"torch": torch, "__name__": __name__})
    traced = torch.jit.trace(function, torch.ones(4, 4).to(getattr(torch, dtype)), check_trace=False)
    given = torch.ones(6, 4).to(getattr(torch, dtype))
    assert torch.equal(traced(given), function(given))
    assert traced(given).dtype == function(given).dtype
