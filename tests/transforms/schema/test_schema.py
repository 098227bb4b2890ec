"""Operator schemas."""

from __future__ import annotations

import pytest

from transforms.schema.schema import Argument, parse_schema


@pytest.mark.parametrize("text", ["", "add", "add(Tensor self", "add(Tensor self) Tensor", "- func"])
def test_no_schema(text: str) -> None:
    with pytest.raises(ValueError, match="not an operator schema"):
        parse_schema(text)


def test_every_part() -> None:
    schema = parse_schema(
        "lib::fade.out(Tensor(a!)[] self, SymInt[2]? size=None, *, int n=1, Tensor(b!) out) -> Tensor(b!)"
    )
    assert (schema.name, schema.base, schema.overload, schema.full_name) == (
        "lib::fade",
        "fade",
        "out",
        "lib::fade.out",
    )
    assert schema.arguments == (
        Argument("self", "Tensor(a!)[]", annotation="a!"),
        Argument("size", "SymInt[2]?", "None"),
        Argument("n", "int", "1", kwarg_only=True),
        Argument("out", "Tensor(b!)", kwarg_only=True, annotation="b!"),
    )
    assert schema.returns == (Argument("", "Tensor(b!)", annotation="b!"),)
    assert schema.arguments[0].plain_type == "Tensor[]"
    assert [argument.name for argument in schema.outputs] == ["out"]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("f(Tensor(a -> *) self) -> Tensor(a)[]", ["Tensor(a)[]"]),
        ("f() -> (Tensor values, Tensor indices)", ["Tensor", "Tensor"]),
        ("f() -> ()", []),
        ("f(Tensor x)", []),
    ],
)
def test_returns(text: str, types: list[str]) -> None:
    assert [argument.type for argument in parse_schema(text).returns] == types


@pytest.mark.parametrize(
    ("text", "kind", "plain"),
    [
        ("Tensor! x", "Tensor!", "Tensor"),
        ("Tensor !x", "Tensor!", "Tensor"),
        ("Tensor!x", "Tensor!", "Tensor"),
        ("Tensor ![] x", "Tensor![]", "Tensor[]"),
        ("Tensor!? x", "Tensor!?", "Tensor?"),
        ("Tensor(a!)? x", "Tensor(a!)?", "Tensor?"),
    ],
)
def test_arguments_that_are_written_to(text: str, kind: str, plain: str) -> None:
    (argument,) = parse_schema(f"f({text}) -> ()").arguments
    assert (argument.name, argument.type, argument.plain_type, argument.written) == ("x", kind, plain, True)


def test_defaults_with_commas_and_quotes() -> None:
    schema = parse_schema("""f(int[2] a=[0, 1], str b="x, \\") (", str c='it''s') -> Tensor""")
    assert [argument.default for argument in schema.arguments] == ["[0, 1]", '"x, \\") ("', "'it''s'"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", ("view_symint",)),
        (
            "topk.values(Tensor self, SymInt k, *, Tensor(a!) values) -> Tensor(a!)",
            ("topk_symint_out", "topk_symint_outf"),
        ),
        ("tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", ("tril__symint",)),
        ("sum(Tensor self, int[1]? dim) -> Tensor", ()),
        ("sym_size.int(Tensor self, int dim) -> SymInt", ()),
    ],
)
def test_symint_names(text: str, names: tuple[str, ...]) -> None:
    assert parse_schema(text).symint_names == names
