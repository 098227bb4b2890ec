from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.prove.target import after_import, find_target, target_of_headers


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 1", "torch cannot be imported there: exit code 1"),
        ("echo nothing like it", "is no Python interpreter"),
        ('echo \'["3.11", "/usr/include", null, []]\'', "torch is not installed there"),
    ],
)
def test_what_is_no_target_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SymfixError) as error:
        find_target(script(tmp_path / "python", text))
    assert said in str(error.value)
    assert str(tmp_path / "python") in str(error.value)


def test_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    with pytest.raises(SymfixError, match="cannot be run"):
        find_target(tmp_path / "absent")


def test_an_interpreter_may_be_named_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "python", 'echo \'["3.11", "/usr/include", null, []]\'')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SymfixError, match="torch is not installed there"):
        find_target(Path("python"))


def test_what_torch_says_is_asked_once(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    (package / "utils").mkdir(parents=True)
    (package / "version.py").write_text("")
    (package / "utils" / "cpp_extension.py").write_text("common_cflags += ['-std=c++20', '-fPIC']\n")
    answers = f"""
case "$3" in
*find_spec*) echo '["3.11.2", "/usr/include/python3.11", "{package}/__init__.py", []]' ;;
*) echo x >> {tmp_path}/asked; echo '["2.13.0", true]' ;;
esac"""
    python = script(tmp_path / "python", answers)
    target = find_target(python)
    assert (target.torch_version, target.cxx11_abi, target.standard) == ("2.13.0", True, "c++20")
    assert target.include[0] == f"{package}/include"
    assert find_target(python) == target
    assert (tmp_path / "asked").read_text() == "x\n"
    (package / "version.py").write_text("another")
    find_target(python)
    assert (tmp_path / "asked").read_text() == "x\nx\n"


def test_what_is_only_compiled_needs_no_import(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    cmake = package / "share/cmake/Torch/TorchConfig.cmake"
    cmake.parent.mkdir(parents=True)
    (package / "utils").mkdir()
    (package / "utils/cpp_extension.py").write_text("common_cflags += ['-std=c++20', '-fPIC']\n")
    answer = f'["3.11.2", "/usr/include/python3.11", "{package}/__init__.py", []]'
    python = script(tmp_path / "python", f"case \"$3\" in *find_spec*) echo '{answer}' ;; *) exit 1 ;; esac")
    with pytest.raises(SymfixError, match="is no installed torch"):
        find_target(python, imported=False)
    (package / "version.py").write_text("from typing import Optional\n__version__ = '2.6.0+cpu'\ndebug = False\n")
    target = find_target(python, imported=False)
    assert (target.torch_version, target.cxx11_abi, target.standard) == ("2.6.0+cpu", True, "c++20")
    cmake.write_text('  set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")\n')
    assert not find_target(python, imported=False).cxx11_abi


def test_a_target_of_files_is_that_of_an_import_once_torch_was_imported(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text("__version__ = '2.13.0'\n")
    said = tmp_path / "said"
    answers = f"""
case "$3" in
*find_spec*) echo '["3.11.2", "/usr/include/python3.11", "{tmp_path}/torch/__init__.py", []]' ;;
*) cat {said} ;;
esac"""
    target = find_target(script(tmp_path / "python", answers), imported=False)
    assert target.cxx11_abi
    with pytest.raises(SymfixError, match="torch cannot be imported there"):
        after_import(target)
    said.write_text('["2.13.0+git", false]')
    beside = after_import(replace(target, support="beside"))
    assert beside == replace(target, torch_version="2.13.0+git", cxx11_abi=False, support="beside")
    assert find_target(Path(target.python)) == replace(beside, support="")


def test_torch_is_also_found_in_folders_of_headers(tmp_path: Path) -> None:
    header = tmp_path / "include/torch/headeronly/version.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define TORCH_VERSION_MAJOR 2\n\n#define TORCH_VERSION \\\n  "2.11.1"\n')
    target = target_of_headers([tmp_path, tmp_path / "include"])
    assert target is not None
    assert (target.torch_version, target.standard) == ("2.11.1", "c++20")
    assert target.include[0] == str(tmp_path / "include")
    assert target_of_headers([tmp_path]) is None


def test_by_default_it_is_the_active_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "python", "exit 1")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    with pytest.raises(SymfixError, match=str(tmp_path / "bin" / "python")):
        find_target(None)
    monkeypatch.delenv("VIRTUAL_ENV")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own"))
    with pytest.raises(SymfixError, match=str(tmp_path / "own")):
        find_target(None)
