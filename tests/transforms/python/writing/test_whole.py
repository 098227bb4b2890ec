"""A function is converted whole or not at all, as far as the same call goes."""

from __future__ import annotations

from typing import Any

import pytest

UNDECIDED = "    if x.size(0) < x.size(1):\n        x = x.mT\n"
CHECK = "    torch._check(x.shape == y.shape)\n"
RETURN = "    return x\n"


def levels(findings: Any) -> dict[str, str]:
    return {finding.rule: finding.refusal for finding in findings}


@pytest.mark.parametrize(
    "body", [UNDECIDED + CHECK, CHECK + UNDECIDED, UNDECIDED + "    if x.ndim == 2:\n    " + CHECK]
)
def test_a_place_that_every_call_stops_at_leaves_the_rest(look: Any, body: str) -> None:
    refusals = levels(look("def f(x: Tensor, y: Tensor):\n" + body + RETURN))
    assert refusals["check-condition"] == "half"
    assert refusals["undecided-branch"] == "undecided"


@pytest.mark.parametrize("number", ["x.numel() or 1", "x.size(0) and x.size(1)"])
def test_what_chooses_a_number_stops(look: Any, number: str) -> None:
    refusals = levels(look(f"def f(x: Tensor, y: Tensor):\n{CHECK}    return x / ({number})\n"))
    assert refusals == {"check-condition": "half", "undecided-branch": "undecided"}


def test_what_may_be_none_is_asked_for_that(look: Any) -> None:
    source = f"def f(x: Tensor, y: Tensor, n: SymInt | None = None):\n{CHECK}    return x.new_empty(n or x.size(0))\n"
    (finding,) = look(source)
    assert finding.edits
    body = f"{CHECK}    n = n or x.size(0)\n    return x.new_empty(n)\n"
    (finding,) = look(f"def f(x: Tensor, y: Tensor, n: int | None = None):\n{body}")
    assert finding.edits


def test_a_negation_is_one_place(look: Any) -> None:
    assert len(look("def f(x: Tensor):\n    return not (x.size(0) or x.size(1))\n")) == 1


@pytest.mark.parametrize("condition", ["if x.numel() and k:", "if not (x.numel() or k):", "while x.numel() and k:"])
def test_what_is_asked_for_its_truth_is_one_place(look: Any, condition: str) -> None:
    assert len(look(f"def f(x: Tensor, k: int):\n    {condition}\n        k = k + 1\n    return x * k\n")) == 1
    assert not look("def f(x: Tensor, k: int):\n    return x * (k or 1) * (x.dim() or 1)\n")


@pytest.mark.parametrize(
    "body",
    [
        CHECK + "    if x.ndim == 2:\n    " + UNDECIDED.replace("\n    ", "\n        "),
        "    if x.ndim == 2:\n    " + CHECK + "        return y\n" + UNDECIDED,
    ],
)
def test_a_place_that_some_calls_pass_by_does_not(look: Any, body: str) -> None:
    findings = look("def f(x: Tensor, y: Tensor):\n" + body + RETURN)
    assert next(f for f in findings if f.rule == "check-condition").edits


@pytest.mark.parametrize(
    "body",
    [
        "    if x.numel() != 0:\n    " + UNDECIDED.replace("\n    ", "\n        ").replace("x.mT", "x.neg()"),
        "    if x.numel() == 0:\n        return x\n    else:\n        return x.tensor_split(x.size(0))\n",
    ],
)
def test_a_branch_is_left_where_the_path_of_unknown_sizes_stops(look: Any, body: str) -> None:
    findings = look("def f(x: Tensor, y: Tensor):\n" + body + RETURN)
    assert findings[0].refusal == "half"
    assert not any(finding.edits for finding in findings)


def test_what_stops_on_the_other_path_does_not(look: Any) -> None:
    empty = "x.view(x.tensor_split(x.size(0))[0].shape)"
    body = f"    if x.numel() == 0:\n        x = {empty}\n    else:\n        x = x + y\n"
    findings = look("def f(x: Tensor, y: Tensor):\n" + body + RETURN)
    assert next(f for f in findings if f.rule == "special-size-branch").edits


def test_the_reason_names_the_line_that_is_left(look: Any) -> None:
    half = next(f for f in look("def f(x: Tensor, y: Tensor):\n" + CHECK + UNDECIDED + RETURN) if f.refusal == "half")
    assert "stops at line 3" in half.reason


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("int(math.sqrt(n))", "torch.sym_int(torch.sym_sqrt(n))"),
        ("float(min(x.shape[-2:]))", "torch.sym_float(torch.sym_min(*x.shape[-2:]))"),
        ("1.0 / math.sqrt(max(n, 1))", "1.0 / torch.sym_sqrt(torch.sym_max(n, 1))"),
        ("int(math.log2(n))", ""),
        ("int(round(n * 0.5))", ""),
        ("max(1, math.isqrt(n))", ""),
        ("max(n, min(x.shape))", ""),
    ],
)
def test_one_conversion_inside_another_is_written_with_it_or_neither_is(
    look: Any, rewrite: Any, expression: str, written: str
) -> None:
    source = f"def f(x: Tensor):\n    n = x.size(0)\n    return x + {expression}\n"
    after = rewrite(source)
    assert after == (source.replace(expression, written) if written else source)
    assert rewrite(after) == after
    assert look(source)


def test_a_place_whose_own_rewrite_is_withdrawn_stops_the_call_too(look: Any) -> None:
    branch = "    if all(s > 0 for s in x.shape):\n        if bool(n):\n            y = y.repeat(n, 1)\n"
    check = "    if x.size(0) == 0:\n        raise ValueError('empty')\n"
    found = look(f"def f(x: Tensor, y: Tensor):\n    n, m = x.size()\n{branch}{check}    return x.new_empty(n, m)\n")
    by_line = {finding.line: (finding.refusal, bool(finding.edits)) for finding in found}
    assert by_line == {3: ("half", False), 4: ("undecided", False), 6: ("half", False)}
    (reason,) = (finding.reason for finding in found if finding.line == 6)
    assert reason.startswith("the same call stops at line 3, left as the same call stops at line 4: ")


@pytest.mark.parametrize("comprehension", ["[row for row in x]", "[s for s in x.shape if s != 1]"])
def test_a_comprehension_stops_the_call_at_its_line(look: Any, comprehension: str) -> None:
    check = "if x.size(1) != n:\n            raise ValueError('n')\n"
    head = "def f(x: Tensor, n: int):\n    if n:\n"
    (found, _) = look(f"{head}        {check}    return {comprehension}\n")
    assert found.reason.startswith("the same call stops at line 5: ")
    (found, _) = look(f"{head}        {check}        return x\n    return {comprehension}\n")
    assert found.edits, "it returns before"
