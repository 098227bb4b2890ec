"""C++ of any depth: one function for each way in which statements and expressions go on or nest."""

from __future__ import annotations

from collections.abc import Callable

SIZE = "x.size(0)"
CHAINS: dict[str, Callable[[int], str]] = {
    "sum": lambda n: f"return x.reshape({{{' + '.join([SIZE] * n)}}});",
    "float sum": lambda n: f"auto s = {' + '.join([f'1.0 * {SIZE}'] * n)}; return x.mul(s);",
    "product": lambda n: f"return x.reshape({{{' * '.join([SIZE] * n)}}});",
    "stream": lambda n: f"std::cout{f' << {SIZE}' * n}; return x;",
    "and": lambda n: f"if ({' && '.join([SIZE] * n)}) {{ return x; }} return x.sum();",
    "or": lambda n: f"if ({' || '.join([f'{SIZE} == 0'] * n)}) {{ return x; }} return x.sum();",
    "loop condition": lambda n: f"for (; {' && '.join(['b'] * n)} && x.size(0); ) {{}} return x;",
    "else if": lambda n: " else ".join(f"if ({SIZE} == {i}) {{ return x; }}" for i in range(n)) + " return x;",
    "parentheses": lambda n: f"return x.reshape({{{'(' * n}{SIZE}{')' * n}}});",
    "methods": lambda n: f"return x.reshape({{x{'.sum()' * n}.size(0)}});",
    "unknown methods": lambda n: f"auto s = u{'.size(0)' * n}; return x.reshape({{{SIZE}}});",
    "members": lambda n: f"auto s = u{'.a' * n}; return x.reshape({{{SIZE}}});",
    "not": lambda n: f"bool b = {'!' * n}{SIZE}; return x;",
    "conditional": lambda n: f"return x.reshape({{{''.join(f'b{i} ? {SIZE} : ' for i in range(n))}{SIZE}}});",
    "comma": lambda n: f"return {f'{SIZE}, ' * n}x;",
    "aliases": lambda n: (
        "bool b0 = a; "
        + "".join(f"bool b{i + 1} = b{i}; " for i in range(n))
        + f"if (b{n}) {{ return x; }} return x.reshape({{{SIZE}}});"
    ),
    "template arguments": lambda n: f"{'std::vector<' * n}int64_t{'>' * n} v; return x.reshape({{{SIZE}}});",
    "pointers": lambda n: f"int64_t {'*' * n}p; return x.reshape({{{SIZE}}});",
    "cases": lambda n: f"switch (a) {{ {''.join(f'case {i}: ' for i in range(n))} return x.reshape({{{SIZE}}}); }}",
    "statements": lambda n: f"auto n = {SIZE}; {'n = n + 1; ' * n} return x.reshape({{n}});",
    "variables": lambda n: "auto a0 = &x; " + "".join(f"auto a{i + 1} = &a{i}; " for i in range(n)) + "return x;",
}
"""What goes on for as long as it likes on one level."""
NESTS: dict[str, Callable[[int], str]] = {
    "blocks": lambda n: f"{'{' * n} auto n = {SIZE}; y = x.reshape({{n}}); {'}' * n} return x;",
    "if": lambda n: f"{'if (b) {' * n} y = x.reshape({{{SIZE}}}); {'}' * n} return x;",
    "else": lambda n: f"{'if (b) {} else { ' * n} y = x.reshape({{{SIZE}}}); {'}' * n} return x;",
    "for": lambda n: f"{'for (;;) ' * n} y = x.reshape({{{SIZE}}}); return x;",
    "while": lambda n: f"{'while (b) ' * n} y = x.reshape({{{SIZE}}}); return x;",
    "do": lambda n: f"{'do { ' * n} y = x.reshape({{{SIZE}}}); {'} while (b); ' * n} return x;",
    "switch": lambda n: f"{'switch (a) { default: ' * n} y = x.reshape({{{SIZE}}}); {'}' * n} return x;",
    "lambdas": lambda n: f"auto s = {'[&]{ return ' * n}{SIZE}{'; }()' * n}; return x.reshape({{s}});",
    "calls": lambda n: f"auto s = {'x.sum(' * n}0{')' * n}; return x.reshape({{{SIZE}}});",
    "dimensions": lambda n: f"auto s = {'x.size(' * n}0{')' * n}; return x.reshape({{{SIZE}}});",
    "free accessors": lambda n: f"auto s = {'at::size(' * n}x{', 0)' * n}; return x.reshape({{{SIZE}}});",
    "constructors": lambda n: f"auto s = {'IntArrayRef(' * n}x.sizes(){')' * n}; return x.reshape(s);",
    "braces": lambda n: f"auto s = {'{' * n}{SIZE}{'}' * n}; return x;",
    "assignments": lambda n: f"int64_t a; {'a = ' * n}{SIZE}; return x.reshape({{a}});",
    "right sums": lambda n: f"return x.reshape({{{'(1 + ' * n}{SIZE}{')' * n}}});",
    "subscripts": lambda n: f"auto s = u{'[0]' * n}; return x.reshape({{{SIZE}}});",
    "casts": lambda n: f"return x.reshape({{{'(int64_t)' * n}{SIZE}}});",
    "dereferences": lambda n: f"auto s = {'*' * n}p; return x.reshape({{{SIZE}}});",
    "copies": lambda n: f"auto s = {'std::copy(p, p, ' * n}p{')' * n}; return x.reshape({{{SIZE}}});",
    "not in parentheses": lambda n: f"bool b = {'!(' * n}{SIZE}{')' * n}; return x;",
}
"""What takes a level each time."""
