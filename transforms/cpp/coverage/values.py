"""What an expression of a kernel is in Python, where a fake may say the same of tensors without memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["tensor", "int", "float", "bool", "ints", "tensors", "dtype", "device", "format", "options", "other"]


class Underivable(Exception):
    """The source does not show what a fake needs; the message says which part."""


@dataclass(frozen=True, slots=True)
class Options:
    """`TensorOptions`: what of it is said, each as Python."""

    like: str = ""
    """The tensor whose `options()` they are."""
    dtype: str = ""
    device: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression as Python. `names` are the locals of the fake that it rests on."""

    kind: Kind
    text: str
    names: frozenset[str] = frozenset()
    atomic: bool = True
    """Whether it needs no parentheses as an operand or a receiver."""
    natural: bool = False
    """Whether, as a number, it is never negative, so that `/` of C++ and `//` of Python agree."""
    settled: bool = False
    """Whether its value is no matter of sizes: `if` may ask it while sizes are symbols."""
    optional: bool = False
    fresh: bool = False
    """Whether it is a tensor that the kernel made, and no argument."""
    unset: bool = False
    """Whether it is an undefined tensor, or one of size 0, which a function that it is passed to may give another."""
    least: int = 0
    """What a number that is never negative is at least."""
    options: Options = field(default_factory=Options)

    @property
    def operand(self) -> str:
        """The text as a part of a larger expression."""
        return self.text if self.atomic else f"({self.text})"


def joined(*values: Value) -> frozenset[str]:
    """The locals that several values rest on."""
    return frozenset().union(*(value.names for value in values))


CPU = 'torch.device("cpu")'
"""A device that is compared: no text is equal to one."""
OWN_NAMES = frozenset({"len", "list", "sym_eq", "torch"})
"""What a fake itself calls, by names that mean the same in C++ no more than by chance: no local has them."""
TYPES = {
    "Tensor": "tensor", "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "int[]": "ints",
    "SymInt[]": "ints", "Tensor[]": "tensors", "ScalarType": "dtype", "Device": "device", "MemoryFormat": "format",
}  # fmt: skip
"""What the arguments of a schema are."""
