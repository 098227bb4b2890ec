"""The text of a meta and its place in torch/_meta_registrations.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

from transforms.python.writing.style import Style

HOME = "torch/_meta_registrations.py"
# What turns the registrations into kernels, at the end of the file: a meta stands before it.
_ACTIVATION = re.compile(rb"^def activate_meta\b", re.M)
_REGISTERED = re.compile(rb"@register_meta\(([^()]*)\)")
_OVERLOAD = re.compile(rb"\baten\.(\w+)(?:\.(\w+))?")


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
        """The function, with its decorators: each logical line, however long."""
        names = [f"aten.{overload}" for overload in self.overloads]
        decorators = [f"@register_meta({names[0] if len(names) == 1 else '[' + ', '.join(names) + ']'})"]
        if self.outputs:
            said = "" if self.outputs == ("out",) else ", ".join(f'"{name}"' for name in self.outputs)
            decorators.append(f"@out_wrapper({said})")
        head = f"def {self.name}({', '.join(self.parameters)}):"
        return [*decorators, head, *(f"    {line}" for line in self.body)]


def place(source: bytes) -> int | None:
    """The offset in the file at which metas are added: a line's start, behind the last code before they are activated.

    None where the file activates none.
    """
    activation = _ACTIVATION.search(source)
    blank = source.rfind(b"\n\n", 0, activation.start()) if activation is not None else -1
    return len(source[:blank].rstrip()) + 1 if blank >= 0 else None


def paragraph(meta: Meta, style: Style) -> bytes:
    """What is inserted at `place` for a meta: blank lines before it, so that several may go there."""
    lines = [line if style.fits(line) else style.statement(line) or line for line in meta.lines()]
    return ("\n\n" + "\n".join(lines) + "\n").encode()


def registered(source: bytes) -> frozenset[str]:
    """The overloads that the file registers metas for, as `foo.default`; `foo` alone stands for all of its own."""
    names = (name for call in _REGISTERED.finditer(source) for name in _OVERLOAD.findall(call[1]))
    return frozenset((base + (b"." + overload if overload else b"")).decode() for base, overload in names)
