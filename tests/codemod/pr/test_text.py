"""The text of pull requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.borders.quoting import message_line
from codemod.bundle.description import Description, Left
from codemod.bundle.follow_up import FollowUp
from codemod.bundle.message import commit_message
from codemod.errors import SymfixError
from codemod.model.findings import Mode
from codemod.model.xfails import ExpectedFailure
from codemod.pr import template as templates
from codemod.pr.text import Row, Text, render, series
from codemod.prove.evidence import Evidence, Verdict
from tests.hostile import ATTACKS, GFM, check_markdown, unseen

ENTRY = ExpectedFailure("test/test_x.py", 10, 20, 7, "symbolic_failures", "xfail", "foo", variant="v")
EVIDENCE = Evidence(
    "foo", "cured", "k", before=Verdict("throws", 1, "Cannot call `numel()`\n```", frames=1),
    after=Verdict("passes", frames=2), repro="import torch\n", versions={"torch": "2.6.0"},
)  # fmt: skip
PLAIN = Description(
    name="foo", title="[dynamic shapes] Use symbolic sizes in foo", about="foo", kind="operator", operators=("foo",),
    functions=("at::native::foo",), paths=("a.cpp",), modes=(Mode.DIRECT_THROW,), rules=(("sym-accessor", 2),),
    left=(), evidence=(), bases=(), digest="d",
)  # fmt: skip


def description(**changed: object) -> Description:
    return replace(PLAIN, **changed)  # type: ignore[arg-type]


def rendered(shard: Description, fixes: Sequence[str] = (), template: Path | None = None) -> Text:
    return render([shard], {shard.name: fixes}, template)[0]


def test_the_least_there_is_to_say() -> None:
    text = rendered(PLAIN)
    assert text.title == "[dynamic shapes] Use symbolic sizes in foo"
    assert (
        text.body
        == """\
### Summary

Nothing of this change was run.

`at::native::foo` asks a tensor for concrete sizes where they may be symbols.
The values are followed to every place they go, and each function is converted as a whole.

### What changed

- sym-accessor: 2 sites

In `a.cpp`.

### Test plan

No test or script shows this change by itself.
"""
    )


def test_all_there_is_to_say() -> None:
    left = Left("loop-bound", 1, "a.cpp", 9, "foo", "its value bounds a loop")
    follow_up = FollowUp(removed=(ENTRY,), listed=((ENTRY, "it also runs on CUDA"),))
    body = rendered(
        description(left=(left,), evidence=(EVIDENCE,), bases=("helper-x",), follow_up=follow_up), fixes=["12", "34"]
    ).body
    assert body.startswith("Fixes #12\nFixes #34\n\n### Summary\n")
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == [
        "### Summary", "### Before and after", "### What changed", "### What was left",
        "### Expected failures removed", "### Expected failures that stay", "### Test plan",
    ]  # fmt: skip
    for said in (
        "\n`foo` throws with symbolic sizes before this change, and passes after it, compiled 2 times over all sizes",
        "\nStacked on helper-x.\n",
        "\n`foo` before this change:\n\n````\nCannot call `numel()`\n```\n````\n",
        "\n```python\nimport torch\n```\n",
        "\n- loop-bound, 1 site: its value bounds a loop (`a.cpp:9`)\n",
        "\n| `foo` | throws (mode 1) | passes, compiled 2 times | cured |  | 2.6.0 |\n",
        "\n- `foo (v)` in `symbolic_failures`, `test/test_x.py`\n",
        "\n- `foo (v)` in `symbolic_failures`, `test/test_x.py:7`: it also runs on CUDA\n",
        "\n```sh\npytest test/test_x.py -k foo_v\n```\n",
    ):
        assert said in body


def attacked(attack: str) -> Description:
    """A shard all of whose texts are the attack."""
    entry = replace(ENTRY, path=f"test/{attack}/test_x.py", name=attack, variant=attack, registry=attack)
    evidence = replace(
        EVIDENCE, operator=attack, reason=attack, before=Verdict("throws", 1, attack), repro=f"# {attack}",
        versions={"torch": attack}, checks={f"symbolic:{attack.replace(':', ';')}:v:{'f'}": ("fails", "passes")},
    )  # fmt: skip
    return description(
        title=message_line(f"[dynamic shapes] {attack}"), about=attack, operators=(attack,), functions=(attack, "g"),
        paths=(attack,), rules=((attack, 2),), left=(Left(attack, 1, attack, 9, attack, attack),),
        evidence=(evidence, replace(evidence, outcome="not provable", before=None)), bases=(attack,),
        follow_up=FollowUp(removed=(entry,), listed=((entry, attack),), tests=(f"{attack}::{attack}",)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def by_ones_own(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What a template of one's own makes of each attack, in one process for all."""
    template = tmp_path_factory.mktemp("own") / "mine.j2"
    template.write_text("{{ shard.about }} {{ shard.paths[0] }}\n\n{{ why | join(' ') }}\n{{ shard.left[0].reason }}")
    texts = render([attacked(attack) for attack in ATTACKS.values()], template=template)
    return dict(zip(ATTACKS.values(), (text.body for text in texts), strict=True))


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_text_of_a_tree_or_a_run_gives_orders(attack: str, by_ones_own: Mapping[str, str]) -> None:
    whole = attacked(attack)
    [plain] = render([whole], {whole.name: ["12"]})
    for text in (plain.body, by_ones_own[attack], series([Row(whole, whole.title, attack, attack)])):
        check_markdown(text)
    for language, sign in (("python", "# "), ("sh", "pytest ")):
        assert next(block.content for block in GFM.parse(plain.body) if block.info == language).startswith(sign)
    message = commit_message(whole)
    assert not unseen(message)
    assert not re.search(r"(?<!\w)@\w|#\d|\bGH-\d|(?m:^(#|---|diff |From |Co-authored))", message)
    assert message.endswith("\nSymfix-Shard: foo\nSymfix-Plan: d\n")


def test_the_commands_of_the_test_plan_are_for_a_shell() -> None:
    body = rendered(description(follow_up=FollowUp(tests=("test/a$(x)b.py::Test::test_foo",)))).body
    assert "\npytest 'test/a$(x)b.py' -k test_foo\n" in body


def test_the_tests_whose_failure_was_expected_show_the_cure() -> None:
    checks = {"symbolic:nn.foo:v:float32": ("fails", "passes"), "symbolic-out:nn.foo:v:float32": ("absent", "absent")}
    evidence = replace(EVIDENCE, before=Verdict("passes"), reason="other guards", checks=checks)
    removed = replace(ENTRY, name="nn.foo")
    follow_up = FollowUp(removed=(removed,), tests=("test/test_y.py::TestY::test_foo_symbolic_sizes",))
    body = rendered(description(evidence=(evidence,), follow_up=follow_up)).body
    check = "make_fx with symbolic sizes over all samples of nn.foo (v), float32"
    assert f"|\n\n- {check}: fails before this change, passes after it\n\nAll runs" in body
    assert "- `test/test_y.py::TestY::test_foo_symbolic_sizes`: fails before" in body
    assert ("```sh\npytest test/test_x.py -k nn_foo_v\npytest test/test_y.py -k test_foo_symbolic_sizes\n```\n") in body


def test_what_passed_before_is_said() -> None:
    passes = Evidence("foo", "unchanged", "k", before=Verdict("passes"), after=Verdict("passes"))
    body = rendered(description(evidence=(passes,))).body
    assert body.startswith("### Summary\n\n`foo` passes before this change, and passes after it.\n\n")
    assert "| `foo` | passes | passes | passed before |  |  |" in body
    assert "No test or script shows this change by itself." in body


def test_what_could_not_be_proved_says_why() -> None:
    body = rendered(description(evidence=(Evidence("foo", "not provable", "k", "no inputs could be made"),))).body
    assert body.startswith("### Summary\n\nNothing of this change was run.\n\n")
    assert "### What was not run\n\n- `foo` was not run: no inputs could be made.\n" in body
    assert "### Before and after" not in body


def test_what_fails_after_the_change_too_is_said_with_both_errors() -> None:
    sides = Verdict("throws", 1, "Cannot call numel()"), Verdict("throws", 0, "another error")
    failing = Evidence("foo", "unchanged", "k", "throws → throws", *sides)
    text = rendered(description(evidence=(failing,)))
    for said in (
        "\n`foo` throws before this change, and throws after it: not cured.\n",
        "\n| `foo` | throws (mode 1) | throws | still fails |  |  |\n",
        "\n`foo` before this change:\n\n```\nCannot call numel()\n```\n\nand after it:\n\n```\nanother error\n```\n",
        "\n### What still fails\n\n- `foo` throws with symbolic sizes after this change too\n",
    ):
        assert said in text.body


def test_what_a_reviewer_wrote_is_said() -> None:
    assert "\nEdited by hand: `at::native::foo`.\n" in rendered(description(edited=("at::native::foo",))).body


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.j2"
    path.write_text("{{ shard.about | code }}: {% for rule, n in shard.rules %}{{ rule }} {{ n }}{% endfor %}\n")
    assert rendered(PLAIN, template=path).body == "`foo`: sym-accessor 2\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\n{% if %}", "mine.j2:2: Expected an expression"),
        (b"\n\n{{ shard.nothing.more }}", "mine.j2:3: "),
        (b"{{ nothing }}", "mine.j2:1: 'nothing' is undefined"),
        (b"{{ ''.__class__.__mro__ }}", "mine.j2:1: access to attribute"),
        (b"\n{{ 1/0 }}", "mine.j2:2: ZeroDivisionError: division by zero"),
        (b"{% for n in range(10 ** 9) %}{{ n }}{% endfor %}", "mine.j2:1: OverflowError: Range too big"),
        (b"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "mine.j2:1: RecursionError"),
        (b"{% for n in range(99999) %}{{ 'x' * 99 }}{% endfor %}", "mine.j2:1: makes a text of more than 1,048,576"),
        (b"{{ 'x' * 10 ** 11 }}", "mine.j2:1: MemoryError"),
        (b"{{ shard.rules | fenced }}", "mine.j2:1: "),
        (b"{{ fixes.append(1) }}", "mine.j2:1: "),
        (b"{{ shard.__init__.__globals__ }}", "mine.j2:1: access to attribute"),
        (b"{{ " + b"(" * 5000 + b"1" + b")" * 5000 + b" }}", "mine.j2:"),
        (b"{% include 'body.md.j2.evil' %}", "mine.j2:1: "),
        (b"\xff", "mine.j2: the template cannot be read"),
        (None, "mine.j2: the template cannot be read: No such file"),
    ],
)
def test_a_template_that_cannot_be_used(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "mine.j2"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SymfixError) as error:
        rendered(PLAIN, template=path)
    assert f"{tmp_path}/{said}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_template_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_SECONDS", 1.0)
    path = tmp_path / "mine.j2"
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    for text in ("{{ 9 ** (9 ** 9) }}", endless):
        path.write_text(text)
        with pytest.raises(SymfixError, match=r"mine\.j2: not rendered within 1\.1 seconds"):
            render([PLAIN], template=path)


def test_one_template_serves_all_shards(tmp_path: Path) -> None:
    path = tmp_path / "mine.j2"
    path.write_text("{{ shard.name }}{{ fixes | join }}")
    shards = [PLAIN, description(name="bar", title="Bar")]
    texts = render(shards, {"bar": ["7"]}, path)
    assert [(text.title, text.body) for text in texts] == [(PLAIN.title, "foo\n"), ("Bar", "bar7\n")]


def test_the_index_of_a_series() -> None:
    rows = [
        Row(PLAIN, PLAIN.title),
        Row(description(name="bar", evidence=(EVIDENCE,)), "Bar", "foo", "opened", "https://example.org/pull/1"),
    ]
    assert series(rows).splitlines() == [
        "# 2 pull requests",
        "",
        "| # | pull request | sites | files | stacked on | evidence | state |",
        "|--:|---|--:|--:|---|---|---|",
        "| 1 | [\\[dynamic shapes\\] Use symbolic sizes in foo](foo.md) | 2 | 1 |  |  |  |",
        "| 2 | [Bar](https://example.org/pull/1) | 2 | 1 | foo | cured | opened |",
    ]
