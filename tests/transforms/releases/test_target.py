"""Which torch a library is written for."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.releases import target as module
from transforms.releases.data import releases
from transforms.releases.target import Installed, Target, target


def project(root: Path, torch: str = "", requirement: str = "") -> CheckoutProject:
    if requirement:
        (root / "requirements.txt").write_text(requirement + "\n")
    return CheckoutProject(Checkout(root, None), Cache(None), torch=torch)


@pytest.fixture(autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """A torch 2.99 beside symfix."""
    site = tmp_path_factory.mktemp("site-packages")
    metadata = site / "torch-2.99.0+cpu.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.99.0+cpu\n")
    torch = Installed(site / "torch", site / "torchgen/packaged/ATen/native/native_functions.yaml")
    monkeypatch.setattr(module, "installed_torch", lambda: torch)
    return torch


def none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed_torch", lambda: None)


def test_the_installed_torch_where_nothing_says_another(tmp_path: Path, installed: Installed) -> None:
    tree = project(tmp_path)
    assert target(tree) == Target(None, installed)
    assert tree.remarks == []


def test_the_oldest_that_the_requirements_allow_goes_before_the_installed(tmp_path: Path) -> None:
    tree = project(tmp_path, requirement="torch>=2.4")
    assert target(tree) == Target((2, 4), minimum=(2, 4))
    assert tree.remarks == [
        "Written for torch 2.4, the oldest that the requirements allow (--torch VERSION says another)"
    ]


def test_the_option_goes_before_the_requirements(tmp_path: Path) -> None:
    tree = project(tmp_path, "2.6.1", "torch>=2.4")
    assert target(tree) == Target((2, 6), minimum=(2, 6))
    assert tree.remarks == []


def test_the_newest_where_nothing_is_named_or_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none(monkeypatch)
    tree = project(tmp_path)
    assert target(tree) == Target(releases()[-1])
    (remark,) = tree.remarks
    assert "the newest that symfix knows" in remark


@pytest.mark.parametrize("option", ["2.99", "2.99.3"])
def test_an_installed_torch_serves_its_own_release(tmp_path: Path, installed: Installed, option: str) -> None:
    assert target(project(tmp_path, option)) == Target(None, installed, (2, 99))
    assert target(project(tmp_path, requirement="torch==2.99.1")) == Target(None, installed, (2, 99))


@pytest.mark.parametrize(("option", "nearest"), [("1.8", 0), ("2.98", -1), ("3.0", -1)])
def test_an_option_without_a_vocabulary_is_an_error_that_names_the_nearest(
    tmp_path: Path, option: str, nearest: int
) -> None:
    major, minor = releases()[nearest]
    with pytest.raises(SymfixError) as error:
        target(project(tmp_path, option))
    assert str(error.value) == (
        f"--torch {option}: symfix has no vocabulary of that release; the nearest is {major}.{minor}"
    )


@pytest.mark.parametrize(("requirement", "nearest"), [("torch>=1.8", 0), ("torch>=3.1", -1)])
def test_requirements_without_a_vocabulary_are_met_by_the_nearest_which_is_said(
    tmp_path: Path, requirement: str, nearest: int
) -> None:
    tree = project(tmp_path, requirement=requirement)
    chosen = target(tree)
    assert (chosen.release, chosen.installed) == (releases()[nearest], None)
    assert chosen.minimum == ((1, 8) if nearest == 0 else (3, 1))
    assert requirement.removeprefix("torch>=") in tree.remarks[0]
