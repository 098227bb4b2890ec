"""The review page: everything is in it, nothing in it can break out, and the same plan gives the same bytes."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.borders.quoting import script_json
from codemod.bundle.shard_evidence import Ran
from codemod.bundle.shards import make_shards
from codemod.model.decisions import Choice, decide, decision_to_json, from_json
from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.groups import make_groups
from codemod.model.identity import with_ids
from codemod.model.plan import Plan
from codemod.prove.evidence import Evidence, Verdict
from codemod.review.page.code import Lines, highlight, shown, units
from codemod.review.page.data import FINDING
from codemod.review.page.html import render
from tests.codemod.fake import FakeTransform
from tests.conftest import MakeTree, Symfix
from tests.hostile import ATTACKS, unseen

SOURCES = {
    "a.cc": b"int f() {\n  return x.size(0) + caf\xc3\xa9;\n}\n// </script><script>alert(1)</script> \xff\n"
    + b"line\n" * 60
    + b"y.numel()\n",
    "b.cc": b"for (loop) {}\r\n",
}  # fmt: skip


def finding(path: str, word: bytes, new: bytes | None, group: str = "", **more: Any) -> Finding:
    source = SOURCES[path]
    start = source.index(word)
    line = source.count(b"\n", 0, start) + 1
    values: dict[str, Any] = {
        "rule": "size" if new else "loop", "level": Level.SAFE if new else Level.MANUAL, "function": "ns::f",
        "operators": ("aten::f.out",), "message": "`x` <b>throws</b>", "reach": (Step(path, 1, "f is a kernel"),),
        "flow": (Step(path, line, "returned"),),
    } | more  # fmt: skip
    edits = () if new is None else (Edit(path, start, start + len(word), word, new),)
    column = start - source.rfind(b"\n", 0, start)
    return Finding(path, start, start + len(word), line, column, Mode.LEAK if not new else Mode.DIRECT_THROW,
                   edits=edits, group=group, **values)  # fmt: skip


def plan_of(*findings: Finding) -> Plan:
    hashes = {path: hashlib.sha256(source).hexdigest() for path, source in SOURCES.items()}
    return Plan(tuple(with_ids(findings, SOURCES.__getitem__)), hashes, symfix="1.0")


def example() -> Plan:
    return plan_of(
        finding("a.cc", b"size", b"sym_size", "together"),
        finding("a.cc", b"numel", b"sym_numel", "together", level=Level.REVIEW, reason="unknown sizes"),
        finding("b.cc", b"loop", None, refusal="loop-bound", reason="it bounds a loop"),
    )


def syntax_of(sources: Mapping[str, bytes]) -> dict[str, list[str]]:
    return {path: highlight(path, source) for path, source in sources.items()}


def page_of(plan: Plan, ran: dict[str, Ran] | None = None, title: str = "tree") -> bytes:
    shards = make_shards(make_groups(plan.findings))
    rules = FakeTransform().rules()
    return render(plan, shards, SOURCES, syntax_of(SOURCES), title=title, rules=rules, ran=ran or {})


class Elements(HTMLParser):
    """The elements of a page with their attributes and the text directly in them."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(page.decode("ascii"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.found.append(("", {}, []))

    def text(self, tag: str, **attributes: str) -> list[str]:
        return ["".join(t) for name, attrs, t in self.found if name == tag and attributes.items() <= attrs.items()]


def data_of(page: bytes) -> dict[str, Any]:
    (text,) = Elements(page).text("script", id="data")
    document: dict[str, Any] = json.loads(text)
    return document


def readable(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings of a page as dictionaries, their numbers looked up."""
    strings = document["strings"]

    def steps(number: int) -> list[tuple[str, int, str]]:
        return [(strings[path], line, strings[text]) for path, line, text in document["steps"][number]]

    look: dict[str, Callable[[int], Any]] = dict.fromkeys(
        ("path", "rule", "function", "message", "reason", "refusal"), strings.__getitem__
    )
    look |= {"reach": steps, "flow": steps, "operators": lambda number: tuple(document["operators"][number])}
    return [
        {name: look[name](value) if name in look else value for name, value in zip(FINDING, entry, strict=True)}
        for shard in document["shards"]
        for group in shard["groups"]
        for entry in group["findings"]
    ]


def test_every_finding_is_in_the_page_with_all_that_is_known_of_it() -> None:
    plan = example()
    shown_findings = readable(data_of(page_of(plan)))
    expected = [
        {
            "path": f.path, "line": f.line, "column": f.column, "mode": int(f.mode), "level": int(f.level),
            "rule": f.rule, "function": f.function, "message": f.message, "reason": f.reason, "refusal": f.refusal,
            "operators": f.operators, "reach": [(s.path, s.line, s.text) for s in f.reach],
            "flow": [(s.path, s.line, s.text) for s in f.flow],
        }
        for f in plan.findings
    ]  # fmt: skip
    assert [{name: value for name, value in entry.items() if name != "code"} for entry in shown_findings] == expected
    assert [bool(entry["code"]) for entry in shown_findings] == [False, False, True]


def test_a_group_is_decided_as_one_by_the_decision_the_engine_makes() -> None:
    plan = example()
    groups = make_groups(plan.findings)
    (shard,) = data_of(page_of(plan))["shards"]
    assert [entry.get("decision") for entry in shard["groups"]] == [
        decision_to_json(decide(groups[0], Choice.ACCEPT, plan.files)),
        None,
    ]
    document = {"format": "symfix-decisions", "version": 1, "decisions": [shard["groups"][0]["decision"]]}
    assert from_json(json.dumps(document), "page") == [decide(groups[0], Choice.ACCEPT, plan.files)]


def test_what_was_decided_before_is_shown_and_an_edited_change_as_edited() -> None:
    plan = example()
    group = make_groups(plan.findings)[0]
    own = [Edit("a.cc", edit.start, edit.end, edit.old, b"my_size") for edit in group.edits]
    decision = decide(group, Choice.EDIT, plan.files, own)
    page = page_of(Plan(plan.findings, plan.files, decisions=(decision,)))
    document = data_of(page)
    (entry, _) = document["shards"][0]["groups"]
    assert entry["decided"] == decision_to_json(decision)
    assert any("my_size" in line for line in document["lines"])
    assert not any("sym_size" in line for line in document["lines"])


def test_nothing_from_the_tree_leaves_the_data() -> None:
    page = page_of(example())
    elements = Elements(page)
    scripts = [attributes for name, attributes, _ in elements.found if name == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert page.count(b"</script>") == 2
    assert b"alert(1)" not in page.replace(b"\\u003cscript\\u003ealert(1)\\u003c/script\\u003e", b"")
    links = [attributes[name] for _, attributes, _ in elements.found for name in ("src", "href") if name in attributes]
    assert links == ["#changes"]


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_embedded_data_is_read_back_and_holds_no_markup(value: Any) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set(text) & set("<>&")


def test_the_policy_lets_in_the_pages_own_style_and_script_only() -> None:
    elements = Elements(page_of(example()))
    (policy,) = (attrs["content"] for name, attrs, _ in elements.found if attrs.get("http-equiv"))
    parts = [elements.text("style")[0], elements.text("script")[1]]
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts]
    assert policy is not None
    assert f"style-src 'sha256-{digests[0]}'" in policy
    assert f"script-src 'sha256-{digests[1]}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert page_of(example()) == page_of(example())


def test_evidence_stands_with_its_shard() -> None:
    verdict = Verdict("throws", 1, "Cannot call numel()", guards=("s0 > 1",), frames=2)
    evidence = Evidence("f", "cured", "key", before=verdict, after=Verdict("passes"), versions={"torch": "2.6.0"})
    plan = example()
    first, *others = make_groups(plan.findings)
    (shard,) = data_of(page_of(plan, {"f": Ran((evidence,), frozenset({first.id}))}))["shards"]
    assert shard["evidence"][0]["before"]["message"] == "Cannot call numel()"
    assert shard["evidence"][0]["outcome"] == "cured"
    assert {group["decision"]["id"]: group["ran"] for group in shard["groups"] if "ran" in group} == {
        first.id: True, **{group.id: False for group in others if group.edits}
    }  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_that_the_page_shows_misleads(attack: str) -> None:
    original = finding("a.cc", b"size", b"sym_size", reason=attack)
    evidence = Evidence(attack, "worse", "key", attack, Verdict("throws", 1, attack), repro=f"a\n\tb {attack}")
    plan = plan_of(dataclasses.replace(original, function=attack, message=attack, operators=(attack,)))
    (shard,) = make_shards(make_groups(plan.findings))
    page = page_of(plan, {shard.name: Ran((evidence,))}, title=attack)
    document = data_of(page)
    repro = document["shards"][0]["evidence"][0]["repro"]
    assert repro.startswith("a\n\tb ")
    decision = document["shards"][0]["groups"][0].pop("decision")
    assert decision["files"].keys() == {"a.cc"}
    assert not unseen(json.dumps(document, ensure_ascii=False))
    assert len([name for name, _, _ in Elements(page).found if name == "script"]) == 2
    assert not unseen("".join(Elements(page).text("title")))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"plain\r\n", "plain"),
        (b"bad \xff\xfe\n", "bad \ufffd\ufffd"),
        ("a\u202eb\u2066".encode(), "a\ufffdb\ufffd"),
        (b"\tx\x0c\x1b[0m", "\tx\u240c\u241b[0m"),
    ],
)
def test_lines_show_nothing_that_could_mislead(line: bytes, text: str) -> None:
    assert shown(line) == text


def test_syntax_runs_cover_each_line_and_count_as_javascript_does() -> None:
    source = '// \U0001f600 smile\nint f(Tensor t) { return 1; }\nx = "s";\n'.encode()
    runs = highlight("a.cpp", source)
    assert runs == ["11c", "3t1 1f1 6t6 6k1 1m", "4 3s"]
    assert units("// \U0001f600 smile") == 11


@pytest.mark.parametrize("name", ["a.h", "a.cu", "a.py", "a.yaml", "a.unknown", "\udcff"])
def test_every_kind_of_file_has_a_line_of_syntax_for_each_line(name: str) -> None:
    assert len(highlight(name, b'a\n\n"""b\nc\n/* d\n')) == 5
    assert highlight(name, b"") == []


def rebuilt(blocks: list[dict[str, Any]], table: list[str], old: list[str]) -> list[str]:
    """The new file's lines, made of the old ones and a diff."""
    new: list[str] = []
    at = 0
    for block in blocks:
        new += old[at : block["o"] - 1]
        at = block["o"] - 1
        assert len(new) == block["n"] - 1
        for row in block["r"]:
            if isinstance(row, int):
                assert table[2 * row] == old[at]
                new.append(old[at])
                at += 1
                continue
            kind, *numbers = row
            if kind in "-~":
                assert table[2 * numbers[0]] == old[at]
                at += 1
            if kind in "+~":
                new.append(table[2 * numbers[kind == "~"]])
    return new + old[at:]


PIECES = st.sampled_from([b"size", b"\n", b"x = 1;", b" ", b"\xff", "\U0001f600".encode(), b"(", b"a\nb\nc\n" * 9])


@given(st.lists(PIECES, max_size=20).map(b"".join), st.data())
def test_a_diff_holds_exactly_what_the_edits_make(source: bytes, data: st.DataObject) -> None:
    edits = []
    at = 0
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(at, len(source)))
        end = data.draw(st.integers(start, min(len(source), start + 8)))
        edits.append(Edit("a.cpp", start, end, source[start:end], data.draw(PIECES)))
        at = end + 1
        if at > len(source):
            break
    lines = Lines({"a.cpp": source}, syntax_of({"a.cpp": source}))
    blocks = lines.diff("a.cpp", edits)
    old, new = ([shown(line) for line in text.split(b"\n")] for text in (source, apply_edits(source, edits)))
    # A last line without an end is a line too, and no line follows a last line end.
    old, new = (side[:-1] if side[-1] == "" else side for side in (old, new))
    assert rebuilt(blocks, lines.table, old) == new
    for block in blocks:
        for row in block["r"]:
            if not isinstance(row, int):
                marked = zip(
                    [n for n in row[1:] if isinstance(n, int)], [m for m in row if isinstance(m, list)], strict=True
                )
                for number, marks in marked:
                    assert marks == sorted(marks)
                    assert len(marks) % 2 == 0
                    assert not marks or marks[-1] <= units(lines.table[2 * number])


def test_marks_are_the_words_that_differ() -> None:
    lines = Lines(SOURCES, syntax_of(SOURCES))
    edits = [Edit("a.cc", (at := SOURCES["a.cc"].index(b"x.size")), at + 6, b"x.size", b"x.sym_size")]
    (block,) = lines.diff("a.cc", edits)
    (row,) = (row for row in block["r"] if not isinstance(row, int))
    old, new = lines.table[2 * row[1]], lines.table[2 * row[2]]
    assert (row[0], old[slice(*row[3])], new[slice(*row[4])]) == ("~", "size", "sym_size")


def test_a_path_through_the_source_keeps_its_order() -> None:
    sources = {"a.cc": b"one\ntwo\nthree\nfour\n" + b"\n" * 20 + b"last\n"}
    lines = Lines(sources, syntax_of(sources))
    blocks = lines.excerpt("a.cc", {24: (None, [2]), 1: ((0, 3), [0, 1])})
    assert [(block["o"], [row[3] for row in block["r"] if not isinstance(row, int)]) for block in blocks] == [
        (1, [[0, 1]]),
        (23, [[2]]),
    ]
    assert lines.excerpt("gone.cc", {3: (None, [0])}) == []


def luminance(colour: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[i : i + 2]) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """As WCAG 2.2 defines it, 1 to 21."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def palettes() -> list[dict[str, str]]:
    style = (files("codemod.pages") / "base.css").read_text()
    colour = "(#[0-9a-f]{6})"
    both = re.findall(rf"--([\w-]+): (?:light-dark\({colour}, {colour}\)|{colour});", style)
    return [{name: single or sides[side] for name, *sides, single in both} for side in (0, 1)]


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_text_is_readable_on_everything_it_stands_on(palette: dict[str, str]) -> None:
    code = [name for name in palette if name.startswith("s-")] + ["fg"]
    grounds = ["bg", "del", "add", "del-word", "add-word", "hit", "hit-word"]
    pairs = [(text, ground) for text in code for ground in grounds]
    pairs += [(text, ground) for text in ("fg", "dim", "link") for ground in ("bg", "panel", "soft", "select")]
    pairs += [(level, f"{level}-bg") for level in ("safe", "review", "manual", "bad")]
    pairs += [(level, ground) for level in ("safe", "review", "manual", "bad") for ground in ("bg", "panel", "select")]
    pairs += [("on-accent", "accent"), ("fg", "del-no"), ("fg", "add-no")]
    assert [f"{a} on {b}: {contrast(palette[a], palette[b]):.2f}" for a, b in pairs
            if contrast(palette[a], palette[b]) < 4.5] == []  # fmt: skip


def test_the_command_writes_the_page(make_tree: MakeTree, symfix: Symfix, tmp_path: Path) -> None:
    tree = make_tree({"a.cc": b"x size op:mul @g\ny numel op:mul\nloop op:mul\n"})
    page = tmp_path / "review.html"
    done = symfix("review", "--html", page, cwd=tree)
    assert (done.code, done.out) == (0, b"")
    assert "2 changes to decide, 1 finding left alone" in done.err
    assert len(readable(data_of(page.read_bytes()))) == 3
    symfix("review", "--level", "safe", "--html", page, cwd=tree)
    assert [entry["level"] for entry in readable(data_of(page.read_bytes()))] == [0, 2]
    symfix("review", "--reject", "level:safe", cwd=tree)
    symfix("review", "--html", page, cwd=tree)
    shards = data_of(page.read_bytes())["shards"]
    assert [g["decided"]["choice"] for s in shards for g in s["groups"] if "decided" in g] == ["reject"]


def test_a_page_that_cannot_be_written_is_named(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.cc": b"x size op:mul\n"})
    done = symfix("review", "--html", "gone/review.html", cwd=tree)
    assert done.code == 2
    assert "gone/review.html" in done.err
    assert "Traceback" not in done.err
