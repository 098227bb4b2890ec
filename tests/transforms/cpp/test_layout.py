"""Edited statements as the tree's clang-format lays them out: first what is left, then what is laid out."""

from __future__ import annotations

import re
import subprocess
from itertools import chain, combinations
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding
from tests.conftest import drawn
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject
from transforms.cpp import layout
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.layout import FileEdits, find_clang_format, laid_out, lay_out

STYLE = "BasedOnStyle: Google\nColumnLimit: 60\nBinPackArguments: false\n"
SOURCE = """\
Tensor f(const Tensor& x, const Tensor& y) {
  auto expanded = x.expand({x.size(0), y.size(1), 12});
  return expanded;
}
"""
LAID_OUT = """\
Tensor f(const Tensor& x, const Tensor& y) {
  auto expanded =
      x.expand_symint({x.sym_size(0), y.sym_size(1), 12});
  return expanded;
}
"""
IN_ONE_LINE = "  auto expanded = x.expand_symint({x.sym_size(0), y.sym_size(1), 12});\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(demo, CompositeImplicitAutograd, m) {\n  m.impl("f", f);\n}\n'


def converted(root: Path, source: str, **files: str) -> str:
    """`source`, in lib/a.cpp, after all edits; `files` are others of the tree, `__` for a slash."""
    return apply_edits(source.encode(), chain(*(f.edits for f in found(root, source, **files)))).decode()


def found(root: Path, source: str, **files: str) -> list[Finding]:
    (root / "schemas.yaml").write_text(SCHEMAS)
    contents = {"lib/a.cpp": source, "c10.h": HEADER}
    contents |= {name.replace("__", "/").replace("clang_format", ".clang-format"): text for name, text in files.items()}
    project = MemoryProject(root, contents, root / "schemas.yaml")
    findings = laid_out(project, analyse_tree(project))
    return [finding for finding in findings if finding.path == "lib/a.cpp"]


@pytest.mark.parametrize(
    ("source", "files"),
    [
        pytest.param(SOURCE + REGISTERED, {}, id="no settings"),
        pytest.param(SOURCE + REGISTERED, {"other__clang_format": STYLE}, id="settings of another folder"),
        pytest.param(SOURCE + REGISTERED, {"clang_format": STYLE + "DisableFormat: true\n"}, id="settings that say no"),
        pytest.param(SOURCE + REGISTERED, {"clang_format": "BasedOnStyle: [\n"}, id="settings that cannot be read"),
        pytest.param(
            SOURCE + "int  a;\nint  b;\n" + REGISTERED, {"clang_format": STYLE}, id="a file that nobody formats"
        ),
        pytest.param(
            SOURCE + REGISTERED,
            {"clang_format": STYLE, "lib__clang_format": STYLE.replace("60", "100")},
            id="wide lines",
        ),
    ],
)
def test_what_no_formatter_keeps_is_left(tmp_path: Path, source: str, files: dict[str, str]) -> None:
    assert IN_ONE_LINE in converted(tmp_path, source, **files)


def test_line_ends_of_windows_are_left(tmp_path: Path) -> None:
    source = (SOURCE + REGISTERED).replace("\n", "\r\n")
    assert IN_ONE_LINE.replace("\n", "\r\n") in converted(tmp_path, source, clang_format=STYLE)


def test_without_clang_format_lines_are_left_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(layout, "find_clang_format", lambda: "")
    monkeypatch.setattr(MemoryProject, "remark", lambda _, line: said.append(line))
    assert IN_ONE_LINE in converted(tmp_path, SOURCE + REGISTERED, clang_format=STYLE)
    assert any("pip install clang-format" in line for line in said)


def test_settings_that_cannot_be_opened_cost_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = MemoryProject.read

    def refusing(project: MemoryProject, path: str) -> bytes:
        if path == ".clang-format":
            raise PermissionError(13, "Permission denied")
        return read(project, path)

    monkeypatch.setattr(MemoryProject, "read", refusing)
    assert IN_ONE_LINE in converted(tmp_path, SOURCE + REGISTERED, clang_format=STYLE)
    assert capsys.readouterr().err.startswith("symfix: .clang-format: cannot be read: Permission denied")


@pytest.mark.parametrize("name", ["clang_format", "lib__clang_format"])
def test_an_edited_statement_is_laid_out(tmp_path: Path, name: str) -> None:
    assert converted(tmp_path, SOURCE + REGISTERED, **{name: STYLE}) == LAID_OUT + REGISTERED


def test_what_is_laid_out_is_changed_no_more(tmp_path: Path) -> None:
    assert [f for f in found(tmp_path, LAID_OUT + REGISTERED, clang_format=STYLE) if f.edits] == []


def test_a_few_places_that_another_version_would_format_do_no_harm(tmp_path: Path) -> None:
    filling = "".join(f"int number_{n};\n" for n in range(200)) + "int  other;\n"
    assert LAID_OUT in converted(tmp_path, SOURCE + filling + REGISTERED, clang_format=STYLE)


STATEMENTS = """\
void first(int one, int two) {
  call(one, two, other(one, 3), [&] { return two; });
  if (one == two && two == 3) {
    return;
  }
  for (int one = 0; one < two; one++) {
    auto two = one + one * other(one) - two;
  }
  // one and two
  CHECK(one == two, "one is not ", two, " but ", one);
}
"""
WORD = re.compile(rb"\b(?:one|two|other|call|CHECK)\b")
PLACES = [match.span() for match in WORD.finditer(STATEMENTS.encode())]


@st.composite
def edited(draw: st.DrawFn) -> tuple[tuple[Edit, str], ...]:
    """Names that become longer or shorter ones, or gain something before or behind, each in one group or both."""
    source = STATEMENTS.encode()
    edits: list[tuple[Edit, str]] = []
    for start, end in draw(st.lists(st.sampled_from(PLACES), unique=True, min_size=1)):
        way = draw(st.integers(0, 3))
        begin, finish = ((start, end), (start, end), (start, start), (end, end))[way]
        texts = {2: ("at::symint::", "c10::SymInt()."), 3: (".sym_size(1)", "_symint<c10::SymInt, 3>")}
        new = draw(st.sampled_from(texts.get(way, ("x", "one_symint", "get_of_it().sym_size", "a", "TORCH_SYM_CHECK"))))
        edit = Edit("a.cpp", begin, finish, source[begin:finish], new.encode())
        edits += ((edit, group) for group in draw(st.sampled_from(("a", "a", "b", "ab"))))
    return tuple(sorted(edits))


@given(edited())
@settings(deadline=None, max_examples=drawn(60))
def test_only_white_space_differs_whichever_groups_are_taken(
    tmp_path_factory: pytest.TempPathFactory, edits: tuple[tuple[Edit, str], ...]
) -> None:
    style = tmp_path_factory.getbasetemp() / "style"
    style.write_text(STYLE)
    source = STATEMENTS.encode()
    assert not _changes(style, source)
    now = lay_out(find_clang_format(), FileEdits("a.cpp", source, edits, str(style), 60)).edits
    names = sorted({group for _, group in edits})
    for chosen in chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1)):
        plain = [edit for edit, group in edits if group in chosen]
        text = apply_edits(source, [part for edit in plain for part in now.get(edit, (edit,))])
        assert b"".join(text.split()) == b"".join(apply_edits(source, plain).split())
        if len(names) == 1:
            assert not _changes(style, text)


def _changes(style: Path, text: bytes) -> bool:
    command = [find_clang_format(), f"--style=file:{style}", "--assume-filename=a.cpp"]
    return subprocess.run(command, input=text, capture_output=True, check=True).stdout != text


def test_what_is_said_of_code_of_several_lines_is_one_line(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) {\n  auto n = largest(\n      x,\n      2).size(0);\n  return x.view({n});\n}\n"
    (finding,) = found(tmp_path, source + REGISTERED)
    assert finding.refusal == "unknown-receiver"
    assert not [text for text in (finding.message, finding.reason) if "\n" in text]
    assert "`largest( x, 2)` is not known" in finding.reason
