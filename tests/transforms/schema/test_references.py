"""Operators that have kernels for backends and nothing for symbolic sizes."""

from __future__ import annotations

import pytest

from transforms.schema import native_functions, references

VOID = "- func: fade(Tensor self, Tensor(a!) out) -> ()\n"
RETURNS = "- func: fade(Tensor self) -> Tensor\n"


def unserved(yaml: str, python: str = "") -> frozenset[str]:
    entries = native_functions.load("n.yaml", yaml.encode()).entries
    return references.unserved(references.load("torch/_refs/__init__.py", python.encode()), entries)


def test_an_operator_that_answers_by_reading_is_a_reader() -> None:
    tagged = "  tags: [data_dependent_output, pointwise]\n"
    yaml = "- func: same(Tensor self, Tensor other) -> bool\n" + tagged
    yaml += "- func: first(Tensor self) -> Scalar\n" + tagged + "- func: flat(Tensor self) -> bool\n"
    entries = native_functions.load("n.yaml", yaml.encode()).entries
    assert references.readers((), entries) == {"same"}
    assert references.readers(("same",), entries) == frozenset()


@pytest.mark.parametrize(
    "yaml",
    [
        pytest.param(VOID, id="composite"),
        pytest.param(VOID + "  dispatch:\n    CPU: fade\n    Meta: fade_meta\n", id="a Meta kernel"),
        pytest.param(RETURNS + "  dispatch:\n    CPU, CUDA: fade\n", id="may get what it lacks"),
        pytest.param(RETURNS + "  dispatch:\n    SparseCPU: fade\n", id="sparse tensors have symbolic sizes"),
        pytest.param(RETURNS + "  structured_delegate: fade.out\n  dispatch:\n    MkldnnCPU: fade\n", id="structured"),
        pytest.param(VOID + "  dispatch:\n    CPU: fade\n" + VOID.replace("fade", "fade.other"), id="another overload"),
    ],
)
def test_is_served(yaml: str) -> None:
    assert unserved(yaml) == frozenset()


@pytest.mark.parametrize(
    "yaml",
    [
        VOID + "  dispatch:\n    CPU, CUDA: fade\n",
        RETURNS + "  dispatch:\n    NestedTensorCPU, NestedTensorCUDA: fade\n",
        RETURNS + "  dispatch:\n    QuantizedCPU: fade\n",
    ],
)
def test_is_not(yaml: str) -> None:
    assert unserved(yaml) == {"fade"}
    for decorator in (
        "register_decomposition(aten.fade)",
        "register_meta([aten.blur, aten.fade.default])",
        "register_op_impl(torch.ops.aten.fade.default)",
    ):
        assert unserved(yaml, f"@{decorator}\ndef fade(a):\n    return a\n") == frozenset()
    for other in ("@register_meta(aten.blur)", "@register(aten.fade)", "@register_meta(aten.fade)\ndef ("):
        assert unserved(yaml, f"{other}\ndef fade(a):\n    return a\n") == {"fade"}


ANYBODY = RETURNS + "  dispatch:\n    CPU, CUDA: fade\n"


@pytest.mark.parametrize(
    "yaml",
    [
        pytest.param(RETURNS, id="composite"),
        pytest.param(RETURNS + "  dispatch:\n    CPU: fade\n    Meta: fade_meta\n", id="a Meta kernel"),
        pytest.param(RETURNS + "  dispatch:\n    SparseCPU, SparseMeta: fade\n", id="a Meta kernel of sparse tensors"),
        pytest.param(RETURNS + "  structured_delegate: fade.out\n", id="structured"),
        pytest.param(ANYBODY + RETURNS.replace("fade", "fade.other"), id="another overload"),
    ],
)
def test_has_a_kernel_that_takes_symbols(yaml: str) -> None:
    assert references.untraceable((), native_functions.load("n.yaml", yaml.encode()).entries) == frozenset()


def test_kernels_of_backends_alone_trace_nothing_unless_python_writes_of_them() -> None:
    entries = native_functions.load("n.yaml", ANYBODY.encode()).entries
    assert references.untraceable((), entries) == {"fade"}
    python = b"make_fallback(aten.fade.default)\nlocaten.other\nimpl('aten::blend')\n"
    assert references.mentions("torch/_refs/__init__.py", python) == {"fade", "blend"}
    assert references.untraceable(references.mentions("torch/_refs/__init__.py", python), entries) == frozenset()


def test_what_only_pytorch_calls_begins_with_an_underscore() -> None:
    assert references.internal(("fade", "_fade", "__fade__", "_fade_")) == {"_fade", "_fade_"}
