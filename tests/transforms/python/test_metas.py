"""Metas as torch/_meta_registrations.py writes them."""

from __future__ import annotations

import pytest

from transforms.python.metas.registering import Meta, with_metas

FILE = (
    b"import torch\n\n\n@register_meta(aten.first)\ndef first(x):\n    return x\n\n\n"
    b"def activate_meta():\n    pass\n"
)


def test_a_file_without_the_place_is_refused() -> None:
    with pytest.raises(ValueError, match="activate_meta is not there"):
        with_metas(b"import torch\n", [])


def test_nothing_to_write_changes_nothing() -> None:
    assert with_metas(FILE, []) == FILE


def test_metas_stand_before_they_are_activated_in_the_order_of_their_names() -> None:
    zero = Meta(("zero.Tensor",), ("self", "*", "dim=None"), ("return self",))
    fold = Meta(("fold.default", "fold.grad"), ("x",), ("return torch.empty_like(x)",), ("grad",))
    plain = Meta(("plain.out",), ("x",), ("return x",), ("out",))
    expected = FILE.decode().replace(
        "def activate_meta",
        '@register_meta([aten.fold.default, aten.fold.grad])\n@out_wrapper("grad")\ndef meta_fold(x):\n'
        "    return torch.empty_like(x)\n\n\n"
        "@register_meta(aten.plain.out)\n@out_wrapper()\ndef meta_plain_out(x):\n    return x\n\n\n"
        "@register_meta(aten.zero.Tensor)\ndef meta_zero_Tensor(self, *, dim=None):\n    return self\n\n\n"
        "def activate_meta",
    )
    assert with_metas(FILE, [zero, plain, fold]).decode() == expected


def test_a_long_head_has_a_line_for_each_parameter() -> None:
    meta = Meta(("fold.default",), tuple(f"parameter_{number}" for number in range(8)), ("return None",))
    assert meta.lines()[1:4] == ["def meta_fold(", "    parameter_0,", "    parameter_1,"]
    compile("\n".join(meta.lines()[1:]), "meta", "exec")
