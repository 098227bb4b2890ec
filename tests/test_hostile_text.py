"""Every command over a tree whose names and lines are orders: none of its outputs passes one on."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import jsonschema
import pytest

from codemod.model import transform
from tests import hostile
from tests.conftest import MakeTree, Symfix
from tests.hostile import ATTACKS, check_markdown, runs_a_command, unseen
from tests.typing_terminal import TypingTerminal

Git = Callable[..., bytes]

KERNELS = r"""
#include <torch/library.h>
// \u202e ::error::INJ
at::Tensor f(const at::Tensor& x) {{
  TORCH_CHECK(x.numel() > 0, "{0}");
  auto n = x.size(0); // {0}
  return x.view({{n, x.size(1)}});
}}
TORCH_LIBRARY(inj, m) {{ m.def("{0}(Tensor x) -> Tensor"); m.def("g(Tensor x) -> Tensor"); }}
TORCH_LIBRARY_IMPL(inj, Meta, m) {{ m.impl("{0}", f); m.impl("g", f); }}
TORCH_LIBRARY_IMPL(aten, Meta, m) {{ m.impl("Fixes #1 @INJ", f); }}
"""
load_real = transform.load_transforms
ROOT = Path(__file__).parent.parent
PROGRAM = """
import sys
from codemod.model import transform
from tests import hostile
transform.load_transforms = hostile.transforms
from codemod.cli import main
main(sys.argv[1:])
"""
NUMBER = len(ATTACKS)


@pytest.fixture
def tree(make_tree: MakeTree, git: Git, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that are attacks, under git; asked for with `symfix`, which has the fake transform else."""
    monkeypatch.setattr(transform, "load_transforms", hostile.transforms)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    root = make_tree(hostile.files())
    git("branch", "-M", "main", cwd=root)
    return root


def check_shown(out: bytes | str) -> None:
    """What people read on a terminal or in a log."""
    text = out.decode() if isinstance(out, bytes) else out
    assert not unseen(text)
    assert not runs_a_command(text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan"],
        ["scan", "."],
        ["scan", *map(hostile.file_of, ATTACKS.values())],
        ["scan", "--op", "*"],
        ["scan", "--rule", "size"],
        ["bundle", "--dry-run"],
        ["bundle"],
        ["pr"],
        ["review", "--accept", "op:*", "--reject", "path:*"],
        ["apply", "--level", "review"],
        ["rule", "--all"],
    ],
    ids=lambda arguments: " ".join(arguments[:3]) if len(arguments) < 9 else "scan FILES",
)
def test_nothing_printed_gives_orders(tree: Path, symfix: Symfix, arguments: list[str]) -> None:
    arguments = [argument if argument not in hostile.files() else f"./{argument}" for argument in arguments]
    code, out, err = symfix(*arguments, cwd=tree)
    assert (code, "Traceback" in err) == (1 if arguments[0] not in ("review", "rule") else 0, False)
    check_shown(out)
    check_shown(err)
    assert arguments[0] in ("rule", "review", "apply") or b"INJ" in out


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_error_gives_orders(make_tree: MakeTree, symfix: Symfix, attack: str, tmp_path: Path) -> None:
    path = hostile.file_of(attack)
    tree = make_tree({path: hostile.files()[path]})
    plan = tmp_path / "plan.json"
    plan.write_bytes(symfix("scan", f"./{path}", "--format", "json", cwd=tree).out)
    (tree / path).write_bytes(b"size\n")
    for arguments in (
        ["apply"], ["bundle"], ["diff", "--plan", str(plan)], ["scan", f"./no{path}"], ["scan", "--op", attack],
        ["scan", "--rule", attack], ["rule", attack], ["prove", "--include", attack], ["review", "--import", attack],
        [attack],
    ):  # fmt: skip
        code, out, err = symfix(*arguments, cwd=tree)
        assert code in (0, 1, 2)
        assert "Traceback" not in err
        check_shown(out)
        check_shown(err)


def test_no_traceback_gives_orders(tree: Path, environment: Mapping[str, str]) -> None:
    fault = f"def rules(self): raise ValueError({chr(10).join(ATTACKS.values())!r})"
    program = PROGRAM.replace("main(", f"{fault}\nhostile.HostileTransform.rules = rules\nmain(")
    for shown in ({}, {"SYMFIX_DEBUG": "1"}):
        variables = {**environment, **shown}
        done = subprocess.run([sys.executable, "-c", program, "rule"], cwd=tree, env=variables, capture_output=True)
        assert (done.returncode, b"ValueError" in done.stderr) == (2, True)
        assert (b"Traceback" in done.stderr) == bool(shown)
        check_shown(done.stderr)


@pytest.mark.usefixtures("torch_is_read")
def test_no_kernel_gives_orders(make_tree: MakeTree, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transform, "load_transforms", load_real)
    texts = {f"k{n}.cpp": KERNELS.format(attack.replace('"', "'")) for n, attack in enumerate(ATTACKS.values())}
    tree = make_tree({path: text.encode("utf-8", "surrogateescape") for path, text in texts.items()})
    for arguments in (["scan", "."], ["scan", "--op", "*"], ["bundle", "--dry-run", "--level", "review"]):
        code, out, err = symfix(*arguments, "--jobs", "1", cwd=tree)
        assert code in (1, 2)
        check_shown(out)
        check_shown(err)
    check_markdown(symfix("pr", "--level", "review", cwd=tree).out.decode())


def test_a_diff_is_exact_and_git_takes_it(tree: Path, symfix: Symfix, git: Git) -> None:
    patch = symfix("diff", "--level", "review", cwd=tree).out
    git("apply", "-", cwd=tree, stdin=patch)
    assert git("diff", "--numstat", cwd=tree).count(b"2\t2\t") == NUMBER


def test_a_diff_in_a_workflow_is_taken_by_git_too(tree: Path, git: Git, environment: Mapping[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, "diff"], cwd=tree, stdout=subprocess.PIPE, check=False,
                          env={**environment, "GITHUB_ACTIONS": "true"})  # fmt: skip
    lines = done.stdout.split(b"\n")
    token = lines[0].removeprefix(b"::stop-commands::")
    assert lines[-2:] == [b"::%s::" % token, b""]
    git("apply", "-", cwd=tree, stdin=done.stdout)
    assert git("diff", "--numstat", cwd=tree).count(b"1\t1\t") == NUMBER


def test_json_is_read_back_and_gives_no_orders(tree: Path, symfix: Symfix) -> None:
    for name in ("json", "baseline", "sarif"):
        out = symfix("scan", "--format", name, cwd=tree).out.decode("ascii")
        check_shown(out)
        document = json.loads(out)
        if name == "json":
            assert {finding["path"] for finding in document["findings"]} == set(hostile.files())
        if name == "sarif":
            jsonschema.validate(document, json.loads((ROOT / "tests/sarif_subset.schema.json").read_text()))
            json.dumps(document, ensure_ascii=False).encode()  # no half of a character
            for result in document["runs"][0]["results"]:
                assert not unseen(result["message"]["text"])
                assert "](" not in result["message"]["text"]


def test_csv_holds_no_formula(tree: Path, symfix: Symfix) -> None:
    out = symfix("scan", "--format", "csv", cwd=tree).out
    check_shown(out)
    rows = list(csv.reader(io.StringIO(out.decode())))
    assert len(out.splitlines()) == len(rows) == 1 + 3 * NUMBER
    assert not [cell for row in rows for cell in row if re.match(r"\s*[=+\-@]", cell)]


@pytest.mark.parametrize("actions", ["", "true"])
def test_a_workflow_gets_an_annotation_for_each_finding_and_no_more(
    tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, actions: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", actions)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    out = symfix("scan", "--format", "github", cwd=tree).out.decode()
    assert not unseen(out)
    commands = [line for line in out.splitlines() if line.startswith("::")]
    assert len(commands) == 30
    for line in commands:
        assert re.match(
            r"::(error|warning|notice) file=[^,:]*,line=\d+,endLine=\d+,col=\d+,endColumn=\d+,title=[^,:]*::", line
        )  # fmt: skip
        assert not re.search(r"##\w*\[", line)
    check_shown("\n".join(line for line in out.splitlines() if not line.startswith("::")))
    check_markdown((tmp_path / "summary.md").read_text(encoding="utf-8"))


def test_a_commit_says_nothing_but_what_it_does(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    mail = symfix("bundle", "--format", "mbox", cwd=tree).out
    assert symfix("bundle", "--format", "patches", "--output", tmp_path / "out", cwd=tree).code == 1
    patches = sorted((tmp_path / "out").iterdir())
    assert all(re.fullmatch(r"\d{4}-[A-Za-z0-9_.+-]+\.patch", path.name) for path in patches)
    assert symfix("bundle", cwd=tree).code == 1
    branches = git("for-each-ref", "--format=%(refname)", "refs/heads/symfix/", cwd=tree).decode().split()
    assert len(branches) == len(patches)
    for branch in branches:
        message = git("log", "-1", "--format=%B", branch, cwd=tree).decode().strip("\n") + "\n"
        assert not unseen(message)
        parse = ["git", "interpret-trailers", "--parse", "--no-divider"]
        found = subprocess.run(parse, input=message.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
        assert [line.partition(":")[0] for line in found.splitlines()] == ["Symfix-Shard", "Symfix-Plan"]
        assert f"Symfix-Shard: {branch.rpartition('/')[2]}\n" in found
        text = message.removesuffix(found)
        assert not re.search(r"(?<!\w)@\w|#\d|\bGH-\d|\[(skip|no) ci\]|\[ci skip\]|(?m:^(#|---|diff |From ))", text)
    assert symfix("bundle", cwd=tree).out.count(b"  kept  ") == len(branches)
    git("am", "-q", "--keep-non-patch", "-", cwd=tree, stdin=mail)
    assert git("rev-list", "--count", "HEAD", cwd=tree).strip() == b"%d" % (1 + len(branches))


def test_a_pull_request_links_calls_and_closes_nothing(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    assert symfix("pr", "--output", tmp_path / "out", cwd=tree).code == 1
    pages = sorted((tmp_path / "out").iterdir())
    assert len(pages) > NUMBER / 2
    for path in pages:
        assert re.fullmatch(r"[A-Za-z0-9_.+-]+\.md", path.name)
        check_markdown(path.read_text(encoding="utf-8"))


def test_the_page_shows_all_that_it_holds(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    symfix("review", "--html", tmp_path / "page.html", cwd=tree)
    page = (tmp_path / "page.html").read_text(encoding="ascii")
    assert len(re.findall(r"</script", page)) == 2
    assert "<img" not in page
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    document = json.loads(data)
    for shard in document["shards"]:
        for group in shard["groups"]:
            group.pop("decision", None)
    assert not unseen(json.dumps(document, ensure_ascii=False))


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(
    "arguments",
    [["scan"], ["scan", "."], ["scan", "--op", "*"], ["diff", "--level", "review"], ["bundle", "--dry-run"]],
    ids=" ".join,
)
def test_a_terminal_is_given_colours_and_no_more(tree: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-c", PROGRAM, *arguments, "--jobs", "1"]  # with no bar of progress
    with TypingTerminal(command, tree, {"PYTHONPATH": str(ROOT)}) as terminal:
        assert terminal.wait() == 1
        shown = terminal.output.decode().replace("\r\n", "\n")
    assert "\x1b[" in shown or arguments[0] == "bundle"
    check_shown(re.sub(r"\x1b\[(\d+;)*\d+m", "", shown))
    assert "INJ" in shown


def test_the_review_shows_what_it_asks_about(tree: Path) -> None:
    own = re.compile(r"\x1b\[(\?\d+[hl]|[HKJ]|(\d+;)*\d*m)")
    with TypingTerminal([sys.executable, "-c", PROGRAM, "review"], tree, {"PYTHONPATH": str(ROOT)}) as terminal:
        terminal.read_until("to decide")  # no key is echoed any more
        terminal.type("j\x1b[F" * (2 * NUMBER) + "/INJ\r? q")
        assert terminal.wait() == 0
        shown = re.sub(r"\r+\n", "\n", terminal.output.decode())
    assert "INJ" in shown
    assert not unseen(own.sub("", shown))
