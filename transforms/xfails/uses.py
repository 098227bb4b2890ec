"""Which tests read which registry, for which devices and dtypes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from transforms.python.flow.nodes import all_nodes, dotted
from transforms.xfails.facts import EVERY, Test
from transforms.xfails.literals import devices_of, dtypes_of, elements, keyword, text

ONLY = {"onlyCPU": ("cpu",), "onlyCUDA": ("cuda",)}


@dataclass(slots=True)
class Uses:
    """`read` gives, by the name of a registry (or of a test that has its registry inline), the tests that read it."""

    read: dict[str, list[Test]] = field(default_factory=dict)
    _sorted: dict[str, tuple[Test, ...]] = field(default_factory=dict)

    def of(self, registry: str) -> tuple[Test, ...]:
        """The tests that read a registry, sorted; asked for each entry, so `read` is complete by then."""
        if registry not in self._sorted:
            tests = set(self.read.get(registry, ()))
            self._sorted[registry] = tuple(sorted(tests, key=lambda test: (test.owner, test.name)))
        return self._sorted[registry]

    def reads(self, registry: str) -> bool:
        """Whether any test reads it in a way that is understood."""
        return registry in self.read

    def described(self, owner: str, name: str) -> tuple[Test, ...]:
        """The test that a `DecorateInfo` names, with its scope where this file defines it."""
        here = [test for test in self.of(name) if test.owner == owner]
        return tuple(here) or (Test(owner, name),)


def read_uses(tree: ast.Module) -> Uses:
    """The uses in one file; a registry that is joined into another (`|`, union, update) is read by the same tests."""
    only_for = _only_for(tree)
    uses = Uses()
    tests_by_name: dict[tuple[str, str], Test] = {}
    for owner, function in _functions(tree.body, ""):
        tests_by_name[owner, function.name] = _scoped(owner, function, only_for)
        for test, read in _read_by(owner, function, only_for):
            for name in (function.name, *read):
                uses.read.setdefault(name, []).append(test)
    for where, read in _read_by_calls(tree):
        for name in read:
            uses.read.setdefault(name, []).append(tests_by_name.get(where) or Test(*where))
    flows = list(_flows(tree))
    changed = True
    while changed:
        changed = False
        for source, target in flows:
            new = [test for test in uses.read.get(target, ()) if test not in uses.read.get(source, ())]
            if new:
                uses.read.setdefault(source, []).extend(new)
                changed = True
    return uses


def _functions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, node.name)
        elif isinstance(node, ast.FunctionDef):
            yield owner, node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _functions(node.body, owner)


def _scoped(owner: str, function: ast.FunctionDef, only_for: dict[str, tuple[str, ...]]) -> Test:
    """A test with the devices and dtypes that its decorators and its class leave."""
    devices, dtypes = only_for.get(owner, EVERY), EVERY
    for decorator in function.decorator_list:
        name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]
        devices = ONLY.get(name, devices)
        if isinstance(decorator, ast.Call) and name == "ops":
            dtypes = dtypes_of(keyword(decorator, "allowed_dtypes"))
    return Test(owner, function.name, devices, dtypes)


def _read_by(
    owner: str, function: ast.FunctionDef, only_for: dict[str, tuple[str, ...]]
) -> Iterator[tuple[Test, list[str]]]:
    """The tests that a function's decorators make of it, each with the names of the registries it reads."""
    scoped = _scoped(owner, function, only_for)
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        name = dotted(decorator.func).rpartition(".")[2]
        if name == "skipOps" and len(decorator.args) > 2:
            called, test = text(decorator.args[0]), text(decorator.args[1])
            devices = scoped.devices or only_for.get(called, EVERY)
            yield Test(called, test, devices, scoped.dtypes), _names(decorator.args[2])
        elif name == "decorateForModules" and len(decorator.args) > 1:
            yield scoped, _names(decorator.args[1])


def _read_by_calls(tree: ast.Module) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """The class and the test that a call at the top names, with the registries it is given.

    test/test_ops_unbacked.py: `apply_skip_decorators(op_db, "TestOpsUnbacked", "test_unbacked_op_db", …)`.
    """
    for node in tree.body:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and "skip" in dotted(node.value.func).lower()
        ):
            words = [text(argument) for argument in node.value.args]
            named = [at for at, word in enumerate(words[:-1]) if word.startswith("Test") and words[at + 1]]
            for at in named:
                yield (
                    (words[at], words[at + 1]),
                    [n for argument in node.value.args[at + 2 :] for n in _names(argument)],
                )


def _names(node: ast.AST) -> list[str]:
    return [child.id for child in all_nodes([node]) if isinstance(child, ast.Name)]


def _flows(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Pairs of registries of which the first is joined into the second."""
    for node in all_nodes([tree]):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            joined = isinstance(node.value, ast.BinOp) or (
                isinstance(node.value, ast.Call) and dotted(node.value.func).endswith(".union")
            )
            if joined:
                yield from ((name, node.targets[0].id) for name in _names(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            target = dotted(node.func.value)
            if target:
                yield from ((name, target) for argument in node.args for name in _names(argument))


def _only_for(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The devices of each test class that `instantiate_device_type_tests` makes for some only."""
    constants: dict[str, ast.expr] = {}
    devices_by_class = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if dotted(call.func).endswith("instantiate_device_type_tests") and call.args:
                allowed = keyword(call, "only_for")
                allowed = constants.get(allowed.id, allowed) if isinstance(allowed, ast.Name) else allowed
                named = [
                    constants.get(element.id, element) if isinstance(element, ast.Name) else element
                    for element in elements(allowed)
                ]
                devices_by_class[dotted(call.args[0])] = tuple(
                    device for element in named for device in devices_of(element)
                )
    return devices_by_class
