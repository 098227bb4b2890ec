"""The oldest torch that a tree says it runs with."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from transforms.releases.requirement import torch_requirement

PROJECT = "[project]\nname = 'x'\ndependencies = ['numpy', {!r}]\n"


def required(root: Path, **files: str) -> str:
    for name, text in files.items():
        (root / name.replace("__", "-").replace("_", ".", 1)).write_text(text)
    return torch_requirement(CheckoutProject(find_checkout(root), Cache(None)))


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("torch>=2.4", "2.4"),
        ("torch == 2.4.0", "2.4"),
        ("torch[opt] (>=2.1,<3)", "2.1"),
        ("torch<3, >=2.1 ; python_version > '3.9'", "2.1"),
        ("torch~=2.5.1", "2.5"),
        ("torch>=2", "2"),
        ("torch", ""),
        ("torch<2.4", ""),
        ("torch!=2.4", ""),
        ("torchvision>=0.19", ""),
        ("torch-scatter>=2.1", ""),
        ("torch @ https://example.org/torch-2.4", ""),
    ],
)
def test_a_lower_bound_counts(tmp_path: Path, requirement: str, version: str) -> None:
    assert required(tmp_path, pyproject_toml=PROJECT.format(requirement)) == version


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject_toml": "[project.optional-dependencies]\na = ['torch>=2.6']\nb = ['torch>=2.5']"}, "2.5"),
        ({"pyproject_toml": "[tool.poetry.dependencies]\ntorch = '^2.3'"}, "2.3"),
        ({"pyproject_toml": "[build-system]\nrequires = ['torch==2.9']"}, ""),
        ({"setup_cfg": "[options]\ninstall_requires =\n    numpy\n    torch>=2.2\n"}, "2.2"),
        ({"setup_cfg": "[options.extras_require]\nall = torch>=2.2\n"}, "2.2"),
        ({"setup_py": "deps = ['torch>=2.6']\nraise SystemExit('not run')\n"}, "2.6"),
        ({"requirements_txt": "# torch>=1.0\ntorch >= 2.10  # why\n"}, "2.10"),
        ({"requirements__cuda_txt": "torch==2.9\n", "requirements__cpu_txt": "torch==2.10\n"}, "2.9"),
        ({"pyproject_toml": PROJECT.format("torch>=2.4"), "requirements_txt": "torch>=2.1"}, "2.4"),
        ({"pyproject_toml": "[project]\ndependencies = 'torch>=2.4'\n"}, ""),
        (
            {"pyproject_toml": "[project", "setup_cfg": "torch", "setup_py": "(", "requirements_txt": "torch>=2.3"},
            "2.3",
        ),
    ],
)
def test_where_it_is_said(tmp_path: Path, files: dict[str, str], version: str) -> None:
    assert required(tmp_path, **files) == version


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("PKG-INFO", "Metadata-Version: 2.1\nRequires-Dist: numpy\nRequires-Dist: torch (>=2.3.0)\n\nText\n", "2.3"),
        ("x-1.dist-info/METADATA", "Name: x\r\nRequires-Dist: torch==2.7.1+cpu; extra == 'all'\r\n\r\n", "2.7"),
        ("PKG-INFO", "Requires-Dist: torch==2.14\nDynamic: requires-dist\n\nText\n", ""),
        ("x-1.dist-info/METADATA", "Requires-Dist: torch==2.7\nDynamic: requires-dist\n\n", "2.7"),
        ("x-1.dist-info/METADATA", "Name: x\n\nRequires-Dist: torch>=2.7\n", ""),
        ("x-1.dist-info/METADATA", "Requires-Dist: torch\n", ""),
        ("other/x-1.dist-info/METADATA", "Requires-Dist: torch>=2.7\n", ""),
        ("x.egg-info/PKG-INFO", "Requires-Dist: torch>=2.7\n", ""),
    ],
)
def test_what_was_built_says_it_of_itself(tmp_path: Path, path: str, text: str, version: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(text.encode())
    assert required(tmp_path) == version
    assert required(tmp_path, requirements_txt="torch>=2.10\n") == "2.10"
