"""Branches that pad a tensor where there is something to pad, and what they pad by where there is nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import blocks, called, is_read, run_before, variables_in
from transforms.python.flow.parameters import may_be_left_out
from transforms.python.flow.torch_names import TORCH_MODULES
from transforms.python.flow.values import INT
from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.fillings import Filled, filled_by, is_filling
from transforms.python.writing.logic import Undecided
from transforms.python.writing.numbers import FEWEST, PLAIN, Arithmetic, value_of
from transforms.python.writing.place import Change, Place
from transforms.python.writing.remainders import is_changed

_PADS = {"pad": ("input", "pad", "mode", "value"), "constant_pad_nd": ("input", "pad", "value")}
"""The parameters of the functions that pad: torch/nn/functional.py, native_functions.yaml."""


class Padding(NamedTuple):
    """What a branch pads by, the amounts of all calls together, and variables that it sets to that end."""

    amounts: list[ast.expr]
    held: dict[str, ast.expr]
    joined: Sequence[Filled] = ()
    """What is joined with a filling, and not padded otherwise."""
    outliving: frozenset[str] = frozenset()
    """The variables among `held` that are read elsewhere too."""


class Padded(NamedTuple):
    """What is padded by the same amounts, by the variables that are given it."""

    tensors: dict[str, ast.expr]
    amounts: ast.expr
    joined: tuple[Filled, ...] = ()


def padding(place: Place, padded: Sequence[ast.stmt], kept: Sequence[ast.stmt]) -> Padding | None:
    """What one path of a branch pads by with a constant, where the other keeps the tensors as they are; else None."""
    found, targets, changed = Padding([], {}), set[str](), set[str]()
    joined: list[Filled] = []
    fillings: dict[str, ast.expr] = {}
    nothing = {id(s): ast.unparse(s.targets[0]) for s in kept if isinstance(s, ast.Assign) and _is_nothing(s)}
    keeping = [s for s in kept if id(s) not in nothing]
    lengths: list[ast.expr] = []
    for statement in padded:
        if (longer := _lengthened(place, statement)) is not None:
            # A number that is as much more as the tensor is longer.
            name, more = longer
            if name in {*found.held, *fillings, *changed} or not changed.isdisjoint(variables_in(more)):
                return None
            lengths.append(more)
            changed.add(name)
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        given = _padded(place, statement, fillings)
        if given is None and not isinstance(target, ast.Name):
            if not _rereads(place, statement, targets):
                return None
            changed |= variables_in(target)
            continue
        # What is read behind a change is another number than the condition has.
        again = not {*found.held, *fillings}.isdisjoint(variables_in(target))
        if again or not changed.isdisjoint(variables_in(given.amounts if given else statement.value)):
            return None
        if given is None:
            (name,) = variables_in(target)
            if is_filling(statement.value):
                fillings[name] = statement.value
            elif is_read(statement.value, PLAIN):
                found.held[name] = statement.value
            else:
                return None
            continue
        amounts = given.amounts
        amounts = found.held.get(amounts.id, amounts) if isinstance(amounts, ast.Name) else amounts
        elements = listed(amounts)
        if not elements:
            return None
        for name, tensor in given.tensors.items():
            keeps = _keeps(keeping, name, tensor) or (not keeping and _holds(place, name, tensor))
            if not keeps or _may_be_none(place, tensor):
                return None
        found.amounts.extend(elements)
        joined.extend(given.joined)
        targets |= given.tensors.keys()
        changed |= given.tensors.keys()
    outlives = _outliving(place, {*found.held, *fillings}, padded) if found.amounts else set[str]()
    if not found.amounts or not all(name in found.held and _is_else_nothing(place, name, kept) for name in outlives):
        return None
    if not _only_keeps(keeping, targets) or not found.held.keys() >= set(nothing.values()):
        return None
    if not all(any(part in found.amounts for part in _made_of(filling, found.held)) for filling in fillings.values()):
        return None  # of less than nothing none can be made, and its amount is changed where it is joined
    found.amounts.extend(lengths)
    named = outlives | _shared(found, fillings)
    own = [amount for amount in found.amounts if not (isinstance(amount, ast.Name) and amount.id in named)]
    amounts_of = [*own, *(found.held[name] for name in sorted(named))]
    return Padding(amounts_of, found.held, joined, frozenset(outlives))


def _padded(place: Place, statement: ast.Assign, fillings: dict[str, ast.expr]) -> Padded | None:
    """What an assignment pads, by itself or by what is joined with it; None where it does anything else."""
    (target,) = statement.targets
    if not isinstance(target, ast.Name):
        return _padded_each(place, statement)
    if (given := padded_by(statement.value)) is not None:
        return Padded({target.id: given[0]}, given[1])
    filled = filled_by(place, statement.value, fillings)
    return Padded({target.id: filled.tensor}, filled.amounts, (filled,)) if filled else None


def _made_of(filling: ast.expr, held: dict[str, ast.expr]) -> Iterator[ast.AST]:
    """The parts of what is made to pad, and of the variables in it."""
    for node in (filling, *(held[name] for name in variables_in(filling) if name in held)):
        yield from ast.walk(node)


def _shared(found: Padding, fillings: dict[str, ast.expr]) -> set[str]:
    """The variables that are more than one amount, and stand in nothing else: they are changed where they are set."""
    counts = Counter(amount.id for amount in found.amounts if isinstance(amount, ast.Name))
    others = [*found.held.values(), *fillings.values(), *(a for a in found.amounts if not isinstance(a, ast.Name))]
    read = set[str]().union(*map(variables_in, others))
    return {name for name, count in counts.items() if count > 1 and name in found.held and name not in read}


def _lengthened(place: Place, statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The int that a statement adds to, and what it adds: `t = t + n`, `t += n`; None for other statements."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name) as number, op=ast.Add(), value=more):
            pass
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left) as number, op=ast.Add(), right=more)
        ) if left == name:
            pass
        case _:
            return None
    values = map(place.values.value, (number, more))
    return (name, more) if all(value.integral or (value.kind == INT and value.sure) for value in values) else None


def _may_be_none(place: Place, tensor: ast.expr) -> bool:
    """Whether a value need not be given, so that eager passes None by where it pads nothing; so may a gradient be."""
    gradients = place.function.name == "backward" and b"set_materialize_grads" in place.layout.source
    if not gradients and not may_be_left_out(place.function.args, place.nodes, tensor):
        return False
    evaluated = evaluated_before(place.function, place.site.node)
    if isinstance(place.site.node, (ast.If, ast.IfExp)):
        evaluated.add(place.site.node.test)
    return not evaluated.may_read(tensor, {})


def chosen_padding(place: Place, value: ast.expr, other: ast.expr) -> Padding | None:
    """The same of a conditional expression that is `value`, padded, or `other`; else None."""
    filled = filled_by(place, value, {})
    given = padded_by(value) or (filled and (filled.tensor, filled.amounts))
    if not given or not listed(given[1]) or ast.dump(given[0]) != ast.dump(other):
        return None
    return Padding(listed(given[1]), {}, [filled] if filled else [])


def listed(amounts: ast.expr) -> list[ast.expr]:
    """The elements of a display, of displays one behind another (`[0] * k + [0, n]`); none for other expressions."""
    if isinstance(amounts, (ast.Tuple, ast.List)):
        return amounts.elts
    if isinstance(amounts, ast.BinOp) and isinstance(amounts.op, ast.Mult):
        return listed(amounts.left)
    if isinstance(amounts, ast.BinOp) and isinstance(amounts.op, ast.Add):
        parts = listed(amounts.left), listed(amounts.right)
        return [*parts[0], *parts[1]] if all(parts) else []
    return []


def padded_by(value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The tensor and the amounts of what pads with a constant, as `F.pad(…)` does; None for other expressions."""
    if not isinstance(value, ast.Call):
        return None
    module, _, name = torch_name(value.func).rpartition(".")
    parameters = _PADS.get(name)
    if parameters is None or not (module.partition(".")[0] in TORCH_MODULES or module == "nn.functional"):
        return None
    named = {keyword.arg: keyword.value for keyword in value.keywords}
    given = dict(zip(parameters, value.args, strict=False)) | named
    mode, filled = given.get("mode"), given.get("value", ast.Constant(0))
    if mode is not None and not (isinstance(mode, ast.Constant) and mode.value == "constant"):
        return None
    acts = any(called(node) != "float" for node in ast.walk(filled) if isinstance(node, ast.Call))
    acts = acts or any(isinstance(node, ast.Subscript) for node in ast.walk(filled))  # of an element that may not be
    return None if acts or "input" not in given or "pad" not in given else (given["input"], given["pad"])


def _padded_each(place: Place, statement: ast.Assign) -> Padded | None:
    """What `q, k = (F.pad(t, …) for t in (q, k))` pads, or a list of them, or `map(lambda t: …, (q, k))`; else None."""
    value = statement.value
    if _is_builtin(place, value, ("tuple", "list")) and isinstance(value, ast.Call) and len(value.args) == 1:
        (value,) = value.args
    match value:
        case ast.GeneratorExp(elt=made, generators=[ast.comprehension(ast.Name(id=each), iter=given, ifs=[])]):
            pass
        case ast.ListComp(elt=made, generators=[ast.comprehension(ast.Name(id=each), iter=given, ifs=[])]):
            pass
        case ast.Call(args=[ast.Lambda(args=ast.arguments(args=[ast.arg(arg=each)]), body=made), given]) if _is_builtin(
            place, value, ("map",)
        ):
            pass
        case _:
            return None
    tensor, amounts = padded_by(made) or (None, None)
    if amounts is None or each in variables_in(amounts) or not (isinstance(tensor, ast.Name) and tensor.id == each):
        return None
    tensors, names = (getattr(side, "elts", []) for side in (given, statement.targets[0]))
    if len(tensors) != len(names) or not all(isinstance(name, ast.Name) for name in names) or not names:
        return None
    return Padded({name.id: tensor for name, tensor in zip(names, tensors, strict=True)}, amounts)


def _is_builtin(place: Place, node: ast.expr, names: Sequence[str]) -> bool:
    """Whether an expression calls a builtin of these names, with arguments alone."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        return False
    return node.func.id in names and node.func.id not in place.values.variables


def _rereads(place: Place, statement: ast.Assign, tensors: set[str]) -> bool:
    """Whether a statement reads a padded tensor's shape again, into the variables that hold it: `_, n = x.shape`."""
    (target,), shape = statement.targets, ast.unparse(statement.value)
    tensor = next((x for x in tensors if shape in (f"{x}.shape", f"{x}.size()")), None)
    first = getattr(place.site.node, "lineno", 0)
    above = [node for node in place.nodes if getattr(node, "lineno", first) < first]
    unpacked = [n for n in above if isinstance(n, ast.Assign) and ast.unparse(n.value) == shape]
    if tensor is None or not unpacked or place.in_loop:
        return False
    last = unpacked[-1]
    since = (node for node in above if isinstance(node, ast.Name) and node.lineno > last.lineno)
    stored = {node.id for node in since if isinstance(node.ctx, ast.Store)}
    held, again = (getattr(t, "elts", ()) for t in (last.targets[0], target))
    names = [(getattr(old, "id", ""), getattr(new, "id", None)) for old, new in zip(held, again, strict=False)]
    return (
        len(held) == len(again) > 0
        and stored.isdisjoint({tensor, *(old for old, _ in names)})
        and all(new in (old, "_") for old, new in names)
    )


def forms(place: Place, found: Padding, asked: ast.expr, truth: bool) -> list[ast.expr] | None:
    """The amounts, written so that they are 0 where `asked` is not `truth` and what they were where it is.

    None where that cannot be seen by the numbers that are drawn for the sizes.
    """
    named = _named(asked)
    if any(name in found.held or len(place.assigned(name)) > 1 for name in named):
        return None
    arithmetic = Arithmetic(place, found.held | named)
    condition = arithmetic.function(asked)
    written = [
        [(form, function) for form in _forms(arithmetic, amount, asked) if (function := arithmetic.function(form))]
        for amount in found.amounts
    ]
    if condition is None or not all(written):
        return None
    draws = [(drawn, value_of(condition, drawn)) for drawn in arithmetic.draws()]
    decided = [(drawn, bool(value) is truth) for drawn, value in draws if value is not None]
    if min(sum(pads for _, pads in decided), sum(not pads for _, pads in decided)) < FEWEST:
        return None
    chosen = []
    for variants in written:
        amount = variants[0][1]
        wanted = [(drawn, value_of(amount, drawn) if pads else 0) for drawn, pads in decided]
        form = next((form for form, own in variants if all(value_of(own, drawn) == n for drawn, n in wanted)), None)
        if form is None:
            return None
        chosen.append(form)
    return chosen


def may_be_less(place: Place, found: Padding, asked: ast.expr) -> bool:
    """Whether an amount may be less than 0 where `asked` holds, by the numbers that are drawn for the sizes."""
    arithmetic = Arithmetic(place, found.held | _named(asked))
    condition = arithmetic.function(asked)
    amounts = [arithmetic.function(amount) for amount in found.amounts]
    if condition is None or None in amounts:
        return True
    padding = [drawn for drawn in arithmetic.draws() if value_of(condition, drawn)]
    values = (value_of(amount, drawn) for amount in amounts if amount for drawn in padding)
    return any(value is None or value < 0 for value in values)


def _named(asked: ast.expr) -> dict[str, ast.expr]:
    return {part.target.id: part.value for part in ast.walk(asked) if isinstance(part, ast.NamedExpr)}


def _forms(arithmetic: Arithmetic, amount: ast.expr, asked: ast.expr) -> Iterator[ast.expr]:
    """An amount, and what it may come to without a choice: a remainder, one of what is missing, no less than 0."""
    yield amount
    for part in ast.walk(asked):
        value = arithmetic.value(part) if isinstance(part, ast.Name) else part
        if isinstance(part, ast.expr) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
            yield part
            yield ast.BinOp(amount, ast.Mod(), value.right)
    yield clamped(amount)


def clamped(amount: ast.expr) -> ast.expr:
    """`max(amount, 0)`."""
    return ast.Call(ast.Name("max", ast.Load()), [amount, ast.Constant(0)], [])


def _keeps(kept: Sequence[ast.stmt], name: str, tensor: ast.expr) -> bool:
    """Whether the other path leaves `name` as `tensor`."""
    if not kept:
        return ast.unparse(tensor) == name
    given = {ast.unparse(s.targets[0]): ast.unparse(s.value) for s in kept if isinstance(s, ast.Assign)}
    return given.get(name) == ast.unparse(tensor)


def _holds(place: Place, name: str, tensor: ast.expr) -> bool:
    """Whether a variable still holds `tensor`, which a statement above gave it, and else only gets what is padded."""
    given = [node for node in place.nodes if isinstance(node, ast.Assign) and node.targets[0] is node.targets[-1]]
    given = [node for node in given if getattr(node.targets[0], "id", "") == name]
    alias = next((node for node in given if ast.unparse(node.value) == ast.unparse(tensor)), None)
    if alias is None or len(place.assigned(name)) != 2 or place.in_loop or is_changed(place, alias.value):
        return False
    block = place.block_of(alias)
    below = block[block.index(alias) + 1 :]
    return any(part is place.site.node for statement in below for part in ast.walk(statement))


def _only_keeps(kept: Sequence[ast.stmt], targets: set[str]) -> bool:
    """Whether the other path assigns what is padded, each once, and does nothing else."""
    names = [ast.unparse(target) for s in kept if isinstance(s, ast.Assign) for target in s.targets]
    return len(names) == len(kept) == len(set(names)) and targets.issuperset(names)


def _outliving(place: Place, held: set[str], padded: Sequence[ast.stmt]) -> set[str]:
    """The variables that the path sets and that are read elsewhere, but behind another value in the same block."""
    inside = {id(node) for statement in padded for node in ast.walk(statement)}
    statements = (node for node in (place.function, *place.nodes) if isinstance(node, ast.stmt))
    for block in (block for statement in statements for block in blocks(statement) if block):
        given: set[str] = set()
        around = block[0].lineno <= padded[0].lineno <= (block[-1].end_lineno or 0)
        for statement in block if block[0] is not padded[0] else ():
            if isinstance(statement, ast.Assign) and (not around or statement.lineno > padded[-1].lineno):
                given |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
            inside |= {id(n) for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id in given}
    read = (n for n in place.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return {n.id for n in read if n.id in held and id(n) not in inside}


def _is_nothing(assignment: ast.Assign) -> bool:
    """Whether one variable is given 0."""
    return len(assignment.targets) == 1 and ast.unparse(assignment.value) == "0"


def _is_else_nothing(place: Place, name: str, kept: Sequence[ast.stmt]) -> bool:
    """Whether a variable that the path sets is 0 where the other is taken: there, or since a line above."""
    given, line = place.assigned(name), getattr(place.site.node, "lineno", 0)
    above = [] if place.in_loop else run_before(place.function.body, line)
    others = [s for s in (*kept, *above) if isinstance(s, ast.Assign) and _is_nothing(s)]
    return len(given) == 2 and any(s.value in given and ast.unparse(s.targets[0]) == name for s in others)


def amount_changes(place: Place, old: Sequence[ast.expr], new: Sequence[ast.expr]) -> Iterator[Change]:
    """The changes that write amounts anew. Raises Undecided where one is not known for an int."""
    for amount, form in zip(old, new, strict=True):
        if form is not amount:
            yield Change(place.layout.start(amount), place.layout.end(amount), amount_text(place, form))


def amount_text(place: Place, amount: ast.expr) -> str:
    """The source of an amount; Dynamo makes `max` symbolic by itself."""
    if isinstance(amount, ast.Call) and place.inlined:
        place.names.builtin("max")
    elif isinstance(amount, ast.Call):
        if not all(place.values.value(argument).integral for argument in amount.args):
            raise Undecided(f"{ast.unparse(amount)} is not known for an int: torch.sym_max may make a float of it")
        amount.func = ast.parse(place.names("torch.sym_max"), mode="eval").body
    return ast.unparse(amount)
