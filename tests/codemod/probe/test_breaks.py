"""Graph breaks for the sake of data, as traces tell them."""

from __future__ import annotations

import pytest

from codemod.probe.breaks import advice_for, graph_break, setting_against
from codemod.probe.collect import Collector
from codemod.probe.trace import BREAK, GRAPH, Frame, Record

START = Frame("/home/u/model.py", 2, "f")
LINE = Frame("/home/u/model.py", 5, "f", "for t, h in grid.tolist():")
BELOW = """
User code traceback:
  File "/home/u/model.py", line 9, in <module>
    print(f(x, grid))
  File "/home/u/model.py", line 5, in f
    for t, h in grid.tolist():
                ^^^^^^^^^^^^^

Traceback (most recent call last):
  File "/opt/venv/torch/_dynamo/utils.py", line 4243, in run_node
    return getattr(args[0], node.target)(*args[1:], **kwargs)
"""
NUMBER = f"""Graph break in user code at /home/u/model.py:5
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Data dependent operator
  Explanation: Operator `aten._local_scalar_dense.default` has a non-Tensor output.
  Hint: Enable tracing with `torch._dynamo.config.capture_scalar_outputs = True`

  Developer debug context: aten._local_scalar_dense.default
{BELOW}"""
SHAPE = f"""Graph break in user code at /home/u/model.py:5

Dynamic shape operator
  Explanation: Operator `aten.nonzero.default`'s output shape depends on input Tensor data.
  Hint: Enable tracing with `torch._dynamo.config.capture_dynamic_output_shape_ops = True`
{BELOW}"""
OLDER = f"Graph break in user code at /home/u/model.py:5\nReason: Unsupported: Tensor.item\n{BELOW}"
"""As torch 2.6 has it."""
ASKED = f"""Graph break in user code at /home/u/model.py:5
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Consider annotating your code. Could not guard on data-dependent expression u2 > 0 (unhinted: u2 > 0).  (Size-like: u2)
{BELOW}"""
BRANCH = f"""Graph break in user code at /home/u/model.py:5
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).

  Developer debug context: attempted to jump with SymNodeVariable()
{BELOW}"""
ON_DATA = BRANCH.replace("SymNodeVariable", "TensorVariable")
PRINT = f"""Graph break in user code at /home/u/model.py:5
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str'].
{BELOW}"""
OLDER_PRINT = f"Graph break in user code at /home/u/model.py:5\nReason: Unsupported: builtin: print [] False\n{BELOW}"


@pytest.mark.parametrize(
    ("payload", "text", "setting"),
    [
        (NUMBER, "a number is read from a tensor's data", "capture_scalar_outputs"),
        (OLDER, "a number is read from a tensor's data", "capture_scalar_outputs"),
        (SHAPE, "a shape depends on data: aten.nonzero.default", "capture_dynamic_output_shape_ops"),
    ],
)
def test_a_break_names_its_line_and_the_setting_that_keeps_the_value(payload: str, text: str, setting: str) -> None:
    broken = graph_break(payload)
    assert broken is not None
    assert (broken.text, broken.stack[-1]) == (text, LINE)
    assert (broken.setting, setting_against(broken.text)) == (setting, setting)
    assert f"torch._dynamo.config.{setting} = True" in advice_for(setting)


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (ASKED, "Could not guard on data-dependent expression u2 > 0"),
        (BRANCH, "a branch on a size or a number that is not known"),
    ],
)
def test_a_question_about_an_unknown_size_breaks_a_graph_and_no_setting_helps(payload: str, text: str) -> None:
    broken = _record("artifact", {"name": BREAK}, payload=payload)
    assert _collected(broken) == [("break", text, LINE, "your code")]
    assert setting_against(text) == advice_for("") == ""


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (PRINT, "Failed to trace builtin operator"),
        (OLDER_PRINT, "builtin: print [] False"),
        (ON_DATA, "Graph Break Reason: Data-dependent branching"),
    ],
)
def test_breaks_for_other_reasons_are_no_matter_of_shapes(payload: str, text: str) -> None:
    broken = graph_break(payload)
    assert broken is not None
    assert (broken.text, broken.stack[-1], broken.of_shapes) == (text.rpartition("Reason: ")[2], LINE, False)
    collector = Collector()
    collector.take([_record("dynamo_start", {}, START), _record("artifact", {"name": BREAK}, payload=payload)] * 2)
    (answer,) = collector.report().answers
    assert (answer.kind, answer.place, answer.count, answer.asks) == ("unrelated", LINE, 2, False)


@pytest.mark.parametrize("payload", ["", "User code traceback:\n  Tensor.item"])
def test_a_break_that_gives_no_reason_is_passed_over(payload: str) -> None:
    assert graph_break(payload) is None


def _record(kind: str, value: dict[str, object], *stack: Frame, payload: str = "") -> Record:
    return Record(kind, value, "0/0", stack, (), payload)


def _collected(*records: Record) -> list[tuple[str, str, Frame | None, str]]:
    collector = Collector()
    collector.take([_record("dynamo_start", {}, START), *records])
    return [(a.kind, a.text, a.place, a.owner) for a in collector.report().answers if a.asks]


def test_a_break_is_an_answer_at_the_programs_line() -> None:
    broken = _record("artifact", {"name": BREAK}, payload=NUMBER)
    assert _collected(broken) == [("break", "a number is read from a tensor's data", LINE, "your code")]


def test_a_break_in_what_is_called_is_the_failure_that_it_causes() -> None:
    """Dynamo does not go on behind a break in a callee: the whole function is left to eager, and the break says why."""
    broken = _record("artifact", {"name": BREAK}, payload=NUMBER)
    guard = _record("guard_added_fast", {"expr": "Eq(s0, 4)"})
    failed = {"fail_type": "Unsupported", "fail_reason": "Data dependent operator",
              "fail_user_frame_filename": LINE.path, "fail_user_frame_lineno": LINE.line}  # fmt: skip
    answers = _collected(broken, guard, *[_record("compilation_metrics", failed)] * 2)
    assert answers[0] == ("error", "a number is read from a tensor's data", LINE, "your code")
    assert [kind for kind, *_ in answers] == ["error", "specialized"]
    elsewhere = {**failed, "fail_reason": "Could not guard on data-dependent expression", "fail_user_frame_lineno": 7}
    assert [kind for kind, *_ in _collected(broken, _record("compilation_metrics", elsewhere))] == ["error", "break"]


def test_what_a_graph_holds_is_what_its_last_attempt_traced() -> None:
    """Dynamo traces up to a break, and then again to end the graph before it: what broke is in no graph."""
    deep = Frame("/home/u/model.py", 30, "deep")
    first, second = (
        Record("guard_added_fast", {"expr": "s0 > 1"}, "0/0", (), (START, frame), attempt=attempt)
        for attempt, frame in enumerate((deep, LINE))
    )
    payload = "class GraphModule:\n    # File: /home/u/a b.py:7 in helper, code: y = x * 2\n    y = x * 2"
    graph = Record(GRAPH, {}, "0/0", (), (), payload, attempt=1)
    other = Record("guard_added_fast", {"expr": "s0 > 1"}, "1/0", (), (deep,))
    collector = Collector()
    collector.take([_record("dynamo_start", {}, START), first, second, other])
    assert collector.captured == set()
    collector.take([_record("dynamo_start", {}, START), first, second, other, graph])
    assert collector.captured == {"f", "helper"}
