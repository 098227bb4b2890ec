"""C++ types as far as symbolic shapes care: tensors, integers, containers of integers, and wrappers around them.

A type is *symbolic* when it holds `c10::SymInt`s. Its `origins` then name the sites that made it
so; code that was symbolic before symfix came has no origins.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

SCALAR_TYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16",
    "Float": "float32", "Double": "float64", "Bool": "bool", "BFloat16": "bfloat16", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128", "UInt8": "uint8", "Int8": "int8", "Int16": "int16", "Int32": "int32",
    "Int64": "int64", "Float16": "float16", "Float32": "float32", "Float64": "float64",
}  # fmt: skip
"""The dtypes of `at::kLong` and `at::ScalarType::Long` (c10/core/ScalarType.h; the second names, of
torch/csrc/api/include/torch/types.h)."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type. `kind` is one of:

    tensor, list (of `args[0]`), wrap (optional, MaybeOwned, pointer: `args[0]` behind `*` and `->`),
    int, float, bool, ints (a sequence of integers), iter (an iterator or pointer into one), braces
    (`{a, b}`), tuple, lambda, string, options, scalar, other (`name` says which) and unknown.
    """

    kind: str
    name: str = ""
    args: tuple[Type, ...] = ()
    origins: frozenset[int] | None = None

    @property
    def symbolic(self) -> bool:
        """Whether a value of this type may hold a SymInt."""
        return self.origins is not None

    def with_origins(self, origins: Iterable[int] | None) -> Type:
        """The same type, symbolic because of `origins` (None: concrete)."""
        return replace(self, origins=None if origins is None else frozenset(origins))


UNKNOWN = Type("unknown")
TENSOR = Type("tensor")
INT = Type("int", "int64_t")
SIZE_T = Type("int", "size_t")
FLOAT = Type("float", "double")
BOOL = Type("bool")
VOID = Type("void")
STRING = Type("string")

_SIGNED = {"int64_t", "int", "int32_t", "long", "long long", "ptrdiff_t", "short", "int16_t", "int8_t", "SymIntType"}
_UNSIGNED = {"size_t", "uint64_t", "uint32_t", "unsigned", "unsigned int", "uint8_t", "uint16_t"} | {
    "unsigned long",
    "unsigned long long",
}
_FLOATS = {"double", "float"}
_TENSORS = {"Tensor", "TensorBase", "Variable"}
_TENSOR_LISTS = {
    "TensorList",
    "ITensorListRef",
    "variable_list",
    "tensor_list",
    "MaterializedITensorListRef",
    "TensorListType",
}
_ARRAY_REFS = {"IntArrayRef": False, "IntList": False, "SymIntArrayRef": True}
_VECTORS = {"DimVector": False, "VmapDimVector": False, "SymDimVector": True, "VmapSymDimVector": True}
_OPTIONAL_REFS = {"OptionalIntArrayRef": False, "OptionalSymIntArrayRef": True}
_SEQUENCES = {
    "vector",
    "SmallVector",
    "SmallVectorImpl",
    "SmallBuffer",
    "ArrayRef",
    "array",
    "List",
    "IListRef",
    "initializer_list",
}
_WRAPPERS = {
    "optional",
    "MaybeOwned",
    "unique_ptr",
    "shared_ptr",
    "reference_wrapper",
    "intrusive_ptr",
    "ExclusivelyOwned",
}
_POINTER_LIKE_TENSORS = {"TensorArg", "OptionalTensorRef", "TensorRef", "OptionalTensor", "SavedVariable"}

_NOISE = re.compile(
    r"\b(?:const|volatile|constexpr|static|inline|typename|mutable|register|struct|class|thread_local|C10_UNUSED)\b|\[\[[^\]]*\]\]"
)
_NAMESPACE = re.compile(
    r"(?<![\w>])(?:::)?(?:(?:c10|at|std|torch|native|functorch|autograd|internal|detail|impl|experimental)::)+"
)


# More template arguments or pointers than this are not looked into: no type of sizes has as many.
_NESTED = 50


def template_arguments(text: str) -> list[str]:
    """The top-level arguments of `X<a, b<c>, d>`; empty where there are none."""
    open_at = text.find("<")
    if open_at < 0 or not text.endswith(">"):
        return []
    out, depth, current = [], 0, ""
    for char in text[open_at + 1 : -1]:
        depth += char in "<(["
        depth -= char in ">)]"
        if char == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += char
    return [*out, current.strip()]


@functools.lru_cache(maxsize=20_000)
def parse_type(text: str) -> Type:
    """The Type that a spelled type means; `unknown` for `auto` and template parameters, `other` for classes."""
    bare = " ".join(_NAMESPACE.sub("", _NOISE.sub(" ", text)).split()).strip()
    bare = bare.rstrip("& ").strip()
    if bare.count("<") + bare.count("*") > _NESTED:
        return Type("other", bare)
    if bare.endswith("*"):
        return Type("wrap", "*", (parse_type(bare[:-1]),))
    bare = re.sub(r"\s*([<>,:])\s*", r"\1", bare)
    if not bare or bare in ("auto", "decltype(auto)"):
        return UNKNOWN
    if bare in _SIGNED or bare in _UNSIGNED:
        return Type("int", bare)
    if bare in ("SymInt", "SymIntT"):
        return Type("int", "SymInt", origins=frozenset())
    if bare in _FLOATS:
        return Type("float", bare)
    if bare == "SymFloat":
        return Type("float", "SymFloat", origins=frozenset())
    if bare in ("bool", "void"):
        return Type(bare)
    if bare == "SymBool":
        return Type("bool", "SymBool", origins=frozenset())
    if bare in _TENSORS:
        return TENSOR
    if bare in _TENSOR_LISTS:
        return Type("list", bare, (TENSOR,))
    if bare in _POINTER_LIKE_TENSORS:
        return Type("wrap", bare, (TENSOR,))
    for table, kind in ((_ARRAY_REFS, "ints"), (_VECTORS, "ints")):
        if bare in table:
            return Type(kind, bare, origins=frozenset() if table[bare] else None)
    if bare in _OPTIONAL_REFS:
        symbolic = frozenset[int]() if _OPTIONAL_REFS[bare] else None
        name = "SymIntArrayRef" if _OPTIONAL_REFS[bare] else "IntArrayRef"
        return Type("wrap", bare, (Type("ints", name, origins=symbolic),), symbolic)
    if bare in ("string", "string_view", "char") or bare == "basic_string":
        return STRING
    if bare in ("Scalar", "TensorOptions"):
        return Type("scalar" if bare == "Scalar" else "options")
    head = bare.split("<", 1)[0].split("::")[-1]
    arguments = template_arguments(bare)
    if arguments:
        return _template(head, arguments, bare)
    return Type("other", bare)


def _template(head: str, arguments: list[str], bare: str) -> Type:
    first = parse_type(arguments[0])
    if head in _SEQUENCES:
        if first.kind == "int":
            return Type("ints", head, origins=first.origins)
        return Type("list", head, (first,))
    if head in _WRAPPERS:
        return Type("wrap", head, (first,), first.origins)
    if head in ("tuple", "pair"):
        parts = tuple(parse_type(argument) for argument in arguments)
        return Type("tuple", head, parts)
    if head == "conditional_t" and len(arguments) == 3 and parse_type(arguments[1]) == parse_type(arguments[2]):
        return parse_type(arguments[1])
    if head in ("OptionalArrayRef",):
        return Type("wrap", head, (Type("ints", "ArrayRef", origins=first.origins),), first.origins)
    return Type("other", bare)


_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:at::|c10::)?OptionalIntArrayRef\b"), "at::OptionalSymIntArrayRef"),
    (re.compile(r"\b(?:at::|c10::)?(?:IntArrayRef|IntList)\b"), "c10::SymIntArrayRef"),
    (re.compile(r"\bVmapDimVector\b"), "VmapSymDimVector"),
    (re.compile(r"\b(?:at::|c10::)?DimVector\b"), "c10::SymDimVector"),
    # A SmallBuffer holds trivial types only (c10/util/SmallBuffer.h).
    (re.compile(r"\b(?:c10::|at::)?SmallBuffer\b"), "c10::SmallVector"),
    (re.compile(r"(?<=[<,(])(\s*)(?:std::)?(?:int64_t|long|int)\b"), r"\1c10::SymInt"),
)
_SCALAR = re.compile(r"(?<![\w:])(?:std::)?(?:int64_t|int32_t|long long|long|int|ptrdiff_t)\b(?!\s*>)")


def symbolic_spelling(spelled: str) -> str | None:
    """`spelled` with integers made SymInt: `const std::vector<int64_t>&` → `const std::vector<c10::SymInt>&`.

    None where the type has no symbolic counterpart (an unsigned integer, a `float`, a class, a pointer).
    """
    kind = parse_type(spelled)
    if kind.kind == "wrap" and kind.name == "*":
        return None
    if kind.kind == "int":
        return _SCALAR.sub("c10::SymInt", spelled, count=1) if kind.name in _SIGNED else None
    if kind.kind == "float":
        return re.sub(r"\bdouble\b", "c10::SymFloat", spelled, count=1) if kind.name != "float" else None
    if kind.kind not in ("ints", "wrap", "tuple"):
        return None
    out = spelled
    for pattern, new in _SPELLINGS:
        out = pattern.sub(new, out)
    return out if out != spelled else None


def symbolic_parts(spelled: str, indexes: Iterable[int]) -> str:
    """A tuple as spelled, with the parts at `indexes` symbolic."""
    parts = template_arguments(spelled.strip())
    for index in indexes:
        parts[index] = symbolic_spelling(parts[index]) or parts[index]
    return f"{spelled[: spelled.index('<')]}<{', '.join(parts)}>"


def returns_symbols(kind: Type) -> bool:
    """Whether a value of a type holds SymInts, a tuple in one of its parts."""
    return kind.symbolic or (kind.kind == "tuple" and any(part.symbolic for part in kind.args))


def is_written(spelled: str) -> bool:
    """Whether a parameter is a reference that the callee may write through."""
    return spelled.endswith("&") and not spelled.endswith("&&") and "const" not in spelled.split()
