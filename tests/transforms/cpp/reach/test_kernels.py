"""Composite operators whose body is a kernel."""

from __future__ import annotations

import pytest

from codemod.model.findings import Level, Mode
from transforms.cpp.reach.kernels import findings
from transforms.cpp.reach.reached import reached_and_stopped
from transforms.cpp.reading.extract import extract
from transforms.schema import native_functions


def found(body: str, dispatch: str = "") -> list[tuple[str, str]]:
    source = f"namespace at::native {{ Tensor fade(const Tensor& x) {{ {body} }} }}"
    facts = {"a.cpp": extract("a.cpp", source.encode())}
    yaml = f"- func: fade(Tensor self) -> Tensor\n{dispatch}"
    reach, stopped = reached_and_stopped(facts, native_functions.load("n.yaml", yaml.encode()), None)
    assert not reach.keys() & stopped.keys()
    functions = {(f.path, f.start): f for f in facts["a.cpp"].functions}
    got = list(findings(functions, stopped))
    assert all((f.level, f.mode, f.edits, f.operators) == (Level.MANUAL, Mode.LEAK, (), ("fade",)) for f in got)
    return [(f.refusal, f.reach[0].text) for f in got]


@pytest.mark.parametrize(
    ("body", "dispatch"),
    [
        ("return x.sum(x.size(0));", ""),
        ("x.data_ptr<float>(); return x;", ""),
        ("x.data_ptr<float>(); return x.size(0);", "  dispatch:\n    CPU: fade\n"),
    ],
)
def test_nothing_to_say(body: str, dispatch: str) -> None:
    assert found(body, dispatch) == []


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ("x.data_ptr<float>(); return x.size(0);", "data-ptr"),
        ("x.accessor<float, 1>(); return x.size(0);", "data-ptr"),
        ("at::parallel_for(0, x.numel(), 1, f); x.data_ptr<float>();", "parallel-for"),
        ("AT_DISPATCH_ALL_TYPES(t, n, [&] { at::parallel_for(0, x.numel(), 1, f); });", "at-dispatch"),
    ],
)
def test_the_first_thing_that_stops_a_symbolic_tensor_is_named(body: str, refusal: str) -> None:
    assert found(body) == [(refusal, "fade is CompositeImplicitAutograd")]
