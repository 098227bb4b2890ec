"""What draft_export reports: the report that it prints, of torch 2.13 and of 2.6, and its trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codemod.probe.collect import Collector
from codemod.probe.texts import read_text
from codemod.probe.trace import Frame, Record

END = " "  # as torch prints it
TORCH = "/venv/lib/python3.11/site-packages/torch"
GUARD = f"""
3. Guard Added.
    A guard was added during tracing.
    Specifically, this guard was added: Eq(s77, 4), where {{'s77': "L['x'].size()[0]"}}.
    This occurred at the following stacktrace:{END}
        File {TORCH}/nn/modules/module.py, lineno 1789, in _call_impl
        File /home/u/model.py, lineno 17, in forward
            if x.shape[0] == 4::
        {END}
        Locals:
            x: ['Tensor(shape: torch.Size([s77, s27]))']

    And the following framework stacktrace:{END}
        File {TORCH}/nn/modules/module.py, lineno 1789, in _call_impl
        File /home/u/model.py, lineno 17, in forward
            if x.shape[0] == 4:

    Because of this, we have modified the dynamic shapes structure to be the
    following.
    ```
    dynamic_shapes = {{'x': {{0: DimHint(AUTO)}}}}
    ```
"""
REPORT = f"""\x1b[93m
####
WARNING: 5 issue(s) found during export, and it was not able to soundly produce a graph.
####

1. Missing fake kernel.
    torch.ops.mylib.nofake.default is missing a fake kernel implementation.

2. Mismatched fake kernel.
    torch.ops.mylib.wrong.default has a fake kernel implementation, but it has incorrect behavior.
    The reason for the mismatch is: mismatch between fake value u1 and real value 5 .
{GUARD}
4. Data dependent error.
    When exporting, we were unable to evaluate the value of `u0 > 2`.
    This was encountered 2 times.
    This occurred at the following user stacktrace:{END}
        File /home/u/model.py, lineno 19, in forward
            b = b[:n]
        {END}
        Locals:
            n: ['u0']

    And the following framework stacktrace:{END}
        File /home/u/model.py, lineno 19, in forward
        File {TORCH}/_refs/__init__.py, lineno 7, in narrow
            if length > 2:

    As a result, it was specialized to a constant (e.g. `True` in the 1st occurrence), and asserts were inserted.

5. Guard Added.
    Specifically, this guard was added: u0 > 2, where {{}}.
\x1b[0m
"""
OLD = f"""
1. Data dependent error.
    When exporting, we were unable to figure out if the expression `u0 > 2` always holds.
    This occurred at the following stacktrace:{END}
        File /home/u/model.py, lineno 19, in forward
            if n > 2:.
    As a result, it was specialized to evaluate to `False`, and asserts were inserted into the graph.
"""
ASKED = Frame("/home/u/model.py", 17, "forward", "if x.shape[0] == 4:")


def test_each_section_is_an_answer_with_its_line() -> None:
    answers = {answer.kind: answer for answer in reversed(read_text(REPORT).answers)}
    fakes = [answer.text for answer in read_text(REPORT).answers if answer.kind == "fake"]
    assert fakes == ["mylib.nofake.default", "mylib.wrong.default: mismatch between fake value u1 and real value 5"]
    guard, error = answers["specialized"], answers["error"]
    assert (guard.text, guard.place, guard.user, guard.owner) == ("x.size(0) == 4", ASKED, None, "your code")
    assert guard.advice == "it went on with dynamic_shapes = {'x': {0: DimHint(AUTO)}}"
    assert error.text == "Could not guard on data-dependent expression u0 > 2; True for the real tensors"
    assert (error.owner, error.place) == ("torch", Frame(f"{TORCH}/_refs/__init__.py", 7, "narrow", "if length > 2:"))
    assert error.user == Frame("/home/u/model.py", 19, "forward", "b = b[:n]")
    assert (answers["assert"].text, answers["assert"].asks) == ("u0 > 2", False)
    assert len(read_text(REPORT).answers) == 5


def test_the_report_of_an_older_torch() -> None:
    (answer,) = read_text(OLD).answers
    assert answer.text == "Could not guard on data-dependent expression u0 > 2; False for the real tensors"
    assert (answer.place, answer.owner) == (Frame("/home/u/model.py", 19, "forward", "if n > 2:"), "your code")
    (answer,) = read_text(GUARD.replace("Guard Added", "Constraint violation error")).answers
    assert answer.kind == "specialized"


def test_a_section_that_was_cut_off_or_is_damaged_is_no_answer_that_was_not_there() -> None:
    assert read_text(REPORT[: REPORT.index("3. Guard")]).answers == read_text(REPORT).answers[2:4]
    assert read_text("1. Guard Added.\n    A guard was added during tracing.\n").answers == ()
    (answer,) = read_text(GUARD.replace("{'s77'", "{s77")).answers
    assert (answer.kind, answer.text) == ("assert", "s77 == 4")


def record(kind: str, value: Mapping[str, Any]) -> Record:
    return Record(kind, {"stack": [], **value}, "", (ASKED,), (ASKED,))


def test_a_trace_of_draft_export_says_the_same_once() -> None:
    guard = {"expr": "Eq(s77, 4)", "prefix": "eval", "symbol_to_sources": {"s77": "L['x'].size()[0]"}}
    real = {"expr": "u0 > 2", "result": "True"}
    detailed = [record("guard_added", guard), record("propagate_real_tensors_provenance", real)]
    both = [record("guard_added", guard), record("guard_added_fast", {"expr": "Eq(s77, 4)"}),
            record("propagate_real_tensors", real), record("propagate_real_tensors_provenance", real)]  # fmt: skip
    for records in (detailed, both):
        collector = Collector()
        collector.take(records)
        assert {(answer.kind, answer.text, answer.place, answer.count) for answer in collector.report().answers} == {
            ("specialized", "x.size(0) == 4", ASKED, 1),
            ("error", "Could not guard on data-dependent expression u0 > 2; True for the real tensors", ASKED, 1),
        }
