"""A file without the bodies that do not matter says the same as the whole."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from transforms.python.reading.emptied import emptied
from transforms.python.reading.extract import Parts, extract
from transforms.python.reading.named import Named, _named, named_in
from transforms.python.writing.bindings import hidden

OWN = sorted(Path(__file__).parents[4].glob("[ct]*/**/*.py"))
F, G = "def f(x):\n    return x\n", "def g(x):\n    return f(x)\n"


def whole(source: str, *names: str) -> tuple[Named, ...]:
    return named_in_parts(Parts(source.encode()), *names)


def named_in_parts(parts: Parts, *names: str) -> tuple[Named, ...]:
    return tuple(dict.fromkeys(_named(parts, names)))


@pytest.mark.parametrize(
    ("source", "scopes"),
    [
        (f"{F}\n\n{G}", set()),
        (f"{F}\n\ndef g(x):\n    return x.map(f)\n", {"g"}),
        (f"{F}\n\ndef g(x):\n    return lambda: f(x)\n", {"g"}),
        (f"{F}\n\ndef g(\n    x=f(1),\n):\n    return x\n", set()),
        (f"{F}\n\n@f\ndef g(x):\n    return x\n", set()),
        (f"{F}\n\n{G}\n\nclass C:\n    y = f(1)\n", {"C"}),
        (f"{F}\n\n{G}table = {{1: f}}\n", {""}),
        (f"{F}\n\n{G}f(1)\n", {""}),
        (f"{F}\n\n{G}if f:\n    def h():\n        return f\n", {"", "h"}),
        (f"{F}\n\ndef g(x):\n    return x.map(f)\n\n\n{G}", {"g#1"}),
        (f"{F}\n\n{G}\n\n@h(\n    1,\n)\nasync def g(x):\n    return [f]\n", {"g"}),
        (f'{F}\n\nTEXT = """\n\ndef g(x):\n    return 1\n\ndef h(x):\n"""\ny = [f]\n', {""}),
    ],
)
def test_functions_are_named_where_they_are_in_the_whole_file(source: str, scopes: set[str]) -> None:
    named = named_in("a.py", source.encode(), ("f",))
    assert {mention.scope for mention in named} == scopes
    assert named == whole(source, "f")


@pytest.mark.parametrize("path", OWN[::9], ids=lambda path: path.stem)
def test_of_real_files(path: Path) -> None:
    source = path.read_bytes()
    own = sorted({function.own_name for function in extract(str(path), source).functions})
    parts = Parts(source)
    for names in (tuple(own), *((name,) for name in own)):
        assert named_in(str(path), source, names) == named_in_parts(parts, *names)


def test_as_many_definitions_of_the_same_names_are_left() -> None:
    source = f"import a\n\n\n{F}\n\n@a\n@a(\n  1\n)\nclass C:\n    def f(self):\n        pass\n\n\n{F}\n\nx = 1\n"
    left = ast.parse(emptied(source.encode(), lambda chunk: not chunk.alone)).body
    assert [getattr(node, "name", "") for node in left] == ["", "f", "C", "f", ""]
    assert len(ast.unparse(left[2]).splitlines()) == 2


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def g():\n    max = 1\n", set()),
        ("def g():\n    max = 1\n\n\ndef max(x):\n    return x\n", {"max"}),
        ("def g():\n    max = 1\nmin = 1\n", {"min"}),
        ("def g():\n    max = 1\n\n\nif g:\n    from a import sum\n\n    def h():\n        min = 1\n", {"sum"}),
        ('TEXT = """\n\ndef g(x):\n"""\nmax = 1\n', {"max"}),
    ],
)
def test_what_the_top_gives_to_a_builtins_name(source: str, names: set[str]) -> None:
    assert hidden(source.encode()) == names
