"""Which operators run changed Python of a library, and what is imported for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.python.prover import PythonProver
from transforms.python.reach.packages import place_of

FILES = {
    "own/__init__.py": "",
    "own/ops.py": """\
import torch
from own.shapes import rows

@torch.library.custom_op("own::fold", mutates_args=())
def fold(x):
    return x.clone()

@fold.register_fake
def fold_fake(x):
    return x.new_empty((rows(x),))

@torch.library.triton_op("own::joined", mutates_args=())
def joined(x):
    return x.new_empty((len(x),))
""",
    "own/shapes.py": "def rows(x):\n    return int(x.shape[0])\n\ndef lonely(x):\n    return int(x.shape[0])\n",
    "own/formulas.py": """\
import torch

def backward(ctx, grad):
    return grad.reshape(len(grad), 1)

torch.library.register_autograd("own::fold", backward)
""",
}


def prover_of(root: Path, files: Mapping[str, str]) -> PythonProver:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return PythonProver(CheckoutProject(Checkout(root, None), Cache(None)))


def change(path: str, function: str) -> Finding:
    edit = Edit(path, 0, 1, b"a", b"b")
    return Finding(path, 0, 1, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, function, (), "m", edits=(edit,))


@pytest.mark.parametrize(
    ("path", "function", "operator"),
    [
        ("own/ops.py", "fold_fake", "own::fold"),
        ("own/ops.py", "joined", "own::joined"),
        ("own/shapes.py", "rows", "own::fold"),
        ("own/formulas.py", "backward", "own::fold"),
    ],
)
def test_a_registered_function_and_what_it_calls_are_run_by_its_operator(
    tmp_path: Path, path: str, function: str, operator: str
) -> None:
    (found,) = prover_of(tmp_path, FILES).overrides([change(path, function)])
    assert (found.operators, found.modules, found.packages, found.reason) == ((operator,), (path,), None, "")
    imports = ("own.formulas", "own.ops") if operator == "own::fold" else ("own.ops",)
    assert (found.imports, found.roots) == (imports, ("",))


def test_of_many_operators_those_that_are_named_are_run(tmp_path: Path) -> None:
    fakes = "".join(
        f"@torch.library.register_fake('own::op{n}')\ndef op{n}_fake(x):\n    return shape(x)\n\n" for n in range(4)
    )
    source = f"import torch\n\ndef shape(x):\n    return x.new_empty(len(x))\n\n{fakes}"
    prover = prover_of(tmp_path, {"own/ops.py": source})
    chosen = [
        [
            operator
            for override in prover.overrides([change("own/ops.py", "shape")], named)
            for operator in override.operators
        ]
        for named in ((), ("own::op0",), ("own::op0", "own::op3"))
    ]
    assert chosen == [["own::op1", "own::op2"], ["own::op0", "own::op1"], ["own::op3", "own::op0"]]


def test_what_registers_an_operator_is_imported_by_the_name_that_the_library_has_for_it(tmp_path: Path) -> None:
    files = {path.replace("own/", "own/kernels/"): text for path, text in FILES.items()}
    files = {path: text.replace("own.", "own.kernels.") for path, text in files.items()}
    (found,) = prover_of(tmp_path, files).overrides([change("own/kernels/shapes.py", "rows")])
    assert (found.operators, found.roots) == (("own::fold",), ("",))
    assert found.imports == ("own.kernels.formulas", "own.kernels.ops")


def test_a_function_that_no_operator_runs_stands_for_itself(tmp_path: Path) -> None:
    (found,) = prover_of(tmp_path, FILES).overrides([change("own/shapes.py", "lonely")])
    assert found.operators == ("own.shapes.lonely",)
    reason = "no operator is known to run lonely; a script of yours may, as own.shapes.lonely in [tool.symfix.repro]"
    assert (found.imports, found.reason) == (("own.shapes",), reason)


def test_operators_of_cpp_have_what_python_registers_for_them(tmp_path: Path) -> None:
    prover = prover_of(tmp_path, FILES)
    (found,) = prover.companions(["own::fold", "own::other"])
    assert (found.operators, found.imports, found.modules) == (("own::fold",), ("own.formulas", "own.ops"), ())


@pytest.mark.parametrize(
    "sign", ["aten/src/ATen/native/native_functions.yaml", "torch/fx/experimental/symbolic_shapes.py"]
)
def test_pytorch_itself_is_imported_as_it_is_installed(tmp_path: Path, sign: str) -> None:
    prover = prover_of(tmp_path, {**FILES, sign: ""})
    assert prover.companions(["own::fold"]) == ()
    (found,) = prover.overrides([change("own/shapes.py", "lonely")])
    assert (found.operators, found.reason) == ((), "no operator is known to run lonely")


PYTORCH = "site-packages/torch/fx/experimental/symbolic_shapes.py"


@pytest.mark.parametrize(
    ("path", "listed", "root", "module"),
    [
        ("own/deep/a.py", {"own/__init__.py"}, "", "own.deep.a"),
        ("own/__init__.py", {"own/__init__.py"}, "", "own"),
        ("src/own/a.py", {"src/own/__init__.py"}, "src", "own.a"),
        ("python/own/a.py", {"python/own/__init__.py"}, "python", "own.a"),
        ("src/own/a.py", set(), "src", "own.a"),
        ("scripts/a.py", set(), "", "scripts.a"),
        ("site-packages/torch/a.py", {"site-packages/torch/__init__.py", PYTORCH}, "site-packages", "torch.a"),
        ("python/own/torch/a.py", {"python/own/torch/__init__.py"}, "python", "own.torch.a"),
        ("own/torch/a.py", {"own/torch/__init__.py"}, "", "own.torch.a"),
        ("torch/a.py", {"torch/__init__.py"}, "", "torch.a"),
    ],
)
def test_where_a_module_is_imported_from(path: str, listed: set[str], root: str, module: str) -> None:
    assert place_of(path, listed) == (root, module)
