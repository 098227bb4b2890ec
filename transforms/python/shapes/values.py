"""What the variables of a function hold, as far as shapes go."""

from __future__ import annotations

from typing import NamedTuple

from transforms.python.shapes.sizes import Size, text


class Tensor(NamedTuple):
    """A tensor. `shape` names its shape: two of the same name have the same. `sizes` is None where it is not seen."""

    shape: str
    sizes: tuple[Size, ...] | None = None
    rank: Size | None = None
    """The number of dimensions, where that is seen without the sizes."""
    unset: bool = False
    """Whether its elements have no values yet."""
    reduced: tuple[Tensor, tuple[int, ...], bool] | None = None
    """What it is a reduction of, over which dimensions, and whether these are kept; where the sizes are not seen."""
    expanded: Tensor | None = None
    """What it is an expansion of, to sizes that are not seen: it need not have those of that tensor."""
    elements: Size | None = None
    """How many elements it has, where that is seen and its sizes are not."""


class Number(NamedTuple):
    """A size, or an integer made of sizes."""

    size: Size


class Several(NamedTuple):
    """A tuple or a list; a shape whose sizes are seen."""

    items: tuple[Value, ...]


class Shape(NamedTuple):
    """The shape of a tensor whose rank is not seen."""

    of: Tensor


class Other(NamedTuple):
    """Anything else, by a text that is the same only for what is the same."""

    text: str


Value = Tensor | Number | Several | Shape | Other
NONE = Other("None")


class Raised(Exception):
    """What is evaluated raises for every input of the case at hand."""


def text_of(value: Value) -> str:
    """A value as one text, the same for equal ones."""
    if isinstance(value, Number):
        return text(value.size)
    if isinstance(value, Several):
        return f"[{', '.join(map(text_of, value.items))}]"
    if isinstance(value, Shape):
        return f"{value.of.shape}.shape"
    if isinstance(value, Tensor):
        return value.shape if value.sizes is None else f"tensor[{', '.join(map(text, value.sizes))}]"
    return value.text
