"""What torch says where an operator has no fake, so that nothing can be traced through it."""

from __future__ import annotations

import re

from codemod.probe.violations import last_errors

MISSING = "missing-fake"
"""The rule whose findings are registrations of operators without a fake."""
_LACKS = re.compile(
    r"no fake impl registered for <CustomOpDef\((?P<custom>\w+::\w+)\)>"
    r"|(?:unsupported operator|UnsupportedOperatorException): (?P<dotted>\w+\.\w+)"
    r"|(?P<schema>\w+::\w+)[^\n]{0,100}: attempted to run this operator with Meta tensors"
)
_SAID = "torch finds no fake of it"
_OPERATOR = re.compile(r"(\w+)(?:::|\.)(\w+)")


def lacking(text: str) -> str:
    """What is said of the operator that has no fake, where this is the error that ends `text`; "" for another error."""
    match = next(filter(None, map(_LACKS.search, last_errors(text))), None)
    operator = operator_of(next(filter(None, match.groups()))) if match else ""
    return f"{operator}: {_SAID}" if operator else ""


def operator_of(text: str) -> str:
    """The operator, NAMESPACE::NAME, that the text of an answer about its fake begins with; "" where it has none."""
    match = _OPERATOR.match(text)
    return f"{match[1]}::{match[2]}" if match else ""
