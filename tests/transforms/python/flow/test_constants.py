"""What the top of a module and a class assign, and what is written beside it."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from transforms.python.jobs import FileJob, Job
from transforms.python.rewrite import findings

SIZES = "def f(x: Tensor):\n    return x.new_zeros(max(x.size(0), N))\n"
SHAPES = "def f(x: Tensor):\n    torch._check(x.shape == (2, N), lambda: 'n')\n    return x\n"
TRUTH = "def f(x: Tensor):\n    return x.new_zeros(1 + int(x.size(0) > N))\n"
RAISE = "def f(x: Tensor):\n    if x.size(0) != N:\n        raise ValueError('n')\n    return x\n"
FRACTIONS = [
    "N = 0.5\n",
    "A, B = 64, 4\nN = A / B\n",
    "N = 1\nif torch.cuda.is_available():\n    N = 0.5\n",
    "N = 0.5\nif torch.cuda.is_available():\n    N = 1\n",
    "N = 1\nN *= 0.5\n",
    "for N in (1, 0.5):\n    pass\n",
    "N = abs(-0.5)\n",
    "N = 2 ** -M\n",
]
NUMPY = ["N = np.prod((7, 7))\n", "N = numpy.prod((7, 7))\n", "N = torch.ones(1)\n"]
UNKNOWN = [
    "from sizes import N\n",
    "N = sizes()\n",
    "N = CONFIG.n\n",
    "N = CONFIG['n']\n",
    "N = 1\nfrom sizes import N\n",
    "with sizes() as N:\n    pass\n",
    "N = 1\n\n\ndef change():\n    global N\n    N = 0.5\n\n\n",
]
INTS = [
    "N = 8\n",
    "A, B = 64, 4\nN = A // B\n",
    "N: int = 8\n",
    "N = 1 << 3\n",
    "N = max(4, 8)\n",
    "N = int(SIZES[0])\n",
]


@pytest.mark.parametrize("function", [SIZES, SHAPES, TRUTH])
@pytest.mark.parametrize("constant", [*NUMPY, *UNKNOWN])
def test_a_constant_that_may_be_no_number_of_pythons_is_in_no_call_of_torch(
    rewrite: Any, constant: str, function: str
) -> None:
    assert rewrite(constant + function) == constant + function


@pytest.mark.parametrize("function", [SIZES, SHAPES])
@pytest.mark.parametrize("constant", FRACTIONS)
def test_a_constant_that_may_be_a_fraction_is_no_size(rewrite: Any, constant: str, function: str) -> None:
    assert rewrite(constant + function) == constant + function


@pytest.mark.parametrize("constant", INTS)
def test_a_constant_that_is_a_number_is_as_one_that_is_written(rewrite: Any, constant: str) -> None:
    assert "torch.sym_max(x.size(0), N)" in rewrite(constant + SIZES)
    assert "sym_eq(x.shape, (2, N))" in rewrite(constant + SHAPES, level=Level.SAFE)
    assert "torch.sym_ite(x.size(0) > N, 1, 0)" in rewrite(constant + TRUTH)
    assert "_check_value(x.size(0) == N" in rewrite(constant + RAISE, level=Level.SAFE)


@pytest.mark.parametrize("constant", UNKNOWN)
def test_a_check_beside_what_is_not_known_is_for_review(rewrite: Any, constant: str) -> None:
    assert rewrite(constant + RAISE, level=Level.SAFE) == constant + RAISE
    assert "_check_value(x.size(0) == N" in rewrite(constant + RAISE)


@pytest.mark.parametrize("constant", NUMPY)
def test_no_check_is_made_of_a_truth_of_numpys(rewrite: Any, constant: str) -> None:
    assert rewrite(constant + RAISE) == constant + RAISE


@pytest.mark.parametrize(
    "local", ["for N in x.tolist():\n        pass", "import sizes as N", "with x as N:\n        pass"]
)
def test_a_name_that_the_function_binds_is_no_constant(rewrite: Any, local: str) -> None:
    source = "N = 8\n" + SIZES.replace("    return", f"    {local}\n    return")
    assert "sym_max" not in rewrite(source)


METHOD = "    def f(self, x: Tensor):\n        return x.new_zeros(max(x.size(0), self.n))\n"


def rewritten(source: str) -> str:
    source += "\nimport torch\n"
    job = FileJob("torch/a.py", "torch/a.py", {"A.f": Job({}, {}, (), ())}, frozenset())
    edits = [edit for found in findings(job, source.encode()) for edit in found.edits]
    return apply_edits(source.encode(), edits).decode()


def initialized(body: str) -> str:
    parameters = "self, k: int, r: float, a, b=None, c: int | None = None"
    return f"class A(Module):\n    def __init__({parameters}):\n        {body}\n"


@pytest.mark.parametrize(
    "head",
    [
        initialized("self.n = k"),
        initialized("self.n = k // 2"),
        initialized("self.n: int = 3"),
        initialized("self.m, self.n = 1, 2 * k"),
        f"def half(a):\n    if a.n == 4: a.m = 0.5\n\n\n{initialized('self.n = k')}",
        "class A(Module):\n    n = 4\n",
        "class A(NamedTuple):\n    n: int\n",
        "@dataclass\nclass A:\n    n: int = 4\n",
    ],
)
def test_an_attribute_is_what_its_class_assigns(head: str) -> None:
    assert "torch.sym_max(x.size(0), self.n)" in rewritten(head + METHOD)


@pytest.mark.parametrize(
    "head",
    [
        initialized("self.n = k / 2"),
        initialized("self.n = r"),
        initialized("self.n = a"),
        initialized("self.n = b"),
        initialized("self.n = c"),
        initialized("self.n = a // 2"),
        initialized("self.n = k\n        self.n /= 2"),
        initialized("self.n = np.prod(k)"),
        initialized("self.n = k\n        setattr(self, 'n', r)"),
        initialized("self.n = k\n\n    @property\n    def n(self):\n        return 0.5"),
        initialized("self.n = k\n\n    def grow(self):\n        for self.n in (1, 0.5):\n            pass"),
        "class A(Module):\n    n = 4\n    n = 0.5\n",
        "class A(Module):\n    n: int\n",
        "class A(NamedTuple):\n    n: float\n",
        "@dataclass\nclass A:\n    n: float = 4\n",
        f"def half(a):\n    a.n = 0.5\n\n\n{initialized('self.n = k')}",
        f"def half(a):\n    a.n: float = 0.5\n\n\n{initialized('self.n = k')}",
        f"def half(a):\n    a[0].n /= 2\n\n\n{initialized('self.n = k')}",
        f"def half(myself):\n    myself.n = 0.5\n\n\n{initialized('self.n = k')}",
        f"def half(a):\n    if a.m: a.n = 0.5\n\n\n{initialized('self.n = k')}",
        f"class B(A):\n    n = 0.5\n\n\n{initialized('self.n = k')}",
    ],
)
def test_an_attribute_that_may_be_no_int_is_no_size(head: str) -> None:
    assert "sym_max" not in rewritten(head + METHOD)
