"""What torch refuses of unknown sizes is named, and nothing else."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corpus_asking import LEFT, NAMED, SERVED, refused, source

from codemod.cli import main
from tests.conftest import MakeTree


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize(("statements", "raise_all"), [(NAMED, True), (LEFT, True), (SERVED, False)])
def test_torch_refuses_what_is_said_to_be_refused(statements: Sequence[str], raise_all: bool) -> None:
    assert refused(statements) == (list(statements) if raise_all else [])


def test_those_are_named(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    statements = [*NAMED, *SERVED, *LEFT]
    monkeypatch.chdir(make_tree({"fakes.py": source(statements).encode()}))
    with pytest.raises(SystemExit):
        main(["scan", "--level", "manual", "--format", "json"])
    found = {finding["function"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    named = [statement for index, statement in enumerate(statements) if f"fake_{index}" in found]
    assert named == list(NAMED)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("rounded", ["round(n * 0.5)", "int(round((n - 3) / 2.0))", "round(n // 3)", "round(n / 3, 0)"])
def test_dynamo_asks_for_no_size_that_is_rounded(rounded: str, tmp_path: Path) -> None:
    import torch

    source = f"def f(x):\n    n = x.shape[0]\n    return x + {rounded}\n"
    (tmp_path / "rounding.py").write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "rounding.py"), "exec"), namespace)
    torch._dynamo.reset()
    compiled: Any = torch.compile(namespace["f"], fullgraph=True, backend="eager", dynamic=True)
    for count in (4, 7):
        rows = torch.ones(count, 2)
        torch._dynamo.decorators.mark_unbacked(rows, 0)
        assert torch.equal(compiled(rows), namespace["f"](rows))
