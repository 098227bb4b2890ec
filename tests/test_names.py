"""Every name of an operator or a shard that any output shows is accepted by `--op`, and means the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.bundle.shards import make_shards
from codemod.model.findings import Level
from codemod.model.plan import Plan
from codemod.planning.naming import base_name
from codemod.planning.operators import Operators
from codemod.planning.selection import Selection
from tests.names_shown import names_shown, run

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, dict[str, set[str]]]:
    import subprocess

    root = shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("names") / "examples")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True)
    return Plan.from_json(run(root, "scan", "--format", "json")), names_shown(root, root.parent / "page.html")


def chosen(plan: Plan, name: str) -> list[str]:
    groups = Selection(ops=Operators(plan.findings).resolve(name, "--op ")).groups(plan.findings)
    return [f"{group.findings[0].path}:{group.findings[0].start} {group.findings[0].rule}" for group in groups]


@pytest.mark.parametrize("output", ["scan", "csv", "page", "bundle", "pr"])
def test_every_name_that_is_shown_is_accepted(shown: tuple[Plan, dict[str, set[str]]], output: str) -> None:
    plan, names = shown
    assert names[output]
    assert [name for name in sorted(names[output]) if not chosen(plan, name)] == []


def test_names_of_one_operator_mean_the_same(shown: tuple[Plan, dict[str, set[str]]]) -> None:
    plan, names = shown
    for name in names["csv"]:
        spellings = [base_name(name), f"torch.ops.{name.replace('::', '.')}"]
        spellings += [f"torch.{base_name(name)}", f"F.{base_name(name)}"] if name.startswith("aten::") else []
        for spelling in spellings:
            assert chosen(plan, spelling) == chosen(plan, name), spelling


def test_the_name_of_a_shard_means_all_that_is_in_it(shown: tuple[Plan, dict[str, set[str]]]) -> None:
    plan, _ = shown
    everything = Selection(level=Level.MANUAL).groups(plan.findings)
    for shard in make_shards(everything):
        groups = Selection(ops=Operators(plan.findings).resolve(shard.name, "--op ")).groups(plan.findings)
        assert set(shard.groups) <= set(groups), shard.name


def test_all_commands_take_a_name_that_another_shows(tmp_path: Path, git: Callable[..., bytes]) -> None:
    root = shutil.copytree(EXAMPLES, tmp_path / "examples")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        git(*arguments, cwd=root)
    review = ("--level", "review")
    shown = run(root, "bundle", "--dry-run", *review).splitlines()
    name = next(line for line in shown if "helper-" in line).lstrip("│├└─ ").split()[0]
    changed = run(root, "diff", "--op", name, *review)
    assert changed
    assert name in run(root, "bundle", "--dry-run", "--op", name, *review)
    run(root, "review", "--accept", f"op:{name}")
    assert run(root, "diff", "--op", name, "--accepted") == changed
