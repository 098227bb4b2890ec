"""Faulty rewrites, planted: `symfix prove` gives each the right verdict. Needs torch and g++."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpus_compile import COMPILER

from codemod.cli import main
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.plan import Plan
from codemod.prove import nursery
from codemod.prove.isolate import Limits
from codemod.prove.verdict import Judgement, judge
from codemod.prove.work import environment

RUNNER = Path(__file__).parent.parent.parent / "codemod" / "runner"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

SOURCE = """#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <fcntl.h>
#include <unistd.h>

namespace planted {

using at::Tensor;

Tensor cured(const Tensor& x) {
  return x.reshape(/*0*/{x.numel(), 1});
}

Tensor dropped(const Tensor& x) {
  return x.reshape_symint(/*1*/{x.sym_numel(), 1});
}

Tensor changed(const Tensor& x) {
  return x.mul(/*2*/2);
}

Tensor guarded(const Tensor& x) {
  return x.dim() > /*3*/1000 ? x : x.mul(2);
}

Tensor crashing(const Tensor& x) {
  int zero = 0;
  volatile int* place = /*4*/&zero;
  return x.mul(*place);
}

Tensor endless(const Tensor& x) {
  volatile bool more = /*5*/false;
  if (more) {
    ::close(::creat("@ENDLESS@", 0600));
  }
  while (more) {
    ::pause();
  }
  return x.mul(2);
}

} // namespace planted

TORCH_LIBRARY(planted, m) {
  m.def("cured(Tensor x) -> Tensor", planted::cured);
  m.def("dropped(Tensor x) -> Tensor", planted::dropped);
  m.def("changed(Tensor x) -> Tensor", planted::changed);
  m.def("guarded(Tensor x) -> Tensor", planted::guarded);
  m.def("crashing(Tensor x) -> Tensor", planted::crashing);
  m.def("endless(Tensor x) -> Tensor", planted::endless);
}
"""
FAULTS = (
    ("cured", "reshape(/*0*/{x.numel(), 1})", "reshape_symint({x.sym_numel(), 1})"),
    ("dropped", "reshape_symint(/*1*/{x.sym_numel(), 1})", "reshape({x.numel(), 1})"),
    ("changed", "/*2*/2", "3"),
    ("guarded", "x.dim() > /*3*/1000", "x.sym_numel() > 1000"),
    ("crashing", "/*4*/&zero", "nullptr"),
    ("endless", "/*5*/false", "true"),
)


def plan(text: str) -> Plan:
    """The faulty edits of the source `text` as one group of changes, each in the name of its operator."""
    source = text.encode()
    findings = []
    for operator, old, new in FAULTS:
        start = source.index(old.encode())
        edit = Edit("planted.cpp", start, start + len(old), old.encode(), new.encode())
        line = source.count(b"\n", 0, start) + 1
        findings.append(
            Finding("planted.cpp", start, edit.end, line, 1, Mode.DIRECT_THROW, "sym-accessor", Level.SAFE,
                    f"planted::{operator}", (f"planted::{operator}",), "planted", edits=(edit,), group="planted")
        )  # fmt: skip
    return Plan(tuple(findings), {"planted.cpp": hashlib.sha256(source).hexdigest()})


@pytest.mark.usefixtures("server_stays")
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_planted_faults_are_caught(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    time_is_up_at: Callable[[Path], float],
    library_headers: Path,
) -> None:
    monkeypatch.setenv("CXX", f"{COMPILER} -include {library_headers}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    tree.mkdir()
    text = SOURCE.replace("@ENDLESS@", str(tmp_path / "endless"))
    (tree / "planted.cpp").write_text(text)
    (tmp_path / "plan.json").write_text(plan(text).to_json())
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    monkeypatch.chdir(tree)
    timeout = time_is_up_at(tmp_path / "endless")
    with pytest.raises(SystemExit) as ended:
        main(["prove", "--plan", str(tmp_path / "plan.json"), "--python", sys.executable, "--timeout",
              str(int(timeout)), "--jobs", "1", "--format", "json"])  # fmt: skip
    found = json.loads(capsys.readouterr().out)["operators"]
    said = {evidence["operator"].rpartition("::")[2]: evidence for evidence in found}
    outcomes = {name: (e["outcome"], e["after"] and e["after"]["status"]) for name, e in said.items()}
    assert outcomes == {
        "cured": ("cured", "passes"),
        "dropped": ("worse", "throws"),
        "changed": ("worse", "passes"),
        "guarded": ("worse", "passes"),
        "crashing": ("worse", "crashes"),
        "endless": ("worse", "hangs"),
    }
    assert said["dropped"]["after"]["mode"] == 1
    assert said["changed"]["reason"].startswith("eager's result changed")
    assert re.search(r"adds the guard .*1000", said["guarded"]["reason"])
    assert ended.value.code == 1
    assert (tree / "planted.cpp").read_text() == text


MODULE = """import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, statically_known_true

library = torch.library.Library("planted_python", "DEF")
library.define("rows(Tensor x) -> Tensor")


def rows(x):
    # Only a shortcut: the sum serves no rows as well.
    if CONDITION:
        return x.new_zeros(())
    return x.sum()


library.impl("rows", rows, "CompositeImplicitAutograd")
"""


def run_module(folder: Path, condition: str, cases: Any) -> dict[str, Any]:
    """What the runner says of the module with this condition."""
    folder.mkdir()
    (folder / "planted_rows.py").write_text(MODULE.replace("CONDITION", condition))
    job = {"operators": ["planted_python::rows"], "imports": ["planted_rows"], "python_path": [str(folder)],
           "pieces": ["forward"], "cases": cases}  # fmt: skip
    (folder / "job.json").write_text(json.dumps({name: value for name, value in job.items() if value is not None}))
    server = (sys.executable, str(RUNNER), "--serve", "")
    limits, variables = Limits(600, 8 << 30), environment(folder, (), "")
    ended = nursery.run(server, folder / "job.json", folder / "out.json", folder, variables, limits)
    assert ended is not None
    assert ended.code == 0, ended.output
    found: dict[str, Any] = json.loads((folder / "out.json").read_bytes())["operators"]
    return found


@pytest.mark.usefixtures("server_stays")
def test_a_branch_on_a_size_is_cured_by_the_right_polarity_only(tmp_path: Path) -> None:
    branch = "x.shape[0] == 0"
    before = run_module(tmp_path / "before", branch, None)
    ((operator, found),) = before.items()

    def judged(after: str, condition: str) -> Judgement:
        """The judgement of the change of the branch to another condition."""
        other = run_module(tmp_path / after, condition, {operator: found["cases"]})
        return judge(found["cases"], other[operator]["cases"])

    right = judged("right", f"guard_or_false({branch})")
    assert (right.outcome, right.before and right.before.mode) == ("cured", 2)
    wrong = judged("wrong", f"guard_or_true({branch})")
    assert wrong.outcome == "worse"
    assert wrong.reason.startswith("wrong with unbacked sizes")
