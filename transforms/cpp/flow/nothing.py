"""What values are made of a tensor without elements: nothing, zeros, or what is not seen.

What is summed over nothing is 0, and so is a product of matrices whose inner size is 0. What is computed element by
element has no elements again. Both are closed lists: of anything else, nothing is said.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from transforms.cpp.flow.checks import COMPARISONS
from transforms.cpp.flow.dtypes import differ
from transforms.cpp.flow.same_file import LIBRARY, own_functions, parameters
from transforms.cpp.flow.sizes import method
from transforms.cpp.reach.vocabulary import ACCESSORS
from transforms.cpp.reading.tree import Node

SIZES = frozenset({*ACCESSORS, *(f"sym_{accessor}" for accessor in ACCESSORS)})
_SUMS = re.compile(
    r"^(?:(?:nan)?sum(?:_to_size)?|count_nonzero|trace|mm|bmm|mv|matmul|dot|vdot|inner|tensordot|einsum"
    r"|(?:linalg_)?(?:vector_|matrix_)?norm|(?:cdist|euclidean_dist|pdist)(?:_forward|_stub)?|sparse_coo_tensor(?:_unsafe)?)$"
)
_KEEPS = re.compile(
    r"^(?:clone|contiguous|to|type|view(?:_as)?|reshape(?:_as)?|expand(?:_as)?|flatten|unflatten|t|transpose|permute"
    r"|movedim|swapaxes|squeeze|unsqueeze|mT|mH|adjoint|detach|alias|conj(?:_physical)?|resolve_conj|real|imag|slice"
    r"|narrow|select|index_select|triu|tril|neg(?:ative)?|positive|abs|sign|sqrt|square|relu|sin|tan|tanh|sinh|asin"
    r"|atan|asinh|atanh|expm1|log1p|erf|floor|ceil|round|trunc|nan_to_num|cumsum|flip|roll)$"
)
"""What takes no elements to no elements, and zeros to zeros."""
_ELEMENTWISE = re.compile(
    r"^(?:exp2?|log(?:2|10)?|cosh?|acosh?|sigmoid|reciprocal|rsqrt|pow|where|maximum|minimum|clamp(?:_min|_max)?"
    r"|add|sub|rsub|mul|div|true_divide|eq|ne|lt|le|gt|ge|softmax|log_softmax|masked_fill|lerp|addcmul|addcdiv|atan2)$"
)
_FACTORS = re.compile(r"^(?:linalg_)?(?:svdvals|eigvalsh?|eigh|inv(?:_ex)?|inverse)$")
"""What is made of a matrix without elements, and has none either."""
_SCATTERED = re.compile(r"^(?:scatter|index)_(?:add|copy|put)$")
_ZEROS = re.compile(r"^(?:new_)?zeros(?:_like)?$")
_EMPTY = re.compile(r"^(?:new_)?empty(?:_like|_strided)?$")
_NUMBERS = re.compile(r"\b(?:double|float|Scalar)\b[\s&]*$")
_CALLEES = 3
_STEPS = 4000


class Made(enum.Enum):
    """What a value is, as far as its elements go."""

    NOTHING = enum.auto()
    """It has no elements, or what makes it raises."""
    ZEROS = enum.auto()
    NUMBER = enum.auto()
    """One that no size has a part in, or none is seen to."""
    UNSEEN = enum.auto()


_FINE = (Made.NOTHING, Made.ZEROS)


def sources(function: Node) -> Mapping[str, Sequence[Node]]:
    """What each variable of a function is made of."""
    found: dict[str, list[Node]] = {}
    for part in function.walk():
        target, value = part.field("left"), part.field("right")
        if part.kind in ("init_declarator", "for_range_loop"):
            target, value = part.field("declarator"), part.field("value") or value
        elif part.kind != "assignment_expression":
            continue
        if target is not None and value is not None:
            for name in (name for name in target.walk() if name.kind == "identifier"):
                found.setdefault(name.text, []).append(value)
    return found


def returned(node: Node) -> Iterator[Node]:
    """What the return statements in a node give."""
    return (part.children[0] for part in node.walk() if part.kind == "return_statement" and part.children)


def gives_another(
    function: Node, params: Mapping[str, str], special: Sequence[Node], path: Sequence[Node], asked: Iterable[Node]
) -> bool:
    """Whether what is given for a tensor without elements is not seen to be what the path in general makes of it.

    `special` is the path for such a tensor, `path` that for others; `asked` are the sizes and comparisons that tell.
    What has no elements on the special path is no other thing, but for a sum or product in general; zeros have to be
    what both make of nothing.
    """
    pairs = list(_pairs(special, path))
    if not pairs:
        return False
    made = sources(function)
    assigned = _assigned(path)
    for name in set(chain.from_iterable(_tensors(made, node) or [""] for node in asked)):
        values = _Values(function, params, {name: Made.NOTHING} if name else {})
        if any(values.of(value) is not Made.NOTHING for value in assigned.get(name, ())):
            values = _Values(function, params, {})
        for given, general in pairs:
            kind = _filled(special, given) or values.of(given)
            if kind is Made.NOTHING and not _is_unfilled(given.bare) and Made.ZEROS in map(values.of, general):
                return True
            if kind is not Made.NOTHING and not (
                kind is Made.ZEROS and general and all(values.of(value) in _FINE for value in general)
            ):
                return True
    return False


def gives_another_dtype(function: Node, special: Sequence[Node], path: Sequence[Node]) -> bool:
    """Whether what the path for a tensor without elements gives is seen to have another dtype than that of others."""
    made = sources(function)
    if any(differ(made, [given], general) for given, general in _pairs(special, path)):
        return True
    assigned = {} if special else _assigned(path)
    return any(
        differ(made, [value for value in made[name] if value not in values], values)
        for name, values in assigned.items()
    )


def _pairs(special: Sequence[Node], path: Sequence[Node]) -> Iterator[tuple[Node, Sequence[Node]]]:
    """What the special path gives, each with what may come of it in general: results, or values of one variable."""
    results = [value for node in path for value in _own(node)]
    for given in (value for node in special for value in _own(node)):
        same = given.bare.kind == "identifier" and all(value.bare.text == given.bare.text for value in results)
        if not same or _filled(special, given) is not None:
            yield given, results
    assigned = _assigned(path)
    for name, values in _assigned(special).items():
        yield from ((value, assigned.get(name, ())) for value in values if name in assigned)


def _own(node: Node) -> Iterator[Node]:
    """What the return statements of a statement give, but for those of a lambda in it."""
    pending = [node]
    while pending:
        part = pending.pop()
        if part.kind == "return_statement" and part.children:
            yield part.children[0]
        if part.kind != "lambda_expression":
            pending += part.children


def _assigned(path: Sequence[Node]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for part in (part for node in path for part in node.walk() if part.kind == "assignment_expression"):
        if part.token == "=" and part.fields["left"].kind == "identifier":
            found.setdefault(part.fields["left"].text, []).append(part.fields["right"])
    return found


def _filled(path: Sequence[Node], value: Node) -> Made | None:
    """What a path fills a variable with in place; None where it does not."""
    node = value.bare
    calls = [part for statement in path for part in statement.walk() if part.kind == "call_expression"]
    receivers = [(call, call.fields["function"].field("argument")) for call in calls]
    filled = [call for call, of in receivers if of is not None and of.text == node.text and method(call).endswith("_")]
    if node.kind != "identifier" or not filled:
        return None
    return Made.ZEROS if _is_zeroed(filled[-1]) else Made.UNSEEN


def _is_zeroed(call: Node) -> bool:
    return method(call) == "zero_" or (method(call) == "fill_" and call.fields["arguments"].packed in ("(0)", "(0.)"))


def _tensors(made: Mapping[str, Sequence[Node]], asked: Node) -> list[str]:
    """The tensors one of whose sizes is asked for, by themselves or by way of a variable."""
    found, seen, pending = list[str](), set[str](), [asked]
    while pending:
        for part in pending.pop().walk():
            if part.kind == "call_expression" and method(part) in SIZES:
                receiver = part.fields["function"].field("argument")
                found += [receiver.text] if receiver is not None and receiver.kind == "identifier" else []
                seen.update(found)
            elif part.kind == "identifier" and part.text not in seen:
                seen.add(part.text)
                pending += made.get(part.text, ())
    return found


class _Values:
    """What the values of one function are where some of its variables have no elements."""

    def __init__(
        self, function: Node, params: Mapping[str, str], kinds: Mapping[str, Made], callees: int = _CALLEES
    ) -> None:
        self._source = function.source
        self._callees = callees
        self._kinds = {name: Made.NUMBER for name, spelled in params.items() if _NUMBERS.search(spelled)} | {**kinds}
        self._sources = sources(function)
        self._changes: dict[str, list[Node]] = {}
        unfilled = {name for name, values in self._sources.items() if any(map(_is_unfilled, values))}
        self._steps = _STEPS
        for part in (part for part in function.walk() if part.kind == "expression_statement" and part.children):
            call = part.children[0].bare
            if call.kind == "call_expression":
                for name in _written(call, unfilled):
                    self._changes.setdefault(name, []).append(call)

    def of(self, outer: Node) -> Made:
        """What a value is; UNSEEN where it is made in a way that is not known."""
        node = outer.bare
        self._steps -= 1
        if self._steps < 0:
            return Made.UNSEEN
        if node.kind == "number_literal":
            return Made.NUMBER
        if node.kind == "identifier":
            return self._variable(node.text)
        if node.kind in ("unary_expression", "pointer_expression") and node.token in ("-", "*"):
            return self.of(node.children[-1])
        if node.kind == "conditional_expression":
            return _joined([self.of(node.fields["consequence"]), self.of(node.fields["alternative"])])
        if node.kind == "binary_expression":
            return _combined(node.token, [self.of(child) for child in node.children])
        return self._call(node) if node.kind == "call_expression" else Made.UNSEEN

    def _variable(self, name: str) -> Made:
        """What all that is assigned to a variable is, and what changes it in place makes of it."""
        if name in self._kinds:
            return self._kinds[name]
        values = self._sources.get(name, ())
        if all(map(_is_unfilled, values)) and name not in self._changes:
            return Made.UNSEEN
        before, found = dict(self._kinds), Made.NOTHING
        while True:  # what is made of itself is taken to be what the rest of it is, until that is so
            self._kinds = before | {name: found}
            changed = [self._call(call, name) for call in self._changes.get(name, ())]
            again = _joined([found, *map(self.of, values), *changed])
            if again is found:
                return found
            found = again

    def _call(self, call: Node, output: str = "") -> Made:
        """What a call gives, or writes to the argument `output`."""
        function, arguments = call.fields["function"], call.fields["arguments"].children
        if function.text in ("std::move", "std::forward") and arguments:
            return self.of(arguments[0])
        bodies = [part for part in (function, *arguments) if part.kind == "lambda_expression"]
        if bodies and (function.text == "std::visit" or function in bodies):
            return _joined([self.of(value) for body in bodies for value in _own(body.fields["body"])])
        own = own_functions(self._source, call)
        if own:
            return _joined([self._result(definition, arguments) for definition in own])
        receiver = function.field("argument") if function.kind == "field_expression" else None
        name = method(call).removesuffix("_symint").strip("_")
        written, name = name.endswith("_out"), name.removesuffix("_out")
        given = [argument for argument in arguments if not output or argument.text != output]
        operands = [*([receiver] if receiver is not None else []), *given[not output and written :]]
        return self._operator(name, operands)

    def _operator(self, name: str, operands: Sequence[Node]) -> Made:
        kinds = [self.of(operand) for operand in operands]
        if _ZEROS.match(name) or _EMPTY.match(name):
            nothing = name.startswith("empty") or "new_empty" in name
            return Made.NOTHING if nothing or ("like" in name and kinds[:1] == [Made.NOTHING]) else Made.ZEROS
        if name == "zero" or (name == "fill" and [o.text for o in operands[1:]] in (["0"], ["0."])):
            return Made.ZEROS
        if _KEEPS.match(name) and kinds:
            return kinds[0] if kinds[0] in _FINE else Made.UNSEEN
        if name in ("add", "sub", "mul", "div") and len(kinds) == 2:
            return _combined({"add": "+", "sub": "-", "mul": "*", "div": "/"}[name], kinds)
        nothing = Made.NOTHING in kinds
        if _SCATTERED.match(name) and nothing and kinds[0] in _FINE:
            return kinds[0]
        if _SUMS.match(name):
            return Made.ZEROS if nothing or kinds[:1] == [Made.ZEROS] else Made.UNSEEN
        whole = _ELEMENTWISE.match(name) or _FACTORS.match(name) or (name == "svd" and len(operands) == 1)
        return Made.NOTHING if whole and nothing else Made.UNSEEN

    def _result(self, definition: Node, arguments: Sequence[Node]) -> Made:
        """What a function of the same file returns for arguments."""
        if not self._callees:
            return Made.UNSEEN
        params = parameters(definition)
        given = dict(zip(params, map(self.of, arguments), strict=False))
        inner = _Values(definition, params, given, self._callees - 1)
        inner._steps = self._steps
        values = [inner.of(value) for value in _own(definition.fields["body"])]
        self._steps = inner._steps
        return _joined(values)


def _written(call: Node, unfilled: Collection[str]) -> Iterator[str]:
    """The variables that a statement which only calls may change; those in `unfilled` are written by any call."""
    function, arguments = call.fields["function"], call.fields["arguments"].children
    receiver, name = function.field("argument"), method(call)
    if receiver is not None and name.endswith("_"):
        while (inner := receiver.field("function") or receiver.field("argument")) is not None:
            receiver = inner
        yield receiver.text
    given = [argument.text for argument in arguments if argument.kind == "identifier"]
    output = name.endswith("_out") and LIBRARY.match(function.text)
    yield from (text for text in given if text in unfilled or (output and text == given[0]))


def _is_unfilled(value: Node) -> bool:
    """Whether a value is a tensor that is written later."""
    return value.kind == "call_expression" and _EMPTY.match(method(value).removesuffix("_symint")) is not None


def _joined(kinds: Sequence[Made]) -> Made:
    if not kinds or any(kind not in _FINE for kind in kinds):
        return Made.UNSEEN
    return Made.ZEROS if Made.ZEROS in kinds else Made.NOTHING


def _combined(operator: str, kinds: Sequence[Made]) -> Made:
    """What two values are, added, multiplied or compared element by element."""
    if operator not in ("+", "-", "*", "/") and operator not in COMPARISONS:
        return Made.UNSEEN
    if Made.NOTHING in kinds:
        return Made.NOTHING
    number = kinds[1] is Made.NUMBER or (kinds[0] is Made.NUMBER and operator == "*")
    zeros = all(kind is Made.ZEROS for kind in kinds) if operator in "+-*" else False
    return Made.ZEROS if zeros or (operator in "*/" and number and Made.ZEROS in kinds) else Made.UNSEEN
