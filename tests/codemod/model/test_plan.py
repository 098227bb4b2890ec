from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.model.decisions import Choice, Decision
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.plan import Plan

SCHEMA = json.loads(files("codemod").joinpath("model/plan.schema.json").read_text())

paths = (
    st.binary(min_size=1, max_size=8)
    .filter(lambda raw: b"\0" not in raw)
    .map(lambda raw: raw.decode("utf-8", "surrogateescape"))
)
texts = st.text(max_size=8)
numbers = st.integers(1, 10**6)
steps = st.builds(Step, paths, numbers, texts)
edits = st.builds(
    lambda path, start, old, new: Edit(path, start, start + len(old), old, new),
    paths, numbers, st.binary(max_size=8), st.binary(max_size=8),
)  # fmt: skip
findings = st.builds(
    Finding,
    path=paths, start=numbers, end=numbers, line=numbers, column=numbers, mode=st.sampled_from(Mode), rule=texts,
    level=st.sampled_from(Level), function=texts, operators=st.lists(texts, max_size=2).map(tuple), message=texts,
    reason=texts, refusal=texts, reach=st.lists(steps, max_size=2).map(tuple),
    flow=st.lists(steps, max_size=2).map(tuple), edits=st.lists(edits, max_size=2).map(tuple), group=texts,
    id=texts,
)  # fmt: skip
hashes = st.sampled_from(["", "0" * 64, "abcdef0123456789" * 4])
choices = st.one_of(
    st.tuples(st.sampled_from([Choice.ACCEPT, Choice.REJECT]), st.just(())),
    st.tuples(st.just(Choice.EDIT), st.lists(edits, max_size=2).map(lambda found: tuple(sorted(found)))),
)
decisions = st.builds(
    lambda name, choice, files, title: Decision(name, choice[0], files, choice[1], title),
    st.text(min_size=1, max_size=8), choices, st.dictionaries(paths, hashes, max_size=2), texts,
)  # fmt: skip
plans = st.builds(
    Plan,
    findings=st.lists(findings, max_size=3).map(tuple),
    files=st.dictionaries(paths, hashes, max_size=3),
    options=st.just({"paths": ["a"], "op": ["add"], "mode": [1], "rule": [], "level": "safe", "vocabulary": "v.yaml"}),
    suppressed=st.integers(0, 3),
    failures=st.lists(texts, max_size=2).map(tuple),
    remarks=st.lists(texts, max_size=2).map(tuple),
    symfix=texts,
    decisions=st.lists(decisions, max_size=2).map(tuple),
)


@given(plans)
def test_a_plan_comes_back_from_json_and_keeps_to_the_schema(plan: Plan) -> None:
    text = plan.to_json()
    assert text.isascii()
    assert Plan.from_json(text) == plan
    jsonschema.validate(json.loads(text), SCHEMA)


def test_the_schema_refuses_what_no_plan_says() -> None:
    document = json.loads(Plan((), {}).to_json())
    changes: list[dict[str, object]] = [{"version": 1}, {"extra": 1}, {"files": {"a": "short"}}, {"findings": [{}]}]
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **change}, SCHEMA)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        ("[]", "not a symfix plan"),
        ('{"format": "symfix-plan", "version": 99}', "version 99"),
        ('{"format": "symfix-plan", "version": 2}', "damaged"),
        ('{"format": "symfix-plan", "version": 2, "findings": [{"mode": 9}], "files": {}}', "damaged"),
    ],
)
def test_what_is_no_plan_is_refused_by_name(text: str | bytes, says: str) -> None:
    with pytest.raises(SymfixError, match=says) as caught:
        Plan.from_json(text, "p.json")
    assert str(caught.value).startswith("p.json: ")
    assert "\n" not in str(caught.value)


def test_changed_gone_and_new_files_make_a_plan_stale(tmp_path: Path) -> None:
    (tmp_path / "same").write_bytes(b"1")
    (tmp_path / "changed").write_bytes(b"2")
    (tmp_path / "new").write_bytes(b"")
    sha = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    plan = Plan((), {"same": sha, "changed": sha, "gone": sha, "new": "", "absent": ""})
    assert plan.stale(tmp_path) == ["changed", "gone", "new"]
    assert plan.stale(tmp_path, ["same", "gone", "other"]) == ["gone"]
