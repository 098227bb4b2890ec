"""The storage offset of a TensorImpl is set together with its sizes and strides.

What it does: `impl->set_storage_offset(offset); impl->set_sizes_and_strides(sizes, strides);`, of symbolic sizes and
strides, becomes `impl->set_sizes_and_strides(sizes, strides, offset);`. An offset that is no name gets one,
`storage_offset`.

Why: `set_storage_offset` takes an int64_t, and `set_sizes_and_strides` a SymInt as its third argument.

Fix safety: safe. The two calls follow each other, on the same TensorImpl.

References: c10/core/TensorImpl.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import OffsetOfImpl, Replacement

NAME = "storage-offset"
MODE = Mode.DIRECT_THROW
LEVEL = Level.SAFE
EVENTS = (OffsetOfImpl,)
_IMPL = "auto* impl = y.unsafeGetTensorImpl(); "
EXAMPLES = (
    Example(
        f"void f(const Tensor& x, Tensor y) {{ {_IMPL}impl->set_storage_offset(x.storage_offset());"
        " impl->set_sizes_and_strides(x.sizes(), x.strides()); }",
        f"void f(const Tensor& x, Tensor y) {{ {_IMPL}const auto storage_offset = x.sym_storage_offset();"
        " impl->set_sizes_and_strides(x.sym_sizes(), x.sym_strides(), storage_offset); }",
    ),
    Example(
        f"void f(const Tensor& x, Tensor y) {{ {_IMPL}auto o = x.storage_offset() / 2; impl->set_storage_offset(o);"
        " impl->set_sizes_and_strides(x.sizes(), x.strides()); }",
        f"void f(const Tensor& x, Tensor y) {{ {_IMPL}auto o = x.sym_storage_offset() / 2;"
        " impl->set_sizes_and_strides(x.sym_sizes(), x.sym_strides(), o); }",
    ),
    Example(
        f"void f(const Tensor& x, Tensor y) {{ {_IMPL}impl->set_storage_offset(x.storage_offset());"
        " y.mul_(2); impl->set_sizes_and_strides(x.sizes(), x.strides()); }",
        None,
    ),
    Example(
        f"template <typename V> void f(const Tensor& x, Tensor y, const V& sizes, const V& strides) {{ {_IMPL}"
        "impl->set_storage_offset(x.storage_offset()); impl->set_sizes_and_strides(sizes, strides); }",
        None,
        "no overload takes concrete sizes with a SymInt",
    ),
    Example(
        f"void f(const Tensor& x, Tensor y, IntArrayRef sizes) {{ {_IMPL}impl->set_storage_offset(x.storage_offset());"
        " impl->set_sizes_and_strides(sizes, x.strides()); }",
        None,
        "no overload takes concrete sizes with a SymInt",
    ),
)


def rewrite(event: OffsetOfImpl) -> Iterator[Replacement]:
    """Drop the first call, but for an argument that is more than a name, and give the second one argument more."""
    statement, offset, last = event.statement, event.offset, event.last
    message = "the storage offset is set with sizes and strides"
    if offset.kind == "identifier":
        yield Replacement(statement.start, event.following.start, "", message)
        name = offset.text
    else:
        name = "storage_offset"
        yield Replacement(statement.start, offset.start, f"const auto {name} = ", message)
        yield Replacement(offset.end, statement.end, ";", message)
    yield Replacement(last.end, last.end, f", {name}", message)
