"""Changes of one source file's bytes, made at random: each is a function of the bytes and a `random.Random`.

The same bytes and the same state of the generator give the same result, on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

from fuzz_nesting import CPP_NESTS, PYTHON_NESTS, cpp_nest, python_nest

Mutate = Callable[[bytes, Random], bytes]

MENTION = "@fuzz-mention"
"""Part of many a name here: whoever shows it in Markdown outside of code calls a person."""
HOSTILE_NAMES = (
    f"Fixes #31337 {MENTION}",
    "a\x1b[31mred\x1b[0m",
    "a\n::error file=x,line=1::INJECTED",
    "a\r::warning::INJECTED",
    "a\x00b",
    "a\x07\x08\x9b31m",
    "",
    " ",
    "::",
    "aten::",
    "::add",
    "a::b::c",
    "a.b.c.d",
    "../../../etc/passwd",
    "-rf",
    "symfix/../../x",
    "$(touch PWNED)",
    "`touch PWNED`",
    "<script>alert(1)</script>",
    "{{ 7*7 }}",
    "%s%n%x",
    "é\u202e\u200b",
    "x" * 300,
    "y" * 70_000,
)
"""What no operator is called."""

_SNIPPETS = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\x1b[31m", b"\x0c", b"\xe2\x80\xa8", b"\\\n", b"??/\n", b"{",
    b"}", b"(", b")", b"<", b">", b'"', b"'", b'"""', b"/*", b"*/", b"//", b"#", b"#if 0\n", b"#endif\n", b";", b":",
    b"\t", b" " * 200, b"R\"(", b")\"", b"\n\n\n", b"// symfix: ignore[", b"# symfix: ignore[sym-accessor]\n",
    b".size(0)", b".sizes()", b".numel()", b"->", b"::", b",", b"auto ", b"template <", b"\xc3", b"\xed\xa0\x80",
)  # fmt: skip
_WORD = re.compile(rb"[A-Za-z_]\w*")
_REGISTRATION = re.compile(rb'\b(?:m\.(?:def|impl)|TORCH_SELECTIVE_NAME)\(\s*(?:TORCH_SELECTIVE_NAME\()?"([^"]*)"')
_LITERAL = re.compile(rb'"[^"\n]*"')
_OPERATORS = (b"+", b"-", b"*", b"/", b"<", b">", b"==", b"!=", b"&&", b"||", b"&", b"|", b"^", b"=", b",", b";", b"?")


def drop_lines(source: bytes, chance: Random) -> bytes:
    """`source` without some of its lines."""
    lines = source.splitlines(keepends=True)
    for _ in range(_few(chance, lines)):
        del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def duplicate_lines(source: bytes, chance: Random) -> bytes:
    """`source` with a block of lines once more, somewhere."""
    lines = source.splitlines(keepends=True)
    if not lines:
        return source
    start = chance.randrange(len(lines))
    block = lines[start : start + chance.choice((1, 1, 3, 20, 200))]
    at = chance.randrange(len(lines) + 1)
    return b"".join([*lines[:at], *block * chance.choice((1, 1, 1, 2, 30)), *lines[at:]])


def swap_lines(source: bytes, chance: Random) -> bytes:
    """`source` with some pairs of lines exchanged."""
    lines = source.splitlines(keepends=True)
    for _ in range(_few(chance, lines)):
        first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def flip_bytes(source: bytes, chance: Random) -> bytes:
    """`source` with one bit of some bytes turned."""
    changed = bytearray(source)
    for _ in range(_few(chance, changed)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def insert_snippets(source: bytes, chance: Random) -> bytes:
    """`source` with what opens, closes or breaks something, at random places."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(source) + 1)
        source = source[:at] + chance.choice(_SNIPPETS) + source[at:]
    return source


def truncate(source: bytes, chance: Random) -> bytes:
    """The beginning of `source`."""
    return source[: chance.randrange(len(source) + 1)]


def convert(source: bytes, chance: Random) -> bytes:
    """`source` with other line ends, another encoding, or a byte order mark."""
    kind = chance.randrange(7)
    if kind < 3:
        return source.replace(b"\n", (b"\r\n", b"\r", b"\n\r")[kind])
    if kind == 3:
        return b"\xef\xbb\xbf" + source
    text = source.decode("latin-1")
    return text.encode(("utf-16", "utf-32", "utf-8")[kind - 4], "replace")


def swap_words(source: bytes, chance: Random) -> bytes:
    """`source` with one name in the place of another, at one place or everywhere."""
    words = sorted(set(_WORD.findall(source)))
    if not words:
        return source
    old = chance.choice(words)
    new = chance.choice([*words, b"a" * 5_000, b"operator", b"if", b"_", b"self"])
    return re.sub(rb"\b%s\b" % old, lambda match: new, source, count=chance.choice((0, 1, 3)))


def swap_operators(source: bytes, chance: Random) -> bytes:
    """`source` with some operators exchanged for others."""
    old, new = chance.choice(_OPERATORS), chance.choice(_OPERATORS)
    return source.replace(old, new, chance.choice((1, 3, -1)))


def hostile_registration(source: bytes, chance: Random) -> bytes:
    """`source` with a name of an operator, else any string, that no operator has."""
    spans = [match.span(1) for match in _REGISTRATION.finditer(source)]
    spans = spans or [(match.start() + 1, match.end() - 1) for match in _LITERAL.finditer(source)]
    if not spans:
        return source
    start, end = chance.choice(spans)
    name = chance.choice(HOSTILE_NAMES)
    schema = source[start:end].find(b"(")
    rest = source[start + schema : end] if schema >= 0 else b""
    return source[:start] + _literal(name, chance) + rest + source[end:]


def hostile_library(source: bytes, chance: Random) -> bytes:
    """`source` with registrations of kernels that lack, repeat or mistake their parts."""
    name = _literal(chance.choice(HOSTILE_NAMES), chance).decode("utf-8", "surrogateescape")
    call = chance.choice((
        'm.impl("a");', "m.impl();", "m.def();", 'm.def("");', "m.impl(1, 2);", 'm.impl("a", );', "m.impl({});",
        f'm.def("{name}");', f'm.def("{name}(Tensor x) -> Tensor");', f'm.impl("{name}", evil_kernel);',
        f'm.impl("{name}", TORCH_FN(evil_kernel));', 'm.impl("a", torch::dispatch(c10::DispatchKey::Meta, ));',
        'm.def("a(Tensor x", evil_kernel);', 'm.impl(torch::schema("a()"), [](at::Tensor x) { return x.size(0); });',
        "m.fallback();", 'm.set_python_module(");',
    ))  # fmt: skip
    head = chance.choice((
        "TORCH_LIBRARY_IMPL(evil, Meta, m)", "TORCH_LIBRARY(evil, m)", "TORCH_LIBRARY_FRAGMENT(evil, m)",
        "TORCH_LIBRARY_IMPL(_, CompositeImplicitAutograd, m)", "TORCH_LIBRARY_IMPL(evil, , m)", "TORCH_LIBRARY()",
        "TORCH_LIBRARY_IMPL(aten, Nonsense, m)", "TORCH_LIBRARY_IMPL(evil, Meta)",
    ))  # fmt: skip
    kernel = "static at::Tensor evil_kernel(const at::Tensor& x) { return x.new_empty({x.size(0), x.numel()}); }\n"
    addition = f"\n{kernel}{head} {{ {call} }}\n".encode("utf-8", "surrogateescape")
    return source + addition * chance.choice((1, 1, 1, 3))


def deep_cpp(source: bytes, chance: Random) -> bytes:
    """`source` with something nested very deep, in a function of its own or within one that is there."""
    return _deep(source, cpp_nest(chance.choice(CPP_NESTS), _depth(chance), chance.random() < 0.2), b"{", chance)


def deep_python(source: bytes, chance: Random) -> bytes:
    """`source` with something nested very deep, at its end."""
    return source + b"\n\n" + python_nest(chance.choice(PYTHON_NESTS), _depth(chance), chance.random() < 0.2)


def many_cpp(source: bytes, chance: Random) -> bytes:
    """`source` with many small functions, of one name or of many."""
    same = chance.random() < 0.5
    functions = (
        f"static at::Tensor many{'' if same else number}(const at::Tensor& x) {{ return x.new_empty({{x.size(0)}}); }}"
        for number in range(chance.choice((200, 1_000, 3_000)))
    )
    return source + "\n".join(["", *functions, ""]).encode()


def many_python(source: bytes, chance: Random) -> bytes:
    """`source` with many small functions that branch on a size, of one name or of many."""
    same = chance.random() < 0.5
    functions = (
        f"def many{'' if same else number}(x):\n    if x.numel() == 0:\n        return x\n    return x + {number}\n\n"
        for number in range(chance.choice((200, 1_000, 2_500)))
    )
    return source + ("\n\nimport torch\n\n" + "\n".join(functions)).encode()


def hostile_comment(source: bytes, chance: Random) -> bytes:
    """`source` with a suppression that is none, where one may stand."""
    mark = b"#" if b"import " in source[:2_000] else b"//"
    rule = chance.choice(("", "*", "no-such-rule", "sym-accessor", *HOSTILE_NAMES))
    text = mark + f" symfix: ignore[{rule}] {chance.choice(HOSTILE_NAMES)}".encode("utf-8", "surrogateescape")
    lines = source.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    return b"".join([*lines[:at], text + b"\n", *lines[at:]])


_ANY: Mapping[str, Mutate] = {
    "lines dropped": drop_lines,
    "lines twice": duplicate_lines,
    "lines swapped": swap_lines,
    "bits flipped": flip_bytes,
    "snippets": insert_snippets,
    "cut off": truncate,
    "converted": convert,
    "words swapped": swap_words,
    "operators swapped": swap_operators,
    "hostile registration": hostile_registration,
    "hostile comment": hostile_comment,
}
_CPP: Mapping[str, Mutate] = {**_ANY, "deep": deep_cpp, "many functions": many_cpp, "hostile library": hostile_library}
_PYTHON: Mapping[str, Mutate] = {**_ANY, "deep": deep_python, "many functions": many_python}


def mutations_of(path: str) -> Mapping[str, Mutate]:
    """What can be done to a file of that name, by what it is called."""
    return _PYTHON if path.endswith(".py") else _CPP


def _few(chance: Random, of: bytes | bytearray | list[bytes]) -> int:
    return min(len(of), chance.choice((1, 1, 2, 4, 16)))


def _depth(chance: Random) -> int:
    return chance.choice((4, 30, 120, 300, 500, 1_000, 3_000, 10_000))


def _literal(name: str, chance: Random) -> bytes:
    """The content of a string literal that means `name`, with escapes or with the bytes as they are."""
    raw = name.encode("utf-8", "surrogateescape")
    if chance.random() < 0.5:
        return raw
    return b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes((byte,)) for byte in raw)


def _deep(source: bytes, nest: bytes, before: bytes, chance: Random) -> bytes:
    if chance.random() < 0.5:
        head = b"\nat::Tensor deep(const at::Tensor& self, bool c) {\n  "
        return source + head + nest + b"\n  return self.view({self.size(0)});\n}\n"
    places = [match.end() for match in re.finditer(re.escape(before), source)]
    at = chance.choice(places) if places else len(source)
    return source[:at] + b" " + nest + b" " + source[at:]
