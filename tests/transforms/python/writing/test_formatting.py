"""Changes that make a line too long, among changes that do not."""

from __future__ import annotations

import ast
import functools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemod.model.edits import apply_edits
from codemod.model.findings import Finding, Level
from codemod.model.groups import refuse_overlaps
from transforms.python.jobs import FileJob, Job
from transforms.python.rewrite import findings
from transforms.python.writing.formatting import Formatter
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Change, Rewrite
from transforms.python.writing.style import Style, longest

IMPORT = "from torch.fx.experimental.symbolic_shapes import guard_or_false"
HEAD = f"def f(x: Tensor, y: Tensor):\n    {IMPORT}\n\n"


def body(text: str) -> str:
    return text.removeprefix(HEAD)


def test_a_line_that_is_short_enough_keeps_all_but_the_tokens(look: Any) -> None:
    (finding,) = look(HEAD + "    if (x.numel()==0): # empty\n        return x\n    return x.exp()\n")
    assert [(edit.old, edit.new) for edit in finding.edits] == [(b"", b"guard_or_false("), (b"", b")")]


def test_the_authors_own_layout_stays_where_it_fits(rewrite: Any) -> None:
    source = HEAD + "    if (x.numel() == 0 and\n            y.numel() == 0):\n        return x\n    return y\n"
    assert body(rewrite(source, style=Style(60))).startswith(
        "    if (guard_or_false(x.numel() == 0) and\n            guard_or_false(y.numel() == 0)):\n"
    )
    assert body(rewrite(source, style=Style(43))).startswith(
        "    if guard_or_false(\n        x.numel() == 0\n    ) and guard_or_false(y.numel() == 0):\n"
    )


@pytest.mark.parametrize("comment", ["# fmt: off", "# yapf: disable"])
def test_the_author_may_switch_the_formatter_off(rewrite: Any, comment: str) -> None:
    source = HEAD + "    if x.numel() == 0 or y.numel() == 0:\n        return x * y\n    return y * x\n"
    wide = "    if guard_or_false(x.numel() == 0) or guard_or_false(y.numel() == 0):\n"
    assert wide not in rewrite(source, style=Style(60))
    off = source.replace("    if", f"    {comment}\n    if")
    assert wide in rewrite(off, style=Style(60))
    on = off.replace("    if", f"    {comment.replace('off', 'on').replace('disable', 'enable')}\n    if")
    assert wide not in rewrite(on, style=Style(60))


def test_a_shared_line_is_one_change_of_the_higher_level(look: Any, rewrite: Any) -> None:
    source = (
        "def f(x: Tensor, y: Tensor, z: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import sym_eq\n\n"
        "    return min(x.size(0), y.size(1)), torch._check(x.shape == y.shape), 'and so on'\n"
    )
    levels = {finding.rule: finding.level for finding in look(source, style=Style(120))}
    assert levels == {"sym-extremum": Level.REVIEW, "check-condition": Level.SAFE}
    found = look(source)
    assert {finding.level for finding in found} == {Level.REVIEW}
    assert len({finding.group for finding in found}) == 1
    assert found[0].edits == found[1].edits
    assert "review" in next(finding.reason for finding in found if finding.rule == "check-condition")
    assert rewrite(source, level=Level.SAFE) == source
    assert rewrite(source).endswith(
        "    return (\n        torch.sym_min(x.size(0), y.size(1)),\n"
        "        torch._check(sym_eq(x.shape, y.shape)),\n        'and so on',\n    )\n"
    )


def test_added_statements_are_as_narrow_as_the_tree(rewrite: Any) -> None:
    source = (
        HEAD + "    if x.size(0) != 3:\n"
        "        raise ValueError(f'the first dimension of x is {x.size(0)}, not 3')\n    return x\n"
    )
    for limit in (50, 60, 88):
        written = body(rewrite(source, style=Style(limit)))
        added = "\n".join(line for line in written.splitlines() if line not in source)
        assert longest(added) <= limit
        assert "torch._check_value(" in added


def test_a_string_that_no_settings_forbid_stays_as_long_as_it_was(rewrite: Any) -> None:
    message = "f'the first dimension of x, of which nothing is left, is not 3 but still {x.size(0)}'"
    long = HEAD + f"    if x.size(0) != 3:\n        raise ValueError({message})\n    return x\n"
    assert message in rewrite(long, style=Style(assumed=True))
    assert message not in rewrite(long, style=Style())
    narrower = long.replace("ValueError(f", "ValueError(\n            f").replace("')\n", "'\n        )\n")
    assert message not in rewrite(narrower, style=Style(assumed=True))


def test_levels_and_line_ends_of_the_file_are_kept() -> None:
    source = (
        b"import torch\r\n\r\n\r\ndef f(x: Tensor, y: Tensor):\r\n"
        b"\tfrom torch.fx.experimental.symbolic_shapes import guard_or_false\r\n\r\n"
        b"\tif x.numel() == 0 or y.numel() == 0:\r\n\t\treturn x * y\r\n\treturn y * x\r\n"
    )
    job = FileJob("torch/a.py", "torch/a.py", {"f": Job({}, {}, (), ())}, frozenset(), Style(60))
    written = apply_edits(source, [edit for finding in findings(job, source) for edit in finding.edits])
    assert written.replace(b"\r\n", b"").count(b"\n") == 0
    assert (
        b"\tif guard_or_false(x.numel() == 0) or guard_or_false(\r\n\t\ty.numel() == 0\r\n\t):\r\n\t\treturn x * y\r\n"
        in written
    )


@pytest.mark.parametrize("inner", [Change(30, 30, "2"), Change(25, 31, "other")])
def test_changes_that_overlap_are_left_as_they_are(inner: Change) -> None:
    source = "def f(x):\n    return call(first, second)\n"
    outer = Change(source.index("call"), source.index(")\n") + 1, "call(first_argument, second_argument)")
    rewrites = [Rewrite(Level.REVIEW, "", (outer,)), Rewrite(Level.SAFE, "", (inner,))]
    formatter = Formatter(Layout(source.encode()), ast.parse(source).body, Style(30))
    assert formatter.settled(rewrites) == rewrites
    assert formatter.settled(rewrites[:1]) != rewrites[:1]


CONDITION = st.sampled_from(
    ["x.numel() == 0", "y.size(0) == 1", "x.dim() == 2", "flag", "min(x.size(0), y.size(1)) == 0"]
)
STATEMENT = st.sampled_from(
    [
        "if {}:  # note\n        return x",
        "if flag:\n        return y\n    elif {}:\n        return x",
        "while {}:\n        break",
        "z = (x if {} else\n         y)",
        "assert {}, 'why'",
        "assert {}, (\n        'why'  # because\n    )",
        "if {}:\n        raise ValueError('both')",
        "torch._check({})",
        "z = [{},\n         1]",
        "if {}: return y",
    ]
)


def without_imports(source: str) -> str:
    """What a function does, apart from its imports."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return "\n".join(ast.unparse(node) for node in function.body if not isinstance(node, ast.ImportFrom))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    statements=st.lists(st.tuples(STATEMENT, st.lists(CONDITION, min_size=1, max_size=3)), min_size=1, max_size=3),
    limit=st.sampled_from([30, 50, 70, 88, 120]),
)
def test_formatting_changes_neither_meaning_nor_what_a_second_run_finds(
    look: Any, statements: list[tuple[str, list[str]]], limit: int
) -> None:
    lines = [text.format(" and ".join(conditions)) for text, conditions in statements]
    source = "def f(x: Tensor, y: Tensor, flag: bool):\n    " + "\n    ".join(lines) + "\n    return x\n"

    @functools.cache
    def found(text: str, width: int) -> list[Finding]:
        return refuse_overlaps(look(text, style=Style(width)))

    def rewritten(text: str, width: int, level: Level = Level.REVIEW) -> str:
        edits = [edit for finding in found(text, width) if finding.level <= level for edit in finding.edits]
        return apply_edits(text.encode(), edits).decode()

    narrow = rewritten(source, limit)
    assert ast.dump(ast.parse(narrow)) == ast.dump(ast.parse(rewritten(source, 10_000)))
    assert rewritten(narrow, limit) == narrow
    safe = rewritten(source, limit, Level.SAFE)
    ast.parse(safe)
    assert without_imports(rewritten(safe, limit)) == without_imports(narrow)
