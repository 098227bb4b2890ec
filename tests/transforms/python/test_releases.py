"""Names that the declared minimum of torch lacks are not written."""

from __future__ import annotations

import ast
from pathlib import Path
from unittest.mock import Mock

import pytest

from codemod.model.findings import Finding, Level
from codemod.planning.analysis import analyse
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from transforms.python.jobs import FileJob, Job
from transforms.python.reading import dated
from transforms.python.reading.dated import minimum_at
from transforms.python.rewrite import findings
from transforms.python.transform import PythonTransform
from transforms.python.writing.helpers import HOME, home_of
from transforms.python.writing.releases import functions_named, newer
from transforms.releases.version import Release

CHECK = (
    "import torch\n\n\ndef f(x: Tensor):\n"
    "    torch._check(x.shape == x.shape)\n    k = min(x.size(0), 3)\n{}    return k\n"
)
BRANCH = "    if x.numel() == 0:\n        return x\n"


def found(source: str, minimum: Release | None, scripted: bool = False) -> dict[str, Finding]:
    job = Job({}, {}, (), (), scripted=scripted)
    path = "models/net.py"
    home = home_of(HOME, b"import torch\n")
    file = FileJob(path, path, {"f": job}, frozenset(), home=home, minimum=minimum)
    return {finding.rule: finding for finding in findings(file, source.encode())}


def test_what_is_newer_than_the_minimum_is_a_refusal_that_names_both() -> None:
    rules = found(CHECK.format(BRANCH), (2, 4))
    branch = rules["special-size-branch"]
    assert (branch.level, branch.refusal, branch.edits) == (Level.MANUAL, "min-torch", ())
    assert "guard_or_false is of torch 2.8" in branch.reason
    assert "torch 2.4" in branch.reason
    assert rules["check-condition"].refusal == "half"
    assert all(finding.edits for finding in found(CHECK.format(""), (2, 4)).values())


@pytest.mark.parametrize("minimum", [None, (2, 8), (2, 13)])
def test_what_the_minimum_has_is_written(minimum: Release | None) -> None:
    assert all(finding.edits for finding in found(CHECK.format(BRANCH), minimum).values())


def test_functions_of_torch_itself_have_a_release_too() -> None:
    assert {finding.refusal for finding in found(CHECK.format(""), (1, 13)).values()} == {"min-torch"}


def test_what_the_author_calls_already_is_there() -> None:
    source = "import torch\n\n\ndef f(x: Tensor):\n    return torch.sym_max(int(x.size(0) / 2), 1)\n"
    assert all(finding.edits for finding in found(source, (2, 1)).values())


def test_helpers_of_the_tree_need_what_they_wrap() -> None:
    source = "import torch\n\n\ndef f(x: Tensor):\n    if x.numel() == 0:\n        return x\n    return -x\n"
    assert {finding.refusal for finding in found(source, (2, 4), scripted=True).values()} == {"min-torch"}


def test_a_name_in_a_string_is_no_call() -> None:
    assert functions_named('f(torch.sym_max(a), lambda: "sym_or(a) \\" _check(b)", \'guard_or_true(c)\')') == {
        "sym_max"
    }


def test_newer_is_newer() -> None:
    assert newer({"sym_and", "sym_max", "unknown"}, (2, 6)) == [("sym_and", (2, 8))]
    assert newer({"sym_and"}, (2, 10)) == []
    assert newer({"sym_and"}, None) == []


LIBRARY = "import torch\n\n\n@torch.compile\ndef f(x):\n    if x.numel() == 0:\n        return x\n    return -x\n"


def refusals(root: Path, cache: Path, torch: str = "") -> set[str]:
    project = CheckoutProject(find_checkout(root), Cache.of(root, cache), torch=torch)
    return {finding.refusal for finding in analyse(project, lambda: [PythonTransform()]).findings}


def test_the_option_goes_before_the_requirements_which_count_by_default(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "net.py").write_text(LIBRARY)
    assert refusals(root, tmp_path) == {""}
    assert refusals(root, tmp_path, "2.4") == {"min-torch"}
    requirements = root / "requirements.txt"
    requirements.write_text("torch>=2.4\n")
    assert refusals(root, tmp_path) == {"min-torch"}
    assert refusals(root, tmp_path, "2.8") == {""}
    requirements.write_text("torch>=2.9\n")
    assert refusals(root, tmp_path) == {""}


def test_torch_itself_has_the_names_that_it_has(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    shapes = root / "torch/fx/experimental/symbolic_shapes.py"
    shapes.parent.mkdir(parents=True)
    shapes.write_text("def guard_or_false(a): ...\ndef guard_or_true(a): ...\n")
    (root / "torch/net.py").write_text(LIBRARY)
    (root / "requirements.txt").write_text("torch>=2.4\n")
    assert refusals(root, tmp_path, "2.4") == {""}


@pytest.mark.parametrize(
    ("test", "minimum", "body", "other"),
    [
        ("torch.__version__ < '1.13'", None, (1, 12), None),
        ("version.parse('1.13.0') > version.parse(torch.__version__)", (2, 2), (1, 12), (2, 2)),
        ("TORCH_VERSION >= (2, 4)", (2, 2), (2, 4), (2, 2)),
        ("Version(torch.__version__) >= Version('2.4.0.dev')", None, None, (2, 3)),
        ("not torch_version_at_least('2.4')", (2, 2), (2, 2), (2, 4)),
        ("is_torch_greater_or_equal('2.4')", (2, 6), (2, 6), (2, 3)),
        ("torch.__version__ <= '1.2'", None, (1, 2), None),
        ("torchvision.__version__ < '1.13'", (2, 2), (2, 2), (2, 2)),
        ("torch.__version__.startswith('2')", (2, 2), (2, 2), (2, 2)),
        ("hasattr(torch, 'sym_max')", (1, 12), (2, 0), (1, 12)),
        ("not hasattr(torch, 'sym_max')", None, (1, 13), None),
        ("hasattr(torch.fx.experimental.symbolic_shapes, 'guard_or_false')", (2, 2), (2, 8), (2, 2)),
        ("hasattr(torch, 'no_such_name')", (2, 2), (2, 2), (2, 2)),
        ("hasattr(np, 'sym_max')", (2, 2), (2, 2), (2, 2)),
        ("torch.__version__ < newest", (2, 2), (2, 2), (2, 2)),
    ],
)
def test_a_test_of_torchs_version_says_which_releases_run_what_it_holds(
    test: str, minimum: Release | None, body: Release | None, other: Release | None
) -> None:
    source = f"import torch\nif {test}:\n    a = 1\nelse:\n    b = 1\nc = torch.__version__\n".encode()
    assert [minimum_at(source, line, minimum) for line in (3, 5, 6)] == [body, other, minimum]
    leaving = f"def f():\n    try:\n        if {test}:\n            return 1\n        return 2\n    finally: pass\n"
    assert [minimum_at(leaving.encode(), line, minimum) for line in (4, 5, 6)] == [body, other, minimum]


def test_a_file_is_read_once_for_what_it_says_of_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, parse = Mock(wraps=dated._MENTIONED), Mock(side_effect=ast.parse)
    monkeypatch.setattr(dated, "_MENTIONED", pattern)
    monkeypatch.setattr(dated, "parse", parse)
    source = b"if torch.__version__ < '1.13':\n    a = 1\n# once\n"
    assert {minimum_at(source, 2, None) for _ in range(9)} == {(1, 12)}
    assert (pattern.search.call_count, parse.call_count) == (1, 1)


def test_nothing_young_is_written_where_old_torch_alone_comes() -> None:
    old = (
        "if torch.__version__ < '1.12':\n    def f(x: Tensor):\n        assert x.shape[0] == x.shape[1], 'no square'\n"
    )
    assert found("import torch\n" + old, None)["assert-check"].refusal == "min-torch"
    assert found("import torch\n" + old.replace("<", ">="), None)["assert-check"].edits


def test_what_a_branch_asks_for_is_not_written_where_torch_lacks_it() -> None:
    asking = (
        "import torch\n\n\ndef f(x: Tensor):\n    if hasattr(torch, 'sym_min'):\n"
        "        return torch.sym_min(x.size(0), 3)\n    return min(x.size(0), 3)\n"
    )
    finding = found(asking, None)["sym-extremum"]
    assert (finding.refusal, finding.edits) == ("min-torch", ())
    assert "sym_min is of torch 2.0, and torch 1.13 runs this too" in finding.reason
    assert found(asking.replace("'sym_min'", "'no_such'"), None)["sym-extremum"].edits


@pytest.mark.parametrize(
    ("required", "line", "name"),
    [
        ("2.1", 3, "is_compiling is of torch 2.3, and torch 2.1 runs this too"),
        ("2.4", 5, "mark_unbacked is of torch 2.5, and torch 2.4 runs this too"),
        ("2.5", 3, ""),
        ("2.4", 3, ""),
        ("2.1", 7, ""),
    ],
)
def test_what_a_fix_writes_at_a_line_is_asked_about(tmp_path: Path, required: str, line: int, name: str) -> None:
    text = {
        3: "if torch.compiler.is_compiling():",
        5: "torch._dynamo.decorators.mark_unbacked(x, 0)",
        7: "torch.cat(xs)",
    }
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "p"\ndependencies = ["torch>={required}"]\n')
    (tmp_path / "case.py").write_text("import torch\n" * 8)
    project = CheckoutProject(find_checkout(tmp_path), Cache(None), ("case.py",), None)
    reason = PythonTransform().lacking(project, "case.py", line, text[line])
    assert (reason.startswith(name), bool(reason)) == (True, bool(name))
