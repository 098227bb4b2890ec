"""Who may catch what a function raises: then a check that is made when the code runs comes too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.transform import PythonTransform

HELPER = "def same(x: Tensor, y: Tensor):\n    if x.size(0) != y.size(0):\n        raise ValueError('sizes differ')\n"
FAKE = "\n\n@torch.library.register_fake('own::f')\ndef f(x: Tensor, y: Tensor):\n"
CALLED = "    try:\n        same(x, y)\n    except {}:\n        {}\n    return x.new_empty(y.shape)\n"
TAKEN = [
    "    try:\n        same(x, y)\n    finally:\n        return x\n",
    "    with suppress(ValueError):\n        same(x, y)\n    return x\n",
    "    with contextlib.suppress(KeyError, Exception):\n        same(x, y)\n    return x\n",
    "    try:\n        each(same, x, y)\n    except (KeyError, ValueError):\n        return x\n    return y\n",
    "    def inner():\n        same(x, y)\n" + CALLED.replace("same(x, y)", "inner()").format("ValueError", "return x"),
    *(CALLED.format(kind, "return x") for kind in ("ValueError", "Exception", "errors.Own", "(KeyError, ValueError)")),
    CALLED.format("ValueError", "if x.dim():\n            return x\n        raise"),
]
LEFT = [
    "    same(x, y)\n    return x\n",
    "    try:\n        x = x.t()\n    except ValueError:\n        same(x, y)\n    return x\n",
    "    with suppress(KeyError):\n        same(x, y)\n    return x\n",
    "    try:\n        same(x, y)\n    finally:\n        print()\n    return x\n",
    CALLED.format("KeyError", "return x"),
    CALLED.format("ValueError as error", "raise TypeError from error"),
]


def edited(tmp_path: Path, body: str, helper: str = HELPER) -> bool:
    """Whether the helper's branch becomes a check."""
    source = f"import contextlib\nfrom contextlib import suppress\n\nimport torch\n\n\n{helper}{FAKE}{body}"
    found = PythonTransform().analyse(MemoryProject(tmp_path, {"own/a.py": source}, tmp_path / "none.yaml"))
    return any(finding.edits and finding.rule == "raise-check" for finding in found)


@pytest.mark.parametrize("body", TAKEN)
def test_what_a_caller_may_catch_is_asked_while_tracing(tmp_path: Path, body: str) -> None:
    assert not edited(tmp_path, body)
    deeper = HELPER.replace("same", "deep") + "\n\ndef same(x, y):\n    deep(x, y)\n"
    assert not edited(tmp_path, body, deeper)


@pytest.mark.parametrize("body", LEFT)
def test_what_no_caller_catches_is_a_check(tmp_path: Path, body: str) -> None:
    assert edited(tmp_path, body)


@pytest.mark.parametrize("body", [*TAKEN, *LEFT])
def test_what_the_function_itself_catches(tmp_path: Path, body: str) -> None:
    statement = "if x.size(0) != y.size(0):\n    raise ValueError('sizes differ')\n"
    for called in ("same(x, y)", "each(same, x, y)"):
        lines = [line for line in body.splitlines(keepends=True) if line.strip() == called]
        for line in lines:
            indent = " " * (len(line) - len(line.lstrip()))
            inlined = body.replace(line, "".join(indent + part for part in statement.splitlines(keepends=True)))
            if "def inner" not in body:
                assert edited(tmp_path, inlined, "") is (body in LEFT)
