"""Functions drawn at random, of branches on sizes as fakes and decompositions have them: every seed is another one."""

from __future__ import annotations

import random
import textwrap

HEAD = (
    "from __future__ import annotations\n"
    "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import Tensor\n"
)
_SIZES = ("n, m = x.shape", "n, m = x.size()", "n = x.size(0)\nm = x.size(1)", "n, m = x.shape[0], x.shape[-1]")
_CONDITIONS = """x.size(0) == 0; x.numel() == 0; not x.numel(); n == 0; not n; m == 0; x.size(1) <= 1; x.shape[0] < 1
n > 0; n == 1; n != 1; n > 1; n >= 2; n == m; n != m; x.shape == y.shape; x.shape != y.shape; x.size() != y.size()
x.size(0) == y.size(0); x.size(0) != y.size(0); x.size(1) != y.size(-1); y.size(0) == 1; y.size(0) != 1
y.shape[0] > 1; y.numel() == 0; y.numel() > 0; y.numel() == 1; y.numel() != x.numel(); n % 2 == 0; n % k != 0; n % k
n < k; n > k; n >= k; k > n; n * m > 64; n == 0 or m == 0; n == 0 and m == 0; n == 1 and m == 1; n == 1 or m == 1
x.dim() == 2 and n == 1; n > m; n < m; max(n, m) > 4; min(n, m) == 0; min(x.shape) < 1; 0 < n < k; n in (0, 1)
any(s == 0 for s in x.shape); all(s > 0 for s in x.shape); 0 in x.shape; x.shape[0] == y.shape[0] == 1; len(x) == 0
len(x) > 0 and m > 1; not (n > 0 and m > 0); not (n == m); n - 1 == 0; n + m == 0; n * m == 0; x.numel() == 1
k > 2 and n > k; k > 5 or n == 0; n // k == 0; -n % k; (n + m) % 2; n == y.size(0) and m == y.size(-1)
x.stride(0) == m; x.is_contiguous() and n > 0; n == k; m != k; y.dim() == 2 and y.size(1) == 1; sum(x.shape) == 0
x.dim() != y.dim() or x.size(0) != y.size(0); math.prod(x.shape) == 0; x.size(0) - y.size(0) > 0; abs(n - m) > 1
bool(n); n and m; n or m"""
_ENDS = """return x.clone(); return x.neg(); return x.new_zeros(n, m); return torch.zeros_like(x); return x.new_empty(0)
return x.new_zeros(m, n); return x.new_zeros(n); return x.new_zeros(0, m); return x.new_zeros(1, m)
return x.new_zeros(n, k); return torch.zeros((n, m)); return torch.zeros(m); return torch.ones(n, m)
return x.new_full((n,), 0); return y.clone(); return x.expand(n, m).clone(); return x.reshape(m, n).clone()
return x.sum(1); return x + y; return x.new_zeros(k); raise ValueError("bad"); raise ValueError(f"bad {n} and {m}")
raise RuntimeError(f"{x.shape} and {y.shape}"); assert m > 0, "no columns"
torch._check(m > 0, lambda: "no columns")"""
_STEPS = """x = x.contiguous(); x = x.clone(); x = x.expand(n, m); x = x.expand(y.size(0), m); x = x.reshape(n, m)
x = x.expand(-1, y.size(-1)); x = x.reshape(-1, m); x = x.view(n, m); x = x.view(-1, 1); x = x[:k]; x = x[:n]
x = x[: y.size(0)]; x = x[0]; x = x[:, 0]; x = x[1:]; x = x.unsqueeze(0).squeeze(0); x = x.sum(0, keepdim=True)
x = x.mean(1, keepdim=True); x = x.transpose(0, 1); x = x * 2; x = x + y; y = y.expand_as(x); y = y.expand(n, m)
y = y.expand(x.shape); y = y.view(-1); y = y.reshape(n, -1); y = y.repeat(n, 1); y = y[:n]; y = y.unsqueeze(-1)
y = y.new_zeros(n, m); n = 1; n = 0; n = max(n, 1); n = k; n = n + 1; n -= 1; n = min(n, k); n = n // 2; m = 1
m = m * k; n = y.size(0); x = F.pad(x, (0, 0, 0, k)); x = F.pad(x, (0, 0, 0, k - n % k))
x = F.pad(x, (0, 0, 0, -n % k)); x = F.pad(x, (0, 0, 0, k - n)); x = F.pad(x, (0, n - m)); x = x.narrow(0, 0, k)
x = torch.cat([x, y]); x = torch.cat([x, x.new_zeros(k, m)]); x = torch.cat([x, x[-1:]]); x = x.repeat(2, 1)
x = x.flip(0); x = x.new_zeros(n, m); n, m = m, n; n, m = x.size(0), 1; x = x - x.mean(0); pass
x = x.amax(0, keepdim=True); x.zero_(); x = x.index_select(0, torch.zeros(k, dtype=torch.long))"""
_TAILS = """return x.clone(); return x * 2; return x.sum(0); return x.sum(1, keepdim=True); return x.mean(1)
return x.sum(); return x.new_zeros(n, m); return x.new_empty(n, m).zero_(); return x.new_zeros(n + m)
return x.new_zeros(n)
return x.new_zeros(n * m); return x.new_zeros(max(n, 1), m); return x.new_zeros(max(n - k, 0))
return x.new_zeros(n // k, m); return x.new_zeros((n + k - 1) // k * k); return x.new_zeros(x.size(0), y.size(-1))
return x.amax(1); return x.softmax(-1); return x + y; return x - y.sum(); return x @ y; return torch.cat([x, y])
return torch.cat([x, y], dim=-1); return x.t().clone(); return x.reshape(-1).clone(); return x.view(m, n).clone()
return x[0].clone(); return x.flip(0); return x.cumsum(0); return x.reshape(n * m).clone(); return x[:n].clone()
return x[: n // 2].clone(); return x[:, :m].neg(); return torch.stack([x, x]); return x.expand(2, *x.shape).clone()
return x / n; return x.narrow(0, 0, n).clone(); return torch.arange(n); return torch.full((n, m), 2.0); return y * n
return x.sort(0)[0]; return F.pad(x, (0, 1)).clone(); return x.repeat(2, 1); return x.argmax(0)
return torch.empty(n, m, k).zero_(); return x.unsqueeze(1).expand(-1, k, -1).clone()"""
_MESSAGES = ("", ', "no"', ', f"{n} {m}"')
_NUMBERS = ("n", "m", "k", "1", "0", "x.size(0)", "y.size(0)", "n + 1", "n // k", "max(n, m)", "n * 2")
_TENSORS = ("x", "y", "x * 2", "x[:k]", "x.expand(n, m)", "y.expand_as(x)", "x.contiguous()")


def parts(text: str) -> list[str]:
    """The pieces of code in a text, one after the other, parted by lines and semicolons."""
    return [part for line in text.splitlines() for part in line.split("; ")]


CONDITIONS, ENDS, STEPS, TAILS = map(parts, (_CONDITIONS, _ENDS, _STEPS, _TAILS))


def function(seed: int) -> str:
    """The source of `f(x: Tensor, y: Tensor, k: int)`: sizes, one or two branches on them, and what is returned."""
    draw = random.Random(seed)
    statements = [
        draw.choice(_SIZES),
        *(_branch(draw) for _ in range(draw.choice((1, 1, 1, 2, 2)))),
        draw.choice(TAILS),
    ]
    return f"def f(x: Tensor, y: Tensor, k: int) -> Tensor:\n{indented(*statements)}"


def checked(seed: int) -> str:
    """The same with a shortcut that returns, and behind it, mostly, branches that raise, assertions and checks."""
    draw = random.Random(seed)
    returned = [end for end in ENDS if end.startswith("return")]
    statements = [f"if {_condition(draw)}:\n{indented(draw.choice(returned))}", _check(draw)]
    if draw.random() < 0.5:
        statements.append(_check(draw))
    if draw.random() < 0.3:
        statements.append(draw.choice(STEPS))
    if draw.random() < 0.2:
        draw.shuffle(statements)
    body = indented(draw.choice(_SIZES), *statements, draw.choice(TAILS))
    return f"def f(x: Tensor, y: Tensor, k: int) -> Tensor:\n{body}"


def _check(draw: random.Random) -> str:
    condition, kind = _condition(draw), draw.random()
    raised = indented(draw.choice([end for end in ENDS if end.startswith("raise")]))
    if kind < 0.5:
        return f"if {condition}:\n{raised}"
    if kind < 0.7:
        return f"assert {condition}{draw.choice(_MESSAGES)}\n"
    if kind < 0.85:
        return f'torch._check({condition}, lambda: "no")\n'
    return f"if {condition}:\n{indented(draw.choice(STEPS))}else:\n{raised}"


def _condition(draw: random.Random) -> str:
    condition, kind = draw.choice(CONDITIONS), draw.random()
    if kind < 0.12 and " or " not in condition and " and " not in condition:
        return f"{condition} {draw.choice(('and', 'or'))} {draw.choice(CONDITIONS)}"
    return f"not ({condition})" if kind > 0.94 else condition


def _branch(draw: random.Random, nested: bool = False) -> str:
    condition, kind = _condition(draw), draw.random()
    head = f"if {condition}:\n"
    if kind < 0.38:
        return head + indented(draw.choice(ENDS))
    if kind < 0.62:
        return head + indented(draw.choice(STEPS))
    if kind < 0.72:
        return f"{head}{indented(draw.choice(STEPS))}else:\n{indented(draw.choice(STEPS + ENDS))}"
    if kind < 0.76:
        return f"{head}{indented(draw.choice(ENDS))}else:\n{indented(draw.choice(STEPS))}"
    if kind < 0.80:
        second = _condition(draw)
        return f"{head}{indented(draw.choice(STEPS))}elif {second}:\n{indented(draw.choice(STEPS + ENDS))}"
    if kind < 0.84 and not nested:
        return head + indented(_branch(draw, nested=True))
    if kind < 0.90:
        first, second = draw.sample(_NUMBERS, 2)
        return f"n = {first} if {condition} else {second}\n"
    if kind < 0.94:
        return f"{draw.choice('xy')} = {draw.choice(_TENSORS)} if {condition} else {draw.choice(_TENSORS)}\n"
    if kind < 0.97:
        return f"assert {condition}{draw.choice(_MESSAGES)}\n"
    return f"if {condition} or {condition.replace('x', 'y')}:\n{indented(draw.choice(ENDS))}"


def indented(*statements: str) -> str:
    return textwrap.indent("".join(f"{statement.rstrip()}\n" for statement in statements), "    ")
