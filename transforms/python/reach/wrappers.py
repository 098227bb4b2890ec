"""What runs in the place of a function that is decorated: what its decorators make of it."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.python.reach.tree import Definition, SourceTree


def wrappers(tree: SourceTree, function: Definition) -> Iterator[tuple[Definition, str]]:
    """The functions of the tree that run in the place of one and call it, each with the decorator that makes it.

    They are those inside of a decorator that call the first parameter of the function around them, or pass it on. Of
    `@made(1)` it is a function inside of `made` that decorates.
    """
    for text in function.function.decorators:
        name, called, _ = text.partition("(")
        maker = tree.globally(function.path, name)
        for inner in tree.inside(maker) if maker is not None else ():
            around = tree.definition(inner.path, inner.function.name.rpartition(".")[0])
            if called and around == maker:
                continue
            decorated = next(iter(around.function.parameters), ("", ""))[0] if around is not None else ""
            hidden = any(decorated == parameter for parameter, _ in inner.function.parameters)
            if decorated in inner.function.calls and not hidden:
                yield inner, name
