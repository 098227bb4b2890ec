"""Statements and declarations: what they declare, test and return."""

from __future__ import annotations

from transforms.cpp.flow.branches import barred
from transforms.cpp.flow.checks import exits
from transforms.cpp.flow.containers import construct, deduced_list
from transforms.cpp.flow.deciding import decide
from transforms.cpp.flow.dispatch import STATEMENTS, evaluate, run
from transforms.cpp.flow.engine import NOTHING, Flow, outlives, parameter_origin
from transforms.cpp.flow.members import taken_apart
from transforms.cpp.flow.returning import returned
from transforms.cpp.flow.state import Lambda, Variable
from transforms.cpp.flow.storing import bind, coerce, is_reference, store
from transforms.cpp.flow.truth import truth
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import TENSOR, UNKNOWN, Type
from transforms.cpp.reading.vexing import as_variable

_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration")
_SPECIFIERS = ("type_qualifier", "storage_class_specifier", "attribute_declaration")
_DECLARATORS = ("reference_declarator", "pointer_declarator", "init_declarator", "array_declarator")


def declared_name(declarator: Node | None) -> tuple[str, str, Node | None]:
    """(name, `*`s and `[]`s, identifier node) of a declarator."""
    suffix = ""
    node = declarator
    while node is not None and node.kind not in ("identifier", "field_identifier"):
        if node.kind in ("pointer_declarator", "abstract_pointer_declarator"):
            suffix += "*"
        elif node.kind == "array_declarator":
            suffix += "[]"
        elif node.kind in ("function_declarator", "abstract_function_declarator"):
            return "", "()", None
        inner = node.field("declarator")
        node = inner or next((c for c in node.children if "declarator" in c.kind or c.kind == "identifier"), None)
    return (node.text, suffix, node) if node is not None else ("", suffix, None)


def declare_parameters(flow: Flow, function: Node, *, of_lambda: bool = False) -> list[Variable]:
    """Declare the parameters of a function definition or a lambda, in order."""
    declarator = function.field("declarator")
    while declarator is not None and declarator.field("parameters") is None:
        declarator = declarator.field("declarator") or next(
            (c for c in declarator.children if "declarator" in c.kind), None
        )
    parameters = declarator.field("parameters") if declarator is not None else None
    out: list[Variable] = []
    for index, node in enumerate(c for c in (parameters.children if parameters else ()) if c.kind in _PARAMETERS):
        spelled = node.field("type")
        name, suffix, identifier = declared_name(node.field("declarator"))
        kind = flow.type_of(spelled.text + suffix.replace("[]", "*")) if spelled is not None else UNKNOWN
        deduced = spelled is not None and spelled.text == "auto"
        where = identifier or node
        kind = TENSOR if where.start in flow.tensors else kind
        if of_lambda:
            variable = flow.declare(name, kind, where, node, deduced=False)
            variable.deduced = deduced
        else:
            if flow.asked.is_settled(flow.slot(index)):
                kind = kind.with_origins(flow.live((parameter_origin(index),)) or None)
            variable = flow.declare(name, kind, where)
            variable.type = kind
            variable.parameter = index
        out.append(variable)
    return out


def _function(flow: Flow, node: Node) -> None:
    """The function that is analysed; one defined inside it is left alone."""
    if node is not flow.root:
        return
    declare_parameters(flow, node)
    for child in node.children:
        if child.kind == "field_initializer_list":
            for argument in (argument for initializer in child.children for argument in initializer.children):
                run(flow, argument)
    body = node.field("body")
    if body is not None:
        run(flow, body)


def _compound(flow: Flow, node: Node) -> None:
    passive = flow.passive
    with flow.scope():
        for child in node.children:
            run(flow, child)
            condition, taken = child.field("condition"), child.field("consequence")
            if child.kind != "if_statement" or condition is None or taken is None or not exits(taken):
                continue
            if barred(flow, condition, False):  # every symbolic tensor enters it, and leaves the function in it
                flow.passive = True
                flow.idle.append((child.end, node.end))
    flow.passive = passive


def _expression(flow: Flow, node: Node) -> None:
    for child in node.children:
        evaluate(flow, child)


def _declaration(flow: Flow, node: Node) -> None:
    spelled = node.field("type")
    if spelled is None:
        return
    _read_as_variables(flow, node)
    auto = spelled.kind in ("placeholder_type_specifier", "auto") or spelled.text == "auto"
    declared: list[Variable] = []
    for child in node.children:
        if child is spelled or child is node.field("value") or child.kind in _SPECIFIERS:
            continue
        declarator = child.field("declarator") if child.kind == "init_declarator" else child
        initial = (child if child.kind == "init_declarator" else node).field("value")  # that of a condition has no own
        if declarator is None or not (declarator.kind == "identifier" or "declarator" in declarator.kind):
            continue
        if declarator.kind == "reference_declarator" and declarator.children:
            binding = declarator.children[0]
            declarator = binding if binding.kind == "structured_binding_declarator" else declarator
        if declarator.kind == "structured_binding_declarator":
            _bind(flow, declarator, evaluate(flow, initial) if initial is not None else UNKNOWN)
            continue
        if declarator.kind == "function_declarator":
            continue
        name, suffix, identifier = declared_name(declarator)
        if identifier is None:
            continue
        _array_lengths(flow, declarator)
        if auto:
            value = _initial(flow, initial, UNKNOWN) if initial is not None else UNKNOWN
            variable = flow.declare(name, value, identifier, node, deduced=True)
            variable.initial = initial
            if initial is not None and initial.kind == "initializer_list":
                deduced_list(flow, initial)
            if outlives(node):
                flow.sink(identifier, "stored", f"is stored in `{name}`, which outlives the call", value)
            if value.kind == "lambda":
                variable.type = value
            if variable.origins and not value.symbolic and initial is not None:
                if is_reference(declarator) and value.kind not in ("ints", "wrap"):
                    bind(flow, variable, initial, value)
                elif value.kind == "int":
                    flow.retype(spelled, "c10::SymInt", variable.origins)
                else:
                    coerce(flow, initial, variable.origins)
        else:
            kind = flow.type_of(spelled.text + suffix.replace("[]", "*"))
            variable = flow.declare(name, kind, identifier, node)
            variable.initial = initial
            if initial is not None:
                _initialise(flow, variable, initial)
                if is_reference(declarator):
                    bind(flow, variable, initial, evaluate(flow, initial))
        declared.append(variable)
    _share_type(flow, declared, node)


def _array_lengths(flow: Flow, declarator: Node) -> None:
    for part in declarator.walk():
        length = part.field("size") if part.kind == "array_declarator" else None
        if length is not None:
            flow.sink(length, "container-size", "is the length of an array", evaluate(flow, length))


def _share_type(flow: Flow, declared: list[Variable], node: Node) -> None:
    """`int64_t a = x.size(0), b = 3;` has one type for both."""
    origins = frozenset().union(*(v.origins for v in declared if v.origins and not v.deduced))
    if origins and len(declared) > 1:
        for variable in declared:
            flow.make_symbolic(variable, origins, node)


def _bind(flow: Flow, declarator: Node, value: Type) -> None:
    taken_apart(flow, value)
    for index, identifier in enumerate(declarator.children):
        part = value.args[index] if value.kind == "tuple" and index < len(value.args) else _element(value)
        flow.declare(identifier.text, part, identifier, deduced=True)


def _read_as_variables(flow: Flow, node: Node) -> None:
    """Put variables where the parser saw functions declared, as in `int64_t y(size_of(n));`."""
    for index, child in enumerate(node.children):
        if child.kind == "function_declarator" and not _names_types(flow, child):
            variable = as_variable(child)
            if variable is not None:
                node.children[index] = variable
                node.fields = {name: variable if held is child else held for name, held in node.fields.items()}


def _names_types(flow: Flow, declarator: Node) -> bool:
    """Whether a parameter is a type alone, as in `Tensor helper(Tensor, IntArrayRef);`: that declares a function."""
    parameters = declarator.field("parameters")
    for parameter in parameters.children if parameters is not None else ():
        spelled = parameter.field("type")
        if spelled is None or parameter.field("declarator") is not None or flow.lookup(spelled.text) is not None:
            continue
        if flow.type_of(spelled.text).kind not in ("other", "unknown") or spelled.text in flow.vocabulary.classes:
            return True
    return False


def _initial(flow: Flow, initial: Node, expected: Type) -> Type:
    """The value of an initialiser; `(a)` and `{a}` of one element are the element."""
    if initial.kind == "argument_list" and len(initial.children) == 1:
        return evaluate(flow, initial.children[0])
    if initial.kind == "initializer_list" and len(initial.children) == 1 and expected.kind not in ("ints", "list"):
        return evaluate(flow, initial.children[0])
    return evaluate(flow, initial)


def _initialise(flow: Flow, variable: Variable, initial: Node) -> None:
    kind = variable.type
    if initial.kind in ("argument_list", "initializer_list") and kind.kind in ("ints", "list", "other", "tuple"):
        braces = initial.kind == "initializer_list"
        value = construct(flow, initial, kind, list(initial.children), braces=braces, origins=variable.origins)
        if value.symbolic and kind.kind == "ints":
            flow.make_symbolic(variable, value.origins or NOTHING, initial)
        if variable.origins:
            coerce(flow, initial, variable.origins)
        return
    value = _initial(flow, initial, kind)
    alone = initial.kind in ("argument_list", "initializer_list") and len(initial.children) == 1
    store(flow, variable, value, initial.children[0] if alone else initial)
    if variable.origins and not value.symbolic and kind.kind in ("ints", "wrap"):
        coerce(flow, initial, variable.origins)


def _condition(flow: Flow, node: Node, *, loop: bool = False) -> None:
    before = node.field("initializer")
    for child in before.children if before is not None else ():
        run(flow, child)
    value = node.field("value") or (node.children[-1] if node.children else None)
    if value is None:
        return
    if value.kind == "declaration" or value.kind == "init_declarator":
        run(flow, value)
        initial, spelled = value.field("value"), value.field("type")
        held = evaluate(flow, initial) if initial is not None else UNKNOWN
        if held.kind in ("int", "float") and spelled is not None and spelled.text != "bool":
            flow.sink(value, "cast", "is asked as a truth where it is declared", held)
        return
    truth(flow, value, evaluate(flow, value))


def _if(flow: Flow, node: Node) -> None:
    """A `while`, or an `if` with all its `else if`; what a condition declares is known in those behind it too."""
    outside, before = len(flow.scopes), flow.passive
    following: Node | None = node
    while following is not None:
        if len(flow.scopes) == outside or flow.scopes[-1]:
            flow.scopes.append({})
        following = _branch(flow, following)
    del flow.scopes[outside:]
    flow.passive = before


def _branch(flow: Flow, node: Node) -> Node | None:
    """Read one condition and what depends on it; the `if` of an `else if` is left to be read in the same scope."""
    condition, passive = node.field("condition"), flow.passive
    if condition is not None:
        decide(flow, node)
        _condition(flow, condition)
    for name in ("consequence", "alternative", "body"):
        child = node.field(name)
        if child is None:
            continue
        if condition is not None and barred(flow, condition, name != "alternative"):
            flow.passive = True
            flow.idle.append((child.start, child.end))
        if name == "alternative" and [inner.kind for inner in child.children] == ["if_statement"]:
            return child.children[0]
        run(flow, child)
        flow.passive = passive
    return None


def _do(flow: Flow, node: Node) -> None:
    body, condition = node.field("body"), node.field("condition")
    if body is not None:
        run(flow, body)
    if condition is not None:
        truth(flow, condition, evaluate(flow, condition))


def _switch(flow: Flow, node: Node) -> None:
    condition = node.field("condition")
    if condition is not None:
        value = condition.field("value")
        if value is not None:
            flow.sink(node, "switch", "is switched on", evaluate(flow, value))
    body = node.field("body")
    if body is not None:
        _compound(flow, body)


def _for(flow: Flow, node: Node) -> None:
    with flow.scope():
        initializer, condition, update = (node.field(n) for n in ("initializer", "condition", "update"))
        if initializer is not None:
            run(flow, initializer)
            for variable in list(flow.scopes[-1].values()):
                if variable.value.symbolic and variable.value.kind == "int":
                    flow.sink(node, "loop-bound", f"starts the loop over `{variable.name}`", variable.value)
        if condition is not None:
            _loop_condition(flow, condition)
        if update is not None:
            evaluate(flow, update)
        body = node.field("body")
        if body is not None:
            run(flow, body)


def _loop_condition(flow: Flow, node: Node) -> None:
    """Every SymInt that a `for` condition compares bounds the loop."""
    pending = [node]
    while pending:
        part = pending.pop()
        if part.kind == "binary_expression" and part.token in ("&&", "||"):
            pending += reversed(part.children)
        else:
            _compared(flow, part)


def _compared(flow: Flow, node: Node) -> None:
    value = evaluate(flow, node)
    parts = [value] if value.symbolic else []
    if node.kind == "binary_expression":
        parts += [kind for kind in (evaluate(flow, child) for child in node.children) if kind.kind == "int"]
    flow.sink(node, "loop-bound", "bounds a `for` loop", *parts)


def _range_for(flow: Flow, node: Node) -> None:
    with flow.scope():
        right = node.field("right")
        over = evaluate(flow, right) if right is not None else UNKNOWN
        if right is not None and right.kind == "initializer_list":
            deduced_list(flow, right)
        spelled, declarator = node.field("type"), node.field("declarator")
        if declarator is not None and declarator.kind == "reference_declarator" and declarator.children:
            inner = declarator.children[0]
            declarator = inner if inner.kind == "structured_binding_declarator" else declarator
        element = _element(over)
        if declarator is not None and declarator.kind == "structured_binding_declarator":
            _bind(flow, declarator, element)
        else:
            name, suffix, identifier = declared_name(declarator)
            if identifier is not None and spelled is not None:
                if "auto" in spelled.text.split():
                    flow.declare(name, element, identifier, deduced=True)
                else:
                    variable = flow.declare(name, flow.type_of(spelled.text + suffix), identifier, node)
                    store(flow, variable, element, node)
                    if right is not None and is_reference(node.field("declarator")):
                        bind(flow, variable, right, element)
        body = node.field("body")
        if body is not None:
            run(flow, body)


def _element(over: Type) -> Type:
    if over.kind in ("ints", "braces"):
        return Type("int", "int64_t", origins=over.origins)
    if over.kind == "list" and over.args:
        return over.args[0]
    return Type("tensor") if over.kind == "tensor" else UNKNOWN


def _return(flow: Flow, node: Node) -> None:
    expression = node.children[0] if node.children else None
    value = evaluate(flow, expression) if expression is not None else Type("void")
    if flow.active_lambdas:
        _lambda_return(flow, flow.active_lambdas[-1], expression, value)
        return
    returned(flow, node, expression, value)


def _lambda_return(flow: Flow, owner: Lambda, expression: Node | None, value: Type) -> None:
    owner.returns.append((expression, value))


STATEMENTS |= {
    "function_definition": _function,
    "compound_statement": _compound,
    "field_declaration_list": _compound,
    "expression_statement": _expression,
    "declaration": _declaration,
    "condition_clause": _condition,
    "if_statement": _if,
    "while_statement": _if,
    "do_statement": _do,
    "switch_statement": _switch,
    "for_statement": _for,
    "for_range_loop": _range_for,
    "return_statement": _return,
}
