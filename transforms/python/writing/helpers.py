"""The functions about sizes that code shared with eager, TorchScript and Inductor calls; they stand once in a tree.

`guard_or_false` and its kin take bools and SymBools only, and importing them loads sympy. Where eager runs a function,
a condition may also be a 0-dim Tensor (torch.jit.trace), a proxy of fx or a sympy Boolean (Inductor), and a plain bool
must cost next to nothing. These functions ask first whether the value is symbolic, import nothing otherwise, and
TorchScript compiles them to the plain condition. Dynamo inlines their module (torch/_dynamo/trace_rules.py,
MOD_INLINELIST), and torch has imported it before torch.nn.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from codemod.model.edits import Edit
from transforms.python.flow.nodes import names_brought

HOME = "torch/_prims_common/__init__.py"
HOME_MODULE = "torch._prims_common"
HELPERS = {
    "guard_or_false": "sym_guard_or_false",
    "guard_or_true": "sym_guard_or_true",
    "expect_true": "sym_expect_true",
    "sym_eq": "sym_shape_eq",
    "chunk": "sym_chunk",
}
"""What stands in for each function of symbolic_shapes, and for `chunk` where the caller takes so many."""
SHAPE_HELPERS = {
    "guard_or_false": "sym_shape_eq_or_false",
    "guard_or_true": "sym_shape_eq_or_true",
    "expect_true": "sym_expect_shape_eq",
}
"""What stands in for each of them where it is asked whether two shapes are equal: one call instead of two."""
_IMPORTED = {"collections.abc": ("Sequence",), "typing": ("Any", "TYPE_CHECKING")}
"""The modules of the names that SOURCE takes from its file, and these."""

SOURCE = '''

if TYPE_CHECKING:
    _Condition = Any
    _Sizes = Sequence[int]
    _Tensors = Sequence[torch.Tensor]
else:
    # The types that TorchScript has for them
    _Condition = bool
    _Sizes = list[int]
    _Tensors = list[torch.Tensor]


def sym_guard_or_false(condition: _Condition) -> bool:
    """
    The condition where it is known, else False. Anything but a SymBool is given back as it is.
    """
    if torch.jit.is_scripting():
        return condition
    elif condition is True or condition is False:
        return condition
    else:
        return _sym_guard_or(condition, False)


def sym_guard_or_true(condition: _Condition) -> bool:
    """
    The condition where it is known, else True. Anything but a SymBool is given back as it is.
    """
    if torch.jit.is_scripting():
        return condition
    elif condition is True or condition is False:
        return condition
    else:
        return _sym_guard_or(condition, True)


def sym_expect_true(condition: _Condition) -> bool:
    """
    The condition where it is known, else True, and then it is checked when the graph runs.
    """
    if torch.jit.is_scripting():
        return condition
    elif condition is True or condition is False:
        return condition
    else:
        expected = _sym_guard_or(condition, True)
        if expected is True:
            torch._check(condition)
        return expected


def _sym_guard_or(condition, default):
    if not (isinstance(condition, torch.SymBool) or torch.compiler.is_dynamo_compiling()):
        return condition
    from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true

    return guard_or_true(condition) if default else guard_or_false(condition)


def sym_shape_eq(left: _Sizes, right: _Sizes) -> bool:
    """
    Whether two shapes are equal, as a SymBool where a size is symbolic.
    """
    if torch.jit.is_scripting():
        return left == right
    else:
        for size in left:
            if type(size) is not int:
                return _sym_shape_eq(left, right)
        for size in right:
            if type(size) is not int:
                return _sym_shape_eq(left, right)
        if torch.compiler.is_dynamo_compiling():
            return _sym_shape_eq(left, right)
        return left == right


def sym_shape_eq_or_false(left: _Sizes, right: _Sizes) -> bool:
    """
    Whether two shapes are equal where that is known, else False.
    """
    if torch.jit.is_scripting():
        return left == right
    else:
        for size in left:
            if type(size) is not int:
                return sym_guard_or_false(_sym_shape_eq(left, right))
        for size in right:
            if type(size) is not int:
                return sym_guard_or_false(_sym_shape_eq(left, right))
        if torch.compiler.is_dynamo_compiling():
            return sym_guard_or_false(_sym_shape_eq(left, right))
        return left == right


def sym_shape_eq_or_true(left: _Sizes, right: _Sizes) -> bool:
    """
    Whether two shapes are equal where that is known, else True.
    """
    if torch.jit.is_scripting():
        return left == right
    else:
        for size in left:
            if type(size) is not int:
                return sym_guard_or_true(_sym_shape_eq(left, right))
        for size in right:
            if type(size) is not int:
                return sym_guard_or_true(_sym_shape_eq(left, right))
        if torch.compiler.is_dynamo_compiling():
            return sym_guard_or_true(_sym_shape_eq(left, right))
        return left == right


def sym_expect_shape_eq(left: _Sizes, right: _Sizes) -> bool:
    """
    Whether two shapes are equal where that is known, else True, and then it is checked.
    """
    if torch.jit.is_scripting():
        return left == right
    else:
        for size in left:
            if type(size) is not int:
                return sym_expect_true(_sym_shape_eq(left, right))
        for size in right:
            if type(size) is not int:
                return sym_expect_true(_sym_shape_eq(left, right))
        if torch.compiler.is_dynamo_compiling():
            return sym_expect_true(_sym_shape_eq(left, right))
        return left == right


def sym_chunk(tensor: torch.Tensor, chunks: int, dim: int = 0) -> _Tensors:
    """
    What ``tensor.chunk(chunks, dim)`` gives a caller that takes exactly so many chunks.
    """
    if torch.jit.is_scripting():
        return tensor.chunk(chunks, dim)
    elif isinstance(tensor.size(dim), torch.SymInt) or torch.compiler.is_dynamo_compiling():
        size = tensor.size(dim)
        length = (size + chunks - 1) // chunks
        last = size - length * (chunks - 1)
        if not sym_expect_true((last > 0) | (size == 0)):
            raise ValueError(f"expected {chunks} chunks of a dimension of size {size}")
        return tensor.split([length] * (chunks - 1) + [last], dim)
    else:
        return tensor.chunk(chunks, dim)


def _sym_shape_eq(left, right):
    if not torch.compiler.is_dynamo_compiling():
        # torch.jit.trace has Tensors for sizes, and does not record what is computed of them
        if not any(isinstance(size, torch.SymInt) for size in (*left, *right)):
            return left == right
    equal = len(left) == len(right)
    for left_size, right_size in zip(left, right):
        equal = equal & (left_size == right_size)
    return equal
'''


class Home(NamedTuple):
    """The file of a tree where the helpers stand or are to stand; `end` is its length in bytes.

    `imports` are the lines that import what they need and the file does not import.
    """

    path: str
    end: int
    newline: str
    defined: bool
    imports: str = ""

    def edits(self) -> tuple[Edit, ...]:
        """What adds the helpers to it; nothing where they stand there already."""
        if self.defined:
            return ()
        text = f"{self.imports}{SOURCE}".replace("\n", self.newline)
        return (Edit(self.path, self.end, self.end, b"", text.encode()),)


def home_of(path: str, source: bytes) -> Home | None:
    """Where helpers go in `source`; None where it cannot take them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    needed = {*HELPERS.values(), *SHAPE_HELPERS.values()}
    if (needed & defined and not needed <= defined) or not source.endswith(b"\n"):
        return None
    imports = {name for node in tree.body if isinstance(node, ast.ImportFrom) for name in names_brought(node)}
    missing = ((module, [n for n in names if n not in imports]) for module, names in _IMPORTED.items())
    further = "".join(f"from {module} import {', '.join(names)}\n" for module, names in missing if names)
    newline = "\r\n" if b"\r\n" in source[:4096] else "\n"
    return Home(path, len(source), newline, needed <= defined, further)
