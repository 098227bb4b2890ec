"""The text of a meta and its place in torch/_meta_registrations.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HOME = "torch/_meta_registrations.py"
# What turns the registrations into kernels, at the end of the file: a meta stands before it.
_ACTIVATION = re.compile(rb"^def activate_meta\b", re.M)


@dataclass(frozen=True, slots=True)
class Meta:
    """A meta to write. `overloads` are `foo.default` and its out variant, if one is registered with it."""

    overloads: tuple[str, ...]
    parameters: tuple[str, ...]
    """As Python has them: `self`, `dim=None`, `*`."""
    body: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    """The names of the out arguments, where one of the overloads takes such."""

    @property
    def name(self) -> str:
        """The function's name."""
        base, _, overload = self.overloads[0].partition(".")
        return f"meta_{base}" + ("" if overload in ("default", "") else f"_{overload}")

    def lines(self) -> list[str]:
        """The function, with its decorators."""
        names = [f"aten.{overload}" for overload in self.overloads]
        decorators = [f"@register_meta({names[0] if len(names) == 1 else '[' + ', '.join(names) + ']'})"]
        if self.outputs:
            said = "" if self.outputs == ("out",) else ", ".join(f'"{name}"' for name in self.outputs)
            decorators.append(f"@out_wrapper({said})")
        head = f"def {self.name}({', '.join(self.parameters)}):"
        heads = [head] if len(head) <= 88 else [f"def {self.name}(", *(f"    {p}," for p in self.parameters), "):"]
        return [*decorators, *heads, *(f"    {line}" for line in self.body)]


def with_metas(source: bytes, metas: Sequence[Meta]) -> bytes:
    """The file with the metas in it, sorted by name. Raises ValueError where it has no place for them."""
    place = _ACTIVATION.search(source)
    if place is None:
        raise ValueError(f"{HOME}: activate_meta is not there")
    texts = ["\n".join(meta.lines()) + "\n\n\n" for meta in sorted(metas, key=lambda meta: meta.name)]
    return source[: place.start()] + "".join(texts).encode() + source[place.start() :]
