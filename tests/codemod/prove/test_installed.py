"""What of a library is installed beside torch decides what is built, and where its Python is imported from."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.transform import Override, Part
from codemod.prove import installed
from codemod.prove.installed import built, import_folders, over_installed, packages_of
from codemod.prove.target import Target
from codemod.prove.task import Settings

PYTHON = Override(("own::fold",), imports=("own.ops",), roots=("",))
CPP = Override(("own::fold",), parts=(Part("a.cpp"), Part("b.cpp")), again=(Part("a.cpp", after="again"),))


def settings_of(tmp_path: Path) -> Settings:
    root = tmp_path / "checkout"
    (root / "own").mkdir(parents=True)
    (root / "own" / "ops.py").write_text("checkout")
    target = Target("python", "3.11", "", str(tmp_path / "torch"), "2.13.0", True, "c++20")
    return Settings(root, tmp_path / "cache", target, None, "")


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Path:
    package = tmp_path / "site" / "own"
    package.mkdir(parents=True)
    for name in names:
        (package / name).write_text("installed")
    monkeypatch.setattr(installed, "ask", lambda *arguments: [[str(package)]])
    return package


def test_a_library_that_is_not_installed_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path)
    monkeypatch.setattr(installed, "ask", lambda *arguments: [[]])
    assert over_installed(settings, (PYTHON, CPP)) == (PYTHON, CPP)
    assert built((PYTHON, CPP))
    assert list(import_folders(settings, settings.root, PYTHON, True)) == [f"{settings.root}"]


def test_python_that_is_installed_alone_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path)
    install(tmp_path, monkeypatch, "ops.py")
    assert over_installed(settings, (PYTHON, CPP)) == (PYTHON, CPP)
    assert list(import_folders(settings, settings.root, PYTHON, False)) == [f"{settings.root}"]


def test_over_an_installed_library_only_changes_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path)
    install(tmp_path, monkeypatch, "ops.py", "_C.so")
    python, cpp = over_installed(settings, (PYTHON, CPP))
    assert python == PYTHON
    assert cpp.parts == CPP.again
    assert not built((python, cpp))
    first, second = import_folders(settings, settings.root, PYTHON, False)
    assert Path(first, "own", "ops.py").read_text() == "checkout"
    assert Path(first, "own", "_C.so").read_text() == "installed"
    assert second == f"{settings.root}"


def test_only_packages_of_the_tree_are_looked_for() -> None:
    of_torch = Override(("aten::cat",), imports=("torch.more",), packages="")
    assert packages_of((PYTHON, of_torch, CPP)) == {"own": ""}
    assert packages_of(()) == {}
