"""What a file costs grows with its length, and code nested too deep is refused by name."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import pytest

from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level
from tests.transforms.counting import calls, peak
from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.flow.values import Value
from transforms.python.jobs import FileJob, Job
from transforms.python.reading import extract as reading
from transforms.python.reading.bodies import bodies
from transforms.python.reading.extract import Parts, extract
from transforms.python.reading.facts import Body
from transforms.python.reading.parsing import NestedTooDeep, parse
from transforms.python.rewrite import findings
from transforms.python.transform import PythonTransform
from transforms.python.writing.nodes import code, parse_expression

F = TypeVar("F")


class Large(NamedTuple):
    """What is asked of a file, and its bytes."""

    job: FileJob
    source: bytes


FUNCTION = "def {}(x: Tensor):\n    if x.numel() == 0:\n        return x\n    return -x  # {}\n\n\n"
HEAD = "import torch\nfrom torch import Tensor\n\n\n"


def job(source: str, *names: str) -> Large:
    reached = {name: Job({}, {}, (), (), inlined=True) for name in names}
    return Large(FileJob("a.py", "a.py", reached, frozenset()), source.encode())


def functions(count: int, same: bool) -> Large:
    names = ["f" if same else f"f{index}" for index in range(count)]
    return job(HEAD + "".join(FUNCTION.format(name, index) for index, name in enumerate(names)), *names)


@pytest.mark.parametrize("same", [False, True])
def test_twice_the_functions_take_twice_the_calls(same: bool) -> None:
    small, large = functions(125, same), functions(250, same)
    findings(*functions(2, same))  # what is loaded once
    assert calls(lambda: findings(*large)) < 2.1 * calls(lambda: findings(*small))


def test_twice_the_branches_take_twice_the_calls() -> None:
    def branches(count: int) -> Large:
        lines = (f"    if x.size(0) == {size}:\n        raise ValueError({size})\n" for size in range(count))
        return job(f"{HEAD}def f(x: Tensor):\n{''.join(lines)}    return x\n", "f")

    small, large = branches(60), branches(120)
    findings(*branches(2))
    assert calls(lambda: findings(*large)) < 2.02 * calls(lambda: findings(*small))  # 2.09 where they ask each other


def test_twice_the_functions_take_twice_the_memory() -> None:
    small, large = functions(100, False), functions(200, False)
    findings(*functions(2, False))
    assert peak(lambda: findings(*large)) < 2.28 * peak(lambda: findings(*small))


class Searched(bytes):
    """The bytes of a file, which count how often all of them are searched or copied."""

    passes = 0

    def __contains__(self, item: object) -> bool:
        type(self).passes += 1
        return super().__contains__(item)  # type: ignore[operator]

    def __getitem__(self, key: Any) -> Any:
        type(self).passes += isinstance(key, slice) and key.stop is None
        return super().__getitem__(key)


def test_a_file_is_searched_as_a_whole_no_oftener_for_more_functions() -> None:
    passes = []
    for count in (2, 50):
        large = functions(count, False)
        large = large._replace(source=Searched(large.source))
        Searched.passes = 0
        extract("a.py", large.source)
        findings(*large)
        passes.append(Searched.passes)
    assert passes[0] == passes[1] > 0


@pytest.mark.parametrize("same", [False, True])
def test_the_tree_of_a_part_is_held_at_a_time(same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    large = functions(220, same)
    findings(*functions(2, same))

    def peaks() -> tuple[list[int], list[object]]:
        """The most bytes of each piece of work, and what it gives: to do it once more would take as long."""
        given: list[object] = []
        works: list[Callable[[], object]] = [lambda: findings(*large), lambda: extract("a.py", large.source), values]
        return [peak(lambda work=work: given.append(work())) for work in works], given  # type: ignore[misc]

    def values() -> dict[str, Body]:
        return bodies("a.py", large.source, [function.name for function in facts.functions])

    monkeypatch.setattr(reading, "PART", 1 << 30)
    facts = extract("a.py", large.source)
    whole, given = peaks()
    monkeypatch.setattr(reading, "PART", 1 << 11)
    parts, given_in_parts = peaks()
    assert [part < 0.6 * entire for part, entire in zip(parts, whole, strict=True)] == [True, True, True]
    assert given_in_parts == given


def ifs() -> int:
    return sum(type(kept) is ast.If for kept in gc.get_objects())  # isinstance would ask what some of them warn about


def test_nothing_of_a_tree_waits_for_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PART", 1 << 11)
    gc.collect()
    gc.disable()  # it comes the later, the more a process holds
    try:
        findings(*functions(100, False))  # some functions are read once for all that is asked of them: now of these
        before = ifs()
        assert len(findings(*functions(100, False))) == 100
        assert ifs() == before
    finally:
        gc.enable()


PLAIN = "x = 1\n\n@torch.compile\ndef f(x):\n    return x\n\n\nclass C:\n    def g(self): pass\n\nasync def h(): pass\n"


@pytest.mark.parametrize(
    ("source", "pieces"),
    [
        (PLAIN, 4),
        ("\ufeff" + PLAIN, 4),
        ("# coding: utf-8\n" + PLAIN, 4),
        ("x = 1\ry = 2\r" + PLAIN, 4),
        (f'"""\n\n{PLAIN}"""\n' + PLAIN, 0),
        ("x = (\n\n" + PLAIN.replace("x = 1\n\n", ""), 0),
        ("if x:\n    pass\n\n@f\n\ndef g(): pass\n\ndef h(): pass\n", 0),
        ("# coding: latin-1\n" + PLAIN, 0),
        ("def f(): pass\n", 0),
    ],
)
def test_parts_are_the_statements_of_the_file_in_their_lines(
    source: str, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PART", 1)
    text = source.encode()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        with pytest.raises(SyntaxError):
            Parts(text)
        return
    parts = Parts(text)
    for _ in range(2):
        bodies = [part.body for part in parts]
        assert len(bodies) == max(1, pieces)
        statements = [ast.dump(statement, include_attributes=True) for body in bodies for statement in body]
        assert statements == [ast.dump(statement, include_attributes=True) for statement in tree.body]


def test_each_file_is_read_once_whatever_is_selected(tmp_path: Path) -> None:
    class Counting(MemoryProject):
        extracted: ClassVar[list[str]] = []

        def selected(self, path: str) -> bool:
            return path != "b.py"

        def facts(self, extract: Callable[[str, bytes], F], paths: Sequence[str]) -> Mapping[str, F]:
            self.extracted.extend(paths)
            return super().facts(extract, paths)

    source = HEAD + "@torch.compile\n" + FUNCTION.format("f", 1)
    project = Counting(tmp_path, dict.fromkeys(["a.py", "b.py", "c.py"], source), tmp_path / "none.yaml")
    assert {finding.path for finding in PythonTransform().analyse(project)} == {"a.py", "c.py"}
    assert sorted(project.extracted) == ["a.py", "b.py", "c.py"]


def test_imports_of_a_function_hold_over_those_of_the_module_in_whatever_part(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"import a as x\nimport b as y\n\ndef f():\n    import c as y\n\ndef g(): pass\nimport d as y, e as z\n"
    whole = extract("a.py", source)
    monkeypatch.setattr(reading, "PART", 1)
    assert extract("a.py", source) == whole
    assert whole.imports == (("x", "a"), ("y", "c"), ("z", "e"))


@pytest.mark.parametrize(
    "expression",
    ["(" * 300 + "x" + ")" * 300, "not " * 20_000 + "x", "lambda: " * 20_000 + "x", "x" + ".t()" * 5_000],
    ids=["parentheses", "not", "lambda", "chain"],
)
def test_a_file_that_the_parser_gives_up_on_is_refused(expression: str) -> None:
    with pytest.raises(NestedTooDeep, match="nested too deep for Python's parser") as refused:
        extract("a.py", f"import torch\nvalue = {expression}\n".encode())
    assert isinstance(refused.value, SymfixError)
    assert "\n" not in str(refused.value)


def test_a_long_elif_is_refused_too() -> None:
    branches = "".join(f"elif x.numel() == {size}:\n    pass\n" for size in range(10_000))
    with pytest.raises(NestedTooDeep):
        parse(f"if x:\n    pass\n{branches}".encode())


def deep(expression: str) -> str:
    first = f"def deep(x: Tensor):\n    if {expression}:\n        return x\n    return x\n\n\n"
    return HEAD + first + FUNCTION.format("f", 1)


@pytest.mark.parametrize(
    "expression",
    ["not " * 900 + "x.numel()", " + ".join(["x.numel()"] * 900) + " > 1", "x" + ".t()" * 450 + ".numel() == 0"],
    ids=["not", "sum", "chain"],
)
def test_a_function_nested_too_deep_is_refused_and_its_neighbour_is_not(expression: str) -> None:
    source = deep(expression)
    facts = extract("a.py", source.encode())
    assert [function.name for function in facts.functions] == ["deep", "f"]
    assert bodies("a.py", source.encode(), ("deep",))["deep"].conditions == (frozenset(),)
    by_function: dict[str, Finding] = {finding.function: finding for finding in findings(*job(source, "deep", "f"))}
    assert (by_function["deep"].level, by_function["deep"].refusal) == (Level.MANUAL, "nested")
    assert by_function["f"].edits


def test_long_names_are_read_whatever_their_length() -> None:
    facts = extract("a.py", f"import torch\ndef f(x):\n    a{'.b' * 2_000}(x)\n".encode())
    assert facts.functions[0].calls[0] == "a" + ".b" * 2_000


def test_tuples_of_tuples_are_followed_no_further_than_is_worth_it() -> None:
    doubled = "".join(f"    a{index} = (a{index - 1}, a{index - 1})\n" for index in range(1, 60))
    source = f"import torch\ndef f(x: Tensor):\n    a0 = (x.shape, x.shape)\n{doubled}    return a59\n"
    program = (
        "from transforms.python.reading.bodies import bodies; import sys; bodies('a.py', sys.stdin.buffer.read(), 'f')"
    )
    subprocess.run([sys.executable, "-c", program], input=source.encode(), preexec_fn=_limit, check=True)


def test_tuples_through_calls_are_followed_no_further_either() -> None:
    passed = "".join(
        f"def f{index}(p):\n    q = f{index + 1}((p, p))\n    assert p[0][0] == 1\n    return (q, q)\n"
        for index in range(1, 50)
    )
    first = "@torch.compile\ndef f0(x: Tensor):\n    return f1((x.shape, x.shape))\n"
    source = f"{first}{passed}def f50(p):\n    return p\n"
    program = (
        "import sys; from tests.transforms.python.reach.following import followed;"
        "functions = followed({'a.py': sys.stdin.read()})[1];"
        "print(len(functions), any(function.returns.symbolic for function in functions.values()))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=source.encode(), preexec_fn=_limit, check=True, capture_output=True)
    assert done.stdout.decode().split() == ["51", "True"]


def _limit() -> None:
    """A minute of processor time, which a busy machine does not use up."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def test_a_call_of_calls_is_read_once() -> None:
    nested = [f"{function}(" * 90 + "x" + ")" * 90 for function in ("len", "torch.fft.fft", "helper")]
    chains = [*nested, "x" + ".sum()" * 150, "x" + ".max(0)[0].T" * 80, "x" + ".indices()" * 150]
    for chain in chains:
        source = f"import torch\ndef f(x: Tensor):\n    x.shape\n    return {chain}\n".encode()
        assert extract("a.py", source).functions
        assert bodies("a.py", source, "f")


def test_a_short_tuple_keeps_its_items() -> None:
    body = bodies("a.py", b"def f(x: Tensor):\n    return (x.numel(), (1, x.shape))\n", "f")["f"]
    assert [item.kind for item in body.returns.items] == ["int", "tuple"]
    assert isinstance(body.returns, Value)


@pytest.mark.parametrize("operator", [" and ", " or ", " == 1 and ", ' "" ""'])
def test_what_libcst_nests_and_ast_does_not_is_bounded(operator: str) -> None:
    text = "(" + operator.join(["n"] * 10_000) + ")" if operator.strip()[0] != '"' else "(" + operator * 10_000 + ")"
    with pytest.raises(RecursionError):
        parse_expression(text)
    assert code(parse_expression("(" + operator.join(["n"] * 3) + ")" if operator.strip()[0] != '"' else '("" "")'))
