"""What somebody may write into a tree to have others obey it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from codemod.model.findings import Finding, Step
from codemod.model.transform import Project
from tests.codemod.fake import FakeTransform

ATTACKS = {
    "escape": "\x1b[2J\x1b]0;INJ\x07",
    "c1": "\x9b31mINJ\x9d",
    "command": "x\n::error file=x::INJ.cc",
    "command after a return": "x\r::stop-commands::INJ",
    "leading command": "::error file=x::INJ",
    "old command": "a ##[error]INJ",
    "azure command": "##vso[task.setvariable variable=INJ]x",
    "bidi": "\u202eINJ\u2066\u2069\u200f",
    "zero width": "I\u200bN\u2060J\ufeff\u3164",
    "line separator": "x\u2028::error::INJ\u2029",
    "undecodable": "INJ\udcff\udc80",
    "mention": "@INJ-someone, @org/INJ",
    "closing": "Fixes #1, closes GH-2 resolves INJ/x#3 fixes https://github.com/INJ/x/issues/4",
    "html": "</script><img src=x onerror=INJ()><!-- ",
    "link": "[INJ](https://example.org/) ![INJ](//x) <https://x.y> www.INJ.org",
    "code": "`` ` ``` INJ ` ~~~",
    "table": "a | INJ | ||",
    "heading": "# INJ",
    "formula": '=cmd|"/c INJ"!A1',
    "trailer": "x\n\nCo-authored-by: INJ <x@y.z>\nSymfix-Shard: INJ",
    "comment": "x\n# INJ",
    "patch": "x\n---\ndiff --git a/INJ b/INJ\n--- a/INJ\n+++ b/INJ",
    "mail": "x\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: INJ",
    "skip": "[skip ci] INJ [ci skip]",
    "shell": "$(INJ) `INJ` ; INJ 'x",
    "template": "{{ 7 * 7 }}{% INJ %}",
}
"""By what they try. `INJ` marks what is smuggled in."""

GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_TAGS = ("<details><summary>Repro</summary>\n", "</details>\n")
# What GitHub makes of text that its Markdown leaves alone.
LINKED = re.compile(r"@\w|#\d|\bGH-\d|://|www\.|(?<!\w)(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{7,40}(?!\w)", re.IGNORECASE)
CLOSING = re.compile(r"\b(clos|fix|resolv)(e|ed|es|)[^\w-]{1,4}(\S*#\d|GH-\d|https?://\w)", re.IGNORECASE)

MARKS = "@#[](){}<>|`~*_-+=$&!:;,.%'\"\\/ \t\n\r0129abfFixesGH\x1b\x85\u202e\u200b\u2028\ud800\udcff\U000e0041é"

texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=MARKS, max_size=40),
    st.lists(st.sampled_from([*ATTACKS.values(), " ", "\n", "`", "]("]), max_size=4).map("".join),
    st.lists(st.sampled_from(["Co-authored-by:", "# x", "---", "diff --git", "From x", "@a", "#1", "b" * 30]),
             max_size=12).map(" ".join),
)  # fmt: skip
"""Any text, half of it made of what some format takes for its own."""


def unseen(text: str) -> list[str]:
    """The characters of `text` that are not seen; line feeds and tabs aside."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def check_markdown(text: str) -> None:
    """A page that GitHub renders: none of its links, tags, mentions or references is the tree's.

    "Fixes #12" may stand in it.
    """
    assert not unseen(text)
    plain = []
    for token in GFM.parse(text):
        assert token.type != "html_block" or token.content in _TAGS
        for child in token.children or ():
            assert child.type not in ("image", "em_open", "strong_open", "s_open")
            assert child.type != "html_inline" or child.content in ("<code>", "</code>")
            assert child.type != "link_open" or re.fullmatch(r"[A-Za-z0-9_.+-]+\.md", str(child.attrs["href"]))
            plain.append(child.content if child.type in ("text", "text_special") else "\0")
    assert not LINKED.search("".join(plain).replace("Fixes #12", ""))
    assert not CLOSING.search(re.sub(r"(?m)^# .*$", "", text).replace("Fixes #12", ""))
    assert {token.markup for token in GFM.parse(text) if token.type == "heading_open"} <= {"#", "###"}


def runs_a_command(text: str) -> bool:
    """Whether a GitHub runner or an older one takes a line of `text` for a command."""
    return any(
        line.strip().startswith("::") or re.search(r"##\w*\[", line) for line in re.split(r"\r\n|[\r\n\u2028]", text)
    )


def file_of(attack: str) -> str:
    """The name of a file that is an attack; `transforms` knows it by its number."""
    return f"{attack.replace('/', '_')}.{list(ATTACKS.values()).index(attack)}.cc"


def files() -> dict[str, bytes]:
    """A tree whose files' names and lines are attacks."""
    lines = "size; // {0}\nnumel; // {0}\nfor loop // {0}\n"
    return {file_of(attack): lines.format(attack).encode("utf-8", "surrogateescape") for attack in ATTACKS.values()}


class HostileTransform(FakeTransform):
    """The fake transform, whose findings quote an attack wherever they can."""

    def analyse(self, project: Project) -> Iterable[Finding]:
        """The fake's findings, with the attack of their file for a function, an operator and in every text."""
        for finding in super().analyse(project):
            attack = list(ATTACKS.values())[int(finding.path.split(".")[-2])]
            yield replace(
                finding,
                function=attack,
                operators=(attack, f"aten::{attack}"),
                message=f"{attack} throws `{attack}`",
                reason=attack,
                reach=(Step(finding.path, 1, attack),),
                flow=(Step(finding.path, 1, f"is {attack}"),),
                group="",
            )


def transforms() -> list[HostileTransform]:
    """What `load_transforms` gives in tests of what is printed."""
    return [HostileTransform()]
