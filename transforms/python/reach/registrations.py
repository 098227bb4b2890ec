"""What Python registers with PyTorch's dispatcher: which functions, for which operators, and who calls them then.

A registration is followed from the call as written through the tree's own wrappers of it to the functions of
torch.library, argument by argument: a wrapper's parameter is what the wrapper hands on, whatever its name says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemod.model.operators import operator_name
from transforms.python.flow.nodes import all_nodes
from transforms.python.reach.evaluation import Evaluation
from transforms.python.reach.foreign import given_away, registers_no_operator
from transforms.python.reach.lineage import ClassPlace
from transforms.python.reach.registrars import (
    BY_KEY,
    COMPILED,
    LEFT_TO_EAGER,
    Arguments,
    Bound,
    Inner,
    Instance,
    Library,
    Local,
    Operator,
    Outside,
    Pending,
    Role,
    Scope,
    Text,
    Value,
    all_values,
    functions_of,
    names_operator,
    role_of,
)
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.registering import MAY_REGISTER, parsed_expression


class Registrations:
    """The registrations of a tree."""

    def __init__(self, tree: SourceTree) -> None:
        self.roles: dict[Definition, list[Role]] = {}
        self.lambdas: list[tuple[str, Role]] = []
        """The files that register lambdas, and as what."""
        self.operators: dict[Definition, str] = {}
        """The functions whose names stand for operators; "" where an operator's name is computed."""
        self.defined_here: set[str] = set()
        """The operators that Python defines by torch.library.define, or may define by the Library that it registers
        their kernels with."""
        self.left_to_eager: dict[Definition, bool] = {}
        """What decorators leave to eager; whether all that it calls is, too."""
        self._current: Definition | None = None
        self.tree = tree
        self._evaluation = Evaluation(tree, self)
        self._decorated: set[Definition] = set()
        self._written, self._statement = "", 1
        self._noted: list[Role] = []
        self._objects: dict[Definition, Instance] = {}
        """What a decorator makes of functions, where that is an object of the tree."""
        self._bound: list[tuple[Role, Definition, Instance]] = []
        """Methods of objects that are registered."""
        for definition in tree.definitions():
            self._decorate(definition)
        for path, facts in tree.facts.items():
            for scope, text in facts.registering.calls:
                self._written, self._statement = text.partition("(")[0], self._statement + 1
                self._evaluation.begin()
                self._evaluation.value(parsed_expression(text), Scope(path, scope), 0)
        self._settle()

    def _settle(self) -> None:
        """What all devices run is run with symbols only where its operator has no fake.

        A method that is registered runs the functions that its object holds.
        """
        for role, method, held in self._bound:
            for last in self._evaluation.called_attributes(method):
                self.note(role, [("0", held.attributes.get(last, ()))])
        faked = {_settled(role) for roles in self.roles.values() for role in roles if role.kind == "fake"}
        for definition, roles in self.roles.items():
            self.roles[definition] = [
                role._replace(traced=False) if role.kind == "default" and _settled(role) in faked else role
                for role in roles
            ]

    def _decorate(self, definition: Definition) -> None:
        if definition in self._decorated:
            return
        self._decorated.add(definition)
        scope = Scope(definition.path, definition.function.name.rpartition(".")[0])
        around = self._written, self._statement, self._current
        self._current = definition
        self._statement = -len(self._decorated)
        for text in reversed(definition.function.decorators):
            self._written = "@" + text.partition("(")[0]
            self._evaluation.begin()
            if text and self._may_register(self._written[1:], scope):
                for value in self._evaluation.value(parsed_expression(text), scope, 0):
                    before = len(self._noted)
                    for result in self._evaluation.apply(value, [("0", (Local(definition),))], 0):
                        if isinstance(result, Operator):
                            self.operators[definition] = result.name
                        elif isinstance(result, Instance) and len(self._noted) > before:
                            self._objects[definition] = result
                            names = {role.operator for role in self._noted[before:] if role.operator}
                            self.operators[definition] = names.pop() if len(names) == 1 else ""
        self._written, self._statement, self._current = around

    def _may_register(self, callee: str, scope: Scope) -> bool:
        if MAY_REGISTER.search(callee.rpartition(".")[2]):
            return True
        made = (Local, Inner, Bound, Pending, ClassPlace, Instance)
        return any(
            isinstance(value, made) or (isinstance(value, Outside) and LEFT_TO_EAGER.fullmatch(value.name))
            for value in self._evaluation.named(callee, scope, 0)
        )

    def left(self, functions: Iterable[Value], recursive: bool) -> None:
        """Note what a decorator leaves to eager; by a call another name may be meant."""
        if self._current is not None and any(value == Local(self._current) for value in functions):
            self.left_to_eager[self._current] = recursive

    def defined(self, schemas: Iterable[str]) -> None:
        """An operator gets its schema."""
        self.defined_here.update(schema.partition("(")[0].partition(".")[0].strip() for schema in schemas)

    def object_of(self, definition: Definition) -> Instance | None:
        """What its decorators make of a function, where that is an object of the tree."""
        self._decorate(definition)
        return self._objects.get(definition)

    def registered(self, callee: Outside, name: str, arguments: Arguments) -> tuple[Value, ...]:
        """What a call of one of PyTorch's registrars gives."""
        decorated = self._current
        if decorated and registers_no_operator(self.tree, decorated.path, self._written.lstrip("@"), arguments):
            return ()
        results: list[Value] = []
        for role in self._roles(callee, name, arguments):
            results += (value for value in self.note(role, arguments) if value not in results)
            if not (role.opaque and functions_of(arguments)):
                results.append(Pending(role))
        return tuple(results)

    def _roles(self, callee: Outside, name: str, arguments: Arguments) -> Iterator[Role]:
        """What a registration makes of its functions, for each operator that it may name."""
        if callee.name in COMPILED:
            yield Role(f"compiled by {self._written}", True, inlined=True, statement=self._statement)
            return
        operators, rest = self._operators(name, callee.receiver, arguments)
        if any(isinstance(value, Library) and value.defines for value in (callee.receiver, *all_values(arguments))):
            self.defined_here.update(operators)
        for operator in operators or ("",):
            plain = Role(f"registered by {self._written}", True, statement=self._statement, operator=operator)
            yield role_of(plain, callee, name, rest, arguments)

    def _operators(self, name: str, receiver: Value | None, arguments: Arguments) -> tuple[tuple[str, ...], Arguments]:
        """The operators that a registration may name, and the arguments behind the name but for functions."""
        rest = [
            (slot, values)
            for slot, values in arguments
            if not any(isinstance(v, (Local, Inner, Bound)) for v in values)
        ]
        namespace = receiver.namespace if isinstance(receiver, Library) else ""
        if isinstance(receiver, Operator):
            return (receiver.name,), rest
        if isinstance(receiver, Pending):
            return (receiver.role.operator,), rest
        if isinstance(receiver, Local):
            meant = (receiver.definition, *self.tree.namesakes(receiver.definition))
            for definition in meant:
                self._decorate(definition)
            return tuple(dict.fromkeys(filter(None, map(self.operators.get, meant)))), rest
        if name == "py_impl":
            return (), rest  # an object of the tree's own, as a HigherOrderOperator
        library = next((value for value in all_values(rest) if isinstance(value, Library)), None)
        positional = [values for slot, values in rest if slot.isdigit()]
        if name in BY_KEY and receiver is None and len(positional) > 1 and not names_operator(positional[0]):
            rest = rest[1:]  # torch.library.impl(lib, name, key), as it was written first
        names: dict[str, None] = {}
        for value in rest[0][1] if rest else ():
            if isinstance(value, Operator):
                names[value.name] = None
            elif isinstance(value, Text):
                written = value.text.partition("(")[0]
                named = operator_name(written, namespace or (library.namespace if library else ""))
                if "::" in named:
                    names[named.partition(".")[0]] = None
        return tuple(names), rest[1:]

    def note(self, role: Role, arguments: Arguments) -> tuple[Value, ...]:
        """What a registration gives for the functions that it gets."""
        functions = functions_of(arguments)
        self._noted.append(role)
        if role.inlined:
            methods = [self._evaluation.forward(value) for value in all_values(arguments)]
            if modules := tuple(method for method in methods if method is not None):
                self.note(role._replace(eager=True), [("0", modules)])
        for value in all_values(arguments):
            if isinstance(value, Bound) and isinstance(value.function, Local):
                held = (v for _, values in value.arguments for v in values if isinstance(v, Instance))
                self._bound += [(role, value.function.definition, instance) for instance in held]
        for function in functions:
            definition = function.definition if isinstance(function, Local) else self._inner(function)
            if definition is not None and role not in self.roles.setdefault(definition, []):
                self.roles[definition].append(role)
            if definition is None and isinstance(function, Inner) and function.scope.names is None:
                self.lambdas.append((function.scope.path, role))
            elif isinstance(function, Inner) and function.scope.names is not None:
                away = given_away(self.tree, function)
                for node in all_nodes([function.node]):  # the wrapper's parameters that it calls, or passes on
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in away:
                        passed = function.scope.names.get(node.id, ())
                        self.note(role, [("0", tuple(value for value in passed if isinstance(value, Local)))])
        return (Operator(role.operator),) if role.opaque and functions else functions

    def _inner(self, function: Value) -> Definition | None:
        """The definition of a function inside a wrapper."""
        if not isinstance(function, Inner) or isinstance(function.node, ast.Lambda):
            return None
        name = ".".join(filter(None, (function.scope.function, function.node.name)))
        return self.tree.definition(function.scope.path, name)


def _settled(role: Role) -> str | int:
    return role.operator or role.statement
