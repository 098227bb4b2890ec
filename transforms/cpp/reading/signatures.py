"""Reading what stands before a `{` or a `;`: is it a namespace, a class, a function, and with which signature?"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from transforms.cpp.reading.facts import Param
from transforms.cpp.reading.syntax import mask

_NAMESPACE = re.compile(rb"(?:^|[\s;)}])namespace\b([\w:\s]*)$")
_EXTERN = re.compile(rb'\bextern\s*"\s*"\s*$')
_CLASS = re.compile(
    rb"(?:^|[\s;)>}])(?:class|struct|union)\b(?:\s+[A-Z][A-Z0-9_]+(?=\s+\w))?\s*"
    rb"(\w*(?:\s*::\s*\w+)*)\s*(?:<[^;{}]*>)?(?:\s*::\s*(\w+))?(?:\s+final)?\s*(?::(?!:)[^;{}]*)?$"
)
_ENUM = re.compile(rb"(?:^|\s)enum\b[^()]*$")
_DIRECTIVES = re.compile(rb"(?m)^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*")
# One of these stands in every macro that `mask` blanks; looking for them first saves most of its time.
_IN_MACROS = re.compile(rb"_API|C10_|__|_FUNC|_DEFINE|_LAMBDA|_PRIVATE|_PUBLIC")
_ACCESS = re.compile(rb"\b(?:public|private|protected)\s*:(?!:)")
_ATTRIBUTE = re.compile(
    rb"\[\[[^\[\]]*\]\]|\b(?:__attribute__|alignas|__declspec|C10_LAUNCH_BOUNDS_\d|__launch_bounds__|explicit)\s*"
    rb"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
_TEMPLATE = re.compile(rb"\s*(?:template|requires)\s*<")
# Read backwards from the `(`: template arguments, a name, its qualifiers.
_NESTED = rb">(?:[^<>]|>(?:[^<>]|>[^<>]*<)*<)*<"
_NAME = re.compile(rb"\s*(?:" + _NESTED + rb"\s*)?(\w+~?(?:\s*::\s*(?:" + _NESTED + rb"\s*)?\w+)*(?:\s*::(?![\w>]))?)")
_OPERATOR = re.compile(rb"((?:\w+(?:<[^<>]*>)?\s*::\s*)*operator\s*(?:[^\w\s(]{1,3}|\w[\w:<>\s*&]*|\"\s*\"\s*\w+))\s*$")
_TAIL = re.compile(
    rb"\s*(?:$|(?:const|noexcept|override|final|volatile|mutable|try|requires)\b|&|->|:(?!:)|=\s*(?:0|default|delete)\b"
    rb"|[A-Z_][A-Z0-9_]+\s*$)"
)
_ASSIGNMENT = re.compile(rb"(?<![=<>!])=(?!=)")
_INITIALISERS = re.compile(rb"\s*(?:noexcept\b\s*(?:\([^()]*\))?\s*)?:(?!:)")
_ANGLE = re.compile(rb"[()<]|(?<!-)>")
_PARENTHESES = re.compile(rb"[()]")
_KEYWORDS = frozenset(
    b"if for while switch catch return sizeof decltype alignof static_assert noexcept typeid throw new delete "
    b"do else case using typedef goto co_return co_yield co_await requires".split()
)
_SPECIFIERS = re.compile(
    rb"\b(?:static|inline|constexpr|virtual|explicit|friend|extern|consteval|typename)\b(?:\s*\" *\")?"
)
_CONVERSION = re.compile(r"^operator(?=\w)")
_INITIALISED = re.compile(rb"(\w+)\s*[=(]")
_CAPTURES = re.compile(rb"\[[^\[\]]*\]\s*(\()?")
_OPENING = re.compile(rb"\s*\(")
_LONGEST_NAME = 4096
_PARAM = re.compile(r"^(.*[\s&*>\])])([A-Za-z_]\w*)\s*((?:\[[^\]]*\])*)$", re.S)
_POINTER = re.compile(r"\(\s*(?:[\w:]+::)?[*&]\s*(\w*)\s*\)")
_ONLY_TYPE = re.compile(r"^(?:(?:const|volatile|struct|class|typename|enum|register)\s*)*$")
_BUILTIN = frozenset(
    "int long short char unsigned signed double float bool const void auto size_t int64_t".split()  # noqa: SIM905
)


@dataclass(slots=True)
class Signature:
    """What a function's head says. `start` is the first byte after attributes and `template <…>`."""

    name: str
    scope: str
    """The qualification as written before the name, `A::B`, or ""."""
    start: int
    params: tuple[Param, ...]
    returns: str
    template: bool
    static: bool


def decode(text: bytes) -> str:
    """`text` as a string on one line; bytes that are no UTF-8 come back as lone surrogates."""
    return " ".join(text.decode("utf-8", "surrogateescape").split())


def _clean(head: bytes) -> bytes:
    """`head` with directives, access labels and attributes blanked, at the same length."""
    if b"#" in head:
        head = _DIRECTIVES.sub(_blanked, head)
    if b":" in head:
        head = _ACCESS.sub(_blanked, head)
    if _IN_MACROS.search(head) is not None:
        head = mask(head)
    if b"[[" in head or b"__" in head or b"BOUNDS" in head or b"alignas" in head or b"explicit" in head:
        head = _ATTRIBUTE.sub(_blanked, head)
    return head


def _blanked(match: re.Match[bytes]) -> bytes:
    return b" " * (match.end() - match.start())


def namespace_name(text: bytes, start: int, end: int) -> str | None:
    """The name if `text[start:end]` opens a namespace or `extern "C"` ("" for those without a name), else None."""
    if text.find(b"namespace", start, end) >= 0:
        match = _NAMESPACE.search(text[start:end])
        if match is not None:
            return re.sub(r"\s|\binline\b", "", match[1].decode())
    if text.find(b"extern", start, end) >= 0 and _EXTERN.search(text, start, end) is not None:
        return "extern"
    return None


def class_name(text: bytes, start: int, end: int) -> str | None:
    """The unqualified name if `text[start:end]` opens a class, struct or union, else None."""
    if all(text.find(word, start, end) < 0 for word in (b"class", b"struct", b"union")):
        return None
    head = _clean(text[start:end])
    head = b" ".join(head[_past_template(head)[0] :].split())
    if _ENUM.search(head) is not None:
        return None
    match = _CLASS.search(head)
    if match is None:
        return None
    return (match[2] or match[1].rpartition(b"::")[2]).strip().decode()


def _past_template(head: bytes, offset: int = 0) -> tuple[int, bool]:
    """The offset past the `template <…>` that stands at `offset`, and whether there is one."""
    is_template = False
    while (match := _TEMPLATE.match(head, offset)) is not None:
        depth = parentheses = 0
        for bracket in _ANGLE.finditer(head, match.end() - 1):
            token = bracket.group()
            if token in b"()":
                parentheses += 1 if token == b"(" else -1
            elif not parentheses:
                depth += 1 if token == b"<" else -1
                if depth == 0:
                    offset = bracket.end()
                    break
        else:
            return offset, is_template
        is_template = True
    return offset, is_template


def _closing(text: bytes, opening: int) -> int:
    """The offset of the `)` for the `(` at `opening`, or -1."""
    depth = 0
    for match in _PARENTHESES.finditer(text, opening):
        depth += 1 if match.group() == b"(" else -1
        if depth == 0:
            return match.start()
    return -1


def signature(text: bytes, start: int, end: int, in_class: str, declaration: bool) -> Signature | None:
    """The signature of the function whose head is `text[start:end]`, or None where that is no function's head.

    A macro call that stands before the head without a semicolon is skipped; `MACRO(name)(parameters)` is a
    function called `name`. Lambdas that initialise a variable are functions named after it.
    """
    if text.find(b"(", start, end) < 0:
        return None if declaration else _lambda(text[start:end], start)
    head = _clean(text[start:end])
    skipped, template = _past_template(head)
    head = head[skipped:]
    start += skipped
    begin = 0
    position = 0
    while True:
        opening = head.find(b"(", position)
        if opening < 0:
            return None if declaration else _lambda(head, start)
        closing = _closing(head, opening)
        if closing < 0:
            return None if declaration else _lambda(head, start)
        position = closing + 1
        name, first = _name_before(head, opening, begin)
        if name is None or name in _KEYWORDS:
            continue
        if _ASSIGNMENT.search(head, begin, first) is not None:
            return None if declaration else _lambda(head, start)
        if name.endswith(b"operator") and head[position : position + 20].lstrip().startswith(b"("):
            name += b"()"
            opening = head.find(b"(", position)
            closing = _closing(head, opening)
            if closing < 0:
                return None
        if _OPENING.match(head, closing + 1) is not None:
            second = head.find(b"(", closing)
            end = _closing(head, second)
            if end < 0 or declaration or _TAIL.match(head, end + 1) is None or not name.isupper():
                continue
            name = re.sub(rb"\W+", b"_", head[opening + 1 : closing].strip())
            opening, closing = second, end
        elif _TAIL.match(head, closing + 1) is None:
            # A macro without a semicolon, if anything: what follows is the head.
            begin, is_template = _past_template(head, closing + 1)
            template = template or is_template
            position = max(position, begin)
            continue
        tail = head[closing + 1 :]
        # The `{` of `: a_{1}` or of a lambda among the initialisers opens no body.
        last = head.rstrip()[-1:]
        initialised = not declaration and _INITIALISERS.match(tail) is not None
        if initialised and (last not in (b")", b"}", b".") or tail.count(b"(") != tail.count(b")")):
            return None
        break
    prefix = head[begin:first]
    written = b"".join(name.split())
    scope, _, base = written.rpartition(b"::")
    returns = decode(_SPECIFIERS.sub(b" ", prefix))
    if declaration and not returns and base.lstrip(b"~").decode() != in_class:
        return None
    arrow = tail.find(b"->")
    if arrow >= 0 and returns == "auto":
        returns = decode(tail[arrow + 2 :])
    lead = len(prefix) - len(prefix.lstrip()) if prefix.strip() else first - begin
    return Signature(
        _CONVERSION.sub("operator ", decode(base)),
        re.sub(r"<.*>", "", decode(scope)),
        start + begin + lead,
        parameters(head[opening + 1 : closing]),
        returns,
        template,
        b"static" in prefix,
    )


def _name_before(head: bytes, opening: int, begin: int) -> tuple[bytes | None, int]:
    """The qualified name that ends at `opening`, and where it starts."""
    start = max(begin, opening - _LONGEST_NAME)
    before = head[start:opening]
    if b"operator" in before:
        match = _OPERATOR.search(before)
        if match is not None:
            return match[1], start + match.start(1)
    match = _NAME.match(before[::-1])
    if match is None or match[1][-1:].isdigit():
        return None, 0
    name = re.sub(rb"\s+", b"", match[1][::-1])
    return name, opening - match.end(1)


def _lambda(head: bytes, start: int) -> Signature | None:
    """A lambda at namespace level, named after the variable it initialises or is an argument to."""
    captures = _CAPTURES.search(head)
    if captures is None:
        return None
    for match in _INITIALISED.finditer(head):
        if match.end() > captures.start():
            captures = _CAPTURES.search(head, match.end())
            if captures is None:
                return None
        if head.find(b";", match.end(), captures.start()) < 0:
            break
    else:
        return None
    params: tuple[Param, ...] = ()
    if captures[1]:
        closing = _closing(head, captures.start(1))
        if closing >= 0:
            params = parameters(head[captures.end(1) : closing])
    return Signature(match[1].decode(), "", start + len(head) - len(head.lstrip()), params, "", False, True)


def split_top(text: str) -> list[str]:
    """`text` split at the commas outside all brackets, `<…>` included."""
    if not any(c in text for c in "<({["):
        return text.split(",")
    parts = []
    depth = last = 0
    previous = ""
    for index, char in enumerate(text):
        if char in "<({[":
            depth += 1
        elif char in ")}]" or (char == ">" and previous != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[last:index])
            last = index + 1
        previous = char
    parts.append(text[last:])
    return parts


@functools.lru_cache(maxsize=4096)
def parameters(text: bytes) -> tuple[Param, ...]:
    """The parameters of a list as written between its parentheses."""
    plain = decode(text)
    if not plain or plain == "void":
        return ()
    return tuple(_parameter(part.strip()) for part in split_top(plain))


@functools.lru_cache(maxsize=4096)
def _parameter(part: str) -> Param:
    default = ""
    if "=" in part:
        part, _, default = part.partition("=")
        part, default = part.strip(), default.strip()
    match = _PARAM.match(part)
    if match is not None and match[2] not in _BUILTIN and _ONLY_TYPE.match(match[1].strip()) is None:
        return Param(match[1].strip() + match[3], match[2], default)
    pointer = _POINTER.search(part)
    if pointer is not None:
        return Param(part[: pointer.start(1)] + part[pointer.end(1) :], pointer[1], default)
    return Param(part, "", default)
