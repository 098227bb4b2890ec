"""A TensorIterator is built where symbolic tensors arrive.

What it does: names the place. Nothing is edited.

Why: TensorIterator computes with concrete sizes and throws "TensorIterator does not support symbolic shapes" (Mode 3).
The operator needs a reference in torch/_refs, a Meta registration, or a composition of operators that have them.

Fix safety: manual.

References: aten/src/ATen/TensorIterator.cpp, torch/_refs/__init__.py.
"""

from __future__ import annotations

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

NAME = "tensor-iterator"
MODE = Mode.TENSOR_ITERATOR
LEVEL = Level.MANUAL
REFUSAL = "tensor-iterator"
REASON = (
    "TensorIterator does not support symbolic shapes; give the operator a reference in torch/_refs or a Meta kernel"
)
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { auto iter = TensorIterator::unary_op(Tensor(), x); return iter.output(); }",
        None,
        "listed, never edited",
    ),
)
