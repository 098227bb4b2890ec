"""The documents: every link inside the repository leads somewhere, and the manual has every page in its contents."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    path for folder in (".", "docs", "examples", "tests/corpus") for path in (ROOT / folder).glob("*.md")
)
MARKDOWN = MarkdownIt("commonmark").enable("table")


def tokens(path: Path) -> Iterator[Token]:
    for token in MARKDOWN.parse(path.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def links(path: Path) -> list[str]:
    """What a document links to or shows as a picture, in Markdown and in HTML."""
    written = [str(token.attrs[name]) for token in tokens(path) for name in ("href", "src") if name in token.attrs]
    html = [token.content for token in tokens(path) if token.type.startswith("html_")]
    return written + re.findall(r'(?:href|src|srcset)="([^"]+)"', "\n".join(html))


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of a document's headings, as GitHub and MkDocs make them."""
    pairs = itertools.pairwise(tokens(path))
    headings = [inline.content for token, inline in pairs if token.type == "heading_open"]
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in links(document):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.is_relative_to(ROOT), link
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_links_are_seen_in_every_syntax(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    table = "|x|\n|---|\n|[f](g)|"
    page.write_text(f'# A `b`: c\n\n[a](b.md#c) ![d](e.svg)\n\n{table}\n\n<picture><img src="h"></picture>\n')
    assert links(page) == ["b.md#c", "e.svg", "g", "h"]
    assert anchors(page) == {"a-b-c"}


def test_the_manual_has_every_page_in_its_contents() -> None:
    def pages(entries: list[dict[str, object]]) -> Iterator[str]:
        for value in (value for entry in entries for value in entry.values()):
            yield from pages(value) if isinstance(value, list) else [str(value)]

    listed = list(pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    manual = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {name for name in listed if not (ROOT / name).exists()} == manual
    assert manual <= {*links(ROOT / "docs/index.md"), "index.md"}


def test_pictures_hold_what_was_printed_and_ask_for_nothing(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    assert spec is not None
    assert spec.loader is not None
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    text = picture.printed(["printf", r"\033[32mcured\033[0m 3"], tmp_path, 40, 10)
    svg = picture.drawn(text, "a < b", 40, picture.LIGHT)
    assert ">cured</text>" in svg
    assert "fill: #116329" in svg
    assert set(re.findall(r"https?://[^\"' ]+", svg)) == {"http://www.w3.org/2000/svg"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
