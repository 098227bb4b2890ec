"""The program that `symfix fix` runs without compiling: what it exports is the module as it is."""

from __future__ import annotations

from types import ModuleType

import pytest

from codemod.runner import recording


def test_each_way_to_export_gives_the_module_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(recording.EAGER, "1")
    module, model = ModuleType("torch.export"), object()
    for name in ("export", "draft_export"):
        setattr(module, name, None)
    recording.watches()["torch.export"](module)
    for name in ("export", "draft_export"):
        assert getattr(module, name)(model, (1,), dynamic_shapes=None).module() is model
    assert not hasattr(module, "export_for_training")
    monkeypatch.delenv(recording.EAGER)
    assert "torch.export" not in recording.watches()
