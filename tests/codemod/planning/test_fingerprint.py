"""A finding is known again wherever its code has moved, and by nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from codemod.model.findings import Finding, Level, Mode
from codemod.planning.fingerprint import fingerprints
from codemod.tree.sources import Sources

LINES = st.lists(st.sampled_from([b"x.size();", b"  x.size();", b"y.size(); z.size();", b"other", b""]), max_size=8)


def prints(source: bytes, level: Level = Level.SAFE, function: str = "f") -> list[str]:
    """The fingerprints of every `size` in `source`, in order."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "a.cc").write_bytes(source)
        findings = [
            Finding("a.cc", m.start(), m.end(), 1, 1, Mode.LEAK, "r", level, function, (), "")
            for m in re.finditer(b"size", source)
        ]
        found = fingerprints(reversed(findings), Sources(Path(folder)))
        return [found[finding] for finding in findings]


@given(LINES, st.integers(0, 8))
def test_lines_that_move_keep_their_findings(lines: list[bytes], at: int) -> None:
    before = prints(b"\n".join(lines))
    assert len(set(before)) == len(before)
    moved = [*lines[:at], b"// a new line", *(line + b"\t" for line in lines[at:])]
    assert prints(b"\n".join(moved)) == before


@given(LINES)
def test_a_line_that_goes_takes_only_its_own(lines: list[bytes]) -> None:
    before = set(prints(b"\n".join(lines)))
    for place in range(len(lines)):
        rest = prints(b"\n".join(lines[:place] + lines[place + 1 :]))
        assert set(rest) <= before


def test_changed_code_is_another_finding_and_a_new_rewrite_is_not() -> None:
    assert set(prints(b"x.size()")).isdisjoint(prints(b"x.size() + 1"))
    assert prints(b"x.size()") == prints(b"x.size()", Level.MANUAL)


def test_one_more_function_of_a_name_leaves_what_is_found_in_the_others() -> None:
    assert prints(b"x.size()", function="_") == prints(b"x.size()", function="_#2")
    assert prints(b"x.size()", function="_") != prints(b"x.size()", function="g")
