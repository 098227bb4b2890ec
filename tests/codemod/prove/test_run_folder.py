from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from codemod.prove.run_folder import LOCK, remove_dead, run_folder

ROOT = Path(__file__).parents[3]
KILLED = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from codemod.prove.run_folder import run_folder
with run_folder() as folder:
    (folder / "output").touch()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_it_is_removed_afterwards_whatever_a_run_did_there(tmp_path: Path) -> None:
    with run_folder() as folder:
        assert folder.parent == tmp_path
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "c").touch()
        (folder / "a").chmod(0)
        (folder / LOCK).unlink()
        (folder / "link").symlink_to(ROOT)
        folder.chmod(0)
    assert list(tmp_path.iterdir()) == []
    assert ROOT.is_dir()


def test_one_in_use_stays() -> None:
    with run_folder() as folder:
        remove_dead()
        assert folder.is_dir()


def test_one_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        remove_dead()
        assert (folder / "output").exists()
        process.send_signal(signal.SIGKILL)
    remove_dead()
    assert list(tmp_path.iterdir()) == []


def test_one_without_a_lock_is_removed_once_it_is_old(tmp_path: Path) -> None:
    folder = tmp_path / "symfix-prove-abc"
    folder.mkdir()
    remove_dead()
    assert folder.exists()
    os.utime(folder, (0, 0))
    remove_dead()
    assert not folder.exists()


def test_what_is_not_a_folder_of_a_run_stays(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / LOCK).touch()
    (tmp_path / "symfix-prove-file").touch()
    (tmp_path / "symfix-prove-link").symlink_to(tmp_path / "other")
    remove_dead()
    assert len(list(tmp_path.rglob("*"))) == 4
