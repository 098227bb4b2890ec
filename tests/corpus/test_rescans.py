from __future__ import annotations

from pathlib import Path

import pytest
from rescans import rounds

LIBRARY = Path(__file__).parents[2] / "examples/library"


def test_what_earlier_scans_found_is_found_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "set back afterwards")
    made = list(rounds(LIBRARY, tmp_path, 2, 7))
    assert len({change for change, *_ in made}) == 2
    assert all(same for *_, same in made), made
