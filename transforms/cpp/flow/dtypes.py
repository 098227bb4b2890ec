"""Which dtype a value is given by its source: that of another tensor, or one that a literal names.

A path for empty tensors that gives another dtype than the path for others is no shortcut: picked by itself, it changes
what the caller gets. Of what a value's dtype comes from the source says little; where it does not, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from transforms.cpp.flow.checks import COMPARISONS
from transforms.cpp.flow.sizes import method
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import SCALAR_TYPES

_NAMED = re.compile(
    rf"(?:\w+::)*(?:k|ScalarType::)({'|'.join((*SCALAR_TYPES, 'ComplexHalf', 'UInt16', 'UInt32', 'UInt64'))})"
)
_OPTION = re.compile(rf"\bdtype\s*\(\s*({_NAMED.pattern})\s*\)")
_OPTIONS = frozenset({"dtype", "device", "layout", "requires_grad", "pinned_memory", "memory_format"})
_KEEPS = re.compile(
    r"^(?:clone|contiguous|view(?:_as)?|reshape(?:_as)?|expand(?:_as)?|flatten|unflatten|t|transpose|permute|movedim"
    r"|swapaxes|squeeze|unsqueeze|detach|alias|slice|narrow|select|index_select|triu|tril|neg(?:ative)?|relu|flip|roll"
    r"|floor|ceil|round|trunc|square|(?:new_)?(?:zeros|ones|empty|full)(?:_like)?)$"
)
"""What has the dtype of the first tensor that it is given, where no literal names another."""
_TRUTHS = re.compile(r"^(?:gt|lt|ge|le|eq|ne|logical_(?:not|and|or|xor)|is(?:nan|inf|finite|close|in))$")
_INDICES = re.compile(r"^(?:arg(?:max|min|sort|where)|nonzero|count_nonzero)$")
_OF_A_TENSOR = "of a tensor"
_MOST = 20


def differ(made: Mapping[str, Sequence[Node]], special: Sequence[Node], general: Sequence[Node]) -> bool:
    """Whether what a path gives for empty tensors is seen to have another dtype than what the path in general gives.

    `made` is what each variable is made of. Where `special` is empty, a tensor is left as the function was given it.
    """
    theirs = {name for value in general for name in _dtypes(made, value)}
    ours = {name for value in special for name in _dtypes(made, value)} or {_OF_A_TENSOR}
    return bool(theirs) and None not in theirs | ours and ours.isdisjoint(theirs)


def _dtypes(made: Mapping[str, Sequence[Node]], outer: Node, following: int = _MOST) -> Iterator[str | None]:
    """The dtypes that a value may have; None among them for one that is not seen."""
    node = outer.bare
    if not following:
        yield None
    elif node.kind == "conditional_expression":
        for arm in ("consequence", "alternative"):
            yield from _dtypes(made, node.fields[arm], following - 1)
    elif node.kind == "identifier":
        values = made.get(node.text, ())
        for value in values:
            yield from _dtypes(made, value, following // 2)
        if not values:
            yield _OF_A_TENSOR
    elif node.kind == "binary_expression":
        yield "bool" if node.token in COMPARISONS else None
    elif node.kind == "call_expression":
        yield from _of_call(made, node, following - 1)
    else:
        yield None


def _of_call(made: Mapping[str, Sequence[Node]], call: Node, following: int) -> Iterator[str | None]:
    function, arguments = call.fields["function"], call.fields["arguments"].children
    name = method(call).removesuffix("_symint")
    receiver = function.field("argument") if function.kind == "field_expression" else None
    named = {SCALAR_TYPES.get(literal, literal) for argument in arguments for literal in _literals(argument)}
    if function.text in ("std::move", "std::forward") and len(arguments) == 1:
        yield from _dtypes(made, arguments[0], following)
    elif named:
        yield named.pop() if len(named) == 1 else None
    elif _TRUTHS.match(name) or _INDICES.match(name):
        yield "bool" if _TRUTHS.match(name) else "int64"
    elif _KEEPS.match(name):
        yield from _of_first(made, [*([receiver] if receiver is not None else []), *arguments], following)
    else:
        yield None


def _literals(argument: Node) -> Iterator[str]:
    """The dtype that an argument of a call is, or that is an option of it: `x.options().dtype(at::kLong)`."""
    whole = _NAMED.fullmatch(argument.text)
    if whole is not None:
        yield whole[1]
    elif argument.kind == "call_expression" and method(argument) in _OPTIONS:
        yield from (found[2] for found in _OPTION.finditer(argument.text))


def _of_first(made: Mapping[str, Sequence[Node]], operands: Sequence[Node], following: int) -> Iterator[str | None]:
    """That of the first tensor, or of the tensor whose options are given: `at::zeros({n}, x.options())`."""
    asked = (part for given in operands[1:] for part in given.walk() if part.kind == "call_expression")
    options = next((part.fields["function"].field("argument") for part in asked if method(part) == "options"), None)
    first = options if options is not None else operands[0] if operands else None
    if first is None or first.bare.kind in ("initializer_list", "number_literal"):
        yield None  # `at::zeros({n})` has the default dtype
    else:
        yield from _dtypes(made, first, following)
