"""Templates of numbers that read the same with a SymInt for their parameter, as far as the source alone says so."""

from __future__ import annotations

import re
from collections.abc import Collection

from transforms.cpp.reading.signatures import Signature

_HEAD = re.compile(rb"\s*template\s*<\s*(?:typename|class)\s+(\w+)\s*>\s*(?:(?:static|inline)\s+)*\Z")
_STATEMENT = re.compile(rb"\s*(?:return\b|(?:const\s+)?(\w+)\s+\w+\s*=)([\w\s+\-*/%()]*)\Z")
_NO_NUMBER = re.compile(rb"\b(?!return\b)[A-Za-z_]\w*\s*\(|\d[uU]?(?:ll|LL)|\+\+|--|\)\s*[A-Za-z_(]|\bsizeof\b")
"""Calls, casts, steps, and literals that SymInt's operators are ambiguous beside."""
_WRITTEN_FOR_SYMBOLS = re.compile(rb"\bsymint::|SymInt")


def takes_symbols(head: bytes, body: bytes, signature: Signature) -> bool:
    """Whether a template, its `head` and its `body` in braces, takes a SymInt where it takes an int64_t.

    It is written for both, or declares and returns sums and products of its parameters, and nothing else.
    """
    if _WRITTEN_FOR_SYMBOLS.search(body) is not None:
        return True
    named = _HEAD.match(head)
    if named is None or signature.returns not in (named[1].decode(), "auto"):
        return False
    types = {re.sub(r"\bconst\b|&|\s", "", param.type) for param in signature.params}
    return types == {named[1].decode()} and all(
        _is_plain(statement, {named[1], b"auto"}) for statement in body.strip()[1:-1].split(b";")
    )


def _is_plain(statement: bytes, types: Collection[bytes]) -> bool:
    match = _STATEMENT.match(statement)
    if match is None:
        return not statement.strip()
    return (match[1] is None or match[1] in types) and _NO_NUMBER.search(match[2]) is None
