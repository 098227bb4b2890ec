"""What of a library is asked for: first what lies beside its code, and what does not."""

from __future__ import annotations

import pytest

from codemod.model.choices import ALL, MODULES, OPERATORS, SCOPES
from codemod.model.findings import Finding, Level, Mode, Root
from codemod.model.scope import Scope, beside


@pytest.mark.parametrize(
    "path",
    [
        "lib/ops.py", "setup/ops.py", "lib/contest.py", "lib/latest.py", "lib/attestation/x.py", "lib/tested.py",
        "lib/docstring.py", "lib/test.py", "lib/example.cpp", "lib/benchmark.py", "lib/my_test_ops.py", "lib/tests.cu",
        "testament/x.cc", "exampled/x.py", "lib/setup_ops.py", "",
    ],
)  # fmt: skip
def test_what_is_the_librarys_own_code(path: str) -> None:
    assert beside(path) == ""
    assert all(Scope(name).holds(path, Root.OPERATOR) for name in SCOPES)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tests/ops.py", "tests"),
        ("lib/test/ops.cpp", "tests"),
        ("lib/testing/x.py", "tests"),
        ("Tests/x.cu", "tests"),
        ("lib/test_ops.py", "tests"),
        ("lib/ops_test.cpp", "tests"),
        ("conftest.py", "tests"),
        ("benchmarks/tests/x.py", "benchmarks"),
        ("lib/benchmark/x.py", "benchmarks"),
        ("bench_ops.py", "benchmarks"),
        ("docs/source/conf.py", "docs"),
        ("doc/x.py", "docs"),
        ("examples/x.py", "examples"),
        ("tutorials/x.cpp", "examples"),
        ("setup.py", "setup scripts"),
        ("csrc/setup.py", "setup scripts"),
    ],
)
def test_what_lies_beside_it(path: str, kind: str) -> None:
    assert beside(path) == kind
    assert [Scope(name).holds(path, Root.OPERATOR) for name in SCOPES] == [False, False, True]


@pytest.mark.parametrize(
    ("root", "within"),
    [(Root.OPERATOR, SCOPES), (Root.COMPILED, SCOPES), (Root.MODULE, (MODULES, ALL))],
)
def test_modules_are_asked_for(root: Root, within: tuple[str, ...]) -> None:
    assert tuple(name for name in SCOPES if Scope(name).holds("lib/ops.py", root)) == within


@pytest.mark.parametrize(
    ("paths", "path", "within"),
    [
        (("lib",), "lib/tests/x.py", False),
        (("lib/tests",), "lib/tests/docs/x.py", True),
        (("lib/tests",), "tests/x.py", False),
        (("tests",), "testsuite/tests/x.py", False),
        (("tests/unit",), "tests/x.py", False),
        (("setup.py",), "setup.py", True),
        (("lib", "docs"), "docs/x.py", True),
    ],
)
def test_what_lies_beside_is_asked_for_by_name(paths: tuple[str, ...], path: str, within: bool) -> None:
    assert Scope(OPERATORS, paths).holds(path, Root.OPERATOR) is within
    assert not Scope(OPERATORS, paths).holds(path, Root.MODULE)


def finding(path: str, root: Root = Root.OPERATOR, group: str = "", function: str = "f") -> Finding:
    return Finding(
        path, 0, 1, 1, 1, Mode.PYTHON_BRANCH, "rule", Level.SAFE, function, (), "message", group=group, root=root
    )


def test_a_group_is_in_the_scope_as_a_whole() -> None:
    inside = [finding("a.py"), finding("a.py", Root.COMPILED, "both")]
    left = [finding("a.py", group="torn"), finding("b.py", Root.MODULE, "torn")]
    scope = Scope(OPERATORS)
    assert scope.split([*inside, *left]) == (inside, left)
    assert Scope(ALL).split([*inside, *left]) == ([*inside, *left], [])


def test_what_is_left_out_is_said_with_the_option_that_shows_it() -> None:
    scope = Scope(OPERATORS)
    module = finding("a.py", Root.MODULE)
    assert scope.remark([]) == ""
    assert scope.remark([module]) == "--scope modules adds 1 finding in 1 function of modules"
    others = [finding("docs/a.py"), finding("tests/b.py"), finding("docs/c.py", Root.MODULE)]
    assert scope.remark(others[:1]) == "--scope all adds 1 finding in docs"
    assert scope.remark([module, finding("a.py", Root.MODULE), finding("b.py", Root.MODULE), *others]) == (
        "--scope modules adds 3 findings in 2 functions of modules; --scope all adds 3 findings in docs and tests"
    )
