"""An entry goes with what is its own, and everything else stays."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.model.edits import Edit, apply_edits
from codemod.model.xfails import ExpectedFailure
from tests.transforms.counting import calls
from tests.transforms.xfails.conftest import Without
from transforms.xfails.read import extract
from transforms.xfails.remove import Cut, NotRemovable, removal
from transforms.xfails.tree import _removal

SET = """failures = {
    # unknown
    xfail('allclose'),
    xfail('equal'),

    # RuntimeError: Cannot call numel()
    xfail('index_reduce', 'prod'),
    xfail('index_reduce', 'mean'),

    skip('equal'),
    # flaky
    xfail(
        "trace", ""
    ),  # sizes()
    xfail('stft', '')
}
"""


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (["allclose"], ["    xfail('allclose'),"]),
        (["allclose", "equal"], ["    # unknown", "    xfail('allclose'),", "    xfail('equal'),", ""]),
        (["index_reduce"], ["    # RuntimeError: Cannot call numel()", "    xfail('index_reduce', 'prod'),",
                            "    xfail('index_reduce', 'mean'),", ""]),
        (["trace"], ["    xfail(", '        "trace", ""', "    ),  # sizes()"]),
        (["trace", "stft"], ["    # flaky", "    xfail(", '        "trace", ""', "    ),  # sizes()",
                             "    xfail('stft', '')"]),
    ],
)  # fmt: skip
def test_lines_go_with_their_comments(without: Without, names: list[str], gone: list[str]) -> None:
    left = without(SET, *names).split("\n")
    expected = SET.split("\n")
    for line in gone:
        expected.remove(line)
    assert left == expected


def test_an_entry_that_stands_twice(without: Without) -> None:
    source = "failures = {\n    xfail('cov'),\n    xfail('dot'),\n    xfail('cov'),\n}\n"
    assert without(source, "cov") == "failures = {\n    xfail('dot'),\n}\n"


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("failures = {xfail('a')}\n", "failures = set()\n"),
        ("failures = {\n    # why\n    xfail('a'),\n}\n", "failures = set()\n"),
        ("failures = set({xfail('a')})\n", "failures = set()\n"),
        ("failures = set(\n    {\n        xfail('a'),\n    }\n)\n", "failures = set()\n"),
        ("failures = [xfail('a'),]\n", "failures = []\n"),
        ("failures = (xfail('a'),)\n", "failures = ()\n"),
        ("failures['cpu'] = {'a': {f32}}\n", "failures['cpu'] = {}\n"),
        ("failures = base | {xfail('a')}\n", "failures = base | set()\n"),
    ],
)
def test_an_empty_registry_stays_valid(without: Without, source: str, left: str) -> None:
    assert without(source, "a") == left


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("failures = {xfail('a'), xfail('b'), xfail('c')}\n", "failures = {xfail('b'), xfail('c')}\n"),
        ("failures = {xfail('b'), xfail('a')}\n", "failures = {xfail('b')}\n"),
        ("failures = (xfail('b'), xfail('a'))\n", "failures = (xfail('b'),)\n"),
        ("failures = {xfail('b'), xfail('a'), xfail('a', 'out')}\n", "failures = {xfail('b')}\n"),
        ("failures = {xfail('b'),\n            xfail('a')}\n", "failures = {xfail('b')}\n"),
        ("failures = {xfail('b'), xfail('a'), }  # here\n", "failures = {xfail('b'), }  # here\n"),
    ],
)
def test_entries_that_share_a_line(without: Without, source: str, left: str) -> None:
    assert without(source, "a") == left


def test_a_comment_that_goes_on_below_its_entry(without: Without) -> None:
    source = """
    symbolic_module_failures = {
        torch.nn.GroupNorm,  # cpg, rem = divmod(C, group)
        # TypeError: unsupported operand
        torch.nn.BCELoss,  # size()
        # RuntimeError: expected int
    }
    """
    assert "TypeError" not in without(source, "torch.nn.GroupNorm")
    assert "TypeError" in without(source, "torch.nn.BCELoss")
    assert "RuntimeError" not in without(source, "torch.nn.BCELoss")


def test_a_comment_that_heads_what_follows_stays(without: Without) -> None:
    source = """
    failures = {
        xfail('a'),  # numel()
        # Misc
        xfail('b'),
        # ---------
        # --- bugs
        xfail('c'),  # item()
        # ---------
    }
    """
    assert "# Misc" in without(source, "a")
    assert without(source, "c").count("# --") == 3


def test_statements(without: Without) -> None:
    source = """
    test_failures = {}

    if ROCM:
        # Not close
        test_failures["test_a"] = TestFailure(("cuda",))
        test_failures["test_b"] = TestFailure(
            ("cpu", "cuda"), is_skip=False
        )


    def after():
        pass
    """
    left = without(source, "test_a")
    assert left == dedent(source).replace('    test_failures["test_a"] = TestFailure(("cuda",))\n', "")
    assert without(source, "test_a", "test_b") == dedent(
        """
        test_failures = {}


        def after():
            pass
        """
    )


def test_an_if_with_an_else_keeps_its_branches(without: Without) -> None:
    source = 'if ROCM:\n    test_failures["test_a"] = TestFailure(("cpu",))\nelse:\n    x = 1\n'
    assert without(source, "test_a") == "if ROCM:\n    pass\nelse:\n    x = 1\n"


@pytest.mark.parametrize(
    ("source", "dtypes", "left"),
    [
        ('failures["cpu"] = {\n    "a": {f16, f32, f64},  # why\n}\n', {"float32"},
         'failures["cpu"] = {\n    "a": {f16, f64},  # why\n}\n'),
        ('failures["cpu"]["a"] = {f32, f64}\n', {"float32"}, 'failures["cpu"]["a"] = {f64}\n'),
        ("failures = {xfail('a', dtypes=(torch.float, torch.half))}\n", {"float32"},
         "failures = {xfail('a', dtypes=(torch.half,))}\n"),
        ("failures = {xfail('a', dtypes=(torch.half, torch.float))}\n", {"float32"},
         "failures = {xfail('a', dtypes=(torch.half,))}\n"),
        ("failures = {xfail('a', dtypes=[torch.half, f32, f64])}\n", {"float32", "float64"},
         "failures = {xfail('a', dtypes=[torch.half])}\n"),
    ],
)  # fmt: skip
def test_narrowed_to_other_dtypes(without: Without, source: str, dtypes: set[str], left: str) -> None:
    assert without(source, "a", dtypes=dtypes) == left


def test_bytes_outside_stay_as_they_are(without: Without) -> None:
    source = "# é\r\nfailures = {\r\n\txfail('é'),\r\n\txfail('a'),  # ö\r\n}\r\nx = 'no newline'"
    assert without(source, "a") == source.replace("\txfail('a'),  # ö\r\n", "")


def test_two_removals_that_only_together_empty_a_set() -> None:
    source = b"failures = {\n    xfail('a'),\n    xfail('b'),\n}\n"
    first, second = (Cut(entry.start, entry.end) for entry in extract("t.py", source).entries)
    assert removal("t.py", source, [first])
    with pytest.raises(NotRemovable, match="another shard takes the rest"):
        removal("t.py", source, [second], other_cuts=[first])


NAMES = "abcdefgh"
LINE = st.builds(
    lambda name, variant, comment: f"    xfail('{name}'{variant}),{comment}\n",
    st.sampled_from(NAMES),
    st.sampled_from(["", ", ''", ", 'out'"]),
    st.sampled_from(["", "  # why", "  # Cannot call numel()"]),
)
OTHER = st.sampled_from(["\n", "    # Misc\n", "    # ------\n", "    skip('i'),\n", "    # goes on\n"])


def evaluated(source: bytes) -> set[tuple[str, str]]:
    """The registry's value, with stand-ins for what makes its entries."""
    space: dict[str, object] = {"xfail": lambda name, variant="": (name, variant), "skip": lambda name: (name, "skip")}
    exec(compile(source, "t.py", "exec", dont_inherit=True), space)
    value = space["failures"]
    assert isinstance(value, set)
    return value


@given(
    st.lists(st.one_of(LINE, LINE, OTHER), max_size=12),
    st.sets(st.sampled_from(NAMES), max_size=3),
    st.sets(st.sampled_from(NAMES), max_size=3),
)
def test_the_set_less_the_entries_alone_and_beside_another_removal(
    lines: list[str], mine: set[str], theirs: set[str]
) -> None:
    source = f"failures = set() | {{\n    skip('z'),\n{''.join(lines)}}}\n".encode()
    found = extract("t.py", source).entries
    others = [Cut(entry.start, entry.end) for entry in found if entry.name in theirs - mine]
    cuts = [Cut(entry.start, entry.end) for entry in found if entry.name in mine]
    before = removal("t.py", source, others)
    taken = {
        line
        for edit in before
        for line in range(source.count(b"\n", 0, edit.start) + 1, source.count(b"\n", 0, edit.end) + 1)
    }
    after = removal("t.py", source, cuts, others, taken)
    assert not set(before) & set(after)
    everything = evaluated(source)
    assert evaluated(apply_edits(source, after)) == {element for element in everything if element[0] not in mine}
    assert evaluated(apply_edits(source, [*before, *after])) == {
        element for element in everything if element[0] not in mine | theirs
    }


def long_set(count: int) -> tuple[bytes, list[Cut]]:
    source = "failures = {\n" + "".join(f"    xfail('op{index}'),  # slow\n" for index in range(count)) + "}\n"
    entries = extract("test_a.py", source.encode()).entries
    return source.encode(), [Cut(entry.start, entry.end) for entry in entries]


def test_what_is_read_and_removed_of_a_long_set_grows_with_its_length() -> None:
    def work(count: int) -> int:
        source, cuts = long_set(count)
        return calls(lambda: removal("test_a.py", source, cuts[::2]))

    assert work(1000) < 2.3 * work(500)


def test_one_entry_that_stays_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    source, cuts = long_set(2000)
    asked = 0

    def one_stays(path: str, source: bytes, chosen: list[Cut], *rest: object) -> list[Edit]:
        nonlocal asked
        asked += 1
        if cuts[700] in chosen:
            raise NotRemovable("it stays")
        return []

    monkeypatch.setattr("transforms.xfails.tree.removal", one_stays)
    entries = [ExpectedFailure("test_a.py", c.start, c.end, 1, "failures", "xfail", "op") for c in cuts]
    _, removed, refused = _removal("test_a.py", source, entries, set(), set())
    assert [entry.start for entry, _ in refused] == [cuts[700].start]
    assert removed == entries[:700] + entries[701:]
    assert asked < 40
