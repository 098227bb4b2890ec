"""The page of `probe`: what it holds, that nothing breaks out of it, and what its filters and clicks show."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from codemod.probe.answers import Answer, Compilation, Report
from codemod.probe.page.html import render
from codemod.probe.subjects import MODES, Cell, Subject
from codemod.probe.trace import Frame
from tests.conftest import MakeTree, Symfix
from tests.hostile import ATTACKS, unseen

PLACE = Frame("/x/site-packages/torch/a.py", 3, "f", "if n == 2:")
VOID = {"meta", "input", "br", "hr", "img", "link"}


def subject(name: str, **cells: Cell) -> Subject:
    return Subject(name, {mode: cells.get(mode, Cell("passes")) for mode in MODES})


def operators() -> Report:
    answers = (
        Answer("guard", "x.size(0) == 2", "torch", PLACE, None, "topk forward"),
        Answer("error", "Could not guard", "mylib", None, None, "sort unbacked", command="symfix diff a.py"),
        Answer("assert", "u0 >= 0", "torch", PLACE, None, "sort forward"),
    )
    throws = Cell("throws", "Could not guard", script="import torch\n")
    subjects = (subject("topk", forward=Cell("guards", guards=2)), subject("sort", unbacked=throws), subject("mul"))
    return Report("2.13.0", (), answers, subjects)


def program() -> Report:
    compiled = Compilation("f", "/home/u/m.py", 3, 2)
    answers = (Answer("recompiled", "x.size(0) > 5", "your code", PLACE, None, compiled.label, count=2),)
    return Report("2.13.0", (compiled, Compilation("g", "/home/u/m.py", 9, 1)), answers)


class Tree(HTMLParser):
    """The elements of a page, each as [tag, attributes, text, children]."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root: list[Any] = ["#document", {}, "", []]
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element: list[Any] = [tag, {name: value or "" for name, value in attrs}, "", []]
        self._open[-1][3].append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self._open[-1][2] += data

    def all(self, tag: str) -> list[Any]:
        found, left = [], [self.root]
        while left:
            element = left.pop()
            left += element[3]
            found += [element] if element[0] == tag else []
        return found


def page_of(report: Report) -> str:
    return render(report, report.answers).decode("ascii")


@pytest.mark.parametrize("report", [operators(), program()], ids=["operators", "program"])
def test_the_page_is_whole_labelled_and_needs_nothing_else(report: Report) -> None:
    text = page_of(report)
    assert text == page_of(report)
    assert not re.search(r"\b(src|href)=\"(?!#)|@import|url\(", text)
    tree = Tree(text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert all(name in ids for name in re.findall(r'(?:aria-labelledby|href)="#?([^"]+)"', text))
    labelled = [child for label in tree.all("label") for child in label[3] if child[0] in ("input", "select")]
    assert len(labelled) == len(tree.all("input")) + len(tree.all("select")) == 4
    assert all(button[2].strip() or button[1].get("aria-label") for button in tree.all("button"))
    assert all(th[1].get("scope") in ("col", "row") for th in tree.all("th"))
    policy = next(meta[1]["content"] for meta in tree.all("meta") if "http-equiv" in meta[1])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_matrix_is_there_without_a_script() -> None:
    rows = [list(re.findall(r">([^<>\n]+)<", row)) for row in
            re.findall(r"<tr data-row.*?</tr>", page_of(operators()), re.S)]  # fmt: skip
    assert rows[0] == ["topk", "guard 2", *["ok"] * (len(MODES) - 1)]
    throws = list(MODES).index("unbacked")
    assert rows[1] == ["sort", *["ok"] * throws, "throws", *["ok"] * (len(MODES) - throws - 1)]
    assert ["f (m.py:3)", "2", "2"] in [
        re.findall(r">([^<>\n]+)<", row) for row in re.findall(r"<tr data-row.*?</tr>", page_of(program()), re.S)
    ]


def test_text_breaks_out_of_nothing_and_hides_nothing() -> None:
    attacks = [
        Answer("guard", text, text, replace(PLACE, text=text, path=f"/x/{text}", function=text), PLACE,
               f"{text} forward", advice=text, finding=text, command=text)
        for text in ATTACKS
    ]  # fmt: skip
    cell = Cell("throws", "".join(ATTACKS), script="".join(ATTACKS))
    report = Report("2.13.0", (), tuple(attacks), tuple(subject(text, forward=cell) for text in ATTACKS))
    for text in (page_of(report), page_of(replace(report, subjects=()))):
        assert len(re.findall(r"</script", text)) == 2
        assert "<img" not in text
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
        assert not unseen(json.dumps(json.loads(data), ensure_ascii=False))
        assert not unseen(
            "".join(element[2] for tag in ("button", "option", "h1", "span") for element in Tree(text).all(tag))
        )


CLICKS = """
const at = (id) => document.getElementById(id);
const shown = () => [root.all().filter((e) => e.tag === "tr" && "row" in e.dataset && !e.hidden)
  .map((e) => e.querySelector("th").textContent), at("matches").textContent, at("list").textContent];
const click = (row, column) => root.all().find((e) => e.classes.has("pick") && e.dataset.row === row
  && e.dataset.column === column).fire("click");
const set = (id, value) => { at(id).value = value; at(id).fire("input"); };
const results = { first: shown() };
click("1", COLUMN); results.cell = shown();
click("1", COLUMN); results.again = shown();
set("by-kind", "guard"); results.kind = shown(); at("clear").fire("click");
set("by-owner", "mylib"); results.owner = shown(); at("clear").fire("click");
set("search", "sort"); results.search = shown(); at("clear").fire("click");
at("asking").checked = false; at("asking").fire("input"); results.all = shown();
console.log(JSON.stringify(results));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_filters_and_clicks_show_what_they_say(tmp_path: Path) -> None:
    text = page_of(operators())
    dom = (
        (Path(__file__).parent / "dom.js").read_text().replace("made(ELEMENTS)", f"made({json.dumps(Tree(text).root)})")
    )
    script = re.findall(r"<script>(.*?)</script>", text, re.S)[-1]
    path = tmp_path / "page.js"
    path.write_text(dom + script + CLICKS.replace("COLUMN", f'"{list(MODES).index("unbacked")}"'))
    done = subprocess.run(["node", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = {name: (names, matches, shown) for name, (names, matches, shown) in json.loads(done.stdout).items()}
    assert results["first"][:2] == (["topk", "sort"], "2 rows, 2 answers")
    assert "torch/a.py:3 in f: if n == 2:" in results["first"][2]
    _names, matches, shown = results["cell"]
    assert matches == "2 rows, 1 answer"
    assert shown.startswith("unbacked: throwsCould not guardA script that shows itimport torch")
    assert "symfix diff a.py" in shown
    assert "x.size(0)" not in shown
    assert results["again"] == results["first"]
    assert results["kind"][:2] == (["topk"], "1 row, 1 answer")
    assert results["owner"][:2] == (["sort"], "1 row, 1 answer")
    assert results["search"][:2] == (["sort"], "1 row, 1 answer")
    assert results["all"][:2] == (["topk", "sort", "mul"], "3 rows, 3 answers")


def test_the_command_writes_the_page(make_tree: MakeTree, symfix: Symfix, tmp_path: Path) -> None:
    tree, text = make_tree({"a.cc": b"x\n"}), tmp_path / "error.txt"
    text.write_text("RuntimeError: Cannot call numel() on tensor with symbolic sizes/strides\n")
    outcome = symfix("probe", "--format", "html", "--error", str(text), cwd=tree)
    assert outcome.code == 1
    assert outcome.out.startswith(b"<!doctype html>")
    assert b"outside of compiled functions" in outcome.out
