"""How long a module may be, which nobody has to remember."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULE, RULE = 400, 150
"""The most lines of a module, and of one that is a rule."""


def lines(folder: str) -> dict[str, int]:
    paths = [path for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py"]
    return {path.relative_to(ROOT).as_posix(): len(path.read_bytes().splitlines()) for path in paths}


def test_modules_are_short_and_rules_shorter() -> None:
    modules = lines("codemod") | lines("transforms")
    rules = {path: length for path, length in modules.items() if path.split("/")[-2] == "rules"}
    assert len(rules) > 20
    modules |= lines("tests")
    assert [path for path, length in modules.items() if length > (RULE if path in rules else MODULE)] == []
