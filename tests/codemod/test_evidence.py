from pathlib import Path

from codemod.changes import Change
from codemod.evidence import Evidence, EvidenceStore, Verdict, evidence_key


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    throws = Verdict("throws", 1, "Cannot call numel()", ("Eq(s0, 3)",), 2, "throws")
    kept = Evidence("aten::foo.Tensor", "cured", "abc", before=throws, after=Verdict("passes"), versions={"torch": "2"})
    store = EvidenceStore(tmp_path / "evidence")
    store.save(kept)
    assert store.load("aten::foo.Tensor", "abc") == kept


def test_other_code_has_no_evidence(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    store.save(Evidence("foo", "cured", "abc"))
    assert store.load("foo", "abd") is None


def test_a_damaged_file_is_no_evidence(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    store.save(Evidence("foo", "cured", "abc"))
    next(tmp_path.glob("*.json")).write_text("{")
    assert store.load("foo", "abc") is None


def test_the_key_follows_every_byte() -> None:
    change = Change("a.cpp", b"old", b"new", ())
    keys = {
        evidence_key([change]),
        evidence_key([Change("b.cpp", b"old", b"new", ())]),
        evidence_key([Change("a.cpp", b"old!", b"new", ())]),
        evidence_key([Change("a.cpp", b"old", b"new!", ())]),
    }
    assert len(keys) == 4
    other = Change("b.cpp", b"", b"x", ())
    assert evidence_key([change, other]) == evidence_key([other, change])
