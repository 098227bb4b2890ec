"""Walks over ast trees, and what is written out without `ast.unparse`."""

from __future__ import annotations

import ast
import sys

import pytest

from transforms.python.flow.nodes import TELLING, operands_traced, outcome_traced, own_nodes, telling_nodes, written


@pytest.mark.parametrize(
    "text",
    [
        *("x", "torch.Tensor", "'Tensor'", '"it\'s"', "u'old'", "None", "1", "b'x'", "...", "-1"),
        *("list[int]", "tuple[int, ...]", "tuple[int,]", "Tuple[()]", "dict[str, list['T']]", "x[1:2]", "f(x)[0].y"),
        *("int | None", "a | b | c", "a | (b | c)", "(a | b).c", "(a | b)[c]", "a & b | c", "list[int | None] | None"),
        *(("x[*a, b]",) if sys.version_info >= (3, 11) else ()),
        *("Callable[[int], str]", "(1).real", "'a'.b", "f(x)", "lambda: 0"),
    ],
)
def test_what_is_written_is_what_unparse_writes(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert written(node) == ast.unparse(node)


def test_names_subscripts_and_unions_need_no_unparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "unparse", lambda node: "unparsed")
    assert written(ast.parse("dict[str, at.Tensor | None]", mode="eval").body) == "dict[str, at.Tensor | None]"
    assert written(ast.parse("f(x)", mode="eval").body) == "unparsed"


def test_the_own_nodes_of_a_scope_stand_in_the_order_of_the_source() -> None:
    source = "a = b.c[d](e, *f, g=h) if i < j else [k for k in l if m]\ndef n(o): p\nclass q(r): s = t\nwith u as v: w"
    names = [node.id for node in own_nodes(ast.parse(source)) if isinstance(node, ast.Name)]
    # The test of a conditional expression is its first field; what functions and classes hold is not the module's.
    assert "".join(names) == "aijbdefhkklmuvw"


def test_telling_nodes_are_those_of_the_own_nodes_that_tell() -> None:
    source = "a = b.c(d).e.f[g(h=i.j)] if k else {**l(), m: lambda: n()}\nfor o in [p() for q in r]: s += t(-u)"
    nodes = telling_nodes(tree := ast.parse(source))
    assert nodes == [node for node in own_nodes(tree) if type(node) in TELLING]
    assert {"b.c", "g", "l", "p", "t"} == {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("torch.jit.is_scripting()", False),
        ("not torch.jit.is_scripting()", True),
        ("torch.compiler.is_compiling()", True),
        ("torch._dynamo.is_compiling() or n > 1", True),
        ("not is_torchdynamo_compiling() and n > 1", False),
        ("not (torch.compiler.is_dynamo_compiling() or n)", False),
        ("torch.compiler.is_compiling() and n > 1", None),
        ("torch.compiler.is_compiling() and not torch.jit.is_scripting()", True),
        ("torch.jit.is_tracing() and n > 1", False),
        ("is_tracing(x)", None),
        ("n > 1", None),
    ],
)
def test_what_is_known_of_a_condition_where_python_is_traced(condition: str, outcome: bool | None) -> None:
    assert outcome_traced(ast.parse(condition, mode="eval").body) is outcome


@pytest.mark.parametrize(
    ("condition", "evaluated"),
    [("a or is_compiling() or b", 2), ("a and is_compiling() and b", 3), ("a and not is_compiling() and b", 2)],
)
def test_nothing_is_evaluated_behind_what_decides(condition: str, evaluated: int) -> None:
    node = ast.parse(condition, mode="eval").body
    assert isinstance(node, ast.BoolOp)
    assert operands_traced(node) == node.values[:evaluated]
