from pathlib import Path

from codemod.digest import digest
from codemod.prove.evidence import FOLDER, Evidence, EvidenceStore, Verdict, backend_for, evidence_for, evidence_key
from codemod.writing.changes import Change


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    throws = Verdict("throws", 1, "Cannot call numel()", ("Eq(s0, 3)",), 2, "throws")
    kept = Evidence("aten::foo.Tensor", "cured", "abc", before=throws, after=Verdict("passes"), versions={"torch": "2"})
    store = EvidenceStore(tmp_path / "evidence")
    store.save(kept)
    assert store.all("abc") == [kept]


def test_other_code_has_no_evidence(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    store.save(Evidence("foo", "cured", "abc"))
    assert store.all("abd") == []


def test_a_damaged_file_is_no_evidence(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    store.save(Evidence("foo", "cured", "abc"))
    next(tmp_path.rglob("*.json")).write_text("{")
    assert store.all("abc") == []


def test_what_other_torches_showed_is_kept_beside_it(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    older = Evidence("foo", "unchanged", "abc", versions={"torch": "2.6.0"})
    newer = Evidence("foo", "cured", "abc", versions={"torch": "2.13.0"})
    store.save(older)
    store.save(newer)
    assert store.all("abc") == [newer, older]


def test_what_a_shard_no_longer_runs_is_forgotten(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    foo, bar = (Evidence(name, "unchanged", "abc", versions={"torch": "2.6.0+cpu"}) for name in ("foo", "bar"))
    other = Evidence("foo", "unchanged", "abc", versions={"torch": "2.13.0"})
    store.save(foo)
    store.save(other)
    store.save(bar)
    assert store.all("abc") == [bar, other]
    store.save(foo, bar)
    assert len(store.all("abc")) == 3


def test_evidence_is_found_by_the_changes_it_is_about(tmp_path: Path) -> None:
    change = Change("a.cpp", b"old", b"new", ())
    kept = Evidence("foo", "cured", evidence_key([change]))
    EvidenceStore(tmp_path / FOLDER).save(kept)
    assert evidence_for(tmp_path, [change]) == [kept]
    assert evidence_for(tmp_path, [Change("a.cpp", b"old", b"newer", ())]) == []


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


def test_code_of_inductor_is_run_by_inductor_and_what_ran_is_in_the_key() -> None:
    kernel = Change("aten/src/ATen/native/Foo.cpp", b"old", b"new", ())
    meta = Change("torch/_meta_registrations.py", b"old", b"new", ())
    lowering = Change("torch/_inductor/lowering.py", b"old", b"new", ())
    assert backend_for([kernel, meta]) == "aot_eager"
    assert backend_for([meta, lowering]) == backend_for([Change("_inductor/ir.py", b"", b"", ())]) == "inductor"
    assert backend_for([Change("own/torch/_inductor/ir.py", b"", b"", ())]) == "aot_eager"
    changes = (lowering.path, lowering.old, lowering.new)
    assert evidence_key([lowering]) == digest(*changes, "inductor")[:24] != digest(*changes)[:24]
    assert evidence_key([meta]) == digest(meta.path, meta.old, meta.new)[:24]
