"""What evidence is in words: titles, sentences, cells, and the scripts that show the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemod.bundle.observed import cell, cure, cures, result, sentence, sizes_of, still_failing, title
from codemod.pr.repro import ends, script
from codemod.prove.evidence import Evidence, Verdict
from codemod.runner.script import Parts, render

REPRO = render("forward", Parts("aten::foo", "torch.foo(x)", ["x"], ["torch.rand(n)"], (4, 5, 7)))
BACKWARD = render("backward", Parts("aten::foo", "torch.foo(x)", ["x"], ["torch.rand(n)"], (4, 5, 7)))
TRACED = render("double_backward", Parts("aten::foo", "torch.foo(x)", ["x"], ["torch.rand(n)"], (4, 5, 7)))
PASSES = Verdict("passes", frames=1, unbacked="passes")
FAILS = Verdict("throws", 1, "no")
THROWS = Evidence("foo", "cured", "k", "throws (mode 1) → passes (1 of 3 cases)", FAILS, PASSES, REPRO)
COMPILED = replace(THROWS, before=replace(PASSES, frames=3), reason="compilations over the sizes: 3 → 1 (3 of 3 cases)")
UNBACKED = replace(
    THROWS, before=Verdict("passes", 4, "no", unbacked="throws"), reason="with unbacked sizes: throws (mode 4) → passes"
)
GUARDS = replace(THROWS, before=replace(PASSES, guards=("Eq(s0, 2)", "s0 > 1")), reason="fewer guards on sizes")
TESTED = replace(
    THROWS, before=PASSES, reason="a test: fails → passes", checks={"symbolic:foo::float32": ("fails", "passes")}
)
FAILING = replace(THROWS, outcome="unchanged", reason="throws → throws", after=Verdict("throws", 2, "still"))


@pytest.mark.parametrize(
    ("evidence", "kind", "titled", "said", "shown"),
    [
        (
            THROWS, "throws", "foo no longer throws with symbolic sizes",
            ("`foo` throws with symbolic sizes before this change, and passes after it,"
             " compiled once over the sizes 4, 5, 7 (1 of 3 cases, the others as before)."),
            "cured (1 of 3 cases)",
        ),
        (
            COMPILED, "compilations", "foo is compiled once over the sizes 4, 5, 7, not 3 times",
            "`foo` is compiled 3 times over the sizes 4, 5, 7 before this change, and once after it (all 3 cases).",
            "cured (3 of 3 cases)",
        ),
        (
            UNBACKED, "unbacked", "foo passes with unbacked sizes",
            "`foo` throws with unbacked sizes before this change, and passes after it.", "cured",
        ),
        (
            GUARDS, "guards", "foo has fewer guards on sizes",
            "What `foo` is compiled to depends on 2 guards on sizes before this change, and on 0 after it.", "cured",
        ),
        (
            TESTED, "tests", "foo passes tests that it failed",
            ("`foo` passes before this change, and passes after it; what shows the cure is"
             " make_fx with symbolic sizes over all samples of foo, float32: fails before, passes after."),
            "cured",
        ),
        (FAILING, "", "other", "`foo` throws before this change, and throws after it: not cured.", "still fails"),
    ],
)  # fmt: skip
def test_words_say_what_was_seen(evidence: Evidence, kind: str, titled: str, said: str, shown: str) -> None:
    assert cure(evidence) == kind
    assert title([FAILING, evidence], "other") == titled
    assert sentence(evidence) == said
    assert result(evidence) == shown
    assert cures([evidence]) is bool(kind)


def test_a_change_that_makes_one_operator_worse_cures_nothing() -> None:
    worse = replace(THROWS, outcome="worse", reason="adds the guard Eq(s0, 2)")
    assert not cures([THROWS, worse])
    assert sentence(worse) == "`foo` is worse after this change: adds the guard Eq(s0, 2)."


def test_guards_of_what_passes_are_said() -> None:
    after = replace(PASSES, frames=2, guards=("Eq(s0, 5)",))
    said = sentence(replace(THROWS, after=after))
    assert "compiled 2 times over the sizes 4, 5, 7 with the guards `Eq(s0, 5)`" in said


def test_the_cure_that_says_most_is_the_title() -> None:
    three = [COMPILED, replace(THROWS, operator="bar", repro=""), UNBACKED]
    assert title(three, "") == "bar no longer throws with symbolic sizes"
    both = [UNBACKED, replace(UNBACKED, operator="bar", repro=""), COMPILED]
    assert title(both, "") == "foo and bar pass with unbacked sizes"
    assert title([], "other") == "other"
    other = replace(COMPILED, repro=REPRO.replace("torch.foo(", "torch.combine("))
    assert title([other], "").startswith("foo (run by torch.combine) is compiled once over")
    assert sentence(other).startswith("`foo` (run by torch.combine) is compiled 3 times over")
    own = replace(COMPILED, repro=REPRO.replace("torch.foo(", "torch.ops.aten._foo.default("))
    assert title([own], "").startswith("foo is compiled once over")
    backward = replace(COMPILED, repro=BACKWARD)
    assert title([backward], "") == "foo (backward) is compiled once over the sizes 4, 5, 7, not 3 times"
    lowering = replace(UNBACKED, backend="inductor")
    assert title([lowering], "") == "foo (with inductor) passes with unbacked sizes"
    assert sentence(replace(lowering, repro=BACKWARD)).startswith("`foo` (backward, with inductor) throws with unb")


def test_a_cell_has_both_runs() -> None:
    assert cell(None) == "not run"
    assert cell(PASSES) == "passes, compiled once"
    assert cell(UNBACKED.before) == "passes; with unbacked sizes throws (mode 4)"
    assert cell(Verdict("throws", 1, unbacked="throws")) == "throws (mode 1); with unbacked sizes throws"


def test_what_still_fails() -> None:
    assert still_failing(FAILING) == "`foo` throws with symbolic sizes after this change too"
    partly = replace(THROWS, after=replace(PASSES, unbacked="wrong"))
    assert still_failing(partly) == "`foo` gives a wrong result with unbacked sizes after this change too"
    assert still_failing(THROWS) == ""


def test_sizes_are_read_from_the_script() -> None:
    assert sizes_of(REPRO) == (4, 5, 7)
    assert sizes_of("sizes = (3,)\n") == (3,)
    assert sizes_of("sizes = range(3)\n") == ()


def test_a_script_shows_what_was_seen() -> None:
    loading = "    for library in sys.argv[1:]:\n        torch.ops.load_library(library)\n"
    assert script(THROWS) == REPRO.replace(loading, "").replace("import sys\n\n", "")
    assert ends(THROWS) == "throws before this change, and passes after it"
    counted = script(COMPILED)
    assert 'counter = CompileCounterWithBackend("aot_eager")' in counted
    assert "import sys" not in counted
    assert ends(COMPILED) == "prints compiled 3 times before this change, and 1 times after it"
    free = script(replace(UNBACKED, repro=BACKWARD))
    assert "torch.testing.assert_close(results(compiled, n), results(operator, n), equal_nan=True)" in free
    assert 'graph = torch.compile(operator, fullgraph=True, backend="aot_eager")' in free
    assert 'backend="inductor")' in script(replace(UNBACKED, backend="inductor"))
    assert 'CompileCounterWithBackend("inductor")' in script(replace(COMPILED, backend="inductor"))
    for text in (counted, free):
        compile(text, "repro.py", "exec")


def test_the_script_of_a_library_loads_it() -> None:
    mine = replace(COMPILED, operator="mylib::foo")
    loading = "import torch\n\nfor library in sys.argv[1:]:\n    torch.ops.load_library(library)\n"
    assert script(mine).count("load_library") == script(mine).count(loading) == 1
    assert ends(mine).endswith("after it, given the compiled files of the library that importing it does not load")


def test_a_script_that_shows_nothing_by_itself_is_not_said_to() -> None:
    for evidence in (TESTED, GUARDS, replace(COMPILED, repro=TRACED), replace(THROWS, repro="def operator(): ...\n")):
        assert ends(evidence) == ""
        assert "CompileCounter" not in script(evidence)
        assert "mark_unbacked" not in script(evidence)
