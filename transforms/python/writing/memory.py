"""Which names of a function share memory, and what writes it: read in the order in which the statements run.

A path that copies a tensor is the same for all sizes only where nobody sees which of the two is written afterwards:
not by a view of it, not by a function, not by who gets it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from transforms.python.flow.nodes import EXITS, all_nodes, blocks, called, dotted
from transforms.python.flow.values import BOOL, FLOAT, INT, SHAPE, TENSOR
from transforms.python.writing.callees import (
    Layers,
    grows_list,
    holds,
    made_for_effect,
    makes_new,
    of_the_tensor,
    of_torch,
    only_reads,
    tells,
    writes_input,
    written_by,
)
from transforms.python.writing.held import (
    METADATA,
    Held,
    binds,
    imported,
    is_dropped,
    is_list,
    joined,
    loaded,
    merged,
    own_memory,
    sharing,
)
from transforms.python.writing.place import Place
from transforms.python.writing.traces import COPY, Arms, Event, Traces

_NONE: Held = {}
_NUMBERS = frozenset({INT, FLOAT, BOOL, SHAPE})


class Memory(Traces):
    """What the names of a function hold, statement by statement, and what happens to it from `sites` on.

    A site is a branch, an expression that is copied, or a call with the arguments that it gives back.
    """

    def __init__(self, place: Place, sites: Mapping[ast.AST, Sequence[ast.expr]], copies: Collection[str] = ()) -> None:
        """`copies` are the parameters that are given a copy."""
        super().__init__(place.in_loop)
        self._place, self._sites, self.layers = place, sites, Layers(place)
        self._names: dict[str, Held] = {}
        self._ever: dict[str, Held] = {}
        """All that a name holds somewhere, for functions in this one."""
        self._nested: list[ast.AST] = []
        self._own = {n.id for n in ast.walk(place.function) if binds(n) and isinstance(n, ast.Name)}
        """The names that the function gives something; others are its module's, or those of a function around it."""
        self._loaded = loaded(place.function)
        self._for_effect: set[ast.Call] = set()
        """Calls whose result nobody takes: what is not known of them is made to write what it is given."""
        self._outside: set[str] = set()
        self._modules = imported([*all_nodes(place.names.top.body), *place.nodes])
        self._copied = bool(copies)
        self._arms: Arms = {}
        self._loops = 0
        for argument in ast.walk(place.function.args):
            if isinstance(argument, ast.arg):
                self._set(argument.arg, {COPY if argument.arg in copies else argument.arg: True})
                self._own.discard(argument.arg)
        self._run(place.function.body)
        self._read_nested()

    def is_stored(self) -> bool:
        """Whether the copy is held by what lives longer than the function runs."""
        stored = [*self._stored, *(self._names.get(name, _NONE) for name in self._outside)]
        return any(held.get(COPY) for held in stored)

    # Statements.

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Assign):
                if is_dropped(statement, self._loaded):
                    self._for_effect.update(made_for_effect(statement.value))
                held = self._value(statement.value)
                for target in statement.targets:
                    self._bind(target, held, statement.value)
            elif isinstance(statement, ast.AnnAssign):
                if statement.value is not None:
                    self._bind(statement.target, self._value(statement.value), statement.value)
            elif isinstance(statement, ast.AugAssign):
                self._augment(statement)
            elif isinstance(statement, ast.Return):
                self._returned.append(self._value(statement.value))
            elif isinstance(statement, ast.Expr):
                self._act(statement.value)
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._nested.append(statement)
                self._set(statement.name, joined(self._names.get(name, _NONE) for name in loaded(statement)))
            elif isinstance(statement, (ast.Global, ast.Nonlocal)):
                self._outside.update(statement.names)
            elif blocks(statement):
                self._run_blocks(statement)
            else:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        self._value(child)

    def _run_blocks(self, statement: ast.stmt) -> None:
        """Run a statement that holds others, each of its blocks or none, those of a loop twice."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
                self._value(child)
        for item in getattr(statement, "items", ()):
            held = self._value(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, held)
        loops = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
        before, after = dict(self._names), list[dict[str, Held]]()
        both = isinstance(statement, ast.If) and statement.orelse
        around = self._arms
        self._loops += loops
        for _ in range(1 + loops):
            for arm, block in enumerate(blocks(statement)):
                self._capture(statement)
                if isinstance(statement, ast.If) and not self._loops:
                    self._arms = {**around, id(statement): arm}
                self._names = dict(before) if both else dict(self._names)
                if isinstance(statement, (ast.For, ast.AsyncFor)) and block:
                    self._bind(statement.target, self._value(statement.iter))
                self._run(block)
                if not (block and isinstance(block[-1], EXITS)) or loops:
                    after.append(self._names)
                elif not both:
                    self._names = dict(before)
                if not both:
                    self._names = merged([before, *after])
        self._arms = around
        self._loops -= loops
        goes_by = [] if both or isinstance(statement, (ast.With, ast.AsyncWith)) else [before]
        self._names = merged([*goes_by, *after] or [before])
        if statement in self._sites:
            self._copy(statement)

    def _capture(self, statement: ast.stmt) -> None:
        """Give the names that patterns bind what is matched."""
        for case in getattr(statement, "cases", ()):
            for part in ast.walk(case.pattern):
                if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
                    self._set(part.name, self._quiet(statement.subject))  # type: ignore[attr-defined]

    def _copy(self, site: ast.stmt) -> None:
        """What a branch assigns is its copy from now on."""
        self._copied = True
        for node in ast.walk(site):
            if isinstance(node, ast.Assign) and self._place.values.value(node.value).kind not in _NUMBERS:
                for target in node.targets:
                    for part in getattr(target, "elts", [target]):
                        if isinstance(part, ast.Name):
                            self._keep(self._names.get(part.id, _NONE))
                            self._set(part.id, {COPY: True})

    def _copy_of(self, held: Held) -> Held:
        """What an expression holds that is a site: a copy from now on, of what it held."""
        self._copied = True
        self._keep(held)
        return {COPY: True}

    def _keep(self, held: Held) -> None:
        self.kept = {memory: sure for memory, sure in joined([self.kept, held]).items() if memory != COPY}

    def _set(self, name: str, held: Held) -> None:
        self._names[name] = held
        self._ever[name] = joined([self._ever.get(name, _NONE), held])

    def _bind(self, target: ast.expr, held: Held, value: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, held)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, held)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            paired = len(parts) == len(target.elts) and not any(isinstance(p, ast.Starred) for p in parts)
            for index, part in enumerate(target.elts):
                if paired:
                    self._bind(part, self._quiet(parts[index]), parts[index])
                else:  # several results are parts of one memory, which share nothing with one another
                    own = {f"{part.lineno}:{part.col_offset}": True} if value is not None else {}
                    several = isinstance(value, ast.Call)
                    self._bind(part, own | {m: sure and (m == COPY or not several) for m, sure in held.items()})
        elif isinstance(target, ast.Attribute):
            self._write(target, self._quiet(target.value), of_tensor=True)
            self._stored.append(held)
            self._set(dotted(target), held)
        elif isinstance(target, ast.Subscript):
            self._value(target.slice)
            self._store(target, held)

    def _store(self, target: ast.Subscript, held: Held) -> None:
        """`x[i] = y` writes a tensor, or has a container hold another one."""
        owner = self._value(target.value)
        self._write(target, owner)
        if not self._place.values.surely_tensor(target.value):
            self._hold(target.value, held)

    def _hold(self, container: ast.expr, held: Held) -> None:
        """Note that a container holds something from now on; one that others have gives it away."""
        name = dotted(container)
        if "." in name or name not in self._own or not name:
            self._stored.append(held)
        if name:
            self._set(name, joined([self._names.get(name, _NONE), held]))

    def _augment(self, statement: ast.AugAssign) -> None:
        held = self._value(statement.value)
        target = statement.target
        if is_list(statement.value):
            self._hold(target, held)
        elif self._place.values.value(target).kind not in _NUMBERS or isinstance(target, ast.Subscript):
            loaded = target.value if isinstance(target, ast.Subscript) else target
            self._write(statement, self._quiet(loaded))
            self._read(statement, self._quiet(loaded))

    def _act(self, value: ast.expr) -> None:
        """A call whose result nobody takes has its object hold what it is given: `outs.append(x)`."""
        self._for_effect.update(made_for_effect(value))
        self._value(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not called(value).endswith("_"):
            owner = value.func.value
            if not of_torch(value) and not self._place.values.surely_tensor(owner) and dotted(owner) != "self":
                given = joined(self._quiet(a) for a in (*value.args, *(k.value for k in value.keywords)))
                if any(given.values()):
                    self._hold(owner, given)

    # Expressions.

    def _value(self, node: ast.expr | None) -> Held:
        """What an expression holds, after what happens in it was noted."""
        if node is None:
            return _NONE
        if isinstance(node, ast.Name):
            held = self._names.get(node.id, _NONE if node.id in self._modules else {node.id: True})
            self._read(node, held)
            return self._copy_of(held) if node in self._sites else held
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            held = self._call(node)
            return self._copy_of(joined(map(self._quiet, self._sites[node]))) if node in self._sites else held
        if isinstance(node, ast.Lambda):
            self._nested.append(node)
            return joined(self._names.get(name, _NONE) for name in loaded(node))
        if isinstance(node, ast.NamedExpr):
            held = self._value(node.value)
            self._bind(node.target, held, node.value)
            return held
        around = self._names
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            self._names = dict(around)
            for generator in node.generators:
                self._bind(generator.target, self._value(generator.iter))
        parts = {id(child): self._value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)}
        parts |= {id(g): joined(map(self._value, g.ifs)) for g in getattr(node, "generators", ())}
        if hasattr(node, "generators"):
            self._names = around
        held = joined(parts[id(part)] for part in sharing(node, self._place.values))
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            self._returned.append(held)
        if node in self._sites:
            return self._copy_of(held)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and not held:
            held = own_memory(node)
        return self._of_kind(node, held)

    def _quiet(self, node: ast.expr) -> Held:
        """What an expression holds that was evaluated before."""
        noted = [len(events) for events in (self.writes, self._calls, self._reads)]
        held = self._value(node)
        for events, count in zip((self.writes, self._calls, self._reads), noted, strict=True):
            del events[count:]
        return held

    def _of_metadata(self, node: ast.expr) -> Held:
        """What an expression holds of which only the shape is told: its values are not read."""
        return self._quiet(node) if dotted(node) else self._value(node)

    def _of_kind(self, node: ast.expr, held: Held) -> Held:
        value = self._place.values.value(node)
        return _NONE if value.kind in _NUMBERS and value.sure else held

    def _attribute(self, node: ast.Attribute) -> Held:
        if node.attr in METADATA:
            self._of_metadata(node.value)
            return _NONE
        name = dotted(node)
        if name in self._names:
            self._read(node, self._names[name])
            return self._names[name]
        if name.startswith("self."):
            self._read(node, {name: True})
            return {name: True}
        return self._of_kind(node, self._value(node.value))

    def _call(self, node: ast.Call) -> Held:
        method = node.func if isinstance(node.func, ast.Attribute) and not of_torch(node) else None
        of_self = dotted(node.func).startswith("self.") and dotted(node.func).count(".") == 1
        held_by, reads = self._of_metadata if tells(node) else self._value, len(self._reads)
        owner = held_by(method.value) if method is not None and not of_self else _NONE
        if method is None and (not dotted(node.func) or node in self._for_effect):
            owner = self._value(node.func)
        arguments = [held_by(argument) for argument in node.args]
        named = {keyword.arg: held_by(keyword.value) for keyword in node.keywords}
        given = joined([*arguments, *named.values()])
        own = own_memory(node)
        is_method = method is not None and bool(owner)
        if "out" in named:
            self._write(node, named["out"])
        if called(node).endswith("_") or writes_input(node) or self.layers.writes(node):
            self._write(node, owner if is_method else given, of_the_tensor(called(node)))
            return joined([owner if is_method else given, named.get("out", _NONE)])
        if method is not None and of_the_tensor(method.attr):
            self._write(node, owner, of_tensor=True)
        if tells(node):
            return own
        if holds(node):
            return given
        if method is not None and grows_list(method, self._place):
            return _NONE
        of_tensor = method is not None and (
            self._place.values.value(method.value).kind == TENSOR or COPY in owner or self._is_kept(owner)
        )
        is_operator = of_torch(node) or of_tensor
        if node in self._for_effect and not (is_operator or only_reads(node) or self.layers.makes_new(node)):
            self._write(node, joined([given, owner]))
        if self.layers.makes_new(node) or (makes_new(node) and not of_self):
            return joined([own, named.get("out", _NONE)])
        if is_operator:
            return self._of_kind(node, joined([owner, named.get("out", _NONE)]) if of_tensor else given)
        surely = {memory: True for memory, sure in given.items() if sure}
        if self._copied:
            passed = [*node.args, *(keyword.value for keyword in node.keywords)]
            values = list(zip(passed, (*arguments, *named.values()), strict=False))
            if copied := [argument for argument, its_memory in values if its_memory.get(COPY)]:
                self.passed.append((node, copied))
            # What may be the copy or the tensor that is kept elsewhere is one of them at a time.
            tensors = [argument for argument in copied if self._place.values.value(argument).kind == TENSOR]
            beside = joined(its_memory for argument, its_memory in values if argument not in tensors)
            of_object = dotted(node.func).partition(".")[0] in self._names or not dotted(node.func)
            may_write, within = of_object and self.layers.may_write(node), range(reads, len(self._reads))
            for held in (*arguments, *named.values()):
                self._read(node, held)
            self._calls.append(Event(node.lineno, surely, self._arms, may_write, within=within, beside=beside))
        return self._of_kind(node, {**dict.fromkeys(joined([given, owner]), False), **own})

    # What happens.

    def _write(self, node: ast.expr | ast.stmt, held: Held, of_tensor: bool = False) -> None:
        if self._copied:
            self.writes.append(Event(node.lineno, held, self._arms, of_tensor=of_tensor))

    def _read(self, node: ast.expr | ast.stmt, held: Held) -> None:
        if self._copied:
            self._reads.append(Event(node.lineno, held, self._arms))

    def _read_nested(self) -> None:
        """Note what functions in this one write of its variables, whenever they are called."""
        for function in self._nested:
            for name in written_by(function):
                self._write(name, self._ever.get(name.id, _NONE))
