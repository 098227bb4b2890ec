"""Operators that Python makes without a fake: the rule `missing-fake` (transforms/cpp/rules/missing_fake.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.transform import Project
from transforms.python.reach.fakes import fakes_of
from transforms.python.reach.reached import ELSEWHERE
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import SourceTree, tree_path

RULE = "missing-fake"
_CPP = (".cpp", ".cc", ".cxx", ".cu")


def unfaked(project: Project, tree: SourceTree, registrations: Registrations) -> Iterator[Finding]:
    """A finding for each `custom_op` of the selected files that gets no fake, but in PyTorch itself.

    What writes to an argument and returns None needs none (can_generate_trivial_fake_impl in torch/_library/utils.py),
    and what C++ names may have its Meta kernel there.
    """
    fakes = fakes_of(registrations, project.read)
    seen: set[str] = set()
    for definition, roles in registrations.roles.items():
        where = "/" + tree_path(tree, definition.path)
        if not project.selected(definition.path) or ELSEWHERE.search(where) or where.startswith("/torch/"):
            continue
        for operator in sorted({role.operator for role in roles if role.opaque and not role.kind and role.operator}):
            if operator in seen or fakes.has(operator) or _in_cpp(project, operator):
                continue
            seen.add(operator)
            source = project.read(definition.path)
            node = _function(source, definition.function.line, definition.function.own_name)
            if node is not None and not (isinstance(node.returns, ast.Constant) and node.returns.value is None):
                yield _finding(definition.path, source, definition.function.line, operator, node)


def _in_cpp(project: Project, operator: str) -> bool:
    name = operator.rpartition("::")[2].encode()
    return any(b'"' + name in project.read(path) for path in project.files(_CPP))


def _function(source: bytes, line: int, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None


def _finding(
    path: str, source: bytes, line: int, operator: str, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> Finding:
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
        Mode.LEAK,
        RULE,
        Level.MANUAL,
        node.name,
        (operator,),
        f"{operator} is a custom_op, and no fake was found",
        f"register a fake: {sketch}",
        "no-fake",
        (Step(path, line, f"{operator} is made by torch.library.custom_op"),),
    )
