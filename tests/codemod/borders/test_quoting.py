"""Text of a tree in what other programs read."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemod.borders import quoting
from codemod.borders.quoting import code, commit_message, fenced, file_name, link, markdown, message_line
from codemod.terminal import one_line
from tests.conftest import drawn
from tests.hostile import ATTACKS, CLOSING, GFM, LINKED, runs_a_command, texts, unseen

OWN = {"Symfix-Shard": "x", "Symfix-Plan": "0123"}


def kinds(text: str) -> set[str]:
    """What there is in a document, by the names of markdown-it, and the HTML of it."""
    found = set()
    for token in GFM.parse(text):
        found.add(token.type)
        for child in token.children or ():
            found.add(child.content if child.type == "html_inline" else child.type)
    return found


def words(text: str) -> str:
    """The text of a document's paragraphs as a reader sees it."""
    tokens = [child for token in GFM.parse(text) for child in token.children or ()]
    return "".join(child.content for child in tokens if child.type != "html_inline").replace("\u200b", "")


@given(texts)
def test_markdown_reads_as_the_text(text: str) -> None:
    shown = markdown(text)
    assert kinds(shown) <= {
        "paragraph_open", "inline", "paragraph_close", "text", "text_special", "code_inline", "<code>", "</code>"
    }  # fmt: skip
    seen = words(shown)
    plain = one_line(text)
    assert re.sub(r"[`\s]", "", seen) == re.sub(r"[`\s]", "", plain)
    assert not unseen(shown)
    assert markdown(shown) is shown


@given(texts)
def test_no_text_links_or_closes(text: str) -> None:
    shown = markdown(text)
    outside = re.sub(r"<code>.*?</code>|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", shown).replace("&#x200b;", "\u200b")
    assert not LINKED.search(outside)
    assert not CLOSING.search(shown)


@given(texts, st.sampled_from(["", "[", "x", "`", "@"]))
def test_markdown_is_no_more_in_a_cell_or_an_item(text: str, before: str) -> None:
    table = f"| a | b |\n|---|---|\n| {markdown(before + text)} | {code(text)} |\n"
    rows = [token.type for token in GFM.parse(table) if token.type in ("tr_open", "td_open")]
    assert rows == ["tr_open", "tr_open", "td_open", "td_open"]
    assert len([token for token in GFM.parse(f"- {markdown(text)} (x)") if token.level == 0]) == 2
    assert not kinds(f"- {markdown(before + text)} (x)") & {"link_open", "image", "html_block", "em_open"}


@given(texts)
def test_code_is_code_and_nothing_else(text: str) -> None:
    assert words(code(text)).strip() == quoting.unclosing(one_line(text))
    assert kinds(code(text)) <= {
        "paragraph_open", "inline", "paragraph_close", "code_inline", "text", "text_special", "<code>", "</code>"
    }  # fmt: skip
    assert not CLOSING.search(code(text))


@given(texts, st.sampled_from(["", "sh"]))
def test_no_text_ends_its_code_block(text: str, language: str) -> None:
    (token,) = GFM.parse(fenced(text, language))
    assert token.type == "fence"
    assert not unseen(token.content)
    assert not CLOSING.search(token.content)


def test_code_blocks_keep_what_is_harmless() -> None:
    source = "@decorator\ndef f(x):\n\treturn x # 1 ```"
    assert fenced(source, "python") == f"````python\n{source}\n````"


@given(texts)
def test_a_link_leads_where_it_says(text: str) -> None:
    tokens = [t for token in GFM.parse(link(text or "x", "https://x.y/pull/1")) for t in token.children or ()]
    assert [t.attrs["href"] for t in tokens if t.type == "link_open"] == ["https://x.y/pull/1"]
    assert tokens[0].type == "link_open"
    assert tokens[-1].type == "link_close"
    assert GFM.parse(link("x", text))[1].children is not None
    assert ")" not in link("x", text)[4:-1]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("max_pool2d of `x->f(a_b)` is <T&&>", "max_pool2d of `x->f(a_b)` is &lt;T&&>"),
        ("[dynamic shapes] a[i]", "[dynamic shapes] a[i\\]"),
        ("a[1](x) &lt; __init__", r"a[1\](x) &amp;lt; \_\_init\_\_"),
        ("1. x", r"1\. x"),
        ("# x", r"\# x"),
        ("Fixes #1 @a b@c", "Fixes #&#x200b;1 @&#x200b;a b@&#x200b;c"),
        ("one ` alone", r"one \` alone"),
        ("`a|b`", "<code>a&#x7c;b</code>"),
    ],
)
def test_markdown(text: str, written: str) -> None:
    assert markdown(text) == written


def test_code_in_a_line() -> None:
    assert code("a | b") == "<code>a &#x7c; b</code>"
    assert code("a `b``c`") == "``` a `b``c` ```"


@given(texts)
def test_a_line_of_a_message_closes_and_calls_nobody(text: str) -> None:
    line = message_line(text)
    assert message_line(line) == line
    assert not re.search(r"(?<!\w)@\w|#\d|\bGH-\d|://|\[(skip|no) ci\]|\[ci skip\]", line, re.IGNORECASE)
    assert not unseen(line)
    assert "\n" not in line


@settings(max_examples=drawn(40))
@given(st.lists(st.lists(texts.map("- x {}".format) | texts.map("`f` {}".format), min_size=1, max_size=3), max_size=3))
def test_a_message_has_its_own_trailers_alone(blocks: list[list[str]]) -> None:
    message = commit_message("[x] subject", blocks, OWN)
    parse = ["git", "interpret-trailers", "--parse", "--no-divider"]
    trailers = subprocess.run(parse, input=message.encode(), stdout=subprocess.PIPE, check=True).stdout
    assert trailers.decode().splitlines() == [f"{name}: {value}" for name, value in OWN.items()]
    lines = message.split("\n")
    assert not [line for line in lines if re.match(r"#|---|diff |From |Co-authored-by|Symfix-Shard: INJ", line)]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_message_comes_back_from_the_mail(
    attack: str, tmp_path: Path, git: Callable[..., bytes], make_tree: Callable[..., Path]
) -> None:
    tree = make_tree({"a": b"1\n"})
    words = " ".join([attack, *attack.split()] * 4)
    message = commit_message(f"[dynamic shapes] Use {attack}", [[words], ["Left:", f"- {words}", f"- {attack}"]], OWN)
    (tree / "a").write_bytes(b"2\n")
    git("commit", "-qa", "--cleanup=verbatim", "-F", "-", cwd=tree, stdin=message.encode())
    (tmp_path / "x.patch").write_bytes(git("format-patch", "-1", "--stdout", cwd=tree))
    git("reset", "-q", "--hard", "HEAD~", cwd=tree)
    git("am", "-q", "--keep-non-patch", str(tmp_path / "x.patch"), cwd=tree)
    assert git("log", "-1", "--format=%B", cwd=tree).decode().strip() == message.strip()
    assert git("show", "HEAD:a", cwd=tree) == b"2\n"


def test_text_that_runs_on_opens_no_line_that_git_reads() -> None:
    word = "Co-authored-by: x # Fixes: a --- diff --git From x"
    message = commit_message("s", [[f"`{'f' * 60}` {word} {'g' * 70} {word}"]], OWN)
    assert "\n Co-authored-by: x" in message


@given(texts, st.lists(texts, max_size=3))
def test_a_workflow_command_is_one(name: str, message: list[str]) -> None:
    command = quoting.workflow_command("error", {"file": name, "line": 3}, message)
    assert len(re.split(r"[\r\n\u2028]", command)) == 1
    head, _, _ = command.removeprefix("::error ").partition("::")
    assert re.fullmatch(r"file=[^,:]*,line=3", head)
    assert not unseen(command)
    assert not re.search(r"##\w*\[", command)
    assert not re.search(r"%(?!25|0A|3A|2C)", command)


@given(st.lists(texts, min_size=1, max_size=3))
def test_a_cell_is_no_formula(row: list[str]) -> None:
    cells = [quoting.cell(text) for text in row]
    assert not any(re.match(r"\s*[=+\-@]", cell) or unseen(cell) or "\n" in cell for cell in cells)
    assert [quoting.cell(cell) for cell in cells] == cells
    line = ",".join(cells)
    assert len(list(csv.reader([line]))) <= 1


@given(texts)
def test_a_message_of_sarif_holds_no_link(text: str) -> None:
    assert not re.search(r"\[[^\]]*\]\(", quoting.sarif(text))
    assert quoting.sarif(quoting.sarif(text)) == quoting.sarif(text)


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)), st.sampled_from([None, 1]))
def test_json_is_read_back_and_holds_no_command(document: Any, indent: int | None) -> None:
    text = quoting.json_text(document, indent)
    assert json.loads(text) == json.loads(json.dumps(document))
    assert text.isascii()
    assert not runs_a_command(text)
    strict = quoting.json_text(document, indent, exact=False)
    assert not re.search(r"[\ud800-\udfff]", json.dumps(json.loads(strict), ensure_ascii=False))
    assert not runs_a_command(strict)


@given(texts)
def test_a_page_shows_text_that_reorders_nothing(text: str) -> None:
    shown = quoting.page_text(text)
    assert not unseen(shown)
    assert len(shown) == len(text)
    assert quoting.page_text(shown) == shown
    assert quoting.page({"x": [text, 3], "y": text}, exact={"y"}) == {"x": [shown, 3], "y": text}


@settings(max_examples=drawn(60))
@given(texts)
def test_a_file_name_is_one_for_branches_and_every_system(text: str) -> None:
    name = file_name(text)
    assert file_name(name) == name
    assert re.fullmatch(r"(?!con$|aux$|nul$|prn$)[A-Za-z0-9_.+-]*", name, re.IGNORECASE)
    if name:
        subprocess.run(["git", "check-ref-format", f"refs/heads/symfix/{name}"], check=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("aten::add.out", "aten--add.out"), ("../../x", "x"), ("a.lock.lock", "a"), ("..", ""), ("CON", "CON_"),
        ("com1.x", "com1_.x"), ("-x", "x"), ("@{x}", "x"), ("a" * 79 + ".." + "b", "a" * 79), ("nullify", "nullify"),
    ],
)  # fmt: skip
def test_file_names(text: str, name: str) -> None:
    assert file_name(text) == name
