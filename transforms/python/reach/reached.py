"""Which functions a symbolic tensor reaches, by which path, and what their parameters then are.

Entry points are what PyTorch calls with symbolic sizes: meta, fake and decomposition registrations, the references, the
composite Python that Dynamo traces through (`torch.nn.functional` and its kin), and in user code what is compiled or
exported. Everything those call is reached too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codemod.model.findings import Root, Step
from codemod.model.transform import TracedLine
from transforms.python.flow.annotations import of_root
from transforms.python.flow.imported import usual_text
from transforms.python.flow.values import A_TENSOR, NOTHING, SOME_TENSORS, Value
from transforms.python.reach.applied import BACKWARD
from transforms.python.reach.exported import exported, is_forward
from transforms.python.reach.named import NamedIn, names_nothing, namings
from transforms.python.reach.naming import Declared, decorated_operators, name_functions
from transforms.python.reach.registrars import API, Role
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.traced import traced_at
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reach.wrappers import wrappers
from transforms.python.reading.facts import NO_BODY, Body
from transforms.python.reading.registering import MAY_REGISTER, last_name
from transforms.python.reading.sympy_calls import SympyCalls

COMPILED = re.compile(
    r"^(?:torch\.compile|compile|torch\.compiler\.\w+|torch\._dynamo\.optimize|torch\.export\.export)\b"
)
NOT_COMPILED = re.compile(r"\b(?:disable|_disable_dynamo|ignore|unused)\b")
DISABLED = re.compile(r"^(?:\w+\.)*(?:disable|_disable_dynamo)\b(?!.*\brecursive=False)")
"""Where Dynamo leaves a function to eager, with all that it calls."""
SCRIPTS = re.compile(r"^torch\.(?:jit|_jit_internal)\..*?_?script(?:_method|_if_tracing)?$")
"""The decorators that hand a function to TorchScript."""
LOWERING = re.compile(r"\b(?:register_)?lowering$")
"""Why a function is reached that Inductor calls to lower an operator."""
EXCUSED = re.compile(r"\b(?:_jit_)?(?:unused|ignore)\b")
# Folders and files of PyTorch whose functions run under fake tensors without being registered one by one.
TRACED = re.compile(r"^torch/(?:_refs|_prims|_prims_common|_decomp)/|^torch/_meta_registrations\.py$")
# Python that composes operators of others, which Dynamo inlines into the graph it makes.
COMPOSITE = re.compile(r"^torch/(?:functional|nn/functional|_lowrank|_linalg_utils|_tensor)\.py$|^torch/masked/")
# Kernels, graphs, tools and tests, which see numbers; of Inductor all but decompositions, and lowerings for guards.
ELSEWHERE = re.compile(
    r"^torch/(?:_inductor(?!/(?:decomposition|lowering)\.py$)|_(?:dynamo|native|vendor|library)|testing|fx|utils|onnx"
    r"|ao|jit|_?export|distributed|multiprocessing|cuda|mps|xpu|backends|package|nn/parallel)/"
    r"|^torch/_prims/debug_prims\.py$"
)
# What runs while PyTorch traces or compiles.
FOR_COMPILERS = re.compile(
    r"^torch/(?:_inductor|_dynamo|_functorch|_higher_order_ops|_subclasses|_library|_export|export|fx|onnx|_refs|_prims"
    r"|_prims_common|_decomp)/|^torch/_meta_registrations\.py$"
)
TESTS = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_\w+|\w+_test|conftest)\.py$")


@dataclass(slots=True)
class Reached:
    """A function that symbols reach: its parameters' values, and who called it first.

    `inlined` says that Dynamo traces its Python, so that a message may not close over sizes; `exported` that
    torch.export runs it itself; `eager` that eager runs it too; `root` what kind of entry point it is reached from.
    """

    definition: Definition
    why: str
    inlined: bool
    eager: bool
    root: Root
    caller: Reached | None = None
    exported: bool = False
    body: Body = NO_BODY
    parameters: dict[str, Value] = field(default_factory=dict)
    returns: Value = NOTHING
    operators: set[str] = field(default_factory=set)
    """What the function is registered for, or else all that run it."""

    def path(self) -> tuple[Step, ...]:
        """The way from the entry point to this function."""
        steps: list[Step] = []
        reached: Reached | None = self
        while reached is not None:
            steps.append(
                Step(
                    reached.definition.path,
                    reached.definition.function.line,
                    f"{reached.definition.function.name}: {reached.why}",
                )
            )
            reached = reached.caller
        return tuple(reversed(steps))


class _Folder(NamedTuple):
    """What is known of a function by where it stands."""

    apart: bool
    """No symbol reaches it."""
    traced: bool
    composite: bool


@functools.cache
def _folder(where: str) -> _Folder:
    return _Folder(*(pattern.search(where) is not None for pattern in (ELSEWHERE, TRACED, COMPOSITE)))


def entry(tree: SourceTree, definition: Definition, roles: Sequence[Role]) -> tuple[str, bool, bool, Root] | None:
    """Why PyTorch calls this function with symbols, whether Dynamo inlines it and eager runs it, and what it is."""
    function, path = definition.function, definition.path
    where = tree.import_path(path)
    if any(NOT_COMPILED.search(decorator) for decorator in function.decorators):
        return None
    if function.name in tree.facts[path].left_to_eager:
        return None
    apart, of_traced, of_composites = _folder(where)
    traced = [role for role in roles if role.traced and not apart]
    in_place = of_traced and "." not in function.name and not apart
    if traced:
        eager = not in_place and any(role.eager or not role.traced for role in roles)
        root = Root.COMPILED if all(role.inlined for role in traced) else Root.OPERATOR
        return traced[0].why, any(role.inlined for role in traced), eager, root
    for decorator in function.decorators:
        if COMPILED.search(decorator):
            return f"compiled by @{decorator.partition('(')[0]}", True, False, Root.COMPILED
    if apart or roles:
        return None
    if in_place:
        return "a reference, meta or decomposition", False, False, Root.OPERATOR
    if of_composites and "." not in function.name:
        return "a composite that torch.compile traces", True, True, Root.OPERATOR
    if is_forward(tree, definition):
        return f"the {function.own_name} of a module", True, True, Root.MODULE
    return None


def reach(
    tree: SourceTree,
    registrations: Registrations | None = None,
    declared: Declared = frozenset,
    named_in: NamedIn = names_nothing,
    traced: Collection[TracedLine] = (),
) -> dict[Definition, Reached]:
    """Every function that symbols reach; `declared` says which names are operators', `named_in` what files name.

    Functions with lines that a running torch has `traced` are reached, whether or not the tree shows by which way.
    What parameters hold beside what a function is registered with, `follow` tells.
    """
    registrations = registrations or Registrations(tree)
    functions: dict[Definition, Reached] = {}
    queues: dict[Root, list[Reached]] = {root: [] for root in Root}
    called: dict[Definition, dict[Definition, None]] = {}

    def add(
        definition: Definition, why: str, inlined: bool, eager: bool, root: Root, caller: Reached | None = None
    ) -> None:
        reached = functions.get(definition)
        if reached is None:
            functions[definition] = reached = Reached(definition, why, inlined, eager, root, caller)
            queues[root].append(reached)
        elif (inlined and not reached.inlined) or (eager and not reached.eager) or root < reached.root:
            reached.inlined |= inlined
            reached.eager |= eager
            if root < reached.root:
                reached.root, reached.why, reached.caller = root, why, caller
            queues[reached.root].append(reached)

    for definition in tree.definitions():
        roles = registrations.roles.get(definition, ())
        left = definition in registrations.left_to_eager
        called_by_torch = entry(tree, definition, roles) if not left else None
        if called_by_torch is not None:
            add(definition, *called_by_torch)
            names = {*decorated_operators(definition.function), *(role.operator for role in roles)}
            functions[definition].operators |= names - {""}
            if any(role.traced and not role.inlined for role in roles):
                _seed(functions[definition], tree.meanings(definition.path))

    def spread() -> None:
        while queue := next(filter(None, queues.values()), None):  # the way from an operator says most
            reached = queue.pop()
            reaches, why = called.setdefault(reached.definition, {}), f"called by {reached.definition.function.name}"
            for name in reached.definition.function.traced_calls:
                for method in tree.overriding(reached.definition, name):
                    left = reached.inlined and _left_to_eager(tree, method)
                    if not left and not _folder(tree.import_path(method.path)).apart:
                        add(method, why, reached.inlined, reached.eager, reached.root, reached)
                        reaches[method] = None
                callee = tree.resolve(reached.definition, name)
                if callee is None or _folder(tree.import_path(callee.path)).apart:
                    continue
                if callee in registrations.operators:
                    continue  # the dispatcher calls its fake
                if reached.inlined and (_left_to_eager(tree, callee) or registrations.left_to_eager.get(callee)):
                    continue
                if tree.import_path(callee.path) == "torch/__init__.py":
                    continue  # the sym_* functions themselves
                inlined = reached.inlined and not _folder(tree.import_path(callee.path)).traced
                how = (why, inlined, reached.eager)
                add(callee, *how, reached.root, reached)
                reaches |= dict.fromkeys((callee, *tree.namesakes(callee)))
                for namesake in tree.namesakes(callee):
                    fresh = namesake not in functions
                    add(namesake, *how, reached.root, reached)
                    if fresh:
                        functions[namesake].parameters = functions[callee].parameters
                for method in tree.applied(reached.definition, name)[1:]:
                    if reached.inlined and _left_to_eager(tree, method):
                        continue
                    fresh = method not in functions
                    add(method, f"goes with {callee.function.name}", *how[1:], reached.root, functions[callee])
                    reaches[method] = None
                    if fresh and method.function.own_name == BACKWARD:
                        _seed_gradients(functions[method])

            for wrapper, decorator in wrappers(tree, reached.definition):
                how = (f"made by @{decorator} of {reached.definition.function.name}", reached.inlined, reached.eager)
                add(wrapper, *how, reached.root, reached)

    spread()
    for definition, line in traced_at(tree, traced):
        if definition not in functions and not _folder(tree.import_path(definition.path)).apart:
            add(definition, f"torch came to line {line}", True, True, Root.TRACED)
    spread()
    entries = [d for d, found in functions.items() if found.root == Root.TRACED or is_forward(tree, d)]
    for definition in exported(entries, called):
        functions[definition].exported = functions[definition].root != Root.OPERATOR
    _note_eager_callers(tree, functions, registrations, named_in)
    _name(tree, functions, called, declared)
    return functions


def _note_eager_callers(
    tree: SourceTree, functions: Mapping[Definition, Reached], registrations: Registrations, named_in: NamedIn
) -> None:
    """Note what is called or named where no symbol reaches, by what runs neither for a compiler nor for a test."""
    helpers = {
        d for d, reached in functions.items() if not reached.eager and not _folder(tree.import_path(d.path)).traced
    }
    names = {definition.function.own_name for definition in helpers}
    elsewhere = {
        path for path in tree.facts if not (FOR_COMPILERS.search(tree.import_path(path)) or TESTS.search("/" + path))
    }
    dispatched = {d for d, roles in registrations.roles.items() if all(role.dispatched for role in roles)}
    queue: list[Definition] = [
        callee
        for definition in tree.definitions()
        if definition not in functions and definition.path in elsewhere
        for name in definition.function.calls
        if last_name(name) in names or tree.may_apply(name)
        for callee in _run(tree, definition, name)
        if callee in helpers and not (callee in dispatched and _registers(tree, definition, name))
    ]
    compiled = {d for d in helpers if functions[d].root == Root.COMPILED and functions[d].caller is None}
    named = namings(tree, helpers - compiled, registrations.roles.keys(), elsewhere, named_in)
    queue += (
        meant
        for scope, meanings in named.items()
        if scope is None or scope not in functions or functions[scope].eager
        for meant in meanings
    )
    while queue:
        reached = functions[queue.pop()]
        if not reached.eager:
            reached.eager = True
            callees = (_run(tree, reached.definition, name) for name in reached.definition.function.calls)
            queue += (callee for several in callees for callee in several if callee in helpers)
            queue += named.get(reached.definition, ())


def _registers(tree: SourceTree, scope: Definition, name: str) -> bool:
    """Whether a function passes another one to what may register it, as `def setup(): register_fake("my::op", f)`."""
    passing = (p for p in tree.facts[scope.path].passing if p[0] == scope.function.name and p[2] == name)
    return any(MAY_REGISTER.search(last_name(callee)) for _, callee, _ in passing)


def _run(tree: SourceTree, caller: Definition, callee: str) -> tuple[Definition, ...]:
    """What of the tree `callee` means inside `caller`, with what goes with it where that is `apply`."""
    meant = tree.resolve(caller, callee)
    return () if meant is None else tree.applied(caller, callee) or (meant,)


def _left_to_eager(tree: SourceTree, callee: Definition) -> bool:
    """Whether Dynamo leaves a function, and all that it calls, to eager."""
    if callee.function.name in tree.facts[callee.path].left_to_eager:
        return True
    return any(DISABLED.search(decorator) for decorator in callee.function.decorators)


def _name(
    tree: SourceTree,
    functions: Mapping[Definition, Reached],
    called: Mapping[Definition, Iterable[Definition]],
    declared: Declared,
) -> None:
    entries = {definition: reached for definition, reached in functions.items() if reached.caller is None}
    places = {definition: tree.import_path(definition.path) for definition in entries}
    composite = {definition for definition, where in places.items() if COMPOSITE.search(where)}
    in_place = {definition: where for definition, where in places.items()
                if definition in composite or TRACED.search(where)}  # fmt: skip
    public = {definition for definition in composite if not definition.function.own_name.startswith("_")}
    operators = {definition: reached.operators for definition, reached in functions.items()}
    helpers = name_functions(operators, called, in_place, public, declared)
    callers = sorted(entries.keys() - helpers, key=lambda entry: (entry.path, entry.function.line))
    for caller in callers:  # grows by each helper once, so that no way leads in a circle
        for helper in sorted(helpers.intersection(called.get(caller, ())), key=lambda helper: helper.function.line):
            helpers.remove(helper)
            callers.append(helper)
            functions[helper].caller, functions[helper].why = functions[caller], f"called by {caller.function.name}"


def _seed(reached: Reached, meant: Mapping[str, str]) -> None:
    function = reached.definition.function
    named = dict(function.parameters) | ({function.rest: ""} if function.rest else {})
    reached.parameters |= {name: of_root(usual_text(text, meant), name) for name, text in named.items()}


def _seed_gradients(reached: Reached) -> None:
    """What autograd gives to `backward`: a context, and Tensors."""
    function = reached.definition.function
    own = 1 + ("classmethod" in function.decorators)
    reached.parameters |= {name: A_TENSOR for name, _ in function.parameters[own:]}
    reached.parameters |= {function.rest: SOME_TENSORS} if function.rest else {}


def given_sympy(
    tree: SourceTree, functions: Mapping[Definition, Reached], with_sympy: Sequence[SympyCalls]
) -> set[Definition]:
    """The functions that files which work with sympy expressions call, and what those call in their own files.

    And Inductor's lowerings, which get its own buffers, whose sizes are such expressions, with all that they call.
    """
    lowering = {d for d, reached in functions.items() if reached.caller is None and LOWERING.search(reached.why)}
    result = lowering | {
        definition
        for definition in functions
        if any(
            definition.function.name in calls.names and tree.module_name(definition.path) in calls.modules
            for calls in with_sympy
        )
    }
    queue = list(result)
    while queue:
        definition = queue.pop()
        for name in definition.function.calls:
            callee = tree.resolve(definition, name)
            if callee is None or callee not in functions:
                continue
            lowered = definition in lowering and callee not in lowering
            if lowered or (callee not in result and callee.path == definition.path):
                result.add(callee)
                lowering.update([callee] * lowered)
                queue.append(callee)
    return result


def _scripts(tree: SourceTree, path: str, decorator: str) -> bool:
    """Whether a decorator of a method or an inner function hands it to TorchScript."""
    head, _, rest = decorator.partition("(")[0].partition(".")
    return SCRIPTS.search(".".join(filter(None, (tree.imported(path, head) or head, rest)))) is not None


def scripted(tree: SourceTree, functions: Mapping[Definition, Reached]) -> set[Definition]:
    """The functions that TorchScript reads.

    A file may be written for it; decompositions may be handed to it by their operator; and it reads what those call.
    """
    operators = {name for facts in tree.facts.values() for name in facts.scripted_operators}
    named = re.compile(rf"\baten\.(?:{'|'.join(map(re.escape, sorted(operators)))})\b") if operators else None
    queue = []
    for definition in functions:
        function = definition.function
        if any(EXCUSED.search(decorator) for decorator in function.decorators):
            continue
        if "." in function.name and not any(_scripts(tree, definition.path, text) for text in function.decorators):
            continue
        registered = named is not None and any(
            named.search(decorator)
            for decorator in function.decorators
            if last_name(decorator.partition("(")[0]) in API
        )
        if registered or tree.facts[definition.path].scripted:
            queue.append(definition)
    result = set(queue)
    while queue:
        definition = queue.pop()
        for name in definition.function.calls:
            for callee in (tree.resolve(definition, name), *tree.overriding(definition, name)):
                if callee is None or callee not in functions or callee in result:
                    continue
                if not any(EXCUSED.search(decorator) for decorator in callee.function.decorators):
                    result.add(callee)
                    queue.append(callee)
    return result
