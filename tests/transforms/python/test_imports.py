"""What rewrites import, and where."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from tests.transforms.python.test_fidelity import CHECK, IMPORT


@pytest.mark.parametrize(
    ("head", "imported", "called"),
    [
        (f"{IMPORT} guard_or_false\n", 1, "guard_or_false("),
        (f"{IMPORT} guard_or_false as known\n", 1, " known("),
        ("import torch.fx.experimental.symbolic_shapes as shapes\n", 0, "shapes.guard_or_false("),
        ("from torch.fx.experimental import symbolic_shapes\n", 0, "symbolic_shapes.guard_or_false("),
    ],
)
def test_what_the_file_imports_is_used(rewrite: Any, head: Any, imported: Any, called: Any) -> None:
    result = rewrite(head + CHECK.format("n = 1"))
    assert result.count(IMPORT) == imported
    assert called in result


@pytest.mark.parametrize(
    ("imports", "written"),
    [
        ("import torch\n", "torch._check("),
        ("import torch as th\n", "th._check("),
        ("import torch.nn\n", "torch._check("),
        ("from torch import Tensor\n", "if not expect_true("),
        ("from torch import Tensor\nimport torch.nn as nn\n", "if not expect_true("),
    ],
)
def test_torch_is_called_what_the_file_calls_it(look: Any, rewrite: Any, imports: str, written: str) -> None:
    source = imports + "def f(x: Tensor):\n    if x.size(0) != 3:\n        raise RuntimeError('three')\n    return x\n"
    assert written in rewrite(source)
    (finding,) = look(imports + "def f(x: Tensor):\n    return min(x.size(0), 3)\n")
    assert bool(finding.edits) == ("_check" in written)


def test_user_code_imports_where_it_asks_and_not_when_it_is_imported(rewrite: Any) -> None:
    result = rewrite("import torch\n\n\n" + CHECK.format("n = 1"), path="models/net.py")
    assert result.startswith(f"import torch\n\n\ndef f(x: Tensor):\n    {IMPORT} guard_or_false\n\n")


def test_an_import_of_the_function_is_extended_or_moved(rewrite: Any) -> None:
    assert f"{IMPORT} guard_or_false, sym_and\n" in rewrite(CHECK.format(f"{IMPORT} sym_and"))
    late = CHECK.format("n = 1").replace("    return x + 1", f"    {IMPORT} guard_or_false\n    return x + 1")
    result = rewrite(late)
    assert result.count(IMPORT) == 1
    assert result.index(IMPORT) < result.index("guard_or_false(x")


def test_an_outer_function_that_imports_serves_the_inner_one(rewrite: Any) -> None:
    inner = CHECK.format("n = 1").replace("def f", "def g").replace("\n", "\n    ").rstrip()
    source = f"def f(y: Tensor):\n    {IMPORT} guard_or_false\n\n    {inner}\n    return g(y)\n"
    assert rewrite(source).count(IMPORT) == 1


def test_a_function_has_one_import_whatever_of_it_is_applied(rewrite: Any, look: Any) -> None:
    source = (
        "def f(x: Tensor, y: Tensor):\n"
        "    torch._check(x.shape == y.shape)\n    torch._check_is_size(x.numel())\n"
        "    if {}:\n        return x\n    return y\n"
    )
    apart = source.format("x.numel() == 0")
    assert IMPORT not in rewrite(apart, level=Level.SAFE)
    assert f"{IMPORT} guard_or_false, sym_eq\n" in rewrite(apart)
    assert rewrite(apart).count(IMPORT) == 1
    raised = next(finding for finding in look(apart) if finding.rule == "check-condition")
    assert (raised.level, raised.reason) == (Level.REVIEW, "shares an import with a change for review")
    # Where the safe changes import all that the others need, they stay what they are.
    alike = source.format("guard_or_true(x.shape == y.shape)")
    assert f"{IMPORT} sym_eq\n" in rewrite(alike, level=Level.SAFE)


def test_imports_stay_local_where_the_root_is_torch_itself() -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    source = b"import torch\n\n\ndef f(x: Tensor):\n    if x.numel() == 0:\n        return x\n    return x + 1\n"
    job = Job({}, {}, (), ())
    (found,) = findings(FileJob("_refs/a.py", "torch/_refs/a.py", {"f": job}, frozenset()), source)
    assert found.path == found.edits[0].path == "_refs/a.py"
    assert b"def f(x: Tensor):\n    from torch.fx" in apply_edits(source, found.edits)
