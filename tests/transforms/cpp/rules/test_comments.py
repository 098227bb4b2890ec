"""A comment in what a rule replaces is there afterwards, wherever an author may write one, and changes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted
from transforms.cpp.rules import load_rules

EXAMPLES = [
    pytest.param(example.before, id=f"{rule.name}-{index}")
    for rule in load_rules()
    for index, example in enumerate(rule.examples)
    if example.after is not None
]
COMMENTS = ("/* why */", "// why\n", "// NOLINT(bugprone-x)\n")
_TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|\w+|::|->|[-+*/<>=!&|]=?|\S')


def _code(text: str) -> str:
    """The code of a text without comments and white space."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", text)


@pytest.mark.parametrize("before", EXAMPLES)
def test_no_comment_is_lost(tmp_path: Path, before: str) -> None:
    expected = _code(converted(tmp_path, before))
    directives = [match.span() for match in re.finditer(r"(?m)^ *#.*", before)]
    gaps = [match.end() for match in _TOKEN.finditer(before) if not match[0].startswith("//")]
    gaps = [gap for gap in gaps if not any(start <= gap <= end for start, end in directives)]
    for index, gap in enumerate(gaps[::3]):
        comment = COMMENTS[index % 3]
        source = f"{before[:gap]} {comment}{before[gap:]}"
        after = converted(tmp_path, source)
        assert comment.strip() in after, source
        assert after == source or _code(after) == expected


def test_comments_stand_before_what_replaces_them(tmp_path: Path) -> None:
    before = """\
Tensor f(const Tensor& x) {
  int64_t d = x.sizes(/* all of "them" // */).size();
  auto n = 6/std::max( // at least 1
      x.size(0), 1);
  return x.narrow(d - 1, 0, n);
}
"""
    after = """\
Tensor f(const Tensor& x) {
  int64_t d = x./* all of "them" // */ dim();
  auto n = 6/ // at least 1
  x.sym_size(0).max(c10::SymInt(1));
  return x.narrow_symint(d - 1, 0, n);
}
"""
    assert converted(tmp_path, before) == after


def test_a_comment_in_a_condition_hides_no_condition(tmp_path: Path) -> None:
    source = 'Tensor f(Tensor x, Tensor y) { TORCH_CHECK(x.size(0) /* a == b */ == y.size(0), "rows"); return x; }'
    after = converted(tmp_path, source)
    assert "TORCH_SYM_CHECK(x.sym_size(0)" in after
    assert after.count("/* a == b */") == 1
