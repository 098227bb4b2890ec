"""What the marks of a template forbid in one function: edits across them, and values that unread code may use."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence

from transforms.cpp.flow.checks import CHECKS, COMPARISONS, called
from transforms.cpp.flow.state import Emission
from transforms.cpp.reading.marks import masked
from transforms.cpp.reading.tree import Node

REFUSAL = "template"
ACROSS = "is used in an expression that a mark of the template interrupts"
INSIDE = "stands in an expression that has another form in some rendering of the template"
_WHOLE = frozenset(
    {"compound_statement", "case_statement", "initializer_list", "parameter_list", "field_initializer_list"}
    | {"field_declaration_list", "function_definition", "template_declaration", "translation_unit"}
)
"""What branches may stand in, each with statements or items of its own."""
_NAMING = frozenset(
    {"template_argument_list", "template_function", "template_type", "template_method", "type_descriptor"}
    | {"qualified_identifier", "field_expression", "dependent_name", "dependent_type", "identifier"}
)
"""What says which function is called, or which type is meant: what stands around it is another one then."""
_ENCLOSING = frozenset({"argument_list", "parenthesized_expression", "condition_clause", "declaration"})
"""What an operator in it does not reach out of."""


class _Spans:
    """Spans of bytes, of which those that overlap are joined."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def meet(self, start: int, end: int) -> bool:
        """Whether any overlaps `[start, end)`."""
        index = bisect.bisect_right(self._ends, start)
        return index < len(self._starts) and self._starts[index] < end


class Marked:
    """The marks in a function of a template."""

    def __init__(self, source: bytes, root: Node) -> None:
        self._template = masked(source)
        self._source = source
        self._root = root
        unread = [u for u in self._template.unread if u.begin < root.end and root.start < u.end]
        self._unread = _Spans((part.begin, part.end) for part in unread)
        self._users = {word: part.begin for part in reversed(unread) for word in part.words or ()}
        """Where code that is not read uses a name."""
        self._unknown = next((part.begin for part in unread if part.words is None), None)
        """Where code is put in of which nothing is known."""
        alternatives = [(part.begin, part.end) for part in unread if part.alternative]
        self._interrupted = _Spans(self._find_interrupted(alternatives))

    def interrupts(self, node: Node) -> bool:
        """Whether an expression stands in one that has another form in some rendering."""
        return self._interrupted.meet(node.start, node.end)

    def splits(self, emissions: Sequence[Emission]) -> bool:
        """Whether the edits of one change cut a mark or delete it, or do not stand in the same branch."""
        places = {self._template.branch(place) for emission in emissions for place in (emission.start, emission.end)}
        return len(places) > 1 or any(self._template.deletes(e.start, e.end, e.new) for e in emissions)

    def asks_across(self, emissions: Sequence[Emission]) -> bool:
        """Whether the edits of a question are those of one rendering, of which others ask another."""
        start, end = min(e.start for e in emissions), max(e.end for e in emissions)
        return self.splits(emissions) or self.directs(self._around(start, end))

    def directed(self, node: Node) -> bool:
        """Whether a node is not the same in every rendering, or not read in whole."""
        return self._unread.meet(node.start, node.end) or bool(self._template.tags_in(node.start, node.end))

    def directs(self, node: Node) -> bool:
        """Whether what an expression is an operand of is not the same in every rendering."""
        while node.parent is not None and node.kind not in _ENCLOSING | _WHOLE and not node.kind.endswith("_statement"):
            node = node.parent
        return self.directed(node)

    def user(self, name: str) -> str:
        """The reason why a variable stays as it is: code may use it that is not read; "" where there is none."""
        place = self._users.get(name, self._unknown)
        if place is None:
            quoted = name in self._template.quoted
            return f"may be used where a mark of the template puts in the text `{name}`" if quoted else ""
        line = self._source.count(b"\n", 0, place) + 1
        what = "a macro or a second branch" if name in self._users else "code from elsewhere"
        return f"may be used as `{name}` in line {line} of the template: {what} is not read"

    def is_guessed(self, declaration: Node | None) -> bool:
        """Whether the type that a declaration deduces may be another one in some rendering."""
        return declaration is not None and declaration.kind == "declaration" and self.directed(declaration)

    def has_branches_in_signature(self) -> bool:
        """Whether branches stand in the signature of the function, but for whole parameters."""
        body = self._root.field("body")
        tags = self._template.tags_in(self._root.start, body.start if body is not None else self._root.end)
        return any(self._around(tag.begin, tag.end).kind != "parameter_list" for tag in tags)

    def _find_interrupted(self, alternatives: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The spans of expressions whose type, or whose callee, a branch may change."""
        for begin, end in alternatives:
            node = self._around(begin, end)
            while node.kind in _NAMING and node.parent is not None:
                node = node.parent
            if node.kind not in _WHOLE:
                yield node.start, node.end
        seen: set[Node] = set()
        for tag in self._template.tags_in(self._root.start, self._root.end):
            node = self._around(tag.begin, tag.end)
            if node not in seen and (self._shifts(node) or self._compares(node)):
                yield node.start, node.end
            seen.add(node)

    def _around(self, begin: int, end: int) -> Node:
        """The innermost node around a span."""
        node: Node = self._root
        while True:
            index = bisect.bisect_right(node.children, begin, key=lambda child: child.start) - 1
            if index < 0 or node.children[index].end < end:
                return node
            node = node.children[index]

    def _shifts(self, arguments: Node) -> bool:
        """Whether some arguments of a call are not always there; those of a check but print."""
        if arguments.kind != "argument_list" or (arguments.parent is not None and called(arguments.parent) in CHECKS):
            return False
        tags = self._template.tags_in(arguments.start, arguments.end)
        return b"," in self._template.source[tags[0].begin : tags[-1].end]

    def _compares(self, node: Node) -> bool:
        """Whether a node is a comparison one side of which may stand there without the other."""
        left, right = node.field("left"), node.field("right")
        if node.kind != "binary_expression" or node.token not in COMPARISONS or left is None or right is None:
            return False
        operator = node.source.find(node.token.encode(), left.end, right.start)
        place = self._template.branch(operator)
        return place >= left.start or place > self._template.branch(right.start)
