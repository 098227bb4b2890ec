"""What Python registers with PyTorch's dispatcher: which functions, for which operators, and who calls them then.

A registration is followed from the call as written through the tree's own wrappers of it to the functions of
torch.library, argument by argument: a wrapper's parameter is what the wrapper hands on, whatever its name says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemod.model.operators import operator_name
from transforms.python.flow.nodes import dotted
from transforms.python.reach import texts
from transforms.python.reach.registrars import (
    API,
    BY_KEY,
    COMPILED,
    CONCRETE,
    DEPTH,
    DISPATCHED,
    EAGER_TOO,
    FAKES,
    OPERATOR,
    OPERATORS,
    TRACED_KEY,
    Arguments,
    Bound,
    Inner,
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
    key_of,
    named_by,
    names_operator,
    with_bound,
)
from transforms.python.reach.tree import Definition, SourceTree, tree_path
from transforms.python.reading.registering import MAY_REGISTER, last_name, parsed_expression, parsed_function


class Registrations:
    """The registrations of a tree."""

    def __init__(self, tree: SourceTree) -> None:
        self.roles: dict[Definition, list[Role]] = {}
        self.lambdas: list[tuple[str, Role]] = []
        """The files that register lambdas, and as what."""
        self.operators: dict[Definition, str] = {}
        """The functions whose names stand for operators; "" where an operator's name is computed."""
        self._tree = tree
        self._bindings: dict[tuple[str, str, str], list[str]] = {}
        self._wrappers: dict[tuple[str, str], str] = {}
        self._decorated: set[Definition] = set()
        self._written, self._statement = "", 1
        for path, facts in tree.facts.items():
            self._wrappers.update({(path, name): text for name, text in facts.registering.wrappers})
            for scope, name, text in facts.registering.bindings:
                self._bindings.setdefault((path, scope, name), []).append(text)
        for definition in tree.definitions():
            self._decorate(definition)
        for path, facts in tree.facts.items():
            for scope, text in facts.registering.calls:
                self._written, self._statement = text.partition("(")[0], self._statement + 1
                self._value(parsed_expression(text), Scope(path, scope), 0)
        self._settle()

    def _settle(self) -> None:
        """What all devices run is run with symbols only where its operator has no fake."""
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
        around = self._written, self._statement
        self._statement = -len(self._decorated)
        for text in reversed(definition.function.decorators):
            self._written = "@" + text.partition("(")[0]
            if text and self._may_register(self._written[1:], scope):
                for value in self._value(parsed_expression(text), scope, 0):
                    for result in self._apply(value, [("0", (Local(definition),))], 0):
                        if isinstance(result, Operator):
                            self.operators[definition] = result.name
        self._written, self._statement = around

    def _may_register(self, callee: str, scope: Scope) -> bool:
        if MAY_REGISTER.search(callee.rpartition(".")[2]):
            return True
        return any(isinstance(value, (Local, Inner, Bound, Pending)) for value in self._named(callee, scope, 0))

    def _value(self, node: ast.expr, scope: Scope, depth: int) -> tuple[Value, ...]:
        """All that an expression may be, as far as registrations go."""
        if depth > DEPTH:
            return ()
        match node:
            case ast.Constant(value=str() | int() as text) if not isinstance(text, bool):
                return (Text(str(text)),)
            case ast.JoinedStr(values=pieces):
                return texts.joined([self._value(piece, scope, depth + 1) for piece in pieces])
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._value(value, scope, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return texts.joined([self._value(piece, scope, depth + 1) for piece in (left, right)])
            case ast.Subscript(value=value, slice=index):
                return texts.part(self._value(value, scope, depth + 1), index)
            case ast.BoolOp(op=ast.Or(), values=values):  # what is known is no None
                return next(filter(None, (self._value(value, scope, depth + 1) for value in values)), ())
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return tuple(value for inner in values for value in self._value(inner, scope, depth + 1))
            case ast.IfExp(body=body, orelse=orelse):
                return (*self._value(body, scope, depth + 1), *self._value(orelse, scope, depth + 1))
            case ast.Lambda():
                return (Inner(node, scope),)
            case ast.Call():
                slots = [(str(index), argument) for index, argument in enumerate(node.args)]
                slots += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
                arguments = [(slot, self._value(argument, scope, depth + 1)) for slot, argument in slots]
                callees = self._value(node.func, scope, depth + 1)
                return tuple(value for callee in callees for value in self._apply(callee, arguments, depth + 1))
            case ast.Attribute(value=ast.Call() | ast.Constant() as receiver, attr=name):
                return tuple(Outside(name, value) for value in self._value(receiver, scope, depth + 1))
            case ast.Name() | ast.Attribute():
                return self._named(dotted(node), scope, depth)
        return ()

    def _named(self, name: str, scope: Scope, depth: int) -> tuple[Value, ...]:
        """What a dotted name may be."""
        if not name or depth > DEPTH:
            return ()
        if scope.names is not None and name in scope.names:
            return scope.names[name]
        if last_name(name) not in API and (match := OPERATOR.fullmatch(name)) is not None:
            return (Operator(f"{match[1] or match[2]}::{match[3]}"),)
        head, _, last = name.rpartition(".")
        if head and last in ("__name__", "ns"):
            return tuple(filter(None, map(named_by, self._named(head, scope, depth + 1))))
        if name in API and self._of_torch(scope.path):
            return (Outside(name),)
        values: list[Value] = []
        caller = self._tree.definition(scope.path, scope.function)
        definition = self._tree.resolve(caller, name) if caller else self._tree.globally(scope.path, name)
        if definition is not None:
            absolute = f"{self._tree.module_name(definition.path)}.{definition.function.name}"
            if absolute in COMPILED or (definition.function.name in API and self._of_torch(definition.path)):
                return (Outside(absolute),)
            values.append(Local(definition))
        holder = scope.function
        while not head:
            for text in self._bindings.get((scope.path, holder, name), ()):
                values += self._value(parsed_expression(text), Scope(scope.path, holder), depth + 1)
            if not holder:
                break
            holder = holder.rpartition(".")[0]
        if head and definition is None:
            for receiver in self._named(head, scope, depth + 1):
                if not isinstance(receiver, Outside) or receiver.receiver is not None:
                    values.append(Outside(last, receiver))
                else:
                    values += self._lying(f"{receiver.name}.{last}", depth)
        elif definition is None or definition.path == scope.path:
            target = "" if head else self._tree.imported(scope.path, name)
            values += self._lying(target, depth) if target else ()
        return tuple(values) or (Outside(name),)

    def _of_torch(self, path: str) -> bool:
        """Whether a file is PyTorch's own: what its functions register is known from their names."""
        return "/torch/" in "/" + tree_path(self._tree, path)

    def _lying(self, target: str, depth: int) -> tuple[Value, ...]:
        """What an absolute dotted name may be."""
        path, name = self._tree.located(target)
        return self._named(name, Scope(path, ""), depth + 1) if name else (Outside(target),)

    def _apply(self, callee: Value, arguments: Arguments, depth: int) -> tuple[Value, ...]:
        """What a call gives; what it registers is noted."""
        if depth > DEPTH:
            return ()
        if isinstance(callee, Pending):
            return self._note(callee.role, arguments)
        if isinstance(callee, Bound):
            return self._apply(callee.function, with_bound(callee.arguments, arguments), depth)
        if isinstance(callee, Outside):
            name = last_name(callee.name)
            if isinstance(callee.receiver, Text):
                return texts.method(callee.receiver.text, name, [values for _, values in arguments])
            if name == "Library":
                strings = [value.text for value in all_values(arguments) if isinstance(value, Text)]
                return (Library(strings[0], strings[2] if len(strings) > 2 else ""),) if strings else ()
            if name == "str":
                return arguments[0][1] if arguments else ()
            if name == "partial" and arguments and arguments[0][0] == "0":
                rest = [(str(int(slot) - 1) if slot.isdigit() else slot, values) for slot, values in arguments[1:]]
                return tuple(Bound(function, rest) for function in arguments[0][1])
            if name in API or callee.name in COMPILED:
                return self._registered(callee, name, arguments)
        elif isinstance(callee, Inner):
            holder = ".".join(filter(None, (callee.scope.function, getattr(callee.node, "name", ""))))
            return self._run(callee.node, callee.scope._replace(function=holder), arguments, depth)
        elif isinstance(callee, Local):
            place = (callee.definition.path, callee.definition.function.name)
            wrapper = parsed_function(self._wrappers.get(place, ""))
            if wrapper is None:  # what it makes of a function runs that function
                return functions_of(arguments)
            return self._run(wrapper, Scope(*place, {}), arguments, depth)
        for function in functions_of(arguments):  # called by who knows whom
            if isinstance(function, Inner):
                self._run(function.node, function.scope, (), depth)
        return ()

    def _registered(self, callee: Outside, name: str, arguments: Arguments) -> tuple[Value, ...]:
        results: list[Value] = []
        for role in self._roles(callee, name, arguments):
            results += (value for value in self._note(role, arguments) if value not in results)
            if not (role.opaque and functions_of(arguments)):
                results.append(Pending(role))
        return tuple(results)

    def _roles(self, callee: Outside, name: str, arguments: Arguments) -> Iterator[Role]:
        """What a registration makes of its functions, for each operator that it may name."""
        if callee.name in COMPILED:
            yield Role(f"compiled by {self._written}", True, inlined=True, statement=self._statement)
            return
        operators, rest = self._operators(name, callee.receiver, arguments)
        for operator in operators or ("",):
            yield self._role(callee, name, operator, rest, arguments)

    def _role(self, callee: Outside, name: str, operator: str, rest: Arguments, arguments: Arguments) -> Role:
        role = Role(f"registered by {self._written}", True, statement=self._statement, operator=operator)
        role = role._replace(opaque=name in OPERATORS, kind="fake" if name in FAKES else "")
        role = role._replace(dispatched=name in DISPATCHED)
        if name in CONCRETE:
            return role._replace(traced=False)
        if name in EAGER_TOO:
            return role._replace(eager=True)
        if name not in BY_KEY:
            return role
        in_place = [values for slot, values in rest if slot.isdigit() or slot in ("dispatch_key", "types")]
        keys = [key_of(value) for values in in_place for value in values or (Outside("?"),)]
        library = next((v for v in (callee.receiver, *all_values(arguments)) if isinstance(v, Library)), None)
        keys = keys or [library.key if library else ""]
        if name == "py_impl":  # a table that tracing alone reads; modes stand in it as keys do
            return role._replace(traced=any("DispatchKey" not in key or TRACED_KEY.fullmatch(key) for key in keys))
        traced = [key for key in keys if TRACED_KEY.fullmatch(key)]
        if any(key.endswith("Meta") for key in traced):
            kind = "fake"
        elif any("CompositeImplicit" in key for key in traced):
            kind = "composite"
        else:
            kind = "default" if all(key == "default" or "CompositeExplicit" in key for key in traced) else ""
        eager = any(not key.endswith("Meta") for key in keys)
        return role._replace(traced=bool(traced), eager=eager, kind=kind)

    def _operators(self, name: str, receiver: Value | None, arguments: Arguments) -> tuple[tuple[str, ...], Arguments]:
        """The operators that a registration may name, and the arguments behind the name but for functions."""
        rest = [(slot, values) for slot, values in arguments if not any(isinstance(v, (Local, Inner)) for v in values)]
        namespace = receiver.namespace if isinstance(receiver, Library) else ""
        if isinstance(receiver, Operator):
            return (receiver.name,), rest
        if isinstance(receiver, Pending):
            return (receiver.role.operator,), rest
        if isinstance(receiver, Local):
            meant = (receiver.definition, *self._tree.namesakes(receiver.definition))
            for definition in meant:
                self._decorate(definition)
            return tuple(dict.fromkeys(filter(None, map(self.operators.get, meant)))), rest
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

    def _note(self, role: Role, arguments: Arguments) -> tuple[Value, ...]:
        """What a registration gives for the functions that it gets."""
        functions = functions_of(arguments)
        for function in functions:
            definition = function.definition if isinstance(function, Local) else self._inner(function)
            if definition is not None and role not in self.roles.setdefault(definition, []):
                self.roles[definition].append(role)
            if definition is None and isinstance(function, Inner) and function.scope.names is None:
                self.lambdas.append((function.scope.path, role))
            elif isinstance(function, Inner) and function.scope.names is not None:
                for node in ast.walk(function.node):  # the wrapper's parameters that it calls, or passes on
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        passed = function.scope.names.get(node.id, ())
                        self._note(role, [("0", tuple(value for value in passed if isinstance(value, Local)))])
        return (Operator(role.operator),) if role.opaque and functions else functions

    def _inner(self, function: Value) -> Definition | None:
        """The definition of a function inside a wrapper."""
        if not isinstance(function, Inner) or isinstance(function.node, ast.Lambda):
            return None
        name = ".".join(filter(None, (function.scope.function, function.node.name)))
        return self._tree.definition(function.scope.path, name)

    def _run(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        scope: Scope,
        arguments: Arguments,
        depth: int,
    ) -> tuple[Value, ...]:
        """What a wrapper returns; what it registers is noted."""
        names = dict(scope.names or {})
        parameters = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
        positional = (*node.args.posonlyargs, *node.args.args)
        defaults = [*zip(reversed(positional), reversed(node.args.defaults), strict=False)]
        defaults += [(p, d) for p, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
        names |= dict.fromkeys((*parameters, *(p.arg for p in node.args.kwonlyargs)), ())
        names |= {parameter.arg: self._value(default, scope, depth + 1) for parameter, default in defaults}
        for slot, values in arguments:
            if not slot.isdigit():
                names[slot] = values
            elif int(slot) < len(parameters):
                names[parameters[int(slot)]] = values
        scope = scope._replace(names=names)
        if isinstance(node, ast.Lambda):
            return self._value(node.body, scope, depth + 1)
        results: list[Value] = []
        for statement, certain in self._statements(node.body, scope, depth + 1):
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    names[statement.name] = (Inner(statement, scope),)
                    for decorator in reversed(statement.decorator_list):
                        for value in self._value(decorator, scope, depth + 1):
                            made = self._apply(value, [("0", (Inner(statement, scope),))], depth + 1)
                            names[statement.name] = made or names[statement.name]
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    before = names.get(name, ())
                    values = self._value(value, scope, depth + 1)
                    names[name] = (values or before) if certain else (*before, *(v for v in values if v not in before))
                case ast.For(target=ast.Name(id=name), iter=value):
                    names[name] = self._value(value, scope, depth + 1)
                case ast.Expr(value=ast.Call() as value):
                    self._value(value, scope, depth + 1)
                case ast.Return(value=ast.expr() as value):
                    results += self._value(value, scope, depth + 1)
        return tuple(results)

    def _statements(
        self, body: Iterable[ast.stmt], scope: Scope, depth: int, certain: bool = True
    ) -> Iterator[tuple[ast.stmt, bool]]:
        """The statements of a wrapper without those that its strings rule out, and whether each is sure to run."""
        for statement in body:
            yield statement, certain
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            taken: bool | None = True
            if isinstance(statement, ast.If):
                taken = texts.holds(statement.test, lambda node: self._value(node, scope, depth))
            if taken is not False:
                yield from self._statements(getattr(statement, "body", ()), scope, depth, certain and taken is True)
            for handler in getattr(statement, "handlers", ()):
                yield from self._statements(handler.body, scope, depth, False)
            if taken is not True or not isinstance(statement, ast.If):
                certainly = certain and taken is not None
                yield from self._statements(getattr(statement, "orelse", ()), scope, depth, certainly)
            yield from self._statements(getattr(statement, "finalbody", ()), scope, depth, certain)


def _settled(role: Role) -> str | int:
    return role.operator or role.statement
