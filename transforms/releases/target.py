"""Which torch a tree outside PyTorch is written for.

That is the oldest it has to run with, for what is written must compile and run there, whatever is installed: the
release of `--torch`, else the lowest that the tree's own requirements allow. Where neither names one it is the torch
installed beside symfix, else the newest release that symfix has the vocabulary of.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from codemod.errors import SymfixError
from codemod.model.transform import Project
from transforms.releases.data import releases
from transforms.releases.requirement import torch_requirement
from transforms.releases.version import Release, release, spelled

PACKAGED = "packaged/ATen/native/native_functions.yaml"
"""Where torchgen, as installed beside torch, has the operators."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A torch on the disk: its package, and the native_functions.yaml that torchgen brings along."""

    package: Path
    yaml: Path


@dataclass(frozen=True, slots=True)
class Target:
    """The torch that is written for: a release of `data.releases()`, or an installed one."""

    release: Release | None
    installed: Installed | None = None
    minimum: Release | None = None
    """What the option or the requirements name, which may be older than `release`; None where neither does."""


def installed_torch() -> Installed | None:
    """The torch beside symfix, which is not imported; None where there is none, or one without torchgen."""
    torch, torchgen = _package("torch"), _package("torchgen")
    if torch is None or torchgen is None or not (torchgen / PACKAGED).is_file():
        return None
    return Installed(torch, torchgen / PACKAGED)


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def target(project: Project) -> Target:
    """The torch that the tree of `project` is written for; what the user has not said is remarked.

    Raises SymfixError where `--torch` names a release that symfix has no vocabulary of.
    """
    option = release(project.torch)
    required = None if option else release(torch_requirement(project))
    minimum = option or required
    shipped = releases()
    if minimum is None:
        installed = installed_torch()
        if installed is None:
            project.remark(
                f"Written for torch {spelled(shipped[-1])}, the newest that symfix knows: none is installed, and"
                " no requirement names one (--torch VERSION says another)"
            )
        return Target(shipped[-1] if installed is None else None, installed)
    if minimum in shipped:
        if required:
            project.remark(
                f"Written for torch {spelled(minimum)}, the oldest that the requirements allow"
                " (--torch VERSION says another)"
            )
        return Target(minimum, minimum=minimum)
    installed = installed_torch()
    if installed is not None and _release_of(installed) == minimum:
        return Target(None, installed, minimum)
    nearest = max((number for number in shipped if number < minimum), default=shipped[0])
    if option:
        raise SymfixError(
            f"--torch {spelled(option)}: symfix has no vocabulary of that release; the nearest is {spelled(nearest)}"
        )
    project.remark(
        f"Written for torch {spelled(nearest)}, the nearest that symfix knows: the requirements allow"
        f" {spelled(minimum)} (--torch VERSION says another)"
    )
    return Target(nearest, minimum=minimum)


def _release_of(installed: Installed) -> Release | None:
    try:
        here = importlib.metadata.distributions(name="torch", path=[str(installed.package.parent)])
        return next((release(distribution.version) for distribution in here), None)
    except (OSError, ValueError):
        return None
