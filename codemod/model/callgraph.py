"""Search in directed graphs of any hashable nodes: shortest paths from roots, and labels propagated along edges.

It knows nothing of calls: the transforms build the call graphs that are searched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def shortest_ways(
    groups: Iterable[Iterable[Node]], successors: Callable[[Node], Iterable[Node]]
) -> dict[Node, Node | None]:
    """The node before each reachable one on a shortest way from a root; None for the roots.

    The roots of a later group only count where no earlier group leads. Of several shortest ways, the one through the
    earlier root and the earlier successor is kept, so the outcome depends on the order of both alone.
    """
    before: dict[Node, Node | None] = {}
    for roots in groups:
        queue: deque[Node] = deque()
        for root in roots:
            if root not in before:
                before[root] = None
                queue.append(root)
        while queue:
            node = queue.popleft()
            for successor in successors(node):
                if successor not in before:
                    before[successor] = node
                    queue.append(successor)
    return before


def gather(labels: Mapping[Node, int], successors: Callable[[Node], Iterable[Node]]) -> dict[Node, int]:
    """For each node the union of the bits in `labels` of all nodes from which it can be reached, its own included."""
    gathered = dict(labels)
    queue = deque(labels)
    queued = set(labels)
    while queue:
        node = queue.popleft()
        queued.discard(node)
        bits = gathered[node]
        for successor in successors(node):
            previous = gathered.get(successor, 0)
            if bits | previous != previous or successor not in gathered:
                gathered[successor] = bits | previous
                if successor not in queued:
                    queued.add(successor)
                    queue.append(successor)
    return gathered


def way(node: Node, before: Mapping[Node, Node | None]) -> list[Node]:
    """The nodes from a root to `node`, both included, as `shortest_ways` found them."""
    nodes = [node]
    while (previous := before[nodes[-1]]) is not None:
        nodes.append(previous)
    return nodes[::-1]
