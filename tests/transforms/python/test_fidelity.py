"""Bytes outside an edit, imports, and code that TorchScript or Dynamo read."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding, Level
from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.flow.values import BOOL, PLAIN, SHAPE, TENSOR, Value
from transforms.python.jobs import FileJob, Job
from transforms.python.reach.tree import SourceTree
from transforms.python.reading.extract import extract
from transforms.python.rewrite import findings
from transforms.python.writing.helpers import HELPERS, HOME, SHAPE_HELPERS, home_of
from transforms.python.writing.place import expectation
from transforms.python.writing.style import Style
from transforms.releases.data import PRINTS_CHOICES, bound_in
from transforms.releases.target import Installed, Target

CHECK = "def f(x: Tensor):\n    {}\n    if x.numel() == 0:  # empty\n        return x\n    return x + 1\n"
IMPORT = "from torch.fx.experimental.symbolic_shapes import"


def test_crlf_tabs_bom_and_no_final_newline(look: Any) -> None:
    source = b"\xef\xbb\xbfimport torch\r\ndef f(x: Tensor):\r\n\tif x.numel() == 0:\r\n\t\treturn  x\r\n\treturn x + 1"
    edits = [edit for finding in look(source.decode("utf-8-sig")) for edit in finding.edits]
    assert edits
    found = look_bytes(source)
    result = apply_edits(source, found)
    assert result.startswith(b"\xef\xbb\xbfimport torch\r\ndef f(x: Tensor):\r\n\tfrom torch.fx")
    assert b"\n" not in result.replace(b"\r\n", b"")
    assert result.endswith(b"\treturn x + 1")
    ast.parse(result)


def findings_in(source: bytes) -> list[Finding]:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    job = FileJob("torch/a.py", "torch/a.py", {"f": Job({}, {}, (), ())}, frozenset())
    return findings(job, source)


def look_bytes(source: bytes) -> list[Edit]:
    return [edit for finding in findings_in(source) for edit in finding.edits]


def test_a_file_that_does_not_parse_is_left() -> None:
    assert look_bytes(b"def f(x: Tensor):\n    if x.numel() == 0\n        return x\n") == []


def test_a_file_that_is_no_utf_8_is_left_and_named() -> None:
    (finding,) = findings_in(
        b"# coding: latin-1\nNAME = '\xff'\ndef f(x: Tensor):\n    if x.numel() == 0:\n        return x\n"
    )
    assert (finding.refusal, finding.line, finding.level) == ("encoding", 3, Level.MANUAL)
    assert finding.edits == ()


def test_comments_and_odd_spacing_stay(rewrite: Any) -> None:
    source = (
        'def f(x: Tensor):\n    """Doc."""\n    # why\n'
        "    if (x.numel()==0 and\n            x.ndim  ==  2):   # note\n        return x\n    return x.neg()\n"
    )
    assert rewrite(source) == (
        f'def f(x: Tensor):\n    """Doc."""\n    {IMPORT} guard_or_false\n\n    # why\n'
        "    if (guard_or_false(x.numel()==0) and\n            x.ndim  ==  2):   # note\n        return x\n"
        "    return x.neg()\n"
    )


def test_the_length_of_a_shape_is_no_size(look: Any) -> None:
    source = "def f(tensors: list[Tensor]):\n    shapes = [t.shape for t in tensors]\n"
    source += "    return max(len(shape) for shape in shapes)\n"
    assert look(source) == []


def test_a_check_that_needs_no_change_is_no_finding() -> None:
    """`world_size` is taken for a shape, as other `…_size` are, and is not compared as one."""
    source = "def f(world_size, place):\n    torch._check(place >= 0 and place < world_size)\n\nimport torch\n"
    job = Job({"world_size": Value(SHAPE), "place": Value(PLAIN)}, {}, (), ())
    assert findings(FileJob("a.py", "a.py", {"f": job}, frozenset(), Style(), None), source.encode()) == []


@pytest.mark.parametrize(
    "helper", sorted({*HELPERS.values(), *SHAPE_HELPERS.values()} - {HELPERS["sym_eq"], HELPERS["chunk"]})
)
def test_what_a_run_wrote_the_next_one_leaves(helper: str) -> None:
    """The helper is a function of the tree by now, and what it returns is known to be a truth about sizes."""
    name = f"torch._prims_common.{helper}"
    source = f"def f(x, y):\n    if not {name}(x.shape[:2], y.shape):\n        raise ValueError\n\nimport torch\n"
    job = Job({"x": Value(TENSOR), "y": Value(TENSOR)}, {name: Value(BOOL)}, (), ())
    assert findings(FileJob("a.py", "a.py", {"f": job}, frozenset(), Style(), None), source.encode()) == []


def test_torchscript_reads_no_lambda_and_no_import(rewrite: Any) -> None:
    source = (
        "def f(x: Tensor, y: Tensor) -> Tensor:\n"
        "    if x.size() != y.size():\n        raise ValueError(f'{x.size()}')\n    return x\n"
    )
    result = rewrite(source, inlined=True, scripted=True)
    function = next(n for n in ast.parse(result).body if isinstance(n, ast.FunctionDef) and n.name == "f")
    assert not [node for node in ast.walk(function) if isinstance(node, (ast.Lambda, ast.ImportFrom))]
    assert "if not torch._prims_common.sym_expect_shape_eq(x.size(), y.size()):" in result


def test_dynamo_traces_no_message_that_closes_over_sizes(rewrite: Any, look: Any) -> None:
    source = "def f(x: Tensor):\n    if x.size(0) != 3:\n        raise ValueError({})\n    return x\n"
    assert "raise" not in rewrite(source.format("'three'"), inlined=True)
    kept = rewrite(source.format("f'{x.shape}'"), inlined=True)
    assert kept == source.format("f'{x.shape}'")
    (finding,) = look(source.format("f'{x.shape}'"), inlined=True)
    assert finding.reason.startswith("Dynamo takes no check whose message holds values")
    eager = rewrite(source.format("f'{x.shape}'"), inlined=True, eager=True)
    assert "    if not torch._prims_common.sym_expect_true(x.size(0) == 3):\n        raise ValueError(" in eager


@pytest.mark.parametrize(
    ("branch", "holds"),
    [
        (
            "if x.size(0) == 1:\n        x = -x\n    elif x.size(0) != 3:\n        raise ValueError(f'{x.shape}')\n",
            True,
        ),
        ("if x.size(0) == 1:\n        x = -x\n    elif x.size(0) != 3:\n        raise ValueError('three')\n", False),
        ("if x.size(0) == 3:\n        x = -x\n    else:\n        raise ValueError('%s' % x.shape)\n", True),
        ("if x.size(0) == 3:\n        x = -x\n    else:\n        raise ValueError('three')\n", False),
        ("if x.size(0) % 3:\n        n = x.size(0) + 3\n        raise RuntimeError(f'{n}')\n", True),
        ("if x.size(0) % 3:\n        text = 'three'\n        raise RuntimeError(text)\n", False),
        ("if x.size(0) % 3:\n        raise RuntimeError\n", False),
    ],
)
def test_no_check_is_said_to_serve_where_its_message_would_hold_values(look: Any, branch: str, holds: bool) -> None:
    source = f"def f(x: Tensor):\n    {branch}    return x\n"
    reasons = [f.reason for f in look(source, inlined=True, eager=True, home=None) if f.rule == "raise-check"]
    assert [reason.startswith("Dynamo takes no check whose message holds values") for reason in reasons] == [holds]
    assert ["call torch._check" in reason for reason in reasons] == [not holds]


@pytest.mark.parametrize(
    ("job", "instead"),
    [
        ({}, "write the message without them"),
        ({"eager": True}, "call one without them where torch.compiler.is_compiling(), and leave the branch to eager"),
    ],
)
def test_what_to_do_about_a_message_is_what_helps(look: Any, job: dict[str, bool], instead: str) -> None:
    source = "def f(x: Tensor):\n    if x.size(0) != 3:\n        raise ValueError(f'{x.shape}')\n    return x\n"
    (finding,) = look(source, inlined=True, home=None, **job)
    assert finding.reason == f"Dynamo takes no check whose message holds values: {instead}"


def test_sizes_inside_messages_are_left(look: Any) -> None:
    assert look("def f(x: Tensor, m: int):\n    raise ValueError(f'{min(x.size(0), 3)}')\n") == []


def test_rules_compose_on_one_expression(rewrite: Any) -> None:
    source = (
        "def f(x: Tensor):\n    m, n = x.shape\n"
        "    if min(m, n) == 0 or int(2 * m) == 0:\n        return x\n    return x + 1\n"
    )
    assert (
        "    if guard_or_false(torch.sym_min(m, n) == 0) or guard_or_false(\n"
        "        torch.sym_int(2 * m) == 0\n    ):\n"
    ) in rewrite(source)


def test_an_edit_may_be_suppressed_by_what_the_version_lacks() -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    job = Job({}, {}, (), ())
    source = b"import torch\n" + CHECK.format("n = 1").encode()
    old = FileJob("torch/a.py", "torch/a.py", {"f": job}, frozenset({"guard_size_oblivious"}))
    (finding,) = findings(old, source)
    assert (finding.level, finding.refusal, finding.edits) == (Level.MANUAL, "vocabulary", ())


@pytest.mark.parametrize(
    ("top", "rules"),
    [
        ("def sym_min(a, b):\n    pass\n", {"sym-extremum"}),
        ("from torch._checks import _check\n\n\ndef sym_min(a, b):\n    pass\n", {"sym-extremum", "raise-check"}),
        ("for __name in ('sqrt',):\n    globals()[f'_sym_{__name}'] = __name\n", set()),
        ("sym_sqrt = globals()['_sym_sqrt']\n", {"sym-cast"}),
    ],
)
def test_only_functions_that_the_tree_has_are_written(top: str, rules: set[str]) -> None:
    """torch 2.0 has `sym_min`, but neither `_check` nor `sym_sqrt`."""
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings
    from transforms.python.transform import TOP, vocabulary

    files = {
        "torch/__init__.py": top.encode(),
        "torch/fx/experimental/symbolic_shapes.py": b"def guard_or_false(a):\n    pass\n",
    }
    tree = SourceTree({path: extract(path, source) for path, source in files.items()})
    words = vocabulary(tree, None, bound_in(TOP, files[TOP]))
    statements = (
        "    if x.size(0) != x.size(1):\n        raise RuntimeError('square')\n    return x / n\n",
        "    return x / min(x.size(0), n)\n",
        "    return x / math.sqrt(x.size(0))\n",
    )
    written = set()
    for body in statements:
        source = f"import math\nimport torch\n\n\ndef f(x: torch.Tensor, n: int):\n{body}".encode()
        for finding in findings(FileJob("torch/a.py", "torch/a.py", {"f": Job({}, {}, (), ())}, words), source):
            assert bool(finding.edits) != (finding.refusal == "vocabulary")
            written |= {finding.rule} if finding.edits else set()
    assert written == rules


@pytest.mark.parametrize(("root", "package"), [("checkout", "torch/"), ("torch", "")])
@pytest.mark.parametrize("function", ["sym_min", "sym_max"])
def test_the_tree_itself_says_what_it_has(tmp_path: Path, root: str, package: str, function: str) -> None:
    from transforms.python.transform import PythonTransform

    fake = "@torch.library.register_fake('a::f')\ndef f(x: torch.Tensor, n: int):\n    return x / min(x.size(0), n)\n"
    files = {
        "__init__.py": f"def {function}(a, b):\n    pass\n",
        "fx/experimental/symbolic_shapes.py": "def guard_or_false(a):\n    pass\n",
        "a.py": f"import torch\n\n\n{fake}",
    }
    torch = {package + path: text for path, text in files.items()}
    (finding,) = PythonTransform().analyse(MemoryProject(tmp_path / root, torch, tmp_path / "none.yaml"))
    assert (bool(finding.edits), finding.refusal) == (
        function == "sym_min",
        "" if function == "sym_min" else "vocabulary",
    )


def test_a_choice_is_written_where_guards_can_hold_it() -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    body = "    n = x.size(0)\n    if n >= x.size(1):\n        n -= 1\n    return n\n"
    source = f"import torch\n\ndef f(x: Tensor):\n{body}".encode()
    words = frozenset({"guard_or_false"})
    for vocabulary, rule in ((words, ""), (words | {PRINTS_CHOICES}, "conditional-update")):
        (finding,) = findings(FileJob("a.py", "a.py", {"f": Job({}, {}, (), ())}, vocabulary), source)
        assert (finding.rule if finding.edits else "") == rule
        assert bool(finding.edits) != (finding.refusal == "vocabulary")


@pytest.mark.parametrize("deprecated", [True, False])
def test_what_a_size_is_taken_for_is_said_as_long_as_the_torch_at_hand_asks_for_it(deprecated: bool) -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings
    from transforms.python.transform import TOP, vocabulary

    # torch/__init__.py of 2.13, where it is decorated, and of 2.6, where it is not
    decorator = b"@_deprecated(\n    'use _check',\n    category=FutureWarning,\n)\n" if deprecated else b""
    top = decorator + b"def _check_is_size(i, message=None):\n    pass\n\n\ndef _check(cond, message=None):\n    pass\n"
    shapes = b"def guard_or_false(a):\n    pass\n"
    files = {"torch/__init__.py": top, "torch/fx/experimental/symbolic_shapes.py": shapes}
    tree = SourceTree({path: extract(path, source) for path, source in files.items()})
    words = vocabulary(tree, None, bound_in(TOP, files[TOP]))
    source = b"import torch\n\n\ndef f(x: torch.Tensor):\n    torch._check_is_size(x.size(0))\n"
    found = findings(FileJob("torch/a.py", "torch/a.py", {"f": Job({}, {}, (), ())}, words), source)
    assert [bool(finding.edits) for finding in found] == [True] * deprecated


@pytest.mark.parametrize("name", ["guard_size_oblivious", "definitely_true"])
@pytest.mark.parametrize(("words", "deprecated"), [({"sym_eq"}, False), ({"guard_or_false", "guard_or_true"}, True)])
def test_a_guard_is_not_deprecated_in_a_torch_without_its_successor(
    name: str, words: set[str], deprecated: bool
) -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    source = f"import torch\n\n\ndef f(x: torch.Tensor):\n    return {name}(x.size(0) == 0)\n".encode()
    job = FileJob("torch/a.py", "torch/a.py", {"f": Job({}, {}, (), ())}, frozenset(words))
    assert [finding.rule for finding in findings(job, source)] == ["size-oblivious"] * deprecated


def test_no_helper_is_written_around_a_name_the_version_lacks() -> None:
    from transforms.python.jobs import FileJob, Job
    from transforms.python.rewrite import findings

    source = (
        b"import torch\nfrom torch import Tensor\n\n\n"
        b"def f(x: Tensor):\n    if x.numel() == 0:\n        return x\n    return x + 1\n"
    )
    job = Job({}, {}, (), (), scripted=True)
    words = frozenset({"sym_eq"})
    home = home_of(HOME, b"import torch\n")
    path = "torch/_decomp/example.py"
    refused = findings(FileJob(path, path, {"f": job}, words, home=home), source)
    assert [(f.level, f.refusal, f.edits) for f in refused] == [(Level.MANUAL, "vocabulary", ())]


def test_what_a_check_that_was_rewritten_settles_stays_settled(rewrite: Any) -> None:
    check = "    torch._check(x.shape == y.shape, lambda: 'shapes')\n"
    once = rewrite(f"def f(x: Tensor, y: Tensor):\n{check}{check}    return x\n")
    assert "sym_eq(x.shape, y.shape)" in once
    assert rewrite(once) == once


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("sym_or(n != 0, m != 0)", "n != 0 or m != 0"),
        ("sym_eq(x.shape, y.shape)", "x.shape == y.shape"),
        ("x.size(0) == y.size(0)", "x.size(0) == y.size(0)"),
    ],
)
def test_a_message_says_the_condition_and_not_how_it_is_asked(condition: str, message: str) -> None:
    assert expectation(condition) == f'"expected {message}"'


@pytest.mark.parametrize(
    "shapes", ["[x.shape, y.shape]", "[t.shape for t in (x, y)]", "(x.shape, y.shape)", "[[*x.shape], [*y.shape]]"]
)
def test_shapes_in_a_list_are_compared_as_shapes(rewrite: Any, shapes: str) -> None:
    source = f"def f(x: Tensor, y: Tensor):\n    shapes = {shapes}\n    if shapes[0] != shapes[1]:\n"
    assert "torch._check(sym_eq(shapes[0], shapes[1]), lambda: 'no')" in rewrite(
        f"{source}        raise RuntimeError('no')\n    return x\n"
    )


@pytest.mark.parametrize("part", ["x[: y.size(0)]", "x.narrow(0, 0, y.size(0))"])
@pytest.mark.parametrize("result", ["torch.stack([x, x])", "unknown(x)"])
def test_what_is_cut_out_is_not_the_same_where_the_bound_is_a_special_size(
    rewrite: Any, part: str, result: str
) -> None:
    source = f"def f(x: Tensor, y: Tensor):\n    if y.size(0) != 1:\n        x = {part}\n    return {result}\n"
    assert rewrite(source) == source


def test_an_installed_torch_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transforms.python.transform import TOP, vocabulary

    read: list[str] = []

    def counted(path: str, source: bytes) -> frozenset[str]:
        read.append(path)
        return bound_in(path, source)

    monkeypatch.setattr(sys.modules[vocabulary.__module__], "bound_in", counted)
    installed = Target(None, Installed(tmp_path / "torch", tmp_path / "none.yaml"))
    (tmp_path / "torch").mkdir()
    top = tmp_path / "torch/__init__.py"
    for name in ("one", "one", "other"):
        top.write_text(f"def {name}(): pass  # {tmp_path}\n")
        assert f"torch.{name}" in vocabulary(SourceTree({}), installed)
    assert read.count(TOP) == 2
