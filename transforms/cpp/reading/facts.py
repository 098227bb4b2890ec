"""The record of one C++ file: functions, calls, registrations, members. `extract` makes it, once per content."""

from __future__ import annotations

from dataclasses import dataclass

from codemod.model.records import compact


@compact
@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its type as written, one space for any white space, macros gone; `name` may be empty."""

    type: str
    name: str
    default: str = ""


@compact
@dataclass(frozen=True, slots=True)
class Call:
    """A call by name inside a function: the callee as written (`at::native::f`, `Helper::g`), its arguments counted."""

    callee: str
    arguments: int
    start: int
    member: bool = False
    """Written after `.` or `->`."""
    line: int = 0
    literals: tuple[int, ...] = ()
    """The indices of the arguments that are string literals."""


@compact
@dataclass(frozen=True, slots=True)
class Lookup:
    """`findSchemaOrThrow("ns::op", "overload")` inside a function."""

    operator: str
    """`ns::op.overload`, or `ns::op`."""
    signature: str = ""
    """The function `f` of `.typed<decltype(f)>()`, as written; "" where the signature is spelled out."""


@compact
@dataclass(frozen=True, slots=True)
class Function:
    """A function definition or declaration. Offsets are bytes; `body` is the offset of `{`, or -1 for a declaration."""

    name: str
    qualified: str
    """With namespaces and classes: `at::native::Helper::f`; anonymous namespaces are left out."""
    path: str
    start: int
    end: int
    body: int
    line: int
    params: tuple[Param, ...]
    returns: str
    parent: str = ""
    """The enclosing (or qualifying) class, unqualified."""
    template: bool = False
    internal: bool = False
    """`static` or in an anonymous namespace."""
    structured: str = ""
    """"META" or "IMPL" for TORCH_META_FUNC / TORCH_IMPL_FUNC."""
    features: frozenset[str] = frozenset()
    """Of "dispatch" (AT_DISPATCH_*), "parallel", "data_ptr", "iterator" (builds a TensorIterator), "item" (reads a
    value), "accessor", "launch" (of a device's kernel), "generic" (a template that takes a SymInt for an int64_t)."""
    calls: tuple[Call, ...] = ()
    """One for each callee, argument count and `member`: the first of its kind. Macros and the accessors of Tensors and
    of the standard containers are left out."""
    candidates: int = 0
    """How often a name like `size(`, `sizes(`, `numel(` follows `.` or `->` in the body."""
    lookups: tuple[Lookup, ...] = ()
    """The operators that the body asks the dispatcher for."""


@compact
@dataclass(frozen=True, slots=True)
class Registration:
    """`m.impl("op", key, f)` and its kin: an operator given a kernel. `key` is "" for the catch-all and composite."""

    operator: str
    """`aten::add.Tensor`, `torchvision::nms`; the namespace of the TORCH_LIBRARY block where the name has none.

    "" for a fallback, and where what is written is not the name of an operator.
    """
    key: str
    function: str
    """The callee as written, without `&`, `TORCH_FN(…)`, casts and template arguments; "" for a lambda."""
    line: int
    start: int
    end: int
    schema: str = ""
    """Of `m.def("foo(Tensor x) -> Tensor", …)`."""
    inline: bool = False
    """The kernel is a lambda that is written in the registration itself."""
    written: str = ""
    """What stands in the place of the operator's name, where that is no literal and no name can be told."""


@compact
@dataclass(frozen=True, slots=True)
class Block:
    """A block of registrations of which other files have to be asked: what its macro is, or who calls it."""

    head: str
    """The macro that opens it, or the qualified name of the function that takes a torch::Library."""
    arguments: tuple[str, ...]
    """Of the macro, as written; empty for a function."""
    registrations: tuple[Registration, ...]
    """Those whose namespace and key are those of the block: neither is in them yet."""
    helpers: tuple[str, ...] = ()
    """The functions that it calls with its library, as written."""
    library: str = ""
    """The name by which it has its library."""
    macros: tuple[tuple[int, int, int], ...] = ()
    """(start, end, line) of calls of macros that may register by that name: `DISPATCH_TO_META("f", f)`."""

    @property
    def names_library(self) -> bool:
        """Whether the code itself names the library; else only a macro of the tree shows that the name is one's."""
        return not self.arguments or self.library in self.arguments


@compact
@dataclass(frozen=True, slots=True)
class FileFacts:
    """All that the later stages want to know of a file without parsing it again."""

    path: str
    functions: tuple[Function, ...] = ()
    registrations: tuple[Registration, ...] = ()
    members: tuple[tuple[str, str, str], ...] = ()
    """(class, member, type) of data members."""
    aliases: tuple[tuple[str, str], ...] = ()
    """`using A = B;` and `typedef B A;` as (A, B)."""
    macros: tuple[str, ...] = ()
    """Names of `#define`s."""
    generated: tuple[Function, ...] = ()
    """Functions that a macro call at namespace level defines, the macro being the file's own. Offsets and lines are
    those of the macro call; `body` is -1."""
    blocks: tuple[Block, ...] = ()
    """What `registrations` lacks, and the blocks of them that call functions with their library."""
    block_macros: tuple[str, ...] = ()
    """The macros whose bodies hold whole blocks of registrations."""
    asking_macros: tuple[str, ...] = ()
    """The macros whose bodies ask a tensor for sizes."""
    classes: int = 0
    """How many classes it registers, with `m.class_<T>("T")` or `torch::class_<T>("ns", "T")`."""
    bound: int = 0
    """How many functions it gives to Python alone, by pybind11 or nanobind."""
    device: bool = False
    """Whether it defines or launches kernels of a device, as CUDA and HIP write them: `__global__`, `f<<<…>>>(…)`."""


PART = -100
"""The index of a slot that is the first part of a tuple which a function returns; those of others are lower."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter of a function, its result (`index` -1), a part of the tuple that it returns (from PART down), a data
    member of a class of one source file, or an argument of an operator's schema."""

    path: str
    start: int
    index: int
    member: str = ""
    """`Class::member`; `start` and `index` are those of no function."""
    operator: str = ""
    """`ns::op.overload`, whose schema has the argument `index`; `path` is where that is written, and `start` is
    negative and tells the schemas of a file apart."""
