"""The transforms that are installed."""

from __future__ import annotations

import importlib.metadata

import pytest

from codemod.errors import SymfixError
from codemod.model.transform import load_transforms


def test_where_none_is_installed_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    with pytest.raises(SymfixError, match="symfix is not installed for it, so that no rule is found: pip install it"):
        load_transforms()
