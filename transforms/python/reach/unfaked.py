"""Operators that Python makes without a fake: the rule `missing-fake` (transforms/cpp/rules/missing_fake.py)."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Collection, Iterable

from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.transform import Project
from transforms.python.flow.nodes import all_nodes, own_nodes
from transforms.python.reach.fakes import fakes_of
from transforms.python.reach.reached import ELSEWHERE
from transforms.python.reach.registrars import Role
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import Definition

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

RULE = "missing-fake"
_CPP = (".cpp", ".cc", ".cxx", ".cu", ".hip", ".mm")


def unfaked(project: Project, registrations: Registrations) -> list[Finding]:
    """A finding for each operator that the selected files make and that gets no fake, but in PyTorch itself.

    Python makes it by `custom_op`, or by a Library and kernels. What writes to an argument and returns nothing needs no
    fake (can_generate_trivial_fake_impl in torch/_library/utils.py), and what C++ names may have its Meta kernel there.
    """
    fakes = functools.cache(lambda: fakes_of(registrations, project.read))
    made: dict[str, tuple[Definition, Role]] = {}
    for definition, roles in registrations.roles.items():
        where = registrations.tree.import_path(definition.path)
        if not project.selected(definition.path) or ELSEWHERE.search(where) or where.startswith("torch/"):
            continue
        for role in sorted(roles):
            concrete = role.dispatched and not role.traced and role.operator in registrations.defined_here
            if role.operator and not role.kind and (role.opaque or concrete) and not fakes().has(role.operator):
                made.setdefault(role.operator, (definition, role))
    in_cpp = _in_cpp(project, made)
    lacking = [held for operator, held in sorted(made.items()) if operator not in in_cpp]
    nodes = _nodes(project, [definition for definition, _ in lacking])
    findings = (_of_operator(project, definition, role, nodes.get(definition)) for definition, role in lacking)
    return [finding for finding in findings if finding is not None]


def _in_cpp(project: Project, operators: Collection[str]) -> set[str]:
    """Those of `operators` that some C++ file may register: it has a string that begins with the name."""
    names = {operator.rpartition("::")[2].encode(): operator for operator in operators}
    if not names:
        return set()
    pattern = re.compile(rb'"(?:\w+::)?(' + b"|".join(sorted(map(re.escape, names))) + rb")\b")
    mentioned = {name for path in project.files(_CPP) for name in pattern.findall(project.read(path))}
    return {operator for operator in operators if operator.rpartition("::")[2].encode() in mentioned}


def _of_operator(project: Project, definition: Definition, role: Role, node: FunctionNode | None) -> Finding | None:
    if node is None or _returns_nothing(node):
        return None
    return _finding(definition.path, project.read(definition.path), definition.function.line, role, node)


def _returns_nothing(node: FunctionNode) -> bool:
    """Whether a function says that it returns None, or has no `return` with a value."""
    if node.returns is not None:
        return isinstance(node.returns, ast.Constant) and node.returns.value is None
    returned = (inner for inner in own_nodes(node) if isinstance(inner, ast.Return))
    return all(inner.value is None for inner in returned)


def _nodes(project: Project, definitions: Iterable[Definition]) -> dict[Definition, FunctionNode]:
    """The nodes of functions, of those that are found; each file is parsed once."""
    by_path: dict[str, list[Definition]] = {}
    for definition in definitions:
        by_path.setdefault(definition.path, []).append(definition)
    found: dict[Definition, FunctionNode] = {}
    for path, in_file in by_path.items():
        nodes = all_nodes([ast.parse(project.read(path))])
        functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for definition in in_file:
            name, line = definition.function.own_name, definition.function.line
            meant = (node for node in functions if node.name == name and _first_line(node) <= line <= node.lineno)
            found.update((definition, node) for node in itertools.islice(meant, 1))
    return found


def _first_line(node: FunctionNode) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _finding(path: str, source: bytes, line: int, role: Role, node: FunctionNode) -> Finding:
    operator = role.operator
    what = "is a custom_op" if role.opaque else "has kernels from Python"
    how = "is made by torch.library.custom_op" if role.opaque else f"is {role.why}"
    start = sum(len(text) for text in source.splitlines(keepends=True)[: node.lineno - 1]) + node.col_offset
    names = ast.arguments(
        posonlyargs=[ast.arg(a.arg) for a in node.args.posonlyargs],
        args=[ast.arg(a.arg) for a in node.args.args],
        kwonlyargs=[ast.arg(a.arg) for a in node.args.kwonlyargs],
        kw_defaults=node.args.kw_defaults,
        defaults=node.args.defaults,
    )
    returns = f"  # -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    sketch = f'@torch.library.register_fake("{operator}") def _({ast.unparse(names)}): ...{returns}'
    return Finding(
        path,
        start,
        start + len(f"def {node.name}"),
        node.lineno,
        node.col_offset + 1,
        Mode.TENSOR_ITERATOR,
        RULE,
        Level.MANUAL,
        node.name,
        (operator,),
        f"{operator} {what}, and no fake was found",
        f"register a fake: {sketch}",
        "no-fake",
        (Step(path, line, f"{operator} {how}"),),
    )
