"""One import of a module for each scope, among the others in the order in which ruff, isort and usort keep them.

These sort by section (`__future__`, the standard library, other packages, the tree's own, relative imports), in each
`import …` before `from … import …`, and both by the module's name. What a file keeps in another order stays as it is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from transforms.python.writing.names import Layout

Import: TypeAlias = ast.Import | ast.ImportFrom
Fits: TypeAlias = Callable[[str], bool]
"""Whether a line is within the limit of the tree."""


class Insertion(NamedTuple):
    """Text to put before the byte `offset` (or instead of the bytes up to `end`)."""

    offset: int
    end: int
    text: str


class Written(NamedTuple):
    """How the statements of a scope are written: their indentation, one level of it, and what fits on a line."""

    layout: Layout
    path: str
    indent: str
    unit: str
    fits: Fits


def extended(
    node: ast.ImportFrom, names: set[str], written: Written, unused: frozenset[str] = frozenset()
) -> list[Insertion]:
    """The change that adds `names` to an import, sorted where its own are, and takes those `unused` out of it."""
    layout = written.layout
    spelled = {alias.name: _spelled(alias) for alias in node.names}
    missing = sorted(names - spelled.keys())
    if not missing and not unused:
        return []
    first, last = node.names[0], node.names[-1]
    start = layout.offset(first.lineno, first.col_offset)
    end = layout.offset(last.end_lineno or last.lineno, last.end_col_offset or 0)
    source = layout.text(layout.start(node), layout.end(node))
    spelled.update((name, name) for name in missing)
    ordered = [spelled[name] for name in _merged([alias.name for alias in node.names], missing) if name not in unused]
    several = "\n" in source
    if not ordered:
        return _removed(node, layout)
    if "#" in source or "\\" in source:
        return [Insertion(end, end, "".join(f", {name}" for name in missing))]
    if not several:
        line = layout.text(layout.line_start(node.lineno), layout.line_end(node.lineno))
        column = layout.text(layout.line_start(node.lineno), start)
        if written.fits(column + ", ".join(ordered) + line[len(column) + len(layout.text(start, end)) :]):
            return [Insertion(start, end, ", ".join(ordered))]
    if source.endswith(")") != several:
        return [Insertion(start, end, ", ".join(ordered))]
    statement = _statement(node.module or "", ordered, written, several=True)
    return [Insertion(layout.start(node), layout.end(node), statement.removeprefix(written.indent))]


def unneeded(
    body: Sequence[ast.stmt], layout: Layout, changes: Sequence[Sequence[tuple[int, int, str]]]
) -> Iterator[tuple[set[int], list[Insertion]]]:
    """Each `import x` of a file's `body` of which the `changes` (start, end, text) of functions take away every use.

    Yields the indexes of the functions that take some away, and what takes away the import.
    """
    for node in body:
        if not isinstance(node, ast.Import) or len(node.names) != 1 or "." in (name := _spelled(node.names[0])):
            continue
        word = re.compile(rb"\b%s\b" % name.rpartition(" ")[2].encode())
        taken = [
            sum(len(word.findall(layout.source[a:b])) - len(word.findall(text.encode())) for a, b, text in function)
            for function in changes
        ]
        if 0 < sum(taken) == len(word.findall(layout.source)) - 1 and (removed := _removed(node, layout)):
            yield {index for index, number in enumerate(taken) if number}, removed


def _removed(node: Import, layout: Layout) -> list[Insertion]:
    """The change that takes away an import with lines to itself, and blank lines that would stand there for nothing."""
    start, end = layout.line_start(node.lineno), layout.line_end(node.end_lineno or node.lineno)
    if layout.text(start, end).strip() != layout.text(layout.start(node), layout.end(node)):
        return []
    last = node.end_lineno or node.lineno
    above = layout.lines[node.lineno - 2].strip() if node.lineno > 1 else b":"
    blank = next((n for n, line in enumerate(layout.lines[last:]) if line.strip()), 0)
    last += blank if above.endswith(b":") else min(blank, 1) if not above else 0
    return [Insertion(start, layout.offsets[last], "")]


def added(statements: Sequence[ast.stmt], module: str, names: set[str], written: Written) -> Insertion | None:
    """The insertion of `from module import names` among the imports of `statements`; None where there are none."""
    return _among(statements, module, (True, module.casefold()), _statement(module, sorted(names), written), written)


def added_module(statements: Sequence[ast.stmt], module: str, written: Written) -> Insertion | None:
    """The insertion of `import module` among the imports of `statements`; None where there are none."""
    return _among(statements, module, (False, module.casefold()), f"import {module}", written)


def _among(
    statements: Sequence[ast.stmt], module: str, key: tuple[bool, str], line: str, written: Written
) -> Insertion | None:
    """The insertion of an import of a module where its `key` belongs among others."""
    layout, newline = written.layout, written.layout.newline
    text = line + newline
    sections = list(_sections(statements, written))
    if not sections:
        return None
    rank = _section(module, 0, written.path)
    package = module.partition(".")[0]
    same = [section for section in sections if _rank(section[0], written.path) == rank]
    holding = next((s for s in same if any(package in _packages(node) for node in s)), next(iter(same), None))
    if holding is not None:
        later = [node for node in holding if _key(node) > key]
        if later and later == holding[len(holding) - len(later) :]:
            offset = layout.line_start(later[0].lineno)
        else:
            offset = layout.offsets[holding[-1].end_lineno or holding[-1].lineno]
        return Insertion(offset, offset, text)
    before = [section for section in sections if _rank(section[0], written.path) < rank]
    if before:
        offset = layout.offsets[before[-1][-1].end_lineno or before[-1][-1].lineno]
        return Insertion(offset, offset, newline + text)
    offset = layout.line_start(sections[0][0].lineno)
    return Insertion(offset, offset, text + newline)


def statement(module: str, names: set[str], written: Written) -> str:
    """`from module import names`, its indentation in front, on as many lines as it takes."""
    return _statement(module, sorted(names), written)


def _statement(module: str, names: Sequence[str], written: Written, several: bool = False) -> str:
    line = f"{written.indent}from {module} import {', '.join(names)}"
    if not several and written.fits(line):
        return line
    newline = written.layout.newline
    lines = "".join(f"{written.indent}{written.unit}{name},{newline}" for name in names)
    return f"{written.indent}from {module} import ({newline}{lines}{written.indent})"


def _merged(present: Sequence[str], missing: Sequence[str]) -> list[str]:
    """The names of an import, with others where its own order has them, else behind."""
    for key in (_by_type, str.casefold, str):
        if list(present) == sorted(present, key=key):
            return sorted((*present, *missing), key=key)
    return [*present, *missing]


def _by_type(name: str) -> tuple[int, str]:
    """The order of ruff and isort: constants, then classes, then the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.casefold()


def _sections(statements: Sequence[ast.stmt], written: Written) -> Iterator[list[Import]]:
    """The imports of a scope that stand on lines of their own, apart where a blank line or anything else parts them."""
    layout, section = written.layout, list[Import]()
    for node in statements:
        alone = isinstance(node, (ast.Import, ast.ImportFrom)) and layout.indent(node) == written.indent
        if isinstance(node, (ast.Import, ast.ImportFrom)) and alone and not _shares_line(node, layout):
            if section and _parted(section[-1], node, layout):
                yield section
                section = []
            section.append(node)
        elif section:
            yield section
            section = []
    if section:
        yield section


def _parted(above: Import, below: Import, layout: Layout) -> bool:
    between = layout.lines[above.end_lineno or above.lineno : below.lineno - 1]
    return any(not line.strip() for line in between)


def _shares_line(node: Import, layout: Layout) -> bool:
    """Whether anything but a comment stands behind a statement on its last line."""
    tail = layout.text(layout.end(node), layout.line_end(node.end_lineno or node.lineno)).strip()
    return bool(tail) and not tail.startswith("#")


def _key(node: Import) -> tuple[bool, str]:
    if isinstance(node, ast.Import):
        return False, node.names[0].name.casefold()
    return True, ("." * node.level + (node.module or "")).casefold()


def _packages(node: Import) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if not node.level else []


def _rank(node: Import, path: str) -> int:
    if isinstance(node, ast.Import):
        return _section(node.names[0].name, 0, path)
    return _section(node.module or "", node.level, path)


def _section(module: str, level: int, path: str) -> int:
    """Which section an import of the file `path` belongs to; the tree's own packages are those of the path."""
    package = module.partition(".")[0]
    if level:
        return 4
    if package == "__future__":
        return 0
    if package in sys.stdlib_module_names:
        return 1
    return 3 if package in re.split(r"[/.]", path) else 2


def _spelled(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
