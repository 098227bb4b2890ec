"""Running a program from a copy of its tree, whose files are not touched."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.fix.trees import Copy, Tree, patched, tree_of
from codemod.probe.script import Processes, Program
from codemod.runner.recording import WATCHED

CASE = "import json, pack.part, sys\nprint(pack.part.VALUE, open('data.txt').read(), sys.argv[1:])\n"


def lay(root: Path) -> None:
    (root / "pack").mkdir(parents=True)
    (root / "pack" / "__init__.py").touch()
    (root / "pack" / "part.py").write_text("VALUE = 'old'\n")
    (root / "case.py").write_text(CASE)
    (root / "data.txt").write_text("data")


def make(root: Path) -> Tree:
    lay(root)
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
        assert out.endswith(repr([str(copy.folders[tree] / "data.txt")]))
        assert copy.original(str(copy.folders[tree] / "pack" / "part.py")) == str(tree.root / "pack" / "part.py")
        assert copy.mirror is not None
        assert copy.original(f"{copy.mirror}{tmp_path}/other.py") == str(tmp_path / "other.py")
    assert not copy.folders[tree].exists()
    elsewhere = Program((sys.executable, str(tree.root / "case.py")), tree.root / "pack")
    with patched(elsewhere, contents) as copy:
        assert copy.program.folder == copy.folders[tree] / "pack"
    assert (tree.root / "pack" / "part.py").read_text() == "VALUE = 'old'\n"
    assert printed(program).startswith("old")


def test_an_installed_package_is_laid_before_the_installed_one(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    lay(packages)
    tree = tree_of(str(packages / "pack" / "part.py"))
    assert tree == Tree(packages / "pack", "pack")
    program = Program((sys.executable, "-c", "import pack.part as p; print(p.VALUE)"), tmp_path)
    with patched(program, {tree: {"part.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program) == "new"
    with tree.sources() as folder:
        assert sorted(path.name for path in (folder / "pack").iterdir()) == ["__init__.py", "part.py"]
    assert (packages / "pack" / "part.py").read_text() == "VALUE = 'old'\n"


def test_a_script_that_is_the_command_runs_from_the_copy(tmp_path: Path) -> None:
    tree = make(tmp_path / "tree")
    script = tree.root / "case.py"
    script.write_text(f"#!{sys.executable}\n{CASE}")
    script.chmod(0o755)
    with patched(Program((str(script),), tree.root), {tree: {"pack/part.py": b"VALUE = 'new'\n"}}) as copy:
        assert copy.program.command == (str(copy.folders[tree] / "case.py"),)
        assert printed(copy.program).startswith("new data")
    assert printed(Program((str(script),), tree.root)).startswith("old")


def test_a_module_in_no_package_is_imported_from_the_copy(tmp_path: Path) -> None:
    make(tmp_path / "tree")
    module = tmp_path / "tree" / "lone.py"
    module.write_text("VALUE = 'old'\n")
    tree = tree_of(str(module))
    assert tree is not None
    program = Program((sys.executable, "-c", "import sys; sys.path.append(sys.argv[1]); import lone; print(lone.VALUE)",
                       str(tree.root)), tmp_path)  # fmt: skip
    assert printed(program) == "old"
    with patched(program, {tree: {"lone.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program) == "new"
        changed = str(copy.folders[tree] / "lone.py")
        assert copy.program.environment[WATCHED].split(os.pathsep) == [changed, str(module)]
        assert not copy.missed({changed})
        assert copy.missed(()) == copy.missed({changed, str(module)}) == str(module)


@pytest.mark.parametrize("command", [("case.py",), ("-m", "case"), ("./case.py", "argument")])
@pytest.mark.parametrize("package", [True, False])
def test_without_git_a_tree_begins_where_the_imports_of_the_program_do(
    tmp_path: Path, command: tuple[str, ...], package: bool
) -> None:
    root = tmp_path / "tree"
    lay(root)
    if not package:
        (root / "pack" / "__init__.py").unlink()
    program = Program((sys.executable, *command), root)
    starts = Copy(program).starts()
    assert starts == (str(root),)
    assert Copy(Program((sys.executable, "sub/case.py"), tmp_path)).starts() == (str(tmp_path),)
    assert Copy(Program((sys.executable, "tree/case.py"), tmp_path)).starts() == (str(root), str(tmp_path))
    part = tree_of(str(root / "pack" / "part.py"), starts)
    assert part == tree_of(str(root / "case.py"), starts) == Tree(root, loose=True)
    assert part.unit("pack/part.py") == ("pack" if package else "pack/part.py")
    assert sorted(part.python()) == sorted(["case.py", "pack/part.py", *(["pack/__init__.py"] if package else [])])
    with patched(program, {part: {"pack/part.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program).startswith("new")
        assert copy.starts() == starts


def run(program: Program, tmp_path: Path) -> Program:
    """The program once a run has shown where its imports look."""
    assert printed(program) == "old"
    folders = [tmp_path / "lib", Path(os.__file__).parent]
    return replace(program, processes=Processes(imports=frozenset(map(str, folders))))


@pytest.mark.parametrize("entry", ["lib", "../lib"])
@pytest.mark.parametrize("package", [True, False])
def test_what_lies_elsewhere_is_copied_with_the_folder_that_it_is_imported_from(
    tmp_path: Path, entry: str, package: bool
) -> None:
    """As by PYTHONPATH, or where it is installed to be edited."""
    lay(tmp_path / "lib")
    if not package:
        (tmp_path / "lib" / "pack" / "__init__.py").unlink()
    (tmp_path / "work").mkdir()
    here = tmp_path if entry == "lib" else tmp_path / "work"
    code = f"import sys; sys.path.append({entry!r}); import pack.part as p; print(p.VALUE)"
    program = run(Program((sys.executable, "-c", code), here), tmp_path)
    part = tree_of(str(tmp_path / "lib" / "pack" / "part.py"), Copy(program).starts())
    assert part == Tree(tmp_path / "lib", loose=True)
    with patched(program, {part: {"pack/part.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program) == "new"


def test_a_repository_may_be_a_package_itself(tmp_path: Path) -> None:
    lay(tmp_path / "lib")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "lib" / "pack", check=True)
    tree = tree_of(str(tmp_path / "lib" / "pack" / "part.py"))
    assert tree == Tree(tmp_path / "lib" / "pack")
    code = f"import sys; sys.path.append({str(tmp_path / 'lib')!r}); import pack.part as p; print(p.VALUE)"
    with patched(Program((sys.executable, "-c", code), tmp_path), {tree: {"part.py": b"VALUE = 'new'\n"}}) as copy:
        assert printed(copy.program) == "new"


def test_the_script_that_another_program_starts_runs_beside_its_copied_neighbours(tmp_path: Path) -> None:
    lay(tmp_path / "tree")
    (tmp_path / "data.txt").write_text("around")
    line = f"{sys.executable} -B case.py; cat ../data.txt"
    script = frozenset({str(tmp_path / "tree" / "case.py")})
    for root in (tmp_path / "tree", tmp_path):
        command = ("sh", "-c", line if root != tmp_path else f"cd tree; {line}")
        program = Program(command, root, processes=Processes(script, frozenset({str(tmp_path / "tree")})))
        tree = tree_of(str(tmp_path / "tree" / "pack" / "part.py"), Copy(program).starts())
        assert tree == Tree(tmp_path / "tree", loose=True)
        with patched(program, {tree: {"pack/part.py": b"VALUE = 'new'\n"}}) as copy:
            assert printed(copy.program).startswith("new data")
            assert printed(copy.program).endswith("around")


def test_a_tree_does_not_begin_where_the_users_home_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path / "home" / "tree")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in (tmp_path, tmp_path / "home"):
        program = Program((sys.executable, str(tmp_path / "home" / "tree" / "case.py")), folder)
        assert Copy(program).starts() == (str(tmp_path / "home" / "tree"),)


def test_what_says_itself_where_it_begins_is_not_asked_of_the_program(tmp_path: Path) -> None:
    lay(tmp_path / "tree")
    part = str(tmp_path / "tree" / "pack" / "part.py")
    assert tree_of(part, (str(tmp_path),)) == Tree(tmp_path, loose=True)
    assert tree_of(part, (str(tmp_path / "other"),)) == Tree(tmp_path / "tree", loose=True)
    (tmp_path / "tree" / "pyproject.toml").write_text("[tool.symfix]\n")
    assert tree_of(part, (str(tmp_path),)) == Tree(tmp_path / "tree")
    make(tmp_path / "kept")
    (tmp_path / "kept" / ".gitignore").write_text("pack/\n")
    for name in ("case.py", "pack/part.py"):
        tree = tree_of(str(tmp_path / "kept" / name), (str(tmp_path),))
        assert tree is not None
        assert not tree.loose


def test_what_is_installed_is_nobodys_checkout(tmp_path: Path) -> None:
    packages = make(tmp_path / "tree").root / "lib" / "site-packages"
    egg = packages / "op-1.0-py3.11.egg"
    for path in (egg / "op" / "ops.py", packages / "lone.py", packages / "some.libs" / "a.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert tree_of(str(egg / "op" / "ops.py")) == Tree(egg / "op", "op")
    assert tree_of(str(packages / "lone.py")) is None
    assert tree_of(str(packages / "some.libs" / "a.py")) is None


def test_a_script_at_the_root_of_the_file_system() -> None:
    tree = Tree(Path("/"))
    assert (tree.relative("/train.py"), tree.relative("/none/ops.py")) == ("train.py", "none/ops.py")
    copy = Copy(Program(("python", "/train.py"), Path("/")), {tree: Path("/copies/a")})
    assert [copy.original(path) for path in ("/copies/a/train.py", "/copies/b/a.py")] == ["/train.py", "/copies/b/a.py"]


def test_torch_and_python_itself_are_nobodys_tree(tmp_path: Path) -> None:
    (tmp_path / "site-packages" / "torch").mkdir(parents=True)
    (tmp_path / "site-packages" / "torch" / "a.py").touch()
    assert tree_of(str(tmp_path / "site-packages" / "torch" / "a.py")) is None
    assert tree_of(subprocess.__file__) is None
    assert tree_of(str(tmp_path / "missing.py")) is None
