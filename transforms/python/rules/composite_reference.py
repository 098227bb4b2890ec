"""A registered decomposition takes the place of the C++ composite that is traced instead of it.

    @register_decomposition(aten.fft_fft)      @aten.fft_fft.default.py_impl(torch._C.DispatchKey.Composite…)
    @out_wrapper()                             @register_decomposition(aten.fft_fft)
    def fft(input, n=None): …                  @out_wrapper()
        return prims.fft_c2c(input, …)         def fft(input, n=None): …
                                                   return prims.fft_c2c.impl_aten(input, …)

What it does: tracing runs the Python, whose questions for sizes the other rules answer. Primitives, which have no
derivatives, are written as what they are made of in ATen.

Why: an operator that C++ composes of others is traced through that C++, which stops where it asks for an unknown size.
What `register_decomposition` registers is asked for too late.

Fix safety: review. Eager runs the C++ as before. Left alone are operators with other kernels than the composite, with
views or written arguments, and with random numbers, since Python draws others for the same seed. So is Python which
would stop at a place that is left: the C++ may take the symbols that are made a number there. So is Python whose
arguments or defaults differ from the schema's, that wraps the function in more than `out_wrapper`, or that reaches
primitives in code which others use, and so are references that PyTorch does not register: some refuse what the
operator takes, as that of `group_norm` does inputs which are not contiguous, and the parts that that of `hsplit`
returns may not be written to where gradients are needed, as those of `hsplit` may.

References: aten/src/ATen/native/tags.yaml, torch/_ops.py (OpOverload.py_impl), torch/_prims/__init__.py (_make_prim),
torch/_decomp/decompositions.py (matmul).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import dotted
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "composite-reference"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 10
EXAMPLES = (
    Example(
        "@register_decomposition(aten.add)\ndef add(x: Tensor):\n    return torch.ops.aten.add(x, 1)\n",
        None,
        "has kernels of its own",
    ),
    Example(
        "@register_decomposition(aten.composed)\n@out_wrapper()\n"
        "def composed(x: Tensor):\n    return prims.neg(_helper(x))\n\n\n"
        "def _helper(x: Tensor):\n    return prims.abs(x)\n",
        "@aten.composed.default.py_impl(torch._C.DispatchKey.CompositeImplicitAutograd)\n"
        "@register_decomposition(aten.composed)\n@out_wrapper()\n"
        "def composed(x: Tensor):\n    return prims.neg.impl_aten(_helper(x))\n\n\n"
        "def _helper(x: Tensor):\n    return prims.abs.impl_aten(x)\n",
    ),
    Example(
        "@register_decomposition(aten.composed)\n@out_wrapper()\n"
        "def composed(x: Tensor):\n    return _helper(x)\n\n\n"
        "def _helper(x: Tensor):\n    return g(x, [0] * x.size(0))\n",
        None,
        "what it runs stops too",
    ),
)

MESSAGE = "a decomposition is registered where tracing does not ask for it"


def rewrite(place: Place) -> Rewrite | None:
    """The decorators, and the primitives of the function and its helpers in ATen; None for other sites."""
    if place.site.kind != "composite" or place.composite is None:
        return None
    layout, function = place.layout, place.function
    first = function.decorator_list[0]
    aten = next((name for node in ast.walk(first) if (name := dotted(node)).endswith("aten")), "")
    begin = layout.start(first) - 1
    before = layout.source[layout.line_start(first.lineno) : begin]
    if not aten or layout.source[begin : begin + 1] != b"@" or before.strip():
        raise Undecided("the operator is not written as aten.…")
    key = f"{place.names.torch}._C.DispatchKey.CompositeImplicitAutograd"
    lines = "".join(f"@{aten}.{overload}.py_impl({key}){layout.newline}" for overload in place.composite.overloads)
    changes = [Change(offset, offset, ".impl_aten") for offset in _primitives(place, place.composite.bodies)]
    return Rewrite(Level.REVIEW, MESSAGE, (Change(begin, begin, lines), *changes))


def _primitives(place: Place, bodies: tuple[str, ...]) -> Iterator[int]:
    """The offsets behind the primitives named in the functions `bodies`."""
    for function in place.names.top.body:
        if isinstance(function, ast.FunctionDef) and function.name in bodies:
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and re.fullmatch(r"prims\.\w+", dotted(node)):
                    yield place.layout.end(node)
