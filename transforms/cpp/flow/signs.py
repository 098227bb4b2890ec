"""Quotients and remainders of sizes whose operands may be negative: C++ rounds those toward zero, a graph rounds down.

SymInt's `/` and `%` are Python's `//` and `%` of symbols (c10/core/SymInt.cpp, `floordiv` and `mod`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from transforms.cpp.flow.checks import COMPARISONS, called
from transforms.cpp.flow.definitions import Stored, definitions
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.facts import Fact, facts_at, said
from transforms.cpp.flow.sizes import method
from transforms.cpp.flow.state import Quotient, Rounding
from transforms.cpp.reading.tree import Node

_COUNTS = frozenset(
    {"numel", "size", "stride", "storage_offset", "nbytes", "dim", "ndimension", "itemsize", "element_size"}
    | {"sym_numel", "sym_size", "sym_stride", "sym_storage_offset", "sym_nbytes"}
)
_SHAPES = frozenset({"sizes", "strides", "sym_sizes", "sym_strides"})
_GROWING = re.compile(r"(?:std::)?(?:plus|multiplies)<[\w: ]*>(?:\(\)|\{\})")
"""Operations that make no negative number of two that are none."""
_TRUTHS = COMPARISONS | {"&&", "||"}
_STEPS = 500
"""So many expressions are looked at for one quotient."""


def roundings(flow: Flow) -> tuple[Rounding, ...]:
    """The quotients of symbolic sizes that a graph may round otherwise."""
    live = [quotient for quotient in flow.quotients.values() if flow.live(quotient.origins)]
    signs = Signs(flow) if live else None
    return tuple(
        Rounding(quotient.node.start, quotient.node.excerpt, quotient.token[:1], quotient.origins)
        for quotient in live
        if signs is not None and signs.may_round(quotient)
    )


class Signs:
    """How small the numbers of one function may be."""

    def __init__(self, flow: Flow) -> None:
        self._definitions = definitions(flow)
        self._source = flow.root.source
        self._reading: set[str] = set()
        """The names whose definitions are being read: they are taken not to be negative meanwhile."""
        self._steps = 0

    def may_round(self, quotient: Quotient) -> bool:
        """Whether an operand of a quotient may be negative, and the quotient no integer."""
        self._steps = _STEPS
        facts = facts_at(quotient.node, self._definitions)
        if not quotient.token:
            return not all(self._is_natural(operand, facts) for operand in quotient.operands)
        dividend, divisor = quotient.operands
        if quotient.token == "%" and _asks_whether_divisible(quotient.node):
            return False
        if any(_says_divisible(fact, dividend, divisor) for fact in facts):
            return False
        if not self._is_natural(divisor, facts):
            return True
        return not self._is_natural(dividend, [*facts, (divisor.bare, ">", 0)])

    def _is_natural(self, node: Node, facts: Sequence[Fact]) -> bool:
        least = self._least(node, facts)
        return least is not None and least >= 0

    def _least(self, outer: Node, facts: Sequence[Fact]) -> int | None:
        """A number that `outer` is never below; None where nothing is seen."""
        self._steps -= 1
        if self._steps < 0:
            return None
        node = outer.bare
        least = self._least_of(node, facts)
        text = _text(node)
        for left, operator, right in facts:
            if _text(left) != text:
                continue
            limit = right if isinstance(right, int) else self._least_of(right.bare, ())
            if operator == "!=" and limit == least == 0 and not _is_more(right):
                least = 1
            elif operator != "!=" and limit is not None:
                least = max(limit + (operator == ">"), limit if least is None else least)
        return least

    def _least_of(self, node: Node, facts: Sequence[Fact]) -> int | None:
        if node.kind == "number_literal":
            return _integer(node.text)
        if node.kind == "sizeof_expression":
            return 1
        if node.kind == "identifier":
            return self._of_name(node.text)
        if node.kind == "unary_expression" and node.token == "!":
            return 0
        if node.kind in ("binary_expression", "unary_expression"):
            return self._of_operation(node, facts)
        if node.kind == "conditional_expression":
            arms = (node.fields["consequence"], True), (node.fields["alternative"], False)
            return _smallest([self._least(a, [*facts, *said(node.fields["condition"], yes)]) for a, yes in arms])
        if node.kind == "assignment_expression" and node.token == "=":
            return self._least(node.fields["right"], facts)
        if node.kind == "compound_literal_expression" and len(node.fields["value"].children) == 1:
            return self._least(node.fields["value"].children[0], facts)
        if node.kind == "subscript_expression":
            return 0 if self._is_shape(node.children[0]) else None
        return self._of_call(node, facts) if node.kind == "call_expression" else None

    def _of_operation(self, node: Node, facts: Sequence[Fact]) -> int | None:
        if node.token in ("+", "-"):
            return self._of_sum(node, facts)
        if node.token in _TRUTHS:
            return 0
        if node.token not in ("*", "/", "%"):
            return None
        left, right = (self._least(child, facts) for child in node.children)
        if node.token == "%" and left is not None and left >= 0:
            return 0
        if left is None or right is None or left < 0 or right < 0:
            return None
        return left * right if node.token == "*" else 0

    def _of_sum(self, node: Node, facts: Sequence[Fact]) -> int | None:
        """Of `n + k - 1`, and of a difference that a fact keeps from being negative."""
        terms: dict[str, Node] = {}
        amount, constant = _terms(node, terms)
        best = self._of_terms(amount, terms, facts)
        least = [best + constant] if best is not None else []
        for left, operator, right in facts:
            if operator == "!=" or isinstance(right, int):
                continue
            more, more_constant = _terms(left, {})
            less, less_constant = _terms(right, {})
            more.subtract(less)
            rest = Counter(amount)
            rest.subtract(more)
            best = self._of_terms(rest, terms, facts)
            if best is not None:
                least.append(best + constant - more_constant + less_constant + (operator == ">"))
        return max(least, default=None)

    def _of_terms(self, amount: Counter[str], terms: dict[str, Node], facts: Sequence[Fact]) -> int | None:
        total = 0
        for text, count in amount.items():
            if not count:
                continue
            least = self._least(terms[text], facts) if count > 0 and text in terms else None
            if least is None:
                return None
            total += count * least
        return total

    def _of_call(self, node: Node, facts: Sequence[Fact]) -> int | None:
        name, arguments = called(node).split("<")[0], node.fields["arguments"].children
        if name in ("min", "max") and arguments:
            values = arguments[0].children if arguments[0].kind == "initializer_list" else arguments[:2]
            least = [self._least(value, facts) for value in values]
            return _smallest(least) if name == "min" else max((v for v in least if v is not None), default=None)
        if method(node) in _COUNTS:
            return 0
        casts = (
            name == "static_cast" or node.fields["function"].kind == "primitive_type" or name in ("int64_t", "size_t")
        )
        if casts and len(arguments) == 1:
            return self._least(arguments[0], facts)
        if name.rpartition("::")[2] == "multiply_integers" and arguments:
            return 0 if self._is_shape(_owner(arguments[0])) else None
        if name == "accumulate" and len(arguments) >= 3 and arguments[0].kind == "call_expression":
            grows = all(_GROWING.fullmatch(operation.packed) for operation in arguments[3:])
            natural = grows and self._is_shape(_owner(arguments[0])) and self._is_natural(arguments[2], facts)
            return 0 if natural else None
        return None

    def _of_name(self, name: str) -> int | None:
        """Of a variable: the least of all that is ever stored in it; of a constant of the file."""
        stored = self._definitions.of.get(name)
        if stored is None:
            return self._constant(name)
        if name in self._reading:
            return 0
        self._reading.add(name)
        least = _smallest([self._of_stored(value) for value in stored])
        self._reading.discard(name)
        return least if len(stored) == 1 or least is None else 0 if least >= 0 else None

    def _of_stored(self, stored: Stored) -> int | None:
        if stored is None or isinstance(stored, int):
            return stored
        return self._least(stored, facts_at(stored, self._definitions))

    def _constant(self, name: str) -> int | None:
        word = re.escape(name.encode())
        found = re.search(
            rb"(?m)^(?:[ \t]*(?:static|inline|constexpr|const)\b)+[ \t]+[\w:]+[ \t]+%s\s*[={]\s*(\d+)\s*[;}]" % word
            + rb"|^[ \t]*#[ \t]*define[ \t]+%s[ \t]+(\d+)[ \t\r]*$" % word,
            self._source,
        )
        return int(found[1] or found[2]) if found is not None else None

    def _is_shape(self, outer: Node) -> bool:
        """Whether a sequence holds sizes, or other numbers none of which is negative."""
        node = outer.bare
        if node.kind == "initializer_list":
            return all(self._is_natural(child, ()) for child in node.children)
        if node.kind == "call_expression":
            receiver = node.fields["function"].field("argument")
            if method(node) in ("slice", "vec") and receiver is not None:
                return self._is_shape(receiver)
            return method(node) in _SHAPES
        if node.kind != "identifier" or node.text in self._reading:
            return node.kind == "identifier"
        stored = self._definitions.of.get(node.text, [None])
        self._reading.add(node.text)
        elements = (self._of_stored(element) for element in self._definitions.elements.get(node.text, ()))
        shapes = all(isinstance(value, Node) and self._is_shape(value) for value in stored)
        natural = shapes and all(element is not None and element >= 0 for element in elements)
        self._reading.discard(node.text)
        return natural


def _terms(outer: Node, terms: dict[str, Node]) -> tuple[Counter[str], int]:
    """How often each term stands in a sum, negative where it is subtracted, and the sum of the literals."""
    amount: Counter[str] = Counter()
    constant = 0
    for node, sign in _signed(outer, 1):
        value = _integer(node.text) if node.kind == "number_literal" else None
        if value is not None:
            constant += sign * value
            continue
        amount[_text(node)] += sign
        terms.setdefault(_text(node), node)
    return amount, constant


def _signed(outer: Node, sign: int) -> Iterator[tuple[Node, int]]:
    pending = [(outer, sign)]
    while pending:
        node, sign = pending.pop()
        node = node.bare
        if node.kind == "binary_expression" and node.token in ("+", "-") and len(node.children) == 2:
            left, right = node.children
            pending += ((left, sign), (right, sign if node.token == "+" else -sign))
        elif node.kind == "unary_expression" and node.token in ("-", "+") and node.children:
            pending.append((node.children[0], sign if node.token == "+" else -sign))
        else:
            yield node, sign


def _owner(first: Node) -> Node:
    """The sequence that a range begins in, `s` of `s.begin() + 1`; what is no iterator is a sequence itself."""
    node = first.bare
    while node.kind == "binary_expression":
        node = node.children[0].bare
    receiver = node.fields["function"].field("argument") if node.kind == "call_expression" else None
    return receiver if receiver is not None and method(node) in ("begin", "cbegin", "rbegin", "data") else node


def _integer(text: str) -> int | None:
    """What a literal says, where that is an integer."""
    found = re.fullmatch(r"(?:0x([0-9a-f]+)|(0[0-7]*)|([1-9]\d*))[ulz]*", text.replace("'", "").lower())
    if found is None:
        return None
    return next(int(digits, base) for digits, base in zip(found.groups(), (16, 8, 10), strict=True) if digits)


def _smallest(values: Sequence[int | None]) -> int | None:
    return None if None in values else min((value for value in values if value is not None), default=None)


def _text(node: Node) -> str:
    return node.bare.packed


def _is_more(number: Node | int) -> bool:
    """Whether a side of `!=` is more than a literal 0."""
    return number != 0 if isinstance(number, int) else number.bare.text != "0"


def _asks_whether_divisible(node: Node) -> bool:
    """Whether a remainder is compared with 0: it is 0 for both or for none."""
    outer = node.parent
    while outer is not None and outer.kind == "parenthesized_expression":
        node, outer = outer, outer.parent
    if outer is None:
        return False
    if outer.kind == "unary_expression":
        return outer.token == "!"
    if outer.kind == "binary_expression" and outer.token in ("==", "!="):
        return any(child.bare.text == "0" for child in outer.children if child is not node)
    return outer.kind == "binary_expression" and outer.token in ("&&", "||")


def _says_divisible(fact: Fact, dividend: Node, divisor: Node) -> bool:
    """Whether a fact is `dividend % divisor == 0`: there is nothing to round."""
    left, operator, right = fact
    remainder = left.kind == "binary_expression" and left.token == "%" and operator == "=="
    if not remainder or isinstance(right, int) or right.text != "0":
        return False
    return [_text(child) for child in left.children] == [_text(dividend), _text(divisor)]
