"""Which functions a running torch has come to, by the lines that it named."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from codemod.model.transform import TracedLine
from transforms.python.reach.tree import Definition, SourceTree


def traced_at(tree: SourceTree, lines: Collection[TracedLine]) -> Iterator[tuple[Definition, int]]:
    """The functions in which `lines` lie, once each, with the first of these: of one name the last that begins before.

    Dynamo names comprehensions and the code of modules too (`<listcomp>`, `<module>`), which are no functions here.
    """
    places = {(path, function) for path, _, function in lines}
    begun: dict[tuple[str, str], list[Definition]] = {}
    for definition in tree.definitions() if places else ():
        place = definition.path, definition.function.own_name
        if place in places:
            begun.setdefault(place, []).append(definition)
    found: dict[Definition, int] = {}
    for path, line, name in sorted(lines):
        before = [d for d in begun.get((path, name), ()) if d.function.line <= line]
        if before:
            found.setdefault(max(before, key=lambda definition: definition.function.line), line)
    yield from found.items()
