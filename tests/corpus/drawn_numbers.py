"""Functions drawn at random that compute with sizes: casts, extrema, loops, chunks, checks, numbers from branches."""

from __future__ import annotations

import random

from drawn_functions import CONDITIONS, indented, parts

_NUMBERS = """h = int(n / 2); h = int(n * 0.5); h = math.floor(n / 2); h = math.ceil(n / k); h = int(math.ceil(n / 2.0))
h = int(n); h = int(n) + int(m); h = round(n / 2); h = int((n - k) / 2) + 1
h = math.floor((n + 2 * 1 - k) / 2 + 1); h = n // 2; h = n // k; h = -(-n // k); h = (n + k - 1) // k
h = n // max(k, 1); h = n // m if m else 0; h = n // m if m != 0 else n; h = n // k if n > k else 1
h = max(n, m); h = min(n, m); h = max(n, 1); h = min(n, k); h = max(n, m, k); h = max([n, m]); h = max(x.shape)
h = min(x.size()); h = max(0, n - k); h = min(max(n, 1), k); h = max(x.size(0), y.size(0)); h = sum(x.shape)
h = math.prod(x.shape); h = n if n > k else k; h = n if n < m else m; h = 1 if n == 0 else n
h = n - 1 if n > 0 else 0; h = 2 * n if m == 1 else n; h = abs(n - m); h = n % k; h = -n % k; h = k - n % k
h = k - n % k if n % k else 0; h = len(x); h = len(x.shape); h = len(x) + len(y); h = x.numel() // m
h = len(range(n)); h = x.numel(); h = y.numel() // y.size(-1); h = divmod(n, k)[0]; h = n * m // (n or 1)
h = n or 1; h = int(n > k); h = (n > 1) + 1; h = bool(n) * 2; h = [n, m][n > m]; h = sorted([n, m])[0]
h = pow(n, 2); h = n ** 2; h = int(math.sqrt(n)); h = int(n ** 0.5); h = int(math.log2(n + 1))
h = n.__index__(); h = int(x.shape[0] * 1.5); h = len([s for s in x.shape if s != 1])
h = sum(1 for s in x.shape if s > 1); h = n and m; h = x.shape.numel(); h = max(n, m) - min(n, m)
h = int(float(n)); h = int(m / n); h = round(n * 1.5); h = int(-n / 2); h = int(-1 / n)
h = max((n, m), default=0); h = max(n, key=abs) if isinstance(n, list) else n; h = min(n, y.size(0), default=1)"""
_ASSIGNED = """h = min(h, n)

if n > k:
    h = k

if h < 1:
    h = 1

if n < m:
    n = m

if h > n:
    h = n

if n == m:
    h = h + 1

if n % 2:
    h = h + 1

if n % 2 == 1:
    h += 1
else:
    h -= 1

if n > k:
    h = k
else:
    h = n

if n > m:
    n, m = m, n

if n < 0:
    h = 0

if h < 0:
    h += n

if k > n:
    k = n

if k >= n:
    k = n - 1

if h == 0:
    h = 1

if not h:
    h = n"""
_LOOPS = """y = sum(x[i].sum() for i in range(n)) + y; y = torch.stack([x[i] for i in range(n)]) if n > 0 else y

x = torch.cat([x[i : i + 1] for i in range(n)])

for i in range(n):
    x = x + i

for i in range(h):
    x = x * 2

for i in range(k):
    x = x + n

for i in range(len(x)):
    y = y + 1

for row in x:
    y = y + row.sum()

for s in x.shape:
    y = y * s

for i in range(0, n, k):
    y = y + x[i : i + k].sum()

while h > 1:
    h = h // 2
    y = y + 1

for i in range(min(n, k)):
    y = y + x[i].sum()

for i, s in enumerate(x.shape):
    y = y + i * s

for a, b in zip(x.shape, y.shape):
    if a != b:
        y = y + 1"""
_CHUNKS = """x = torch.cat(x.split(k)); x = torch.cat(x.chunk(k, 0)[:1])

a, b = x.chunk(2, 1)
x = a + b

a, b = x.chunk(2)
x = torch.cat([b, a])

a, b = x.split(m // 2, 1)
x = a - b

a, b = torch.chunk(x, 2, dim=-1)
y = a.sum() + b.sum() + y

a, b, c = x.chunk(3, dim=1)
x = a + b + c

first, *rest = x.unbind(0)
x = x + first

a, b = x.tensor_split(2, 1)
x = torch.cat([b, a], 1)

x1 = x[..., : m // 2]
x2 = x[..., m // 2 :]
x = torch.cat([x2, x1], -1)

(a,) = x.unsqueeze(0)
x = a

for part in x.chunk(2, 1):
    y = y + part.sum()"""
_CHECKS = """assert n == m; assert n == m, "differ"; assert n % k == 0, f"{n} % {k}"; assert n and m

assert not n % k, "rest"; assert n >= 1 and m >= 1, ("a", n); assert 0 < n <= 64, "range"

assert x.shape == y.shape; assert n != k or m == 2; assert x.shape[1:] == y.shape[1:], "rows"

assert list(x.shape) == list(y.shape); assert tuple(x.shape) == (n, m)

assert x.size(0) == y.size(0) == n, "both"; assert n in (1, 2, 3, 4, 5, 7, 9), n

assert isinstance(n, int), "no int"; assert all(s > 0 for s in x.shape), "empty"

assert any(s > 1 for s in x.shape), "ones"; assert len(x) == n; torch._check(n == m)

torch._check(n > 0, lambda: "none"); torch._check(n > 0 and m > 0); torch._check(not n % k)

torch._check(n > 1 or m > 1, lambda: f"{n} {m}"); torch._check_value(n == m, lambda: f"{n}")

torch._assert(n > 0, "no"); if n == 1: return x.clone()

if n != m:
    raise ValueError("sizes differ")

if n % k:
    raise ValueError(f"{n} by {k}")

if n < k:
    raise RuntimeError("n is " + str(n))

if not n:
    raise ValueError

if not n:
    raise ValueError()

if n < 1 or m < 1:
    raise ValueError("empty")

if n < 1 and m < 1:
    raise ValueError("empty")

if not (n > 0 and m > 0):
    raise IndexError("empty", n)

if n == 0:
    msg = "empty"
    raise ValueError(msg)

if x.dim() != 2 or n < 1:
    raise RuntimeError("rank")

if y.dim() > 1 and y.size(1) != m:
    raise TypeError("y")

if n == 0:
    raise ValueError("n")
elif m == 0:
    raise ValueError("m")

if n > m:
    x = x[:m]
else:
    assert n > 0

if n < k:
    raise ValueError("few")
else:
    x = x[:k]

if n > 0:
    x = x * 2
else:
    raise ValueError("none")

try:
    assert n > k
except AssertionError:
    x = x * 2

ok = n > k
assert ok, "few"

ok = n == m
if not ok:
    raise ValueError("no")

if n > 9:
    import warnings
    warnings.warn("large")

if n != m:
    print("uneven")

if (r := n % k) != 0:
    raise ValueError(f"{r} left")

if n < (least := k):
    raise ValueError(f"{least}")

if n > m > 0:
    raise ValueError("wide")

if not 0 < n < 64:
    raise ValueError(f"bad {n}")

if n != m and k != 3:
    raise ValueError("k")

if k == 3 and n < 2:
    raise ValueError("k")

if n == m == 0:
    raise ValueError"""
_LISTS = """shape = list(x.shape)
shape[0] = h
y = y + x.new_zeros(shape).sum()

shape = [n, h]
x = x + x.new_ones(shape).sum()

shape = [s for s in x.shape if s != 1]
x = x.reshape(shape)

shape = tuple(s for s in x.shape)
x = x.reshape(shape)

shape = x.shape[:1] + y.shape[1:]
x = x + x.new_ones(shape).sum()

shape = [max(a, b) for a, b in zip(x.shape, y.shape)]
x = x + sum(shape)

shape = torch.broadcast_shapes(x.shape, y.shape)
x = x.expand(shape).clone()

shape = list(x.shape)
shape.insert(0, 1)
x = x.view(shape)

shape = [1 if s == 1 else s * 2 for s in x.shape]
x = x.new_ones(shape)

same = x.shape == y.shape
x = x * 2 if same else x

dims = [i for i, s in enumerate(x.shape) if s > 1]
x = x.sum(dims, keepdim=True)

wide = m > n
if wide:
    x = x.t()

flat = x.reshape(-1, m) if n > 0 else x
x = flat

shape = x.shape if n == y.size(0) else y.shape
x = x.new_ones(shape)"""
_TAILS = """return x * h; return x.new_zeros(h, m); return x.new_zeros(h + 1); return x[:h].clone(); return x + h
return x.sum(0) * h; return torch.arange(h); return x.new_full((n,), h); return x.reshape(-1).clone()
return x + y.sum() + h; return x.narrow(0, 0, min(h, n)).clone(); return F.pad(x, (0, h)).clone()
return x.repeat(h, 1); return x * y.sum(); return x.unsqueeze(0).expand(h, -1, -1).clone(); return x / max(h, 1)
return torch.zeros(n, h); return x[h:].clone(); return x.clone() if h > 1 else x.neg()
return x[: n // 2].clone(); return torch.full((h, n), m); return x.mean() * h"""


def _pieces(text: str) -> list[str]:
    """The pieces of a text: what stands between empty lines, of one line as `parts` parts it."""
    return [piece for block in text.split("\n\n") for piece in ([block] if "\n" in block else parts(block))]


_STATEMENTS = (parts(_NUMBERS), *map(_pieces, (_ASSIGNED, _LOOPS, _CHUNKS, _CHECKS, _LISTS)))
_WEIGHTS = (4, 3, 2, 2, 5, 3)
_ENDS = parts(_TAILS)


def function(seed: int) -> str:
    """The source of `f(x: Tensor, y: Tensor, k: int)`: numbers from sizes, statements with them, a result."""
    draw = random.Random(seed)
    statements = ["n, m = x.shape", draw.choice(_STATEMENTS[0])]
    for _ in range(draw.choice((1, 1, 2, 3))):
        statement = draw.choice(draw.choices(_STATEMENTS, _WEIGHTS)[0])
        if draw.random() < 0.15:
            statement = f"if {draw.choice(CONDITIONS)}:\n{indented(statement)}"
        statements.append(statement)
    return f"def f(x: Tensor, y: Tensor, k: int) -> Tensor:\n{indented(*statements, draw.choice(_ENDS))}"
