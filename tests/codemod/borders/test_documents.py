"""Documents of any shape, size and depth: each loader takes what is its own, and refuses the rest in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemod.borders.documents import check, load_json, load_toml, load_yaml, read_bounded
from codemod.bundle.shard_file import load as load_shards
from codemod.bundle.shard_names import ShardNames
from codemod.errors import SymfixError
from codemod.model import decisions
from codemod.model.decisions import Choice, Decision
from codemod.model.drawn import DrawnMeta, drawn_to_json
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.plan import Plan
from codemod.planning.baseline import read_baseline
from codemod.planning.drawn import DrawnStore
from codemod.pr.journal import Journal
from codemod.prove.compiler import _load as load_manifest
from codemod.prove.evidence import Evidence, EvidenceStore, Verdict
from codemod.prove.flags import compile_flags
from tests.conftest import drawn as examples_drawn

EDIT = Edit("a.cc", 0, 4, b"size", b"sym_size")
FINDING = Finding(
    "a.cc", 0, 4, 1, 1, Mode.LEAK, "size", Level.SAFE, "f", ("aten::f",), "m", "r", "", (Step("a.cc", 1, "x"),),
    (Step("a.cc", 2, "y"),), (EDIT,), "g", "0123",
)  # fmt: skip
DECISION = Decision("0123", Choice.EDIT, {"a.cc": "0" * 64}, (EDIT,), "a.cc:1 f")
PLAN = Plan((FINDING,), {"a.cc": "0" * 64}, {"paths": ["a.cc"]}, 1, ("x: y",), ("z",), "0.1", (DECISION,))
META = DrawnMeta("aten::f", "f.default", "2.13", ("self", "*", "dim=None"), ("n = self.shape", "return self"))
VERDICT = Verdict("throws", 1, "m", ("s0 > 1",), 2, "throws")


def plan(root: Path, text: bytes) -> None:
    Plan.from_json(text, "x.json").stale(root)


def imported(root: Path, text: bytes) -> None:
    decisions.from_json(text, "x.json")


def baseline(root: Path, text: bytes) -> None:
    (root / "x.json").write_bytes(text)
    read_baseline(root / "x.json")


def names(root: Path, text: bytes) -> None:
    (root / "shards.json").write_bytes(text)
    shards = ShardNames.load(root)
    shards.assign([])
    shards.save(root)


def pulls(root: Path, text: bytes) -> None:
    (root / "x.json").write_bytes(text)
    Journal(root / "x.json")


def database(root: Path, text: bytes) -> None:
    (root / "compile_commands.json").write_bytes(text)
    compile_flags(root)


def shards(root: Path, text: bytes) -> None:
    (root / "x.yaml").write_bytes(text)
    load_shards(root / "x.yaml", [])


def drawn(root: Path, text: bytes) -> None:
    (root / "metas.json").write_bytes(text)
    DrawnStore(root).load()


def evidence(root: Path, text: bytes) -> None:
    (root / "k").mkdir(exist_ok=True)
    (root / "k" / "x.json").write_bytes(text)
    EvidenceStore(root).all("k")


def manifest(root: Path, text: bytes) -> None:
    (root / "x.manifest").write_bytes(text)
    load_manifest(root / "x.manifest", root / "x.o")


def _kept(root: Path) -> Any:
    EvidenceStore(root).save(Evidence("f", "cured", "kept", "r", VERDICT, VERDICT, "x", {"torch": "2"}, ("a.cc",)))
    return json.loads(next((root / "kept").iterdir()).read_bytes())


LOADERS: dict[Callable[[Path, bytes], None], Any] = {
    plan: json.loads(PLAN.to_json()),
    imported: json.loads(decisions.to_json([DECISION])),
    baseline: {
        "format": "symfix-baseline", "version": 1,
        "findings": [{"path": "a", "rule": "b", "function": "c", "fingerprint": "d"}],
    },
    names: {"format": "symfix-shard-names", "shards": {"a": {"key": "op:a#2", "members": ["a.cc:f"]}}},
    pulls: {"format": "symfix-pulls", "branches": {"origin a": {"pushed": "0123", "url": ""}}},
    database: [{"directory": "/x", "file": "a.cc", "command": "c++ -I x -DA"}, {"directory": "/x", "file": "a.cc",
               "arguments": ["c++", "-include", "x.h"]}],
    shards: {"format": "symfix-shards", "version": 1, "shards": [{"name": "a", "changes": ["a.cc:f"], "bases": []}]},
    drawn: {
        "format": "symfix-metas", "version": 1,
        "operators": {"aten::f": {"state": "0", "metas": [drawn_to_json(META)]}},
    },
    evidence: None,
    manifest: {"error": {"message": "m", "places": [{"path": "a", "line": 1}]}, "dependencies": {"/a": "1 2"}},
}  # fmt: skip

odd: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["\0", "\ud800", "../x", "/dev/zero", "-1", 2**70, 1e308, {}, []]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip

loaders = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
PERSISTENT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples_drawn(150))


def taken_or_refused(loader: Callable[[Path, bytes], None], root: Path, text: bytes) -> bool:
    """Whether `loader` took `text`; anything but one line of refusal fails."""
    try:
        loader(root, text)
    except SymfixError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
        files = ("x.json", "x.yaml", "shards.json", "metas.json", "compile_commands.json")
        assert any(name in message for name in files)
        return False
    return True


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every place of a document: what holds it, and its key there."""
    found: list[tuple[Any, Any]] = []
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        found.append((document, key))
        if isinstance(value, dict | list):
            found += places(value)
    return found


@loaders
@PERSISTENT
@given(value=odd)
def test_any_value_is_taken_or_refused_in_one_line(
    loader: Callable[[Path, bytes], None], tmp_path: Path, value: Any
) -> None:
    taken_or_refused(loader, tmp_path, json.dumps(value).encode())


@loaders
@PERSISTENT
@given(data=st.data())
def test_a_real_document_with_one_value_changed_is_taken_or_refused_in_one_line(
    loader: Callable[[Path, bytes], None], tmp_path: Path, data: st.DataObject
) -> None:
    document = copy.deepcopy(LOADERS[loader] or _kept(tmp_path))
    holder, key = data.draw(st.sampled_from(range(len(places(document)))).map(lambda n: places(document)[n]))
    change = data.draw(st.sampled_from(["replace", "remove", "rename", "add"]))
    if change == "replace":
        holder[key] = data.draw(odd)
    elif change == "remove":
        del holder[key]
    elif isinstance(holder, dict):
        holder[data.draw(st.text(max_size=4))] = holder.pop(key) if change == "rename" else data.draw(odd)
    taken_or_refused(loader, tmp_path, json.dumps(document).encode())


@loaders
def test_the_real_document_is_taken(loader: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    if loader is shards:  # but for a change that is not there
        with pytest.raises(SymfixError, match=r"there is no change 'a\.cc:f' now"):
            loader(tmp_path, json.dumps(LOADERS[loader]).encode())
        return
    assert taken_or_refused(loader, tmp_path, json.dumps(LOADERS[loader] or _kept(tmp_path)).encode())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("operator", "aten::f\n"), ("overload", "f.default; import os"), ("torch", "2 @x"), ("parameters", ["a=1\n"]),
        ("parameters", ["a b"]), ("body", ["return x\nimport os"]), ("body", ["\u2028"]), ("outputs", ["*out"]),
    ],
)  # fmt: skip
def test_a_drawn_meta_is_names_and_lines(tmp_path: Path, field: str, value: object) -> None:
    document = json.loads(json.dumps(LOADERS[drawn]))
    document["operators"]["aten::f"]["metas"][0][field] = value
    with pytest.raises(SymfixError, match=rf"metas\[0\]\.{field}"):
        drawn(tmp_path, json.dumps(document).encode())


def test_damaged_evidence_is_none_and_whole_evidence_is_found(tmp_path: Path) -> None:
    document = _kept(tmp_path)
    evidence(tmp_path, json.dumps(document).encode())
    assert [found.before for found in EvidenceStore(tmp_path).all("k")] == [VERDICT]
    for text in (b"[" * 100_000, json.dumps({**document, "before": {}}).encode(), b'{"version": 1}'):
        evidence(tmp_path, text)
        assert EvidenceStore(tmp_path).all("k") == []


@loaders
@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe\xfa", b"", b"1" * 10_000, b"NaN"],
                         ids=["lists", "tables", "bytes", "empty", "digits", "nan"])  # fmt: skip
def test_what_is_no_document_is_refused_in_one_line(
    loader: Callable[[Path, bytes], None], tmp_path: Path, text: bytes
) -> None:
    assert not taken_or_refused(loader, tmp_path, text) or loader in (evidence, manifest)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1, 2", "d: not JSON (Expecting ',' delimiter: line 1 column 6 (char 5)); do"),
        ("[" * 100_000, "d: not JSON (nested too deep); do"),
        ("[NaN]", "d: not JSON (NaN is no JSON); do"),
        ("[-Infinity]", "d: not JSON (-Infinity is no JSON); do"),
        ('{"a": 1, "b": 2, "b": 3}', "d: not JSON (the key b stands twice in one table); do"),
        ("1" * 100, "d: not JSON (a number of 100 digits); do"),
        ("1e999", "d: not JSON (the number 1e999 is too large); do"),
    ],
)
def test_what_json_is_refused(text: str, says: str) -> None:
    with pytest.raises(SymfixError) as caught:
        load_json(text, "d", "do")
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("value", "shape", "says"),
    [
        ([], {"a": int}, "the document is not a table"),
        ({}, {"a": int}, "a is missing"),
        ({"a": 1, "b\n": 1}, {"a": int}, r"b\n is not expected"),
        ({"a": [{"b": 1}, {"b": "x"}]}, {"a": [{"b": int}]}, "a[1].b is not a whole number"),
        ({"a": True}, {"a": int}, "a is not a whole number"),
        ({"a": True}, {"a": frozenset([1])}, "a is not one of 1"),
        ({"a": "\ud800"}, {"a": str}, "a is not text"),
        ({"\ud800": ""}, {str: str}, "a key of the document is not text"),
        ({"a": "x\0y"}, {"a": Path}, "a is not the name of a file"),
        ({"a": None}, {"a": (int, str)}, "a is not text"),
    ],
)
def test_a_value_of_another_shape_is_placed(value: Any, shape: Any, says: str) -> None:
    with pytest.raises(ValueError, match=r"^\S") as caught:
        check(value, shape)
    assert str(caught.value) == says


def test_values_of_their_shape_pass() -> None:
    check({"a": None, "b": "\udcff", "c": {"k": 1.5}}, {"a": (None, int), "b": Path, "c": {str: float}, "d?": int})


@pytest.mark.parametrize(
    "text",
    [b"a = " + b"[" * 100_000, b"a = " + b"{a=" * 50_000, b"a." * 300_000 + b"a = 1", b'"a" . ' * 50_000 + b"a = 1"],
    ids=["lists", "tables", "keys", "quoted keys"],
)
def test_toml_of_any_depth_is_refused(text: bytes) -> None:
    with pytest.raises(SymfixError, match=r"^p\.toml: not TOML: nested too deep$"):
        load_toml(text, "p.toml")


def test_a_plan_that_names_a_device_does_not_read_it(tmp_path: Path) -> None:
    assert Plan((), {"/dev/zero": "0" * 64}).stale(tmp_path) == ["/dev/zero"]


def test_files_are_read_up_to_a_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bounded(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="larger than"):
        read_bounded(tmp_path / "a", 4)
    with pytest.raises(OSError, match="larger than"):
        read_bounded(Path("/dev/zero"), 4)


BOMB = b"a: &a {x: 1}\n" + b"".join(b"a%d: &a%d {x: *a, y: *a}\n" % (n, n) for n in range(40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 200_000, r"^p\.yaml:1: nested more than 16 levels deep$"),
        (b"- " * 10_000, r"^p\.yaml:1: nested more than 16 levels deep$"),
        (BOMB, r"^p\.yaml:2: the alias \*a; write out what it means$"),
        (b"a: *nothing\n", r"^p\.yaml:1: the alias \*nothing; "),
        (b"a: 1\nb: [\n", r"^p\.yaml:3: not YAML: "),
        (b"a: 1\n--- b: 2\n", r"^p\.yaml"),
        (b"a: 2001-13-01\n", r"^p\.yaml: not YAML: month must be in 1..12"),
        (b"a: !!timestamp b\n", r"^p\.yaml: not YAML: "),
        (b"a: !!python/object/apply:os.getcwd []\n", r"^p\.yaml: not YAML: could not determine a constructor"),
        (b"\xff", r"^p\.yaml"),
    ],
)
def test_yaml_that_cannot_be_read(text: bytes, message: str) -> None:
    with pytest.raises(SymfixError, match=message) as caught:
        load_yaml(text, "p.yaml")
    assert "\n" not in str(caught.value)


def test_yaml_that_can() -> None:
    assert load_yaml(b"a: &a [1, {b: yes}]\n" + b"c: " + b"[" * 15 + b"]" * 15, "p.yaml")["a"] == [1, {"b": True}]
