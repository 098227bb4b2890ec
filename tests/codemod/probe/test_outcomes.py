"""From what the runner wrote about an operator to its modes, its answers and their lines."""

from __future__ import annotations

from typing import Any

from codemod.probe.answers import Answer, Report
from codemod.probe.outcomes import report_of
from codemod.probe.trace import Frame

PACKAGE = "/x/site-packages/torch"
META = Frame(f"{PACKAGE}/_meta_registrations.py", 7, "topk_meta", "torch._check(k <= size)")


def case(status: str, message: str = "", guards: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    fields = {"name": "forward:topk:0", "script": "import torch", "status": status, "message": message}
    return {**fields, "guards": list(guards), "frames": 1, **more}


def run(**modes: list[dict[str, Any]]) -> dict[str, Any]:
    entries = {mode: {"cases": cases, "reason": "", "seconds": 0.5} for mode, cases in modes.items()}
    return {"torch": "2.13.0", "package": PACKAGE, "traced": True, "done": True, "modes": entries}


def traced(mode: str, kind: str, text: str, place: Frame | None = META) -> Answer:
    return Answer(kind, text, "torch", place, None, f"operator (<{mode}:topk:0>:14)")


def reported(document: dict[str, Any], *answers: Answer) -> Report:
    return report_of("topk", [document], Report("2.13.0", (), answers))


def test_a_mode_is_as_its_worst_case() -> None:
    report = reported(run(forward=[case("passes"), case("guards", guards=("s0 >= 3", "s1 >= 3")), case("passes")]))
    cell = report.subjects[0].modes["forward"]
    assert (cell.status, cell.short, cell.cases, cell.script) == ("guards", "guard 2", 3, "import torch")
    assert report.subjects[0].modes["out"].status == ""
    worst = reported(run(forward=[case("guards", guards=("s0 >= 3",)), case("wrong", "1, eager gives 2")]))
    assert worst.subjects[0].modes["forward"].status == "wrong"
    assert [(a.kind, a.text, a.function) for a in worst.answers] == [("wrong", "1, eager gives 2", "topk forward")]


def test_why_a_mode_has_no_case_is_its_message() -> None:
    document = run(vmap=[])
    document["modes"]["vmap"]["reason"] = "no inputs could be made that eager accepts"
    assert reported(document).subjects[0].modes["vmap"].status == "no inputs"
    assert reported(run(vmap=[])).subjects[0].modes["vmap"].status == ""


def test_answers_of_the_trace_belong_to_the_mode_whose_repro_was_compiled() -> None:
    report = reported(
        run(forward=[case("guards", guards=("s0 >= 3",))]),
        traced("forward", "guard", "x.size(0) >= 3"),
        traced("known", "guard", "of no mode"),
        Answer("guard", "outside", "torch", META, None, "f (model.py:3)"),
        traced("forward", "error", "said by its case"),
    )
    assert [(a.text, a.place, a.function) for a in report.answers] == [("x.size(0) >= 3", META, "topk forward")]


def test_a_later_compilation_is_not_said_where_a_size_became_a_constant() -> None:
    again = traced("out", "recompiled", "tensor 'x' size mismatch at index 0. expected 5, actual 6", None)
    fixed = traced("out", "specialized", "x.size(0) == 5")
    document = run(out=[case("recompiles")])
    assert [answer.kind for answer in reported(document, again, fixed).answers] == ["specialized"]
    assert [answer.kind for answer in reported(document, again).answers] == ["recompiled"]


def test_a_line_of_the_repro_is_the_call() -> None:
    here = Frame("<forward:topk:0>", 9, "operator", "return torch.topk(x, 3)")
    (answer,) = reported(run(forward=[case("guards")]), traced("forward", "guard", "x.size(0) == 2", here)).answers
    assert answer.owner == "the call"
    assert answer.place is not None
    assert (answer.place.path, answer.place.text) == ("", "return torch.topk(x, 3)")


def test_an_error_has_the_line_that_the_runner_saw() -> None:
    message = "Could not guard on data-dependent expression Eq(u0, 1) [torch/_decomp/decompositions.py:7 in nll_loss]"
    (answer,) = reported(run(unbacked=[case("throws", message)])).answers
    assert (answer.kind, answer.text) == ("error", "Could not guard on data-dependent expression u0 == 1")
    assert (answer.owner, answer.place) == ("torch", Frame(f"{PACKAGE}/_decomp/decompositions.py", 7, "nll_loss"))
    below = "Could not guard on data-dependent expression Eq(u0, 1) [C++ below torch/nn/functional.py:9 in relu]"
    (answer,) = reported(run(unbacked=[case("throws", below)])).answers
    assert answer.owner == "C++ of torch"
    machinery = "Cannot call sizes() on tensor with symbolic sizes/strides [torch/_dynamo/utils.py:4 in run_node]"
    (answer,) = reported(run(vmap=[case("throws", machinery)])).answers
    assert (answer.owner, answer.place) == ("C++ of torch", None)
    library = case("throws", "Could not guard on data-dependent expression Eq(u0, 4)", place="/home/u/l.py:20 in f")
    (answer,) = reported(run(unbacked=[library])).answers
    assert (answer.owner, answer.place) == ("your code", Frame("/home/u/l.py", 20, "f"))
    (answer,) = reported(run(vmap=[case("crashes", "SIGSEGV")])).answers
    assert answer.text == "crashes: SIGSEGV"


def test_a_refused_size_has_the_line_of_the_assertion_that_it_violates() -> None:
    message = "2 becomes 0: RuntimeError: Runtime assertion failed for expression Eq(u0, 2) on node 'eq'"
    asserted = traced("unbacked", "assert", "u0 == 2")
    report = reported(run(unbacked=[case("passes")], sizes=[case("refuses", message)]), asserted)
    refused = next(answer for answer in report.answers if answer.kind == "refused")
    assert (refused.place, refused.function) == (META, "topk sizes")
    (alone,) = reported(run(sizes=[case("refuses", message)])).answers
    assert alone.place is None


def test_a_size_for_which_it_compiles_again_has_the_guard_that_did_not_hold() -> None:
    reason = "Ne(L['x'].size()[0], 0)  # if x.numel() == 0:  # refs/a.py:7 in f (user code shown)"
    (answer,) = reported(run(sizes=[case("recompiles", "2 becomes 0: x.size(0) != 0", reason=reason)])).answers
    assert (answer.kind, answer.text) == ("recompiled", "2 becomes 0: x.size(0) != 0")
    assert answer.place == Frame("refs/a.py", 7, "f", "if x.numel() == 0:")


def test_a_fake_that_differs_is_where_it_is_registered() -> None:
    message = "differs from the kernel for (0, 3): shape (3, 2), not (0, 2)"
    (answer,) = reported(run(fake=[case("wrong", message, place="/home/u/lib.py:12")])).answers
    assert (answer.kind, answer.text, answer.function) == ("fake", f"the fake {message}", "topk fake")
    assert (answer.place, answer.owner) == (Frame("/home/u/lib.py", 12, ""), "your code")
    (answer,) = reported(run(fake=[case("throws", "stops: NotImplementedError: no fake", place="")])).answers
    assert (answer.place, answer.owner, answer.text) == (None, "", "the fake stops: NotImplementedError: no fake")


def test_strides_that_are_refused_have_the_line_that_raised() -> None:
    message = "strides in the opposite order: Could not guard on data-dependent expression Eq(u0, 7)"
    (answer,) = reported(run(sizes=[case("refuses", message, place="/home/u/lib.py:12 in f")])).answers
    assert (answer.kind, answer.text) == ("refused", message)
    assert (answer.place, answer.owner) == (Frame("/home/u/lib.py", 12, "f"), "your code")
    (answer,) = reported(run(sizes=[case("refuses", f"{message} [torch/_refs/__init__.py:3 in narrow]")])).answers
    assert (answer.text, answer.owner) == (message, "torch")
    assert answer.place == Frame(f"{PACKAGE}/_refs/__init__.py", 3, "narrow")
