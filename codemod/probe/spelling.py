"""How answers spell what torch writes: arguments in place of symbols, and Python in place of sympy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

SYMBOL = re.compile(r"\b(?:s|u|zuf|zf)\d+\b")
"""What torch names its symbols."""
_EQUAL = re.compile(r"^Eq\((\w+), (-?[\d.]+(?:e[+-]?\d+)?)\)$")
_FLOAT = re.compile(r"\b\d+\.\d+(?:e[+-]?\d+)?\b")  # with as many digits as sympy holds: 1.00000000000000e-5
_OPEN_EQUAL = re.compile(r"^(Eq|Ne)\((.+)\)$")
_MOST_COMMAS = 50
_LOCAL = re.compile(r"\b[LG]\['(\w+)'\]")
_MEMBER = re.compile(r"\._(?:modules|parameters|buffers)\['([A-Za-z_]\w*)'\]")
_ELEMENT = re.compile(r"\._modules\['(\d+)'\]")
_SIZE = re.compile(r"\.(size|stride)\(\)\[(\d+)\]")


def guard_kind(expression: str) -> str:
    """The kind of answer that a guard is: "specialized" where it admits one value of a size."""
    return "specialized" if _EQUAL.match(expression) else "guard"


def spelled(source: str) -> str:
    """`L['x'].size()[0]` as `x.size(0)`, wherever it stands in `source`; `m._modules['a']` as `m.a`."""
    text = _ELEMENT.sub(r"[\1]", _MEMBER.sub(r".\1", source))
    return _SIZE.sub(r".\1(\2)", _LOCAL.sub(r"\1", text))


def in_arguments(expression: str, sources: Mapping[str, str]) -> str:
    """A sympy expression with arguments in place of symbols; `Eq(a, b)` becomes `a == b`, `Ne(a, b)` `a != b`."""
    text = SYMBOL.sub(lambda match: spelled(sources.get(match[0]) or match[0]), short_floats(expression))
    equal = _OPEN_EQUAL.match(text)
    if equal is None:
        return text
    for comma in islice(re.finditer(", ", equal[2]), _MOST_COMMAS):
        sides = equal[2][: comma.start()], equal[2][comma.end() :]
        if all(map(_is_balanced, sides)):
            return f"{sides[0]} {'==' if equal[1] == 'Eq' else '!='} {sides[1]}"
    return text


def short_floats(expression: str) -> str:
    """`expression` with its floats as Python writes them."""
    return _FLOAT.sub(lambda match: repr(float(match[0])), expression)


def _is_balanced(text: str) -> bool:
    """Whether each bracket that `text` closes is one that it opened."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0
