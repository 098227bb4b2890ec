"""Undo what PyTorch's people wrote for symbols in PyTorch's own Python, and see what symfix writes in its place.

    python tests/corpus/undone.py PACKAGE [--checks] [--show]

PACKAGE is the folder of an installed torch; it stays as it is. In a copy `guard_or_false(c)` and its kin become `c`,
`sym_or(a, b)` becomes `a or b`, `torch.sym_max(a, b)` becomes `max(a, b)`, and so on; with `--checks` also
`torch._check(c, lambda: m)` becomes `if not c: raise RuntimeError(m)`. Then `symfix apply --level review` runs there.
Counted are calls of such functions: how many were undone; of them back, word for word; back with the same operands and
a function that decides otherwise where nothing is known (`guard_or_true` for `guard_or_false`), which is wrong by what
the people know; and written where they wrote none. Exit 1 where one decides otherwise.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import libcst as cst
from corpus_trees import apply_in

from transforms.python.flow.nodes import called
from transforms.python.writing.nodes import code, parenthesized

UNKNOWN: Mapping[str, bool] = {
    "guard_or_false": False, "statically_known_true": False, "definitely_true": False, "guard_or_true": True,
}  # fmt: skip
"""What they give for a truth that is not known (torch/fx/experimental/symbolic_shapes.py)."""
JOINED: Mapping[str, type[cst.BaseBooleanOp]] = {"sym_or": cst.Or, "sym_and": cst.And}
EXTREMA = {"sym_max": "max", "sym_min": "min"}
RAISED = {
    "_check": "RuntimeError", "_check_value": "ValueError", "_check_index": "IndexError", "_check_type": "TypeError",
    "_check_not_implemented": "NotImplementedError",
}  # fmt: skip
"""The functions of torch/__init__.py that check, with what they raise."""
SYMBOLIC = frozenset({*UNKNOWN, *JOINED, *EXTREMA, "sym_not", "sym_ite"})
_APART = ("_dynamo/", "_export/", "export/", "fx/", "testing/")  # how symbols are made, and tests

Calls = Counter[tuple[str, str]]
"""The calls of a function: by the name of the callee, and the first operand of a check, else all operands."""


class Outcome(NamedTuple):
    """What became of the calls of one function."""

    place: str
    undone: Calls
    back: Calls
    otherwise: Calls
    more: Calls


class Undo(cst.CSTTransformer):
    """Writes conditions and numbers as for sizes that are known, and with `checks` branches that raise."""

    def __init__(self, checks: bool) -> None:
        super().__init__()
        self._checks = checks

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """The operands, as Python joins them."""
        name, operands = _callee(updated_node), _operands(updated_node)
        match operands:
            case [operand] if name in UNKNOWN:
                return parenthesized(operand)
            case [operand] if name == "sym_not":
                return parenthesized(cst.UnaryOperation(cst.Not(), parenthesized(operand)))
            case [first, *others] if name in JOINED and others:
                joined = parenthesized(first)
                for other in others:
                    joined = cst.BooleanOperation(joined, JOINED[name](), parenthesized(other))
                return parenthesized(joined)
            case [_, _] if name in EXTREMA:
                return updated_node.with_changes(func=cst.Name(EXTREMA[name]))
            case [test, body, other] if name == "sym_ite":
                return parenthesized(cst.IfExp(parenthesized(test), parenthesized(body), parenthesized(other)))
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        """The branch that raises, for a check with a message."""
        statement = updated_node.body[0]
        if not self._checks or not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
            return updated_node
        error = RAISED.get(_callee(statement.value))
        match _operands(statement.value):
            case [condition, cst.Lambda(body=message)] if error and len(updated_node.body) == 1:
                raised = cst.Raise(cst.Call(cst.Name(error), [cst.Arg(message)]))
                return cst.If(
                    cst.UnaryOperation(cst.Not(), parenthesized(condition)),
                    cst.IndentedBlock([cst.SimpleStatementLine([raised])]),
                    leading_lines=updated_node.leading_lines,
                )
        return updated_node


def _callee(call: cst.Call) -> str:
    return code(call.func).rpartition(".")[2]


def _operands(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call is given, by place alone; nothing where it is given in another way."""
    plain = not any(argument.star or argument.keyword for argument in call.args)
    return [argument.value for argument in call.args] if plain else []


def calls_in(source: str) -> dict[str, Calls]:
    """The calls of each function of a file, without those of inner ones, by its qualified name and number."""
    found: dict[str, Calls] = {}

    def visit(node: ast.AST, around: tuple[str, ...], calls: Calls) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
                name, inner = ".".join((*around, child.name)), Calls()
                found[f"{name}#{sum(key.startswith(f'{name}#') for key in found)}"] = inner
                visit(child, (*around, child.name), inner)
                continue
            if isinstance(child, ast.Call) and (name := called(child)) in SYMBOLIC | RAISED.keys():
                operands = child.args[:1] if name in RAISED else child.args
                calls[name, ", ".join(map(ast.unparse, operands)).replace("torch.sym_", "sym_")] += 1
            visit(child, around, calls)

    visit(ast.parse(source), (), Calls())
    return found


def outcomes(path: str, written: str, undone: str, patched: str) -> list[Outcome]:
    """What became of the functions of a file of which calls were undone."""
    before, between, after = calls_in(written), calls_in(undone), calls_in(patched)
    found = []
    for name, calls in before.items():
        lost = calls - between.get(name, Counter())
        new = after.get(name, Counter()) - between.get(name, Counter())
        if not lost:
            continue
        more = new - lost
        otherwise = Counter({call: count for call, count in more.items() if _contradicts(call, lost - new)})
        found.append(Outcome(f"{path} {name.partition('#')[0]}", lost, lost & new, otherwise, more - otherwise))
    return found


def _contradicts(call: tuple[str, str], others: Calls) -> bool:
    name, operands = call
    return name in UNKNOWN and any(
        UNKNOWN.get(other, UNKNOWN[name]) != UNKNOWN[name] and same == operands for other, same in others
    )


def undo_in(package: Path, checks: bool) -> list[str]:
    """Undo the calls in the files of a package; returns the paths of those that changed, relative to it."""
    changed = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        source = path.read_text(encoding="utf-8", errors="surrogateescape")
        names = SYMBOLIC | RAISED.keys() if checks else SYMBOLIC
        if place.startswith(_APART) or not any(f"{name}(" in source for name in names):
            continue
        new = cst.parse_module(source).visit(Undo(checks)).code
        if new != source:
            path.write_text(new, encoding="utf-8", errors="surrogateescape")
            changed.append(place)
    return changed


def compare(package: Path, checks: bool, scratch: Path) -> list[Outcome]:
    """Undo, apply, and say what became of each function; `scratch` is an empty folder."""
    copies = [scratch / "undone" / "torch", scratch / "patched" / "torch"]
    shutil.copytree(package, copies[0], ignore=lambda folder, names: [n for n in names if not _of_interest(folder, n)])
    torchgen = package.parent / "torchgen" / "packaged"
    if torchgen.is_dir():
        shutil.copytree(torchgen, scratch / "undone" / "torchgen" / "packaged")
    changed = undo_in(copies[0], checks)
    shutil.copytree(scratch / "undone", scratch / "patched")
    apply_in(scratch / "patched", "review")
    texts = [
        [(tree / path).read_text(encoding="utf-8", errors="surrogateescape") for tree in (package, *copies)]
        for path in changed
    ]
    return [outcome for path, each in zip(changed, texts, strict=True) for outcome in outcomes(path, *each)]


def _of_interest(folder: str, name: str) -> bool:
    return name.endswith((".py", ".pyi")) or ((Path(folder) / name).is_dir() and name not in ("lib", "include", "bin"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, metavar="PACKAGE")
    parser.add_argument("--checks", action="store_true", help="undo checks too")
    parser.add_argument("--show", action="store_true", help="print the functions with what was written otherwise")
    options = parser.parse_args(arguments)
    if not (options.package / "fx").is_dir():
        parser.error(f"{options.package}: not the folder of a torch package; pass …/site-packages/torch")
    with tempfile.TemporaryDirectory(prefix="symfix-undone-") as scratch:
        found = compare(options.package, options.checks, Path(scratch))
    for outcome in found:
        shown = [("otherwise", outcome.otherwise), *([("more", outcome.more)] if options.show else [])]
        for word, calls in shown:
            for name, operands in calls:
                print(f"{outcome.place}: {word}: {name}({operands})")
    undone, back, otherwise, more = (
        sum(calls.total() for calls in column)
        for column in ([getattr(outcome, name) for outcome in found] for name in Outcome._fields[1:])
    )
    print(f"{undone} calls undone in {len(found)} functions: {back} back as written, {otherwise} decide otherwise, "
          f"{more} more, {undone - back - otherwise} left to people")  # fmt: skip
    return 1 if otherwise else 0


if __name__ == "__main__":
    raise SystemExit(main())
