"""Functions of C++ as Python's syntax, and whether the ways of their branches give the same shapes."""

from __future__ import annotations

import ast

import pytest

from transforms.cpp.flow.shapes import _translated, agreement_of
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.syntax import parse
from transforms.cpp.reading.tree import Node, build

HEAD = "at::Tensor f(const at::Tensor& x, const Tensor& y, int64_t k) {"


def root_of(body: str) -> Node:
    tree, masked = parse(f"{HEAD}\n{body}\n}}\n".encode())
    return next(node for node in build(tree.root_node, masked).walk() if node.kind == "function_definition")


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("return x.new_zeros_symint({n, 2L}, x.options());", "return x.new_zeros([n, 2])"),
        ("return at::zeros({n}, x.options());", "return torch.zeros([n])"),
        ("int64_t n = x.size(0), m = x.sym_size(-1);", "n = x.size(0)\nm = x.size(-1)"),
        ("const auto& s = x.sizes();", "s = x.size()"),
        ("auto s = x.sym_sizes().vec(); s.back() = k; s[0] *= 2;", "s = x.size()\ns[-1] = k\ns[0] = s[0] * 2"),
        ("std::vector<int64_t> s(x.sizes().begin(), x.sizes().end());", "s = x.size()"),
        ("at::DimVector s(x.sizes());", "s = x.size()"),
        ("auto [a, b] = std::make_tuple(x.size(0), k);", "a, b = (x.size(0), k)"),
        ("auto n = std::max<int64_t>(x.numel(), 1) / k % 2;", "n = max(x.numel(), 1) // k % 2"),
        ("int64_t n = static_cast<int64_t>(c10::SymInt(k));", "n = k"),
        ("n = k > 0 && n != 0 ? n : -k;", "n = n if k > 0 and n != 0 else -k"),
        ("n += 1; --k; std::swap(n, k);", "n += 1\nk -= 1\nn, k = (k, n)"),
        ('TORCH_CHECK(n == k, "no ", n);', "assert n == k"),
        ('TORCH_CHECK_WITH(ValueError, n.sym_ge(k), "no");', "assert n >= k"),
        ('TORCH_CHECK(false, "no");', "raise"),
        ("return x.sizes().equals(y.sizes()) ? x : y;", "return x if x.size() == y.size() else y"),
        (
            "if (TORCH_GUARD_OR_FALSE(n.sym_eq(0))) { return x; } else return y;",
            "if n == 0:\n    return x\nelse:\n    return y",
        ),
        ("if (x.sizes().empty() || k) {}", "if len(x.size()) == 0 or k:\n    pass"),
        ("auto rank = x.sizes().size();", "rank = len(x.size())"),
        ("for (const auto i : c10::irange(k)) { n *= i; }", "while loop_64:\n    i = each_80\n    n *= i"),
        ("for (; n > k; n /= 2) {}", "while loop_64:\n    n = each_78\n    pass"),
        ('AT_ERROR("no");', "raise"),
        ("return {};", "return []"),
        ("return Tensor();", "return None"),
        ("auto z = at::native::helper<float>(x, k);", "z = at_native_helper_float_(x, k)"),
        ("std::reverse(s.begin(), s.end());", "s = s[::-1]"),
        ("std::reverse(s.begin(), t.end());", "std_reverse(s.begin(), t.end())\ns = s_64\nt = t_64"),
        ("fill(s, k);", "fill(s, k)\ns = s_64\nk = k_64"),
        ("using at::Tensor; int64_t n;", "pass"),
    ],
)  # fmt: skip
def test_it_is_read_as_python(source: str, python: str) -> None:
    translated = _translated(root_of(source))
    assert translated is not None
    assert "\n".join(map(ast.unparse, translated.function.body)) == ast.unparse(ast.parse(python))


@pytest.mark.parametrize(
    "source",
    ["auto g = [&] { return k; };", "goto end; end: return x;", "if (auto n = k; n) {}", "*p = k;"],
)
def test_what_is_not_read_is_said(source: str) -> None:
    assert _translated(root_of(source)) is None


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("if (n == 0) { return x.sum(1); } return x.mean(1);", True),
        ("if (n == 0) { return x.sum(1); } return x.mean(1, true);", False),
        ("if (n == 0) { return x.clone(); } return at::stack({x, x});", False),
        ("if (n * m == 0) { return x.new_zeros({n, m}); } return x.reshape({n, m});", True),
        ("if (n * m == 0) { return x.new_zeros({m, n}); } return x.reshape({n, m});", False),
        ("auto s = x.sizes().vec(); s[0] = k; if (n == 0) { return x.clone(); } return at::zeros(s);", False),
        (
            "auto s = x.sizes().vec(); std::reverse(s.begin(), s.end()); if (n == 0) return x; return at::zeros(s);",
            False,
        ),
        ("auto s = x.sizes().vec(); g(s); if (n == 0) { return x.clone(); } return at::zeros(s);", None),
        ("if (n == 0) { return x; } if (m == 0) { return x.sum(); } return x.exp();", True),
    ],
)
def test_the_ways_of_a_branch_agree(body: str, same: bool | None) -> None:
    whole = f"const auto n = x.size(0); const auto m = x.sym_size(1); {body}"
    root = root_of(whole)
    (function,) = extract("a.cpp", f"{HEAD}\n{whole}\n}}\n".encode()).functions
    branch = next(node for node in root.walk() if node.kind == "if_statement")
    assert agreement_of(function, root, branch, False).same is same
