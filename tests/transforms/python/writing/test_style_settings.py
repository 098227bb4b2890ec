"""Where the style of a file is read, and that settings of a tree cost no more than the style."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codemod.borders import private
from codemod.model.findings import Root
from transforms.python.writing.style import Style
from transforms.python.writing.style_settings import Styles


class Tree:
    """A project of a few files, which says what was read of it."""

    root = Path()
    vocabulary = None
    torch = ""
    traced = ()

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.contents = files
        self.was_read: list[str] = []

    def files(self, suffixes: Sequence[str], under: Sequence[str] = ("",)) -> list[str]:
        return sorted(path for path in self.contents if path.endswith(tuple(suffixes)))

    def has(self, path: str) -> bool:
        return path in self.contents

    def left_out(self, suffixes: Sequence[str]) -> list[str]:
        return []

    def read(self, path: str) -> bytes:
        self.was_read.append(path)
        content = self.contents[path]
        if content == "absent":
            raise FileNotFoundError(2, "No such file", path)
        return content.encode() if isinstance(content, str) else content

    def selected(self, path: str) -> bool:
        return True

    def named(self, path: str) -> bool:
        return False

    def recall(self, kind: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """Nothing is kept."""
        return {}

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Nothing is kept."""

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Made anew each time."""
        return make()

    def in_scope(self, path: str, root: Root) -> bool:
        return True

    def facts(self, extract: Callable[[str, bytes], Any], paths: Sequence[str]) -> Mapping[str, Any]:
        raise NotImplementedError

    def facts_of(
        self, extract: Callable[[str, bytes, Any], Any], wanted: Mapping[str, Any], label: str = "reading"
    ) -> Mapping[str, Any]:
        raise NotImplementedError

    def remark(self, line: str) -> None:
        raise NotImplementedError

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any], label: str = "", bytes_of: Sequence[int] = ()
    ) -> list[Any]:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "_printed", set())


def style(files: Mapping[str, str | bytes]) -> Style:
    tree = {name.replace("__", "/").replace("_", "."): content for name, content in files.items()}
    return Styles(Tree(tree)).of("a/b/c.py")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, Style()),
        ({"pyproject_toml": "[tool.black]\nline-length = 100"}, Style(100)),
        ({"pyproject_toml": "[tool.black]\n[tool.ruff]\nline-length = 120"}, Style(120)),
        ({"pyproject_toml": "[tool.black]\npreview = true\n[tool.ruff]\nline-length = 120"}, Style(88)),
        ({"pyproject_toml": "[tool.ruff]\nline-length = 120\n[tool.ruff.format]\nskip-magic-trailing-comma = true"},
         Style(120, False)),
        ({"pyproject_toml": "[tool.ruff.format]\n", "setup_cfg": "[flake8]\nmax-line-length = 140"}, Style(88)),
        ({"pyproject_toml": "[project]\nrequires-python = '>=3.10,<4'", "_flake8": "[flake8]\nmax-line-length=99 # so"},
         Style(99, python=10)),
        ({"pyproject_toml": "[tool.black]\nline-length = 99\ntarget-version = ['py311', 'py39']"}, Style(99, python=9)),
        ({"ruff_toml": "line-length = 70", "pyproject_toml": "[tool.ruff]\nline-length = 120"}, Style(70)),
        ({"a__ruff_toml": "line-length = 70", "pyproject_toml": "[tool.black]\nline-length = 120"}, Style(70)),
        ({"a__pyproject_toml": "[tool.mypy]", "pyproject_toml": "[tool.black]\nline-length = 120"}, Style(120)),
        ({"b__ruff_toml": "line-length = 70"}, Style()),
    ],
)  # fmt: skip
def test_the_nearest_settings_count(files: dict[str, str], expected: Style) -> None:
    assert style(files) == expected


@pytest.mark.parametrize(
    "settings",
    ["line-length = true", "line-length = '100'", "line-length = -1", "line-length = 99999", "line-length = {}"],
)
def test_a_width_that_is_none_counts_as_none(settings: str) -> None:
    assert style({"ruff_toml": settings}) == Style()
    assert style({"pyproject_toml": f"tool.ruff = 1\nproject = []\n[[tool.black]]\n{settings}"}) == Style()


@pytest.mark.parametrize(
    "files",
    [
        {"ruff_toml": "line-length = "},
        {"ruff_toml": b"\xff"},
        {"ruff_toml": "absent"},
        {"ruff_toml": "#" * (1 << 20) + "\nline-length = 100"},
        {"ruff_toml": "a." * 5000 + "b = 1"},
        {"setup_cfg": "max-line-length = 100"},
        {"setup_cfg": b"[flake8]\nmax-line-length = 100\n\xff"},
    ],
)
def test_damaged_settings_cost_one_line(files: dict[str, str | bytes], capsys: pytest.CaptureFixture[str]) -> None:
    assert style(files) == Style()
    assert style(files) == Style()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"symfix: {next(iter(files)).replace('_', '.')}")


@pytest.mark.parametrize(
    ("wide", "line", "settings", "limit"),
    [
        (20, "x" * 100, {}, 120),
        (20, "x" * 100, {"ruff.toml": "line-length = 70"}, 70),
        (20, repr("x" * 100), {}, 88),
        (20, f"f({'x' * 100!r})  # why", {}, 88),
        (20, "x" * 87 + '1 + f"y"', {}, 88),
        (20, "x" * 84 + "+ 0x12 + 1e5", {}, 88),
        (20, "x" * 87 + "12", {}, 120),
        (20, r"""'it\'s' + 'a"b' """ + " " * 80 + "+ x", {}, 120),
        (20, "x  # 'it" + " x" * 60, {}, 88),
        (4, "x" * 100, {}, 88),
    ],
)
def test_without_settings_the_lines_of_a_file_say_how_wide_they_are(
    wide: int, line: str, settings: Mapping[str, str | bytes], limit: int
) -> None:
    files = dict(settings)
    lines = [line] * wide + ["y"] * (100 - wide)
    assert Styles(Tree(files)).of("a/b.py").of_file("\n".join(lines).encode()).limit == limit


def test_a_value_that_refers_to_others_is_not_followed() -> None:
    assert style({"setup_cfg": "[flake8]\nmax-line-length = %(width)s\nwidth = 100\nmax_line = ${x}"}) == Style()


def test_only_settings_above_a_file_are_read_and_each_once() -> None:
    tree = Tree({"pyproject.toml": "[tool.black]", "a/setup.cfg": "", "b/ruff.toml": "", "a/not-ruff.toml": ""})
    styles = Styles(tree)
    assert [styles.of(path) for path in ("a/c.py", "a/d.py", "e.py")] == [Style()] * 3
    assert tree.was_read == ["a/setup.cfg", "pyproject.toml"]
