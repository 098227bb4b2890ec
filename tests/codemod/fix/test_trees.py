"""Running a program from a copy of its tree, whose files are not touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from codemod.fix.trees import Tree, patched, tree_of
from codemod.probe.script import Program

CASE = "import json, pack.part, sys\nprint(pack.part.VALUE, open('data.txt').read(), sys.argv[1:])\n"


def make(root: Path) -> Tree:
    (root / "pack").mkdir(parents=True)
    (root / "pack" / "__init__.py").touch()
    (root / "pack" / "part.py").write_text("VALUE = 'old'\n")
    (root / "case.py").write_text(CASE)
    (root / "data.txt").write_text("data")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    tree = tree_of(str(root / "case.py"))
    assert tree is not None
    return tree


def printed(program: Program) -> str:
    environment = {"PYTHONPATH": ":".join(map(str, program.imports))}
    done = subprocess.run(program.command, cwd=program.folder, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_a_script_and_what_it_imports_come_from_the_copy(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree")
    assert (tree.unit("pack/part.py"), tree.unit("case.py")) == ("pack", "case.py")
    contents = {tree: {"pack/part.py": b"VALUE = 'new'\n"}}
    program = Program((sys.executable, "case.py", str(tree.root / "data.txt")), tree.root)
    with patched(program, contents) as copy:
        out = printed(copy.program)
        assert out.startswith("new data")
        assert str(tree.root) not in out
        assert copy.original(str(copy.folders[tree] / "pack" / "part.py")) == str(tree.root / "pack" / "part.py")
    assert not copy.folders[tree].exists()
    elsewhere = Program((sys.executable, str(tree.root / "case.py")), tree.root / "pack")
    with patched(elsewhere, contents) as copy:
        assert copy.program.folder == copy.folders[tree] / "pack"
    assert (tree.root / "pack" / "part.py").read_text() == "VALUE = 'old'\n"
    assert printed(program).startswith("old")


def test_an_installed_package_is_laid_before_the_installed_one(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    make(packages)
    tree = tree_of(str(packages / "pack" / "part.py"))
    assert tree == Tree(packages / "pack", "pack")
    program = Program((sys.executable, "-c", "import pack.part as p; print(p.VALUE)"), tmp_path)
    with patched(program, {tree: {"part.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program) == "new"
    with tree.sources() as folder:
        assert sorted(path.name for path in (folder / "pack").iterdir()) == ["__init__.py", "part.py"]
    assert (packages / "pack" / "part.py").read_text() == "VALUE = 'old'\n"


def test_torch_and_python_itself_are_nobodys_tree(tmp_path: Path) -> None:
    (tmp_path / "site-packages" / "torch").mkdir(parents=True)
    (tmp_path / "site-packages" / "torch" / "a.py").touch()
    assert tree_of(str(tmp_path / "site-packages" / "torch" / "a.py")) is None
    assert tree_of(subprocess.__file__) is None
    assert tree_of(str(tmp_path / "missing.py")) is None
