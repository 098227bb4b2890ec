"""What an expression is taken to be: sizes, shapes and Tensors, and what is none of these."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes
from transforms.python.flow.values import Value

FUNCTION = """
def f(x: Tensor, y: TensorLikeType, ts: list[Tensor], size: ShapeType, n: SymInt, dim: int, k: int, flag: bool, u=None):
    a, b = x.shape
    first, *rest = y.shape
    c = y.size(dim)
    d = x.numel() // 2
    out = []
    out.append(c)
    for i, s in enumerate(x.stride()):
        e = s
    for p, q in zip(x.shape, reversed(y.shape)):
        pair = p * q
    batch = list(x.shape[:-2]) + [a, c]
    t = x.transpose(0, 1)
    r = float(a) / 2
    g = u.shape
    h = helper(u)
    scale = a if flag else 1
"""


@pytest.fixture
def values() -> Interpreter:
    function = ast.parse(FUNCTION).body[0]
    assert isinstance(function, ast.FunctionDef)
    return Interpreter(function, own_nodes(function))


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("x", "tensor"), ("t", "tensor"), ("ts[0]", "tensor"), ("torch.add(x, y)", "tensor"), ("x + a", "tensor"),
        ("ts", "tensors"), ("[x, y]", "tensors"),
        ("a", "int"), ("c", "int"), ("d", "int"), ("e", "int"), ("pair", "int"), ("n", "int"), ("scale", "int"),
        ("min(a, 3)", "int"), ("torch.sym_max(a, 1)", "int"), ("torch.sym_ite(flag, a, 1)", "int"),
        ("math.prod(x.shape)", "int"),
        ("x.storage_offset()", "int"),
        ("len(x)", "int"), ("x.shape[-1]", "int"), ("-a", "int"), ("(a + 1) % 2", "int"), ("g[0]", "int"),
        ("x.shape", "shape"), ("rest", "shape"), ("batch", "shape"), ("size", "shape"), ("x.size()", "shape"),
        ("out", "shape"),
        ("x.shape[1:]", "shape"), ("[s for s in x.shape]", "shape"), ("tuple(x.shape)", "shape"),
        ("r", "float"), ("a / 2", "float"),
        ("a == 0", "bool"), ("x.shape == y.shape", "bool"), ("all(s > 0 for s in x.shape)", "bool"), ("not a", "bool"),
        ("guard_or_false(a == 0)", "plain"), ("x.ndim", "plain"), ("x.dim()", "plain"), ("len(x.shape)", "plain"),
        ("dim", "plain"), ("flag", "plain"), ("x.dtype == y.dtype", "plain"), ("a is None", "plain"), ("i", "plain"),
        ("x.shape == [a, b]", "plain"), ("isinstance(a, int)", "plain"), ("x.is_contiguous()", "plain"),
        ("x == 0", "tensor"), ("a == 'no'", "plain"),
    ],
)  # fmt: skip
def test_kind(values: Any, expression: Any, kind: Any) -> None:
    assert values.value(ast.parse(expression, mode="eval").body).kind == kind


@pytest.mark.parametrize(
    ("expression", "dependencies"),
    [("k + 1", {"k"}), ("k == 2", {"k"}), ("u[0]", {"u[0]"}), ("h", {"()helper"}), ("a == k", set())],
)
def test_what_depends_on_others_says_so(values: Any, expression: Any, dependencies: Any) -> None:
    assert values.value(ast.parse(expression, mode="eval").body).dependencies == dependencies


def test_callers_and_callees_fill_dependencies_in() -> None:
    function = ast.parse("def f(k, m):\n    n = g(m)\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function), {"k": Value("int")}, {"g": Value("shape")})
    assert values.variables["k"].kind == "int"
    assert values.variables["m"].kind == "plain"
    assert values.variables["n"].kind == "shape"
