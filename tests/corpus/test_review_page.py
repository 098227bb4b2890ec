"""The review page in Chromium, on the tree in examples/. Needs chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, browser, missing
from corpus_trees import changed_files, copy_tree, symfix
from review_in_browser import Session, exported, whole_session

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "review.html"
    symfix(["review", "--no-cache", "--html", str(path)], EXAMPLES)
    return path


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chromium]:
    with browser() as driver:
        yield driver


@pytest.fixture
def session(chrome: Chromium, page: Path) -> Iterator[Session]:
    chrome.open(page.as_uri())
    chrome.run("localStorage.clear()")
    yield Session(chrome, page)
    assert chrome.complaints() == []


def shown(session: Session) -> str:
    return session.find("#matches span").text


def test_decisions_leave_the_page_and_are_applied_as_made(tmp_path: Path) -> None:
    assert whole_session(EXAMPLES, tmp_path, 12) == []


def test_what_is_written_in_the_page_is_applied_as_written(tmp_path: Path, session: Session) -> None:
    session.press("e")
    lines = session.find("dialog textarea").ask("return this.value")
    assert "symfix: write these lines" in lines
    session.find("dialog textarea").ask("this.value = this.value.replace(';\\n', '; // mine\\n')")
    session.find("#take").click()
    assert "// mine" in session.find(".card.current .written").text
    session.press("u")
    assert session.find(".card.current .state").text == ""
    session.press("e")
    session.find("dialog textarea").ask("this.value = this.value.replace(';\\n', '; // mine\\n')")
    session.find("#take").click()
    session.reload()
    decisions = session.export_to(tmp_path)
    assert list(exported(decisions).values()) == ["edit"]
    copy = copy_tree(EXAMPLES, tmp_path / "examples")
    assert b"took over 1 decision" in symfix(["review", "--import", str(decisions)], copy).stderr
    symfix(["apply", "--accepted", "--no-check", "--allow-no-vcs"], copy)
    [changed] = changed_files(EXAMPLES, copy)
    assert (copy / changed).read_bytes().count(b"; // mine\n") == 1


def test_filters_and_search_narrow_the_list_and_are_cleared(session: Session) -> None:
    everything = shown(session)
    session.press("/", *"loop-bound")
    narrowed = shown(session)
    assert narrowed != everything
    assert ", 0 changes, " in narrowed
    assert session.find("main .badge.refusal").text == "loop-bound"
    session.find("#clear").click()
    assert shown(session) == everything
    session.find("#by-level").click()
    session.press("ArrowDown", "Enter", "Escape")
    assert shown(session) != everything
    assert "0 left alone" in shown(session)


def test_every_operator_opens_and_each_change_has_its_buttons(session: Session) -> None:
    wanted = {name: ["accept", "reject", "edit"] * len(changes) for name, changes in session.operators.items()}
    opened = """
        const seen = {};
        for (const [name, wanted] of Object.entries(arguments[0])) {
          location.hash = encodeURIComponent(name);
          const until = Date.now() + 5000;
          do { // cards are made a few at a time
            await new Promise((then) => setTimeout(then));
            const buttons = [...document.querySelectorAll(".card .decide button")].map((button) => button.className);
            seen[document.querySelector("main h2").firstChild.data] = buttons;
          } while (String(seen[name]) !== String(wanted) && Date.now() < until);
        }
        return seen;"""
    assert session.driver.run(opened, wanted) == wanted


def test_the_list_of_operators_is_walked_by_keyboard(session: Session) -> None:
    first = session.operator
    box = session.find("#operators")
    box.press("ArrowDown")
    second = session.operator
    assert second != first
    selected = session.find(f"#{box.attribute('aria-activedescendant')}")
    assert selected.attribute("aria-selected") == "true"
    assert second in selected.text
    box.press("ArrowUp")
    assert session.operator == first
    box.press("End")
    assert session.operator == session.driver.run(
        'return document.querySelector("#rows").lastChild.firstChild.textContent.trim()'
    )
    box.press("Enter")
    assert "card" in session.driver.focused.attribute("class")


def test_what_is_decided_is_said_and_can_be_taken_back(session: Session) -> None:
    session.press("y")
    assert session.find("#live").text.startswith("Accepted: ")
    session.press("u")
    assert session.find("#live").text == "Undone: 1 decision"
    session.press("u")
    assert session.find("#live").text == "Nothing to undo."
    button = session.find(".card.current .accept")
    button.click()
    assert button.attribute("aria-pressed") == "true"
    button.click()
    assert button.attribute("aria-pressed") == "false"
    assert session.find("#tally").text.startswith("0 of ")


def test_all_that_the_filters_show_is_decided_at_once_and_taken_back_at_once(session: Session, tmp_path: Path) -> None:
    session.find("#by-level").click()
    session.press("ArrowDown", "Enter", "Escape")  # the safe ones
    count = int(shown(session).split(", ")[1].split()[0])
    session.find("#bulk").click()
    session.find("dialog button.reject").click()
    assert list(exported(session.export_to(tmp_path)).values()) == ["reject"] * count
    session.press("u")
    assert exported(session.export_to(tmp_path)) == {}


def test_keys_typed_into_the_search_decide_nothing(session: Session) -> None:
    session.press("/", *"yna du")
    assert session.find("#tally").text.startswith("0 of ")


def test_dialogs_close_and_give_the_focus_back(session: Session) -> None:
    for key in "?x":
        session.press("j", key)
        assert session.find("dialog[open]")
        session.press("y", "Escape")
        assert session.find("#dialogs:empty")
        assert "card" in session.driver.focused.attribute("class")
    session.driver.run("document.querySelector('button.rule').focus()")
    session.press("Enter")
    assert "Why" in session.find("dialog[open]").text
    session.find("dialog .close").click()
    assert session.find("#tally").text.startswith("0 of ")


def test_a_file_that_is_none_of_decisions_is_refused_in_words(session: Session, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"format": "symfix-plan", "version": 2}))
    assert session.take(other).startswith("That file cannot be read: not a file of decisions")
    other.write_text("{")
    assert session.take(other).startswith("That file cannot be read: ")


def test_decisions_about_other_code_are_left_out(session: Session, tmp_path: Path) -> None:
    session.press("y")
    decisions = session.export_to(tmp_path)
    document = json.loads(decisions.read_bytes())
    document["decisions"][0]["files"] = dict.fromkeys(document["decisions"][0]["files"], "0" * 64)
    decisions.write_text(json.dumps(document))
    session.press("u")
    assert session.take(decisions) == "Took 0 of 1 decision; the rest are about other code."
    assert exported(session.export_to(tmp_path)) == {}


@pytest.mark.parametrize("width", [360, 700, 1440, 2400])
@pytest.mark.parametrize("layout", ["unified", "split"])
def test_nothing_is_wider_than_the_window(session: Session, width: int, layout: str) -> None:
    driver = session.driver
    driver.show_as(width, dark=True)
    try:
        driver.run("document.getElementById(arguments[0]).click()", layout)
        for _ in range(6):
            session.press("]")
            assert driver.run("return document.documentElement.scrollWidth") <= width
        session.press("?")
        assert driver.run("return document.documentElement.scrollWidth") <= width
    finally:
        driver.show_as(1440)
