"""Numbers beside sizes: what C++ makes of two of them, and where a SymInt or a SymFloat would make something else."""

from __future__ import annotations

import functools
import re

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.sizes import is_size, method, unchanged_initial
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import FLOAT, INT, UNKNOWN, Type, parse_type

SINGLE = Type("float", "float")
_WIDE = frozenset({"size_t", "uint64_t", "unsigned long", "unsigned long long"})
"""Unsigned types that an int64_t beside them is converted to."""
UNSIGNED = _WIDE | {"uint32_t", "unsigned", "unsigned int", "uint8_t", "uint16_t"}
UNSURE = "number"
"""The name of an integer's type that is computed with a number of unknown type, which may have a fraction."""
_LONG_LONG = frozenset({"long long", "unsigned long long"})
"""Types that SymInt's operators have no overload for, and several that are as near (c10/core/SymInt.h)."""
_NUMBERS = frozenset({"int", "float", "bool"})
_COUNTS = frozenset(
    {"dim", "ndimension", "itemsize", "element_size", "nbytes", "sym_nbytes", "storage_offset", "sym_storage_offset"}
)
_SUFFIX = re.compile(r"[ul]*$")
_CONSTANT = re.compile(rb"(?m)^(?:(?:static|inline|constexpr|const)[ \t]+)+([\w:]+)[ \t]+([^\s={;()]+)\s*[={]")
_MATHEMATICAL = re.compile(r"M_(?:E|LOG2E|LOG10E|LN2|LN10|PI(?:_[24])?|[12]_PI|2_SQRTPI|SQRT2|SQRT1_2)")
"""Macros of <cmath> (POSIX, math.h)."""
_MACRO = re.compile(rb"#[ \t]*define[ \t]+(\w+)[ \t]+(\d[\w.]*)[ \t\r]*(?:\n|\Z)")
_ORDERED = frozenset({"/", "%", "<", ">", "<=", ">="})
"""Operators whose result the bits of two integers do not tell: it matters whether they have a sign."""


def literal(text: str) -> Type:
    """The type of a number as written."""
    text = text.lower()
    if not text.startswith("0x") and any(c in text for c in ".ef"):
        return SINGLE if text.endswith("f") else FLOAT
    suffix = _SUFFIX.search(text)
    letters = suffix[0] if suffix is not None else ""
    unsigned, length = "u" in letters, letters.count("l")
    if length == 2:
        return Type("int", "unsigned long long" if unsigned else "long long")
    return Type("int", "size_t" if length else "unsigned") if unsigned else INT


def constant(source: bytes, name: str) -> Type:
    """The type of a number that a file has as a constant, at the beginning of a line, or a macro; unknown else."""
    return FLOAT if _MATHEMATICAL.fullmatch(name) else _constants(source).get(name.encode(), UNKNOWN)


@functools.lru_cache(maxsize=64)
def _constants(source: bytes) -> dict[bytes, Type]:
    """The type of each; a name with two has the first, and a constant goes before a macro."""
    types: dict[bytes, Type] = {}
    for declared in _CONSTANT.finditer(source):
        if declared[2] not in types:
            kind = parse_type(declared[1].decode())
            types[declared[2]] = kind if kind.kind in _NUMBERS and not kind.symbolic else UNKNOWN
    macros: dict[bytes, Type] = {}
    for number in _MACRO.finditer(source):
        macros.setdefault(number[1], literal(number[2].decode()))
    return macros | types


def promoted(left: Type, right: Type) -> Type:
    """What two numbers come to, without origins (C++ standard, "Usual arithmetic conversions")."""
    floating = {value.name for value in (left, right) if value.kind == "float"}
    if floating:
        return SINGLE if floating == {"float"} else FLOAT
    names = {value.name for value in (left, right) if not (value.symbolic and value.name in _LONG_LONG)}
    if UNSURE in names:
        return Type("int", UNSURE)
    widest = next((name for name in ("unsigned long long", "long long") if name in names), "int64_t")
    return Type("int", "size_t" if names & _WIDE and widest != "unsigned long long" else widest)


def differs(left: Type, right: Type) -> bool:
    """Whether `refuse_mixed` may refuse what two numbers come to."""
    names = {left.name, right.name}
    return bool(names & (_WIDE | _LONG_LONG)) or promoted(left, right) == SINGLE


def refuse_mixed(
    flow: Flow, node: Node, operator: str, operands: tuple[Node, Node], left: Type, right: Type, *, kept: bool = False
) -> None:
    """Let a size sink that meets a number beside which a symbolic one would come to something else.

    With `kept` the result is an int64_t again at once, as that of `n += m` is.
    """
    if not (left.symbolic or right.symbolic) or not {left.kind, right.kind} <= _NUMBERS:
        return
    both = promoted(left, right)
    if not flow.vocabulary.mixes_integers and operator != "?" and not (left.symbolic and right.kind == "int"):
        reason = f"stands beside `{operator}`, and the SymInt of this version takes integers on its right alone"
        flow.sink(node, "no-operator", reason, left, right)
    elif both == SINGLE:
        flow.sink(node, "float", "comes to a `float`, and a SymFloat has the precision of a double", left, right)
    elif operator != "?" and any(value.name in _LONG_LONG and not value.symbolic for value in (left, right)):
        flow.sink(node, "long-long", "stands beside a `long long`, which no operator of SymInt takes", left, right)
    elif both.name in _WIDE or (both.kind == "float" and {left.name, right.name} & _WIDE):
        harmless = kept and operator not in _ORDERED
        natural = operator != "-" and all(never_negative(flow, operand) for operand in operands)
        if not (harmless or natural or operator in ("==", "!=")):
            flow.sink(node, "size_t", "is unsigned arithmetic, and a SymInt has a sign", left, right)


def never_negative(flow: Flow, outer: Node, following: int = 10) -> bool:
    """Whether a number is known to be none below 0, so that it is the same with a sign and without one."""
    node = outer.bare
    if node.kind in ("number_literal", "sizeof_expression") or is_size(flow, node):
        return True
    if node.kind == "call_expression" and method(node) in _COUNTS:
        return True
    if node.kind == "binary_expression" and node.token in ("+", "*", "/", "%"):
        return all(never_negative(flow, child, following) for child in node.children)
    value = evaluate(flow, node)
    if value.kind == "float" or (value.name in UNSIGNED and not value.symbolic):
        return True
    initial = unchanged_initial(flow, node) if following else None
    return initial is not None and never_negative(flow, initial, following - 1)
