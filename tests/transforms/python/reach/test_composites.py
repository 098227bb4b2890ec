"""Which registered decompositions may stand in for a C++ composite."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

import pytest

from codemod.errors import SymfixError
from tests.transforms.python.reach.following import body_of, tree_of
from transforms.python.reach.composites import Composite, composites, entries_of, stand_ins
from transforms.schema.native_functions import NativeFunction

YAML = b"""
- func: composed(Tensor self, int? n=None, int[1] dim=[-2,-1], *, str? norm=None) -> Tensor
  variants: function

- func: composed.out(Tensor self, int? n=None, int[1] dim=[-2,-1], *, str? norm=None, Tensor(a!) out) -> Tensor(a!)

- func: forwards(Tensor self) -> Tensor
  tags: core

- func: a_view(Tensor(a) self) -> Tensor(a)

- func: draws(Tensor self) -> Tensor
  tags: [nondeterministic_seeded, core]

- func: may_alias(Tensor self) -> Tensor
  tags: maybe_aliasing_or_mutating

- func: has_kernels(Tensor self) -> Tensor
  dispatch:
    CPU: has_kernels_cpu

- func: has_both(Tensor self) -> Tensor

- func: has_both.Scalar(Tensor self, Scalar other) -> Tensor
  dispatch:
    CPU: has_both_cpu

- func: differentiated(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: differentiated_kernel
    CompositeImplicitAutograd: differentiated_composite
"""
SIGNATURE = "x: Tensor, n=None, dim=(-2, -1), *, norm=None"
ASKS = "    if x.shape[0] == 0:\n        return x\n    return x + 1\n"


def unread(path: str) -> bytes:
    """No file is read."""
    raise AssertionError(path)


def found(source: str, primitives: str = "", **others: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The decompositions of `torch/_refs/a.py` that can stand in: their overloads and bodies by name.

    `primitives` is torch/_prims/__init__.py, which the tree lacks where it is empty.
    """
    files = {"torch/_refs/a.py": source, **{f"torch/_refs/{name}.py": text for name, text in others.items()}}
    files |= {"torch/_prims/__init__.py": primitives} if primitives else {}
    return {name: (composite.overloads, composite.bodies) for name, composite in standing_in(files).items()}


def standing_in(files: Mapping[str, str]) -> dict[str, Composite]:
    """The decompositions of a tree that can stand in, by name."""
    tree = tree_of(files)
    replaced = stand_ins(tree, partial(entries_of, YAML), lambda path: files[path].encode())
    own = [definition for stand_in in replaced.values() for definition in stand_in.own]
    return {d.function.name: composite for d, composite in composites(replaced, body_of(tree, own, files)).items()}


def decomposition(name: str, signature: str = "x: Tensor", body: str = ASKS) -> str:
    return f"@register_decomposition(aten.{name})\n@out_wrapper()\ndef {name}({signature}):\n{body}\n\n"


def test_a_composite_with_the_same_arguments() -> None:
    assert found(decomposition("composed", SIGNATURE)) == {"composed": (("composed.default",), ())}


@pytest.mark.parametrize(
    "signature",
    [
        "x: Tensor",
        "x: Tensor, n=0, dim=(-2, -1), *, norm=None",
        "x: Tensor, n=None, dim=(-1,), *, norm=None",
        "x: Tensor, n=None, dim=(-2, -1), *, other=None",
        "x: Tensor, n=None, dim=(-2, -1), *, norm='ortho'",
        "x: Tensor, n=None, dim=(-2, -1), *, norm=None, more=None",
    ],
)
def test_other_arguments_or_defaults(signature: str) -> None:
    assert not found(decomposition("composed", signature))


NO_MERE = ["a_view", "draws", "may_alias", "has_kernels", "has_both", "differentiated", "unknown"]


@pytest.mark.parametrize("name", NO_MERE)
def test_operators_that_are_no_mere_composites(name: str) -> None:
    assert not found(decomposition(name))


def test_what_asks_for_no_size_is_left() -> None:
    assert not found(decomposition("forwards", body="    return x + 1\n"))


def test_what_has_a_place_or_another_wrapper_is_left() -> None:
    assert not found("@aten.forwards.default.py_impl(KEY)\n" + decomposition("forwards"))
    assert not found("@elementwise_type_promotion_wrapper()\n" + decomposition("forwards"))


def test_a_function_that_forwards_to_such_an_operator() -> None:
    source = decomposition("composed", SIGNATURE) + decomposition("forwards", body="    return torch.composed(x)\n")
    assert set(found(source)) == {"composed", "forwards"}


def test_what_is_run_in_the_place_of_an_operator() -> None:
    source = (
        decomposition("composed", SIGNATURE, f"    _helper(x)\n{ASKS}") + "def _helper(x: Tensor):\n    return x\n\n"
    )
    source += decomposition("forwards", body="    return torch.composed(x)\n")
    runs = {name: composite.runs for name, composite in standing_in({"torch/_refs/a.py": source}).items()}
    assert runs == {"composed": ("_helper", "composed"), "forwards": ("_helper", "composed", "forwards")}


def test_primitives_in_helpers_of_its_own() -> None:
    body = "    if x.shape[0] == 0:\n        return x\n    return _helper(x)\n"
    helper = "def _helper(x: Tensor):\n    return partial(prims.neg, x)\n"
    source = decomposition("forwards", body=body) + helper
    assert found(source) == {"forwards": (("forwards.default",), ("_helper",))}
    assert not found(source.replace("_helper", "helper"))
    assert not found(source + "\ndef other(x: Tensor):\n    return _helper(x)\n")
    assert not found(source, b="from torch._refs.a import _helper\n")


@pytest.mark.parametrize(
    ("line", "names"), [("", {"composed"}), ("    p.impl_aten = aten\n", {"composed", "forwards"})]
)
def test_primitives_that_have_no_function_of_aten_are_left_alone(line: str, names: set[str]) -> None:
    """As in torch 1.13, whose primitives have no `impl_aten`."""
    asks = "    if x.shape[0] == 0:\n        return x\n"
    source = decomposition("composed", SIGNATURE, asks + "    return x + 1\n")
    source += decomposition("forwards", body=f"{asks}    return prims.neg(x)\n")
    assert set(found(source, f"def _make_prim(aten):\n    assert p.impl_aten == aten\n{line}    return p\n")) == names


def test_no_yaml_is_read_without_a_registered_decomposition() -> None:
    def missing(names: Collection[str]) -> list[NativeFunction]:
        raise AssertionError("read")

    assert stand_ins(tree_of({"a.py": "def f(x: Tensor):\n    return x\n"}), missing, unread) == {}


def test_a_broken_entry_is_one_line() -> None:
    tree = tree_of({"a.py": decomposition("forwards")})
    with pytest.raises(SymfixError, match=r"native_functions\.yaml:1: "):
        stand_ins(tree, partial(entries_of, b"- func: forwards(Tensor self\n"), unread)
