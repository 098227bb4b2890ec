"""What a rule sees of the place it looks at, and what it answers."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from codemod.model.findings import Level
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import all_nodes, blocks, bound_otherwise, computed_with, spoken, variables_in
from transforms.python.flow.sites import Site, is_traced
from transforms.python.flow.values import INT, Value
from transforms.python.reach.composites import Composite
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.expressions import Composer
from transforms.python.writing.logic import NOWHERE, Conditions, Undecided
from transforms.python.writing.names import Layout, Names
from transforms.python.writing.nodes import Moved, code, parse_expression, parsed
from transforms.python.writing.present import present_tensors

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
EXPORTED = "exported"
"""The refusal of what is a plain number to torch.export alone: Dynamo keeps it symbolic."""


class Change(NamedTuple):
    """Replace the bytes `[start, end)` by `text`. Of several insertions at one place the lower `order` comes first."""

    start: int
    end: int
    text: str
    order: int = 0

    @property
    def inserts(self) -> bool:
        """Whether it replaces nothing."""
        return self.start == self.end


class Rewrite(NamedTuple):
    """A rule's answer. Without changes it is a refusal: `refusal` names the cause, `reason` is a sentence.

    `general` is what the condition of a branch comes to where nothing is known; None where that is not settled.
    `always`: what it changes fails for every symbol, known or not, so that it serves wherever else a call may stop.
    """

    level: Level
    message: str
    changes: tuple[Change, ...] = ()
    reason: str = ""
    refusal: str = ""
    general: bool | None = None
    always: bool = False


def left_to_export(message: str, keeps: str) -> Rewrite:
    """The refusal of a place that Dynamo keeps symbolic and torch.export does not, with what `keeps` it there too."""
    reason = f"torch.export runs a module's Python itself unless it is strict, and asks for the number here: {keeps}"
    return Rewrite(Level.MANUAL, message, reason=reason, refusal=EXPORTED)


class Place:
    """A site in its function.

    `inlined`: Dynamo traces the function, so a message may not close over sizes; `exported`: it keeps this site
    symbolic, which torch.export does not.
    `shared`: eager, TorchScript or Inductor run the same code, which then holds no lambda, no import and no check that
    takes bools alone; `scripted`: TorchScript reads it. `dispatched`: none of these, but the dispatcher, calls it.
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
        composite: Composite | None = None,
    ) -> None:
        self.site = site
        self.composite = composite
        self.function = function
        self.nodes = nodes
        self.values = values
        self.layout = layout
        self.names = names
        self.inlined = names.inlined
        self.exported = names.inlined and is_traced(site)
        self.shared = names.shared
        self.scripted = names.scripted
        self.dispatched = not (names.inlined or names.shared)
        self.conditions = Conditions(
            values, names, functools.partial(_movable, function, site, names, values), names.of_shapes
        )

    def whole(self, node: ast.expr) -> bool:
        """Whether a number is an int or a SymInt; the dispatcher gives a parameter of a size's kind no other number."""
        value = self.values.value(node)
        given = isinstance(node, ast.Name) and self.assigned(node.id) == [None]
        return value.integral or (self.dispatched and given and value.kind == INT and value.sure and not value.optional)

    def tree(self, node: ast.expr) -> cst.BaseExpression:
        """A libcst tree of an expression, without the parentheses around it, its inner calls already rewritten.

        Where Dynamo traces the function they stay: it makes builtins symbolic by itself.
        """
        tree = parse_expression(self.text(node))
        if self.inlined:
            return tree
        composed = tree.visit(Composer(self.conditions))
        assert isinstance(composed, cst.BaseExpression)
        return composed

    def names_in_scope(self) -> set[str]:
        """The names that the function reads or binds, or that the functions around it do."""
        return variables_in(self.function) | self.values.variables.keys()

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The block of the function that a statement of it stands in."""
        holders = (node for node in (self.function, *self.nodes) if isinstance(node, ast.stmt))
        return next(block for holder in holders for block in blocks(holder) if statement in block)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node."""
        return self.layout.text(self.layout.start(node), self.layout.end(node))

    def replaced(self, node: ast.expr, new: cst.BaseExpression) -> tuple[Change, ...]:
        """The smallest changes that turn an expression into another; TorchScript keeps the old one."""
        old, text = self.text(node), code(new)
        if self.scripted and re.search(r"\b\w+\._?sym_(?:ite|m(?:in|ax)|int|float)\b", text):
            text = f"({old} if {self.names('torch.jit')}.is_scripting() else {text})"
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
        return list(self._assigned.get(name, ()))

    @functools.cached_property
    def _assigned(self) -> dict[str, list[ast.expr | None]]:
        """`assigned` of each variable, parameters first."""
        values: dict[str, list[ast.expr | None]] = {}
        for argument in all_nodes([self.function.args]):
            if isinstance(argument, (ast.arg, ast.keyword)) and argument.arg is not None:
                values.setdefault(argument.arg, []).append(None)
        assignments = (node for node in self.nodes if isinstance(node, ast.Assign) and len(node.targets) == 1)
        by_target: dict[int, ast.expr] = {}
        for assignment in assignments:
            targets, given = assignment.targets[0], assignment.value
            by_target[id(targets)] = given
            if isinstance(targets, ast.Tuple) and isinstance(given, ast.Tuple) and len(targets.elts) == len(given.elts):
                names = {part.id for part in ast.walk(targets) if isinstance(part, ast.Name)}
                for target, value in zip(targets.elts, given.elts, strict=True):
                    # In `a, b = b, a` the parts of a value hold something else behind the assignment.
                    if not any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value)):
                        by_target[id(target)] = value
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                values.setdefault(node.id, []).append(by_target.get(id(node)))
        for name in bound_otherwise(self.nodes):
            values.setdefault(name, []).append(None)
        return values

    def passed(self, argument: ast.arg) -> Value:
        """What a parameter holds when the function begins."""
        return self.values.value(ast.Name(argument.arg, ast.Load(), lineno=0, col_offset=0))

    def around(self, node: ast.AST) -> ast.AST | None:
        """What of the function holds a node directly; None for what stands in a function inside."""
        return self._holders.get(id(node))

    @functools.cached_property
    def _holders(self) -> dict[int, ast.AST]:
        return {id(part): holder for holder in self.nodes for part in ast.iter_child_nodes(holder)}

    def is_with_tensor(self, operation: ast.BinOp, operand: ast.AST) -> bool:
        """Whether an operand is computed with a Tensor, element by element."""
        other = operation.right if operation.left is operand else operation.left
        return not isinstance(operation.op, ast.MatMult) and self.values.surely_tensor(other)

    def product(self) -> str:
        """What math.prod is called. Raises Undecided where it is not, or is not for all who run the function."""
        if self.shared:
            raise Undecided("code other than tracing runs this function too, and torch.fx does not trace math.prod")
        if not self.names.module("math"):
            raise Undecided("the product of the sizes needs math.prod, and the file does not import math")
        return f"{self.names.module('math')}.prod"

    @property
    def decomposes(self) -> bool:
        """Whether what the function computes is what runs, and not only the shape of what a kernel does."""
        return any("register_decomposition" in ast.unparse(decorator) for decorator in self.function.decorator_list)

    @functools.cached_property
    def in_loop(self) -> bool:
        """Whether the place stands in a loop of the function."""
        loops = (node for node in self.nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
        return any(part is self.site.node for loop in loops for part in ast.walk(loop))

    @functools.cached_property
    def augmented(self) -> dict[str, list[ast.AugAssign]]:
        """The assignments `x += …` and their kin of the function, by the source of what they change."""
        changed: dict[str, list[ast.AugAssign]] = {}
        for node in self.nodes:
            if isinstance(node, ast.AugAssign):
                changed.setdefault(ast.unparse(node.target), []).append(node)
        return changed

    def check(self, condition: cst.BaseExpression, indent: str) -> str:
        """The lines that hold `condition` to be true, with `indent` and a newline behind each.

        Only for what must hold for memory to be read right; that a path was picked is no reason for a check.
        """
        text = re.sub(r"\s*\n\s*", " ", code(condition))
        line = f"{self.names('torch._check')}({text}, lambda: {expectation(text)})"
        return f"{indent}{line}{self.layout.newline}"


def expectation(condition: str) -> str:
    """A string literal that says what was expected, for a check whose author gave no message."""
    tree = ast.parse(condition.strip(), mode="eval")
    spoken = _Spoken()
    said = spoken.visit(tree)
    text = ast.unparse(said) if spoken.changed else re.sub(r"\s+", " ", condition)
    return '"expected {}"'.format(text.replace("\\", "\\\\").replace('"', "'"))


class _Spoken(ast.NodeTransformer):
    """Puts what each condition says in its place."""

    changed = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        said = spoken(node)
        self.changed = self.changed or said is not node
        return said


def _movable(
    function: ast.FunctionDef | ast.AsyncFunctionDef, site: Site, names: Names, values: Interpreter, moved: Moved
) -> bool:
    """Whether operands can neither raise, call nor assign where their short circuit no longer holds them back.

    No method of Place: what it has of itself would hold the tree of its file until garbage is collected.
    """
    evaluated = evaluated_before(function, site.node, names.top.arithmetic)
    for held, truth in moved.held:
        operand = _anywhere(held)
        evaluated.add(operand)
        evaluated.add_outcome(operand, truth)
    evaluated.add(_anywhere(moved.evaluated))
    present = present_tensors(function)
    operands = list(map(_anywhere, moved.operands))
    return all(evaluated.may_move(operand, present) for operand in operands) and all(
        values.value(part).numbers or ast.unparse(part) in evaluated.texts
        for operand in operands
        for part in computed_with(operand)
    )


def _anywhere(node: cst.BaseExpression) -> ast.expr:
    """An expression that stands on no line of the function."""
    tree = parsed(node)
    ast.increment_lineno(tree, NOWHERE)
    return tree


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


def merged_insertions(changes: list[Change]) -> dict[int, Change]:
    """Insertions at one place as one insertion, each text once."""
    insertions: dict[int, Change] = {}
    for change in sorted(changes, key=lambda change: change.order):
        if change.inserts:
            held = insertions.get(change.start)
            text = change.text if held is None else held.text + change.text
            insertions[change.start] = Change(change.start, change.start, text)
    return insertions
