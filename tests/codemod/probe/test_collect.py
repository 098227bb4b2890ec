"""From records to answers: kinds, arguments in place of symbols, the function each is about, and reports to compare."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codemod.errors import SymfixError
from codemod.probe.advice import advice_about
from codemod.probe.answers import Answer, Report, merged, read_report, regressed
from codemod.probe.collect import Collector
from codemod.probe.spelling import in_arguments, spelled
from codemod.probe.trace import Frame, Record, frames

USER = Frame("/home/u/model.py", 12, "f", "if x.size(0) > 5:")
START = Frame("/home/u/model.py", 10, "f")
DEFERRED = Frame("/x/torch/fx/experimental/symbolic_shapes.py", 9, "guard_or_defer_runtime_assert")


def record(kind: str, value: Mapping[str, Any], *stack: Frame, compilation: str = "0/0", payload: str = "") -> Record:
    return Record(kind, value, compilation, stack, (USER,), payload)


def artifact(name: str, payload: str, compilation: str = "0/1") -> Record:
    return record("artifact", {"name": name}, compilation=compilation, payload=payload)


def collected(*records: Record) -> Report:
    collector = Collector()
    collector.take(records)
    return collector.report()


def test_symbols_are_spelled_as_the_arguments_they_stand_for() -> None:
    sources = {"s0": "L['x'].size()[0]", "s7": "L['self'].weight.stride()[1]"}
    assert in_arguments("Eq(s0, 4)", sources) == "x.size(0) == 4"
    assert in_arguments("s0 + s7 > s77", sources) == "x.size(0) + self.weight.stride(1) > s77"
    assert in_arguments("Eq(Mod(s0, 4), 0)", sources) == "Mod(x.size(0), 4) == 0"
    assert in_arguments("Eq(a, b) & Eq(c, d)", {}) == "Eq(a, b) & Eq(c, d)"
    assert in_arguments("Ne(Max(1, s0), s0)", sources) == "Max(1, x.size(0)) != x.size(0)"
    assert in_arguments("Ne(s0, Max(1, s0))", sources) == "x.size(0) != Max(1, x.size(0))"
    assert in_arguments("Eq(s0, 1) | Eq(s0, 2)", sources) == "Eq(x.size(0), 1) | Eq(x.size(0), 2)"
    assert spelled("L['self']._modules['layer']._modules['0']._parameters['w'].eps") == "self.layer[0].w.eps"
    assert spelled("G['y'].size()[1] == 3") == "y.size(1) == 3"


def test_a_number_that_became_a_constant_is_one_answer_however_sympy_writes_it() -> None:
    symbol = record("create_symbol", {"symbol": "zf0", "source": "L['self'].eps"})
    fixed = record("symbolic_shape_specialization", {"sources": ["L['self'].eps"], "value": "1.00000000000000e-5"})
    guards = (record("guard_added_fast", {"expr": expression}) for expression in ("Eq(zf0, 1.0e-5)", "zf0 > 0.50000"))
    report = collected(record("dynamo_start", {}, START), symbol, fixed, *guards)
    assert [(a.kind, a.text) for a in report.answers] == [
        ("specialized", "self.eps == 1e-05"),
        ("guard", "self.eps > 0.5"),
    ]


def test_numbers_that_objects_keep_ask_for_something_only_where_they_change() -> None:
    rate = record("create_symbol", {"symbol": "zf0", "source": "L['self']._modules['drop'].p"})
    fixed = {"sources": ["L['self']._modules['drop'].p"]}
    size = record("create_symbol", {"symbol": "s0", "source": "L['x'].size()[0]"})
    guards = [record("guard_added_fast", {"expr": text}) for text in ("zf0 <= 1.0", "zf0 < s0", "Eq(zf0, 0.5)")]
    start = record("dynamo_start", {}, START)
    once = collected(start, rate, size, *guards)
    assert {answer.text for answer in once.open} == {"self.drop.p < x.size(0)"}
    assert sum(answer.kept for answer in once.answers) == 2

    first, second = (record("symbolic_shape_specialization", fixed | {"value": value}) for value in ("0.5", "0.1"))
    changed = collected(start, rate, size, *guards, first, second)
    assert not any(answer.kept for answer in changed.answers)

    again = artifact("recompile_reasons", '["0/0: self.drop.p == 0.5"]')
    assert not any(answer.kept for answer in collected(start, rate, size, *guards, again).answers)


def test_a_size_that_a_line_made_a_constant_is_not_said_to_be_static_from_the_start() -> None:
    size = {"sources": ["L['x'].size()[1]"], "value": "4"}
    again = artifact("recompile_reasons", "[\"0/0: tensor 'x' size mismatch at index 1. expected 4, actual 7\"]")
    start = record("dynamo_start", {}, START)
    made = collected(start, record("symbolic_shape_specialization", size), again)
    assert [answer.advice.split()[:5] for answer in made.answers if answer.kind == "recompiled"] == [
        ["it", "was", "made", "a", "constant"]
    ]
    assert "mark_dynamic(x, 1)" in collected(start, again).answers[0].advice


def test_each_kind_of_guard_is_told_apart() -> None:
    start = record("dynamo_start", {}, START)
    symbol = record("create_symbol", {"symbol": "s0", "source": "L['x'].size()[0]"})
    report = collected(
        start,
        symbol,
        record("guard_added_fast", {"expr": "Eq(s0, 4)"}),
        record("guard_added_fast", {"expr": "s0 > 5"}),
        record("guard_added_fast", {"expr": "s0 > 5"}),
        record("guard_added_fast", {"expr": "u0 >= 0"}, DEFERRED),
    )
    assert [(a.kind, a.text, a.count) for a in report.answers] == [
        ("specialized", "x.size(0) == 4", 1), ("guard", "x.size(0) > 5", 2), ("assert", "u0 >= 0", 1),
    ]  # fmt: skip
    assert {answer.function for answer in report.answers} == {"f (model.py:10)"}
    assert [answer.asks for answer in report.answers] == [True, True, False]


@pytest.mark.parametrize("payload", ["0/0: {}", '["0/0: {}"]'])
def test_a_recompilation_belongs_to_its_function_and_says_what_avoids_it(payload: str) -> None:
    reason = "tensor 'x' size mismatch at index 1. expected 4, actual 7"
    again = record("dynamo_start", {}, START, compilation="0/1")
    report = collected(record("dynamo_start", {}, START), artifact("recompile_reasons", payload.format(reason)), again)
    (answer,) = report.answers
    assert (answer.kind, answer.text, answer.function) == ("recompiled", reason, "f (model.py:10)")
    assert "mark_dynamic(x, 1)" in answer.advice
    assert [(c.function, c.count) for c in report.compilations] == [("f", 2)]


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("tensor 'x' size mismatch at index 0. expected 1, actual 7", "mark_unbacked(x, 0) lets one serve all"),
        ("tensor 'x' size mismatch at index 0. expected 7, actual 1", "mark_unbacked(x, 0) lets one serve all"),
        ("tensor '___stack0' size mismatch at index 0. expected 1, actual 7", "where nothing can mark it"),
        ("2 <= x.size()[0] <= 8  # f(x)  # m.py:3 in f (due to 0/1 specialization in the framework)",
         "mark_unbacked lets one serve all; sizes above 8 are too, by a line that compares them"),
        ("2 <= x.size()[0]  # f(x)  # m.py:3 in f (due to 0/1 specialization in the framework)",
         "mark_unbacked lets one serve all"),
        ("x.size()[1] == x.size()[0]  # duck sizing added this equality because these variables …",
         "torch.fx.experimental._config.use_duck_shape = False keeps them apart"),
    ],
)  # fmt: skip
def test_what_helps_depends_on_the_size_that_was_met(reason: str, advice: str) -> None:
    """`mark_dynamic` does not help where 0 or 1 is met: these are compiled apart all the same."""
    said = advice_about(reason)
    assert said.endswith(advice)
    assert "mark_dynamic" not in said


WITH_STACK = (
    "0/0: cache is None      # if cache is not None:  # me/u/model.py:9 in helper\nUser stack trace:\n"
    '  File "/home/u/model.py", line 12, in f\n    y = helper(x)\n'
    '  File "/home/u/model.py", line 9, in helper\n    if cache is not None:'
)
"""A reason as torch 2.13 gives it."""


def test_the_file_of_a_reason_is_in_the_stack_below_it() -> None:
    """That of a function which is compiled with its caller is named nowhere else."""
    torch = Frame("/opt/venv/torch/_dynamo/convert_frame.py", 9, "compile")
    reason = WITH_STACK.replace("# me/u/", "# ome/u/helpers/").replace('model.py", line 9', 'helpers/model.py", line 9')
    (answer,) = collected(record("dynamo_start", {}, torch, START), artifact("recompile_reasons", reason)).answers
    assert (answer.place and answer.place.path, answer.owner) == ("/home/u/helpers/model.py", "your code")
    without = reason.partition("\n")[0]
    (answer,) = collected(record("dynamo_start", {}, torch, START), artifact("recompile_reasons", without)).answers
    assert (answer.place and answer.place.path, answer.owner) == ("ome/u/helpers/model.py", "unknown")


@pytest.mark.parametrize("payload", [WITH_STACK, json.dumps([WITH_STACK]), f"{WITH_STACK}\n{WITH_STACK}"])
def test_the_stack_behind_a_reason_is_no_reason(payload: str) -> None:
    report = collected(record("dynamo_start", {}, START), artifact("recompile_reasons", payload))
    place = Frame("/home/u/model.py", 9, "helper", "if cache is not None:")
    assert [(answer.text, answer.place) for answer in report.answers] == [("cache is None", place)]


def test_a_guard_that_failed_names_its_source_unless_it_only_comes_first() -> None:
    guard_reason = "0/0: (L['x'].size()[0] % 2) == 0 # if n % 2 == 0: # me/u/model.py:12 in f (_dynamo/v.py:2 in e)"
    framework = (
        "0/0: 2 <= L['x'].size()[0] # if n == 1: # me/u/model.py:3 in f (user code shown is first use of this value--"
        "the guard itself is not due user code but due to 0/1 specialization in the framework; to avoid specialization)"
    )
    reasons = artifact("recompile_reasons", f"{guard_reason}\n{framework}")
    guard, zero_one = sorted(
        collected(record("dynamo_start", {}, START), reasons).answers, key=lambda answer: answer.text
    )
    assert (guard.text, guard.place) == ("(x.size(0) % 2) == 0", Frame("/home/u/model.py", 12, "f", "if n % 2 == 0:"))
    assert (zero_one.text, zero_one.place) == ("2 <= x.size(0)", None)
    assert "mark_unbacked" in zero_one.advice


def test_processes_that_number_alike_are_counted_apart() -> None:
    collector = Collector()
    for _ in range(2):
        collector.take([record("dynamo_start", {}, START), artifact("torch_version", '{"pytorch_version": "2.9"}')])
    assert [c.count for c in collector.report().compilations] == [2]
    assert collector.report().torch == "2.9"


def test_compilations_that_are_numbered_from_0_again_are_others() -> None:
    other = record("dynamo_start", {}, Frame("/home/u/model.py", 50, "g"))
    fixed = record("guard_added_fast", {"expr": "Eq(s0, 4)"}, USER)
    report = collected(record("dynamo_start", {}, START), fixed, fixed, other, fixed, record("dynamo_start", {}, START))
    assert [(c.function, c.count) for c in report.compilations] == [("f", 2), ("g", 1)]
    assert [(a.function.partition(" ")[0], a.kind, a.count) for a in report.answers] == [
        ("f", "specialized", 1), ("g", "specialized", 1),
    ]  # fmt: skip


def test_only_failures_about_sizes_and_fakes_are_answers() -> None:
    base = {"fail_user_frame_filename": "/home/u/model.py", "fail_user_frame_lineno": 12}
    sizes = "Could not guard on data-dependent expression Eq(u0, 0)\n\nCaused by: x"
    fake = "RuntimeError('There was no fake impl registered for <CustomOpDef(shop::clip)>. This is necessary')"
    report = collected(
        record("compilation_metrics", {**base, "fail_type": "UserError", "fail_reason": sizes}),
        record("compilation_metrics", {**base, "fail_type": "Unsupported", "fail_reason": "print is not supported"}),
        record("compilation_metrics", {**base, "fail_type": None}),
        record("compilation_metrics", {**base, "fail_type": "TorchRuntimeError", "fail_reason": fake}),
    )
    answer, lacks = report.answers
    assert (lacks.kind, lacks.text, lacks.place) == ("fake", "shop::clip: torch finds no fake of it", None)
    assert (answer.kind, answer.text) == ("error", "Could not guard on data-dependent expression u0 == 0")
    assert answer.place == Frame("/home/u/model.py", 12, "")


def test_what_torch_assumes_for_itself_asks_for_nothing() -> None:
    answer = Answer("assumed", "u0 == 0 is False", "torch", None, USER, "f")
    assert not answer.asks
    assert dataclasses.replace(answer, owner="your code").asks


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    report = collected(record("dynamo_start", {}, START), record("guard_added_fast", {"expr": "s0 > 5"}, USER))
    path = tmp_path / "report.json"
    path.write_text(report.to_json())
    assert read_report(path) == report
    path.write_text(report.to_json().replace('"kind": "guard"', '"kind": "other"'))
    with pytest.raises(SymfixError, match=r"report\.json: damaged .*symfix probe --format json writes one"):
        read_report(path)


def test_what_moved_by_some_lines_has_not_regressed() -> None:
    answer = Answer("guard", "x.size(0) > 5", "your code", USER, None, "f (model.py:10)")
    moved = dataclasses.replace(answer, place=dataclasses.replace(USER, line=99), function="f (model.py:97)")
    new = dataclasses.replace(answer, text="x.size(0) > 6")
    assert regressed(Report("", (), (answer,)), Report("", (), (moved, new))) == [new]
    assert merged([new, answer, new])[0].count == 2


def test_a_size_that_becomes_a_constant_is_said_once_for_a_compilation() -> None:
    start = record("dynamo_start", {}, START)
    symbol = record("create_symbol", {"symbol": "s0", "source": "L['x'].size()[0]"})
    fixed = {"symbol": "s0", "sources": ["L['x'].size()[0]"], "value": "4"}
    first = record("symbolic_shape_specialization", fixed, USER)
    later = record("symbolic_shape_specialization", fixed, Frame("/home/u/model.py", 30, "g"))
    guard = record("guard_added_fast", {"expr": "Eq(s0, 4)"}, USER)
    answers = collected(start, symbol, first, guard, later).answers
    assert [(answer.text, answer.count) for answer in answers] == [("x.size(0) == 4", 1)]
    looked_up = record("symbolic_shape_specialization", {**fixed, "reason": "find"}, USER)
    assert collected(start, symbol, looked_up).answers == ()


def test_functions_of_c_are_named_for_the_guard_that_follows_them_alone() -> None:
    kernel = Frame("/site-packages/torch/_subclasses/fake_tensor.py", 9, "dispatch")
    log = Frame("/site-packages/torch/_logging/_internal.py", 7, "trace_structured")
    asked = (START, Frame("/site-packages/torch/fx/experimental/sym_node.py", 5, "guard_int"), log)
    askers = record("artifact", {"name": "symfix_askers", "functions": ["corrcoef", "cov"]})
    own = Frame("/tmp/hook/sitecustomize.py", 3, "symfix_passes_on")
    assert own not in frames([{"line": 3, "name": own.function, "filename": own.path}], {})
    report = collected(
        record("dynamo_start", {}, START),
        askers,
        record("artifact", {"name": "symfix_assumed", "expr": "u0 > 4", "result": False}, START, kernel, *asked[1:]),
        record("artifact", {"name": "symfix_assumed", "expr": "u0 > 3", "result": False}, START, kernel, *asked[1:]),
        askers,
        record("guard_added_fast", {"expr": "s0 > 5"}, START, kernel, *asked[1:]),
        askers,  # of a replacement that no record followed
        record("artifact", {"name": "symfix_askers", "functions": []}),
        record("guard_added_fast", {"expr": "s0 > 6"}, START, kernel, *asked[1:]),
    )
    assert [(a.text, a.whose) for a in report.answers] == [
        ("s0 > 5", "C++ that your code calls: corrcoef → cov"),
        ("s0 > 6", "C++ that your code calls"),
        ("u0 > 4 is False", "C++ that your code calls: corrcoef → cov"),
        ("u0 > 3 is False", "C++ that your code calls"),
    ]  # fmt: skip


def test_an_error_has_the_line_and_the_functions_of_the_place_where_it_arose() -> None:
    kernel = Frame("/site-packages/torch/_subclasses/fake_tensor.py", 9, "dispatch")
    node = Frame("/site-packages/torch/fx/experimental/sym_node.py", 5, "guard_bool")
    log = Frame("/site-packages/torch/_logging/_internal.py", 7, "trace_structured")
    named = record("artifact", {"name": "symfix_named", "symbol": "u0", "source": "L['x'].size()[1]"})
    arose = {"name": "symfix_unknown", "expr": "u0 > 4", "functions": ["stft"], "argument": ""}
    unknown = record("artifact", arose, START, USER, kernel, node, log)
    failed = {"fail_type": "UserError", "fail_reason": "Could not guard on data-dependent expression u0 > 4 (unhinted: "
              "u0 > 4).  (Size-like symbols: none)\n\nCaused by: x"}  # fmt: skip
    (answer,) = collected(record("dynamo_start", {}, START), named, unknown,
                          record("compilation_metrics", failed)).answers  # fmt: skip
    assert (answer.text, answer.place, answer.whose) == (
        "Could not guard on data-dependent expression x.size(1) > 4", USER, "C++ that your code calls: stft",
    )  # fmt: skip
    other = {**failed, "fail_reason": failed["fail_reason"].replace("u0 > 4", "u0 > 5")}
    assert [answer.place for answer in collected(unknown, record("compilation_metrics", other)).answers] == [None]


def test_an_error_about_unknown_sizes_has_what_the_program_may_declare_of_them() -> None:
    reason = "Could not guard on data-dependent expression u0 > 1 (unhinted: u0 > 1).  (Size-like symbols: u0)"
    failed = record("compilation_metrics", {"fail_type": "UserError", "fail_reason": reason})
    for takes, said in ((["t", "min"], "if x.size(1) is always at least 2, say so: mark_unbacked(…, min=2)"), ([], "")):
        named = {"name": "symfix_named", "symbol": "u0", "source": "L['x'].size()[1]", "takes": takes}
        (answer,) = collected(record("dynamo_start", {}, START), record("artifact", named), failed).answers
        assert (answer.advice, [each.keyword for each in answer.declared]) == (said, ["min"] if said else [])
        assert "declared" not in Report("", (), (answer,)).to_json()


def test_a_kernels_error_has_the_functions_of_the_stack_in_it() -> None:
    reason = (
        "got RuntimeError('Cannot call sizes() on tensor with symbolic sizes/strides\\nException raised from f\\n"
        "frame #4: at::native::cov(long) + 0x1b07 (0x7f in /x/l.so)\\n"
        "frame #9: at::native::corrcoef() + 0x72 (0x7f in y)"
    )
    failed = {"fail_type": "TorchRuntimeError", "fail_reason": reason, "fail_user_frame_filename": "/home/u/model.py",
              "fail_user_frame_lineno": 12}  # fmt: skip
    (answer,) = collected(record("compilation_metrics", failed)).answers
    assert answer.text == "Cannot call sizes() on tensor with symbolic sizes/strides"
    assert (answer.place, answer.whose) == (Frame("/home/u/model.py", 12, ""), "C++ of torch: corrcoef → cov")


@pytest.mark.parametrize(
    ("operator", "whose"),
    [
        ("aten::roll", "C++ of torch: argument n (int) of aten::roll"),
        ("f::g", "schema of f: argument n (int) of f::g"),
    ],
)
def test_an_argument_that_is_a_plain_number_is_named_with_its_schema(operator: str, whose: str) -> None:
    calls = Frame("/site-packages/torch/_ops.py", 9, "__call__")
    node = Frame("/site-packages/torch/fx/experimental/sym_node.py", 5, "guard_int")
    log = Frame("/site-packages/torch/_logging/_internal.py", 7, "trace_structured")
    asked = {"name": "symfix_askers", "functions": [], "argument": f"argument n (int) of {operator}"}
    guard = record("guard_added_fast", {"expr": "Eq(s0 - 4, 0)"}, USER, calls, node, log)
    fixed = record("symbolic_shape_specialization", {"symbol": "s0", "sources": ["L['x'].size()[0]"], "value": "4"},
                   USER, calls, node, log)  # fmt: skip
    asks = record("artifact", asked)
    (answer,) = collected(record("dynamo_start", {}, START), asks, guard, asks, fixed).answers
    assert (answer.kind, answer.text, answer.place, answer.whose) == ("specialized", "x.size(0) == 4", USER, whose)
    assert ("SymInt in the schema" in answer.advice) is (operator == "f::g")


def test_a_symbol_of_another_compilation_has_no_argument() -> None:
    start = record("dynamo_start", {}, START)
    named = record("artifact", {"name": "symfix_named", "symbol": "u0", "source": "L['x'].size()[1]"})
    deferred = record("guard_added_fast", {"expr": "u0 > 4"}, DEFERRED)
    assert [a.text for a in collected(start, named, deferred, start, deferred).answers] == ["x.size(1) > 4", "u0 > 4"]


def test_what_torch_cannot_tell_is_in_the_report(tmp_path: Path) -> None:
    cannot = record("artifact", {"name": "symfix_cannot", "sentences": ["it has no names"]})
    report = collected(cannot, record("dynamo_start", {}, START), cannot)
    assert report.cannot == ("it has no names",)
    path = tmp_path / "report.json"
    path.write_text(report.to_json())
    assert read_report(path) == report
