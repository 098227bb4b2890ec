"""What lands of an operator, and in which order."""

from __future__ import annotations

from codemod.bundle.shards import Shard
from codemod.fix.landing import land
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group
from codemod.prove.evidence import Evidence, Verdict

ENDS = Verdict("passes")


def group(path: str) -> Group:
    edit = Edit(path, 0, 1, b"a", b"b")
    return Group((Finding(path, 0, 1, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, "f", ("foo",), "m", edits=(edit,)),))


def test_what_cures_the_operator_lands_last() -> None:
    own, helper = group("a.cc"), group("z.cc")
    shards = {
        "helper-of-foo": Shard("helper-of-foo", ("foo",), (helper,), kind="helper"),
        "foo": Shard("foo", ("foo",), (own,), bases=("helper-of-foo",)),
    }
    evidence = {
        "helper-of-foo": [Evidence("foo", "unchanged", "", before=ENDS, after=ENDS)],
        "foo": [Evidence("foo", "cured", "", before=ENDS, after=ENDS)],
    }
    landing = land("foo", (), (own, helper), shards, evidence)
    assert (landing.state, landing.shards) == ("cured", ("helper-of-foo", "foo"))
