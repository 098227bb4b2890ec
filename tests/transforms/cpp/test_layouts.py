"""What is written is the same however the code is laid out (tests/corpus/other_layouts.py asks it of whole trees)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted
from transforms.cpp.flow.checks import called
from transforms.cpp.flow.sizes import method
from transforms.cpp.reading.syntax import parse
from transforms.cpp.reading.tree import Node, build


def code(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        (
            "Tensor f(const Tensor& x) { return at::zeros(x.sizes(), x.options()); }",
            "Tensor f(const Tensor& x) { return at::\n    zeros(x.sizes(), x.options()); }",
        ),
        (
            (
                "template <typename T> void f(const Tensor& x, T n) "
                '{ TORCH_CHECK(at::symint::numel<T>(x) == n, "elements"); }\n'
                "Tensor g(const Tensor& x) { f<c10::SymInt>(x, x.sym_size(0)); return x; }"
            ),
            (
                "template <typename T> void f(const Tensor& x, T n) "
                '{ TORCH_CHECK(at::symint::numel< T > (x) == n, "elements"); }\n'
                "Tensor g(const Tensor& x) { f<c10::SymInt>(x, x.sym_size(0)); return x; }"
            ),
        ),
        (
            (
                "Tensor f(const Tensor& x) { auto s = x.sizes(); auto n = std::accumulate(s.begin(), s.end(), 1, "
                "std::multiplies<int64_t>()); return x.reshape({n}); }"
            ),
            (
                "Tensor f(const Tensor& x) { auto s = x.sizes(); auto n = std::accumulate(s.begin(), s.end(), 1, "
                "std::multiplies< int64_t > ()); return x.reshape({n}); }"
            ),
        ),
        (
            "Tensor f(const Tensor& x) { TORCH_CHECK(x.size(0) > 0); auto n = x.item<int64_t>(); return x; }",
            "Tensor f(const Tensor& x) { TORCH_CHECK (x.size (0) > 0); auto n = x.item<int64_t> (); return x; }",
        ),
    ],
)
def test_the_same_is_written(tmp_path: Path, usual: str, other: str) -> None:
    after = converted(tmp_path / "usual", usual), converted(tmp_path / "other", other)
    assert code(after[0]) == code(after[1])
    assert code(usual) == code(other)


def outermost(source: str) -> Node:
    """The first call of an expression."""
    tree, masked = parse(f"void f() {{ {source}; }}".encode())
    return next(node for node in build(tree.root_node, masked).walk() if node.kind == "call_expression")


@pytest.mark.parametrize(
    ("source", "name", "of_object"),
    [
        ("at::zeros(n)", "zeros", "zeros"),
        ("at:: /* none */\n    zeros (n)", "zeros", "zeros"),
        ("static_cast<c10::SymInt>(n)", "static_cast<c10::SymInt>", "static_cast<c10::SymInt>"),
        ("at::symint::numel< T > (x)", "numel<T>", "numel<T>"),
        ("std::max(n, m)", "max", ""),
        ("x.size(at::wrap(0))", ".size", "size"),
        ("impl->set_sizes (n)", ".set_sizes", "set_sizes"),
        (f"x{'.expand(one_of_the_sizes)' * 9}\n    .contiguous ()\n    .view(n)", ".view", "view"),
    ],
)
def test_what_a_call_calls(source: str, name: str, of_object: str) -> None:
    call = outermost(source)
    assert called(call) == name
    assert method(call) == of_object
