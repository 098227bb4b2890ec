"""The smaller of two sizes in lowerings of Inductor: which stay expressions, and that these come to the same."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

HEAD = """from torch._inductor.lowering import register_lowering
from torch.utils._sympy.functions import Max, Min


@register_lowering(aten.f)
def f(x, offset):
    height, width = x.get_size()
    sizevars = V.graph.sizevars
"""
SMALLER = "V.graph.sizevars.evaluate_min(height, width - offset)"


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("    return view(x, [{0}])\n", "view(x, [Min(height, width - offset)])"),
        ("    return view(x, size={0} * 2)\n", "size=Min(height, width - offset) * 2"),
        ("    n = sizevars.evaluate_max({0}, 0)\n    return view(x, n)\n", "n = Max(Min(height, width - offset), 0)"),
        ("    n = {0}\n    sizes = [1]\n    sizes.append(n)\n    return view(x, sizes)\n", "n = Min("),
        ("    n = {0}\n    m = n + 1\n    return view(x, m, -n)\n", "n = Min("),
        (
            "    n = {0}\n    if offset:\n        n = sizevars.evaluate_max(height, 1)\n    return view(x, n)\n",
            "n = Max(height, 1)",
        ),
        ("    n = {0}\n    return view(x, 2 if n == width else 3)\n", ""),
        ("    n = {0}\n    if n:\n        x = clone(x)\n    return x\n", ""),
        ("    n = {0}\n    m = n * 2\n    return [view(x, i) for i in range(m)]\n", ""),
        ("    n = {0}\n    return view(x, not n)\n", ""),
        ("    n = {0}\n    return view(x, height if n is height else width)\n", ""),
        ("    n = {0}\n    return view(x, n.is_number)\n", ""),
        ("    n = {0}\n    return view(x, x.get_size()[n])\n", ""),
        ("    n = {0}\n    return view(x, int(n))\n", ""),
        ("    n = {0}\n    return lambda index: index + n\n", ""),
        ("    n = 1\n    n += {0}\n    return view(x, 2 if n == width else 3)\n", ""),
        ("    return view(x, sizevars.evaluate_min(height, right=width))\n", ""),
    ],
)
def test_what_nobody_asks_for_stays_an_expression(rewrite: Any, body: str, written: str) -> None:
    source = HEAD + body.format(SMALLER)
    if written:
        assert written in rewrite(source)
        assert "evaluate_m" not in rewrite(source)
    else:
        assert rewrite(source) == source


def test_it_needs_the_functions_of_inductor_by_their_names(look: Any) -> None:
    body = f"    n = sizevars.evaluate_max({SMALLER}, 0)\n    return view(x, n)\n"
    for head in (HEAD.replace("Max, ", ""), HEAD.replace("Min", "Min as Smaller"), HEAD.replace("_sympy", "_own")):
        (finding,) = look(head + body)  # and the choice inside is not told of again
        assert finding.refusal == "undecided"
        assert "torch.utils._sympy.functions" in finding.reason
    assert look(HEAD + body, sympy=False) == []


def test_what_stood_on_many_lines_stands_on_as_many_as_it_needs(rewrite: Any) -> None:
    call = (
        "sizevars.evaluate_max(\n        sizevars.evaluate_min(\n            height,\n            width,\n        ),\n"
        "        {0}\n    )"
    )
    plain = rewrite(f"{HEAD}    n = {call.format('0,')}\n    return view(x, n)\n")
    assert "    n = Max(Min(height, width), 0)\n" in plain
    spoken = rewrite(f"{HEAD}    n = {call.format('0,  # none is left')}\n    return view(x, n)\n")
    assert "# none is left" in spoken
    assert "n = Max(" in spoken


def test_what_is_written_comes_to_what_was_chosen(rewrite: Any) -> None:
    before = f"{HEAD}    n = sizevars.evaluate_max({SMALLER}, 0)\n    return n * 2 + 1\n"
    after = rewrite(before)
    assert after != before
    names: dict[str, Any] = {
        "V": SimpleNamespace(graph=SimpleNamespace(sizevars=SimpleNamespace(evaluate_min=min, evaluate_max=max))),
        "register_lowering": lambda _: lambda function: function,
        "aten": SimpleNamespace(f=None),
        "Min": min,
        "Max": max,
    }
    functions = []
    for source in (before, after):
        scope = dict(names)
        exec(source.partition("functions import Max, Min\n")[2], scope)
        functions.append(scope["f"])
    for height, width, offset in itertools.product(range(4), range(4), range(-2, 3)):
        x = SimpleNamespace(get_size=lambda sizes=(height, width): sizes)
        assert functions[0](x, offset) == functions[1](x, offset)
