"""Where a regression test goes, and what the file is then."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from codemod.model.edits import apply_edits
from codemod.model.xfails import NewTest
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.xfails import transform

COUNTS = """\
import unittest
import torch
import torch._dynamo.testing

class OtherTests(unittest.TestCase):
    def test_static(self):
        pass

class UnspecTests(torch._dynamo.test_case.TestCase):
    def test_frames(self):
        counter = torch._dynamo.testing.CompileCounter()
        torch.compile(torch.sin, backend=counter, dynamic=True)

    def helper(self):
        pass

    def test_last(self):
        pass  # done


if __name__ == "__main__":
    unittest.main()
"""
LIBRARY = """\
import torch
from torch.testing._internal.common_utils import TestCase

class TestBlend(TestCase):
\tdef test_blend(self):
\t\ttorch.ops.mylib.blend
"""


def test(name: str) -> NewTest:
    return NewTest(
        (f"aten::{name}",), f"def test_{name}_symbolic_sizes(self):\n    x = 1\n\n    self.assertEqual(x, 1)\n"
    )


test.__test__ = False  # type: ignore[attr-defined]


def project(folder: Path, **files: str) -> CheckoutProject:
    (folder / "test").mkdir()
    for name, text in files.items():
        (folder / "test" / f"{name}.py").write_bytes(text.encode())
    return CheckoutProject(Checkout(folder, None), Cache(None))


def test_the_class_that_counts_frames(tmp_path: Path) -> None:
    tree = project(tmp_path, test_unspec=COUNTS, test_blend=LIBRARY.replace("blend", "inner"))
    (added,) = transform().add_tests(tree, [test("inner")])
    assert added is not None
    assert added.id == "test/test_unspec.py::UnspecTests::test_inner_symbolic_sizes"
    new = apply_edits(COUNTS.encode(), added.edits).decode()
    method = "\n\n    def test_inner_symbolic_sizes(self):\n        x = 1\n\n        self.assertEqual(x, 1)"
    assert new.replace(method, "") == COUNTS
    assert method in new
    compile(new, "test_unspec.py", "exec")


def test_several_tests_go_behind_different_methods(tmp_path: Path) -> None:
    tree = project(tmp_path, test_unspec=COUNTS)
    added = transform().add_tests(tree, [test("a"), test("b"), test("c")])
    first, second = (addition for addition in added if addition is not None)
    assert not {edit.start for edit in first.edits} & {edit.start for edit in second.edits}
    new = apply_edits(COUNTS.encode(), [*first.edits, *second.edits])
    (chosen,) = (node for node in ast.parse(new).body if isinstance(node, ast.ClassDef) and node.name == "UnspecTests")
    assert len([node for node in chosen.body if isinstance(node, ast.FunctionDef)]) == 5


def test_a_librarys_own_class_gets_the_import_too(tmp_path: Path) -> None:
    tree = project(tmp_path, test_blend=LIBRARY, test_other=LIBRARY.replace("blend", "other").replace("Blend", "Other"))
    plain = test("blend").text
    for text, imported in ((plain.replace("x = 1", "x = torch._dynamo.testing.same"), True), (plain, False)):
        (added,) = transform().add_tests(tree, [NewTest(("mylib::blend",), text)])
        assert added is not None
        new = apply_edits(LIBRARY.encode(), added.edits).decode()
        assert new.startswith("import torch\nimport torch._dynamo.testing\nfrom torch.testing") == imported
        assert new.endswith("\n\n\t" + text.replace("\n    ", "\n\t    "))
        compile(new, "test_blend.py", "exec")


@pytest.mark.parametrize(
    "source",
    [
        COUNTS.replace("test_last", "test_inner_symbolic_sizes"),  # it is there
        COUNTS.replace("import torch\n", ""),
        COUNTS.replace("TestCase", "Case"),
        COUNTS + "\nclass (\n",
    ],
)
def test_nowhere_to_go(tmp_path: Path, source: str) -> None:
    assert transform().add_tests(project(tmp_path, test_unspec=dedent(source)), [test("inner")]) == [None]


def test_line_ends_are_kept(tmp_path: Path) -> None:
    tree = project(tmp_path, test_unspec=COUNTS.replace("\n", "\r\n"))
    (added,) = transform().add_tests(tree, [test("inner")])
    assert added is not None
    new = apply_edits(COUNTS.replace("\n", "\r\n").encode(), added.edits)
    assert new.count(b"\n") == new.count(b"\r\n")
