"""Plain numbers that Python takes of sizes, and comparisons that no branch makes. See tests/corpus/corpus_asking.py."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, y: Tensor, n: int):\n    l = [1, 2]\n"


@pytest.mark.parametrize(
    ("expression", "refusal"),
    [
        ("[0] * x.size(0)", "concrete-number"),
        ("[0] * n", ""),
        ("x.size(0) * y", ""),
        ("l * x.size(0)", ""),  # which may be a Tensor for all that is known
        ("x.size(0).bit_length()", "concrete-number"),
        ("n.bit_length()", ""),
        ("hex(x.size(0))", "concrete-number"),
        ("obj.hex(x.size(0))", ""),
        ("torch.linspace(0, 1, x.size(0))", "concrete-number"),
        ("torch.linspace(0, x.size(0), 5)", ""),
        ("list(x.shape).index(n)", "undecided"),
        ("l.index(x.size(0))", "undecided"),
        ("l.index(n)", ""),
        ("sorted(x.shape)", "undecided"),
        ("sorted(l)", ""),
        ("sum(s == 1 for s in x.shape)", "undecided"),
        ("sum(s for s in x.shape)", ""),
        ("hex(*x.shape)", ""),  # how many there are is not known
        ("x[:, y.size(0) - 1]", "concrete-number"),
        ("x[..., -y.size(0)]", "concrete-number"),
        ("x[y.size(0), 0]", "concrete-number"),
        ("x[:, n]", ""),
        ("x[:, : y.size(0)]", ""),
        ("x[:, y]", ""),
        ("self.table[:, y.size(0)]", "concrete-number"),
        ("kernel[(y.size(0), 4)](x)", ""),  # starts a kernel of Triton
        ("l[y.size(0)]", ""),
        ("x.cpu().numpy()[:, y.size(0)]", ""),
    ],
)
def test_what_takes_a_size(look: Any, expression: str, refusal: str) -> None:
    found = look(f"{HEAD}    return g({expression})\n")
    assert [(finding.rule, finding.refusal) for finding in found] == [("concrete-number", refusal)] * bool(refusal)


@pytest.mark.parametrize(
    ("expression", "argument"),
    [
        ("torch.linspace(0, 1, x.size(0))", "steps of linspace takes a plain number"),
        ("torch.hann_window(window_length=x.size(0))", "window_length of hann_window takes a plain number"),
        ("torch.fft.fftfreq(x.size(0))", "n of fftfreq takes a plain number"),
        ("F.one_hot(x, x.size(0))", "num_classes of one_hot takes a plain number"),
        ("torch.nn.functional.one_hot(x, num_classes=x.size(0))", "num_classes of one_hot takes a plain number"),
        ("F.avg_pool2d(x, x.shape[-2:])", "kernel_size of avg_pool2d takes plain numbers"),
        ("F.avg_pool2d(input=x, kernel_size=(1, x.size(3)))", "kernel_size of avg_pool2d takes plain numbers"),
        ("F.max_pool1d(x, x.size(2))", "kernel_size of max_pool1d takes plain numbers"),
        ("x.unfold(0, y.size(0), 1)", "size of unfold takes a plain number"),
        ("x.unfold(0, n, 1)", ""),
        ("z.unfold(0, y.size(0), 1)", ""),  # a method of who knows what
        ("torch.linspace(0, x.size(0), 5)", ""),
        ("F.avg_pool2d(x, n)", ""),
        ("F.avg_pool2d(x, *x.shape)", ""),
        ("F.avg_pool2d(x, kernel=x.shape)", ""),  # none of torch's
        ("F.avg_pool2d(x)", ""),
        ("x.narrow(0, 0, y.size(0))", ""),
        ("x.select(0, y.size(0))", ""),  # a name of a dimension comes with a plain index, its number does not
        ("x.topk(y.size(0))", ""),
        ("torch.eye(x.size(0))", ""),
        ("torch.zeros(x.size(0), dtype=x.dtype)", ""),
        ("F.adaptive_avg_pool2d(x, x.shape[-2:])", ""),
        ("F.interpolate(x, x.shape[-2:])", ""),
        ("x.permute(x.shape)", ""),  # dimensions, whatever it is that numbers them
        ("x.sum(dim=y.size(0))", ""),
        ("torch.sparse_coo_tensor(y, x, x.shape)", ""),  # a trace stops there for any size
    ],
)
def test_what_a_schema_says_is_a_plain_number(look: Any, expression: str, argument: str) -> None:
    source = f"{HEAD.replace('n: int', 'n: int, z')}    return g({expression})\n"
    for inlined in (False, True):
        found = [(finding.rule, finding.reason.partition(":")[0]) for finding in look(source, inlined=inlined)]
        assert found == [("concrete-number", argument)] * bool(argument)


def test_what_takes_a_size_instead_is_said_where_that_is_known(look: Any) -> None:
    (finding,) = look(f"{HEAD}    return torch.linspace(0, 1, x.size(0))\n")
    assert "torch.arange(steps) / (steps - 1)" in finding.reason


def test_a_variable_of_the_name_of_torch_is_not_torch(look: Any) -> None:
    assert not look("def f(x: Tensor, F):\n    return F.one_hot(x, x.size(0))\n")


@pytest.mark.parametrize(
    "expression", ["torch.tensor(x.size(0))", "list(map(int, x.shape))", "enumerate(l, x.size(0))", "x[y.size(0)]"]
)
def test_what_dynamo_keeps_symbolic_is_named_where_it_does_not_trace(look: Any, expression: str) -> None:
    source = f"{HEAD}    return g({expression})\n"
    assert [finding.rule for finding in look(source)] == ["concrete-number"]
    assert not look(source, inlined=True)


def test_the_call_stops_there(rewrite: Any) -> None:
    source = f"{HEAD}    if x.size(1) != n:\n        raise ValueError('n')\n    return g([0] * x.size(0))\n"
    assert rewrite(source) == source


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ("x", True),
        ("zip(x, y)", True),
        ("zip(x, l)", False),  # as many as the list has, which a graph knows
        ("zip(self.layers, x, y)", False),
        ("enumerate(x)", True),
        ("reversed(x)", True),
        ("map(g, x)", True),
        ("list(x)", True),
        ("zip(l, l)", False),
        ("zip(x.shape, l)", False),
        ("enumerate(l)", False),
        ("o.zip(x)", False),
        ("x.unbind(0)", False),
        ("y.shape", False),
        ("l", False),
    ],
)
def test_a_loop_over_a_tensor_turns_as_often_as_a_size_says(look: Any, over: str, named: bool) -> None:
    for loop in (f"    for t in {over}:\n        g(t)\n", f"    return [t for t in {over}]\n"):
        assert [finding.refusal for finding in look(HEAD + loop)] == ["loop-bound"] * named


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.size(0) // 8 + (x.size(0) % 8 != 0)", "x.size(0) // 8 + torch.sym_ite(x.size(0) % 8 != 0, 1, 0)"),
        ("(x.size(0) > n) * 2", "torch.sym_ite(x.size(0) > n, 1, 0) * 2"),
        ("1 - ( x.size(0) > n )", "1 - ( torch.sym_ite(x.size(0) > n, 1, 0) )"),
        (
            "(x.size(0) > 2) * (x.size(1) > 2)",
            "torch.sym_ite(x.size(0) > 2, 1, 0) * torch.sym_ite(x.size(1) > 2, 1, 0)",
        ),
        ("1 + (n > 2)", ""),
        ("1 + (x.max() > 2)", ""),
        ("y * (x.size(0) > 2)", ""),  # of a Tensor of bools 1 makes integers
        ("z * (x.size(0) > 2)", ""),
        ("1 & (x.size(0) > 2)", ""),
    ],
)
def test_a_truth_that_is_counted_is_a_number(rewrite: Any, look: Any, before: str, after: str) -> None:
    source = f"{HEAD.replace('n: int', 'n: int, z')}    return g({before})\n"
    assert rewrite(source) == source.replace(before, after or before)
    in_eager = look(source, eager=True)
    assert not any(finding.edits for finding in in_eager)
    assert bool(in_eager) == bool(after)


def test_an_index_that_is_written_to_is_a_plain_number_too(look: Any) -> None:
    for target in ("x[:, y.size(0)]", "x[y.size(0) - 1, 0]"):
        (finding,) = look(f"{HEAD}    {target} = 0\n    return x\n", inlined=True)
        assert finding.rule == "concrete-number"
        assert finding.reason.startswith("an index is a plain number")


def test_a_turn_of_a_loop_is_a_number(look: Any) -> None:
    source = f"{HEAD}    for t in range(y.size(0)):\n        x[:, t] = 0\n    return x\n"
    assert [finding.rule for finding in look(source, inlined=True)] == ["loop-bound"]


@pytest.mark.parametrize(
    "made", ["['a'] * x.size(0)", "x.size(0) * (None, 1)", "'a' * x.size(0)", "['b', 'a'] * x.numel()"]
)
def test_what_is_repeated_is_no_size(look: Any, made: str) -> None:
    source = f"{HEAD}    names = {made}\n    if names == l:\n        x = x + 1\n    return x\n"
    assert {finding.rule for finding in look(source)} <= {"concrete-number"}


def test_sizes_that_are_repeated_are_sizes(look: Any) -> None:
    source = f"{HEAD}    sizes = [x.size(0)] * 2\n    if sizes == l:\n        x = x + 1\n    return x\n"
    assert [finding.rule for finding in look(source)] == ["shape-branch"]
