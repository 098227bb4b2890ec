"""What of C++ asks torch for a size: its functions, from a stack or an error's text, or a schema's plain number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from codemod.runner import asking

TORCH = "/site-packages/torch"
LIBRARY = f"{TORCH}/lib/libtorch_cpu.so"
ASKED = (f"{TORCH}/fx/experimental/sym_node.py", "guard_int")


def test_the_functions_of_c_that_ask_are_named_up_to_the_python_that_called_them() -> None:
    stack = [
        (f"{TORCH}/_dynamo/utils.py", "run_node"),
        (LIBRARY, "at::_ops::corrcoef::call(at::Tensor const&)"),
        (LIBRARY, "??"),
        (LIBRARY, "at::native::corrcoef(at::Tensor const&)"),
        (LIBRARY, "at::_ops::cov::call(at::Tensor const&, long)"),
        (LIBRARY, "at::native::(anonymous namespace)::cov<long>(at::Tensor const&, long)"),
        ASKED,
        (f"{TORCH}/fx/experimental/symbolic_shapes.py", "_log_guard"),
        (LIBRARY, "torch::CapturedTraceback::gather(bool, bool, bool)"),
    ]
    assert asking.askers(stack) == ["corrcoef", "cov"]
    hidden = [(path, "??" if "at::native" in name else name) for path, name in stack]
    assert asking.askers(hidden) == ["cov"]
    derivative = (LIBRARY, "torch::autograd::generated::CumprodBackward0::apply(int)")
    assert asking.askers([derivative, *stack[-3:]]) == ["CumprodBackward0"]
    python = (f"{TORCH}/_refs/__init__.py", "native_layer_norm")
    assert asking.askers([*stack[:-3], python, *stack[-3:]]) == []


def test_a_structured_kernel_is_named_through_the_dispatch_to_fake_tensors() -> None:
    stack = [
        (LIBRARY, "at::native::linalg_norm_out(at::Tensor const&)"),
        (f"{TORCH}/_subclasses/fake_tensor.py", "dispatch"),
        (f"{TORCH}/_ops.py", "__call__"),
        (LIBRARY, "at::meta::structured_topk::meta(at::Tensor const&, long, long, bool, bool)"),
        ASKED,
    ]
    assert asking.askers(stack) == ["linalg_norm_out", "topk"]


FRAMES = """Cannot call sizes() on tensor with symbolic sizes/strides
Exception raised from throw_cannot_call_with_symbolic at c10/core/TensorImpl.cpp:340 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation) + 0x9d (0x7f in /x/libc10.so)
frame #4: at::native::cov(at::Tensor const&, long) + 0x1b07 (0x7f in /x/libtorch_cpu.so)
frame #5: <unknown function> + 0x1aa5bcf (0x7f in /x/libtorch_cpu.so)
frame #9: at::native::corrcoef(at::Tensor const&) + 0x72 (0x7f in /x/libtorch_cpu.so)
<omitting python frames>
frame #30: at::native::outer(at::Tensor const&) + 0x72 (0x7f in /x/libtorch_cpu.so)
"""


SYMBOLIZED = (
    "no\nC++ CapturedTraceback:\n#9 at::native::cov(at::Tensor const&, long) from /x/libtorch_cpu.so:31044822\n"
    "#10 ?? from /x/libtorch_cpu.so:27941838\n#14 at::native::corrcoef(at::Tensor const&) from /x/l.so:3\n"
    "#25 _PyObject_Call from /x/libpython3.11.so.1.0:1409923\n#26 at::native::outer(long) from /x/l.so:5\n"
)


@pytest.mark.parametrize(
    "text",
    [
        FRAMES,
        f"got RuntimeError({FRAMES!r})",
        SYMBOLIZED,
    ],
)
def test_an_error_has_the_stack_of_the_kernel_that_asked(text: str) -> None:
    assert asking.askers_in(text) == ["corrcoef", "cov"]


TYPED = (
    "f::g() Expected a value of type '{}' for argument 'n' but instead found type '{}'.\nPosition: 1\n"
    "Declaration: f::g(Tensor x, int n) -> Tensor"
)
REFUSED = "TypeError: roll(): argument 'dims' (position 2) must be tuple of ints, not {}"


def test_a_text_without_a_stack_names_no_function() -> None:
    assert asking.askers_in("at::native::cov(at::Tensor const&) failed\n#12 is the issue") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TYPED.format("Optional[List[int]]", "list"), "argument n (int[]?) of f::g"),
        (TYPED.format("int", "SymInt").replace("\n", "\\n"), "argument n (int) of f::g"),
        (REFUSED.format("SymInt"), "argument dims (tuple of ints) of roll"),
        (REFUSED.format("str"), ""),
    ],
)
def test_an_error_names_the_argument_that_it_refuses(text: str, said: str) -> None:
    assert asking.argument_in(text) == said


class Tensor:
    """Stands in for torch's."""


class SymInt:
    """As torch's: a number that stands for an expression of symbols."""

    def __init__(self, *symbols: str) -> None:
        self.node = SimpleNamespace(expr=SimpleNamespace(free_symbols=set(symbols)))


@dataclass
class Kind:
    """The type of an argument."""

    name: str
    element: Kind | None = None

    def kind(self) -> str:
        return self.name

    def getElementType(self) -> Kind | None:
        return self.element

    def __str__(self) -> str:
        return "Tensor" if self.name == "TensorType" else self.name


TENSOR, INT, SYMBOLIC = Kind("TensorType"), Kind("IntType"), Kind("SymIntType")


def schema(**kinds: Kind) -> Any:
    arguments = [
        SimpleNamespace(name=name, real_type=kind, kwarg_only=False, has_default_value=lambda: False)
        for name, kind in kinds.items()
    ]
    return SimpleNamespace(name="f::g", arguments=arguments)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    torch = ModuleType("torch")
    torch.Tensor = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)

    def call(schemas: list[Any], *args: Any, symbols: tuple[str, ...] = ("s0",), inner: str = "", **kwargs: Any) -> str:
        """What is said while an operator with these overloads is called."""
        names = [f"o{number}" for number in range(len(schemas))]
        packet = SimpleNamespace(overloads=lambda: names)
        for name, each in zip(names, schemas, strict=True):
            setattr(packet, name, SimpleNamespace(_schema=each))
        space: dict[str, Any] = {"ask": lambda: asking.argument(symbols, (__file__,))}
        exec(compile("def inner(ask):\n    return ask()", inner or f"{TORCH}/_compile.py", "exec"), space)
        text = "def __call__(self, *args, **kwargs):\n    return inner(ask)"
        exec(compile(text, f"{TORCH}/_ops.py", "exec"), space)
        return str(space["__call__"](packet, *args, **kwargs))

    return call


def test_the_argument_for_which_a_plain_number_is_made_is_named(call: Callable[..., str]) -> None:
    assert call([schema(x=TENSOR, n=INT)], Tensor(), SymInt("s0")) == "argument n (int) of f::g"
    assert call([schema(x=TENSOR, n=INT)], Tensor(), n=SymInt("s0")) == "argument n (int) of f::g"
    many = schema(x=TENSOR, n=Kind("ListType", INT))
    assert call([many], Tensor(), 1, SymInt("s0")) == "argument n (int[]) of f::g"
    optional = schema(x=TENSOR, n=Kind("OptionalType", Kind("ListType", INT)))
    assert call([optional], Tensor(), [1, SymInt("s0")]) == "argument n (int[]?) of f::g"


def test_no_argument_is_named_that_another_overload_takes_as_a_symbol(call: Callable[..., str]) -> None:
    concrete, symbolic = schema(x=TENSOR, n=INT), schema(x=TENSOR, n=SYMBOLIC)
    assert call([symbolic], Tensor(), SymInt("s0")) == ""
    assert call([concrete, symbolic], Tensor(), SymInt("s0")) == ""
    assert call([concrete, schema(x=TENSOR, y=TENSOR, n=SYMBOLIC)], Tensor(), SymInt("s0")) != ""
    assert call([concrete, schema(x=INT, n=SYMBOLIC)], Tensor(), SymInt("s0")) != ""


def test_no_argument_is_named_for_another_symbol_or_where_python_asks(call: Callable[..., str]) -> None:
    assert call([schema(x=TENSOR, n=INT)], Tensor(), SymInt("s1")) == ""
    assert call([schema(x=TENSOR, n=INT)], Tensor(), 3) == ""
    asked_by_python = f"{TORCH}/_meta_registrations.py"
    assert call([schema(x=TENSOR, n=INT)], Tensor(), SymInt("s0"), inner=asked_by_python) == ""


LINES = """
def norm(x, eps):
    return space.layer_norm(x,
                            ((2,), 3), eps)


def by_name(x, eps):
    return 1 + space.layer_norm(x, (2,), eps=eps) + 1


def computed(x, eps):
    return space.layer_norm(x, (2,), eps * 1)


def method(x, eps):
    return [space.layer_norm][0](x, (2,), eps)


def several(x, eps):
    return space.layer_norm(*[x, (2,)], eps)
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python says since 3.11 which call a line is in")
@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("norm", "argument eps (float) of aten::layer_norm"),
        ("by_name", "argument eps (float) of aten::layer_norm"),
        ("computed", ""),
        ("method", ""),
        ("several", ""),
    ],
)
def test_a_line_that_calls_c_by_itself_names_the_argument(
    function: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Epsilon:
        """A number of which the call makes a float, as C++ does."""

        node = SimpleNamespace(expr=SimpleNamespace(free_symbols={"zf0"}))

        def __mul__(self, other: int) -> Epsilon:
            return self

    Epsilon.__name__ = "SymFloat"
    answers: list[str] = []

    class Builtin:
        """Stands for a function of C++, which has no frame of its own: this file's is passed over."""

        def __call__(self, x: Any, shape: Any, eps: Any) -> int:
            answers.append(asking.argument(["zf0"], (__file__,)))
            return 1

    space = ModuleType("space")
    space.layer_norm = Builtin()  # type: ignore[attr-defined]
    arguments = [
        SimpleNamespace(name=name, real_type=kind, kwarg_only=False, has_default_value=lambda: False)
        for name, kind in {"x": TENSOR, "shape": Kind("ListType", SYMBOLIC), "eps": Kind("FloatType")}.items()
    ]
    schema = SimpleNamespace(name="aten::layer_norm", arguments=arguments)
    torch, builtins = ModuleType("torch"), ModuleType("torch.jit._builtins")
    torch.Tensor = Tensor  # type: ignore[attr-defined]
    torch._C = SimpleNamespace(_jit_get_schemas_for_operator=lambda _: [schema])  # type: ignore[attr-defined]
    builtins._find_builtin = {space.layer_norm: schema.name}.get  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.jit._builtins", builtins)
    path = tmp_path / "functional.py"
    path.write_text(LINES)
    names: dict[str, Any] = {"space": space}
    exec(compile(LINES, str(path), "exec"), names)
    names[function](Tensor(), Epsilon())
    assert answers == [said]
