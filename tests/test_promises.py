"""The promises that hold for every tree and every transform, with trees and edits made at random."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemod.model.edits import Edit
from codemod.model.findings import Level
from codemod.model.groups import make_groups
from codemod.model.plan import Plan
from codemod.tree.config import user_config
from tests.codemod.fake import FakeTransform
from tests.conftest import ROOT, MakeTree, Symfix, drawn

LEVELS = st.sampled_from(["safe", "review", "manual"])
PIECES = st.sampled_from(
    [
        b"size", b"numel", b"loop", b"break", b"{", b"}", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\xff\xe9", b";\n",
        b"\xef\xbb\xbf", b"caf\xc3\xa9", b"@g ", b"@h ", b" op:aten::add.Tensor ", b" op:mul ",
        b"// symfix: ignore[size] x\n",
    ]
)  # fmt: skip
SOURCES = st.lists(PIECES, max_size=25).map(b"".join)
TREES = st.dictionaries(st.sampled_from(["a.cc", "b.cc", "d/c.cc", "d/\udce9.cc"]), SOURCES, min_size=1, max_size=4)
SETTINGS = settings(max_examples=drawn(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.cc"))}


def write(files: dict[str, bytes]) -> Path:
    root = Path(tempfile.mkdtemp())
    for path, content in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(content)
    (root / "pyproject.toml").write_bytes(b"[tool.symfix]\nno-cache = true\n")
    user_config().parent.mkdir(exist_ok=True)
    user_config().write_bytes(b"allow-no-vcs = true\n")
    return root


def errors(source: bytes) -> int:
    return FakeTransform().parse_errors("", source)


def applied_edits(before: bytes, after: bytes, path: str, edits: list[Edit]) -> set[Edit]:
    """Those of `edits` that make `after` of `before`; fails where any byte outside of all of them differs."""
    mine = [edit for edit in edits if edit.path == path]
    pattern, at = b"", 0
    for edit in mine:
        pattern += re.escape(before[at : edit.start]) + b"(%s|%s)" % (re.escape(edit.old), re.escape(edit.new))
        at = edit.end
    match = re.fullmatch(pattern + re.escape(before[at:]), after)
    assert match is not None
    return {edit for edit, text in zip(mine, match.groups(), strict=True) if text == edit.new}


@SETTINGS
@given(TREES, LEVELS)
def test_apply_keeps_its_promises(symfix: Symfix, files: dict[str, bytes], level: str) -> None:
    root = write(files)
    try:
        before = contents(root)
        plan = Plan.from_json(symfix("scan", "--format", "json", cwd=root).out)
        diff = symfix("diff", "--level", level, cwd=root)
        assert contents(root) == before
        applied = symfix("apply", "--level", level, cwd=root)
        after = contents(root)
        # The exit code says whether there was anything, and apply and diff agree about it.
        assert diff.code == applied.code == int(after != before)
        edits = sorted({edit for finding in plan.findings for edit in finding.edits})
        done = {edit for path in before for edit in applied_edits(before[path], after[path], path, edits)}
        # A group is written as a whole or left as a whole, and by the level of its highest finding.
        for group in make_groups(plan.findings):
            assert done.issuperset(group.edits) or done.isdisjoint(group.edits)
            if group.edits and group.level > Level[level.upper()]:
                assert done.isdisjoint(group.edits)
        # No file gains a syntax error.
        assert all(errors(after[path]) <= errors(before[path]) for path in before)
        # The diff is what apply wrote.
        fresh = write(files)
        if diff.out:
            subprocess.run(["git", "apply", "-"], cwd=fresh, input=diff.out, check=True, capture_output=True)
        assert contents(fresh) == after
        shutil.rmtree(fresh)
        # Twice is once.
        assert symfix("apply", "--level", level, cwd=root).code == 0
        assert contents(root) == after
    finally:
        shutil.rmtree(root)


@SETTINGS
@given(TREES)
def test_every_refusal_names_its_reason_and_is_counted(symfix: Symfix, files: dict[str, bytes]) -> None:
    root = write(files)
    try:
        out = symfix("scan", cwd=root).out.decode("utf-8", "replace")
        findings = json.loads(symfix("scan", "--format", "json", cwd=root).out)["findings"]
        refusals = Counter(finding["refusal"] for finding in findings if finding["refusal"])
        assert all(finding["reason"] for finding in findings if finding["refusal"])
        table = out.partition("left alone, by reason\n")[2].partition("\n\n")[0].splitlines()
        assert {line.split()[0]: int(line.split()[1]) for line in table} == refusals
        assert all(not finding["edits"] for finding in findings if finding["refusal"] or finding["level"] == "manual")
    finally:
        shutil.rmtree(root)


def test_a_group_that_would_add_a_syntax_error_is_refused_and_others_are_not(
    make_tree: MakeTree, symfix: Symfix
) -> None:
    files = {"a.cc": b"size @g\nsize\n{ break\n", "b.cc": b"{ } break @g\n", "c.cc": b"{ break\n"}
    tree = make_tree(files)
    code, out, err = symfix("diff", cwd=tree)
    assert code == 1
    assert b"b.cc" not in out
    assert "symfix: a.cc:1: left alone: the rewrite would add a syntax error to b.cc" in err.splitlines()
    assert "symfix: would rewrite 3 sites in 2 files" in err.splitlines()
    symfix("apply", cwd=tree)
    assert contents(tree) == {"a.cc": b"size @g\nsym_size\n{ }\n", "b.cc": files["b.cc"], "c.cc": b"{ }\n"}


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfsize\r\n",
        b"\tsize \r\n\n",
        b"size",
        b"// \xe9\xff\x80\nsize\n",
        b"a\rsize\rb\r",
        b"\x00size\x00",
        b"\xff\xfesize",
    ],
    ids=["BOM, CRLF", "tabs and trailing space", "no final newline", "latin-1", "CR", "NUL", "UTF-16 mark"],
)
def test_bytes_outside_an_edit_never_change(make_tree: MakeTree, symfix: Symfix, source: bytes) -> None:
    tree = make_tree({"a.cc": source})
    assert symfix("apply", cwd=tree).code == 1
    assert contents(tree) == {"a.cc": source.replace(b"size", b"sym_size")}


def test_modes_stay_and_links_are_not_followed_out(make_tree: MakeTree, symfix: Symfix, tmp_path: Path) -> None:
    tree = make_tree({"a.cc": b"size\n", "d/b.cc": b"size\n"})
    (tmp_path / "outside.cc").write_bytes(b"size\n")
    (tree / "out.cc").symlink_to(tmp_path / "outside.cc")
    (tree / "alias.cc").symlink_to("d/b.cc")
    os.chmod(tree / "a.cc", 0o755)
    assert symfix("apply", "--allow-dirty", cwd=tree).code == 1
    assert (tmp_path / "outside.cc").read_bytes() == b"size\n"
    assert (tree / "out.cc").is_symlink()
    assert (tree / "alias.cc").is_symlink()
    assert (tree / "d/b.cc").read_bytes() == b"sym_size\n"
    assert stat.S_IMODE(os.stat(tree / "a.cc").st_mode) == 0o755


def test_the_diff_is_deterministic_and_taken_by_git(
    make_tree: MakeTree, symfix: Symfix, git: Callable[..., bytes]
) -> None:
    tree = make_tree({f"d{number}/f.cc": b"x\n" * number + b"size\n" for number in range(12)})
    diff = symfix("diff", "--jobs", "2", cwd=tree).out
    assert diff == symfix("diff", cwd=tree / "d3").out
    assert diff == symfix("diff", "--jobs", "1", "--no-cache", cwd=tree).out
    assert symfix("apply", cwd=tree).code == 1
    assert git("diff", "--no-color", cwd=tree).count(b"+sym_size") == diff.count(b"+sym_size") == 12
    git("checkout", "-q", ".", cwd=tree)
    git("apply", "-", cwd=tree, stdin=diff)
    assert all(source.endswith(b"sym_size\n") for source in contents(tree).values())


# Written at once: what two processes print at a time is mixed.
AUDITED = """
import os, sys
def hear(event, given):
    if event == "subprocess.Popen":
        os.write(2, b"starts %b\\n" % os.fsencode(given[1][0]))
sys.addaudithook(hear)
from codemod.cli import main
main(sys.argv[1:])
"""


@pytest.mark.usefixtures("torch_is_read")
@pytest.mark.parametrize("command", [("scan",), ("apply", "--no-check"), ("rule",)])
def test_security_names_what_a_command_starts(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "clang-format").symlink_to(shutil.which("false") or "false")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path / 'bin'}")
    library = ROOT / "examples/library/csrc"
    tree = make_tree(
        {".clang-format": b"ColumnLimit: 0\n"} | {path.name: path.read_bytes() for path in library.iterdir()}
    )
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, *command], cwd=tree, capture_output=True, text=True, check=False
    )
    started = {os.path.basename(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("starts ")}
    rows = (ROOT / "SECURITY.md").read_text().splitlines()
    said = next(row for row in rows if row.startswith("| ") and f"`{command[0]}`" in row.split("|")[1])
    first = next(row for row in rows if row.startswith("| `scan`")) if "the same" in said else ""
    assert started == {name for name in ("git", "clang-format") if name in said + first}
