"""C++ and Python in which one thing is nested in itself very often, as generated code has it."""

from __future__ import annotations

# Each: what opens a level, what is innermost, what closes a level. Expressions become the value of a variable.
_CPP_EXPRESSIONS = {
    "parentheses": ("(", "self.size(0)", ")"),
    "sum": ("self.size(0) + ", "1", ""),
    "sum from the left": ("", "self.size(0)", " + self.size(0)"),
    "product": ("self.numel() * ", "2", ""),
    "and": ("c && ", "self.size(0) == 1", ""),
    "not": ("!", "self.numel()", ""),
    "minus": ("- ", "self.size(0)", ""),
    "ternary": ("c ? self.size(0) : ", "self.size(1)", ""),
    "ternary in the middle": ("c ? ", "self.size(1)", " : self.size(0)"),
    "calls in a row": ("", "self", ".t()"),
    "calls in calls": ("std::abs(", "self.size(0)", ")"),
    "lambda": ("[&] { return ", "self.size(0)", "; }()"),
    "subscript": ("sizes[", "self.size(0)", "]"),
    "subscripts in a row": ("", "self.sizes()", "[0]"),
    "cast": ("(int64_t)", "self.size(0)", ""),
    "static_cast": ("static_cast<int64_t>(", "self.size(0)", ")"),
    "list": ("{", "self.size(0)", "}"),
    "template": ("A<", "int", ">"),
    "comma": ("self.size(0), ", "1", ""),
    "shift": ("std::cout << self.size(0) << ", "1", ""),
    "assignment": ("x = ", "self.size(0)", ""),
    "string": ('"a" ', '"b"', ""),
    "dereference": ("*", "self", ""),
}
_CPP_STATEMENTS = {
    "braces": ("{ ", "(void)self.size(0);", " }"),
    "else if": ("if (self.size(0) == 1) { c = true; } else ", "{ c = false; }", ""),
    "if": ("if (self.size(0) == 1) ", "c = true;", ""),
    "if with braces": ("if (self.size(0) == 1) { ", "c = true;", " }"),
    "for": ("for (int64_t i = 0; i < self.size(0); ++i) { ", "c = true;", " }"),
    "while": ("while (self.numel()) ", "c = true;", ""),
    "label": ("case 1: ", ";", ""),
    "statements": ("c = self.size(0) == 1; ", "", ""),
    "variables": ("auto n = self.size(0); ", "", ""),
    "struct": ("struct S { ", "int64_t f(at::Tensor self) { return self.size(0); }", " };"),
    "namespace": ("namespace n { ", "int64_t f(at::Tensor self) { return self.size(0); }", " }"),
    "#if": ("\n#if A\n", "c = self.size(0) == 1;", "\n#endif\n"),
    "#elif": ("\n#if A\n", "c = self.size(0) == 1;", "\n#elif B\n"),
    "try": ("try { ", "c = self.size(0) == 1;", " } catch (...) { }"),
    "do": ("do { ", "c = self.size(0) == 1;", " } while (c);"),
    "pointer": ("int64_t (*", "p", ")();"),
    "comment": ("/* ", "", " */"),
}
_PYTHON_EXPRESSIONS = {
    "parentheses": ("(", "x.size(0)", ")"),
    "sum": ("x.size(0) + ", "1", ""),
    "not": ("not ", "x.numel()", ""),
    "minus": ("-", "x.size(0)", ""),
    "lambda": ("lambda: ", "x.size(0)", ""),
    "list": ("[", "x.size(0)", "]"),
    "dictionary": ("{1: ", "x.size(0)", "}"),
    "calls in calls": ("abs(", "x.size(0)", ")"),
    "calls in a row": ("", "x", ".t()"),
    "subscripts in a row": ("", "x.shape", "[0]"),
    "ternary": ("x if x.size(0) else ", "x", ""),
    "and": ("x.size(0) and ", "x", ""),
    "comparison": ("x.size(0) < ", "1", ""),
    "power": ("2 ** ", "x.size(0)", ""),
    "comprehension": ("[a for a in ", "x.shape", "]"),
    "await": ("(yield ", "x", ")"),
    "f-string": ("f'{x}' ", "''", ""),
    "string": ("'a' ", "'b'", ""),
    "walrus": ("(y := ", "x.size(0)", ")"),
}
_PYTHON_BLOCKS = {
    "elif": "elif x.size(0) == {number}:\n        pass",
    "statements": "y = x.numel() == {number}",
    "assertions": "assert x.size(0) == {number}",
    "branches": "if x.numel() == {number}:\n        return x",
}
_PYTHON_INDENTED = {"if": "if x.size(0):", "for": "for i in range(x.size(0)):", "with": "with x:", "def": "def f(x):",
                    "class": "class C:", "while": "while x.size(0):"}  # fmt: skip

CPP_NESTS = (*_CPP_EXPRESSIONS, *_CPP_STATEMENTS)
PYTHON_NESTS = (*_PYTHON_EXPRESSIONS, *_PYTHON_BLOCKS, *(f"indented {name}" for name in _PYTHON_INDENTED))


def cpp_nest(kind: str, depth: int, open_only: bool = False) -> bytes:
    """A statement that holds the `kind` nested `depth` times, on a Tensor `self`; never closed where `open_only`."""
    first, middle, last = _CPP_EXPRESSIONS.get(kind) or _CPP_STATEMENTS[kind]
    text = first * depth + middle + ("" if open_only else last * depth)
    return (f"auto nested = {text};" if kind in _CPP_EXPRESSIONS else text).encode()


def python_nest(kind: str, depth: int, open_only: bool = False) -> bytes:
    """A function of a Tensor `x` that holds the `kind` nested `depth` times; never closed where `open_only`."""
    head = "def deep(x):\n    "
    if kind in _PYTHON_EXPRESSIONS:
        first, middle, last = _PYTHON_EXPRESSIONS[kind]
        text = f"nested = {first * depth}{middle}{'' if open_only else last * depth}\n    return nested"
    elif kind in _PYTHON_BLOCKS:
        text = "\n    ".join(["if x.numel() == 0:\n        pass",
                             *(_PYTHON_BLOCKS[kind].format(number=number) for number in range(depth))])  # fmt: skip
    else:
        line = _PYTHON_INDENTED[kind.removeprefix("indented ")]
        depth = min(depth, 300)  # the indentation alone grows as its square
        text = "".join(f"{line}\n{' ' * (level + 5)}" for level in range(depth)) + ("" if open_only else "pass")
    return f"{head}{text}\n".encode()
