"""The packages that PyTorch's samples need, and the folder of symfix's own that they are added to."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.cli.samples import with_samples
from codemod.errors import SymfixError
from codemod.prove import companions
from codemod.prove.target import Target, find_target
from codemod.prove.task import Settings
from codemod.prove.work import environment


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """One that says numpy and expecttest are missing."""
    package = tmp_path / "torch"
    package.mkdir()
    (package / "version.py").write_text("__version__ = '2.6.0'\n")
    answer = f'["3.11.2", "/usr/include", "{package}/__init__.py", ["numpy", "expecttest"]]'
    return find_target(script(tmp_path / "python", f"echo '{answer}'"), imported=False)


def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """In the place of pip `text`, a script to which `$folder` is what is installed into."""
    find = 'while [ "$1" != --target ]; do shift; done; folder=$2; shift 2\n'
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "own", f'echo "$*" > {tmp_path}/asked\n{find}{text}')))


def test_what_is_missing_is_part_of_what_evidence_rests_on(target: Target, tmp_path: Path) -> None:
    assert target.missing == ("expecttest", "numpy")
    assert target.support == ""
    settings = Settings(tmp_path, tmp_path, target, None, "2.6.0")
    assert settings.versions["without"] == "expecttest, numpy"
    assert "without" not in replace(settings, target=replace(target, missing=())).versions
    assert "without" not in replace(settings, version="").versions  # a library's operators have no samples there


def test_what_is_added_is_found_from_then_on(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip(tmp_path, monkeypatch, 'for name; do mkdir "$folder/$name"; touch "$folder/$name/__init__.py"; done')
    complete = with_samples(target, install=True)
    assert "installing expecttest and numpy for " in capsys.readouterr().err
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith(f"-m pip --python {target.python} install ")
    assert asked.endswith(" expecttest numpy\n")
    assert complete.missing == ()
    assert environment(tmp_path, (), complete.support)["PYTHONPATH"] == complete.support
    assert "PYTHONPATH" not in environment(tmp_path, (), target.support)
    assert find_target(Path(target.python), imported=False) == complete


def test_what_is_missing_is_said_with_what_to_do(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    assert with_samples(target, install=False) == target
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert (
        f"--install adds what they need for symfix alone, or add them yourself: {target.python} -m pip install" in said
    )


def test_a_pip_that_fails_is_an_error_of_one_line(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip(tmp_path, monkeypatch, "echo first >&2; echo 'ERROR: no matching distribution' >&2; exit 1")
    with pytest.raises(SymfixError, match=r"ERROR: no matching distribution; or add them yourself: ") as error:
        companions.install(target)
    assert "\n" not in str(error.value)
