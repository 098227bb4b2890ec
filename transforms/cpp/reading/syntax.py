"""tree-sitter-cpp over PyTorch's sources: masking macros that stop the parser, then parsing.

Masking replaces bytes by as many other bytes, so every offset in the tree is an offset in the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Point, Range, Tree

from transforms.cpp.reading.marks import masked

LANGUAGE = Language(tree_sitter_cpp.language())

# Attribute-like macros that stand where the grammar expects none.
_ATTRIBUTES = re.compile(
    # Each begins with a character, so that the search passes over all others at once.
    rb"(?:T(?<=\bT)ORCH_(?:API|PYTHON_API|CUDA_CPP_API|CUDA_CU_API|XPU_API|PRIVATE)"
    rb"|C(?<=\bC)10_(?:API|EXPORT|HIDDEN|ALWAYS_INLINE(?:_UNLESS_MOBILE)?|NOINLINE|HOST_DEVICE|HOST|DEVICE|UNUSED"
    rb"|NODISCARD|ERASE|IMPORT|RESTRICT)"
    rb"|_(?<=\b_)_(?:global__|device__|host__|forceinline__|inline__|restrict__|restrict|ubsan_ignore_\w+__)"
    rb"|S(?<=\bS)TATIC_DEFINE|G(?<=\bG)PU_LAMBDA|D(?<=\bD)LL_PUBLIC|F(?<=\bF)BGEMM_API)\b(?!\s*\()"
)
# `TORCH_META_FUNC(add)(args)` reads as a function named META__add, which the parser can follow.
_STRUCTURED = re.compile(rb"TORCH_(?<=\bTORCH_)(?:PRECOMPUTE_)?(META|IMPL)_FUNC2?[ \t]*\(([^()\n]*)\)")
# `REGISTER_DISPATCH(a, b)` and `TORCH_CHECK(a, b)` without a semicolon; the arguments are matched by hand.
_STATEMENT = re.compile(rb"(?m)^[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]*[ \t]*\(")
_TOKEN = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[()]', re.S)
_NEXT = re.compile(rb"(?:[ \t\r]|//[^\n]*|/\*[^\n]*?\*/)*\n(?:\s|//[^\n]*\n|/\*.*?\*/)*(?=[A-Za-z_}])", re.S)
# `HANDLE_TH_ERRORS` alone on its line.
_LONE = re.compile(rb"(?m)(?<=[;{})\n])[ \t]*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[ \t]*(?=\r?\n\s*[\w}#/])")
# `kernel<<<grid, block>>>(n)`, a launch of CUDA or HIP, reads as `kernel,$(grid, block)  (n)`.
_LAUNCH = re.compile(rb"(?<!<)<<<((?:[^;<>]|<(?!<<)|>(?!>>\s*\())*)>>>(?=\s*\()")
LAUNCH = "$"
# `MY_API int64_t rows(…)`: a macro of the tree's own before the type that a function returns.
_AHEAD = re.compile(
    rb"(?m)^(?P<before>[ \t]*(?:(?:static|inline|extern|virtual|\[\[\w+\]\])[ \t]+)*)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
    rb"(?=\s+(?:(?:static|inline|extern|virtual|const|\[\[\w+\]\])\s+)*(?!const\b)[A-Za-z_][\w:]*(?:<[^;(){}]*>)?"
    rb"[\s&*]+[\w:]+\s*\()"
)
_EMPTY_DEFAULT = re.compile(rb"(?<=[\w\s]=)(\s*)\{\}(?=\s*[,)])")
_PREPROCESSOR = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\\n|\\.)*")


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", match.group())


def _blank_ahead(match: re.Match[bytes]) -> bytes:
    before = match["before"]
    return before.ljust(len(match.group()))


def _structured(match: re.Match[bytes]) -> bytes:
    name = b"void %s__%s" % (match[1], re.sub(rb"\W+", b"_", match[2].strip()))
    whole = match.group()
    return name.ljust(len(whole)) if len(name) <= len(whole) else whole


@functools.lru_cache(maxsize=4)
def _masked_file(source: bytes) -> bytes:
    return mask(source)


def mask(source: bytes) -> bytes:
    """`source` with a template's marks and the macros replaced that break the parse; every byte keeps its place."""
    source = masked(source).source
    if b"<<<" in source:
        source = _LAUNCH.sub(rb",$(\g<1>)  ", source)
    return _ATTRIBUTES.sub(_blank, _STRUCTURED.sub(_structured, source))


def _terminate(source: bytes) -> bytes:
    """`source` with a semicolon, in place of white space, after every macro call that stands alone without one."""
    out = bytearray(source)
    for match in _STATEMENT.finditer(source):
        depth = 0
        for token in _TOKEN.finditer(source, match.end() - 1):
            depth += {b"(": 1, b")": -1}.get(token.group(), 0)
            if depth == 0:
                following = _NEXT.match(source, token.end())
                if following is not None:
                    # A newline may end a comment, so only the one right after the call can go.
                    last = following.end() - 1
                    out[last if source[last : last + 1] in b" \t" else token.end()] = 0x3B
                break
    return bytes(out)


def _simplify(source: bytes) -> bytes:
    """`source` with more of what the grammar does not know blanked or spelled so that it does."""
    source = _AHEAD.sub(_blank_ahead, _LONE.sub(_blank, _terminate(source)))
    return _EMPTY_DEFAULT.sub(rb"\g<1>0 ", source)


def parse_span(source: bytes, start: int, end: int) -> tuple[Tree, bytes]:
    """The tree of the bytes `[start, end)` alone, at their places in the file, and the masked bytes of that file.

    Cheaper than `parse` where a file is long; the lines and columns of the nodes are not those of the file.
    """
    parser = Parser(LANGUAGE)
    parser.included_ranges = [Range(Point(0, start), Point(0, end), start, end)]
    text = _masked_file(source)
    return parser.parse(text), text


def parse(source: bytes) -> tuple[Tree, bytes]:
    """The tree of a file and the masked bytes it was made of.

    Where masking leaves errors, more is simplified, and then `#if` lines are dropped, if that leaves fewer.
    """
    parser = Parser(LANGUAGE)
    text = mask(source)
    tree = parser.parse(text)
    for attempt in (_simplify, _without_conditions):
        if not tree.root_node.has_error:
            break
        plain = attempt(text)
        simplified = parser.parse(plain)
        if count_errors(simplified.root_node) < count_errors(tree.root_node):
            tree, text = simplified, plain
    return tree, text


@functools.lru_cache(maxsize=8)
def parse_file(source: bytes) -> tuple[Tree, bytes]:
    """What `parse` returns, kept for the files that were asked about last."""
    return parse(source)


def _without_conditions(source: bytes) -> bytes:
    return _PREPROCESSOR.sub(_blank, source)


def errors(node: Node) -> Iterator[Node]:
    """The ERROR and MISSING nodes below `node`, outermost first."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.is_error or current.is_missing:
            yield current
        elif current.has_error:
            pending += reversed(current.children)


def count_errors(node: Node) -> int:
    """The number of outermost error nodes below `node`."""
    return sum(1 for _ in errors(node))
