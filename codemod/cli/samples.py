"""The target of a command that runs operators on PyTorch's own samples, with what these need beside torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemod.borders.private import say_once
from codemod.terminal import listed, note

if TYPE_CHECKING:
    from codemod.prove.target import Target


def with_samples(target: Target, install: bool) -> Target:
    """`target` with the packages that its samples need, installed where `install` says so, else they are said to miss.

    Raises SymfixError where they cannot be installed.
    """
    from codemod.prove import companions

    if not target.missing:
        return target
    if install:
        note(f"symfix: installing {listed(target.missing)} for {target.python}, in a folder of symfix's own")
        return companions.install(target)
    names = listed(target.missing)
    say_once(f"beside the torch of {target.python} there is no {names}: PyTorch's samples are not used; --install adds"
             f" what they need for symfix alone, {companions.by_hand(target)}")  # fmt: skip
    return target
