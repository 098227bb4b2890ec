"""The topic of the release notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.pr.release_notes import label, listed_topics
from codemod.prove.evidence import Evidence, Verdict

TOPICS = frozenset({"bug fixes", "improvements"})
PASSES = Verdict("passes", frames=1)
THROWS = Evidence("foo", "cured", "k", before=Verdict("throws", 1, "no"), after=PASSES)
OFTEN = Evidence(
    "bar", "cured", "k", "compilations over the sizes: 3 to 1", before=Verdict("passes", frames=3), after=PASSES
)
STAYS = Evidence("baz", "unchanged", "k", before=Verdict("throws", 1, "no"), after=Verdict("throws", 1, "no"))


def written(root: Path, text: str) -> Path:
    path = root / "scripts/release_notes/common.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return root


def test_the_topic_is_that_of_the_cure_that_says_most() -> None:
    assert label([OFTEN, THROWS], TOPICS) == "topic: bug fixes"
    assert label([OFTEN], TOPICS) == "topic: improvements"


def test_no_topic_where_nothing_was_cured_or_the_tree_has_not_that_topic() -> None:
    assert label([STAYS], TOPICS) == ""
    assert label([], TOPICS) == ""
    assert label([THROWS], {"improvements"}) == ""


def test_topics_are_read_and_nothing_is_run(tmp_path: Path) -> None:
    source = 'import requests\nraise SystemExit("run")\ntopics = [\n    "bug fixes", 3,\n    "improvements",\n]\n'
    assert listed_topics(written(tmp_path, source)) == TOPICS


@pytest.mark.parametrize("source", ["", "topics = names()\n", "topics = 3\n", "topics = [[1]]\n", "def (\n", "\0"])
def test_a_tree_that_lists_none(tmp_path: Path, source: str) -> None:
    assert listed_topics(tmp_path) == frozenset()
    assert listed_topics(written(tmp_path, source)) == frozenset()
