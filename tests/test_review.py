"""`symfix review`: the batch options, what apply makes of decisions, and a real terminal."""

from __future__ import annotations

import json
import random
import re
import signal
import sys
from pathlib import Path

import jsonschema
import pytest

from codemod.model.decisions import Choice
from codemod.planning.decision_store import DecisionStore
from tests.conftest import MakeTree, Symfix
from tests.typing_terminal import TypingTerminal

FILES = {
    "a.cc": b"one = size(); // op:add\ntwo = numel(); // op:add\nthree = size(); // op:mul\n",
    "b.cc": b"four = size(); // op:zeta @g\nfive = numel(); // op:zeta @g\nloop\n",
}
PROGRAM = """
from codemod.model import transform
from tests.codemod import fake
transform.load_transforms = fake.transforms
from codemod.cli import main
main(["review"])
"""
REVIEW = [sys.executable, "-c", PROGRAM]
ROOT = Path(__file__).parent.parent


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree(FILES)


def content(tree: Path) -> bytes:
    return (tree / "a.cc").read_bytes() + (tree / "b.cc").read_bytes()


def new(*words: str) -> bytes:
    """The files with the sites one to five as `words` say."""
    a = "one = {}(); // op:add\ntwo = {}(); // op:add\nthree = {}(); // op:mul\n"
    b = "four = {}(); // op:zeta @g\nfive = {}(); // op:zeta @g\nloop\n"
    return (a + b).format(*words).encode()


def test_apply_takes_the_accepted_whatever_their_level_and_leaves_the_rejected(tree: Path, symfix: Symfix) -> None:
    code, out, err = symfix("review", "--accept", "op:zeta", "--reject", "rule:loop", "--reject", "op:mul", cwd=tree)
    assert (code, out) == (0, b"")
    assert err.splitlines() == [
        "symfix: accepted 1 change by op:zeta",
        "symfix: rejected 0 changes by rule:loop",
        "symfix: rejected 1 change by op:mul",
        "symfix: of 4 changes 1 accepted, 0 edited, 1 rejected, 2 to decide",
    ]
    shown = symfix("diff", cwd=tree).out
    code, _, err = symfix("apply", cwd=tree)
    assert code == 1
    assert content(tree) == new("sym_size", "numel", "size", "sym_size", "sym_numel")
    assert shown.count(b"\n-") == shown.count(b"\n+") == 2 + 3
    assert "symfix: 1 site left out, as rejected in review (symfix review --forget WHAT)" in err.splitlines()


def test_accepted_takes_nothing_else(tree: Path, symfix: Symfix) -> None:
    assert symfix("apply", "--accepted", cwd=tree).code == 0
    symfix("review", "--accept", "rule:s*", "--reject", "path:a*", cwd=tree)
    _, _, err = symfix("apply", "--accepted", cwd=tree)
    assert content(tree) == new("size", "numel", "size", "sym_size", "sym_numel")
    assert err.splitlines()[:2] == [
        "symfix: rewrote 2 sites in 1 file",
        "symfix: 3 sites left out, as rejected in review (symfix review --forget WHAT)",
    ]


def test_what_is_rejected_stays_away_until_its_code_changes_or_it_is_forgotten(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--reject", "level:safe", "--accept", "level:review", cwd=tree)
    (tree / "a.cc").write_bytes(b"new line\n" + FILES["a.cc"].replace(b"three", b"tres"))
    names = [line for line in symfix("diff", "--level", "review", cwd=tree).out.splitlines() if line[:1] == b"+"]
    assert [line for line in names if not line.startswith(b"+++")] == [
        b"+two = sym_numel(); // op:add",  # not as accepted, but by its level
        b"+tres = sym_size(); // op:mul",
        b"+four = sym_size(); // op:zeta @g",
        b"+five = sym_numel(); // op:zeta @g",
    ]
    assert b"two" not in symfix("diff", "--accepted", cwd=tree).out
    symfix("review", "--forget", "op:add", cwd=tree)
    assert b"+one" in symfix("diff", cwd=tree).out
    assert "symfix: forgot 2 decisions\n" in symfix("review", "--forget", "--all", cwd=tree).err
    assert symfix("diff", "--accepted", cwd=tree).out == b""


def test_what_was_written_in_the_page_is_checked_before_it_is_taken_over(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--html", "page.html", cwd=tree)
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', (tree / "page.html").read_bytes())
    assert found is not None
    groups = [g for shard in json.loads(found[1])["shards"] for g in shard["groups"] if "draft" in g]
    add = next(group for group in groups if "one = sym_size" in group["draft"])
    written = add["draft"].replace("one = sym_size", "one = mine")

    def taken(draft: str, **other: object) -> str:
        decision = {**add["decision"], "choice": "edit", "draft": draft, **other}
        document = {"format": "symfix-decisions", "version": 1, "decisions": [decision]}
        (tree / "d.json").write_text(json.dumps(document))
        return symfix("review", "--import", "d.json", cwd=tree).err

    for draft, why in [
        (add["draft"].partition("\n")[2].partition("\n")[2].partition("\n")[2], "is missing or not in its place"),
        ("", "changes nothing"),
        (add["draft"].replace("one = sym_size", "one = size"), "changes nothing"),
    ]:
        said = taken(draft)
        assert "a.cc:1" in said
        assert "not taken over: " in said
        assert why in said
    assert "has both edits and a draft" in taken(written, edits=[])
    assert "1 decision left out: made for other code" in taken(written, files={"a.cc": "0" * 64})
    assert "edits what the change at a.cc:2 writes too" in taken(written.replace("two = numel", "two = mine"))
    assert symfix("diff", "--accepted", cwd=tree).out.count(b"\n+") == 0
    assert "took over 1 decision" in taken(written)
    schema = json.loads((ROOT / "codemod/model/decisions.schema.json").read_text())
    jsonschema.validate(json.loads((tree / "d.json").read_text()), schema)
    assert b"+one = mine(); // op:add" in symfix("diff", "--accepted", cwd=tree).out


def test_decisions_travel_in_a_file_and_in_a_plan(tree: Path, symfix: Symfix, make_tree: MakeTree) -> None:
    symfix("review", "--accept", "op:zeta", "--reject", "op:add", "--export", "d.json", cwd=tree)
    plan = symfix("scan", "--format", "json", cwd=tree).out
    part = json.loads(symfix("scan", "--op", "mul", "--format", "json", cwd=tree).out)
    assert part["decisions"] == []
    other = make_tree(FILES, "other")
    (other / "plan.json").write_bytes(plan)
    assert symfix("review", "--import", str(tree / "d.json"), cwd=other).err.splitlines()[1] == (
        "symfix: of 4 changes 1 accepted, 0 edited, 2 rejected, 1 to decide"
    )
    assert symfix("review", "--export", "-", cwd=other).out == (tree / "d.json").read_bytes()
    symfix("review", "--forget", "--all", cwd=other)
    symfix("apply", "--plan", "plan.json", cwd=other)
    assert content(other) == new("size", "numel", "sym_size", "sym_size", "sym_numel")


def test_an_import_takes_what_fits_and_counts_the_rest(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--accept", "level:review", "--accept", "level:safe", "--export", "d.json", cwd=tree)
    symfix("review", "--forget", "--all", cwd=tree)
    document = json.loads((tree / "d.json").read_bytes())
    first, second, third, *_ = document["decisions"]
    start = FILES["a.cc"].index(b"numel")
    first |= {
        "choice": "edit",
        "edits": [{"path": "a.cc", "start": start, "end": start + 5, "old": "numel", "new": "x"}],
    }
    second |= {"id": "0123456789abcdef"}
    third |= {"files": {"a.cc": "0" * 64}}
    (tree / "d.json").write_text(json.dumps(document))
    err = symfix("review", "--import", "d.json", cwd=tree).err
    assert err.splitlines() == [
        "symfix: d.json: a.cc:1 f: edits what the change at a.cc:2 writes too",
        "symfix: took over 1 decision from d.json",
        "symfix: 3 decisions left out: made for other code, or for what the options leave out",
        "symfix: of 4 changes 1 accepted, 0 edited, 0 rejected, 3 to decide",
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "review asks on a terminal; without one, say: symfix review --accept 'op:cross_entropy*'"),
        (("--accept", "cross_entropy"), "--accept cross_entropy: names no change; write op:GLOB"),
        (("--reject", "level:manual"), "--reject level:manual: names no change"),
        (("--accept", "id:none"), "--accept id:none: there is no such change"),
        (("--reject", "id:none"), "--reject id:none: there is no such change"),
        (("--import", "none.json"), "none.json: the decisions cannot be read: No such file"),
        (("--import", "a.cc"), "a.cc: not JSON"),
        (("--export", "none/d.json"), "none/d.json: cannot be written"),
    ],
)
def test_bad_input_is_told_in_one_line(tree: Path, symfix: Symfix, options: tuple[str, ...], says: str) -> None:
    code, out, err = symfix("review", *options, cwd=tree)
    assert (code, out) == (2, b"")
    assert err.startswith(f"symfix: {says}")
    assert err.count("\n") == 1


def test_a_damaged_store_is_named_and_can_be_forgotten(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--accept", "op:add", cwd=tree)
    store = tree / ".git/symfix/decisions.json"
    damaged = store.read_bytes()[:-30]
    store.write_bytes(damaged)
    code, _, err = symfix("apply", cwd=tree)
    assert code == 2
    assert "decisions.json: not JSON" in err
    assert "symfix review --forget --all" in err
    assert symfix("review", "--forget", "--all", cwd=tree).code == 0
    assert symfix("apply", cwd=tree).code == 1
    assert store.with_name("decisions.before-forget.json").read_bytes() == damaged


def test_what_is_forgotten_is_named_counted_and_kept(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--accept", "op:add", "--reject", "op:mul", cwd=tree)
    store = tree / ".git/symfix/decisions.json"
    before = store.read_bytes()
    code, out, err = symfix("review", "--forget", "op:add", cwd=tree)
    backup = store.with_name("decisions.before-forget.json")
    assert (code, out) == (0, b"")
    assert err.splitlines() == [
        "symfix: forgot 2 decisions",
        "symfix:   accept  a.cc:1 f",
        "symfix:   accept  a.cc:2 f",
        f"symfix: take them back with: symfix review --import {backup}",
    ]
    assert backup.read_bytes() == before
    assert choices(tree) == [Choice.REJECT]
    assert symfix("review", "--forget", "op:zeta", cwd=tree).err == "symfix: nothing is decided on op:zeta\n"
    assert backup.read_bytes() == before  # what is to be taken back is not lost by asking for nothing
    symfix("review", "--import", backup, cwd=tree)
    assert sorted(choice.value for choice in choices(tree)) == ["accept", "accept", "reject"]


def test_a_decision_on_a_change_that_is_gone_is_forgotten_by_its_id(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--accept", "op:add", cwd=tree)
    gone = DecisionStore(tree / ".git/symfix").load()[0]
    (tree / "a.cc").write_bytes(b"")
    assert "symfix: forgot 1 decision\n" in symfix("review", "--forget", f"id:{gone.id}", cwd=tree).err
    assert "symfix: forgot 1 decision\n" in symfix("review", "--forget", "--all", cwd=tree).err
    assert choices(tree) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--forget"], "Error: Option '--forget' requires an argument."),
        (["--forget", "--accept", "op:add"], "symfix: --forget --accept: say what to forget: op:GLOB"),
        (["--forget", "op:add", "--accept", "op:add"], "symfix: --forget does not go with --accept"),
        (["--accept", "op:add", "--forget", "--all"], "symfix: --forget does not go with --accept"),
        (["--forget", "--all", "--import", "d.json"], "symfix: --forget does not go with --import"),
        (["--forget", "--all", "--op", "add"], "symfix: --forget --all forgets every decision"),
        (["--forget", "--all", "--forget", "op:add"], "symfix: --forget --all forgets every decision"),
        (["--forget", "everything"], "symfix: --forget everything: names no change"),
        (["--forget", "id:none"], "symfix: --forget id:none: there is no such change"),
    ],
    ids=" ".join,
)
def test_nothing_is_forgotten_that_is_not_named(tree: Path, symfix: Symfix, options: list[str], says: str) -> None:
    symfix("review", "--accept", "op:add", cwd=tree)
    before = (tree / ".git/symfix/decisions.json").read_bytes()
    code, _, err = symfix("review", *options, cwd=tree)
    assert code == 2
    assert says in err
    assert (tree / ".git/symfix/decisions.json").read_bytes() == before


def choices(tree: Path) -> list[Choice]:
    return [decision.choice for decision in DecisionStore(tree / ".git/symfix").load()]


@pytest.mark.parametrize(
    ("leave", "code"),
    [("q", 0), ("\x04", 0), (signal.SIGINT, 130), (signal.SIGTERM, 143)],
)
def test_the_terminal_is_put_back_and_decisions_are_kept(tree: Path, leave: str | signal.Signals, code: int) -> None:
    with TypingTerminal(REVIEW, tree, {"PYTHONPATH": str(ROOT)}) as terminal:
        before = terminal.modes()
        terminal.read_until("[1/4]")
        assert terminal.modes() != before
        terminal.type("y")
        terminal.read_until("1 accepted")
        if isinstance(leave, str):
            terminal.type(leave)
        else:
            terminal.process.send_signal(leave)
        assert terminal.wait() == code
        assert terminal.modes() == before
        assert b"\x1b[?25h\x1b[?1049l" in terminal.output
        assert b"Traceback" not in terminal.output
    assert choices(tree) == [Choice.ACCEPT]


def test_keys_that_are_no_character_and_a_new_size(tree: Path) -> None:
    with TypingTerminal(REVIEW, tree, {"PYTHONPATH": str(ROOT)}) as terminal:
        terminal.read_until("[1/4]")
        terminal.type("\x1b[C\x1bOC")
        terminal.read_until("[3/4]")
        terminal.type("\x1b[D")
        terminal.read_until("[2/4]")
        terminal.type("\x1b[1;5A\x1b")  # a key it does not know, and Escape alone
        terminal.read_until("that key does nothing")
        terminal.resize(100, 30)
        terminal.read_until("─" * 100)
        terminal.type("/caf\u00e9\x7f\x7five\r")
        terminal.read_until("no change holds 'caive'")
        terminal.type("q")
        assert terminal.wait() == 0


def test_what_is_asked_again_is_said(tree: Path, symfix: Symfix) -> None:
    symfix("review", "--accept", "op:add", "--reject", "op:mul", cwd=tree)
    (tree / "a.cc").write_bytes(FILES["a.cc"] + b"more\n")
    with TypingTerminal(REVIEW, tree, {"PYTHONPATH": str(ROOT)}) as terminal:
        terminal.read_until("1 rejected")
        terminal.read_until("2 changes asked again: decided before, in files that have changed since")


def test_without_colour_there_is_none_and_a_dumb_terminal_gets_lines(tree: Path) -> None:
    where = {"PYTHONPATH": str(ROOT)}
    with TypingTerminal(REVIEW, tree, {**where, "NO_COLOR": "1"}) as terminal:
        terminal.type("q")
        terminal.wait()
        assert b"one = sym_size()" in terminal.output.replace(b"\x1b[1;7m", b"").replace(b"\x1b[0m", b"")
        assert not re.search(rb"\x1b\[[0-9;]*3[0-9][0-9;]*m", terminal.output)
    with TypingTerminal(REVIEW, tree, {**where, "TERM": "dumb"}) as terminal:
        terminal.type("/five\ny\nq\n")
        assert terminal.wait() == 0
        assert b"+ five = sym_numel(); // op:zeta @g\r\n" in terminal.output
        assert b"\x1b" not in terminal.output
    assert choices(tree) == [Choice.ACCEPT]


def test_a_killed_review_loses_at_most_the_key_being_pressed(tree: Path) -> None:
    chance = random.Random(5)
    keys = "yn" * 50
    shown = {"y": "accepted add", "n": "rejected add"}
    for _ in range(3):
        (tree / ".git/symfix/decisions.json").unlink(missing_ok=True)
        with TypingTerminal(REVIEW, tree, {"PYTHONPATH": str(ROOT)}) as terminal:
            terminal.read_until("[1/4]")
            pressed = ""
            for key in keys[: chance.randint(1, 4)]:
                terminal.type(key)
                pressed += key
                if chance.random() < 0.5:
                    terminal.read_until(shown[key][:8])
            terminal.process.kill()
        made = "".join({Choice.ACCEPT: "y", Choice.REJECT: "n"}[choice] for choice in choices(tree))
        assert pressed.startswith(made)


def test_the_exported_document_keeps_to_its_schema(tree: Path, symfix: Symfix) -> None:
    from importlib.resources import files

    schema = json.loads(files("codemod").joinpath("model/decisions.schema.json").read_text())
    symfix("review", "--accept", "op:*", cwd=tree)
    jsonschema.validate(json.loads(symfix("review", "--export", "-", cwd=tree).out), schema)
