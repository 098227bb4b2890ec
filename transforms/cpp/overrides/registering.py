"""The C++ text that registers a kernel of native_functions.yaml again, over the installed one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transforms.cpp.overrides.roots import Root
from transforms.cpp.reach.calls import Index

# Sources may forbid operators in headers, for faster builds; what follows them needs torch/library.h, and its macro as
# it was before `UNREGISTERED`; where nothing was pushed, nothing is popped.
ALLOW = """\
#undef TORCH_ASSERT_NO_OPERATORS
#undef TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <torch/library.h>
#pragma pop_macro("TORCH_LIBRARY_IMPL")
"""

# Kernels keep using the stubs of the installed library, to which its own builds for each processor are registered.
# The headers of oneDNN are not installed with torch; what a composite kernel does with symbolic sizes uses none of it.
PRELUDE = """\
#include <ATen/Config.h>
#undef AT_MKLDNN_ENABLED
#define AT_MKLDNN_ENABLED() 0
#include <ATen/native/DispatchStub.h>
#undef DEFINE_DISPATCH
#define DEFINE_DISPATCH(name) static_assert(true)
"""

# A dispatch key has one fallback, and a second one ends the process (Dispatcher::registerFallback): the installed one
# stays. Blocks for the namespace `_` hold nothing else, so that there is nothing that `reset` takes back.
NO_FALLBACK = "#include <torch/library.h>\n#define fallback(...) reset()\n"

# The blocks of registrations become functions that nobody calls: an operator is defined once only, and what a source
# registers beside the kernels of native_functions.yaml is not what is run.
# A class is registered once by its name, and a second time ends the process (ATen/core/custom_class.cpp): the copy gets
# a namespace of its own, told by an address that is this source's alone.
UNREGISTERED = f"""\
{PRELUDE}#include <torch/library.h>
#define SYMFIX_UNUSED(m) [[maybe_unused]] static void C10_CONCATENATE(symfix_unused_, C10_UID)(torch::Library & m)
#pragma push_macro("TORCH_LIBRARY_IMPL")
#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define TORCH_LIBRARY(ns, m) SYMFIX_UNUSED(m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) SYMFIX_UNUSED(m)
#define TORCH_LIBRARY_IMPL(ns, k, m) SYMFIX_UNUSED(m)
namespace torch {{
template <class T>
static class_<T> symfix_class_(const std::string& space, const char* name) {{
  static const char own = 0;
  return class_<T>(space + "_" + std::to_string(reinterpret_cast<uintptr_t>(&own)), name);
}}
}}
#define selective_class_ symfix_class_
"""
_REGISTERS = re.compile(rb"\bTORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\(|\bselective_class_<")


def unregistered(source: bytes) -> str:
    """What goes before a source whose kernels `registration_text` registers."""
    return UNREGISTERED if _REGISTERS.search(source) is not None else PRELUDE


def registering(source: bytes) -> str:
    """What goes before a source that registers its kernels itself."""
    return PRELUDE + (NO_FALLBACK if b".fallback(" in source else "")


def registration_text(roots: Sequence[Root], index: Index) -> str:
    """What follows the source of the kernels `roots`, all of one file, in its unit: one TORCH_LIBRARY_IMPL for each."""
    lines = [ALLOW]
    for number, root in enumerate(dict.fromkeys(roots)):
        assert root.native is not None
        entry, key, kernel = root.native
        namespace = root.function.qualified.rpartition("::")[0]
        name = entry.schema.full_name.rpartition("::")[2]
        lines.append(
            f"namespace {namespace} {{ namespace symfix_{number} {{\n"
            f"TORCH_LIBRARY_IMPL(aten, {key}, library) {{\n"
            f'  library.impl("{name}", {_reference(root, kernel, index)});\n'
            "}\n}}\n"
        )
    return "".join(lines)


def over_installed(kernels: Sequence[tuple[str, str, str]]) -> str:
    """What follows a source of an installed library: its (operator, key, qualified function) registered again."""
    lines = [ALLOW]
    for number, (operator, key, function) in enumerate(kernels):
        namespace, _, name = operator.partition("::")
        lines.append(
            f"namespace symfix_{number} {{\n"
            f"TORCH_LIBRARY_IMPL({namespace}, {key}, library) {{\n"
            f'  library.impl("{name}", TORCH_FN(::{function}));\n'
            "}\n}\n"
        )
    return "".join(lines)


def _reference(root: Root, kernel: str, index: Index) -> str:
    """An expression for the kernel; one of several of its name is told by its type."""
    function = root.function
    written = kernel if "::" in kernel else f"native::{kernel}"
    if len([f for f in index.named(written) if f.qualified == function.qualified]) < 2:
        return f"TORCH_FN({function.qualified})"
    types = ", ".join(param.type for param in function.params)
    return f"static_cast<{function.returns} (*)({types})>(&{function.qualified})"
