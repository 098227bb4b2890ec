"""native_functions.yaml."""

from __future__ import annotations

import pytest

from transforms.schema.native_functions import NativeFunction, load

YAML = b"""\
# What torchgen reads.

- func: fade(Tensor self, SymInt n) -> Tensor
  variants: function, method
  tags: [core, pointwise]
  autogen: fade.out, fade_backward

- func: blur.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

- func: glow(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: glow_kernel  # both
    CompositeExplicitAutograd: glow

- func: glow_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: glow.out

- func: glow.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: glow_out

- func: bare(Tensor self) -> Tensor
  manual_cpp_binding: True
  dispatch: {}
"""


HEAD = b"- func: f(Tensor x) -> Tensor\n  tags: "


def entries() -> dict[str, NativeFunction]:
    return {entry.schema.full_name: entry for entry in load("n.yaml", YAML).entries}


def test_dispatch_tables() -> None:
    assert {name: entry.dispatch for name, entry in entries().items()} == {
        "fade": (("CompositeImplicitAutograd", "fade"),),
        "blur.out": (("CompositeImplicitAutograd", "blur_out"),),
        "glow": (("CPU", "glow_kernel"), ("CUDA", "glow_kernel"), ("CompositeExplicitAutograd", "glow")),
        "glow_": (),
        "glow.out": (("CPU", "glow_out"),),
        "bare": (),
    }


def test_the_other_keys() -> None:
    fade = entries()["fade"]
    assert (fade.line, fade.variants, fade.tags) == (3, ("function", "method"), ("core", "pointwise"))
    assert fade.autogen == ("fade.out", "fade_backward")
    assert fade.symint_names == ("fade_symint", "fade_symint_out", "fade_symint_outf", "fade_backward_symint")
    assert entries()["glow_"].structured_delegate == "glow.out"
    assert entries()["glow.out"].structured
    assert entries()["bare"].manual_cpp_binding


def test_schemas_by_name() -> None:
    schemas = load("n.yaml", YAML).schemas()
    assert [schema.overload for schema in schemas["glow"]] == ["", "out"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", r"^n\.yaml:1: not a list of operators"),
        (b"a: 1\n", r"^n\.yaml:1: not a list of operators"),
        (b"- 1\n", r"^n\.yaml:1: an entry must be a mapping"),
        (b"\n- name: f\n", r"^n\.yaml:2: an entry has no 'func:'"),
        (b"- func: f(Tensor\n", r"^n\.yaml:1: not an operator schema"),
        (b"- func: f(Tensor x) -> Tensor\n  dispatch: {CPU: f\n", r"^n\.yaml:\d+: "),
        (b"- func: \xff\xfe\n", r"^n\.yaml:1: "),
        (b"- func: a.b.c(Tensor x) -> Tensor\n", r"^n\.yaml:1: not the name of an operator: 'a.b.c'$"),
        (b"- func: 1f(Tensor x) -> Tensor\n", r"^n\.yaml:1: not the name of an operator: '1f'$"),
        (HEAD + b"[" * 200_000, r"^n\.yaml:2: nested more than 16 levels deep$"),
        (HEAD + b"[" * 10_000 + b"]" * 10_000, r"^n\.yaml:2: nested more than 16 levels deep$"),
        (HEAD + b"{a: " * 10_000, r"^n\.yaml:2: nested more than 16 levels deep$"),
        (b"".join(b" " * n + b"a:\n" for n in range(500)), r"^n\.yaml:17: nested more than 16 levels deep$"),
        (b"- a: &a 1\n- b: *a\n", r"^n\.yaml:2: the alias \*a; write out what it means$"),
        (HEAD + b"2001-99-99\n", r"^n\.yaml:1: a value that is not of its type: month"),
        (HEAD + b"!!int ''\n", r"^n\.yaml:1: a value that is not of its type: "),
        (HEAD + b"!!timestamp x\n", r"^n\.yaml:1: a value that is not of its type: "),
        (HEAD + b"9" * 5000 + b"\n", r"^n\.yaml:1: a value that is not of its type: "),
    ],
)
def test_a_broken_file_is_one_clear_line(source: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        load("n.yaml", source)
    assert "\n" not in str(caught.value)
