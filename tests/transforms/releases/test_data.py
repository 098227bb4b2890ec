"""What travels with symfix of the releases of torch, and that damage of it is said."""

from __future__ import annotations

import ast
import gzip
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from transforms.cpp.reach.released import ReleasedFunctions, ReleasedSchemas, released_names
from transforms.cpp.reach.vocabulary import ACCESSORS
from transforms.releases.data import (
    KINDS,
    MAGIC,
    PRINTS_CHOICES,
    bound_in,
    decode,
    generated,
    names_in,
    operators,
    path_of,
    python_names,
    releases,
    rows,
    since,
)
from transforms.releases.version import Release, release

HEAD = f"{MAGIC} names 2.1.0 2.2.0 2.10.0"


def packed(*lines: str) -> bytes:
    return gzip.compress("".join(line + "\n" for line in lines).encode())


def test_every_file_is_of_the_same_releases_since_2_1() -> None:
    versions = {decode(path_of(kind).read_bytes(), kind, kind)[0] for kind in KINDS}
    assert len(versions) == 1
    assert {(2, minor) for minor in range(1, 14)} <= set(releases())
    assert list(releases()) == sorted(releases())


def test_all_of_it_takes_less_than_two_megabytes() -> None:
    assert sum(path_of(kind).stat().st_size for kind in KINDS) < 2_000_000


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "first line"),
        (b"symfix-releases 1 names 2.1.0\n", "gzipped"),
        (packed(HEAD, "\tmacro\tA")[:-9], "end-of-stream"),
        (packed(HEAD, "\tmacro\tA").replace(b"\x1f", b"\x1e", 1), "gzipped"),
        (packed("", "\tmacro\tA"), "first line"),
        (packed(HEAD.replace("names", "python"), "\tmacro\tA"), "first line"),
        (packed(HEAD.replace("2.10.0", "2.0.0")), "first line"),
        (packed(HEAD.replace("2.10.0", "newest")), "first line"),
        (packed(HEAD, "\tmacro"), "row"),
        (packed(HEAD, "9\tmacro\tA"), "mask"),
        (packed(HEAD, "-1\tmacro\tA"), "mask"),
        (packed(HEAD, "all\tmacro\tA"), "invalid literal"),
        (gzip.compress(HEAD.encode() + b"\n\tmacro\t\xff\n"), "utf-8"),
    ],
    ids=range(13),
)
def test_what_is_damaged_is_one_line_that_names_the_file(content: bytes, says: str) -> None:
    with pytest.raises(SymfixError) as error:
        decode(content, "names", "names.gz")
    assert str(error.value).startswith("names.gz: the vocabulary is damaged (")
    assert says in str(error.value).lower()
    assert "\n" not in str(error.value)


def test_a_release_has_the_rows_of_its_bit() -> None:
    versions, lines = decode(packed(HEAD, "\tmacro\tALL", "1\tmacro\tOLD", "6\talias\tnew\tint64_t"), "names", "x")
    assert versions == ("2.1.0", "2.2.0", "2.10.0")
    assert lines == ["\tmacro\tALL", "1\tmacro\tOLD", "6\talias\tnew\tint64_t"]


# Each read in the sources of the two releases named.
@pytest.mark.parametrize(
    ("name", "last_without", "first"),
    [
        ("sym_max", (1, 13), (2, 0)),
        ("_check", (2, 0), (2, 1)),
        ("sym_ite", (2, 1), (2, 2)),
        ("_sym_sqrt", (2, 2), (2, 3)),
        ("guard_or_false", (2, 7), (2, 8)),
    ],
)
def test_functions_of_python_have_their_first_release(name: str, last_without: Release, first: Release) -> None:
    assert since()[name] == first
    held = [python_names(number, module) for number in (last_without, first) for module in ("torch", "symbolic_shapes")]
    assert [name in names for names in held].count(True) == 1


def test_what_stands_beside_a_function_is_held_where_it_is() -> None:
    assert since()["SymFloat"] == (2, 0)  # torch 1.13 has SymFloatNode
    assert "SymFloat" in bound_in("torch/__init__.py", b"class SymFloat: ...\n")
    assert since()["sym_sqrt"] == (2, 2)  # a function of its own in 2.2, then what `_sym_sqrt` is also called
    held = [{"_sym_sqrt", "sym_sqrt"} & python_names(number, "torch") for number in ((2, 1), (2, 2), (2, 3), (2, 13))]
    assert held == [set(), {"sym_sqrt"}, {"_sym_sqrt", "sym_sqrt"}, {"_sym_sqrt", "sym_sqrt"}]


def test_guards_print_choices_from_a_release_on() -> None:
    assert since()[PRINTS_CHOICES] == (2, 10)
    text = "".join(f"class {name}:\n    def {name[0]}(self):\n        ...\n\n" for name in ("A", "PythonPrinter"))
    assert names_in("PythonPrinter", f"{text}B = 1\nclass C:\n    def c(self):\n        ...\n") == ["P"]
    assert names_in("sizevars", text) == ["A", "P"]


def test_what_the_oldest_has_and_what_the_newest_lost_is_of_no_release() -> None:
    assert "compile" in since()
    assert "save" not in since()  # torch.save: of all
    assert "definitely_true" in python_names((2, 7), "symbolic_shapes")
    assert "definitely_true" not in since()


def test_cpp_has_the_names_that_rewrites_write() -> None:
    for number in releases():
        functions = ReleasedFunctions(number)
        assert all(f"sym_{accessor}" in functions for accessor in ACCESSORS), number
        assert "reshape_symint" in functions
        macros, aliases = released_names(number)
        assert "TORCH_CHECK" in macros
        assert aliases["IntArrayRef"]
    assert "fromIntArrayRefSlow" in ReleasedFunctions((2, 0))


def test_a_function_is_what_its_header_declares() -> None:
    (size,) = [f for f in ReleasedFunctions((2, 6))["sym_size"] if f.parent == "TensorBase"]
    assert (size.qualified, size.returns, [p.type for p in size.params]) == (
        "at::TensorBase::sym_size", "c10::SymInt", ["int64_t"],
    )  # fmt: skip
    assert size.body >= 0
    assert Path(size.path).is_absolute()
    every = {function.start for group in ReleasedFunctions((2, 6)).values() for function in group}
    assert len(every) == len(rows("functions", (2, 6)))


def test_operators_have_their_schemas_and_whether_they_are_composites() -> None:
    (reshape,) = ReleasedSchemas((2, 6))["reshape"]
    assert [argument.type for argument in reshape.arguments] == ["Tensor(a)", "SymInt[]"]
    by_name = {entry.schema.base: entry.dispatch for entry in operators((2, 6), {"broadcast_tensors", "mm"})}
    assert by_name["broadcast_tensors"] == (("CompositeImplicitAutograd", "broadcast_tensors"),)
    assert by_name["mm"] == ()


def test_no_row_has_more_than_one_line_or_a_comment() -> None:
    for kind in KINDS:
        _, lines = decode(path_of(kind).read_bytes(), kind, kind)
        assert not [line for line in lines if "//" in line or "/*" in line]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [("2.4", (2, 4)), ("2.10.1+cpu", (2, 10)), ("2", (2, 0)), ("v2.6", (2, 6)), ("", None), ("main", None)],
)
def test_releases_are_numbers(text: str, parsed: Release | None) -> None:
    assert release(text) == parsed


def test_names_that_a_loop_makes_are_names() -> None:
    text = (
        "for __name in ('sqrt', 'cos'):\n    globals()[f'_sym_{__name}'] = make(__name)\n"
        "for kind in kinds:\n    globals()[f'no_{kind}'] = 1\nfor n in (1, 2):\n    f'x{n}'\n"
    )
    assert list(generated(ast.parse(text))) == ["_sym_sqrt", "_sym_cos"]


def test_functions_of_a_text_are_what_it_defines_generates_and_imports() -> None:
    text = (
        "from torch._checks import (\n    _check,\n    own as _check_value,\n)\n"
        "for __name in ('sqrt',):\n    globals()[f'_sym_{__name}'] = __name\n"
        "sym_sqrt = globals()['_sym_sqrt']\n\ndef sym_min(a, b):\n    pass\n\n"
        "class SymFloat:\n    def real(self):\n        pass\n"
    )
    bound = bound_in("torch/__init__.py", text.encode())
    assert bound == {"_check", "_check_value", "_sym_sqrt", "sym_sqrt", "sym_min", "SymFloat"}
    assert bound_in("torch/__init__.py", b"def broken(:\n") == set()
