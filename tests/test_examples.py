"""What symfix says of examples/: each function is converted, offered for review, or left with its reason."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemod.model.transform import load_transforms

EXAMPLES = Path(__file__).parent.parent / "examples"
NATIVE_FUNCTIONS = "aten/src/ATen/native/native_functions.yaml"

CONVERTED = [
    "pairwise_blend", "tile_mean", "count_scale", "rank_flatten", "grow_frame", "restride", "restride_like",
    "flat_product", "padded_width", "stack_extents", "masked_pool", "checked_pair", "tile_mean_backward",
    "centered_pair", "pick_rows_meta", "backward", "as_column", "neighbor_degree", "turn_meta",
    "flat_gaps", "relabel",
]  # fmt: skip
REVIEWED = [
    "chained_blend", "row_spread", "fold_steps", "repeat_row", "nearest_row_cpu", "gaps_cpu",
    "trailing_window_backward", "row_sums", "framed_mean", "measured_frame", "whole_rows", "whole_blocks",
    "wrap", "wrap_meta", "wrap_autograd", "spread", "spread_meta", "spread_autograd", "forward", "fold____kind___",
]  # fmt: skip
LEFT = {
    "row_parity": "loop-bound",
    "column_walk": "loop-bound",
    "neighbor_chain": "loop-bound",
    "extent_lookup": "subscript",
    "raw_total": "data-ptr",
    "typed_total": "at-dispatch",
    "threaded_total": "parallel-for",
    "even_steps": "callee-takes-int",
    "shared_divisor": "callee-unknown",
    "narrow_count": "cast",
    "even_extent": "bit-operation",
    "switched_extent": "switch",
    "last_axis": "callee-takes-int",
    "named_extent": "callee-takes-int",
    "halved_extent": "callee-takes-int",
    "frame_of": "return-type",
    "byte_budget": "container-size",
    "traced_extent": "address",
    "extent_record": "stored",
}
UNREACHED = ["padded_extent", "blend_rows_cpu", "fold_rows", "pick_rows_cpu", "load_table", "best_rows",
              "turn_cpu", "blend_cpu", "head_rows", "wrap_cpu", "spread_cpu", "for_each_pair"]  # fmt: skip

Findings = list[dict[str, Any]]


def symfix(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [str(Path(sys.executable).with_name("symfix")), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """The findings of a scan of a copy of the tree."""
    root = shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("scan") / "examples")
    done = symfix("scan", "--format", "json", "--no-cache", cwd=root)
    assert done.returncode == 1, done.stderr
    found: Findings = json.loads(done.stdout)["findings"]
    return found


def of(findings: Findings, function: str) -> Findings:
    """The findings inside the function of that name, whatever its namespace or class."""
    return [finding for finding in findings if finding["function"].rpartition("::")[2] == function]


@pytest.mark.parametrize("function", UNREACHED)
def test_unreached_functions_have_no_findings(findings: Findings, function: str) -> None:
    assert of(findings, function) == []


@pytest.mark.parametrize(("function", "refusal"), LEFT.items())
def test_left_functions_name_what_stops_them(findings: Findings, function: str, refusal: str) -> None:
    # The Python meta of an operator may bear its kernel's name.
    found = [finding for finding in of(findings, function) if not finding["path"].endswith(".py")]
    assert refusal in {finding["refusal"] for finding in found}
    assert not any(finding["edits"] for finding in found)
    assert all(finding["reason"] for finding in found if finding["refusal"])


@pytest.mark.parametrize("function", CONVERTED)
def test_converted_functions_are_safe_as_a_whole(findings: Findings, function: str) -> None:
    found = [finding for finding in of(findings, function) if finding["level"] == "safe"]
    assert any(finding["edits"] for finding in found)
    assert not any(finding["refusal"] for finding in of(findings, function))


@pytest.mark.parametrize("function", REVIEWED)
def test_changed_signatures_are_for_review(findings: Findings, function: str) -> None:
    assert any(finding["edits"] and finding["level"] == "review" for finding in of(findings, function))


def test_every_rule_is_shown(findings: Findings) -> None:
    rules = {rule.name for transform in load_transforms() for rule in transform.rules()}
    assert rules - {finding["rule"] for finding in findings} == set()


def test_every_reached_finding_says_how_symbols_arrive(findings: Findings) -> None:
    edited = [finding for finding in findings if finding["edits"] and finding["path"].endswith(".cpp")]
    assert edited
    assert [finding["line"] for finding in edited if not finding["reach"] or not finding["operators"]] == []


def test_suppressions(findings: Findings) -> None:
    assert {finding["refusal"] for finding in of(findings, "noted_extent")} == {"suppressed"}
    (unused,) = [finding for finding in findings if finding["rule"] == "unused-suppression"]
    assert unused["path"].endswith("Refusals.cpp")


def test_a_schema_of_the_vocabulary_is_taken_over_with_kernel_declaration_and_derivative(tmp_path: Path) -> None:
    root = shutil.copytree(EXAMPLES, tmp_path / "examples")
    yaml = (root / NATIVE_FUNCTIONS).read_text(encoding="utf-8")
    newer = tmp_path / "newer.yaml"
    newer.write_text(yaml.replace("(Tensor self, int length)", "(Tensor self, SymInt length)"), encoding="utf-8")
    chosen = ("--level", "review", "--op", "trailing_window", "--vocabulary", str(newer))

    assert symfix("apply", "--no-check", "--allow-no-vcs", *chosen, cwd=root).returncode == 1

    native = "aten/src/ATen/native"
    for path, text in {
        NATIVE_FUNCTIONS: "CompositeImplicitAutograd: trailing_window_symint\n",
        f"{native}/BlendUtils.h": "Tensor trailing_window_symint(const Tensor& self, c10::SymInt length);\n",
        f"{native}/Blend.cpp": "Tensor trailing_window_symint(const Tensor& self, c10::SymInt length) {\n",
        "tools/autograd/derivatives.yaml": "- name: trailing_window(Tensor self, SymInt length) -> Tensor\n",
    }.items():
        assert text in (root / path).read_text(encoding="utf-8")
    assert symfix("apply", "--no-check", "--allow-no-vcs", *chosen, cwd=root).returncode == 0


@pytest.mark.parametrize("level", ["safe", "review"])
def test_apply_is_the_diff_and_a_second_apply_changes_nothing(
    tmp_path: Path, git: Callable[..., bytes], level: str
) -> None:
    root = shutil.copytree(EXAMPLES, tmp_path / "examples")
    git("init", "-q", ".", cwd=root)
    git("add", "-A", cwd=root)
    git("commit", "-q", "-m", "start", cwd=root)
    diff = symfix("diff", "--level", level, cwd=root)
    assert diff.returncode == 1, diff.stderr
    git("apply", "-", cwd=root, stdin=diff.stdout.encode())
    expected = git("diff", cwd=root)
    git("checkout", "-q", ".", cwd=root)

    assert symfix("apply", "--no-check", "--level", level, cwd=root).returncode == 1
    assert git("diff", cwd=root) == expected

    git("commit", "-q", "-a", "-m", "applied", cwd=root)
    again = symfix("apply", "--no-check", "--level", level, cwd=root)
    assert again.returncode == 0, again.stdout
    assert git("status", "--porcelain", cwd=root) == b""
