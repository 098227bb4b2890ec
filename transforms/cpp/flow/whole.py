"""Half conversions: accessors whose edits would not help, as what stays concrete stands on every way through them.

A way is read off the blocks: what stands in a block is run with it, an arm of an `if`, `?:`, `&&` or `switch` is not,
unless all arms agree; a loop is taken to run. A way that a `return` or a `throw` cuts short is the way of the
block that it stands in alone: an early return is the special case, and what follows it the rule.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Collection, Iterator

from codemod.terminal import listed
from transforms.cpp.flow.checks import CHECKS, FAILURES, called, exits, throws
from transforms.cpp.flow.engine import NOTHING, Flow
from transforms.cpp.flow.standard import ALGORITHMS
from transforms.cpp.flow.state import Sink, Site
from transforms.cpp.reading.tree import Node

HALF = "half-conversion"
_CHOICES = frozenset({"if_statement", "conditional_expression"})
_MOST = 100
"""How many barriers are looked at: with so many, those behind them matter to nobody."""
_COUNTS = frozenset({"loop-bound", "container-size"})
_BLOCKS = frozenset({"compound_statement", "case_statement", "else_clause"})


class Ways:
    """The ways through one function, of which the places in `barriers`, by offset, are on some."""

    def __init__(self, root: Node, barriers: Collection[int]) -> None:
        self._barriers = sorted(barriers)[:_MOST]
        self._root = root
        self._memo: dict[int, frozenset[int]] = {}

    def blockers(self, place: int) -> frozenset[int]:
        """The barriers that every way through the byte at `place` meets; empty where there is a way without any."""
        met: set[int] = set()
        ended = False
        chain = self._chain(place)
        for node, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
            met |= self._beside(node, inner, after=not ended)
            ended = ended or (node.kind in _BLOCKS and exits(node))
        return frozenset(met)

    def on_all(self) -> frozenset[int]:
        """The barriers that every way through the function meets."""
        return self._must(self._root)

    def call_of(self, place: int) -> Node | None:
        """The call of the method that is named at a place."""
        chain = self._chain(place)
        return next((node for node in reversed(chain) if node.kind == "call_expression"), None)

    def is_beside(self, place: int, name: str) -> bool:
        """Whether the byte at `place` stands in one arm of a `?:`, and `name` is the other."""
        choices = (node for node in self._chain(place) if node.kind == "conditional_expression")
        arms = (node.field(arm) for node in choices for arm in ("consequence", "alternative"))
        return any(arm is not None and arm.text == name for arm in arms)

    def _chain(self, place: int) -> list[Node]:
        """The nodes around a place, from the function's on."""
        chain = [self._root]
        while (inner := _child(chain[-1], place)) is not None:
            chain.append(inner)
        return chain

    def _beside(self, node: Node, inner: Node, *, after: bool) -> frozenset[int]:
        """What a way through `inner`, a child of `node`, meets in the other children of `node`."""
        if node.kind in _CHOICES and inner is node.field("condition"):
            return self._choice(node) if after else frozenset()
        others = [child for child in node.children if child is not inner and (after or child.start < inner.start)]
        if node.kind in (*_CHOICES, "switch_statement"):
            others = [child for child in others if child is node.field("condition")]
        elif node.kind == "lambda_expression" and not _invoked(node):
            others = []
        met = frozenset[int]().union(*(self._must(child) for child in others if not _optional(node, child)))
        return met | self._before_throwing(node, inner) if after and node.kind in _BLOCKS and throws(node) else met

    def _before_throwing(self, block: Node, inner: Node | None = None) -> frozenset[int]:
        """What the ways meet that leave a block which ends with an exception: each returns in an `if` of the block.

        Nothing where `inner`, a child of it, comes behind one of those.
        """
        statements = list(_statements(block))
        leaving = [child for child in statements if _returns(child)]
        if not all(map(_is_way_out, leaving)) or (inner is not None and leaving and inner.start >= leaving[0].start):
            return frozenset()
        arms = [frozenset[int]().union(*map(self._must, child.children)) for child in leaving]
        before = [self._must(child) for child in statements if leaving and child.start < leaving[0].start]
        return frozenset[int]().union(*before, *(arms if all(arms) else ()))

    def _fork(self, node: Node) -> frozenset[int]:
        return self._choice(node) if node.kind in _CHOICES else self._before_throwing(node)

    def _must(self, node: Node) -> frozenset[int]:
        """The barriers that every way through `node` meets; all of those in its arms, where no arm is without."""
        barriers = self._memo.get(id(node))
        if barriers is None:
            barriers = self._memo[id(node)] = self._compute(node)
        return barriers

    def _compute(self, node: Node) -> frozenset[int]:
        met: set[int] = set()
        forks: dict[int, Node] = {}
        for barrier in self._within(node):
            fork, sure = self._descend(node, barrier)
            if sure:
                met.add(barrier)
            elif fork is not None:
                forks[id(fork)] = fork
        return frozenset(met).union(*(self._fork(fork) for fork in forks.values()))

    def _within(self, node: Node) -> list[int]:
        low, high = (bisect.bisect_left(self._barriers, end) for end in (node.start, node.end))
        return self._barriers[low:high]

    def _descend(self, node: Node, barrier: int) -> tuple[Node | None, bool]:
        """The first choice on the way from `node` down to a barrier, and whether there is no condition on it."""
        inner: Node | None = node
        while inner is not None:
            if inner.kind in _CHOICES:
                return inner, False
            if inner.kind in _BLOCKS and throws(inner):
                return inner, False
            if inner.kind == "lambda_expression" and not _invoked(inner):
                return None, False
            below = _child(inner, barrier)
            if below is not None and _optional(inner, below):
                return None, False
            inner = below
        return None, True

    def _choice(self, node: Node) -> frozenset[int]:
        """Of an `if` or `?:` with all that follow in its last arm."""
        choices = [node]
        while (last := _alternative(choices[-1])) is not None and last.kind == node.kind:
            choices.append(last)
        last = _alternative(choices[-1])
        met = self._must(last) if last is not None else None
        thrown = last is not None and throws(last)
        for choice in reversed(choices):
            condition, taken = choice.field("condition"), choice.field("consequence")
            arm = self._must(taken) if taken is not None else frozenset()
            both: frozenset[int]
            if met is None:
                both = arm if _without_sizes(condition, False) else frozenset()
            elif thrown:
                both = arm
            elif (taken is not None and exits(taken)) or _without_sizes(condition, True):
                both = met
            elif _without_sizes(condition, False):
                both = arm
            else:
                both = arm | met if arm and met else frozenset()
            met = both | (self._must(condition) if condition is not None else frozenset())
            thrown = False
        return met or frozenset()


def _child(node: Node, place: int) -> Node | None:
    return next((child for child in node.children if child.start <= place < child.end), None)


def _alternative(choice: Node) -> Node | None:
    """The last arm of an `if` or `?:`, the `if` of an `else if`."""
    last = choice.field("alternative")
    if last is not None and last.kind == "else_clause" and [child.kind for child in last.children] == ["if_statement"]:
        return last.children[0]
    return last


def _statements(block: Node) -> Iterator[Node]:
    """The statements of a block, those between `#if` and `#endif` included."""
    for child in block.children:
        if child.kind.startswith("preproc_"):
            yield from _statements(child)
        else:
            yield child


def _is_way_out(node: Node) -> bool:
    """Whether a statement is `if (…) { … return …; }`, and nothing else of it leaves the function with a result."""
    taken = node.field("consequence")
    alone = node.kind == "if_statement" and taken is not None and node.field("alternative") is None
    return alone and taken is not None and exits(taken) and not throws(taken)


def _returns(node: Node) -> bool:
    """Whether a statement may return from the function that it stands in."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.kind == "return_statement":
            return True
        if current.kind != "lambda_expression":
            pending += current.children
    return False


def _invoked(function: Node) -> bool:
    """Whether a lambda is called where it is written, `[&] { … }()`, or by an algorithm for each element."""
    outer = function.parent
    if outer is None or outer.kind != "argument_list" or outer.parent is None:
        return outer is not None and outer.field("function") is function
    return called(outer.parent) in ALGORITHMS


def _without_sizes(condition: Node | None, outcome: bool) -> bool:
    """Whether a condition with that outcome says of a tensor that it is empty or has no dimension.

    Symbolic sizes are never taken for 0 (torch/fx/experimental/symbolic_shapes.py specializes on 0 and 1).
    """
    while condition is not None and len(condition.children) == 1:
        condition = condition.children[0]
    if condition is None or condition.kind != "binary_expression" or condition.token not in ("==", "!=", ">"):
        return False
    left, right = condition.field("left"), condition.field("right")
    if left is None or right is None or right.text != "0" or left.kind != "call_expression":
        return False
    return called(left) in (".numel", ".sym_numel", ".dim", ".ndimension") and outcome == (condition.token == "==")


def _optional(node: Node, inner: Node) -> bool:
    """Whether `node` may be evaluated without its child `inner`."""
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        return inner is not node.field("left")
    if node.kind == "switch_statement":
        return inner is not node.field("condition")
    if node.kind == "argument_list" and node.parent is not None and called(node.parent) in CHECKS:
        return inner is not node.children[0]
    return False


def in_message(root: Node, place: int) -> bool:
    """Whether the byte at `place` is evaluated for the message of a failed check, and for nothing else."""
    node: Node | None = root
    outer: Node | None = None
    while node is not None:
        arguments = node.fields.get("arguments")
        if node.kind == "call_expression" and arguments is not None:
            shown = arguments.children[1:] if called(node) in CHECKS else arguments.children
            if called(node) in CHECKS | FAILURES and any(a.start <= place < a.end for a in shown):
                return True
        if _shifts(node) and not (outer is not None and _shifts(outer)) and _prints(node, place):
            return True
        outer, node = node, _child(node, place)
    return False


def _shifts(node: Node) -> bool:
    return node.kind == "binary_expression" and node.token == "<<"


def _prints(chain: Node, place: int) -> bool:
    """Whether a chain of `<<` writes to a stream, as a string stands in it, and what stands at `place` as well."""
    literal, first = False, chain
    while _shifts(first):
        literal = literal or first.children[-1].kind in ("string_literal", "concatenated_string")
        first = first.children[0]
    return literal and place >= first.end


def countable(node: Node, api: str) -> Node | None:
    """The integer that an accessor's call gives, `x.size(0)` or `x.sizes()[0]`; None where it gives more than that."""
    if api not in ("sizes", "strides"):
        return node
    outer = node.parent
    return outer if outer is not None and outer.kind == "subscript_expression" and outer.start == node.start else None


def count_loops(flow: Flow) -> frozenset[int]:
    """The accessors that count loops and nothing else, and stop what would be converted without them."""
    codes: dict[int, set[str]] = {}
    for sink in flow.refusals:
        for origin in sink.origins:
            codes.setdefault(origin, set()).add(sink.code)
    clamping = _clamping(flow)
    alone = [
        o for o in flow.sites if o in flow.concrete and codes.get(o, set()) <= _COUNTS and not flow.sites[o].free
    ] + [o for o in clamping if codes[o] <= _COUNTS | {"parameter"}]
    if not alone or not flow.available("guard_int"):
        return NOTHING
    counts = {origin for origin in alone if _integer_at(flow, origin)}
    ways = Ways(flow.root, counts)
    live = [o for o in flow.sites if o not in flow.concrete and o in flow.converted and not _idle(flow, o)]
    return NOTHING.union(*(ways.blockers(origin) for origin in live), counts & clamping if live else NOTHING)


def _clamping(flow: Flow) -> frozenset[int]:
    """The accessors that a parameter of the function is clamped to, `n = n > x.size(0) ? x.size(0) : n`."""
    ways = Ways(flow.root, ())
    return frozenset(
        origin
        for sink in flow.refusals
        if sink.code == "parameter" and sink.slot is not None and sink.slot.start == flow.function.start
        for origin in sink.origins & flow.sites.keys() & flow.concrete
        if ways.is_beside(origin, flow.function.params[sink.slot.index].name)
    )


def _integer_at(flow: Flow, origin: int) -> bool:
    """Whether the accessor named at a place is called for one integer."""
    call = Ways(flow.root, ()).call_of(origin)
    return call is not None and countable(call, flow.sites[origin].api) is not None


def half_converted(flow: Flow) -> list[Sink]:
    """The sinks of all accessors that would be converted in vain; `flow` has been read to its end."""
    live = [origin for origin in flow.sites if origin not in flow.concrete and origin in flow.converted]
    everywhere = _barriers(flow)
    barriers = {place: name for place, name in everywhere.items() if not _idle(flow, place)}
    ways, idle_ways = Ways(flow.root, barriers), Ways(flow.root, everywhere)
    sinks = []
    for origin in (o for o in sorted({*live, *flow.guarded} - flow.concrete) if o not in flow.served):
        met = sorted((idle_ways if _idle(flow, origin) else ways).blockers(origin)) if everywhere else []
        if met:
            names = listed(dict.fromkeys(everywhere[place] for place in met))
            reason = f"would not help alone: every way through here passes {names}, where symbolic tensors stop"
            sinks.append(Sink(HALF, reason, met[0], met[0] + 1, frozenset({origin})))
    unknown = [place for place in flow.unknown_receivers if not _idle(flow, place)]
    if unknown and not sinks:
        names = listed(dict.fromkeys(everywhere[place] for place in sorted(unknown)))
        for origin in (o for o in live if o not in flow.served):
            reason = f"would convert a part: whether {names} asks a tensor is not known"
            sinks.append(Sink(HALF, reason, unknown[0], unknown[0] + 1, frozenset({origin})))
    alone = not sinks and bool(live) and not flow.asked.is_anything_settled()
    if alone and all(in_message(flow.root, origin) for origin in live):
        for origin in live:
            reason = "is only shown by a check that failed: nothing else here asks for sizes"
            sinks.append(Sink("message", reason, origin, origin + 1, frozenset({origin})))
    return sinks


def is_blocked(flow: Flow) -> bool:
    """Whether every way through the function comes to a kernel, so that no symbolic tensor gets through it."""
    places = [place for place in (*flow.iterators, *flow.kernels) if not _idle(flow, place)]
    return not flow.passive and bool(places) and bool(Ways(flow.root, places).on_all())


def is_stuck(flow: Flow) -> bool:
    """Whether every way through the function, an early return included, comes to what stops a symbolic tensor."""
    places = _barriers(flow).keys() - flow.unknown_receivers.keys()
    live = [place for place in places if not _idle(flow, place)]
    met = Ways(flow.root, live).on_all() if live and not flow.passive else NOTHING
    return bool(met) and min(met) < _first_return(flow)


def _first_return(flow: Flow) -> float:
    """The end of the first `return` of a result that a symbolic tensor may have part in."""
    pending = [flow.root]
    while pending:
        node = pending.pop()
        if node.kind == "return_statement" and not _idle(flow, node.start):
            return node.end
        if node.kind == "if_statement" and _without_sizes(node.field("condition"), True):
            pending += reversed([child for child in node.children if child is not node.field("consequence")])
        elif node.kind != "lambda_expression":
            pending += reversed(node.children)
    return math.inf


def _barriers(flow: Flow) -> dict[int, str]:
    """The places that stop a symbolic tensor, and what stands there.

    A call that stops it further on counts where no way leaves the function earlier: the callee's ways are not this
    function's, and one that goes round the call may be the usual one.
    """
    places = {origin: _title(site) for origin, site in flow.sites.items() if origin in flow.concrete}
    places |= {origin: _title(site) for origin, site in flow.unknown_receivers.items()}
    places |= dict.fromkeys(flow.iterators, "a TensorIterator")
    places |= flow.kernels
    if flow.dead_ends:
        end = _first_return(flow)
        places |= {place: name for place, name in flow.dead_ends.items() if place < end}
    return places


def _idle(flow: Flow, place: int) -> bool:
    return any(start <= place < end for start, end in flow.idle)


def _title(site: Site) -> str:
    return f"`{site.receiver}.{site.api}`" if site.receiver and not site.free else f"`{site.api}`"
