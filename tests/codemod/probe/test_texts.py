"""Errors and logs that people paste."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from codemod.probe.texts import read_text
from codemod.probe.trace import Frame

ERROR = """
Traceback (most recent call last):
  File "/home/u/model.py", line 30, in <module>
    g(x)
  File "/venv/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 1, in _fn
    raise e
torch._dynamo.exc.UserError: Could not guard on data-dependent expression Eq(u0, 0) (unhinted: Eq(u0, 0)).
consider using guard_or_false
Caused by: if y.shape[0] == 0:  # me/u/model.py:8 in masked (_dynamo/variables/tensor.py:2606 in evaluate_expr)

from user code:
   File "/home/u/model.py", line 8, in masked
    if y.shape[0] == 0:
"""


def test_an_error_names_the_programs_line() -> None:
    (answer,) = read_text(ERROR).answers
    assert (answer.kind, answer.owner, answer.user) == ("error", "your code", None)
    assert answer.text == "Could not guard on data-dependent expression u0 == 0"
    assert answer.place == Frame("/home/u/model.py", 8, "masked", "if y.shape[0] == 0:")


EXPORT = """
  File "/home/u/export.py", line 21, in <module>
    ep = export(M(), (x, y), dynamic_shapes=shapes)
  File "/venv/lib/python3.11/site-packages/torch/export/_trace.py", line 2041, in _export_to_aten_ir_make_fx
    raise UserError(UserErrorType.CONSTRAINT_VIOLATION, str(e))
torch._dynamo.exc.UserError: Constraints violated (c)! For more information, run with TORCH_LOGS="+dynamic".
  - The values of c = L['y'].size()[0] and b = L['x'].size()[0] must always be equal.
Suggested fixes:
  c = b
"""


def test_dimensions_that_are_not_as_declared_are_an_error_with_torchs_advice() -> None:
    (answer,) = read_text("Traceback (most recent call last):" + EXPORT).answers
    assert answer.text == "Constraints violated (c): The values of c = y.size(0) and b = x.size(0) must always be equal"
    assert answer.place == Frame("/home/u/export.py", 21, "<module>", "ep = export(M(), (x, y), dynamic_shapes=shapes)")
    assert answer.advice == "torch suggests for dynamic_shapes: c = b"


def test_pythons_own_library_is_not_the_program() -> None:
    inner = '    if y.shape[0] == 0:\n   File "/usr/lib/python3.11/random.py", line 3, in choice\n    return n\n'
    (answer,) = read_text(ERROR.replace("    if y.shape[0] == 0:\n", inner).replace("Caused by", "By")).answers
    assert answer.place == Frame("/home/u/model.py", 8, "masked", "if y.shape[0] == 0:")


def test_an_error_that_torch_caused_names_both_lines() -> None:
    text = ERROR.replace("# me/u/model.py:8 in masked", "# _refs/__init__.py:5 in narrow")
    (answer,) = read_text(text).answers
    assert answer.place == Frame("_refs/__init__.py", 5, "narrow", "if y.shape[0] == 0:")
    assert answer.user == Frame("/home/u/model.py", 8, "masked", "if y.shape[0] == 0:")
    assert answer.owner == "unknown"


def test_the_log_of_recompilations() -> None:
    log = """[rank0]:V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles] Recompiling function f in /home/u/m.py:2
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     triggered by the following guard failure(s):
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 7
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/1: L['x'].size()[0] > 5  # if n > 5:  # m.py:3 in f
"""
    report = read_text(log)
    assert [(c.function, c.line, c.count) for c in report.compilations] == [("f", 2, 2)]
    assert [c.count for c in read_text(log + log).compilations] == [3]
    assert [answer.text for answer in report.answers] == [
        "tensor 'x' size mismatch at index 0. expected 4, actual 7", "x.size(0) > 5",
    ]  # fmt: skip
    assert report.answers[1].place == Frame("m.py", 3, "f", "if n > 5:")


def test_the_stack_behind_a_reason_in_a_log_is_no_reason() -> None:
    """As torch 2.13 writes it."""
    log = """V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles] Recompiling function f in /home/u/m.py:2
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/0: cache is None  # if cache is not None:  # m.py:3 in f
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - User stack trace:
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     -   File "/home/u/m.py", line 3, in f
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     -     if cache is not None:
V1122 06:59:39.4 12 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/1: 5 < L['x'].size()[0]
"""
    assert [answer.text for answer in read_text(log).answers] == ["cache is None", "5 < x.size(0)"]


def test_the_log_of_guards_and_assumptions() -> None:
    log = """I1122 torch/fx/experimental/symbolic_shapes.py:1] [0/0] eval Eq(s0, 4) [guard added] if n == 4:  # m.py:3 in f (_dynamo/variables/tensor.py:2606 in evaluate_expr)
I1122 06:59:39.4 12 torch/a.py:1] runtime_assert u0 >= 0 [guard added] z = t(n)  # m.py:4 in f (_meta.py:58 in g)
could not evaluate Eq(u0, 1) due to data dependency, it was assumed to be False with no runtime assertions return a  # m.py:9 in h (b.py:1 in i)
"""
    assert [(a.kind, a.text, a.place) for a in read_text(log).answers] == [
        ("specialized", "s0 == 4", Frame("m.py", 3, "f")),
        ("assumed", "Eq(u0, 1) is False", Frame("m.py", 9, "h")),
        ("assert", "u0 >= 0", Frame("m.py", 4, "f")),
    ]


def test_other_text_answers_nothing() -> None:
    assert read_text("hello\n\x00\nFile").answers == ()


LONG = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f'File "/a.py", line {LONG}, in f\n',
        f"Recompiling function f in /a.py:{LONG}\n- 0/0: x > {LONG} # n # a.py:{LONG} in f\n",
        (
            f"1. Guard Added.\n Specifically, this guard was added: s0 > 1, where {{'s0': {LONG}}}.\n"
            f" File /a.py, lineno {LONG}, in f\n"
        ),
        "1. Guard Added.\n Specifically, this guard was added: s0, where {" + "(" * 9000 + "}.\n",
        "I1122 torch/a.py:1] eval s0 > 1 [guard added] " + "a" * 20_000 + "\n",
    ],
)
def test_no_number_or_line_is_too_long_to_read(text: str) -> None:
    assert all(answer.place is None for answer in read_text(text).answers)


def _logged(prefix: str, compilation: str, reason: str, line: int) -> str:
    body = [
        f"Graph break in user code at /home/u/model.py:{line}",
        f"Graph Break Reason: {reason}",
        "",
        "User code traceback:",
        '  File "/home/u/model.py", line 30, in <module>',
        "    g(x)",
        f'  File "/home/u/model.py", line {line}, in g',
        "    n = int(x.max())",
        "Traceback (most recent call last):",
        '  File "/venv/lib/python3.11/site-packages/torch/_dynamo/variables/tensor.py", line 1, in item',
    ]
    start = f"V1128 04:01:55.655000 7 torch/_dynamo/symbolic_convert.py:5124] [{compilation}] [__graph_breaks] "
    return "\n".join(f"{start if prefix else ''}{each}" for each in body) + "\n"


READS = "Unsupported Tensor.item() call with capture_scalar_outputs=False"
ASKS = "Could not guard on data-dependent expression u2 > 0 (unhinted: u2 > 0).  (Size-like symbols: u2)"
WARNED = """W1128 04:01:55.000000 7 torch/_dynamo/variables/tensor.py:1759] [0/0] Graph break from `Tensor.item()`, consider setting:
W1128 04:01:55.000000 7 torch/_dynamo/variables/tensor.py:1759] [0/0]     torch._dynamo.config.capture_scalar_outputs = True
W1128 04:01:55.000000 7 torch/_dynamo/variables/tensor.py:1759] [0/0] Graph break: from user code at:
W1128 04:01:55.000000 7 torch/_dynamo/variables/tensor.py:1759] [0/0]   File "/home/u/model.py", line 8, in g
W1128 04:01:55.000000 7 torch/_dynamo/variables/tensor.py:1759] [0/0]     n = int(x.max())
what the program prints
"""


@pytest.mark.parametrize("prefix", ["a prefix", ""])
def test_graph_breaks_that_logging_printed(prefix: str) -> None:
    """What torch asked at a break is no error: the program went on."""
    log = _logged(prefix, "0/0", READS, 8) + _logged(prefix, "0/1", READS, 8) + _logged(prefix, "1/0", ASKS, 9)
    read, asked = read_text(log).answers
    assert (read.kind, read.text, read.count) == ("break", "a number is read from a tensor's data", 2)
    assert "capture_scalar_outputs = True" in read.advice
    assert (asked.kind, asked.text) == ("break", "Could not guard on data-dependent expression u2 > 0")
    assert [a.place for a in (read, asked)] == [Frame("/home/u/model.py", n, "g", "n = int(x.max())") for n in (8, 9)]


def test_a_break_that_torch_warns_of_and_logs_is_one() -> None:
    (warned,) = read_text(WARNED).answers
    assert (warned.kind, warned.place) == ("break", Frame("/home/u/model.py", 8, "g", "n = int(x.max())"))
    assert read_text(WARNED + _logged("a prefix", "0/0", READS, 8)).answers == (warned,)


def test_an_error_behind_a_break_is_one() -> None:
    kinds = {answer.kind: answer.text for answer in read_text(_logged("a prefix", "0/0", READS, 8) + ERROR).answers}
    assert kinds["error"] == "Could not guard on data-dependent expression u0 == 0"
    assert kinds.keys() == {"break", "error"}
