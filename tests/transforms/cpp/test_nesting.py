"""Code of any depth and length costs its own function only, and time in proportion."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level
from tests.transforms.cpp.nesting import CHAINS, NESTS, SIZE
from tests.transforms.cpp.snippets import findings
from transforms.cpp.flow import solve
from transforms.cpp.flow.engine import LEVELS, Flow
from transforms.cpp.flow.operators import _fit
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.syntax import count_errors, parse
from transforms.cpp.reading.tree import build
from transforms.cpp.reading.types import TENSOR, Type, parse_type

DEEP = 4_200
"""More than the frames for which flow/solve.py makes room, and so than whatever calls itself for each level has."""
LONG = 1_200
"""More than the frames that there are where it makes no room, and than the levels that are analysed."""
BESIDE = f"Tensor beside(const Tensor& x) {{ return x.reshape({{{SIZE}}}); }}"


def of(found: list[Finding], function: str) -> list[Finding]:
    return [finding for finding in found if finding.function == function]


def analysed(root: Path, body: str) -> tuple[list[Finding], list[Finding]]:
    """The findings in a function of that body, and in one that stands beside it."""
    limit = sys.getrecursionlimit()
    found = findings(root, f"Tensor f(const Tensor& x, bool b, int64_t a) {{ {body} }}\n{BESIDE}\n")
    assert sys.getrecursionlimit() == limit
    return of(found, "f"), of(found, "beside")


@pytest.mark.parametrize("body", CHAINS.values(), ids=CHAINS)
def test_a_chain_of_any_length_is_analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: object) -> None:
    assert callable(body)
    monkeypatch.setattr(solve, "_FRAMES", 0)
    assert max(LEVELS, sys.getrecursionlimit()) < LONG
    short, _ = analysed(tmp_path, body(20))
    found, beside = analysed(tmp_path, body(LONG))
    assert {f.refusal for f in found} == {f.refusal for f in short}
    assert {f.rule for f in found} == {f.rule for f in short}
    assert any(finding.edits for finding in beside)


@pytest.mark.parametrize("body", NESTS.values(), ids=NESTS)
def test_what_is_nested_too_deep_is_refused_with_its_name(tmp_path: Path, body: object) -> None:
    assert callable(body)
    found, beside = analysed(tmp_path, body(DEEP))
    assert [(f.refusal, f.level, f.reason) for f in found] == [
        ("too-deep", Level.MANUAL, "it is nested too deep to analyse")
    ]
    assert found[0].message == "`f` cannot be read"
    assert any(finding.edits for finding in beside)


@pytest.mark.parametrize("body", NESTS.values(), ids=NESTS)
def test_up_to_the_last_level_there_is_room_on_the_stack(tmp_path: Path, body: object) -> None:
    assert callable(body)
    for length in (120, 165, 245, 330, 495):
        _, beside = analysed(tmp_path, body(length))
        assert any(finding.edits for finding in beside)


@pytest.mark.parametrize("body", NESTS.values(), ids=NESTS)
def test_what_compilers_are_asked_for_is_analysed(tmp_path: Path, body: object) -> None:
    assert callable(body)
    found, _ = analysed(tmp_path, body(80))
    assert "too-deep" not in {f.refusal for f in found}
    assert found


@pytest.mark.parametrize("body", [*CHAINS.values(), *NESTS.values()], ids=[*CHAINS, *NESTS])
def test_every_part_is_read_a_few_times_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: object) -> None:
    assert callable(body)
    reads = [0]
    enter = Flow.enter

    def counted(flow: Flow) -> None:
        reads[0] += 1
        enter(flow)

    monkeypatch.setattr(Flow, "enter", counted)
    counts = []
    for length in (20, 40):
        reads[0] = 0
        found, _ = analysed(tmp_path, body(length))
        counts.append(reads[0])
        assert "too entangled" not in str([f.reason for f in found])
    assert counts[1] < 5 * counts[0], counts


def test_what_is_read_again_and_again_is_given_up(tmp_path: Path) -> None:
    found, beside = analysed(tmp_path, f"return x.reshape({{{'std::max({' * 60}{SIZE}{'})' * 60}}});")
    assert [(f.refusal, f.reason) for f in found] == [("too-deep", "it is too entangled to analyse")]
    assert any(finding.edits for finding in beside)


@pytest.mark.parametrize("body", [*CHAINS.values(), *NESTS.values()], ids=[*CHAINS, *NESTS])
def test_the_copy_of_a_tree_holds_what_the_tree_does(body: object) -> None:
    assert callable(body)
    source = f"Tensor f(const Tensor& x) {{ {body(DEEP)} }}".encode()
    tree, masked = parse(source)
    copy = build(tree.root_node, masked)
    starts = [node.start for node in copy.walk()]
    assert starts == sorted(starts)
    assert len(starts) > DEEP
    assert count_errors(tree.root_node) >= 0


def test_a_declaration_that_names_itself_is_followed_once(tmp_path: Path) -> None:
    found, _ = analysed(tmp_path, f"bool c = !c; if (c) {{ return x; }} return x.reshape({{{SIZE}}});")
    assert any(finding.edits for finding in found)


def test_types_of_any_depth(tmp_path: Path) -> None:
    assert parse_type("std::vector<" * 20 + "Tensor" + ">" * 20).kind == "list"
    assert parse_type("std::vector<" * DEEP + "Tensor" + ">" * DEEP).kind == "other"
    assert parse_type("Tensor" + "*" * DEEP).kind == "other"
    deep = TENSOR
    for _ in range(DEEP):
        deep = Type("wrap", "*", (deep,), frozenset())
    assert _fit(deep, "Tensor") == ""


@pytest.mark.parametrize("opening", ["namespace a {", "struct A {"])
def test_a_file_of_too_many_scopes_is_refused(opening: str) -> None:
    assert len(extract("a.cpp", (opening * 200 + BESIDE + "}" * 200).encode()).functions) == 1
    with pytest.raises(SymfixError, match="nested too deep to analyse"):
        extract("a.cpp", (opening * DEEP + BESIDE + "}" * DEEP).encode())


def test_conditional_lines_in_deep_blocks() -> None:
    blocks = "{\n#if A\n#else\n#endif\n" * DEEP
    facts = extract("a.cpp", f"Tensor f(Tensor x) {{ {blocks} {'}' * DEEP} return x; }}\n{BESIDE}".encode())
    assert [function.name for function in facts.functions] == ["f", "beside"]


def test_the_arguments_of_calls_in_each_other_are_counted() -> None:
    source = f"Tensor f(Tensor x) {{ return {'g(a, ' * DEEP}h(1, 2, 3){')' * DEEP}; }}".encode()
    (function,) = extract("a.cpp", source).functions
    assert [(call.callee, call.arguments) for call in function.calls] == [("g", 2), ("h", 3)]
