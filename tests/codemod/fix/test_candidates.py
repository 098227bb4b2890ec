"""What may help at the lines that torch named."""

from __future__ import annotations

import sys
from pathlib import Path

from codemod.fix.candidates import candidates_for
from codemod.fix.trees import Copy
from codemod.fix.trial import Trial
from codemod.model.findings import Level
from codemod.probe.answers import Answer, Report
from codemod.probe.script import Program
from codemod.probe.trace import Frame

HELPER = "import torch\n\n\ndef needed(a, b):\n    if a != b:\n        raise ValueError\n"
PICK = "def pick(a):\n    try:\n        call(a)\n    except {kind}:\n        return a\n"


def test_lines_that_torch_traced_on_the_way_may_catch_what_is_raised(tmp_path: Path) -> None:
    """Their names lead nowhere: a module is called by no name of its `forward`."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    asked = Frame(str(tmp_path / "a" / "helper.py"), 5, "needed")
    led = Frame(str(tmp_path / "b" / "pick.py"), 3, "pick")
    Path(asked.path).write_text(HELPER)
    error = Answer("error", "Could not guard", "your code", asked, None, "f", stack=(led, asked))
    trial = Trial(1, "", "", (), (), Report("", (), (error,)))
    copy = Copy(Program((sys.executable, "case.py"), tmp_path))
    for kind, offered in (("KeyError", 1), ("ValueError", 0)):
        Path(led.path).write_text(PICK.format(kind=kind))
        found = list(candidates_for(trial, False, copy, (), lambda tree, path: (), Level.REVIEW))
        assert len(found) == offered
