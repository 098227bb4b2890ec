"""`symfix probe` over a real torch: a program's guards, recompilations, assumptions and errors, with their lines."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

PROGRAM = """
import torch


def branch(x):
    if x.size(0) > 5:
        return x + 1
    return x - 1


def assumed(x):
    return torch.cat([x, x]).sum() if guard_or_false(x.size(0) == 3) else x.sum()


def failing(x):
    positive = x[x > 0]
    if positive.shape[0] == 2:
        return positive
    return positive + 1


from torch.fx.experimental.symbolic_shapes import guard_or_false

library = torch.library.Library("probed", "DEF")
library.define("repeat(Tensor x, int n) -> Tensor")
library.impl("repeat", lambda x, n: x.repeat(n), "CompositeExplicitAutograd")


def repeated(x):
    return torch.ops.probed.repeat(x, x.size(0))


def mapped(x):
    return torch.vmap(torch.corrcoef)(x)


def transformed(x):
    return torch.fft.fft(x)


def broken(x):
    count = int(x.max())
    return x + count


def attempted(function, x):
    try:
        torch.compile(function, backend="eager", fullgraph=True, dynamic=True)(x)
    except Exception:
        print("failed")


compiled = torch.compile(branch, backend="eager")
for size in (4, 7):
    compiled(torch.ones(size))
x = torch.ones(4)
torch._dynamo.decorators.mark_unbacked(x, 0)
torch.compile(assumed, backend="eager")(x)
torch._dynamo.config.capture_dynamic_output_shape_ops = True
attempted(failing, torch.ones(4))
attempted(repeated, torch.ones(4))
attempted(mapped, torch.ones(2, 3, 4))
attempted(transformed, x)
torch.compile(broken, backend="eager", dynamic=True)(torch.ones(4))
"""


def test_each_answer_names_its_line(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    command = [
        sys.executable,
        "-m",
        "codemod.cli",
        "probe",
        "--format",
        "json",
        "--no-source",
        "--",
        sys.executable,
        "program.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "failed" in done.stderr
    report = json.loads(done.stdout)
    asked = {
        (
            answer["kind"],
            answer["function"].partition(" ")[0],
            answer["text"],
            answer["place"] and answer["place"]["text"],
        )
        for answer in report["answers"]
        if answer["owner"] in ("your code", "")
    }
    assert ("guard", "branch", "x.size(0) > 5", "if x.size(0) > 5:") in asked
    assert ("recompiled", "branch", "tensor 'x' size mismatch at index 0. expected 4, actual 7", None) in asked
    assert ("break", "broken", "a number is read from a tensor's data", "count = int(x.max())") in asked
    error = next(answer for answer in report["answers"] if answer["kind"] == "error")
    assert error["text"] == "Could not guard on data-dependent expression u0 == 2"
    assert error["place"]["line"] == PROGRAM.splitlines().index("    if positive.shape[0] == 2:") + 1
    assumed = next(
        answer for answer in report["answers"] if answer["kind"] == "assumed" and answer["owner"] == "your code"
    )
    assert (assumed["text"], assumed["place"]["function"]) == ("x.size(0) == 3 is False", "assumed")
    by_function = {
        a["function"].partition(" ")[0]: a for a in report["answers"] if a["kind"] in ("error", "specialized")
    }
    assert by_function["repeated"]["owner"] == "schema of probed"
    assert by_function["repeated"]["argument"] == "argument n (int) of probed::repeat"
    assert by_function["repeated"]["place"]["text"] == "return torch.ops.probed.repeat(x, x.size(0))"
    assert by_function["mapped"]["text"] == "Cannot call sizes() on tensor with symbolic sizes/strides"
    assert by_function["mapped"]["native"] == "corrcoef → cov"
    assert by_function["transformed"]["native"].startswith("fft_fft")
    assert by_function["transformed"]["text"] == "Could not guard on data-dependent expression x.size(0) >= 1"
    assert {c["function"]: c["count"] for c in report["compilations"]}["branch"] == 2


def test_operators_come_out_in_each_mode_with_the_lines_that_cause_it(tmp_path: Path) -> None:
    symfix = [sys.executable, "-m", "codemod.cli", "probe", "--op", "topk", "--op", "median", "--jobs", "1"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*symfix, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    first = run("--format", "json", "--no-source")
    assert first.returncode == 1, first.stderr
    report = json.loads(first.stdout)
    modes = {subject["name"]: subject["modes"] for subject in report["subjects"]}
    assert list(modes) == ["median", "topk"]
    assert {cell["status"] for cell in modes["median"].values()} <= {"passes", "guards", ""}
    forward = modes["topk"]["forward"]
    assert (forward["status"], forward["cases"]) == ("guards", 4)
    assert "torch.topk(" in forward["script"]
    assert modes["topk"]["inplace"]["status"] == ""
    takes_specs = "dynamic_shapes" in inspect.signature(torch.compile).parameters
    assert modes["topk"]["spec"]["status"] == ("passes" if takes_specs else "")
    assert any("ShapesSpec" in sentence for sentence in report["cannot"]) is not takes_specs
    assert modes["topk"]["unbacked"]["status"] == modes["topk"]["sizes"]["status"] == "passes"
    guards = [a for a in report["answers"] if (a["kind"], a["function"]) == ("guard", "topk forward")]
    assert {guard["place"]["function"] for guard in guards} == {"topk_meta"}
    assert guards[0]["text"].startswith("x.size(")

    earlier = tmp_path / "before.json"
    earlier.write_text(first.stdout)
    second = run("--compare", str(earlier))
    assert second.returncode == 0, second.stderr
    assert "2 of 2 operators were answered by an earlier run" in second.stderr
    modes["topk"]["forward"] = {**forward, "status": "passes", "guards": 0}
    report["answers"] = [answer for answer in report["answers"] if answer not in guards]
    earlier.write_text(json.dumps(report))
    worse = run("--compare", str(earlier))
    assert worse.returncode == 1
    assert "topk_meta" in worse.stdout


def test_calls_that_are_least_alike_come_first() -> None:
    from codemod.runner import probing
    from codemod.runner.cases import Call

    vector, matrix = torch.ones(3), torch.ones(3, 3)
    alike = [Call("torch.linalg.norm", [vector], {"keepdim": value}) for value in (True, False)]
    other = [Call("torch.linalg.norm", [matrix, "fro"], {}), Call("torch.linalg.norm", [matrix, 2, None], {})]
    assert list(probing.unlike([*alike, *other])) == [alike[0], *other, alike[1]]
