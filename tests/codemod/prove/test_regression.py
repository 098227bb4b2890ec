"""From the script that shows a failure to a test method."""

from __future__ import annotations

from textwrap import dedent

import pytest

from codemod.prove.regression import make_opcheck_test, make_test, method_name

REPRO = '''
"""aten::inner with symbolic sizes: backward."""

import sys

import torch

for library in sys.argv[1:]:
    torch.ops.load_library(library)

sizes = (2, 3, 5,)
scale = 0.5


def inputs(n):
    torch.manual_seed(0)
    return (torch.randn(n, 3, requires_grad=True),)


def operator(x):
    return torch.inner(x, x * scale)


def results(function, n):
    tensors = inputs(n)
    return function(*tensors)


if __name__ == "__main__":
    compiled = torch.compile(operator, dynamic=True)
'''


def test_the_whole_method() -> None:
    assert make_test("aten::inner", REPRO, 1, "aot_eager") == dedent(
        """\
        def test_inner_symbolic_sizes(self):
            scale = 0.5

            def inputs(n):
                torch.manual_seed(0)
                return (torch.randn(n, 3, requires_grad=True),)

            def operator(x):
                return torch.inner(x, x * scale)

            def results(function, n):
                tensors = inputs(n)
                return function(*tensors)

            torch._dynamo.reset()
            counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
            compiled = torch.compile(operator, backend=counter, dynamic=True, fullgraph=True)
            for n in (2, 3, 5):
                self.assertEqual(results(compiled, n), results(operator, n))
            self.assertEqual(counter.frame_count, 1)
        """
    )


def test_what_registers_a_librarys_operators_is_imported() -> None:
    imported = REPRO.replace("import torch\n", "import torch\n\nimport own.ops\n")
    method = make_test("own::inner", imported, 1, "inductor")
    assert 'CompileCounterWithBackend("inductor")' in method
    assert method.startswith("def test_own_inner_symbolic_sizes(self):\n    import own.ops\n\n    scale = 0.5\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import torch\n", "import torch\nfrom torch.testing._internal import common_methods_invocations\n"),
        ("sizes = (2, 3, 5,)", "sizes = (2,)"),
        ("sizes = (2, 3, 5,)", "sizes = tuple(range(9))"),
        ("def results(function, n)", "def symbolic(n)"),
        ("def inputs(n)", "def others(n)"),
        ("return (torch", "return ((torch"),
    ],
)
def test_what_cannot_be_written_as_a_method(old: str, new: str) -> None:
    assert old in REPRO
    assert make_test("aten::inner", REPRO.replace(old, new), 1, "aot_eager") == ""


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("aten::inner", "test_inner_symbolic_sizes"),
        ("aten::max.dim", "test_max_symbolic_sizes"),
        ("torchvision::nms", "test_torchvision_nms_symbolic_sizes"),
        ("aten::__and__", "test_and_symbolic_sizes"),
    ],
)
def test_names(operator: str, name: str) -> None:
    assert method_name(operator) == name


CALL = """
import sys

import torch

import lib.ops

sizes = (4, 5)


def inputs(n):
    return (torch.rand(n),)


def operator(x):
    return torch.ops.lib.fold.default(x, 2, exact=True)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return torch.ops.lib.fold.default(x, 2, exact=True)", "return fold(x)"),
        ("return torch.ops", "y = torch.ops"),
        ("def operator", "def other"),
        ("def operator(x)", "def results(function, n): ...\n\n\ndef operator(x)"),
        ("(4, 5)", "()"),
        ("import sys", "import ("),
    ],
)
def test_what_is_no_call_of_an_overload_is_no_test_of_opcheck(old: str, new: str) -> None:
    assert make_opcheck_test("lib::fold", CALL.replace(old, new)) == ""


def test_a_test_of_opcheck() -> None:
    text = make_opcheck_test("lib::fold", CALL)
    compile(text, "test", "exec")
    assert text == dedent("""\
        def test_lib_fold_opcheck(self):
            import lib.ops

            def inputs(n):
                return (torch.rand(n),)

            for n in (4, 5):
                x, = inputs(n)
                torch.library.opcheck(torch.ops.lib.fold.default, (x, 2), {'exact': True})
        """)
