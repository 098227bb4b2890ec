"""What only the formulas of forward gradients come to."""

from __future__ import annotations

import pytest

from transforms.cpp.reach.kernels import findings
from transforms.cpp.reach.reached import reached_and_stopped
from transforms.cpp.reading.extract import extract
from transforms.schema import derivatives, native_functions


def forward(code: str, backward: str, output: str) -> tuple[set[str], dict[str, str]]:
    """The names that are reached, and the refusals of those that are stopped, of code that formulas call."""
    manual = "torch/csrc/autograd/FunctionsManual.cpp"
    facts = {manual: extract(manual, f"namespace torch {{ namespace autograd {{ {code} }} }}".encode())}
    natives = native_functions.load("n.yaml", b"- func: blur(Tensor self) -> (Tensor Q, Tensor R)\n")
    formulas = f"- name: blur(Tensor self) -> (Tensor Q, Tensor R)\n  self: {backward}\n  Q, R: {output}\n"
    found, stopped = reached_and_stopped(facts, natives, derivatives.load("d.yaml", formulas.encode()))
    names = {(f.path, f.start): f.name for f in facts[manual].functions}
    assert not found.keys() & stopped.keys()
    explained = findings({(f.path, f.start): f for f in facts[manual].functions}, stopped)
    assert {finding.refusal for finding in explained} == {stop.refusal for stop in stopped.values()}
    return {names[key] for key in found}, {names[key]: stop.refusal for key, stop in stopped.items()}


JVP = (
    "Tensor blur_jvp(const Tensor& t) { return shape_of(t).view(t.sizes()); } "
    "Tensor shape_of(const Tensor& t) { return t.view(t.sizes()); }"
)


@pytest.mark.parametrize(
    ("backward", "output", "stopped"),
    [
        ("grad", "blur_jvp(self_t)", {"blur_jvp", "shape_of"}),
        ("shape_of(grad)", "blur_jvp(self_t)", {"blur_jvp"}),
        ("blur_jvp(grad)", "blur_jvp(self_t)", set()),
        ("grad", "self_t", set()),
    ],
)
def test_what_forward_formulas_alone_call_is_no_way_of_symbols(backward: str, output: str, stopped: set[str]) -> None:
    reached_names, refusals = forward(JVP, backward, output)
    assert reached_names == {"blur_jvp", "shape_of"} - stopped
    assert refusals == dict.fromkeys(stopped, "forward-mode")


def test_methods_that_keep_forward_gradients_are_explained_and_what_they_call_is_not() -> None:
    code = (
        "Tensor same(const Tensor& t) { return t.view(t.sizes()); } "
        "void AutogradMeta::set_fw_grad(const Tensor& t) { same(t).view(t.sizes()); } "
        "void set_fw_grad(const Tensor& t) { t.sizes(); }"
    )
    path = "torch/csrc/autograd/meta.cpp"
    facts = {path: extract(path, f"namespace torch {{ namespace autograd {{ {code} }} }}".encode())}
    found, stopped = reached_and_stopped(facts, None, None)
    names = {(f.path, f.start): f.qualified.removeprefix("torch::autograd::") for f in facts[path].functions}
    assert {names[key] for key in found} == {"same", "set_fw_grad"}
    assert {names[key]: stop.refusal for key, stop in stopped.items()} == {"AutogradMeta::set_fw_grad": "forward-mode"}
