"""Choices by a remainder become sums that are the same for all whole numbers."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, y: Tensor, m: int, k: int):\n    n = x.size(0)\n"
SUM = "n + (m - n % m) % m"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("    if n % m != 0:\n        n = n + m - n % m\n    return n\n", f"    n = {SUM}\n    return n\n"),
        ("    if n % m:\n        n = (n // m + 1) * m\n    return n\n", f"    n = {SUM}\n    return n\n"),
        ("    if not n % m:\n        k = 0\n    else:\n        k = m - (n % m)\n    return k\n",
         "    k = (m - n % m) % m\n    return k\n"),
        ("    rest = n % m\n    return n if rest == 0 else m + n - rest\n",
         "    rest = n % m\n    return n + (m - rest) % m\n"),
        ("    pad = 0\n    if n % m:\n        pad = m - n % m\n    return n + pad\n",
         "    pad = (m - n % m) % m\n    return n + pad\n"),
        ("    pad = 0  # 0\n    k = 2\n    if n % m:  # 1\n        # 2\n        pad = m - n % m\n    return n + pad\n",
         "    # 0\n    k = 2\n    # 1\n    # 2\n    pad = (m - n % m) % m\n    return n + pad\n"),
        ("    k, pad = 1, 0\n    if n % m:\n        pad = m - n % m\n    return k + pad\n",
         "    k, pad = 1, 0\n    pad = (m - n % m) % m\n    return k + pad\n"),
        ("    if n % 8 > 0:\n        n += 8 - n % 8\n    return n\n", "    n = n + (8 - n % 8) % 8\n    return n\n"),
        ("    w = 8\n    if n % w > 0:\n        k = w - n % w\n    else:\n        k = 0\n    return k\n",
         "    w = 8\n    k = (w - n % w) % w\n    return k\n"),
        ("    b = n // 4\n    if n % 4:\n        b += 1\n    return b\n",
         "    b = (n + 3) // 4\n    return b\n"),
        ("    if n % 2 != 0:\n        k += 1\n    return k\n", "    k = k + n % 2\n    return k\n"),
        ("    rest = n % 2\n    return n + 2 - rest if rest else n\n", "    rest = n % 2\n    return n + rest\n"),
        ("    if n % (m or 4):\n        n = n + (m or 4) - n % (m or 4)\n    return n\n",
         "    n = n + ((m or 4) - n % (m or 4)) % (m or 4)\n    return n\n"),
        ("    return n // m if n % m == 0 else 1 + n // m\n", "    return -(-n // m)\n"),
        ("    return k - n if n % (m + 1) == 0 else k - n + m + 1 - n % (m + 1)\n",
         "    return k - n + (m + 1 - n % (m + 1)) % (m + 1)\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("runs", [{}, {"eager": True}, {"scripted": True}, {"inlined": True}])
def test_what_a_choice_comes_to(rewrite: Any, body: str, new: str, runs: dict[str, bool]) -> None:
    assert rewrite(HEAD + body, **runs) == HEAD + new
    before, after = (function(HEAD + part) for part in (body, new))
    for n in range(-9, 20):
        for m in (-5, -2, -1, 1, 2, 3, 7):
            if m != -1 or "m + 1" not in body:
                assert before(n, m, 4) == after(n, m, 4)


def function(source: str) -> Any:
    names: dict[str, Any] = {"Tensor": object}
    exec(source.replace("x.size(0)", "x"), names)
    return lambda n, m, k: names["f"](n, None, m, k)


@pytest.mark.parametrize(
    "body",
    [
        "    if n % m > 0:\n        n = n + m - n % m\n    return n\n",  # no remainder by less than 0 is above 0
        "    w = -8\n    if n % w > 0:\n        n = n + w - n % w\n    return n\n",
        "    w = 8\n    if k:\n        w = -8\n    if n % w > 0:\n        n = n + w - n % w\n    return n\n",
        "    if n % m:\n        n = n + m\n    return n\n",
        "    if n % m:\n        n = n + k - n % m\n    return n\n",
        "    if n % m:\n        n = n + m - n % m\n    elif k:\n        n = 0\n    return n\n",
        "    rest = n % m\n    n = n + 1\n    if rest:\n        n = n + m - rest\n    return n\n",
        "    for rest in (n % m, 1):\n        if rest:\n            n = n + m - rest\n    return n\n",
        "    b = n // m\n    n = n + 1\n    if n % m:\n        b = b + 1\n    return b\n",
        "    for i in (0, 1):\n        p = 0 if i else k\n        if n % m:\n            p = m - n % m\n    return p\n",
        "    if n % m:\n        n = n + m - n % m / k\n    return n\n",
        "    def g():\n        nonlocal p\n    p = 0\n    if n % m:\n        p = m - n % m\n    return p\n",
        "    m = g()\n    if n % m:\n        n = n + m - n % m\n    return n\n",  # may be 0.5
        "    if y.sum() % m:\n        n = n + m - n % m\n    return n\n",
    ],
)
def test_other_choices_stay(look: Any, body: str) -> None:
    assert not any(finding.rule == "rounded-size" for finding in look(HEAD + body))


@pytest.mark.parametrize(
    ("value", "between", "changed"),
    [
        ("n % m", "def grow():\n        nonlocal n\n        n += 1\n    grow()", True),
        ("n % m", "g(n)", False),
        ("sizes[0] % m", "sizes.insert(0, 3)", True),
        ("sizes[0] % m", "g(sizes)", True),
        ("sizes[0] % m", "sizes[0] = 3", True),
        ("sizes[0] % m", "g(lambda: sizes)", True),
        ("sizes[0] % m", "more = sizes\n    more.insert(0, 3)", True),
        ("sizes[0] % m", "more = [sizes]\n    more[0][0] = 3", True),
        ("n % m", "more = n\n    more = 3", False),
        ("x.size(0) % m", "z = x\n    z.t_()", True),
        ("x.size(0) % m", "z = x\n    z = z.t()", False),
        ("sizes[0] % m", "len(sizes)", False),
        ("x.size(0) % m", "x.t_()", True),
        ("x.size(0) % m", "torch.add(y, 1, out=x)", True),
        ("x.size(0) % m", "x.t()", False),
        ("x.size(0) % m", "y.add_(1)", False),
    ],
)
def test_what_the_remainder_was_taken_of_is_the_same(look: Any, value: str, between: str, changed: bool) -> None:
    number = value.removesuffix(" % m")
    body = (
        f"    sizes = [n]\n    rest = {value}\n    {between}\n    return {number} // m + 1 if rest else {number} // m\n"
    )
    assert any(finding.rule == "rounded-size" for finding in look(HEAD + body)) is not changed


ROUNDED = "    if n % m:\n        pad = m - n % m\n"


@pytest.mark.parametrize(
    "before",
    [
        "    pad = 0\n    k = pad + 1\n",  # it is read
        "    pad = 0\n    if k > 2:\n        k = pad\n",
        "    pad = 0\n    later = lambda: pad\n    k = later()\n",
        "    pad = 0\n    for k in range(3):\n        k += 1\n",
        "    pad = 0\n    if k > 2:\n        return k\n",
        "    pad = 0\n    with torch.no_grad():\n        k += 1\n",
        "    pad = 0; k = 1\n",
        "    try:\n        k += 1\n    finally:\n        k = 1\n    pad = 0\n",
    ],
)
def test_what_may_be_read_stays(rewrite: Any, before: str) -> None:
    assert rewrite(f"{HEAD}{before}{ROUNDED}    return n + pad\n").startswith(
        f"{HEAD}{before}    pad = (m - n % m) % m\n"
    )


def test_what_nothing_reads_goes_from_above_other_statements(rewrite: Any) -> None:
    before = "    pad = 0\n    rows = 0\n    k = k + 1\n"
    rows = ROUNDED.replace("pad", "rows")
    after = rewrite(f"{HEAD}{before}{ROUNDED}{rows}    return n + pad + rows\n")
    assert after.startswith(f"{HEAD}    k = k + 1\n    pad = (m - n % m) % m\n    rows = (m - n % m) % m\n")
