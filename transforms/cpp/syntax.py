"""tree-sitter-cpp over PyTorch's sources: masking macros that stop the parser, then parsing.

Masking replaces bytes by as many other bytes, so every offset in the tree is an offset in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Tree

LANGUAGE = Language(tree_sitter_cpp.language())

# Attribute-like macros that stand where the grammar expects none.
_ATTRIBUTES = re.compile(
    rb"\b(?:TORCH_API|TORCH_PYTHON_API|TORCH_CUDA_CPP_API|TORCH_CUDA_CU_API|TORCH_XPU_API|C10_API|C10_EXPORT|C10_HIDDEN"
    rb"|C10_ALWAYS_INLINE(?:_UNLESS_MOBILE)?|C10_NOINLINE|C10_HOST_DEVICE|C10_HOST|C10_DEVICE|C10_UNUSED|C10_NODISCARD"
    rb"|C10_ERASE|C10_IMPORT|C10_RESTRICT|__global__|__device__|__host__|__forceinline__|__inline__|__restrict__|__restrict"
    rb"|__ubsan_ignore_\w+__|STATIC_DEFINE|GPU_LAMBDA|TORCH_PRIVATE|DLL_PUBLIC|FBGEMM_API)\b(?!\s*\()"
)
# `TORCH_META_FUNC(add)(args)` reads as a function named META__add, which the parser can follow.
_STRUCTURED = re.compile(rb"\bTORCH_(?:PRECOMPUTE_)?(META|IMPL)_FUNC2?[ \t]*\(([^()\n]*)\)")
# A macro call alone on its line(s) without a semicolon: `REGISTER_DISPATCH(a, b)`, `DEFINE_DISPATCH(x)`.
_STATEMENT = re.compile(rb"(?m)^[ \t]*[A-Z][A-Z0-9_]{3,}\([^(){};\n]*\)[ \t]*(?=\n[ \t]*(?:\n|[A-Za-z#}/]|$))")
_PREPROCESSOR = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\\n|\\.)*")


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", match.group())


def _structured(match: re.Match[bytes]) -> bytes:
    name = b"void %s__%s" % (match[1], re.sub(rb"\W+", b"_", match[2].strip()))
    whole = match.group()
    return name.ljust(len(whole)) if len(name) <= len(whole) else whole


def mask(source: bytes) -> bytes:
    """`source` with the macros blanked that break the parse; every byte keeps its place."""
    return _ATTRIBUTES.sub(_blank, _STRUCTURED.sub(_structured, source))


def parse(source: bytes) -> tuple[Tree, bytes]:
    """The tree of a file and the masked bytes it was made of.

    Where masking leaves errors, a second try without `#if` lines is kept if it has fewer.
    """
    parser = Parser(LANGUAGE)
    masked = mask(source)
    tree = parser.parse(masked)
    if tree.root_node.has_error:
        plain = _PREPROCESSOR.sub(_blank, masked)
        other = parser.parse(plain)
        if count_errors(other.root_node) < count_errors(tree.root_node):
            return other, plain
    return tree, masked


def errors(node: Node) -> Iterator[Node]:
    """The ERROR and MISSING nodes below `node`, outermost first."""
    if node.is_error or node.is_missing:
        yield node
    elif node.has_error:
        for child in node.children:
            yield from errors(child)


def count_errors(node: Node) -> int:
    """The number of outermost error nodes below `node`."""
    return sum(1 for _ in errors(node))


def text(node: Node, source: bytes) -> str:
    """The source of a node; bytes that are no UTF-8 come back as lone surrogates."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
