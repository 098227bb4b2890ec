"""Members of a struct or class follow the symbolic values stored in them.

What it does: where a symbolic value is stored in a data member of a struct or class of the same source file, such as
`IntArrayRef`, `DimVector` or `int64_t`, the member's type becomes symbolic; a declaration of several members is split
where not all of them change. All that could use the member has to be seen, so there may be no base class, template or
method without a body in the class; and everything in the file that reads or writes the member has to follow.

Why: what a helper returns of several sizes is often a struct, and the chain behind an accessor goes on through it.

Fix safety: review. The struct changes for all of its file, and a SymInt costs more than an integer.

References: ShapeAndDims of aten/src/ATen/native/SpectralOps.cpp went this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Replacement
from transforms.cpp.flow.settled import SettledMembers
from transforms.cpp.reading.types import symbolic_spelling

NAME = "member-type"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EVENTS = (SettledMembers,)
EXAMPLES = (
    Example(
        "struct Plan { DimVector shape, dims; };\n"
        "static Plan plan(const Tensor& x) { Plan p; p.shape.push_back(x.size(0)); return p; }\n"
        "Tensor f(const Tensor& x) { auto p = plan(x); return x.expand(p.shape); }",
        "struct Plan { c10::SymDimVector shape; DimVector dims; };\n"
        "static Plan plan(const Tensor& x) { Plan p; p.shape.push_back(x.sym_size(0)); return p; }\n"
        "Tensor f(const Tensor& x) { auto p = plan(x); return x.expand_symint(p.shape); }",
    ),
    Example(
        "struct Plan { Plan(const Tensor& x) { shape = DimVector(2); shape[1] = x.size(0); } DimVector shape;"
        " Tensor grow(const Tensor& x) const { return x.expand(shape); } };\n"
        "Tensor f(const Tensor& x) { return Plan(x).grow(x); }",
        "struct Plan { Plan(const Tensor& x) { shape = c10::SymDimVector(2); shape[1] = x.sym_size(0); }"
        " c10::SymDimVector shape; Tensor grow(const Tensor& x) const { return x.expand_symint(shape); } };\n"
        "Tensor f(const Tensor& x) { return Plan(x).grow(x); }",
        "a constructor and a method",
    ),
    Example(
        "struct Plan { DimVector shape; int64_t rank() const; };\n"
        "Tensor f(const Tensor& x) { Plan p; p.shape.push_back(x.size(0)); return x.expand(p.shape); }",
        None,
        "a method is defined elsewhere",
    ),
)


def rewrite(event: SettledMembers) -> Iterator[Replacement]:
    """Replace the type of a declaration, or the declaration by one for each type."""
    spelled, declaration = event.spelled, event.declaration
    twin = symbolic_spelling(spelled.text)
    if twin is None:
        return
    changed = ", ".join(f"`{event.owner}::{name}`" for name in event.members)
    message = f"{changed}: `{spelled.text}` → `{twin}`"
    kept = [name for name in event.names if name not in event.members]
    if not kept:
        yield Replacement(spelled.start, spelled.end, twin, message)
        return
    line = declaration.source.rfind(b"\n", 0, declaration.start) + 1
    indent = declaration.source[line : declaration.start].decode("utf-8", "surrogateescape")
    between = f"\n{indent}" if not indent.strip() else " "
    new = f"{twin} {', '.join(event.members)};{between}{spelled.text} {', '.join(kept)};"
    yield Replacement(declaration.start, declaration.end, new, message)
