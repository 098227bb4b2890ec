"""`symfix probe --module`: what a factory of modules has to return, and the repros that are made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="no torch in this environment")

from codemod.runner import check, factories, subjects  # noqa: E402

MODELS = """
import torch

def tiny():
    return torch.nn.Linear(4, 2), lambda n: (torch.ones(n, 4, requires_grad=True),)

def plain():
    return torch.nn.Linear(4, 2), (torch.ones(3, 4),)

def wrong():
    return torch.nn.Linear(4, 2), (torch.ones(3, 5),)
"""


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "factory_models.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)


def made(name: str, piece: str) -> check.Repro:
    (case,) = factories.cases(f"factory_models:{name}", piece, f"{piece}:{name}")
    return check.Repro(case.script, case.name)


def test_a_module_has_no_out_and_no_inputs_that_eager_refuses() -> None:
    assert list(factories.cases("factory_models:tiny", "out", "label")) == []
    assert list(factories.cases("factory_models:wrong", "forward", "label")) == []


def test_inputs_are_made_of_a_size_or_are_as_they_are() -> None:
    several, single = made("tiny", "forward"), made("plain", "forward")
    assert several.sizes == (3, 4, 6)
    assert several.inputs(6)[0].shape == (6, 4)
    assert single.sizes == (1,)
    assert single.results(single.operator, 1).shape == (3, 2)


def test_gradients_are_those_of_parameters_and_inputs() -> None:
    repro = made("tiny", "backward")
    value, gradients = repro.results(repro.operator, 4)
    assert [tuple(gradient.shape) for gradient in gradients] == [(2, 4), (2,), (4, 4)]
    assert value.shape == (4, 2)


def test_a_factory_is_a_subject_where_it_is_there() -> None:
    assert subjects.chosen(["factory_models:tiny"]) == ["factory_models:tiny"]
    with pytest.raises(AttributeError):
        subjects.chosen(["factory_models:gone"])
