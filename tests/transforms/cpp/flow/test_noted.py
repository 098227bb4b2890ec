from __future__ import annotations

import dataclasses

import pytest

from transforms.cpp.flow.noted import Answers, Lookup, noting
from transforms.cpp.reach.vocabulary import Vocabulary
from transforms.cpp.reading.facts import Function, Param

F = Function("f", "at::f", "a.cpp", 0, 10, 5, 1, (Param("c10::SymInt", "n"),), "c10::SymInt")
VOCABULARY = Vocabulary({}, {"f_symint": (F,), "f": (F,)}, frozenset({"SymInt"}), aliases={"Index": "int64_t"})


def test_what_is_looked_up_is_noted_whatever_the_answer() -> None:
    lookups: set[Lookup] = set()
    noted = noting(VOCABULARY, lookups)
    assert noted.functions.get("absent", ()) == ()
    assert ("Index" in noted.aliases, "Other" in noted.aliases, noted.aliases["Index"]) == (True, False, "int64_t")
    assert ("SymInt" in noted.names, "SymBool" in noted.names, "f" in noted.unserved) == (True, False, False)
    with pytest.raises(KeyError):
        noted.members["C", "member"]
    assert noted.asks_for_size("f")
    expected = [
        *(("functions", name) for name in ("absent", "f_symint", "f")), *(("aliases", n) for n in ("Index", "Other")),
        *(("names", name) for name in ("SymInt", "SymBool")), ("unserved", "f"), ("members", ("C", "member")),
    ]  # fmt: skip
    assert lookups == {*expected}


def test_what_asks_for_all_is_refused_as_it_is_no_lookup() -> None:
    noted = noting(VOCABULARY, set())
    fields = [
        field.name for field in dataclasses.fields(Vocabulary) if field.name not in ("mixes_integers", "_symbolic")
    ]
    assert len(fields) == 9
    for name in fields:
        for ask in (list, len):
            with pytest.raises(TypeError, match="no lookup"):
                ask(getattr(noted, name))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True), ({"functions": {**VOCABULARY.functions, "g": (F,)}}, True),
        ({"names": frozenset({"SymInt", "x"})}, True),
        ({"functions": {"f": (F,)}}, False), ({"mixes_integers": False}, False), ({"names": frozenset()}, False),
        ({"functions": {"f_symint": (dataclasses.replace(F, start=1),), "f": (F,)}}, False),
        ({"defined": {"f": None}}, True),
    ],
)  # fmt: skip
def test_answers_change_with_what_was_looked_up_alone(changes: dict[str, object], same: bool) -> None:
    lookups: list[Lookup] = [
        ("functions", "f_symint"),
        ("names", "SymInt"),
        ("aliases", "Index"),
        ("members", ("C", "m")),
    ]
    other = dataclasses.replace(VOCABULARY, **changes)  # type: ignore[arg-type]
    assert (Answers(other).digest(lookups) == Answers(VOCABULARY).digest(lookups[::-1])) is same
