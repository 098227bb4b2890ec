"""What a program may declare of its unknown sizes: what leaves a question of torch's one answer."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.probe.declaring import Declaration, advice_of, declarations

SOURCES = {
    "u0": "L['a'].size()[0]", "u1": "L['b'].size()[1]", "u2": "", "s3": "L['c'].size()[0]", "u4": "L['n']",
    "u5": "L['d'].size()[2]",
}  # fmt: skip
TAKES = ("t", "index", "shape_id", "min", "max")
EQUAL = [("shape_id", ("a.size(0)", "b.size(1)"), 0)]


def _bound(keyword: str, value: int, size: str = "a.size(0)") -> tuple[str, tuple[str, ...], int]:
    return keyword, (size,), value


@pytest.mark.parametrize(
    ("expression", "declared"),
    [
        ("Eq(u0, u1)", EQUAL),
        ("Ne(u0, u1)", EQUAL),
        ("u0 - u1 > 0", EQUAL),
        ("u0 <= Max(u1, 1)", EQUAL),
        ("Min(u0, 128*((u0//128))) > 0", [_bound("max", 127), _bound("min", 128)]),
        ("Eq((((u0 - 1)//8)) + 1, 1)", [_bound("min", 9)]),
        ("-u0 < -1", [_bound("min", 2)]),
        ("u0 + 4 < u1 + 2", EQUAL),
        ("Eq(u0, 1)", [_bound("min", 2)]),
        ("1 < u1", [_bound("min", 2, "b.size(1)")]),
        ("Ne(u0, 0)", [_bound("min", 1)]),
        ("u0 > 2048", [_bound("max", 2048), _bound("min", 2049)]),
        ("Min(u0, u1) > 2048", [(key, ("a.size(0)", "b.size(1)"), n) for key, n in (("max", 2048), ("min", 2049))]),
        ("(u0//8)*(u1//8) > 1", [(key, ("a.size(0)", "b.size(1)"), n) for key, n in (("min", 16), ("max", 15))]),
        ("((u0 - 5)//4) - 1 > 1", [_bound("min", 17), _bound("max", 16)]),
        # Another answer for one size among many, for every other one, past any size that is tried.
        ("Eq(u0, 7)", []),
        ("Eq(Mod(u0, 8), 0)", []),
        ("Eq(u0*u1, 1)", [("min", ("a.size(0)", "b.size(1)"), 2)]),
        ("Eq(u0*((u1//5) - 1), 1)", []),
        ("Eq(8*u0*(((u1 - 1)//4) + 1), 0)", [("min", ("a.size(0)", "b.size(1)"), 1)]),
        ("1 < u0*(((u1 - 1)//4) + 1)", [("min", ("a.size(0)", "b.size(1)"), 2)]),
        ("Eq(u0*(u1 - 1), 0)", []),
        ("u0 > 2*u1", []),
        ("Eq(u0 + u1*u5, 1)", [("min", ("a.size(0)", "b.size(1)", "d.size(2)"), 1)]),
        ("Ne((u0//8)*(u1//8), 16)", []),
        ("u0*u1 > 10000", [(key, ("a.size(0)", "b.size(1)"), n) for key, n in (("max", 100), ("min", 101))]),
        ("u0 > 5000", []),
        # It is asked for every size, and for none; a size that is none of an argument, or known; three of them.
        ("u0 >= 0", []),
        ("Eq(u0//u0, 1)", []),
        ("Eq(u0, u2)", []),
        ("Eq(u0, u9)", []),
        ("Eq(u0, s3)", []),
        ("u4 > 1", []),
        ("Eq(u0, u1 + u2)", []),
        # What is no arithmetic.
        ("Eq(floor(u0*0.5), u1)", []),
        ("u0.real > 1", []),
        ("(", []),
        ("u0 > " + "1 + " * 200 + "1", []),
    ],
)
def test_what_leaves_one_answer_can_be_declared(expression: str, declared: list[Any]) -> None:
    assert list(declarations(expression, SOURCES, TAKES, {})) == [Declaration(*each) for each in declared]


def test_a_torch_whose_marks_take_no_such_thing_is_not_told_of_it() -> None:
    assert declarations("Eq(u0, u1)", SOURCES, ("t", "index", "min"), {}) == ()
    assert declarations("u0 > 8", SOURCES, ("max",), {}) == (Declaration("max", ("a.size(0)",), 8),)
    assert declarations("u0 > 8", SOURCES, (), {}) == ()


def test_what_is_not_true_of_the_run_is_not_said() -> None:
    def keywords(expression: str, *sizes: int | None) -> list[str]:
        held = dict(zip(("u0", "u1"), sizes, strict=False))
        return [each.keyword for each in declarations(expression, SOURCES, TAKES, held)]

    assert keywords("Eq(u0, u1)", 3, 3) == keywords("Eq(u0, u1)", 3, None) == ["shape_id"]
    assert keywords("Eq(u0, u1)", 3, 4) == []
    assert keywords("u0 > 8", 8) == ["max"]
    assert keywords("u0 > 8", 9) == ["min"]
    assert keywords("Eq(u0*u1, 1)", 2, 1) == []


def test_it_is_said_in_words() -> None:
    said = advice_of(declarations("u0 > 8", SOURCES, TAKES, {}))
    assert said == (
        "if a.size(0) is always at least 9, say so: mark_unbacked(…, min=9); "
        "if a.size(0) is always at most 8, say so: mark_unbacked(…, max=8)"
    )
    said = advice_of(declarations("Eq(u0, u1)", SOURCES, TAKES, {}))
    equal = "if a.size(0) and b.size(1) are always equal, say so: mark_unbacked(…, shape_id=…), the same for both"
    assert said == equal
    several = advice_of(declarations("Eq(u0*u1, 1)", SOURCES, TAKES, {}))
    assert several == "if a.size(0) and b.size(1) are always at least 2, say so: mark_unbacked(…, min=2)"
    assert advice_of(()) == ""
