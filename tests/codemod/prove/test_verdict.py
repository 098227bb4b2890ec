"""What the errors of PyTorch say, and how two runs of an operator compare."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.prove.verdict import compare, ended, failure_mode, headline, judge, verdict, weighed


def case(name: str = "forward: foo 0", status: str = "passes", **fields: Any) -> dict[str, Any]:
    whole = {"name": name, "piece": "forward", "script": "x = 1\n", "status": status, "message": "", "guards": []}
    result = [{"shape": [2], "dtype": "torch.float32", "values": [1.0, 2.0]}]
    return {**whole, "frames": 1, "unbacked": "passes", "unbacked_message": "", "result": result, **fields}


NUMEL = "RuntimeError: Cannot call numel() on tensor with symbolic sizes/strides"


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (NUMEL, 1),
        ("SymIntArrayRef expected to contain only concrete integers", 1),
        ("Could not guard on data-dependent expression Eq(u0, 1)", 2),
        ("GuardOnDataDependentSymNode: …", 2),
        ("PendingUnbackedSymbolNotFound: …", 2),
        ("TensorIterator does not support symbolic shapes; please implement this operator in torch/_refs", 3),
        ("UnsupportedOperatorException: unsupported operator: aten::foo", 3),
        ("Cannot access data pointer of Tensor that doesn't have storage", 3),
        ("The tensor has a non-zero number of elements, but its data is not allocated yet.", 3),
        ("when unpacking SymInt, expected int but got s0", 4),
        ("foo() Expected a value of type 'List[int]' for argument 'size'", 4),
        ("Could not extract specialized integer from data-dependent expression u0", 4),
        ("IndexError: list index out of range", 0),
    ],
)
def test_an_errors_text_tells_the_mode(text: str, mode: int) -> None:
    assert failure_mode(text) == mode


def test_what_threw_and_passes_is_cured() -> None:
    step = compare(case(status="throws", message=NUMEL, result=[]), case(result=[]))
    assert (step.outcome, step.reason) == ("cured", "throws (mode 1) → passes")


def test_what_passed_before_is_said_to_have_passed_before() -> None:
    judged = judge([case()], [case()])
    assert (judged.outcome, judged.reason) == ("unchanged", "passed before")
    assert judged.before is not None
    assert judged.before.status == "passes"


@pytest.mark.parametrize("status", ["throws", "wrong", "hangs", "crashes"])
def test_what_passed_and_fails_is_worse(status: str) -> None:
    assert compare(case(), case(status=status)).outcome == "worse"


@pytest.mark.parametrize("status", ["hangs", "crashes"])
def test_what_ended_the_process_before_is_no_cure(status: str) -> None:
    assert compare(case(status=status), case()).outcome == "unchanged"


def test_what_threw_and_is_silently_wrong_is_worse() -> None:
    assert compare(case(status="throws"), case(status="wrong")).outcome == "worse"


def test_what_throws_as_before_is_unchanged_and_says_why() -> None:
    judged = judge([case(status="throws", message=NUMEL)], [case(status="throws", message="other words")])
    assert (judged.outcome, judged.reason) == ("unchanged", "throws (mode 1) → throws: other words")


def test_an_error_that_says_nothing_of_symbols_counts_only_where_nothing_passes() -> None:
    odd = case("odd", "throws", message="ValueError: mode 4 is unknown", script="")
    assert judge([odd, case()], [odd, case()]).reason == "passed before"
    assert judge([odd], [odd]).reason == "throws → throws: ValueError: mode 4 is unknown"


def test_another_result_of_eager_is_worse_even_where_it_was_cured() -> None:
    other = [{"shape": [2], "dtype": "torch.float32", "values": [1.0, 2.5]}]
    assert compare(case(), case(result=other)).reason == "eager's result changed: 2.5, 2.0 before"
    assert compare(case(status="throws"), case(result=other)).outcome == "worse"
    shape = [{"shape": [1, 2], "dtype": "torch.float32", "values": [1.0, 2.0]}]
    assert compare(case(), case(result=shape)).outcome == "worse"


def test_of_random_results_only_the_shapes_count() -> None:
    other = [{"shape": [2], "dtype": "torch.float32", "values": [1.0, 2.5]}]
    assert compare(case(random=True), case(random=True, result=other)).outcome == "unchanged"


def test_not_a_number_is_as_before_where_it_is_as_before() -> None:
    nothing = [{"shape": [1], "dtype": "torch.float32", "values": [float("nan")]}]
    number = [{"shape": [1], "dtype": "torch.float32", "values": [0.0]}]
    assert compare(case(result=nothing), case(result=nothing)).outcome == "unchanged"
    assert compare(case(result=nothing), case(result=number)).outcome == "worse"


def test_a_new_guard_or_another_compilation_is_worse() -> None:
    assert compare(case(), case(guards=["Eq(s0, 4)"])).reason == "adds the guard Eq(s0, 4)"
    assert compare(case(frames=1), case(frames=3)).outcome == "worse"


def test_a_size_that_is_no_longer_fixed_is_a_cure_whatever_is_still_asked() -> None:
    step = compare(case(guards=["Eq(s0, 3)"], frames=3), case(guards=["s0 > 2", "s0 < 9"], frames=1))
    assert (step.outcome, step.reason) == ("cured", "compilations over the sizes: 3 → 1")


def test_a_number_that_unknown_sizes_needed_is_a_cure_whatever_is_still_asked() -> None:
    fixed = ["Eq(Mod(s77, 4), 0)", "Eq(TruncToInt(IntTrueDiv(s77, 4)), 3)"]
    freed = ["Ne(TruncToInt(IntTrueDiv(s77, 4)), 0)", "Ne(TruncToInt(IntTrueDiv(s77, 4)), 1)", "s27 > 2"]
    throws, passes = {"unbacked": "throws"}, {"unbacked": "passes"}
    assert compare(case(guards=fixed, **throws), case(guards=freed, **passes)).outcome == "cured"
    assert compare(case(guards=fixed, **passes), case(guards=freed, **passes)).outcome == "worse"
    assert compare(case(guards=fixed[:1], **throws), case(guards=freed, **passes)).outcome == "worse"


def test_conditions_on_what_was_a_number_are_no_new_ones() -> None:
    fixed = ["Eq(s36, 2)", "Eq(s77, 4)"]
    asked = ["Eq(Mod(s77, 2), 0)", "Eq(s36, (s77//2))", "((s77//2)) >= 2"]
    assert compare(case(guards=fixed), case(guards=asked)).outcome == "unchanged"
    assert compare(case(guards=fixed), case(guards=[*asked, "s27 > 2"])).outcome == "worse"
    assert compare(case(guards=fixed[1:]), case(guards=asked)).outcome == "worse"
    assert compare(case(guards=["Eq(s36*s77, 8)"]), case(guards=asked)).outcome == "worse"


def test_fewer_guards_or_compilations_are_a_cure() -> None:
    assert compare(case(guards=["Eq(s0, 4)"]), case()).outcome == "cured"
    assert compare(case(frames=3), case(frames=1)).outcome == "cured"


def test_cases_freed_with_unbacked_sizes_are_counted_beside_another_cure() -> None:
    old = [case("a", frames=3), case("b", unbacked="throws"), case("c", unbacked="throws")]
    new = [case("a"), case("b"), case("c", unbacked="throws")]
    freed = "; with unbacked sizes 1 of 3 cases pass that did not"
    assert judge(old, new).reason == f"compilations over the sizes: 3 → 1 (2 of 3 cases){freed}"
    assert "pass that did not" not in judge(old[:1], new[:1]).reason
    assert "pass that did not" not in judge(old[1:], new[1:]).reason


def test_what_still_stops_unbacked_sizes_is_named() -> None:
    old = [case("a", unbacked="throws", unbacked_message="at first"), case("b")]
    new = [case("a", unbacked="throws", unbacked_message="Could not\nguard on u0"), case("b")]
    stopped = "passed before; 1 of 2 cases throw with unbacked sizes, before and after: Could not guard on u0"
    assert judge(old, new).reason == stopped


def test_unbacked_sizes_count_where_known_ones_pass() -> None:
    stuck = {"unbacked": "throws", "unbacked_message": "Could not guard on data-dependent expression"}
    assert compare(case(**stuck), case()).reason == "with unbacked sizes: throws (mode 2) → passes"
    assert compare(case(), case(**stuck)).outcome == "worse"
    assert compare(case(**stuck), case(unbacked="wrong")).outcome == "worse"


def test_the_worst_case_decides_and_then_the_simplest_cure() -> None:
    thrown = case("long", "throws", message=NUMEL, script="x" * 50, result=[])
    simple = case("short", "throws", message=NUMEL, script="x", result=[])
    cured = judge([thrown, simple], [case("long", result=[]), case("short", result=[])])
    assert (cured.outcome, cured.case) == ("cured", "short")
    assert cured.reason.endswith("(2 of 2 cases)")
    broken = judge([simple, case("other")], [case("short", result=[]), case("other", "throws", message="no")])
    assert (broken.outcome, broken.case) == ("worse", "other")


def test_cases_that_eager_refuses_on_both_sides_prove_nothing() -> None:
    refused = case(status="throws", eager="RuntimeError: no")
    assert judge([refused], [refused], "no inputs").outcome == "not provable"
    assert judge([], []).reason == "no inputs that eager accepts"


def test_a_killed_run_tells_of_the_case_that_ran() -> None:
    running = {"operator": "aten::foo", "name": "two", "piece": "forward", "script": "x"}
    document = {"operators": {"aten::foo": {"reason": "", "cases": [case("one")]}}, "running": running}
    first, second = ended(document, "crashes", "SIGSEGV")["operators"]["aten::foo"]["cases"]
    assert (first["name"], second["name"]) == ("one", "two")
    assert verdict(second).status == "crashes"
    assert len(document["operators"]["aten::foo"]["cases"]) == 1  # type: ignore[index]


def test_a_run_that_was_killed_while_it_looked_for_cases_has_no_case_more() -> None:
    searching = {"operator": "aten::foo", "name": "two", "piece": "", "script": ""}
    document = {"operators": {"aten::foo": {"reason": "", "cases": []}}, "running": searching}
    whole = ended(document, "crashes", "SIGSEGV")
    assert whole["operators"]["aten::foo"]["cases"] == []
    assert whole["running"]["name"] == "two"
    assert ended(None, "hangs", "")["operators"] == {}


def test_the_headline_is_the_simplest_case_that_fails() -> None:
    chosen = headline([case("a"), case("b", "throws", script="xx"), case("c", "throws", script="x")])
    assert chosen is not None
    assert chosen["name"] == "c"
    assert headline([]) is None


def test_opcheck_is_weighed_beside_the_runs() -> None:
    unchanged = judge([case()], [case()])
    assert unchanged.outcome == "unchanged"
    assert weighed(unchanged, {}) == unchanged
    assert weighed(unchanged, {"test_schema": ("fails: a", "fails: b")}) == unchanged
    assert weighed(unchanged, {"fake_as_kernel": ("differs: a", "differs: b")}) == unchanged
    differing = weighed(unchanged, {"fake_as_kernel": ("stops: a", "differs from the kernel for (1,): shape (0,)")})
    assert (differing.outcome, differing.reason) == ("worse", "its fake differs from the kernel for (1,): shape (0,)")
    mended = weighed(unchanged, {"test_schema": ("passes", "passes"), "test_faketensor": ("stride", "passes")})
    assert (mended.outcome, mended.reason) == ("cured", "opcheck's test_faketensor: fails → passes")
    cured = judge([case(status="throws", message=NUMEL)], [case()])
    assert cured.outcome == "cured"
    broken = weighed(cured, {"test_faketensor": ("passes", "a shape"), "test_schema": ("x", "passes")})
    assert (broken.outcome, broken.reason) == ("worse", "opcheck's test_faketensor: passes → fails: a shape")
