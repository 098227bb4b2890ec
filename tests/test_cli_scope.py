"""`--scope`: what of a library is looked at, by every command, and what scan says of the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from codemod.tree.checkout import find_checkout, of_pytorch
from tests.conftest import MakeTree, Symfix
from tests.test_cli import rows

FILES = {
    "ops.cc": b"size op:lib::rows\n",
    "layers.cc": b"size root:module\nnumel root:module\n",
    "compiled.cc": b"size root:compiled\n",
    "tests/ops.cc": b"size\n",
    "docs/ops.cc": b"size root:module\n",
}
REMARK = "--scope modules adds 2 findings in 1 function of modules; --scope all adds 2 findings in docs and tests"
NARROW, WIDE = {"compiled.cc", "ops.cc"}, {"compiled.cc", "layers.cc", "ops.cc"}


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ((), NARROW),
        (("--scope", "operators"), NARROW),
        (("--scope", "modules"), WIDE),
        (("--scope", "all"), set(FILES)),
        (("tests",), {"tests/ops.cc"}),
        (("docs",), set()),
        (("--scope", "modules", "docs/ops.cc"), {"docs/ops.cc"}),
        (("layers.cc",), set()),
    ],
)
def test_what_is_looked_at(make_tree: MakeTree, symfix: Symfix, options: tuple[str, ...], paths: set[str]) -> None:
    tree = make_tree(FILES)
    code, out, _ = symfix("scan", "--format", "csv", *options, cwd=tree)
    assert {row["path"] for row in rows(out)} == paths
    assert code == bool(paths)
    level = ("--level", "review")
    assert {line[6:] for line in symfix("diff", *level, *options, cwd=tree).out.decode().splitlines()
            if line.startswith("+++ b/")} == paths  # fmt: skip
    symfix("apply", *level, *options, cwd=tree)
    assert {path for path in FILES if (tree / path).read_bytes() != FILES[path]} == paths


def test_the_rest_is_counted_in_one_line_with_the_options_that_show_it(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree(FILES)
    assert symfix("scan", cwd=tree).out.decode().splitlines().count(REMARK) == 0  # 100 columns cut its end
    assert [REMARK[:90] in line for line in symfix("scan", cwd=tree).out.decode().splitlines()].count(True) == 1
    plan = json.loads(symfix("scan", "--format", "json", cwd=tree).out)
    assert (plan["remarks"], plan["options"]["scope"]) == ([REMARK], "operators")
    assert b"--scope" not in symfix("scan", "--scope", "all", "--op", "lib::rows", cwd=tree).out.split(b"symfix")[0]
    whole = json.loads(symfix("scan", "--format", "json", "--scope", "all", cwd=tree).out)
    assert "remarks" not in whole
    assert "scope" not in whole["options"]


def test_a_saved_plan_holds_its_scope(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree(FILES)
    plan = tree.parent / "plan.json"
    plan.write_bytes(symfix("scan", "--format", "json", "--scope", "modules", cwd=tree).out)
    given = ("--level", "review", "--plan", str(plan))
    code, _, err = symfix("apply", *given, "--scope", "all", cwd=tree)
    assert (code, err) == (2, "symfix: --scope all: the plan was made with --scope modules; make it anew\n")
    assert symfix("apply", *given, "--scope", "modules", cwd=tree).code == 1
    assert {path for path in FILES if (tree / path).read_bytes() != FILES[path]} == WIDE


def test_the_scope_is_the_trees_to_say(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({**FILES, "pyproject.toml": b'[tool.symfix]\nscope = "modules"\n'})
    assert {row["path"] for row in rows(symfix("scan", "--format", "csv", cwd=tree).out)} == WIDE
    assert {r["path"] for r in rows(symfix("scan", "--format", "csv", "--scope", "all", cwd=tree).out)} == set(FILES)
    assert b"symfix diff  " in symfix("scan", cwd=tree).out
    assert b"symfix diff --scope all  " in symfix("scan", "--scope", "all", cwd=tree).out
    (tree / "pyproject.toml").write_bytes(b'[tool.symfix]\nscope = "ops"\n')
    code, _, err = symfix("scan", cwd=tree)
    assert code == 2
    assert "scope: 'ops' is not one of operators, modules, all" in err


@pytest.mark.parametrize(
    ("marker", "start", "is_pytorch"),
    [
        ("aten/src/ATen/native/native_functions.yaml", "", True),
        ("torch/fx/experimental/symbolic_shapes.py", "", True),
        ("torch/fx/experimental/symbolic_shapes.py", "torch", True),
        ("torch/fx/experimental/symbolic_shapes.py", "torch/nn", True),
        ("torch/fx/experimental/symbolic_shapes.py", "other", False),
        ("lib/fx/experimental/symbolic_shapes.py", "", False),
    ],
)
def test_pytorch_itself_is_looked_at_whole(
    make_tree: MakeTree, symfix: Symfix, marker: str, start: str, is_pytorch: bool
) -> None:
    files = {f"{folder}/{path}": content for folder in ("torch/nn", "other", ".") for path, content in FILES.items()}
    tree = make_tree({**files, marker: b"- func: rows(Tensor self) -> Tensor\n"}, vcs=False)
    assert of_pytorch(find_checkout(tree / start)) is is_pytorch
    found = rows(symfix("scan", str(tree / start), "--format", "csv", cwd=tree).out)
    assert any(row["path"].endswith("layers.cc") for row in found) is is_pytorch


LAYERS = """\
import torch
from torch import nn


@torch.library.register_fake("lib::rows")
def rows(x):
    return common(x)


def common(x):
    if x.numel() == 0:
        return x
    return x.new_zeros(3)


class Layer(nn.Module):
    def forward(self, x):
        common(x)
        if x.shape[0] == 0:
            return x
        return x + 1
"""


TEST = """\
import torch


@torch.library.register_fake("lib::rows")
def rows(x):
    if x.numel() == 0:
        return x
    return x.new_zeros(3)
"""
SCAN = [
    str(Path(sys.executable).with_name("symfix")),
    *("scan", "--no-cache", "--exit-zero", "--torch", "2.13.0", "--format", "json"),
]
CPP_TEST = """\
Tensor rows(const Tensor& x) { return at::zeros({x.size(0)}); }
TORCH_LIBRARY(lib, m) { m.def("rows(Tensor x) -> Tensor", &rows); }
"""


@pytest.mark.parametrize(
    ("options", "functions"),
    [((), set()), (("--scope", "all"), set()), (("lib",), set()), (("tests",), {("tests/ops.py", "rows"),
     ("tests/ops.cpp", "rows")}), (("tests/ops.cpp",), {("tests/ops.cpp", "rows")})],
)  # fmt: skip
def test_tests_are_read_where_they_are_named(
    tmp_path: Path, options: tuple[str, ...], functions: set[tuple[str, str]]
) -> None:
    for path, text in {"tests/ops.py": TEST, "tests/ops.cpp": CPP_TEST, "lib/ops.py": "import torch\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.symfix]\n")
    done = subprocess.run([*SCAN, *options], cwd=tmp_path, capture_output=True, check=True)
    assert {(f["path"], f["function"]) for f in json.loads(done.stdout)["findings"]} == functions


def test_what_modules_and_operators_run_is_the_operators(tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text(LAYERS)
    plan = json.loads(subprocess.run(SCAN, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert {finding["function"] for finding in plan["findings"]} == {"common"}
    assert all(finding["operators"] == ["lib::rows"] for finding in plan["findings"])
    scope, registrations = plan["remarks"]
    assert scope == "--scope modules adds 1 finding in 1 function of modules"
    assert registrations == "Python registrations: 1 of 1 understood"
