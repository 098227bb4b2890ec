"""What a rule sees of the place it looks at, and what it answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from codemod.model.findings import Level
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.sites import Site
from transforms.python.reach.composites import Composite
from transforms.python.writing.expressions import Composer
from transforms.python.writing.logic import Conditions, code, parse_expression
from transforms.python.writing.names import Layout, Names

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
WIDTH = 88


class Change(NamedTuple):
    """Replace the bytes `[start, end)` by `text`. Of several insertions at one place the lower `order` comes first."""

    start: int
    end: int
    text: str
    order: int = 0


class Rewrite(NamedTuple):
    """A rule's answer. Without changes it is a refusal: `refusal` names the cause, `reason` is a sentence."""

    level: Level
    message: str
    changes: tuple[Change, ...] = ()
    reason: str = ""
    refusal: str = ""
    plain: tuple[str, ...] = ()
    """Variables that hold no symbol any more."""


class Place:
    """A site in its function.

    `inlined`: Dynamo traces the function, so a message may not close over sizes.
    `scripted`: TorchScript reads it, so it may hold no lambda, no import and no function TorchScript does not know.
    `composite`: what it can stand in for, where it is a decomposition that tracing does not reach.
    """

    def __init__(
        self,
        site: Site,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        nodes: Sequence[ast.AST],
        values: Interpreter,
        layout: Layout,
        names: Names,
        inlined: bool,
        composite: Composite | None = None,
    ) -> None:
        self.site = site
        self.composite = composite
        self.function = function
        self.nodes = nodes
        self.values = values
        self.layout = layout
        self.names = names
        self.inlined = inlined
        self.scripted = names.scripted
        self.conditions = Conditions(values, names, inlined or self.scripted)

    def tree(self, node: ast.expr) -> cst.BaseExpression:
        """A libcst tree of an expression, without the parentheses around it, its inner calls already rewritten."""
        tree = parse_expression(self.text(node))
        composed = tree.visit(Composer(self.conditions))
        assert isinstance(composed, cst.BaseExpression)
        return composed

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node."""
        return self.layout.text(self.layout.start(node), self.layout.end(node))

    def replaced(self, node: ast.expr, new: cst.BaseExpression) -> tuple[Change, ...]:
        """The smallest changes that turn an expression into another; TorchScript keeps the old one."""
        old, text = self.text(node), code(new)
        if self.scripted and re.search(rf"\b{self.names.torch}\._?sym_", text):
            text = f"({old} if {self.names('torch.jit')}.is_scripting() else {text})"
        column = self.layout.start(node) - self.layout.line_start(node.lineno)
        if "\n" not in text and column + len(text) > WIDTH and "\n" in old:
            text = folded(new, self.layout.lines[node.lineno - 1], self.layout.newline)
        if "\n" in text and not self._enclosed(node) and not text.endswith(")"):
            text = f"({text})"
        return difference(self.layout.start(node), old, text)

    def _enclosed(self, node: ast.expr) -> bool:
        source, at = self.layout.source, self.layout.start(node)
        while source[at - 1 : at].isspace():
            at -= 1
        return source[at - 1 : at] in (b"(", b"[", b"{", b",", b"=")

    def assigned(self, name: str) -> list[ast.expr | None]:
        """What a variable is assigned in the function; None for a parameter, and where that is not to be seen."""
        values: list[ast.expr | None] = [
            None for argument in ast.walk(self.function.args) if getattr(argument, "arg", "") == name
        ]
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                holders = (
                    assignment.value
                    for assignment in self.nodes
                    if isinstance(assignment, ast.Assign) and assignment.targets == [node]
                )
                values.append(next(holders, None))
        return values

    def check(self, condition: cst.BaseExpression, indent: str, function: str = "_check") -> str:
        """The lines that hold `condition` to be true, with `indent` and a newline behind each."""
        newline, torch = self.layout.newline, self.names.torch
        text = re.sub(r"\s*\n\s*", " ", code(condition)) if "#" not in code(condition) else code(condition)
        if self.scripted:
            lines = [f"if not {torch}.jit.is_scripting():", f"    {torch}.{function}({text})"]
        else:
            assumption = re.sub(r"\s+", " ", text).replace("\\", "\\\\").replace('"', "'")
            assumption = re.sub(
                r"\b(?:\w+\.)*sym_(?:and|or|not|eq)\b", lambda m: m.group().rpartition(".")[2], assumption
            )
            message = f'lambda: "expected {assumption}, which was assumed while tracing"'
            lines = [f"{torch}.{function}({text}, {message})"]
            if len(indent) + len(lines[0]) > WIDTH:
                if len(indent) + len(text) > WIDTH - 5:
                    text = folded(condition, "    ", newline + indent)
                lines = [f"{torch}.{function}(", f"    {text},", f"    {message},", ")"]
        return "".join(f"{indent}{line}{newline}" for line in lines)


def folded(node: cst.BaseExpression, line: str | bytes, newline: str) -> str:
    """A call of several arguments with each on a line of its own, below a line whose indent it takes over."""
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    if not isinstance(node, cst.Call) or len(node.args) < 2 or "\n" in code(node):
        return code(node)
    indent = text[: len(text) - len(text.lstrip())] if text.strip() else text
    arguments = "".join(f"{newline}{indent}    {argument.star}{code(argument.value)}," for argument in node.args)
    return f"{code(node.func)}({arguments}{newline}{indent})"


def difference(start: int, old: str, new: str) -> tuple[Change, ...]:
    """The changes, token by token, that turn `old`, which begins at the byte `start`, into `new`."""
    import difflib

    before, after = TOKEN.findall(old), TOKEN.findall(new)
    offsets = [start]
    for token in before:
        offsets.append(offsets[-1] + len(token.encode()))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        Change(offsets[a], offsets[b], "".join(after[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    )
