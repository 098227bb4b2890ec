"""Whether a check that a patch writes is the author's own: the statement it replaces raised for the same values.

`if n % 2: raise ValueError(m)` that becomes `torch._check_value(n % 2 == 0, lambda: m)` refuses nothing anew. Both are
run over drawn values, whatever the code around them makes of those, and wherever the check raises, what was there
before has to raise the same exception with the same message.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import importlib
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from corpus_patch import Check

OWN = "the author's own"
DRAWS = 300
"""So many sets of values are tried for a check."""
NUMBERS = range(-1, 4)
"""What is drawn of."""


class Own(NamedTuple):
    """What was seen of a check beside the statement it replaces."""

    refused: int
    """For so many of `DRAWS` sets of values the check raised, and what was there before the same."""
    difference: str
    """How both end for the first set of values that the check alone refuses, or otherwise; "" where there is none."""

    @property
    def same(self) -> bool:
        """Whether the check was seen to refuse and to take values, and refused nothing that was taken before."""
        return 0 < self.refused < DRAWS and not self.difference


class Drawn(int):
    """A number that has attributes, elements and results, which are such numbers, always the same of one seed."""

    path: str
    seed: int

    def __new__(cls, seed: int, path: str) -> Drawn:
        number = super().__new__(cls, _drawn(seed, path, len(NUMBERS)) + NUMBERS.start)
        number.seed, number.path = seed, path
        return number

    def __getattr__(self, name: str) -> Drawn:
        if name.startswith("__"):
            raise AttributeError(name)
        return Drawn(self.seed, f"{self.path}.{name}")

    def __call__(self, *arguments: Any) -> Drawn:
        return Drawn(self.seed, f"{self.path}({', '.join(map(repr, arguments))})")

    def __getitem__(self, index: Any) -> Drawn:
        return Drawn(self.seed, f"{self.path}[{index!r}]")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return int(self) == int(other)
        return not _drawn(self.seed, f"{self.path} is {other!r}", 2)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Drawn]:
        return (self[index] for index in range(len(self)))


def _drawn(seed: int, path: str, end: int) -> int:
    return zlib.crc32(f"{seed} {path}".encode()) % end


def replaced(before: str, after: str, checks: Sequence[Check]) -> dict[Check, tuple[list[ast.stmt], list[ast.stmt]]]:
    """For each of `checks`, which are of the file `after`: what of its message was changed before, and what it became.

    Both stand in the same function at the top of the file, and in the branches around them that the other is not in. A
    check is left out where nothing with its message stood there before.
    """
    changed: tuple[set[int], set[int]] = set(), set()
    matcher = difflib.SequenceMatcher(a=before.splitlines(), b=after.splitlines(), autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            changed[0].update(range(first + 1, last + 1))
            changed[1].update(range(start + 1, end + 1))
    sides = [_saying(text, lines) for text, lines in zip((before, after), changed, strict=True)]
    pairs: dict[Check, tuple[list[ast.stmt], list[ast.stmt]]] = {}
    for check in checks:
        key = next((key for key, said in sides[1].items() if check.first in {s.lineno for s, _ in said}), None)
        if key is not None and key in sides[0]:
            common = set.intersection(*(set(path) for side in sides for _, path in side[key]))
            function = around(after, check.first)
            pairs[check] = _held(sides[0][key], common, function), _held(sides[1][key], common, function)
    return pairs


_Said = tuple[ast.stmt, tuple[str, ...]]


def _saying(source: str, lines: set[int]) -> dict[tuple[str, str], list[_Said]]:
    """The statements on some of the lines that raise or check and do no more, by function and message.

    Each with the conditions under which it is reached.
    """
    said: dict[tuple[str, str], list[_Said]] = defaultdict(list)
    for top in ast.parse(source).body:
        for node, path in _reached([top], ()):
            if not lines.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1)) and (text := message(node)):
                said[getattr(top, "name", ""), text].append((node, path))
    return said


def _reached(statements: Sequence[ast.stmt], path: tuple[str, ...]) -> Iterator[_Said]:
    for statement in statements:
        yield statement, path
        test = f"({ast.unparse(statement.test)})" if isinstance(statement, ast.If) else ""
        for name in ("body", "orelse", "finalbody"):
            held = (f"not {test}" if name == "orelse" else test,) if test else ()
            yield from _reached(getattr(statement, name, []), (*path, *held))


def _held(said: Sequence[_Said], common: set[str], function: ast.AST) -> list[ast.stmt]:
    """The statements, each in branches on those of its conditions that are not `common` to all.

    What `function` assigns but once is the value of a condition that is such a variable.
    """
    held: list[ast.stmt] = []
    for statement, path in said:
        for condition in reversed([c for c in path if c not in common]):
            test = ast.parse(condition, mode="eval").body
            names = [part.id for part in ast.walk(test) if isinstance(part, ast.Name)]
            assigned = [
                n for n in ast.walk(function) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) in names
            ]
            statement = ast.If(test, [statement], [])
            held += assigned if len(assigned) == 1 else []
        held.append(statement)
    return held


def message(statement: ast.stmt) -> str:
    """What a statement says that raises or checks and does no more, as source; "" for other statements."""
    if isinstance(statement, ast.Assert):
        return ast.unparse(statement.msg) if statement.msg else ""
    if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise) and not statement.orelse:
        raised = statement.body[-1].exc
        said = raised.args[0] if isinstance(raised, ast.Call) and len(raised.args) == 1 else None
        if isinstance(said, ast.Name) and len(statement.body) == 2 and isinstance(statement.body[0], ast.Assign):
            said = statement.body[0].value
        return ast.unparse(said) if said is not None else ""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        last = statement.value.args[-1]
        checks = ast.unparse(statement.value.func).rpartition(".")[2].startswith("_check")
        return ast.unparse(last.body) if checks and isinstance(last, ast.Lambda) else ""
    return ""


def compared(
    before: Sequence[ast.stmt], after: Sequence[ast.stmt], function: ast.AST, scope: Mapping[str, Any]
) -> Own | None:
    """How the statements end over drawn values of the variables of `function`; None where a name is nobody's.

    `scope` holds what the file has of its own, and what it imports.
    """
    names = {part.id for s in (*before, *after) for part in ast.walk(s) if isinstance(part, ast.Name)}
    absent = {part.left.id for s in (*before, *after) for part in ast.walk(s)
              if isinstance(part, ast.Compare) and isinstance(part.left, ast.Name)
              and isinstance(part.ops[0], (ast.Is, ast.IsNot))}  # fmt: skip
    own = names & {*variables(function), *chain.from_iterable(map(variables, before))}
    if not all(name in own or name in scope or hasattr(builtins, name) for name in names):
        return None
    programs = [compile(ast.fix_missing_locations(ast.Module(list(s), [])), "<check>", "exec") for s in (before, after)]
    refused = 0
    for seed in range(DRAWS):
        drawn = {name: Drawn(seed, name) for name in own}
        values = {n: None if n in absent and number % 2 else number for n, number in drawn.items()}
        ends = [_end(program, {**scope, **values}) for program in programs]
        if ends[1] not in ("", ends[0]):
            return Own(refused, f"{ends[0] or 'nothing'} before, {ends[1]} after")
        refused += bool(ends[1])
    return Own(refused, "")


def variables(function: ast.AST) -> set[str]:
    """The parameters of a function, those of the functions inside it, and what they assign."""
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _end(program: Any, scope: dict[str, Any]) -> str:
    try:
        exec(program, scope)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def around(source: str, line: int) -> ast.AST:
    """The outermost function or class of a file that holds a line; the module where none does."""
    module = ast.parse(source)
    return next((n for n in module.body if n.lineno <= line <= (n.end_lineno or 0)), module)


def own_checks(plain: Path, patched: Path, checks: Sequence[Check]) -> list[tuple[str, str]]:
    """Those of the checks that are the authors' own, each `(place, how often both raised)`.

    `plain` and `patched` are the folders above the packages; this process runs the patched one.
    """
    from torch.fx.experimental import symbolic_shapes

    own: list[tuple[str, str]] = []
    for path, group in groupby(sorted(checks, key=lambda check: (check.path, check.first)), lambda check: check.path):
        before, after = (Path(folder, path).read_text("utf-8") for folder in (plain, patched))
        pairs = replaced(before, after, list(group))
        try:
            module = importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        except ImportError:
            continue
        scope = {**vars(symbolic_shapes), **vars(module)}
        for check, pair in pairs.items():
            seen = compared(*pair, around(after, check.first), scope)
            if seen is not None and seen.same:
                own.append((check.place, f"both raise the same for {seen.refused} of {DRAWS} sets of values"))
    return own
