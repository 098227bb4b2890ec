"""The command as CI runs it: `--since`, `--baseline`, and the formats that services read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import MakeTree, Symfix

FILES = {
    "a.cc": "// ä𝒳\nx = size(); // op:aten::add.Tensor\n\U0001d4b3 = numel(); // op:aten::mul\nfor loop\n".encode(),
    "sub/b.cc": b"size @pair\nmore\nsize @pair\n",
}
SARIF_SCHEMA = json.loads((Path(__file__).parent / "sarif_subset.schema.json").read_text())


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree(FILES)


def run_of(out: bytes) -> dict[str, Any]:
    """The only run of a SARIF document that the schema accepts."""
    document = json.loads(out)
    jsonschema.validate(document, SARIF_SCHEMA)
    run: dict[str, Any] = document["runs"][0]
    return run


def test_since_judges_only_what_the_change_touches(tree: Path, symfix: Symfix, git: Callable[..., bytes]) -> None:
    assert symfix("scan", "--since", "HEAD", cwd=tree).code == 0
    (tree / "a.cc").write_bytes(b"// first\n" + FILES["a.cc"].replace(b"for loop", b"loop"))
    out = symfix("scan", "--since", "HEAD", "--format", "csv", cwd=tree).out.decode()
    assert [row.split(",")[:2] for row in out.splitlines()[1:]] == [["a.cc", "5"]]
    (tree / "sub/b.cc").write_bytes(FILES["sub/b.cc"].replace(b"size @pair", b"x = size @pair", 1))
    (tree / "new.cc").write_bytes(b"size\n")
    git("add", "-A", cwd=tree)
    git("commit", "-q", "-m", "change", cwd=tree)
    out = symfix("diff", "--since", "HEAD~", cwd=tree).out.decode()
    assert [line for line in out.splitlines() if line.startswith("+")] == [
        "+++ b/new.cc", "+sym_size", "+++ b/sub/b.cc", "+x = sym_size @pair", "+sym_size @pair"
    ]  # fmt: skip
    assert symfix("apply", "--since", "HEAD~", cwd=tree).code == 1
    assert b"x = size()" in (tree / "a.cc").read_bytes()
    code, _, err = symfix("scan", "--since", "nowhere", cwd=tree)
    assert (code, err) == (2, f"symfix: --since nowhere: {tree} has no such commit; fetch it first\n")


def test_a_baseline_accepts_what_exists_each_once(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    code, out, _ = symfix("scan", "--format", "baseline", cwd=tree)
    assert code == 0
    path.write_bytes(out)
    assert len(out.splitlines()) == 5 + 2
    assert symfix("scan", "--baseline", path, cwd=tree)[::2] == (0, f"symfix: {path} accepts 5 findings\n")
    (tree / "a.cc").write_bytes(b"\n\n" + FILES["a.cc"])
    assert symfix("scan", "--baseline", path, cwd=tree).code == 0
    (tree / "sub/b.cc").write_bytes(FILES["sub/b.cc"] + b"size @pair\n")
    (tree / "a.cc").write_bytes(FILES["a.cc"].replace(b"numel", b"noname"))
    code, out, err = symfix("scan", "--baseline", path, "--format", "csv", cwd=tree)
    assert code == 1
    assert [line.split(",")[:2] for line in out.decode().splitlines()[1:]] == [["sub/b.cc", "4"]]
    assert err.splitlines() == [
        f"symfix: {path} accepts 4 findings",
        f"symfix: {path}: 1 entry found no more (size in a.cc); symfix scan --format baseline writes it anew",
    ]
    assert "no more" not in symfix("scan", "sub", "--baseline", path, cwd=tree).err
    assert symfix("scan", "--baseline", path, "--format", "baseline", cwd=tree).err == ""


def test_a_baseline_follows_a_file_that_moves_as_a_whole(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(symfix("scan", "--format", "baseline", cwd=tree).out)
    content = (tree / "a.cc").read_bytes()
    (tree / "sub/moved.cc").write_bytes(b"// moved\n" + content + b"numel\n")
    assert symfix("scan", "--baseline", path, cwd=tree).code == 1  # a copy
    (tree / "a.cc").unlink()
    code, out, err = symfix("scan", "--baseline", path, "--format", "csv", cwd=tree)
    assert (code, err) == (1, f"symfix: {path} accepts 5 findings\n")
    (row,) = out.decode().splitlines()[1:]
    assert row.startswith("sub/moved.cc,")
    (tree / "sub/again.cc").write_bytes(content)
    rows = symfix("scan", "--baseline", path, "--format", "csv", cwd=tree).out.decode()
    assert rows.count("\nsub/again.cc,") + rows.count("\nsub/moved.cc,") == 3 + 1  # each entry accepts once


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "the baseline cannot be read: No such file or directory; make it with: symfix scan --format baseline"),
        (b"", "not JSON"),
        (b'{"format": "symfix-plan"}', "not a symfix baseline"),
        (b"[]", "not a symfix baseline"),
        (b'{"format": "symfix-baseline", "version": 9}', "symfix baseline version 9, but this symfix reads 1"),
        (b'{"format": "symfix-baseline", "version": "\\u2028"}', r"symfix baseline version '\u2028', but"),
        (b'{"format": "symfix-baseline", "version": 1, "findings": [1]}', "damaged"),
        (b'{"format": "symfix-baseline", "version": 1}', "damaged"),
    ],
)
def test_a_bad_baseline_is_one_clear_error(
    tree: Path, symfix: Symfix, tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "baseline.json"
    if content is not None:
        path.write_bytes(content)
    code, out, err = symfix("scan", "--baseline", path, cwd=tree)
    assert (code, out) == (2, b"")
    assert err.startswith(f"symfix: {path}: {says}")
    assert err.count("\n") == 1


def test_a_workflow_is_annotated(
    make_tree: MakeTree, symfix: Symfix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = make_tree({"a,b:c%.cc": FILES["a.cc"]})
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tree.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    code, out, err = symfix("scan", "--format", "github", cwd=tree)
    assert (code, err) == (1, "")
    at, what = "file=tree/a%2Cb%3Ac%25.cc,line={0},endLine={0}", " throws on symbolic shapes"
    throws = "throws where a size is a symbol"
    by = "%0AA symbolic tensor arrives: f is a kernel (a,b:c%25.cc:1)"
    assert out.decode().splitlines() == [
        f"::error {at.format(2)},col=5,endColumn=9,title={throws} (size; symfix apply fixes it)::size{what}{by}",
        (
            f"::warning {at.format(3)},col=6,endColumn=11,title={throws} (size; can be fixed%2C for review)"
            f"::numel{what}{by}"
        ),
        (
            f"::notice {at.format(4)},col=5,endColumn=9,title=fixes a size%3A others compile again"
            f" (loop; left alone)::loop{what}%0Ait bounds a loop{by}"
        ),
        "3 findings in 2 operators and 1 of 1 file",
        "1 safe, 1 review, 1 manual",
    ]
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n### symfix\n")
    assert "| `add` | 1 |  |  | `a,b:c%.cc:2` |" in summary
    assert "| loop-bound | 1 | it bounds a loop `a,b:c%.cc:4` |" in summary
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert symfix("scan", "--format", "github", cwd=tree)[::2] == (
        2, f"symfix: {tmp_path}: the summary cannot be written: Is a directory\n"
    )  # fmt: skip


def test_github_shows_ten_of_a_kind_so_different_changes_come_first(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.cc": b"size @one\n" * 12 + b"size\n", "::error::x\n::error::y.cc": b"size @one\n"})
    out = symfix("scan", "--format", "github", cwd=tree).out.decode().splitlines()
    assert [line.split("line=")[1].split(",")[0] for line in out[:10]] == ["1", "13", *map(str, range(1, 9))]
    assert out[10] == "4 findings more: GitHub shows 10 annotations of each kind for a step"
    assert [line[:12] for line in out[11:15]] == ["a.cc:9:1: sa", "a.cc:10:1: s", "a.cc:11:1: s", "a.cc:12:1: s"]
    assert not any(line.startswith("::error::") for line in out)


def test_annotations_begin_with_the_lines_of_the_change(tree: Path, symfix: Symfix) -> None:
    (tree / "sub/b.cc").write_bytes(FILES["sub/b.cc"][:-1] + b" touched\n")
    out = symfix("scan", "--since", "HEAD", "--format", "github", cwd=tree).out.decode()
    assert [line.split("line=")[1][:1] for line in out.splitlines()[:2]] == ["3", "1"]
    assert b"\n  symfix diff --since HEAD  shows" in symfix("scan", "--since", "HEAD", cwd=tree).out


def test_sarif_is_by_the_schema_and_its_places_are_the_bytes(tree: Path, symfix: Symfix) -> None:
    code, out, _ = symfix("scan", "--format", "sarif", cwd=tree)
    assert code == 1
    run = run_of(out)
    assert [r["level"] for r in run["results"]] == ["error", "error", "error", "warning", "note"]
    assert len({r["partialFingerprints"]["symfix/v1"] for r in run["results"]}) == 5
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    numel = run["results"][3]
    region = numel["locations"][0]["physicalLocation"]["region"]
    # The letter before it is beyond the basic plane: two code units.
    assert region == {
        "startLine": 3, "startColumn": 6, "endLine": 3, "endColumn": 11, "snippet": {"text": "numel"}
    }  # fmt: skip
    assert numel["codeFlows"][0]["threadFlows"][0]["locations"][1]["location"]["message"]["text"].startswith("numel")
    assert run["automationDetails"] == {"id": "symfix/"}
    assert run_of(symfix("scan", "sub", "--format", "sarif", cwd=tree).out)["automationDetails"]["id"] == "symfix/sub/"


def test_the_fixes_of_sarif_do_what_apply_does(tree: Path, symfix: Symfix) -> None:
    results = run_of(symfix("scan", "--format", "sarif", "--level", "review", cwd=tree).out)["results"]
    fixes = {json.dumps(r["fixes"]): r["fixes"][0] for r in results}
    assert len(results) == 4
    assert len(fixes) == 3  # what is applied together is one fix
    lines = {path: source.decode().split("\n") for path, source in FILES.items()}
    for fix in fixes.values():
        for change in fix["artifactChanges"]:
            found = lines[change["artifactLocation"]["uri"]]
            for replacement in change["replacements"]:
                region = replacement["deletedRegion"]
                assert region["startLine"] == region["endLine"]
                units = found[region["startLine"] - 1].encode("utf-16-le")
                start, end = 2 * region["startColumn"] - 2, 2 * region["endColumn"] - 2
                text = replacement["insertedContent"]["text"].encode("utf-16-le")
                found[region["startLine"] - 1] = (units[:start] + text + units[end:]).decode("utf-16-le")
    assert symfix("apply", "--level", "review", cwd=tree).code == 1
    for path, found in lines.items():
        assert (tree / path).read_text(encoding="utf-8") == "\n".join(found)


def test_a_fix_of_many_edits_stands_with_the_first_result_of_its_group(
    tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fixes_by_group() -> list[int]:
        results = run_of(symfix("scan", "--format", "sarif", "--level", "review", cwd=tree).out)["results"]
        groups = [r["properties"]["group"] for r in results if "fixes" in r]
        return sorted(groups.count(group) for group in set(groups) if group)

    assert fixes_by_group() == [2]
    monkeypatch.setattr("codemod.reporting.sarif.MOST_SHARED", 1)
    assert fixes_by_group() == [1]


def test_sarif_says_what_failed_and_takes_any_file(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"ä b#.cc": b"\xef\xbb\xbfsize \xe9\r\n\xe9 size\r\n", "c.cc": b"RAISE"})
    code, out, _ = symfix("scan", "--format", "sarif", cwd=tree)
    assert code == 2
    run = run_of(out)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("c.cc: ValueError")
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"%C3%A4%20b%23.cc"}
    assert [(p["region"]["startLine"], p["region"]["startColumn"]) for p in places] == [(1, 1), (2, 3)]


def test_no_more_results_than_github_takes(tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemod.reporting.sarif.MOST_RESULTS", 2)
    _, out, err = symfix("scan", "--format", "sarif", cwd=tree)
    run = run_of(out)
    assert [r["level"] for r in run["results"]] == ["error", "error"]
    assert err == "symfix: 5 findings, of which GitHub takes 2: the rest is left out\n"
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("3 of 5 results are")


def test_in_a_hook_of_git_what_is_about_to_be_committed_is_judged(
    tree: Path, git: Callable[..., bytes], tmp_path: Path
) -> None:
    script = (
        "from codemod.model import transform\nfrom tests.codemod import fake\n"
        "transform.load_transforms = fake.transforms\nfrom codemod.cli import main\nmain()"
    )
    hook = tree / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!/bin/sh\nenv | grep ^GIT_INDEX_FILE= > {tmp_path}/index\nexport PYTHONPATH={Path(__file__).parents[1]}\n"
        f"{sys.executable} - scan --since HEAD > {tmp_path}/out 2>&1 <<'END'\n{script}\nEND\n"
        f"echo $? > {tmp_path}/code\n"
    )
    hook.chmod(0o755)
    (tree / "new.cc").write_bytes(b"size\n")
    (tree / "scratch.cc").write_bytes(b"size\n")
    git("add", "new.cc", cwd=tree)
    git("commit", "-q", "-m", "new", "new.cc", cwd=tree)
    said = (tmp_path / "out").read_text()
    assert (tmp_path / "code").read_text() == "1\n", said
    assert "new.cc:1:1" in said
    assert "scratch.cc" not in said
    assert "next-index" in (tmp_path / "index").read_text()
