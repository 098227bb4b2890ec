"""What an exception of PyTorch says, in a few words."""

from __future__ import annotations

from traceback import FrameSummary, StackSummary

import pytest

from codemod.runner import causes

NUMEL = "Cannot call numel() on tensor with symbolic sizes/strides"


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as caught:
        return caught


def test_the_sentence_that_names_the_cause_is_found_among_frames_and_advice() -> None:
    text = f"Failed running call_function foo:\n{NUMEL}\nException raised from f at TensorImpl.cpp:291\nframe #0"
    assert causes.describe(raised(RuntimeError(text))) == NUMEL
    assert causes.telling(NUMEL)


def test_the_first_cause_speaks_for_the_chain() -> None:
    chained = raised(RuntimeError("wrapped"), raised(ValueError("mode 4 is unknown\nmore")))
    assert causes.describe(chained) == "ValueError: mode 4 is unknown"
    assert not causes.telling("ValueError: mode 4 is unknown")


def test_an_error_that_causes_itself_ends() -> None:
    first, second = ValueError("one"), ValueError("other")
    first.__context__, second.__context__ = second, first
    assert causes.chain(first) == [first, second]


def test_a_line_outside_of_torch_is_named_where_it_is_asked_for() -> None:
    error = raised(RuntimeError("no"))
    assert causes.where([error]) == ""
    assert causes.where([error], outside=True).startswith(f"{__file__}:")


def test_where_dynamo_asks_the_line_it_traces_is_named() -> None:
    text = "Caused by: if n:  # m.py:3 in f (_dynamo/variables/tensor.py:12 in evaluate_expr)"
    space: dict[str, type[Exception]] = {"Told": type("Told", (Exception,), {})}
    code = compile(f"raise Told({text!r})", "/x/torch/_dynamo/variables/tensor.py", "exec")
    with pytest.raises(space["Told"], match="Caused by") as info:
        exec(code, space)
    assert causes.where([info.value]) == "_dynamo/variables/tensor.py:12 in evaluate_expr"
    vars(info.value)["real_stack"] = StackSummary.from_list([FrameSummary("/home/me/m.py", 3, "f")])
    assert causes.where([info.value], outside=True) == "/home/me/m.py:3 in f"
    vars(info.value)["real_stack"] = StackSummary.from_list([FrameSummary("/x/torch/functional.py", 7, "g")])
    assert causes.where([info.value]) == "torch/functional.py:7 in g"
