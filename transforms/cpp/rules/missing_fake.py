"""An operator that symbols cannot pass: it has no Meta kernel and no fake, or is a composite around a kernel.

What it does: names the operators that a library defines in C++ and registers for backends alone, save those that write
to an argument and return nothing, which need no fake; composites (kernels without a key, `torch::RegisterOperators`,
CompositeImplicitAutograd) that call code which reads memory; those whose kernel for symbols is written with
torch::stable, which has no symbolic accessor; and operators that Python makes without a fake, by
`torch.library.custom_op`, or by a Library and kernels. It looks for fakes in C++ and in Python. It says what to
register, with a sketch: the arguments of the schema, and, where the kernel's source shows them, how its outputs are
made. Nothing is edited. In PyTorch's own folders it says nothing.

Why: tracing gives an operator tensors without memory. Where there is no kernel for them, or a composite gets to the
first `data_ptr`, torch.compile stops or breaks the graph there; no rewrite of the operator's code helps.

Fix safety: manual. The sketch says no more than was seen: what the outputs' sizes are is the author's to write.

References: torch/library.py (register_fake); torch/_library/utils.py (can_generate_trivial_fake_impl);
c10/core/DispatchKey.h; torch/csrc/stable/library.h;
https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html.
"""

from __future__ import annotations

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

NAME = "missing-fake"
MODE = Mode.LEAK
LEVEL = Level.MANUAL
EXAMPLES = (
    Example(
        "Tensor f(const Tensor& x) { return at::zeros({x.dim()}, x.options()); }",
        None,
        "a composite that reads no memory needs no fake",
    ),
    Example(
        "Tensor f(const Tensor& x) { auto p = x.data_ptr<float>(); return x.mul(p[0]); }",
        None,
        "named, not edited: give it kernels for its backends, and a fake",
    ),
)
