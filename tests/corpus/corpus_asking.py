"""Statements of Python with sizes in them, and what becomes of each where the sizes are unknown.

Each is one of `n, m = x.shape` and a second Tensor y, in a fake. torch says which it refuses (`refused`), over fake
tensors all of whose sizes are unbacked symbols; symfix has to name those, and no others.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Any

NAMED: Sequence[str] = (
    *("if n: pass", "if n == 0: pass", "if n > 3: pass", "if not n: pass", "if x.numel() == 0: pass"),
    *(
        "while n > 3: n = n - 1",
        "assert n > 0",
        "assert n == m",
        "assert x.shape == y.shape",
        "torch._assert(n > 0, 'no')",
        "r = 1 if n > 3 else 2",
    ),
    *("r = not n", "r = n and m", "r = n or m", "r = n > 3 and m > 3", "r = 1 < n < 5", "r = bool(n)"),
    *(
        "r = int(n)",
        "r = float(n)",
        "r = len(range(n))",
        "r = range(n)",
        "r = operator.index(n)",
        "r = operator.truth(n)",
    ),
    *("r = hex(n)", "r = bin(n)", "r = chr(n)", "r = bytes(n)", "r = complex(n)", "r = n.bit_length()"),
    *("r = n.__index__()", "r = list(enumerate([], n))", "r = list(itertools.repeat(0, n))"),
    *("r = list(itertools.islice([1, 2], n))", "r = list(map(int, x.shape))", "r = tuple(int(a) for a in x.shape)"),
    *("r = [0] * n", "r = (0,) * n", "r = n * [0]", "r = 'ab' * n", "r = [0] * (n - 1)"),
    *("r = math.sqrt(n)", "r = math.log2(n)", "r = math.gcd(n, 4)", "r = math.pow(n, 2)", "r = math.isclose(n, 4)"),
    *("r = math.fmod(n, 2)", "r = math.copysign(1, n)", "r = math.isfinite(n)", "r = math.hypot(n, m)"),
    *("r = torch.tensor(n)", "r = torch.tensor([n, m])", "r = torch.tensor(x.shape)", "r = torch.linspace(0, 1, n)"),
    *("for row, other in zip(x, y): pass", "r = list(x)", "r = list(map(len, x))", "r = sum(x)", "r = next(iter(x))"),
    *("r = torch.hann_window(n)", "r = torch.fft.fftfreq(n)", "r = torch.vander(y[0], m)", "r = x.unfold(0, n, 1)"),
    *("r = F.one_hot(y.long(), n)", "r = F.max_pool1d(x, kernel_size=m)", "r = F.avg_pool2d(x[None], x.shape)"),
    *("r = torch.tril_indices(n, m)", "for row in x: pass", "r = [row for row in x]", "for i in range(n): pass"),
    *(
        "r = {n}",
        "r = {n: 1}",
        "r = set(x.shape)",
        "r = {a for a in x.shape}",
        "r = hash(n)",
        "r = dict.fromkeys(x.shape)",
    ),
    *("r = collections.Counter(x.shape)", "r = D.get(n)", "r = D.get(n, 1)", "r = D.setdefault(n, 1)"),
    *("r = D.pop(n, 1)", "r = n in D", "r = n in (1, 2)", "r = 1 in x.shape", "r = n in L"),
    *("r = L.index(n)", "r = L.count(n)", "r = x.shape.index(1)", "r = list(x.shape).count(1)", "r = [n, m].index(1)"),
    *(
        "r = sorted(x.shape)",
        "r = sorted([n, m])",
        "r = sum(a == 1 for a in x.shape)",
        "r = max(n, m)",
        "r = min(n, 8)",
    ),
    *("r = max(x.shape)", "r = [a for a in x.shape if a != 1]", "r = any(a == 1 for a in x.shape)", "r = divmod(n, 2)"),
    *("r = n // 8 + (n % 8 != 0)", "r = (n > 1) + 1", "r = n * (m > 1)", "r = (n > 1) * (m > 1)"),
    *("r = x.shape.numel()", "r = x.shape == y.shape", "r = (n, m) == (1, 2)"),
    *("r = x[n]", "r = x[:, n]", "r = x[..., -n]", "r = x[n - 1, None]", "r = x[[0], n]", "x[:, n] = 0"),
)
"""What torch refuses, and symfix names."""

SERVED: Sequence[str] = (
    *("r = n + m", "r = n // 2", "r = n / 2", "r = -n", "r = n << 1", "r = n & 1", "r = 2 ** 3 + n", "r = abs(n)"),
    *("r = n == m", "r = n > 3", "r = n is None", "r = str(n)", "r = f'{n}'", "r = len(x.shape)", "r = x.ndim"),
    *(
        "r = math.ceil(n / 2)",
        "r = math.prod(x.shape)",
        "r = sum(x.shape)",
        "r = functools.reduce(operator.mul, x.shape)",
    ),
    *("r = list(x.shape)", "r = tuple(x.shape)", "r = torch.Size([n, m])", "r = x.shape + (n,)", "r = [1] * x.dim()"),
    *(
        "r = list(enumerate(x.shape))",
        "r = list(zip(x.shape, y.shape))",
        "r = dict(rows=n)",
        "r = [n, m]",
        "r = {1: n}",
    ),
    *(
        "r = D.get(1, n)",
        "r = D.get(x.dim(), n)",
        "r = L.index(1)",
        "r = L.count(x.dim())",
        "r = sorted(L)",
        "r = hash(1)",
    ),
    *("for a in x.shape: pass", "r = torch.empty(n)", "r = torch.arange(n)", "r = torch.full((2,), n)", "r = x[:n]"),
    *("r = torch.sym_max(n, m)", "r = torch.sym_not(n > 3)", "r = torch.sym_ite(n > 3, 1, 2)", "r = x.view(n * m)"),
    *("r = torch.eye(n)", "r = x.narrow(0, 0, n)", "r = x.repeat_interleave(m, 0)", "r = torch.full((n,), 1.0)"),
    *("r = torch.randint(0, n, (2,))", "r = x.tile(n)", "r = torch.linspace(0, n, 5)", "r = torch.randperm(n)"),
    *("r = isinstance(n, int)", "r = getattr(n, 'node', None)", "r = torch.tensor([1, 2])", "r = 'ab' * x.dim()"),
    *("r = x[:, :n]", "r = x[-n:, None]", "r = x.select(1, n)", "r = x[x.dim() - 1, 0]", "x[:, :n] = 0"),
    *("r = sum(a for a in x.shape)", "r = list(itertools.repeat(n, 2))", "r = torch.linspace(0, 1, 5)", "r = hex(3)"),
)
"""What torch takes, and symfix does not name."""

LEFT: Sequence[str] = (
    # what holds a size, or is chosen by one, may be a Tensor as well as a list or a dict
    *("r = D[n]", "r = L[n]", "r = L[:n]", "L.insert(n, 1)", "r = L.pop(n)"),
    # texts, which are messages nearly always
    *("r = f'{n:5d}'", "r = '%d' % n", "r = '{:d}'.format(n)"),
    # as many Tensors as a size says, which most often is one that nobody varies
    *("r = x.split(2)", "r = x.unbind(0)", "r = x.chunk(2)"),
    # what no tree that was read has
    *("r = pow(n, 2, 7)", "r = n.real", "r = n.numerator", "r = ~n", "r = x.nbytes", "r = (1, 2)[n > 3]"),
    *("r = list(filter(None, x.shape))", "r = functools.reduce(max, x.shape)", "r = max((n, m), default=1)"),
)
"""What torch refuses, and symfix says nothing of."""


def source(statements: Sequence[str]) -> str:
    """A file with a fake for each statement, called `fake_0` and so on."""
    head = "import collections, functools, itertools, math, operator\n\nimport torch\nimport torch.nn.functional as F\n"
    head += "from torch import Tensor\n\n"
    fakes = (
        f'\n\n@torch.library.register_fake("own::op_{index}")\ndef fake_{index}(x: Tensor, y: Tensor) -> Tensor:\n'
        f"    n, m = x.shape\n    D, L = {{1: 2}}, [1, 2, 3]\n    {statement}\n    return x.new_empty(n)\n"
        for index, statement in enumerate(statements)
    )
    return head + "".join(fakes)


def refused(statements: Sequence[str]) -> list[str]:
    """Those of the statements that raise where all sizes of the Tensors are unbacked symbols. Needs torch."""
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    namespace: dict[str, Any] = {}
    exec(compile(source(statements).replace("@torch.library.register_fake", "# "), "asking", "exec"), namespace)
    raising: list[str] = []
    logging.disable(logging.CRITICAL)  # torch logs each question that it cannot answer
    try:
        for index, statement in enumerate(statements):
            shapes = ShapeEnv()
            sizes = [shapes.create_unbacked_symint() for _ in range(4)]
            for size in sizes:
                torch._check(size >= 0)  # type: ignore[no-untyped-call]
            with FakeTensorMode(shape_env=shapes, allow_non_fake_inputs=True), contextlib.ExitStack() as raised:
                raised.callback(raising.append, statement)
                with contextlib.suppress(Exception):
                    namespace[f"fake_{index}"](torch.empty(*sizes[:2]), torch.empty(*sizes[2:]))
                    raised.pop_all()
    finally:
        logging.disable(logging.NOTSET)
    return raising
