"""`symfix probe`: what it reads, how it says it, and how it joins answers with findings of the source."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import MakeTree, Symfix

LINE = 2
FILES = {"a.cc": b"// op:aten::mul\nx = size();\n"}


def error_at(path: Path, line: int) -> str:
    return (
        "RuntimeError: Cannot call numel() on tensor with symbolic sizes/strides\n"
        f'from user code:\n  File "{path}", line {line}, in f\n    x = size();\n'
    )


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree(FILES)


def test_an_error_is_joined_with_the_finding_at_its_line(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    text = tmp_path / "error.txt"
    text.write_text(error_at(tree / "a.cc", LINE))
    outcome = symfix("probe", "--error", str(text), cwd=tree)
    assert outcome.code == 1
    out = outcome.out.decode()
    assert "Cannot call numel() on tensor with symbolic sizes/strides" in out
    assert "a.cc:2 in f: x = size();  [your code]" in out
    assert "symfix diff --rule" in out
    assert "1 answer, 1 with a change that symfix can make" in out
    assert "symfix diff" not in symfix("probe", "--no-source", "--error", str(text), cwd=tree).out.decode()
    text.write_text(error_at(tree / "a.cc", 1))
    assert "symfix diff" not in symfix("probe", "--error", str(text), cwd=tree).out.decode()


@pytest.mark.parametrize(
    ("root", "command"),
    [
        ("operator", "symfix diff --rule size a.cc"),
        ("module", "symfix diff --scope modules --rule size a.cc"),
        ("traced", "symfix fix -- PROGRAM"),
    ],
)
def test_the_command_has_what_shows_the_change_again(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path, root: str, command: str
) -> None:
    tree = make_tree({"a.cc": f"//\nx = size();  // root:{root}\n".encode()})
    text = tmp_path / "error.txt"
    text.write_text(error_at(tree / "a.cc", LINE))
    out = symfix("probe", "--error", str(text), cwd=tree).out.decode()
    assert command in map(str.strip, out.splitlines())
    if root != "traced":
        assert b"sym_size" in symfix(*command.split()[1:], cwd=tree).out


def test_what_an_earlier_report_holds_is_not_said_again(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    text, report = tmp_path / "error.txt", tmp_path / "report.json"
    text.write_text(error_at(tree / "a.cc", LINE))
    document = symfix("probe", "--format", "json", "--error", str(text), cwd=tree).out
    assert [answer["kind"] for answer in json.loads(document)["answers"]] == ["error"]
    report.write_bytes(document)
    assert symfix("probe", "--error", str(text), "--compare", str(report), cwd=tree).code == 0
    text.write_text(error_at(tree / "a.cc", LINE).replace("numel", "sizes"))
    assert symfix("probe", "--error", str(text), "--compare", str(report), cwd=tree).code == 1
    assert symfix("probe", "--exit-zero", "--error", str(text), cwd=tree).code == 0
    markdown = symfix("probe", "--format", "markdown", "--error", str(text), cwd=tree).out.decode()
    assert "| error | `Cannot call sizes() on tensor with symbolic sizes/strides` | `a.cc:2` |" in markdown


def test_a_program_that_compiles_nothing_is_run_as_it_is(tree: Path, symfix: Symfix) -> None:
    script = "import os, sys; print('said'); sys.exit(3 if os.environ['TORCH_TRACE'] and sys.argv[1:] == ['-v'] else 4)"
    outcome = symfix("probe", "--", sys.executable, "-c", script, "-v", cwd=tree)
    assert outcome.code == 0
    assert outcome.out == b"0 answers\n"
    assert "the program compiled nothing" in outcome.err
    assert "the program ended with 3" in outcome.err


def test_an_error_that_ends_the_program_is_an_answer(tree: Path, symfix: Symfix) -> None:
    (tree / "export.py").write_text(
        "import sys\n\n\ndef f():\n    raise RuntimeError('Could not guard on data-dependent expression u0 > 2')\n\n\n"
        "sys.excepthook(ValueError, ValueError('shown'), None) if sys.argv[1:] else f()\n"
    )
    outcome = symfix("probe", "--no-source", "--", sys.executable, "export.py", cwd=tree)
    assert outcome.code == 1
    assert "Could not guard on data-dependent expression u0 > 2" in outcome.out.decode()
    assert "export.py:5 in f" in outcome.out.decode()
    assert "RuntimeError: Could not guard" in outcome.err
    assert "compiled nothing" not in outcome.err
    other = symfix("probe", "--no-source", "--", sys.executable, "export.py", "-v", cwd=tree)
    assert (other.code, other.out) == (0, b"0 answers\n")
    assert "ValueError: shown" in other.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name one thing to ask: a program after --, --op GLOB, --module PKG:FACTORY, --trace"),
        (("--error", "x", "--", "python"), "name one thing to ask"),
        (("--backend", "inductor", "--", "python"), "--backend goes with --op or --module"),
        (("--executor", "dask://localhost:1", "--", "python"), "--executor goes with --op or --module"),
        (("--executor", "ray://here", "--op", "topk"), "--executor ray://here: not understood; give dask://HOST:PORT"),
        (("--error", "nowhere.txt"), "nowhere.txt: the text cannot be read: No such file or directory"),
        (("--", "no-such-program-here"), "no-such-program-here: there is no such program to run"),
        (("--trace", "."), "holds no trace (*.log)"),
        (("--compare", "a.cc", "--error", "a.cc"), "a.cc: not JSON"),
    ],
)
def test_what_cannot_be_asked_is_one_line(tree: Path, symfix: Symfix, arguments: tuple[str, ...], message: str) -> None:
    outcome = symfix("probe", *arguments, cwd=tree)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_factory_is_named_with_its_module(tree: Path, symfix: Symfix) -> None:
    outcome = symfix("probe", "--module", "models", cwd=tree)
    assert outcome.code == 2
    assert "--module models: names no factory" in outcome.err
    assert symfix("probe", "--module", "a:b", "--", "true", cwd=tree).code == 2


def test_sarif_has_the_answers_at_lines_of_the_tree(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    text = tmp_path / "error.txt"
    text.write_text(error_at(tree / "a.cc", LINE))
    document = json.loads(symfix("probe", "--format", "sarif", "--error", str(text), cwd=tree).out)
    jsonschema.validate(document, json.loads((Path(__file__).parent / "sarif_subset.schema.json").read_text()))
    (result,) = document["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"]) == ("error", "error")
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("a.cc", LINE)
    text.write_text(error_at(tmp_path / "elsewhere.cc", LINE))
    (run,) = json.loads(symfix("probe", "--format", "sarif", "--error", str(text), cwd=tree).out)["runs"]
    assert run["results"] == []
    assert "1 answer at no line" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
