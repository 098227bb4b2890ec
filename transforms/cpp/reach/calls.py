"""Which functions of the tree a call means: by name, scope, argument count and visibility."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transforms.cpp.reading.facts import Call, Function

_WORD = re.compile(r"[A-Za-z_]\w*")
_TEMPLATE = re.compile(r"<.*>")
# Folders whose code runs for one backend only; see `dispatch:` in native_functions.yaml for what enters them.
BACKEND_FOLDERS = frozenset(
    ("cuda", "hip", "cpu", "xpu", "mps", "metal", "vulkan", "mkldnn", "mkl", "miopen", "cudnn", "xnnpack", "nnapi")
) | {"quantized", "ao_sparse", "nested", "qnnpack", "hexagon", "kleidiai"}
_FAR = 1_000
_KERNEL_FEATURES = frozenset(("dispatch", "parallel", "data_ptr", "accessor", "launch"))


def backend_folder(path: str) -> str:
    """The folder down to and including the first part that names a backend, "" where none does."""
    parts = path.split("/")[:-1]
    for index, part in enumerate(parts):
        if part in BACKEND_FOLDERS:
            return "/".join(parts[: index + 1])
    return ""


def is_kernel(function: Function) -> bool:
    """Whether the body reads memory, picks a scalar type or launches a device's kernel.

    No function that symbolic tensors reach can do that.
    """
    return bool(function.structured) or not _KERNEL_FEATURES.isdisjoint(function.features)


def is_autograd_function(function: Function, *names: str) -> bool:
    """Whether it is a method, `forward` or `backward` or one of `names`, of a torch::autograd::Function."""
    return function.name in (names or ("forward", "backward")) and bool(
        function.parent and function.params and "AutogradContext" in function.params[0].type
    )


def called_as(function: Function) -> str:
    """The name that calls of a function end with: `Class::apply` for the forward of an autograd function."""
    return f"{function.parent}::apply" if is_autograd_function(function, "forward") else function.name


def space(function: Function) -> str:
    """The namespace of a function, with its class."""
    return function.qualified.rpartition("::")[0]


def encloses(function: Function, caller: Function) -> bool:
    """Whether a function is in a namespace or class around a caller, where a name alone finds it first."""
    return not space(function) or f"{caller.qualified}::".startswith(f"{space(function)}::")


def named(functions: Iterable[Function], name: str, caller: Function) -> list[Function]:
    """Those of `functions` with bodies that `name`, as a caller writes it, may mean; the nearest ones alone."""
    meant = {f for f in functions if f.body >= 0 and f"::{f.qualified}".endswith(f"::{name}")}
    return [f for f in meant if encloses(f, caller)] or list(meant)


def called_names(function: Function) -> set[str]:
    """What `called_as` may say of the functions that it calls."""
    names: set[str] = set()
    for call in function.calls:
        parts = _TEMPLATE.sub("", call.callee).split("::")
        names.add("::".join(parts[-2:]) if parts[-1] == "apply" and len(parts) > 1 else parts[-1])
    return names


@dataclass(frozen=True, slots=True)
class KernelsAlone(Container[object]):
    """Those of the names in `functions` that kernels have, and nothing else that is defined.

    Libraries call them so; PyTorch's own code calls kernels through stubs and the dispatcher.
    """

    functions: Mapping[str, Iterable[Function]]

    def __contains__(self, name: object) -> bool:
        defined = [function for function in self.functions.get(str(name), ()) if function.body >= 0]
        return bool(defined) and all(map(is_kernel, defined))


def comes_to_kernel(function: Function, operators: Container[object]) -> bool:
    """Whether the body builds a TensorIterator, reads a value, or may call a kernel: a stub, or one of `operators`."""
    names = (call.callee.rpartition("::")[2] for call in function.calls)
    return not function.features.isdisjoint(("iterator", "item")) or any(
        name.endswith("_stub") or name in operators for name in names
    )


class Index:
    """The function definitions of a tree, found by name and by call."""

    def __init__(
        self, functions: Iterable[Function], operators: frozenset[str], members: Iterable[tuple[str, str, str]] = ()
    ) -> None:
        """`functions` are definitions; `operators` the names of operators in C++, whose calls go to the dispatcher.

        `members` are the data members of classes, as in FileFacts.
        """
        self.member_types: dict[str, set[str]] = {}
        for owner, _, kind in members:
            self.member_types.setdefault(owner, set()).update(_words(kind))
        self.operators = operators
        self.by_name: dict[str, list[Function]] = {}
        for function in functions:
            self.by_name.setdefault(function.name, []).append(function)

    def named(self, written: str, near: str = "") -> list[Function]:
        """The definitions that a qualified or plain name may mean, those in the file `near` alone if it has some."""
        parts = _TEMPLATE.sub("", written).strip(":").split("::")
        definitions = self.by_name.get(parts[-1], [])
        strict = [f for f in definitions if f.qualified.split("::")[-len(parts) :] == parts]
        definitions = strict or [f for f in definitions if _in_scope(f, parts[:-1])]
        local = [f for f in definitions if f.path == near]
        return local or [f for f in definitions if not f.internal]

    def callees(self, caller: Function, calls: Iterable[Call]) -> Iterator[tuple[Call, list[Function]]]:
        """Each of a function's calls with the definitions it may run; none where it goes through the dispatcher.

        A method is only taken for the callee where its class is known to be about: defined in the same file, or named
        by a parameter, a member of the caller's class, an earlier call or the result of one.
        """
        types = {caller.parent, *_words(caller.returns), *self.member_types.get(caller.parent, ())}
        for param in caller.params:
            types.update(_words(param.type))
        for call in calls:
            callees = self._called(caller, call, types)
            types.update(_words(call.callee))
            for function in callees:
                types.update(_words(function.returns))
            yield call, callees

    def _called(self, caller: Function, call: Call, types: set[str]) -> list[Function]:
        parts = _TEMPLATE.sub("", call.callee).strip(":").split("::")
        name = parts[-1]
        if name == "apply" and len(parts) > 1:
            return self._autograd_functions(caller, parts[-2])
        candidates = self.by_name.get(name)
        if not candidates:
            return []
        if call.member:
            near = (f for f in candidates if f.parent and (f.path == caller.path or f.parent in types))
            # Those of an autograd function are static, and called by `apply`: an object's `forward` is another.
            definitions = [f for f in near if not is_autograd_function(f)]
            if name in self.operators:  # a Tensor's, unless a class of this file is about that has one of this form
                own = [f for f in definitions if f.path == caller.path and f.parent in types]
                definitions = [f for f in own if len(f.params) == call.arguments]
        elif len(parts) > 1:
            if parts[-2] in ("at", "symint", "redispatch", "_ops") and name in self.operators:
                return []
            definitions = [f for f in candidates if _in_scope(f, parts[:-1])]
        else:
            if name in self.operators and "native" not in caller.qualified.split("::"):
                return []
            definitions = [f for f in candidates if f.parent in ("", caller.parent) or f.name == f.parent]
            definitions = [f for f in definitions if _findable(caller, f)]
        definitions = [f for f in definitions if f is not caller and self._visible(caller, f)]
        return _best(caller, call, definitions)

    def _autograd_functions(self, caller: Function, parent: str) -> list[Function]:
        methods = [f for n in ("forward", "backward") for f in self.by_name.get(n, ()) if f.parent == parent]
        local = [f for f in methods if f.path == caller.path]
        return local or methods

    def _visible(self, caller: Function, function: Function) -> bool:
        if caller.path == function.path:
            return not backend_folder(function.path)
        if function.internal and not function.path.endswith((".h", ".hpp", ".cuh", ".inl")):
            return False
        return not backend_folder(function.path)


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _in_scope(function: Function, qualifiers: Sequence[str]) -> bool:
    """Whether the function's scope ends with the qualifiers, an inner namespace allowed to be left out."""
    if not qualifiers:
        return True
    scope = function.qualified.split("::")[:-1]
    if scope[-len(qualifiers) :] == list(qualifiers):
        return True
    return not function.parent and bool(scope) and qualifiers[-1] in scope and qualifiers[-1] != "at"


def _findable(caller: Function, function: Function) -> bool:
    """Whether an unqualified name finds the function: in an enclosing or neighbouring scope, or by its arguments."""
    scope = function.qualified.split("::")[: -2 if function.parent else -1]
    return scope in ([], ["at"], ["c10"]) or scope[:2] == caller.qualified.split("::")[: len(scope[:2])]


def _fits(function: Function, arguments: int) -> bool:
    return arguments <= len(function.params) or any("..." in p.type for p in function.params)


def _takes_literals(function: Function, call: Call) -> bool:
    """Whether no string literal is given to a Tensor, so that overloads of as many parameters can be told apart."""
    types = [function.params[index].type for index in call.literals if index < len(function.params)]
    return not any(re.search(r"\bTensor\b(?!\w*>)", kind) for kind in types)


def _best(caller: Function, call: Call, candidates: list[Function]) -> list[Function]:
    """Those of the nearest scope, then those of them whose parameters are as many as the arguments."""
    fitting = [f for f in candidates if _fits(f, call.arguments) and _takes_literals(f, call)]
    if not fitting:
        return []
    ranks = [_distance(caller, f) for f in fitting]
    nearest = min(ranks)
    near = [f for f, rank in zip(fitting, ranks, strict=True) if rank == nearest]
    exact = [f for f in near if len(f.params) == call.arguments]
    return exact or near


def _distance(caller: Function, function: Function) -> int:
    if caller.path == function.path:
        return 0
    if function.parent:  # classes of one name: that of the innermost namespace around the caller
        scope, around = (f.qualified.split("::")[: -2 if f.parent else -1] for f in (function, caller))
        return 1 + len(around) - len(scope) if around[: len(scope)] == scope else _FAR
    space = function.qualified.rpartition("::")[0]
    return 1 if space and caller.qualified.startswith(space + "::") else _FAR
