"""Whether the path that sizes in general take serves an empty input too, and what makes it do so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from transforms.python.flow.asking import asks
from transforms.python.flow.nodes import EXITS, called, holder, named_parameters
from transforms.python.flow.sources import nodes_of, origins, returns_of
from transforms.python.flow.torch_names import CHECKS, RESHAPES
from transforms.python.flow.values import FLOAT, INT, TENSOR, TENSORS
from transforms.python.shapes.outcomes import Agreement
from transforms.python.writing.alike import UNSEEN, Forms, changed_alone, choices, of_two_dtypes
from transforms.python.writing.logic import Undecided
from transforms.python.writing.neutral import keeps_shape, neutral
from transforms.python.writing.nodes import call
from transforms.python.writing.nothing import (
    cases,
    counts_from_end,
    is_of_numbers,
    is_positive,
    reads_element,
    sized_by,
)
from transforms.python.writing.place import Change, Place
from transforms.python.writing.results import agreeing

# Reductions without an identity, and reads of elements.
_NEEDS_ELEMENTS = re.compile(
    r"^(?:(?:a?(?:max|min)_?)+|arg(?:max|min)|aminmax|(?:nan)?median|mode|kthvalue|topk|item|tolist)$"
)
# Reductions whose value for no elements is none.
_AVERAGES = re.compile(r"^(?:(?:nan)?mean|(?:var|std)(?:_mean)?)$")
_FILLED = re.compile(r"^(?:new_)?(?:ones|full)(?:_like)?$")
_CONSTANT = re.compile(r"^(?:new_)?(?:zeros|ones|full|eye)(?:_like)?$")
_MADE = re.compile(r"^(?:new_)?(?:zeros|ones|full|eye|empty)(?:_like|_strided)?$")
_SHAPES_ALONE = re.compile(r"\b(?:register_(?:meta|fake|op_impl)|impl_abstract)\b|\bMeta\b")


class Division(NamedTuple):
    """What is divided by, and whether the quotient or remainder is a whole number."""

    divisor: ast.expr
    whole: bool


def serving(place: Place, branch: ast.If, general: bool | None, shortcut: bool) -> tuple[Change, ...]:
    """Changes after which the path for sizes in general serves empty inputs too; None are needed most often.

    `shortcut` says that the branch asks for nothing but emptiness. Raises Undecided where the path cannot serve them.
    """
    agreement = agreeing(place, branch, general) if general is not None else Agreement(None)
    same = agreement.same and (agreement.empty or not _computes(place))
    if shortcut and general is not None and _needs_elements(place, branch, general):
        raise Undecided("the path for sizes in general may ask for what an empty tensor has not")
    if general is not None and _refuses(branch.body if general else branch.orelse):
        raise Undecided("the path for sizes in general checks what was asked of no others")
    if shortcut and general is not None and not same and _stands_for_none(place, branch, general):
        raise Undecided("what is empty may stand for nothing at all, and is used by the path for sizes in general")
    if shortcut and general is not None and not same and not _gives_the_same(place, branch, general):
        raise Undecided(
            "what the path for sizes in general computes of nothing may be another value than the branch gives"
        )
    same_shapes = agreement.same is True or agreement.in_lowest_rank
    if shortcut and general is not None and place.inlined and not _alike(place, branch, general, same_shapes):
        raise Undecided(
            "what the path for sizes in general gives of nothing may have another shape or dtype, or no gradient"
        )
    if shortcut and general is not None and not place.inlined and _of_another_dtype(place, branch, general):
        raise Undecided("what the path for sizes in general gives of nothing has another dtype")
    path = list(_general_path(place, branch, general))
    if counts_from_end(branch, path):
        raise Undecided("the path for sizes in general slices by a size from the end, where 0 is the beginning")
    quotients = _divisions(place, path)
    safe = _never_zero(place, quotients)
    if quotients and not safe:
        raise Undecided("the path for sizes in general divides by a size that may be 0")
    return safe


def _refuses(statements: Sequence[ast.stmt]) -> bool:
    """Whether a path may end in an exception that it raises itself, or makes a check."""
    return any(
        isinstance(node, (ast.Assert, ast.Raise)) or called(node) in CHECKS
        for statement in statements
        for node in ast.walk(statement)
    )


def _stands_for_none(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether what comes of an empty tensor is another thing, and not its like without elements.

    `if bias.numel() > 0: x = x + bias`: without elements the sum is no x. `x = x.conj()` where x has some still is one,
    `n += x.numel()` adds nothing, and no strides but one tell nothing of what has no elements.
    """
    taken, special = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
    if neutral([*taken, *special], branch.test, place.values) and not _is_counted_with(place, branch, special, taken):
        return False
    if _computes(place) and _acts(branch, special):
        return True
    if any(path and isinstance(path[-1], EXITS) for path in (taken, special)):
        given, others = (_returned(place, branch, path) for path in (special, taken))
    else:
        assigned = _assigned(place, branch, special)
        if not assigned:
            return bool(_assigned(place, branch, taken)) or _acts(branch, taken)
        if assigned != _assigned(place, branch, taken):
            return True
        given, others = ([n.value for n in _nodes(p) if isinstance(n, ast.Assign)] for p in (special, taken))
    if _computes(place) and any(_FILLED.match(called(part)) for value in given for _, part in _parts(value)):
        return True
    if _computes(place) and any(map(_is_constant, others)) and not all(map(_is_constant, given)):
        return True  # `return x.mean(0)` before `return torch.zeros(n)`
    return _is_made_of_others(place, branch, general, given, others)


def _gives_the_same(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether the path for sizes in general is known to compute, of nothing, the tensors that the other path gives."""
    if not _computes(place) or neutral([*branch.body, *branch.orelse], branch.test, place.values):
        return True
    leaves = [leaf for leaf in _leaves(branch.test) if asks(place.values.value(leaf))]
    mixed = any(isinstance(node, ast.BoolOp) and node is not branch.test for node in ast.walk(branch.test))
    found = list(cases(place, branch, leaves, mixed or _either(branch, general)))
    return all(case.same(given, others) for given, others in _pairs(place, branch, general) for case in found)


def _alike(place: Place, branch: ast.If, general: bool, same_shapes: bool) -> bool:
    """Whether what both ways give has the same dtype and, where that is not known yet, the same shape.

    What no gradient reaches does not stand for what one reaches: a backward pass from it fails.
    """
    if not _computes(place) or neutral([*branch.body, *branch.orelse], branch.test, place.values):
        return True
    forms = Forms(place, branch)
    asked = (forms.dtype,) if same_shapes else (forms.dtype, forms.shape)
    return all(
        all(len(seen := set(map(form, (*given, *others)))) == 1 and UNSEEN not in seen for form in asked)
        and (all(map(forms.without_gradient, given)) or not any(map(forms.without_gradient, others)))
        for given, others in _pairs(place, branch, general)
    )


def _of_another_dtype(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether one way names a dtype, and the other gives another one, or that of a tensor."""
    dtype = Forms(place, branch).dtype
    pairs = (*_pairs(place, branch, general), *changed_alone(branch, general))
    return any(of_two_dtypes({*map(dtype, choices((*given, *others)))}) for given, others in pairs)


def _pairs(place: Place, branch: ast.If, general: bool) -> Iterator[tuple[Sequence[ast.expr], Sequence[ast.expr]]]:
    """The Tensors that the special path gives, each with those that take their place in general."""
    taken, special = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
    if any(path and isinstance(path[-1], EXITS) for path in (taken, special)):
        pairs = _by_part(_returned(place, branch, special), _returned(place, branch, taken))
    else:
        assigned = [(_values_of(name, special), _values_of(name, taken)) for name in _assigned(place, branch, special)]
        pairs = (pair for values in assigned for pair in _by_part(*values))
    for given, others in pairs:
        if not all(place.values.value(value).symbolic for value in (*given, *others)):
            yield given, others


def _by_part(
    given: Sequence[ast.expr], others: Sequence[ast.expr]
) -> Iterator[tuple[Sequence[ast.expr], Sequence[ast.expr]]]:
    """The results of two paths, each with those that take its place."""
    parts = [[dict(_parts(value)) for value in values] for values in (given, others)]
    for index in sorted({index for values in parts for value in values for index in value}):
        first, second = ([value[index] for value in values if index in value] for values in parts)
        if first and second:
            yield first, second


def _values_of(name: str, statements: Sequence[ast.stmt]) -> list[ast.expr]:
    """What a variable is assigned in statements."""
    found = (node for node in _nodes(statements) if isinstance(node, ast.Assign))
    return [node.value for node in found if any(ast.unparse(target) == name for target in node.targets)]


def _is_constant(value: ast.expr | None) -> bool:
    """Whether a value is a tensor whose elements no other tensor has a part in."""
    return isinstance(value, ast.Call) and _CONSTANT.match(called(value)) is not None


def _is_counted_with(place: Place, branch: ast.If, special: Sequence[ast.stmt], taken: Sequence[ast.stmt]) -> bool:
    """Whether values below are computed with a number that is another one for an empty tensor, and not shapes alone."""
    also_elsewhere = {name for name in _numbers(place, taken) if len(place.assigned(name)) > 1}
    numbers = _numbers(place, special) | also_elsewhere
    return _computes(place) and any(
        isinstance(node, ast.Name) and node.id in numbers for node in _following(place, branch)
    )


def _numbers(place: Place, statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that are assigned what is no tensor."""
    return {
        name.id
        for node in _nodes(statements)
        if isinstance(node, ast.Assign) and place.values.value(node.value).kind not in (TENSOR, TENSORS)
        for target in node.targets
        for part in ast.walk(target)
        if isinstance(getattr(part, "ctx", None), ast.Store) and isinstance(name := holder(part), ast.Name)
    }


def _returned(place: Place, branch: ast.If, path: Sequence[ast.stmt]) -> list[ast.expr]:
    """What a path of the branch returns, and where it goes on what the function returns below."""
    returns = [node for node in _nodes(path) if isinstance(node, ast.Return)]
    if not path or not isinstance(path[-1], EXITS):
        last = branch.end_lineno or branch.lineno
        returns += [node for node in returns_of(place.function) if node.lineno > last]
    return [node.value for node in returns if node.value is not None]


def _is_made_of_others(
    place: Place, branch: ast.If, general: bool, given: Sequence[ast.expr], others: Sequence[ast.expr]
) -> bool:
    """Whether what an empty tensor leads to is made without that tensor or its sizes, and is not the same in general.

    `if bias.numel() == 0: return x` before `return x @ bias`: the product of an empty bias is no x.
    """
    same = (
        set.intersection(*({(i, ast.unparse(part)) for i, part in _parts(value)} for value in others)) if others else ()
    )
    parts = [part for value in given for i, part in _parts(value) if (i, ast.unparse(part)) not in same]
    leaves = [leaf for leaf in _leaves(branch.test) if asks(place.values.value(leaf))]
    of_others = any if _either(branch, general) else all
    made = [origins(place.function, [part]) for part in parts]
    if leaves and _computes(place):
        # Those of a tensor that an empty one is joined to, and other ones on the path in general.
        parameters = named_parameters(place.function.args)
        tensors = {each.arg for each in parameters if place.passed(each).kind in (TENSOR, TENSORS)}
        tensors -= origins(place.function, leaves)
        if any(made_of & tensors and not _MADE.match(called(part)) for part, made_of in zip(parts, made, strict=True)):
            return True
    return bool(leaves) and any(
        of_others(origins(place.function, [leaf]).isdisjoint(made_of) for leaf in leaves) for made_of in made
    )


def _either(branch: ast.If, general: bool) -> bool:
    """Whether one empty tensor of several is enough to leave the path for sizes in general."""
    return isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And if general else ast.Or)


def _parts(value: ast.expr) -> list[tuple[int, ast.expr]]:
    """The results that a value holds, by number; nothing for None."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return [(i, part) for i, part in enumerate(parts) if not (isinstance(part, ast.Constant) and part.value is None)]


def _assigned(place: Place, branch: ast.If, statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that are assigned what is another thing for an empty tensor.

    That is none of these: a tensor that is asked about, computed element by element; a sum to which its size is added;
    strides.
    """
    asked = _asked(branch)
    targets: list[ast.AST] = []
    for node in _nodes(statements):
        if isinstance(node, ast.Assign) and called(node.value) != "stride":
            names = {ast.unparse(target) for target in node.targets}
            same = names <= asked and all(keeps_shape(node.value, name, place.values) for name in names)
            targets += [] if same else node.targets
        elif isinstance(node, ast.AugAssign):
            nothing = isinstance(node.op, (ast.Add, ast.Sub)) and ast.unparse(node.value) in asked
            same = ast.unparse(node.target) in asked and place.values.value(node.value).kind not in (TENSOR, TENSORS)
            targets += [] if nothing or same else [node.target]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.For)):
            targets.append(node.target)
    return {part.id for target in targets for part in ast.walk(holder(target)) if isinstance(part, ast.Name)}


def _acts(branch: ast.If, statements: Sequence[ast.stmt]) -> bool:
    """Whether a path changes another tensor in place, or calls a function without what the branch asks about."""
    asked = _asked(branch)
    for made in (node.value for node in _nodes(statements) if isinstance(node, ast.Expr)):
        if called(made).endswith("_") and isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
            if ast.unparse(made.func.value) not in asked or RESHAPES.match(called(made)):
                return True
        elif isinstance(made, ast.Call):
            given = {ast.unparse(part) for argument in made.args for part in ast.walk(argument)}
            if given.isdisjoint(asked):
                return True
    return False


def _asked(branch: ast.If) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(branch.test) if isinstance(node, ast.expr)}


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """The operands of `and`, `or` and `not` that are none themselves."""
    if isinstance(test, ast.BoolOp):
        for operand in test.values:
            yield from _leaves(operand)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    else:
        yield test


def _general_path(place: Place, branch: ast.If, general: bool | None) -> Iterator[ast.AST]:
    """The nodes of the code that runs for sizes in general; of both paths where `general` is None."""
    if general is not False:
        for statement in branch.body:
            yield from ast.walk(statement)
    if general is not True:
        for statement in branch.orelse:
            yield from ast.walk(statement)
        if not branch.orelse:
            yield from _following(place, branch)


def _nodes(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in statements for node in ast.walk(statement))


def _following(place: Place, branch: ast.If) -> Iterator[ast.AST]:
    """The function's own nodes below the branch."""
    last = branch.end_lineno or branch.lineno
    return (node for node in nodes_of(place.function) if getattr(node, "lineno", 0) > last)


def _divisions(place: Place, nodes: Iterable[ast.AST]) -> list[Division]:
    """The divisions by a size that may be 0 on a path, which are not valid for empty inputs."""
    divisions = [each for each in map(_division, nodes) if each and not is_positive(place, each.divisor)]
    return [each for each in divisions if place.values.value(each.divisor).kind in (INT, FLOAT)]


def _division(node: ast.AST) -> Division | None:
    """A division, however it is written."""
    match node:
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod() as operator, right=divisor):
            return Division(divisor, not isinstance(operator, ast.Div))
        case ast.AugAssign(op=ast.Div() | ast.FloorDiv() | ast.Mod() as operator, value=divisor):
            return Division(divisor, not isinstance(operator, ast.Div))
        case ast.BinOp(op=ast.Pow(), left=divisor, right=ast.UnaryOp(op=ast.USub())):
            return Division(divisor, False)
        case ast.Call(func=ast.Name(id="divmod"), args=[_, divisor]):
            return Division(divisor, False)
    return None


def _never_zero(place: Place, quotients: Sequence[Division]) -> tuple[Change, ...]:
    """Changes after which divisions serve empty inputs too: a size below 1 divides as 1. Empty where that is no help.

    The result is the same for every size the path served before.
    """
    simple = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    if place.shared or not all(isinstance(each.divisor, simple) and each.whole for each in quotients):
        return ()
    if not all(place.whole(each.divisor) for each in quotients):
        return ()
    function = place.names("torch.sym_max")
    return tuple(
        change
        for each in quotients
        for change in place.replaced(each.divisor, call(function, place.tree(each.divisor), cst.Integer("1")))
    )


def _computes(place: Place) -> bool:
    """Whether the values of what a function returns are asked for, and not only their shapes."""
    return not any(_SHAPES_ALONE.search(ast.unparse(decorator)) for decorator in place.function.decorator_list)


def _needs_elements(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether the path for sizes in general may ask for what an empty tensor has not, such as its maximum.

    A function that is a parameter may be one that does: `op(x, dim=0)`, where op is amax.
    """
    computes = _computes(place)
    given = {parameter.arg for parameter in named_parameters(place.function.args)}
    path: Sequence[ast.stmt] = branch.body if general else branch.orelse
    if not path and not general:
        blocks = (getattr(node, name, None) for node in (place.function, *place.nodes) for name in ("body", "orelse"))
        block = next((b for b in blocks if isinstance(b, list) and any(s is branch for s in b)), [branch])
        path = block[next(index for index, s in enumerate(block) if s is branch) + 1 :]
    tensors = sized_by(place, branch.test) if computes else set()
    return any(
        reads_element(node, tensors)
        or (computes and _AVERAGES.match(called(node)))
        or (isinstance(node, ast.Call) and _NEEDS_ELEMENTS.match(called(node)) and not is_of_numbers(place, node))
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in given)
        for statement in path
        if not isinstance(statement, ast.FunctionDef)
        for node in ast.walk(statement)
    )
