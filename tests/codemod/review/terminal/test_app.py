"""Keys in, decisions out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemod.model.decisions import Choice, followed
from tests.codemod.review.scripted import Tree

FILES = {
    "a.cc": b"one = size(); // op:add\ntwo = numel(); // op:add\nthree = size(); // op:mul\n",
    "b.cc": b"four = size(); // op:zeta @g\nfive = size(); // op:zeta @g\n",
}
ADD1, ADD2, MUL, ZETA = "a.cc:1 f", "a.cc:2 f", "a.cc:3 f", "b.cc:1 f"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path, FILES)


def test_each_change_is_asked_once_and_a_group_as_a_whole(tree: Tree) -> None:
    screen = tree.review("yny")
    assert tree.choices() == {ADD1: Choice.ACCEPT, ADD2: Choice.REJECT, MUL: Choice.ACCEPT}
    assert screen.last[0].startswith(" zeta ")
    assert screen.last[0].endswith(" undecided [4/4] ")
    assert [line for line in screen.last if line.startswith(("-", "+"))] == [
        "- four = size(); // op:zeta @g",
        "- five = size(); // op:zeta @g",
        "+ four = sym_size(); // op:zeta @g",
        "+ five = sym_size(); // op:zeta @g",
    ]
    assert screen.last[-2] == " 2 accepted  1 rejected  1 to decide"


def test_a_review_goes_on_where_it_ended(tree: Tree) -> None:
    tree.review("yq")
    assert tree.review("").last[0].startswith(" add 2/2 ")
    tree.review("n")
    assert tree.choices() == {ADD1: Choice.ACCEPT, ADD2: Choice.REJECT}


def test_the_rest_of_an_operator_is_decided_at_once_and_taken_back_at_once(tree: Tree) -> None:
    screen = tree.review("ad")
    assert tree.choices() == {ADD1: Choice.ACCEPT, ADD2: Choice.ACCEPT, MUL: Choice.REJECT}
    assert screen.last[-1] == "rejected mul"
    screen = tree.review(["a", "u"])  # zeta, which alone is left
    assert ZETA not in tree.choices()
    assert screen.last[-1] == "taken back"


def test_undo_restores_what_was_decided_before_and_ends_with_the_session(tree: Tree) -> None:
    tree.review("y")
    screen = tree.review("knu")
    assert tree.choices() == {ADD1: Choice.ACCEPT}
    assert screen.last[0].startswith(" add 1/2 ")
    assert tree.review("u").last[-1].startswith("nothing to take back")


def test_moving_decides_nothing(tree: Tree) -> None:
    screen = tree.review(
        ["j", "J", "J", "j", "K", "k", "s", "left", "right", " ", "b", "home", "end", "?", "x", "resize"]
    )
    assert tree.choices() == {}
    assert screen.last[0].startswith(" mul ")


def test_search_finds_code_operators_and_rules_and_goes_round(tree: Tree) -> None:
    assert tree.review([*"/five", "enter"]).last[0].startswith(" zeta ")
    assert tree.review([*"/MUL", "enter"]).last[0].startswith(" mul ")
    screen = tree.review([*"/size", "enter", "/", "enter", "/", "enter", "/", "enter"])
    assert screen.last[0].startswith(" add 1/2 ")
    assert screen.last[-1] == "found 'size'; the search began again at the top"
    assert tree.review([*"/add", "enter"]).last[0].startswith(" add 1/2 ")
    assert tree.review([*"/nowhere", "enter"]).last[-1] == "no change holds 'nowhere'"
    assert tree.review([*"/mu", "backspace", "escape", "y"]).last[0].startswith(" add 2/2 ")


def test_a_search_scrolls_to_what_it_finds(tmp_path: Path) -> None:
    lines = b"size(); // op:add @g\n" + b"filler\n" * 2
    tree = Tree(tmp_path, {"a.cc": lines * 20 + b"needle size(); // op:add @g\n"})
    screen = tree.review([*"/needle", "enter"], size=(80, 12))
    assert any("needle" in line for line in screen.last[1:-3])
    assert not any("needle" in line for line in tree.review("", size=(80, 12)).last)


def test_an_edit_replaces_what_is_written(tree: Tree) -> None:
    screen = tree.review("eku", edit=lambda text: text.replace(b"sym_size", b"my_size"))
    assert screen.shown[2][0].startswith(" add 1/2 ")
    assert "+ one = my_size(); // op:add" in screen.shown[2]
    assert tree.choices() == {}
    tree.review("e", edit=lambda text: text.replace(b"sym_size", b"my_size"))
    assert tree.choices() == {ADD1: Choice.EDIT}
    (group, choice), *_ = followed(tree.groups, tree.store.load())
    assert choice is Choice.EDIT
    assert [(edit.old, edit.new) for edit in group.edits] == [(b"size", b"my_size")]


@pytest.mark.parametrize(
    ("edited", "says"),
    [
        (lambda text: text, "not edited; nothing was decided"),
        (lambda text: b"", "the edit is given up; nothing was decided"),
        (lambda text: text.replace(b"sym_size", b"size"), "that is what stands there already"),
        (lambda text: text.replace(b"one", b"{ one"), "the rewrite would add a syntax error to a.cc"),
        (lambda text: text.replace(b"numel", b"nbytes"), "edits what the change at a.cc:2 writes too"),
        (lambda text: text.replace(b"#~ 1 ", b"#~ 2 "), "is missing or not in its place"),
    ],
)  # fmt: skip
def test_an_edit_that_cannot_be_is_told_and_decides_nothing(tree: Tree, edited: object, says: str) -> None:
    assert callable(edited)
    screen = tree.review("e", edit=edited)
    assert says in " ".join(screen.last[-3:])
    assert tree.choices() == {}


def test_an_edit_can_be_tried_again_from_where_it_failed(tree: Tree) -> None:
    def edit(text: bytes) -> bytes:
        return text.replace(b"{ one", b"uno") if b"{ one" in text else text.replace(b"one", b"{ one")

    tree.review(["e", "resize", "e"], edit=edit)
    (group, _), *_ = followed(tree.groups, tree.store.load())
    assert [(edit.old, edit.new) for edit in group.edits] == [(b"one", b"uno"), (b"size", b"sym_size")]


@given(keys=st.lists(st.sampled_from([*"ynadsujkJK"]), max_size=14))
@settings(max_examples=20)
def test_what_is_kept_is_what_is_shown(keys: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    tree = Tree(tmp_path_factory.mktemp("tree"), FILES)
    screen = tree.review(keys)
    counts = dict.fromkeys(("accepted", "rejected", "to decide"), 0)
    for part in screen.last[-2].strip().split("  "):
        number, _, name = part.partition(" ")
        counts[name] = int(number)
    kept = list(tree.choices().values())
    assert counts == {
        "accepted": kept.count(Choice.ACCEPT), "rejected": kept.count(Choice.REJECT), "to decide": 4 - len(kept)
    }  # fmt: skip


@given(keys=st.lists(st.sampled_from([*"ynadjk"]), max_size=8))
@settings(max_examples=15)
def test_undoing_everything_leaves_nothing_decided(keys: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    tree = Tree(tmp_path_factory.mktemp("tree"), FILES)
    tree.review([*keys, *"u" * len(keys)])
    assert tree.choices() == {}


@pytest.mark.parametrize("size", [(40, 8), (60, 10), (80, 24), (200, 60)])
def test_every_size_is_filled_and_not_exceeded(tree: Tree, size: tuple[int, int]) -> None:
    for shown in tree.review("j ?xyn/", size=size).shown[:-1]:
        if not shown[0].startswith("  y"):
            assert len(shown) == size[1]
            assert all(len(line) <= size[0] for line in shown[1:-1])
