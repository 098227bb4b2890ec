"""derivatives.yaml."""

from __future__ import annotations

import pytest

from transforms.schema.derivatives import load

YAML = b"""\
- name: fade(Tensor self, Tensor other, int n) -> Tensor
  self: "grad.defined() ? fade_backward(grad.sum(), n) : Tensor()"
  other: details::other_backward(grad,
    n)
  result: auto_linear
  output_differentiability: [True]

- name: glow(Tensor self) -> Tensor
  dispatch:
    Default:
      self: glow_backward(grad)
    AutogradNestedTensor:
      self: glow_backward_nested(grad)
"""


def test_formulas_and_the_functions_they_call() -> None:
    fade, glow = load("d.yaml", YAML).entries
    assert (fade.schema.name, fade.line, [name for name, _ in fade.formulas]) == (
        "fade",
        1,
        ["self", "other", "result"],
    )
    assert fade.functions == ("fade_backward", "Tensor", "details::other_backward")
    assert glow.functions == ("glow_backward", "glow_backward_nested")


def test_callers() -> None:
    callers = load("d.yaml", YAML).callers()
    assert [entry.schema.name for entry in callers["other_backward"]] == ["fade"]


def test_a_broken_file_is_one_clear_line() -> None:
    with pytest.raises(ValueError, match=r"^d\.yaml:1: an entry has no 'name:'"):
        load("d.yaml", b"- func: f(Tensor x) -> Tensor\n")
