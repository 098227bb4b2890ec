"""Operator schemas: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemod.model.operators import operator_name

_HEAD = re.compile(r"\s*((?:\w+::)?[\w.]+)\s*\(")
_TOKENS = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[()\[\],]""")
_ANNOTATION = re.compile(r"\s*\(([^()]*)\)")
_WRITTEN = re.compile(r"\s*!\s*")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument or a return value. `type` is as written, without spaces: `SymInt[]?`, `Tensor(a!)`, `Tensor?[]`."""

    name: str
    type: str
    default: str = ""
    """As written; "" where there is none."""
    kwarg_only: bool = False
    annotation: str = ""
    """The alias annotation without parentheses: `a!`, `a -> *`, `!` for `Tensor!`, or ""."""

    @property
    def plain_type(self) -> str:
        """The type without its alias annotation: `Tensor[]` for `Tensor(a)[]`, `Tensor` for `Tensor!`."""
        return _ANNOTATION.sub("", self.type).replace("!", "") if self.annotation else self.type

    @property
    def written(self) -> bool:
        """Whether the operator writes to the argument."""
        return "!" in self.annotation

    @property
    def symbolic(self) -> bool:
        """Whether it is a SymInt, a list of them, or an optional one of either."""
        return self.type.startswith("SymInt")


@dataclass(frozen=True, slots=True)
class Schema:
    """One overload of an operator. `name` is without the overload and keeps a namespace where one is written."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]

    @property
    def base(self) -> str:
        """The name without a namespace."""
        return self.name.rpartition("::")[2]

    @property
    def full_name(self) -> str:
        """The name with the overload, as in native_functions.yaml: `add.Tensor`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The `out=` arguments: keyword-only and written to (torchgen/model.py, Arguments.parse)."""
        return tuple(argument for argument in self.arguments if argument.kwarg_only and argument.written)

    @property
    def cpp_name(self) -> str:
        """The name of the default kernel: the base name, `_out` appended for an out variant (torchgen/api/cpp.py)."""
        return f"{self.base}_out" if self.outputs else self.base

    @property
    def has_symint(self) -> bool:
        """Whether an argument other than an output is a SymInt (torchgen/model.py, FunctionSchema.has_symint)."""
        return any(a.symbolic for a in self.arguments if not (a.kwarg_only and a.written))

    @property
    def symint_names(self) -> tuple[str, ...]:
        """The names of its SymInt overloads in the C++ API: `view_symint`; `topk_symint_out` and `topk_symint_outf`.

        Empty where no argument is a SymInt (torchgen/api/types/signatures.py, CppSignatureGroup).
        """
        if not self.has_symint:
            return ()
        name = f"{self.base}_symint"
        return (f"{name}_out", f"{name}_outf") if self.outputs else (name,)


def parse_schema(text: str) -> Schema:
    """The schema written as `text`. Raises ValueError where that is no schema; the returns may be missing."""
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"not an operator schema: {text.strip()[:80]!r}")
    if not operator_name(head[1]):
        raise ValueError(f"not the name of an operator: {head[1][:80]!r}")
    closing = _closing(text, head.end() - 1)
    name, _, overload = head[1].partition(".")
    arguments = []
    kwarg_only = False
    for part in _split(text[head.end() : closing]):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(_argument(part, kwarg_only))
    rest = text[closing + 1 :].strip()
    if rest and not rest.startswith("->"):
        raise ValueError(f"not an operator schema: {text.strip()[:80]!r}")
    return Schema(name, overload, tuple(arguments), _returns(rest[2:].strip()))


def _returns(text: str) -> tuple[Argument, ...]:
    if not text:
        return ()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return tuple(_argument(part, False) for part in _split(text))


def _closing(text: str, opening: int) -> int:
    depth = 0
    for match in _TOKENS.finditer(text, opening):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                return match.start()
    raise ValueError(f"not an operator schema, a parenthesis is missing: {text.strip()[:80]!r}")


def _split(text: str) -> list[str]:
    """`text` split at the commas outside brackets and quotes."""
    parts = []
    depth = last = 0
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif token == "," and depth == 0:
            parts.append(text[last : match.start()].strip())
            last = match.end()
    parts.append(text[last:].strip())
    return [part for part in parts if part]


def _argument(text: str, kwarg_only: bool) -> Argument:
    declared, _, default = text.partition("=")
    declared = declared.strip()
    annotation = ""
    if "(" in declared:
        match = _ANNOTATION.search(declared)
        if match is not None:
            annotation = match[1].strip()
            declared = declared[: match.start()] + "(" + "".join(match[1].split()) + ")" + declared[match.end() :]
    elif "!" in declared:  # spaces count for nothing there (torch/csrc/jit/frontend/schema_type_parser.cpp)
        annotation, declared = "!", _WRITTEN.sub("! ", declared).replace("! [", "![").replace("! ?", "!?").rstrip()
    kind, _, name = declared.rpartition(" ")
    if not kind:
        kind, name = name, ""
    return Argument(name, kind.strip(), default.strip(), kwarg_only, annotation)
