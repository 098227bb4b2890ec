"""From the bytes of a test file to its registries of expected failures, in all the syntaxes PyTorch's tests use.

A registry is a set, list, tuple or dict, found by what it holds: calls `xfail("op", …)`, `skip(…)`, `decorate(…)` and
`DecorateInfo(…)`; keys with `TestFailure(…)`; or, where its name says that it lists failures, operators with the dtypes
that fail, bare operator names, or module classes.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from transforms.python.flow.nodes import dotted
from transforms.python.reading.parsing import parse
from transforms.python.writing.names import Layout
from transforms.xfails.comments import reason
from transforms.xfails.facts import EVERY, Entry, FileRegistries, Kind, Names
from transforms.xfails.literals import devices_of, dtypes_of, keyword, text
from transforms.xfails.uses import Uses, read_uses

_QUOTE = rb"\s{,99}\(\s{,99}(?:[rRuUfF]{,2}[\"']|op_name\b|#)"
_CONTAINER = rb"[|+]?=(?!=)[ \t]{,9}(?:[\[({\\\n#]|[A-Za-z_][\w.]{,99}\s{,9}(?:\||\(\s{,99}[\[({*#]|(?<=union)\())"
# A file without any of these, of which each begins with plain bytes, holds no registry and reads none: the calls that
# make entries, and those that are given registries.
_CALLS = {
    b"xfail": re.compile(rb"xfail(?<!mark\.xfail)" + _QUOTE),
    b"skip": re.compile(rb"skip(?<![.\w]skip)" + _QUOTE),
    b"decorate": re.compile(rb"decorate(?<![.\w]decorate)" + _QUOTE),
    b"TestFailure": re.compile(rb"TestFailure\s{,99}\("),
    b"skipOps": re.compile(rb"skipOps\b"),
    b"decorateForModules": re.compile(rb"decorateForModules\b"),
    b"DecorateInfo": re.compile(rb"(?:OpInfo|UfuncInfo)\s{,99}\("),  # they stand in one
}
# Or a container assigned to a name like those of FAILURES and SKIPS, or a call at the top that is given registries. All
# is bounded, as the words may follow one another through a whole file.
_NAMED = {
    word: re.compile(
        word
        + rb"(?:(?P<assigned>s?(?:ures?)?s?(?:_\w{,99})?(?:\[[^]\n]{,99}\]){,2}[ \t]{,9}(?::[^=\n]{,199})?"
        + _CONTAINER
        + rb")|[\w.]{,99}\([^)]{,999}[\"']Test)",
        re.I,
    )
    for word in (b"fail", b"Fail", b"FAIL", b"skip", b"Skip", b"SKIP")
}
_ASSIGNED = re.compile(rb"[ \t]*(?:[\w.]*_)?x?", re.I)
_CALLED = re.compile(rb"[\w.]*")
CALLS: dict[str, Kind] = {"xfail": "xfail", "skip": "skip", "decorate": "decorate"}
FAILURES = re.compile(r"(?:^|_)(?:x?fails?|failures?|xfailures?)(?:_|$)", re.I)
SKIPS = re.compile(r"(?:^|_)skips?(?:_|$)", re.I)
# What holds no expression, or those that are not read for entries.
_WITHOUT_ENTRIES = (
    ast.Constant, ast.Name, ast.SetComp, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda
)  # fmt: skip
OVERLOAD = re.compile(r"^(?:torch|aten|prims)\.")


def extract(path: str, source: bytes) -> FileRegistries:
    """The registries of one file; empty where it holds none, or a syntax error."""
    if not _marked(source):
        return FileRegistries()
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):
        return FileRegistries()
    uses = read_uses(tree)
    reader = _Reader(Layout(source), uses, _failure_makers(tree))
    entries = sorted(reader.statements(tree.body), key=lambda entry: entry.start)
    registry_names = {entry.registry.partition("[")[0] for entry in entries}
    foreign = [(name, test) for name, tests in uses.read.items() if name not in registry_names for test in tests]
    return FileRegistries(tuple(entries), tuple(foreign))


def _marked(source: bytes) -> bool:
    """Whether a file may hold a registry, or read one of another file."""
    if any(word in source and pattern.search(source) for word, pattern in _CALLS.items()):
        return True
    for match in (match for word, found in _NAMED.items() if word in source for match in found.finditer(source)):
        near = max(0, match.start() - 200)
        line = source.rfind(b"\n", near, match.start()) + 1 or near
        if (_ASSIGNED if match["assigned"] else _CALLED).fullmatch(source, line, match.start()):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a literal stands: in which registry, for which devices, inside which OpInfo."""

    registry: str
    devices: tuple[str, ...] = EVERY
    operator: tuple[str, str] = ("", "")
    in_test: bool = False
    """Whether the name is a test's, which may speak of failures as any name may."""

    @property
    def kind(self) -> Kind | None:
        """What the registry's name says of its entries."""
        if self.in_test:
            return None
        base = self.registry.partition("[")[0]
        return "xfail" if FAILURES.search(base) else "skip" if SKIPS.search(base) else None


_Todo: TypeAlias = "deque[tuple[ast.expr, _Place]]"


@dataclass(slots=True)
class _Reader:
    layout: Layout
    uses: Uses
    makers: dict[str, ast.Call]

    def statements(self, body: list[ast.stmt]) -> Iterator[Entry]:
        """The entries in and below some statements, those of inner statements last."""
        place = _Place("")
        todo = deque(body)
        while todo:
            node = todo.popleft()
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                yield from self._assigned(node, target, node.value)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for decorator in node.decorator_list:
                    yield from self.expression(decorator, _Place(node.name, in_test=True))
                todo += node.body
            else:
                for name, value in ast.iter_fields(node):
                    if name in ("body", "orelse", "finalbody"):
                        todo += value
                    elif name == "handlers":
                        todo += (statement for handler in value for statement in handler.body)
                    elif isinstance(value, ast.expr):
                        yield from self.expression(value, place)

    def _assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> Iterator[Entry]:
        base, keys = target, []
        while isinstance(base, ast.Subscript):
            keys.append(base.slice)
            base = base.value
        name = dotted(base)
        keys.reverse()
        device = text(keys[0]) if keys else ""
        failure = self._test_failure(value) if keys else None
        if failure is not None:
            yield self._entry(node, node, _Place(name), "test", text(keys[-1]), *failure)
        elif len(keys) == 2:  # registry["cpu"]["op"] = {f32}
            place = _Place(f"{name}[{device}]", (device,))
            if place.kind and isinstance(value, ast.Set):
                yield from self._keyed(node, node, keys[1], value, place)
        else:
            place = _Place(f"{name}[{device}]", (device,)) if device else _Place(name)
            yield from self.expression(value, place)

    def expression(self, node: ast.expr, place: _Place) -> Iterator[Entry]:
        """The entries in an expression, however deep: a chain of `|` may be long."""
        todo: _Todo = deque([(node, place)])
        while todo:
            node, place = todo.popleft()
            if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
                for element in node.elts:
                    yield from self._element(element, place, todo)
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    yield from self._item(key, value, place, todo)
            elif isinstance(node, ast.Call):
                self._call(node, place, todo)
            elif not isinstance(node, _WITHOUT_ENTRIES):
                todo += ((child, place) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))

    def _call(self, node: ast.Call, place: _Place, todo: _Todo) -> None:
        called = dotted(node.func)
        last = called.rpartition(".")[2]
        arguments = [*node.args, *(argument.value for argument in node.keywords)]
        if last == "update" and "." in called:
            place = _Place(called.rpartition(".")[0])
        elif last == "skipOps" and len(node.args) > 1:
            place = _Place(text(node.args[1]), in_test=True)
        elif last.endswith(("OpInfo", "UfuncInfo")) and node.args:
            variant = keyword(node, "variant_test_name")
            name = text(node.args[0])
            place = _Place(f"{last}({name!r})", operator=(name, text(variant) if variant else ""))
        todo += ((argument, place) for argument in arguments)
        if isinstance(node.func, ast.Attribute):  # vjp_fail.union({…}): what stands before the dot
            todo.append((node.func.value, place))

    def _element(self, node: ast.expr, place: _Place, todo: _Todo) -> Iterator[Entry]:
        if isinstance(node, ast.Call):
            last = dotted(node.func).rpartition(".")[2]
            named = node.args[0] if node.args else keyword(node, "op_name")
            if last in CALLS and named is not None and text(named):
                variant = node.args[1] if len(node.args) > 1 else keyword(node, "variant_name")
                devices = devices_of(keyword(node, "device_type")) or place.devices
                dtypes = dtypes_of(keyword(node, "dtypes"))
                variant_scope = (text(variant) if variant else "", devices, dtypes)
                yield self._entry(node, node, place, "operator", text(named), CALLS[last], *variant_scope)
                return
            if last == "DecorateInfo" and len(node.args) > 2 and place.operator[0]:
                name, variant_name = place.operator
                scope = (devices_of(keyword(node, "device_type")), dtypes_of(keyword(node, "dtypes")))
                tests = self.uses.described(text(node.args[1]), text(node.args[2]))
                kind = _decoration(node.args[0])
                entry = self._entry(node, node, place, "operator", name, kind, variant_name, *scope)
                yield replace(entry, tests=tests)
                return
        elif place.kind and isinstance(node, ast.Constant) and isinstance(node.value, str):
            if self.uses.reads(place.registry) or FAILURES.search(place.registry) or SKIPS.search(place.registry):
                yield self._entry(node, node, place, "operator", node.value, place.kind, "", place.devices)
            return
        elif place.kind and dotted(node).startswith("torch.nn.") and dotted(node).count(".") == 2:
            yield self._entry(node, node, place, "module", dotted(node), place.kind)
            return
        todo.append((node, place))

    def _item(self, key: ast.expr | None, value: ast.expr, place: _Place, todo: _Todo) -> Iterator[Entry]:
        failure = self._test_failure(value)
        if key is not None and failure is not None:
            yield self._entry(key, value, place, "test", text(key), *failure)
        elif key is not None and place.kind and isinstance(value, (ast.Set, ast.Lambda)):
            yield from self._keyed(key, value, key, value, place)
        else:
            todo.append((value, place))

    def _keyed(
        self, first: ast.expr | ast.stmt, last: ast.expr | ast.stmt, key: ast.expr, value: ast.expr, place: _Place
    ) -> Iterator[Entry]:
        """An operator, or an operator and its variant, with the dtypes that fail."""
        name, variant = text(key), ""
        if isinstance(key, ast.Tuple) and len(key.elts) == 2:
            name, variant = text(key.elts[0]), text(key.elts[1])
        elif not name and OVERLOAD.match(dotted(key)):
            name = dotted(key)
        if name and place.kind:
            scope = (place.devices, dtypes_of(value))
            yield self._entry(first, last, place, "operator", name, place.kind, variant, *scope)

    def _test_failure(self, node: ast.expr) -> tuple[Kind, str, tuple[str, ...]] | None:
        """The kind, no variant, and the devices of a `TestFailure(…)`, or of a function of the file that makes one."""
        if not isinstance(node, ast.Call):
            return None
        called = dotted(node.func).rpartition(".")[2]
        failure_call = node if called == "TestFailure" else self.makers.get(called)
        if failure_call is None:
            return None
        suffixes = failure_call.args[0] if failure_call.args else keyword(failure_call, "suffixes")
        skip = keyword(node, "is_skip")
        skipped = isinstance(skip, ast.Constant) and bool(skip.value)
        return ("skip" if skipped else "xfail"), "", devices_of(suffixes)

    def _entry(
        self,
        first: ast.expr | ast.stmt,
        last: ast.expr | ast.stmt,
        place: _Place,
        names: Names,
        name: str,
        kind: Kind,
        variant: str = "",
        devices: tuple[str, ...] = EVERY,
        dtypes: tuple[str, ...] = EVERY,
    ) -> Entry:
        start, end = self.layout.start(first), self.layout.end(last)
        why = reason(self.layout, first.lineno, last.end_lineno or last.lineno, end)
        tests = self.uses.of(place.registry.partition("[")[0])
        return Entry(start, end, first.lineno, place.registry, kind, names, name, variant, devices, dtypes, why, tests)


def _decoration(node: ast.expr) -> Kind:
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    if name.endswith("expectedFailure"):
        return "xfail"
    return "skip" if "skip" in name.rpartition(".")[2].lower() else "decorate"


def _failure_makers(tree: ast.Module) -> dict[str, ast.Call]:
    """The functions of a file that do nothing but return a `TestFailure(…)`, with that call."""
    makers = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return):
            value = node.body[-1].value
            if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "TestFailure":
                makers[node.name] = value
    return makers
