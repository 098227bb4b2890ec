"""Paths that plans and journals name."""

from __future__ import annotations

from codemod.model.paths import quoted_path


def test_a_path_as_messages_name_it() -> None:
    assert quoted_path("aten/src/a.cpp") == "aten/src/a.cpp"
    assert quoted_path("a\n\x1b[31m") == "a\\n\\x1b[31m"
    long = quoted_path("x/" * 50_000 + "end.cpp")
    assert long.startswith("…/x/")
    assert long.endswith("/end.cpp")
    assert len(long) <= 1000
