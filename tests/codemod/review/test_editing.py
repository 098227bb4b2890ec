from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.model.edits import Edit, apply_edits
from codemod.review.editing import Draft

# Lines that could be taken for a draft's own, other line ends, other encodings, and no last line end.
lines = st.sampled_from([b"", b"one two", b"#~ 1 a.cc from line 1", b"#~~", b"  three();", b"caf\xe9\r", b"#", b"\xff"])
texts = st.lists(lines, max_size=14).map(b"\n".join)
endings = st.sampled_from([b"", b"\n"])


@given(before=texts, after=texts, end=endings, data=st.data())
def test_a_draft_reads_back_as_what_was_typed(before: bytes, after: bytes, end: bytes, data: st.DataObject) -> None:
    """Whatever the proposal was, the edits of a draft turn the source into what its text says."""
    source = before + end
    if not source:
        return
    start = data.draw(st.integers(0, len(source) - 1))
    stop = data.draw(st.integers(start + 1, len(source)))
    proposal = [Edit("a.cc", start, stop, source[start:stop], after)]
    proposed = apply_edits(source, proposal)
    if proposed == source:
        return
    draft = Draft(proposal, {"a.cc": source})
    made = draft.read(draft.text())
    assert made is not None
    assert apply_edits(source, made) == proposed


def test_a_draft_holds_a_whole_edit_of_which_only_the_end_differs() -> None:
    source = b"one\n" * 12
    edit = Edit("a.cc", 0, 40, source[:40], source[:36] + b"two\n")
    draft = Draft([edit], {"a.cc": source})
    made = draft.read(draft.text())
    assert made is not None
    assert apply_edits(source, made) == apply_edits(source, [edit])


def test_a_draft_shows_the_lines_around_each_edit_once() -> None:
    source = b"".join(b"%d\n" % number for number in range(60))
    edits = [Edit("a.cc", 0, 1, b"0", b"x"), Edit("a.cc", 4, 5, b"2", b"y"), Edit("b.cc", 0, 1, b"0", b"z")]
    text = Draft(edits, {"a.cc": source, "b.cc": source}).text().decode().splitlines()
    assert text[2:] == [
        "#~ 1 a.cc from line 1", "x", "1", "y", "3", "4", "5", "6", "7",
        "#~ 2 b.cc from line 1", "z", "1", "2", "3", "4", "5",
    ]  # fmt: skip


def test_only_the_words_that_differ_are_edited() -> None:
    source = b"auto n = x.size(0);\n"
    draft = Draft([Edit("a.cc", 11, 15, b"size", b"sym_size")], {"a.cc": source})
    edited = draft.text().replace(b"auto n", b"const auto n")
    assert draft.read(edited) == (
        Edit("a.cc", 0, 0, b"", b"const "),
        Edit("a.cc", 11, 15, b"size", b"sym_size"),
    )
    assert draft.suffix == ".cc"


@pytest.mark.parametrize("edited", [b"new line\n", b"#~ 2 b.cc from line 1\n#~ 1 a.cc from line 1\n"])
def test_lines_that_belong_nowhere_are_refused(edited: bytes) -> None:
    draft = Draft([Edit("a.cc", 0, 1, b"x", b"y"), Edit("b.cc", 0, 1, b"x", b"y")], {"a.cc": b"x\n", "b.cc": b"x\n"})
    with pytest.raises(SymfixError, match="missing or not in its place"):
        draft.read(edited)
    assert draft.read(b" \n\n") is None
