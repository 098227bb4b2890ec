"""`symfix prove` for libraries: what C++ and Python register together, and what Python registers. Needs torch, g++."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from corpus_compile import COMPILER
from jsonschema import validate

from codemod.cli import main

LIBRARY = Path(__file__).parent.parent.parent / "examples" / "library"
SCHEMA = Path(__file__).parent.parent.parent / "codemod" / "prove" / "prove.schema.json"
OPERATORS = {"ring::gaps", "ring::flat_gaps", "ring::wrap", "ring::spread", "ring::head_rows"}
"""Of each kind one: without a fake, composite, with sizes as integers in the schemas, of Python.

A proof of the others compiles as much again.
"""

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

SPECIALIZES = "    return x.new_empty((int(x.shape[0]), *x.shape[1:]))\n"
MODULE = "import torch\nfrom torch import Tensor\nfrom torch.library import custom_op\n\n\n"


def custom(name: str, check: str, shape: str = "x.shape[0]") -> str:
    """An operator of Python whose fake fixes a size."""
    return (
        f'@custom_op("own::{name}", mutates_args=())\ndef {name}(x: Tensor) -> Tensor:\n    {check}\n'
        f"    return x.new_zeros(({shape}, *x.shape[1:]))\n\n\n"
        f"@{name}.register_fake\ndef {name}_fake(x: Tensor) -> Tensor:\n"
        f"    return x.new_empty((int({shape}), *x.shape[1:]))\n"
    )


FILES = {
    "own/__init__.py": "",
    "own/plain.py": MODULE + custom("plain", "assert x.dim()"),
    "own/picky.py": MODULE + custom("picky", "assert x.shape[-1] == 77"),
    "own/device.py": MODULE + custom("device", 'raise RuntimeError("No CUDA GPUs are available")'),
    "own/lacking.py": "import no_such_module\n" + MODULE + custom("lacking", "assert x.dim()"),
    "own/wrong.py": MODULE + custom("wrong", "assert x.dim()", "2 * x.shape[0]").replace("(2 *", "(3 *", 1),
    "own/elsewhere.py": MODULE
    + '@torch.library.register_fake("own::nowhere")\ndef nowhere(x: Tensor) -> Tensor:\n'
    + SPECIALIZES,
    "repros/picky.py": "import torch\n\n\ndef inputs(n):\n    return (torch.ones(n, 77),)\n\n\n"
    "def operator(x):\n    return torch.ops.own.picky(x)\n",
    "pyproject.toml": '[tool.symfix.repro]\n"own::picky" = "repros/picky.py"\n',
}


Proved = Mapping[str, Mapping[str, Any]]


def prove(root: Path, git: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch, capsys: Any, *options: str) -> Proved:
    """What `prove` finds in the library at `root`, by operator."""
    git("init", "-q", ".", cwd=root)
    git("add", "-A", cwd=root)
    git("commit", "-q", "-m", "start", cwd=root)
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as ended:
        main(["prove", "--level", "review", "--format", "json", *options])
    assert ended.value.code == 0
    document = json.loads(capsys.readouterr().out)
    validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return {entry["operator"]: entry for entry in document["operators"]}


@pytest.mark.usefixtures("torch_is_read", "server_stays")
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_operators_of_the_example_are_cured(
    tmp_path: Path, git: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch, capsys: Any, library_headers: Path
) -> None:
    monkeypatch.setenv("CXX", f"{COMPILER} -include {library_headers}")
    named = [argument for name in sorted(OPERATORS) for argument in ("--op", name)]
    proved = prove(shutil.copytree(LIBRARY, tmp_path / "library"), git, monkeypatch, capsys, *named)

    assert {name: entry["outcome"] for name, entry in proved.items()} == dict.fromkeys(OPERATORS, "cured"), proved
    for entry in proved.values():
        assert entry["inputs"] == "its schema"
        assert {ends[1] for ends in entry["opcheck"].values()} == {"passes"}
    assert proved["ring::flat_gaps"]["opcheck"]["test_aot_dispatch_dynamic"][0] != "passes"


@pytest.mark.usefixtures("torch_is_read", "server_stays")
def test_operators_of_python_are_run_from_the_checkout_or_say_what_they_lack(
    tmp_path: Path, git: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for name, text in FILES.items():
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    proved = prove(tmp_path / "own", git, monkeypatch, capsys)

    assert proved["own::plain"]["outcome"] == "cured"
    assert set(proved["own::plain"]["opcheck"]) >= {"test_faketensor", "test_aot_dispatch_dynamic"}
    picky = proved["own::picky"]
    assert (picky["outcome"], picky["inputs"]) == ("cured", "the script picky.py")
    # A fake of another shape is for opcheck to see.
    assert "not equal" in proved["own::wrong"]["opcheck"]["test_faketensor"][1]
    assert "    import own.plain\n" in proved["own::plain"]["test"]
    reasons = {name: entry["reason"] for name, entry in proved.items() if entry["outcome"] == "not provable"}
    assert reasons == {
        "own::device": "its kernel needs a GPU: RuntimeError: No CUDA GPUs are available",
        "own::lacking": "own.lacking cannot be imported: it needs the module no_such_module, which is not installed "
        "beside torch",
        "own::nowhere": "own.elsewhere cannot be imported: it needs own::nowhere, which nothing that could be loaded "
        "defines; the library's build may, installed there",
    }
