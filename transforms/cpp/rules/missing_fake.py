"""An operator that symbols cannot pass: it has no Meta kernel and no fake, or comes to memory before these.

What it does: names the operators that a library defines in C++ and registers for backends alone, save those that write
to an argument and return nothing, which need no fake; composites (kernels without a key, `torch::RegisterOperators`,
CompositeImplicitAutograd) that call code which reads memory, with a fake in Python too, which torch refuses for them;
those whose kernel for Autograd calls such code itself and not the operator: it is run before any fake; those whose
kernel for symbols is written with torch::stable, which has no symbolic accessor; and operators that Python makes
without a fake, by `torch.library.custom_op`, or by a Library and kernels. It looks for fakes in C++ and in Python. It
says what to register, with a sketch: the arguments of the schema, and, where the kernel's source shows them, how its
outputs are made. Of PyTorch's own operators it says nothing by itself.

For those, `symfix fix OP --mode 3` runs the kernels of the installed torch, of overloads that have neither a meta, a
decomposition nor a composite kernel, and draws the meta that says what they return: like an argument, of the shape that
several broadcast to, an argument without a dimension, or sizes that are an argument's or count windows. It goes to
torch/_meta_registrations.py, with the out variants, where it equals the kernel on every call. What was drawn is kept
for all commands; where nothing was, the reason is said, with the sample that differs.

Where all kernels of an operator show what they return, it writes the fake, with the checks on sizes, ranks and dtypes
that all of them make as `torch._check`: one kernel's own would refuse what another takes. Read are factories such as
`at::empty({n, x.size(1)}, x.options())`, what operators of ATen make of tensors (`x.unsqueeze(0)`, `at::cat({x, y})`,
`out.squeeze_(0)`), by torch::stable as well, sizes that are computed, and branches that no size decides: on ranks,
dtypes, optional arguments, numbers. What is cast to, or declared as, a type that holds another value
(`double h = x.size(0)`) is not followed, nor is an exception that no `torch._check` raises. An early `return out` for
some sizes is nothing to the fake where all that is returned later is the same, and what comes before it there fills
tensors or names none, as `AT_CUDA_CHECK(cudaGetLastError())`. Left is what rests on a size, a list or a tensor that may
be changed in another way: by a reference, a pointer, an iterator, or a function that is not known to read or fill it
only, as by `std::swap(n, m);` and `trim(out);` with a `Tensor&`. The fake stands at the end of the module that
registers the library's other fakes, or loads it, itself or by a function that does, and is no example beside it; where
it does so in a `try` or a branch, behind `if hasattr(torch.ops.lib, "op")`.

Why: tracing gives an operator tensors without memory. Where there is no kernel for them, or a composite gets to the
first `data_ptr`, torch.compile stops or breaks the graph there; no rewrite of the operator's code helps.

Fix safety: review, and manual where no fake is written: the sketch says no more than was seen. `symfix prove` and `fix`
run the fake beside the kernel, with sizes 0 and 1, permuted strides and gaps, and take no fake that differs. A drawn
meta has those of the kernel's checks that its calls showed: it may take other arguments that eager refuses.

References: torch/library.py (register_fake); torch/_library/utils.py (can_generate_trivial_fake_impl);
c10/core/DispatchKey.h; torch/csrc/stable/library.h and ops.h;
https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html.
"""

from __future__ import annotations

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example

NAME = "missing-fake"
MODE = Mode.TENSOR_ITERATOR
LEVEL = Level.REVIEW
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
