"""A cache folder in which a stat is trusted at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.tree import cache as cache_module


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache_module, "RACY_NS", 0)
    return tmp_path / "cache"
