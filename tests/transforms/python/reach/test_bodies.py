"""Bodies are read of the statements at the top that hold what is wanted, and are those of the whole file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from transforms.python.reach.bodies import Bodies
from transforms.python.reach.tree import SourceTree
from transforms.python.reading import bodies as reading
from transforms.python.reading.bodies import Wanted, bodies, wanted_bodies
from transforms.python.reading.extract import PART, Parts, extract
from transforms.python.reading.facts import Body

HEAD = "import torch\n\ndef other(x):\n    return x.numel() + 1\n\n"
WANTED = "def f(x: Tensor):\n    if x.numel() > 1:\n        return x.shape\n"
SOURCES = {
    "alone": HEAD + WANTED,
    "decorated": f"{HEAD}@torch.compile(\n    dynamic=True)\n{WANTED}",
    "decorator below its sign": f"{HEAD}@(\n    torch.compile\n)\n{WANTED}",
    "first, its decorator below its sign": f"@(\n    torch.compile\n)\n{WANTED}",
    "in a branch": f"{HEAD}if torch:\n    import os\n    def f(x):\n        return x.stride(0)\nelse:\n    f = None\n",
    "twice": f"{WANTED}{HEAD}{WANTED.replace('numel', 'dim')}",
    "in a class": f"{HEAD}class C(torch.nn.Module):\n    def f(self, x):\n        return self.f(x.shape)\nC.f(1)\n",
    "in a function": f"def f(x):\n    y = x.size(0)\n    def f(z):\n        return z.shape[y]\n    return f\n{HEAD}",
    "CR and LF": (HEAD + WANTED).replace("\n", "\r\n"),
    "CR alone": (HEAD + WANTED).replace("\n", "\r"),
    "form feeds": f"{HEAD}\f\n\f\n{WANTED}",
    "a mark of the encoding": f"\ufeff{HEAD}{WANTED}",
    "lines in a string": f'text = """\n\ndef f(x):\n    return x.size(1)\n\n"""\n{HEAD}{WANTED}',
    "large": f"{HEAD}{'# ' + 'x' * 70 + chr(10)}{(HEAD * (PART // len(HEAD)))}{WANTED}{HEAD}{WANTED}",
}


def wanted(source: bytes) -> Wanted:
    """What is wanted where symbols reach every function of the name f."""
    tree = SourceTree({"a.py": extract("a.py", source)})
    functions = [d for d in tree.definitions() if d.function.own_name == "f"]
    asked: list[Wanted] = []

    def read(by_path: Mapping[str, Wanted]) -> Mapping[str, Mapping[str, Body]]:
        asked.extend(by_path.values())
        return {}

    Bodies(tree, functions, read)
    return asked[0]


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_what_is_read_of_some_statements_is_what_the_file_says(source: str) -> None:
    code = source.encode()
    asked = wanted(code)
    assert asked.names
    assert wanted_bodies("a.py", code, asked) == bodies("a.py", code, asked.names)


def test_the_other_statements_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def parts(source: bytes) -> Parts:
        parsed.append(source)
        return Parts(source)

    monkeypatch.setattr(reading, "Parts", parts)
    code = SOURCES["decorated"].encode()
    assert wanted_bodies("a.py", code, wanted(code))
    assert len(parsed) == 1
    assert b"def f" in parsed[0]
    assert b"other" not in parsed[0]


def test_another_encoding_is_read_as_a_whole() -> None:
    code = f"# coding: latin-1\n{HEAD}{WANTED}    return 'ä'\n".encode("latin-1")
    asked = wanted(code)
    assert wanted_bodies("a.py", code, asked) == bodies("a.py", code, asked.names)
