"""The command on a small tree: options, exit codes, formats, and what it says to bad input."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from codemod.model.plan import Plan
from codemod.planning import analysis
from tests.conftest import MakeTree, Symfix

FILES = {
    "a.cc": b"x = size(); // op:aten::add.Tensor\ny = numel(); // op:aten::add.out\nfor loop // op:aten::mul\n",
    "sub/b.cc": b"size op:torchvision::nms\n",
    "clean/c.cc": b"nothing\n",
}


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree(FILES)


def rows(out: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out.decode())))


def test_scan_begins_with_totals_and_operators_by_impact(tree: Path, symfix: Symfix) -> None:
    code, out, err = symfix("scan", cwd=tree)
    assert code == 1
    assert err == ""
    assert out.decode().splitlines() == [
        "3 operators: 2 throw, 1 guard; fixable 2, partly 0, not 1",
        "4 findings in 3 operators and 2 of 3 files",
        "2 safe, 1 review, 1 manual",
        "",
        "operator          throws  guards  fix     for example at",
        "add                    2       ·  review  a.cc:1",
        "torchvision::nms       1       ·  safe    sub/b.cc:1",
        "mul                    ·       1  none    a.cc:3",
        "throws: calls no symbol passes; guards: places where other sizes compile again",
        "fix: safe, or a reviewer decides, partly, none; seen: what prove saw of it",
        "",
        "left alone, by reason",
        "  loop-bound  1  it bounds a loop (a.cc:3)",
        "",
        "  symfix scan --op add  explains one operator site by site",
        "  symfix diff           shows what would be written",
    ]


def test_scan_of_paths_gives_a_line_for_each_finding(tree: Path, symfix: Symfix) -> None:
    out = symfix("scan", "sub", cwd=tree).out.decode()
    assert out.startswith("sub/b.cc:1:1: safe size: size throws on symbolic shapes\n")
    assert "a.cc" not in out
    assert symfix("scan", "b.cc", cwd=tree / "sub").out == symfix("scan", str(tree / "sub/b.cc"), cwd=tree).out


def test_scan_of_one_operator_explains_each_site(tree: Path, symfix: Symfix) -> None:
    code, out, _ = symfix("scan", "--op", "add", cwd=tree)
    assert code == 1
    explained = out.decode().partition("\noperator")[0].splitlines()
    assert explained[:10] == [
        "f  a.cc",
        "  a symbolic tensor arrives by",
        "    f is a kernel  a.cc:1",
        "",
        "  1:5  safe  size  size throws on symbolic shapes",
        "      the value flows by",
        "        1  returned",
        "      - x = size(); // op:aten::add.Tensor",
        "      + x = sym_size(); // op:aten::add.Tensor",
        "",
    ]
    assert b"loop" not in out
    refused = symfix("scan", "--op", "mul", cwd=tree).out.decode()
    assert "      for loop // op:aten::mul\n      left alone (loop-bound): it bounds a loop\n" in refused


def test_what_is_written_in_several_lines_keeps_its_indentation(tree: Path) -> None:
    from codemod.model.edits import Edit
    from codemod.model.findings import Finding, Level, Mode
    from codemod.reporting.explain import explanation

    (tree / "c.cc").write_bytes(b"{\n    x = size();\n}\n")
    edit = Edit("c.cc", 2, 17, b"    x = size();", b"    x = sym_size(\n        1);")
    mode, level = Mode.DIRECT_THROW, Level.SAFE
    finding = Finding("c.cc", 6, 17, 2, 5, mode, "size", level, "f", (), "m", "why", edits=(edit,))
    shown = explanation(tree, [finding], [finding])
    assert shown[-3:] == ["      - x = size();", "      + x = sym_size(", "      +     1);"]


@pytest.mark.parametrize("command", ["scan", "diff", "apply", "review", "prove", "bundle", "pr"])
def test_a_name_that_no_operator_has_is_an_error_with_the_nearest(tree: Path, symfix: Symfix, command: str) -> None:
    code, out, err = symfix(command, "--op", "add", "--op", "ad", cwd=tree)
    assert (code, out) == (2, b"")
    assert err == "symfix: --op ad: no operator of this tree has such a name; nearest: add\n"


@pytest.mark.parametrize("name", ["add", "aten::add", "torch.add", "F.add", "torch.Tensor.add", "torch.ops.aten.add"])
def test_an_operator_is_meant_by_any_of_its_names(tree: Path, symfix: Symfix, name: str) -> None:
    code, out, err = symfix("scan", "--op", name, "--format", "csv", cwd=tree)
    assert (code, err) == (1, "")
    assert [int(row["line"]) for row in rows(out)] == [1, 2]


def test_a_script_for_no_operator_is_an_error(make_tree: MakeTree, symfix: Symfix, with_torch: Path) -> None:
    from codemod.tree.config import user_config

    tree = make_tree({**FILES, "s.py": b""})
    user_config().parent.mkdir(exist_ok=True)
    user_config().write_text(f"[repro]\nadf = '{tree}/s.py'\n")
    code, _, err = symfix("prove", "--python", str(with_torch), cwd=tree)
    assert (code, err.partition(" adf: ")[2]) == (2, "no operator of this tree has such a name; nearest: add\n")


def test_rules_and_operators_are_completed(tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SYMFIX_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "symfix diff --op a")
    monkeypatch.setenv("COMP_CWORD", "3")
    monkeypatch.setattr("codemod.tree.cache.RACY_NS", 0)  # a scan may end before the files are old enough to be trusted
    assert symfix(cwd=tree).out.strip() == b""  # nothing is analysed for it
    monkeypatch.delenv("_SYMFIX_COMPLETE")
    symfix("scan", cwd=tree)
    monkeypatch.setenv("_SYMFIX_COMPLETE", "bash_complete")
    assert symfix(cwd=tree).out.splitlines() == [b"plain,add"]
    monkeypatch.setenv("COMP_WORDS", "symfix diff --rule s")
    assert symfix(cwd=tree).out.splitlines() == [b"plain,size"]


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ((), [1, 2, 3, 1]),
        (("--level", "safe"), [1, 1]),
        (("--level", "review"), [1, 2, 1]),
        (("--mode", "4"), [3]),
        (("--rule", "size", "--op", "aten::*"), [1, 2]),
        (("clean",), []),
    ],
)
def test_filters(tree: Path, symfix: Symfix, options: tuple[str, ...], lines: list[int]) -> None:
    code, out, _ = symfix("scan", *options, "--format", "csv", cwd=tree)
    assert [int(row["line"]) for row in rows(out)] == lines
    assert code == (1 if lines else 0)


def test_json_is_a_plan_by_the_published_schema(tree: Path, symfix: Symfix) -> None:
    out = symfix("scan", "--format", "json", "--op", "add", "sub", "a.cc", cwd=tree).out
    document = json.loads(out)
    jsonschema.validate(document, json.loads(files("codemod").joinpath("model/plan.schema.json").read_text()))
    assert document["options"] == {
        "paths": ["a.cc", "sub"], "scope": "operators", "op": ["add"], "mode": [], "rule": [], "level": "manual"
    }  # fmt: skip
    assert len(Plan.from_json(out).findings) == 2
    assert out == symfix("scan", "--format", "json", "--op", "add", "--no-cache", "sub", "a.cc", cwd=tree).out


def test_exit_codes(tree: Path, symfix: Symfix) -> None:
    assert symfix("scan", "clean", cwd=tree).code == 0
    assert symfix("scan", "--exit-zero", cwd=tree).code == 0
    assert symfix("diff", cwd=tree).code == 1
    assert symfix("diff", "--op", "mul", cwd=tree).code == 0
    assert symfix("apply", "--dry-run", cwd=tree).out == symfix("diff", cwd=tree).out
    assert symfix("apply", cwd=tree).code == 1
    assert symfix("apply", "--allow-dirty", cwd=tree).code == 0
    assert (tree / "a.cc").read_bytes() == FILES["a.cc"].replace(b"size", b"sym_size")


def test_a_partial_failure_is_never_0(tree: Path, symfix: Symfix) -> None:
    (tree / "clean/c.cc").write_bytes(b"RAISE")
    for command in ("scan", "diff"):
        code, out, err = symfix(command, "--exit-zero", cwd=tree)
        assert code == 2
        assert err.startswith("symfix: clean/c.cc: ValueError: asked to")
        assert b"a.cc" in out


def test_apply_takes_safe_changes_and_review_when_asked(tree: Path, symfix: Symfix) -> None:
    _, _, err = symfix("apply", cwd=tree)
    assert err == (
        "symfix: rewrote 2 sites in 2 files\nsymfix: 1 site more with --level review\nsymfix: see it with git diff\n"
        "symfix: symfix bundle takes it from here; what symfix prove shows before goes with it\n"
    )
    assert b"y = numel()" in (tree / "a.cc").read_bytes()
    assert symfix("apply", "--allow-dirty", "--level", "review", cwd=tree).code == 1
    assert b"y = sym_numel()" in (tree / "a.cc").read_bytes()


def test_a_saved_plan_is_applied_as_it_stands(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(symfix("scan", "--format", "json", "--op", "nms", cwd=tree).out)
    diff = symfix("diff", "--plan", tmp_path / "p.json", cwd=tree).out
    assert b"b/sub/b.cc" in diff
    assert b"a.cc" not in diff
    assert symfix("apply", "--plan", tmp_path / "p.json", cwd=tree).code == 1
    assert (tree / "a.cc").read_bytes() == FILES["a.cc"]
    code, _, err = symfix("apply", "--allow-dirty", "--plan", tmp_path / "p.json", cwd=tree)
    assert code == 2
    assert err == "symfix: sub/b.cc: changed since the plan was made; run symfix scan again\n"


def test_paths_narrow_a_saved_plan_to_what_lies_in_them_as_a_whole(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path
) -> None:
    files = {
        "a.cc": b"size\n",
        "sub/b.cc": b"size\nsize @near\nsize @far\n",
        "sub/c.cc": b"size @near\n",
        "d.cc": b"size @far\n",
    }
    tree = make_tree(files)
    (tmp_path / "p.json").write_bytes(symfix("scan", "--format", "json", cwd=tree).out)
    plan = ("--plan", tmp_path / "p.json")
    changed = {"sub/b.cc": b"sym_size\nsym_size @near\nsize @far\n", "sub/c.cc": b"sym_size @near\n"}
    diff = symfix("diff", *plan, "sub", cwd=tree).out
    assert [b"b/" + path.encode() in diff for path in files] == [path in changed for path in files]
    assert symfix("apply", *plan, "sub", cwd=tree).code == 1
    assert {path: (tree / path).read_bytes() for path in files} == files | changed


def test_a_plan_whose_edits_do_not_fit_is_refused(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    document = json.loads(symfix("scan", "--format", "json", cwd=tree).out)
    document["findings"][0]["edits"][0]["old"] = "SIZE"
    (tmp_path / "p.json").write_text(json.dumps(document))
    code, _, err = symfix("apply", "--plan", tmp_path / "p.json", cwd=tree)
    assert code == 2
    assert err.startswith("symfix: the plan does not fit the tree: a.cc: bytes 4-8 are no longer b'SIZE'")
    assert (tree / "a.cc").read_bytes() == FILES["a.cc"]


def test_a_plan_cannot_reach_out_of_the_tree(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    outside = tmp_path / "outside.cc"
    outside.write_bytes(b"size")
    document = json.loads(symfix("scan", "--format", "json", "sub", cwd=tree).out)
    for path in ("../outside.cc", str(outside)):
        document["findings"][0]["edits"] = [{"path": path, "start": 0, "end": 4, "old": "size", "new": "gone"}]
        (tmp_path / "p.json").write_text(json.dumps(document))
        code, _, err = symfix("apply", "--allow-dirty", "--plan", tmp_path / "p.json", cwd=tree)
        assert code == 2
        assert "leads out of the tree" in err
        assert outside.read_bytes() == b"size"


def test_the_manual(tree: Path, symfix: Symfix) -> None:
    assert symfix("rule", cwd=tree).out.decode().splitlines() == [
        "rule                mode  level   what it does",
        "loop                4     manual  Loops stay.",
        "size                1     safe    Rename size.",
        "unused-suppression  1     manual  Ignore comments that suppress nothing are reported.",
    ]
    assert symfix("rule", "size", cwd=tree).out.decode().splitlines() == [
        "size  mode 1, level safe", "", "Rename size.", "", "Because.", "", "Example", "    - size", "    + sym_size"
    ]  # fmt: skip
    assert symfix("rule", "loop", cwd=tree).out.decode().splitlines()[-2:] == ["Left alone: A loop", "      loop"]
    says = "symfix: there is no rule named 'lop'; nearest: loop; symfix rule lists them\n"
    assert symfix("rule", "lop", cwd=tree)[::2] == (2, says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("scan", "nowhere"), "nowhere: no such file"),
        (("scan", "claen"), "claen: no such file or folder; nearest: clean"),
        (("review", "--accept", "op:ad"), "--accept op:ad: no operator of this tree has such a name; nearest: add"),
        (("review", "--reject", "rule:szie"), "--reject rule:szie: there is no such rule; nearest: size"),
        (("review", "--accept", "path:sub/c.cc"), "path:sub/c.cc: there is no such file here; nearest: sub/b.cc"),
        (("scan", ".."), "lies outside"),
        (("scan", ".", "--vocabulary", "none.yaml"), "none.yaml: the vocabulary cannot be read"),
        (("scan", "--vocabulary", "a.cc"), "a.cc: not a native_functions.yaml"),
        (("scan", "--vocabulary", "latin.txt"), "latin.txt: not a native_functions.yaml"),
        (("scan", "--torch", "new"), "--torch: 'new' is not a version such as 2.4"),
        (("scan", "empty"), "empty: holds no C++ or Python"),
        (("scan", "a.cc", "empty"), "empty: holds no file of the checkout"),
        (("diff", "--plan", "none.json"), "none.json: the plan cannot be read"),
        (("diff", "--plan", "a.cc"), "a.cc: not JSON"),
        (("scan", "--mode", "5"), "'--mode'"),
        (("scan", "--jobs", "0"), "'--jobs'"),
        (("scan", "--rule", "szie"), "--rule szie: there is no such rule; nearest: size; symfix rule lists them"),
        (("scna",), "No such command"),
    ],
)
def test_bad_input_is_one_clear_error(
    make_tree: MakeTree, symfix: Symfix, arguments: tuple[str, ...], says: str
) -> None:
    tree = make_tree({**FILES, "latin.txt": b"\xe9"})
    (tree / "empty").mkdir()
    if ".." in arguments:
        arguments = ("scan", str(tree / "a.cc"), str(tree.parent))
    code, out, err = symfix(*arguments, cwd=tree)
    assert code == 2
    assert out == b""
    assert says in err.splitlines()[-1]


def test_where_nothing_is_found_a_program_that_fails_is_the_next_step(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.cc": b"nothing\n"})
    assert symfix("scan", cwd=tree).out.decode().splitlines()[-1].split("  ")[1] == "symfix fix -- python PROGRAM"
    assert "symfix fix --" not in symfix("scan", cwd=make_tree({"a.cc": b"size\n"}, name="other")).out.decode()


def test_a_tree_without_sources_is_said(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.txt": b"size\n"})
    code, out, err = symfix("scan", cwd=tree)
    assert (code, out) == (2, b"")
    assert err == f"symfix: {tree}: holds no C++ or Python that symfix reads; name a checkout that does\n"


def test_apply_wants_git_and_a_clean_tree(make_tree: MakeTree, symfix: Symfix, git: Callable[..., bytes]) -> None:
    loose = make_tree(FILES, "loose", vcs=False)
    code, _, err = symfix("apply", cwd=loose)
    assert code == 2
    assert "not a git checkout" in err
    assert "--allow-no-vcs" in err
    assert (loose / "a.cc").read_bytes() == FILES["a.cc"]
    assert symfix("apply", "--allow-no-vcs", cwd=loose).code == 1
    assert symfix("scan", "--level", "safe", cwd=loose).code == 0

    git("init", "-q", ".", cwd=loose)
    code, _, err = symfix("apply", cwd=loose)
    assert (code, err) == (2, f"symfix: {loose}: no commit yet, so nothing could be undone; commit first\n")

    tree = make_tree(FILES)
    (tree / "clean/c.cc").write_bytes(b"changed")
    code, _, err = symfix("apply", cwd=tree)
    assert code == 2
    assert err == "symfix: clean/c.cc: not committed; commit or stash first, or give --allow-dirty\n"
    (tree / "clean/c.cc").write_bytes(FILES["clean/c.cc"])
    (tree / "new.cc").write_bytes(b"size")
    code, _, err = symfix("apply", cwd=tree)
    assert code == 2
    assert err.startswith("symfix: new.cc: not committed")
    assert (tree / "a.cc").read_bytes() == FILES["a.cc"]


def test_a_broken_yaml_is_no_traceback(tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    def parse(*arguments: object) -> None:
        yaml.safe_load("a: [")

    monkeypatch.setattr(analysis, "_make", parse)
    code, _, err = symfix("scan", "--no-cache", cwd=tree)
    assert code == 2
    assert err.startswith("symfix: not YAML: while parsing")
    assert err.count("\n") == 1
