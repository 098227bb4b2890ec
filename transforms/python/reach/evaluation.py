"""What expressions of a tree may be, as far as registrations go: strings, libraries, functions, objects, wrappers."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from functools import partial

from transforms.python.flow.nodes import dotted
from transforms.python.reach import texts
from transforms.python.reach.foreign import is_elsewhere
from transforms.python.reach.lineage import ClassPlace
from transforms.python.reach.memo import Memo
from transforms.python.reach.objects import Classes, bound
from transforms.python.reach.registrars import (
    API,
    COMPILED,
    DEPTH,
    LEFT_TO_EAGER,
    MAPS,
    OPERATOR,
    OVERLOAD,
    STEPS,
    Arguments,
    Bound,
    Inner,
    Instance,
    Library,
    Local,
    Operator,
    Outside,
    Pending,
    Registry,
    Scope,
    Text,
    Value,
    all_values,
    compiles,
    functions_of,
    hashable,
    identity,
    joined,
    named_by,
    with_bound,
)
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.registering import last_name, parsed_expression, parsed_function


class Evaluation:
    """Expressions and wrappers of a tree, followed."""

    def __init__(self, tree: SourceTree, registry: Registry) -> None:
        self._tree = tree
        self._registry = registry
        self._bindings: dict[tuple[str, str, str], list[str]] = {}
        self._wrappers: dict[tuple[str, str], str] = {}
        for path, facts in tree.facts.items():
            self._wrappers.update({(path, name): text for name, text in facts.registering.wrappers})
            for scope, name, text in facts.registering.bindings:
                self._bindings.setdefault((path, scope, name), []).append(text)
        self._classes = Classes(tree, self._wrappers)
        self._inner: dict[tuple[str, str], list[str]] = {}
        for path, facts in tree.facts.items():
            for function in facts.functions:
                if "." in function.name and not function.method:
                    self._inner.setdefault((path, function.name.rpartition(".")[0]), []).append(function.name)
        self._steps = 0
        self._memo = Memo()
        self._modules = False
        """Whether what is compiled is evaluated, which may be a module."""

    def begin(self) -> None:
        """A statement begins; wrappers that call each other over and over are followed for `STEPS` calls of it."""
        self._steps = 0
        self._memo.clear()

    def source_of(self, definition: Definition) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """A function that is kept for what it may register."""
        return parsed_function(self._wrappers.get((definition.path, definition.function.name), ""))

    def forward(self, value: Value) -> Value | None:
        """The method that a module runs when it is called; None for what is no module of the tree."""
        method = self._classes.method(value, "forward") if isinstance(value, (ClassPlace, Instance)) else None
        return Local(method) if method is not None else None

    def called_attributes(self, method: Definition) -> Iterator[str]:
        """The names of what a method calls of its own object."""
        node = self.source_of(method)
        for inner in ast.walk(node) if node is not None and node.args.args else ():
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                holder, _, last = dotted(inner.func).rpartition(".")
                if node is not None and holder == node.args.args[0].arg:
                    yield last

    def value(self, node: ast.expr, scope: Scope, depth: int) -> tuple[Value, ...]:
        """All that an expression may be, as far as registrations go."""
        if depth > DEPTH:
            return ()
        match node:  # names are the most by far
            case ast.Name(id=name):
                return self.named(name, scope, depth)
            case ast.Constant(value=str() | int() as text) if not isinstance(text, bool):
                return (Text(str(text)),)
            case ast.Attribute(value=ast.Call() | ast.Constant() as receiver, attr=name):
                receivers = self.value(receiver, scope, depth + 1)
                if not receivers and name in API:
                    return (Outside(name),)
                return tuple(v for value in receivers for v in self._attribute(value, name, depth + 1))
            case ast.Attribute():
                return self.named(dotted(node), scope, depth)
            case ast.JoinedStr(values=pieces):
                return texts.joined(pieces, lambda piece: self.value(piece, scope, depth + 1))
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.value(value, scope, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return texts.joined((left, right), lambda piece: self.value(piece, scope, depth + 1))
            case ast.Subscript(value=value, slice=index):
                return texts.part(self.value(value, scope, depth + 1), index)
            case ast.BoolOp(op=ast.Or(), values=values):  # what is known is no None
                return next(filter(None, (self.value(value, scope, depth + 1) for value in values)), ())
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return tuple(value for inner in values for value in self.value(inner, scope, depth + 1))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                taken = texts.holds(test, lambda node: self.value(node, scope, depth + 1))
                chosen = (body, orelse) if taken is None else (body if taken else orelse,)
                return tuple(value for branch in chosen for value in self.value(branch, scope, depth + 1))
            case ast.Lambda():
                return (Inner(node, scope),)
            case ast.Call(func=ast.Name(id="super"), args=[]):
                kind = self._classes.named(scope.path, scope.function.partition(".")[0])
                held = (value for values in (scope.names or {}).values() for value in values)
                objects = (value for value in held if isinstance(value, Instance))
                return tuple(Instance(value.kind, value.attributes, kind) for value in itertools.islice(objects, 1))
            case ast.Call():
                slots = [(str(index), argument) for index, argument in enumerate(node.args)]
                slots += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
                callees = self.value(node.func, scope, depth + 1)
                around, self._modules = self._modules, self._modules or any(map(compiles, callees))
                arguments = [(slot, self.value(argument, scope, depth + 1)) for slot, argument in slots]
                self._modules = around
                if any(slot == "recursive" and ast.unparse(argument) == "False" for slot, argument in slots):
                    arguments.append(("recursive", (Text("False"),)))
                # Each once: what goes through several calls, each of several functions, would be all their product.
                given = (value for callee in callees for value in self.apply(callee, arguments, depth + 1))
                return tuple({id(value): value for value in given}.values())
        return ()

    def named(self, name: str, scope: Scope, depth: int) -> tuple[Value, ...]:
        """What a dotted name may be."""
        if not name or depth > DEPTH:
            return ()
        if scope.names is not None and name in scope.names:
            return scope.names[name]
        if last_name(name) in API and is_elsewhere(self._tree, scope.path, name):
            return ()
        if last_name(name) not in API and (match := OPERATOR.fullmatch(name)) is not None:
            return (Operator(f"{match[1] or match[2]}::{match[3]}"),)
        head, _, last = name.rpartition(".")
        holders: tuple[Value, ...] | None = None
        if self._classes or self._modules:
            holders = self.named(head, scope, depth + 1) if head else ()
            if holders and (held := self._held(holders)):
                return tuple(v for value in held for v in self._attribute(value, last, depth + 1))
            kind = self._classes.named(scope.path, name, self._modules)
            if kind is not None and not self._of_torch(kind.path):
                return (kind,)
        if head and last in ("__name__", "ns"):
            return tuple(filter(None, map(named_by, self.named(head, scope, depth + 1))))
        if name in API and self._of_torch(scope.path):
            return (Outside(name),)
        values: list[Value] = []
        caller = self._tree.definition(scope.path, scope.function)
        definition = self._tree.resolve(caller, name) if caller else self._tree.globally(scope.path, name)
        if definition is not None:
            absolute = f"{self._tree.module_name(definition.path)}.{definition.function.name}"
            of_torch = definition.function.name in API and self._of_torch(definition.path)
            if of_torch or absolute in COMPILED or LEFT_TO_EAGER.fullmatch(absolute):
                return (Outside(absolute),)
            values.append(Local(definition))
        holder = scope.function
        while not head:
            for text in self._bindings.get((scope.path, holder, name), ()):
                values += self._bound_to(text, Scope(scope.path, holder), depth + 1)
            if not holder:
                break
            holder = holder.rpartition(".")[0]
        if head and definition is None:
            for receiver in self.named(head, scope, depth + 1) if holders is None else holders:
                if not isinstance(receiver, Outside) or receiver.receiver is not None:
                    values += self._attribute(receiver, last, depth + 1)
                else:
                    values += self._lying(f"{receiver.name}.{last}", depth)
        elif definition is None or definition.path == scope.path:
            target = "" if head else self._tree.imported(scope.path, name)
            values += self._lying(target, depth) if target else ()
        return tuple(values) or (Outside(name),)

    def _bound_to(self, text: str, scope: Scope, depth: int) -> tuple[Value, ...]:
        """What the expression `text` that a name is bound to may be."""
        key = (scope.path, scope.function, text)
        return self._memo.once((*key, self._modules), depth, partial(self.value, parsed_expression(text), scope, depth))

    def _held(self, values: Iterable[Value]) -> list[Value]:
        """The classes and objects of the tree among what a name may be."""
        made = (self._registry.object_of(v.definition) if isinstance(v, Local) else v for v in values)
        return [value for value in made if isinstance(value, (ClassPlace, Instance))]

    def _attribute(self, value: Value, name: str, depth: int) -> tuple[Value, ...]:
        """An attribute of a value."""
        if isinstance(value, Operator) and OVERLOAD.fullmatch(name):
            return (value,)
        if not isinstance(value, (ClassPlace, Instance)):
            return (Outside(name, value),)
        if isinstance(value, Instance) and name in value.attributes:
            return value.attributes[name]
        method = self._classes.method(value, name)
        if method is not None and not (name in API and self._of_torch(method.path)):
            made = bound(method, value)
            return self.apply(made, (), depth) if "property" in method.function.decorators else (made,)
        for place in self._classes.lineage(value):
            for text in self._bindings.get((place.path, place.name, name), ()):
                return self._bound_to(text, Scope(place.path, place.name), depth + 1)
        return (Outside(name, value),)

    def _getattr(self, values: Iterable[Value], names: Iterable[Value], depth: int) -> tuple[Value, ...]:
        """What `getattr` gives for each value and each name."""
        results: list[Value] = []
        for value, name in itertools.product(values, names):
            if not isinstance(name, Text):
                continue
            if isinstance(value, Operator):  # an overload of it
                results.append(value)
            elif isinstance(value, Outside) and value.receiver is None:
                match = OPERATOR.fullmatch(f"{value.name}.{name.text}")
                plain = Outside(f"{value.name}.{name.text}")
                results.append(plain if match is None else Operator(f"{match[1] or match[2]}::{match[3]}"))
            else:
                results += self._attribute(value, name.text, depth)
        return tuple(results)

    def _of_torch(self, path: str) -> bool:
        """Whether a file is PyTorch's own: what its functions register is known from their names."""
        return self._tree.import_path(path).startswith("torch/")

    def _lying(self, target: str, depth: int) -> tuple[Value, ...]:
        """What an absolute dotted name may be."""
        path, name = self._tree.located(target)
        if not name:
            return (Outside(target),)
        return self._memo.once(
            (path, name, self._modules), depth, partial(self.named, name, Scope(path, ""), depth + 1)
        )

    def apply(self, callee: Value, arguments: Arguments, depth: int) -> tuple[Value, ...]:
        """What a call gives; what it registers is noted."""
        self._steps += 1
        if depth > DEPTH or self._steps > STEPS:
            return ()
        if isinstance(callee, Pending):
            return self._registry.note(callee.role, arguments)
        if isinstance(callee, Bound):
            return self.apply(callee.function, with_bound(callee.arguments, arguments), depth)
        if isinstance(callee, Instance):
            callee = next((v for v in self._attribute(callee, "__call__", depth) if isinstance(v, Bound)), callee)
            return self.apply(callee, arguments, depth) if isinstance(callee, Bound) else ()
        if isinstance(callee, ClassPlace):
            held = Instance(callee)
            constructor = self._classes.method(held, "__init__")
            if constructor is not None:
                self.apply(bound(constructor, held), arguments, depth)
            else:  # a dataclass, perhaps
                held.attributes |= {slot: values for slot, values in arguments if not slot.isdigit()}
            return (held,)
        if isinstance(callee, Outside):
            name = last_name(callee.name)
            if isinstance(callee.receiver, Text):
                return texts.method(callee.receiver.text, name, [values for _, values in arguments])
            if name == "Library":
                strings = [value.text for value in all_values(arguments) if isinstance(value, Text)]
                defines = strings[1:2] in (["DEF"], ["FRAGMENT"])
                return (Library(strings[0], strings[2] if len(strings) > 2 else "", defines),) if strings else ()
            if name == "define":
                schemas = [value.text for value in all_values(arguments[:1]) if isinstance(value, Text)]
                if isinstance(callee.receiver, Library):
                    return tuple(Text(schema.partition("(")[0].strip()) for schema in schemas)
                if callee.name == "torch.library.define":
                    self._registry.defined(schemas)
            if name == "getattr" and len(arguments) > 1:
                return self._getattr(arguments[0][1], arguments[1][1], depth)
            if name == "str":
                return arguments[0][1] if arguments else ()
            if name == "partial" and arguments and arguments[0][0] == "0":
                rest = [(str(int(slot) - 1) if slot.isdigit() else slot, values) for slot, values in arguments[1:]]
                return tuple(Bound(function, rest) for function in arguments[0][1])
            if LEFT_TO_EAGER.fullmatch(callee.name):
                recursive = all(slot != "recursive" or not values for slot, values in arguments)
                self._registry.left(functions_of(arguments), recursive)
                return functions_of(arguments) or (Bound(callee, arguments),)
            if name in API or callee.name in COMPILED:
                return self._registry.registered(callee, name, arguments)
        elif isinstance(callee, Inner):
            holder = ".".join(filter(None, (callee.scope.function, getattr(callee.node, "name", ""))))
            return self._run(callee.node, callee.scope._replace(function=holder), arguments, depth)
        elif isinstance(callee, Local):
            place = (callee.definition.path, callee.definition.function.name)
            wrapper = self.source_of(callee.definition)
            if wrapper is None:  # what it makes of a function runs that function, and so may what it defines
                inner = self._inner.get(place, ())
                made = [self._tree.definition(place[0], name) for name in inner if len(inner) == 1]
                return (*functions_of(arguments), *(Local(definition) for definition in made if definition is not None))
            run = partial(self._run, wrapper, Scope(*place, {}), arguments, depth)
            if hashable(arguments):
                return self._memo.once((*place, tuple(arguments), self._modules), depth, run)
            return self._memo.unless_running((*place, identity(arguments)), run)
        passed: Arguments = ()  # to a function that is called by who knows whom
        if isinstance(callee, Outside) and last_name(callee.name) in MAPS:
            passed = [(str(int(slot) - 1), values) for slot, values in arguments[1:] if slot.isdigit()]
        for function in functions_of(arguments):
            if isinstance(function, Inner):
                self._run(function.node, function.scope, passed, depth)
        return ()

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
        names |= {parameter.arg: self.value(default, scope, depth + 1) for parameter, default in defaults}
        for slot, values in arguments:
            if not slot.isdigit():
                names[slot] = values
            elif int(slot) < len(parameters):
                names[parameters[int(slot)]] = values
        scope = scope._replace(names=names)
        if isinstance(node, ast.Lambda):
            return self.value(node.body, scope, depth + 1)
        results: list[Value] = []
        for statement, certain in self._statements(node.body, scope, depth + 1):
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    names[statement.name] = (Inner(statement, scope),)
                    for decorator in reversed(statement.decorator_list):
                        for value in self.value(decorator, scope, depth + 1):
                            made = self.apply(value, [("0", (Inner(statement, scope),))], depth + 1)
                            names[statement.name] = made or names[statement.name]
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    before = names.get(name, ())
                    values = self.value(value, scope, depth + 1)
                    names[name] = (values or before) if certain else joined(before, values)
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attribute)], value=value) | (
                    ast.AnnAssign(
                        target=ast.Attribute(value=ast.Name(id=name), attr=attribute), value=ast.expr() as value
                    )
                ):
                    for held in names.get(name, ()):
                        if isinstance(held, Instance):
                            before = held.attributes.get(attribute, ())
                            values = self.value(value, scope, depth + 1)
                            held.attributes[attribute] = (values or before) if certain else joined(before, values)
                case ast.For(target=ast.Name(id=name), iter=value):
                    names[name] = self.value(value, scope, depth + 1)
                case ast.Expr(value=ast.Call() as value):
                    self.value(value, scope, depth + 1)
                case ast.Return(value=ast.expr() as value):
                    results += self.value(value, scope, depth + 1)
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
                taken = texts.holds(statement.test, lambda node: self.value(node, scope, depth))
            if taken is not False:
                yield from self._statements(getattr(statement, "body", ()), scope, depth, certain and taken is True)
            for handler in getattr(statement, "handlers", ()):
                yield from self._statements(handler.body, scope, depth, False)
            if taken is not True or not isinstance(statement, ast.If):
                certainly = certain and taken is not None
                yield from self._statements(getattr(statement, "orelse", ()), scope, depth, certainly)
            yield from self._statements(getattr(statement, "finalbody", ()), scope, depth, certain)
