"""What torch refuses of unknown sizes is named, and nothing else."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence

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
