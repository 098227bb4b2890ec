"""The data of torch's releases: rows come back as they went in, and are what an installed torch has."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from read_releases import INCLUDE, YAML, Rows, encode, function_row, merged, read_files

from transforms.cpp.reach.headers import holds_vocabulary
from transforms.cpp.reach.released import ReleasedFunctions
from transforms.cpp.reading.extract import extract
from transforms.releases.data import KINDS, SOURCES, decode, releases, rows
from transforms.releases.target import installed_torch
from transforms.releases.version import release

GROUPS = st.dictionaries(st.sampled_from("abc"), st.lists(st.sampled_from("pqrst"), unique=True, max_size=5))


@given(st.lists(GROUPS, min_size=1, max_size=5))
def test_each_release_has_its_own_rows_in_its_own_order(tables: list[dict[str, list[str]]]) -> None:
    keyed = [{key: [f"{key}\t{row}" for row in group] for key, group in table.items()} for table in tables]
    everything = list(merged(keyed))
    for index, table in enumerate(keyed):
        held = [row for mask, row in everything if mask >> index & 1]
        assert held == [row for key in sorted(table) for row in table[key]]
    assert all(mask for mask, _ in everything)


def test_what_is_written_can_be_read() -> None:
    tables = [{"A": ["macro\tA"]}, {"A": ["macro\tA"], "B": ["alias\tB\tint64_t"]}]
    content = encode("names", ["2.1.0", "2.2.0"], tables)
    assert decode(content, "names", "x") == (("2.1.0", "2.2.0"), ["\tmacro\tA", "2\talias\tB\tint64_t"])
    assert content == encode("names", ["2.1.0", "2.2.0"], tables)


def test_a_function_comes_back_from_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    header = (
        "namespace at { struct Tensor { template <class T> T get(c10::SymInt n, int64_t d = 0) const; };\n"
        "inline int64_t Tensor::dim(std::pair<int, int> p) { return 0; }\n"
        "Tensor free(); }\nat::Tensor global(at::IntArrayRef = {});\n"
    )
    functions = extract("a.h", header.encode()).functions
    assert [function.name for function in functions] == ["get", "dim", "free", "global"]
    lines = [function_row(function) for function in functions]
    monkeypatch.setattr("transforms.cpp.reach.released.rows", lambda kind, number: lines)
    released = ReleasedFunctions((2, 6))
    for function in functions:
        (made,) = released[function.name]
        assert (made.body >= 0) == (function.body >= 0)
        params = tuple(replace(p, name="", default="=" * bool(p.default)) for p in function.params)
        assert made == replace(
            made, name=function.name, qualified=function.qualified, params=params, returns=function.returns,
            parent=function.parent, template=function.template,
        )  # fmt: skip
    assert released.classes() == {"Tensor"}


def installed_rows() -> tuple[Rows, tuple[int, int]]:
    """What the installed torch has, and its release."""
    torch = installed_torch()
    number = release(importlib.metadata.version("torch")) if torch is not None else None
    if torch is None or number is None or number not in releases():
        pytest.skip("no torch is installed of a release that symfix has the vocabulary of")
    include = torch.package / "include"
    files = {
        INCLUDE + path.relative_to(include).as_posix(): path.read_bytes()
        for path in include.rglob("*.h")
        if holds_vocabulary(path.relative_to(include).as_posix())
    }
    files |= {place: (torch.package.parent / place).read_bytes() for place in SOURCES.values()}
    return read_files({**files, YAML: torch.yaml.read_bytes()}), number


def test_an_installed_torch_has_what_its_release_has() -> None:
    """A wheel for Linux lacks what MPS adds, and its schemas of registration name other kernels."""
    tables, number = installed_rows()
    for kind in KINDS:
        here: Sequence[str] = [row for group in tables[kind].values() for row in group]
        shipped = rows(kind, number)
        assert set(here) <= set(shipped), kind
        extra = set(shipped) - set(here)
        assert len(extra) < len(shipped) / 50, kind
        assert [row for row in shipped if row not in extra] == here, kind
