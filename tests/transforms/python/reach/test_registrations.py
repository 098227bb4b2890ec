"""Which functions Python registers with PyTorch, for which operator, and who then calls them."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from codemod.model.findings import Root
from tests.transforms.counting import calls
from tests.transforms.python.reach.following import followed
from transforms.python.reach.evaluation import Evaluation
from transforms.python.reading.extract import extract


def reached(**files: str) -> Any:
    """By name, what symbols reach in files whose paths have `__` for `/`."""
    _, functions = followed({name.replace("__", "/") + ".py": source for name, source in files.items()})
    return {definition.function.name: found for definition, found in functions.items()}


F = "def f(x):\n    return x\n"
VLLM = (
    "lib = Library('my', 'FRAGMENT')\n"
    "def direct(op_name, op_func, mutates=None, fake_impl=None, target=None, dispatch_key=None):\n"
    "    chosen = target or lib\n"
    "    chosen.define(op_name + infer_schema(op_func))\n"
    "    chosen.impl(op_name, op_func, dispatch_key=dispatch_key)\n"
    "    if fake_impl is not None:\n        chosen._register_fake(op_name, fake_impl)\n"
)


@pytest.mark.parametrize(
    "source",
    [
        F + "types.SimpleNamespace(f=f)\n",
        F + "module.register_forward_hook(f)\n",
        F + "simplify(f)\n",
        F + "atexit.register(f)\n",
        "@torch.library.custom_op('my::op', mutates_args=())\n" + F,
        "@torch.library.register_kernel('my::op', 'cuda')\n" + F,
        "@op.register_kernel('cpu')\n" + F,
        F + "torch.library.register_kernel('my::op', 'cpu', f)\n",
        F + "g = torch.library.custom_op('my::op', f, mutates_args=())\n",
        "@torch.library.impl('my::op', 'CUDA')\n" + F,
        "@torch.library.impl('my::op', ('cpu', 'cuda'))\n" + F,
        "@impl(lib, 'op', 'CPU')\n" + F,
        F + "lib.impl('op', f, current_platform.dispatch_key)\n",
        "lib = torch.library.Library('my', 'IMPL', 'CUDA')\n" + F + "lib.impl('op', f)\n",
        "def register_fake_op(name, fn=None):\n    return lambda x: x\n@register_fake_op('my::op')\n" + F,
        "def implementing(name):\n    def wrap(f):\n        return torch.library.custom_op(name)(f)\n    return wrap\n"
        "@implementing('my::op')\n" + F,
        F + "def g(x):\n    return x\ndirect(op_name='op', op_func=f, fake_impl=g)\n" + VLLM,
        "@torch.library.impl('my::op', 'CompositeExplicitAutograd')\n" + F + "@register_fake('my::op')\n"
        "def g(x):\n    return x\n",
    ],
)
def test_what_only_eager_runs(source: str) -> None:
    assert "f" not in reached(lib=source)


WRAPPED = (
    "def wrapped(name):\n    def wrap(g):\n        return torch.library.register_fake(f'{name}')(g)\n"
    "    return wrap\n@wrapped('my::op')\n"
)
BOTH = (
    "def both(name, fn=None):\n    def wrap(fn):\n        def kernel(*a):\n            return fn(*a)\n"
    "        result = torch.library.custom_op(name, kernel)\n        result.register_fake(fn)\n"
    "        return result\n    if fn is None:\n        return wrap\n    return wrap(fn)\n@both('my::op')\n"
)
OF_LIBRARY = "from torch.library import impl\nl = torch.library.Library('my', 'DEF')\n@impl(l, 'op', 'Meta')\n"
CHOSEN = "fake = torch.library.register_fake if new else torch.library.impl_abstract\n@fake('my::op')\n"
TWICE = (
    "if TYPE_CHECKING:\n    def register_fake(fn):\n        return lambda name: fn\n"
    "else:\n    from torch.library import register_fake\n@register_fake('my::op')\n"
)


@pytest.mark.parametrize(
    ("source", "operator", "eager"),
    [
        ("@torch.library.register_fake('my::op')\n", "my::op", False),
        ("@torch.library.register_fake('my::op.out')\n", "my::op", False),
        ("@torch.library.register_fake(torch.ops.my.op.default)\n", "my::op", False),
        ("@torch.library.impl_abstract('my::op')\n", "my::op", False),
        ("@torch.library.impl('my::op', 'Meta')\n", "my::op", False),
        ("@torch.library.impl('my::op', 'CompositeImplicitAutograd')\n", "my::op", True),
        ("@torch.library.triton_op('my::op', mutates_args={})\n", "my::op", True),
        (OF_LIBRARY, "my::op", False),
        ("l = torch.library.Library('my', 'DEF')\n@impl(l, f'op_{n()}', 'Meta')\n", "", False),
        ("l = torch.library.Library('my', 'DEF')\n@impl(l, f'op_{1}', 'Meta')\n", "my::op_1", False),
        ("@custom_op('my::op')\ndef op(x):\n    return x\n@op.register_fake\n", "my::op", False),
        (CHOSEN, "my::op", False),
        (TWICE, "my::op", False),
        (WRAPPED, "my::op", False),
        (BOTH, "my::op", True),
        ("NAME = 'my::op'\n@torch.library.register_fake(NAME)\n", "my::op", False),
        ("fake = torch.library.register_fake\n@fake('my::op')\n", "my::op", False),
    ],
)
def test_decorators_and_the_operator_they_name(source: str, operator: str, eager: bool) -> None:
    found = reached(lib=source + F)["f"]
    assert (found.operators, found.inlined, found.eager) == ({operator} - {""}, False, eager)


@pytest.mark.parametrize(
    "call",
    [
        "torch.library.register_fake('my::op', f)",
        "torch.library.custom_op('my::op', g).register_fake(f)",
        "torch.library.register_autograd('my::op', g, setup_context=f)",
        "torch.library.register_autograd('my::op', f)",
        "torch.library.register_vmap('my::op', f)",
        "lib.impl('op', f, 'Meta')",
        "direct('op', g, fake_impl=f)",
        "direct(op_name='op', op_func=g, fake_impl=f)",
        "again(f)",
    ],
)
def test_calls_and_the_argument_that_is_traced(call: str) -> None:
    again = "def again(f):\n    direct('op', None, fake_impl=f)\n"
    found = reached(ops=VLLM + again, user="from ops import again, direct, lib\n" + F + call + "\n")
    assert found["f"].operators == {"my::op"}
    assert (found["f"].inlined, found["f"].eager) == (False, "autograd" in call or "vmap" in call)


def test_torch_compile_by_call_is_compiled() -> None:
    found = reached(user=F + "class A:\n    def __init__(self):\n        self.f = torch.compile(f)\n")
    assert (found["f"].inlined, found["f"].eager) == (True, False)


def test_the_name_of_an_operator_is_not_followed_into_its_kernel() -> None:
    found = reached(
        model="@torch.library.custom_op('my::op', mutates_args=())\ndef op(x):\n    return helper(x)\n"
        "def helper(x):\n    return x\n"
        "class M(nn.Module):\n    def forward(self, x):\n        return op(x)\n"
    )
    assert set(found) == {"M.forward"}


@pytest.mark.parametrize(
    "argument",
    ["(" * 90 + "x" + ",)" * 90, "-" * 900 + "x", "+".join(["'x'"] * 900), "a" + ".a" * 900, "f" + "()" * 900],
)
def test_what_is_nested_deep_registers_nothing(argument: str) -> None:
    sources = [f"register_fake({argument}, f)\n", f"@register_fake({argument})\n" + F, f"register_fake = {argument}\n"]
    assert all("g" not in reached(lib=F + source) for source in sources)


def test_wrappers_that_call_themselves_come_to_an_end() -> None:
    wrapper = "def register(name, fn):\n" + "    register(name, fn)\n" * 9
    wrapper += "    torch.library.register_fake(name, fn)\n"
    assert reached(lib=wrapper + F + "register('my::op', f)\n")["f"].operators == {"my::op"}


def test_a_wrapper_that_calls_itself_is_followed_once_for_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Mock(side_effect=Evaluation._run)
    monkeypatch.setattr(Evaluation, "_run", lambda *given: runs(*given))
    wrapper = "def register(name, fn):\n    register(name, fn)\n    register(name, fn)\n    impl(name, fn)\n"
    assert reached(lib=wrapper + F + "register('my::op', f)\n")["f"].operators == {"my::op"}
    assert runs.call_count == 2  # the call at the top, and that in the function, of names that nobody knows


@pytest.mark.parametrize("indent", ["    ", "\t"])
@pytest.mark.parametrize("comment", ["", "  # größer"])
def test_methods_that_register_are_read_as_they_stand(indent: str, comment: str) -> None:
    method = f"def register(name, fn):{comment}\n{indent * 2}torch.library.register_fake(name, fn)\n"
    source = f"class Maker:\n{indent}@staticmethod\n{indent}{method}\n{F}Maker.register('my::op', f)\n"
    assert reached(lib=source)["f"].operators == {"my::op"}


CALLER = "def f(x):\n    return g(x)\ndef h(x):\n    return x\n"


@pytest.mark.parametrize(
    "decorator", ["torch.compiler.disable", "torch._dynamo.disable()", "disable", "torch._disable_dynamo"]
)
def test_what_the_compiler_leaves_to_eager_and_what_only_that_calls(decorator: str) -> None:
    left = f"@{decorator}\ndef g(x):\n    return h(x)\n"
    assert set(reached(lib="@torch.compile\n" + CALLER + left)) == {"f"}
    assert set(reached(lib="@torch.library.register_fake('my::op')\n" + CALLER + left)) == {"f", "g", "h"}
    assert not set(reached(lib=f"class M(nn.Module):\n    @{decorator}\n    def forward(self, x):\n        pass\n"))


def test_what_the_compiler_leaves_alone_for_itself_only() -> None:
    left = "@torch.compiler.disable(recursive=False)\ndef g(x):\n    return h(x)\n"
    assert "h" in reached(lib="@torch.compile\n" + CALLER + left)


def test_each_of_several_functions_of_one_name_has_its_own_operator() -> None:
    fakes = "".join(f"@register_fake('my::op{n}')\ndef _(x):\n    return x\n" for n in (1, 2, 3))
    found = reached(lib=fakes)
    assert {name: function.operators for name, function in found.items()} == {
        "_#1": {"my::op1"},
        "_#2": {"my::op2"},
        "_": {"my::op3"},
    }


def test_a_call_may_mean_any_of_several_functions_of_one_name() -> None:
    either = "if new:\n    def g(n):\n        return n\nelse:\n    def g(n):\n        return n\n"
    found = reached(lib=either + "@register_fake('my::op')\ndef f(x: Tensor):\n    return g(x.size(0))\n")
    assert {name: function.parameters["n"].kind for name, function in found.items() if name != "f"} == {
        "g#1": "int",
        "g": "int",
    }


MODULE = "from torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize(
    "use",
    [
        "model = torch.compile(M())\n",
        "model = M()\nfast = torch.compile(model, dynamic=True)\n",
        "def run():\n    model = M(3)\n    model = torch.compile(model)\n    return model\n",
        "program = torch.export.export(M(), args)\n",
        "class N(M):\n    pass\nmodel = torch.compile(N())\n",
    ],
)
def test_modules_that_are_compiled(use: str) -> None:
    found = reached(lib=MODULE, user="import torch\nfrom lib import M\n" + use)["M.forward"]
    assert (found.root, found.inlined, found.eager) == (Root.COMPILED, True, True)


def test_a_decorator_compiles_a_class() -> None:
    for decorator in ("@torch.compile\n", "@torch.compile(dynamic=True)\n"):
        found = reached(lib=MODULE.replace("class M", decorator + "class M"))["M.forward"]
        assert found.root == Root.COMPILED


@pytest.mark.parametrize("use", ["model = M()", "model = wrap(M())", "re.compile(M())", "torch.compile(other())"])
def test_modules_that_nobody_compiles(use: str) -> None:
    assert reached(lib=MODULE, user="import re, torch\nfrom lib import M\n" + use)["M.forward"].root == Root.MODULE


ALIASES = [
    "from torch.compiler import disable as slow\n",
    "import torch._dynamo as dynamo\nslow = dynamo.disable\n",
    "import functools, torch\nslow = functools.partial(torch.compiler.disable, reason='eager')\n",
    "import torch\ndef slow(fn):\n    return torch.compiler.disable(fn)\n",
]


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_disable(alias: str) -> None:
    compiled = "@torch.compile\ndef g(x):\n    return f(x)\n"
    assert set(reached(lib=alias + "@slow\ndef f(x):\n    return h(x)\ndef h(x):\n    return x\n" + compiled)) == {"g"}


def test_what_disable_leaves_alone() -> None:
    recursive = "import functools, torch\nslow = functools.partial(torch.compiler.disable, recursive=False)\n"
    compiled = "@torch.compile\ndef g(x):\n    return f(x)\n"
    assert "h" in reached(lib=recursive + "@slow\ndef f(x):\n    return h(x)\ndef h(x):\n    return x\n" + compiled)
    assert "f" in reached(lib=ALIASES[0] + F + "other = slow(f)\n" + compiled)
    assert "f" in reached(lib="from logging import disable as slow\n@slow\n" + F + compiled)


@pytest.mark.parametrize("name", ["op.__name__", "op.overloadpacket.__name__"])
def test_a_function_that_is_called_with_each_item_registers_them(name: str) -> None:
    """As torch/_meta_registrations.py of torch 1.13 did, and what is copied from it does."""
    head = "from torch.utils._pytree import tree_map\naten = torch.ops.aten\nlib = Library('aten', 'IMPL', 'Meta')\n"
    maker = f"        def add(op):\n            lib.impl({name}, f)\n        tree_map(add, ops)\n        return f\n"
    source = f"{head}def register_meta(ops):\n    def wrap(f):\n{maker}    return wrap\n"
    found = reached(lib=source + "@register_meta([aten.relu.default, aten.gelu.default])\n" + F)
    assert found["f"].operators == {"aten::relu", "aten::gelu"}


@pytest.mark.parametrize(("call", "traced"), [("helion.kernel()(f)", False), ("functools.wraps(f)", True), ("f", True)])
def test_what_another_library_compiles_is_not_traced(call: str, traced: bool) -> None:
    maker = (
        "import functools, helion, torch\n"
        f"def fake_of(f):\n    def run(*args):\n        kernel = {call}\n        return kernel(*args)\n    return run\n"
        "def register(name):\n    def wrap(f):\n        torch.library.register_fake(name, fake_of(f))\n"
        "        return f\n    return wrap\n"
    )
    found = reached(lib=maker + "@register('my::op')\ndef g(x):\n    return x\n")
    assert ("g" in found, found["fake_of.run"].operators) == (traced, {"my::op"})


@pytest.mark.parametrize("iterated", ["5", "x", "'ab'", "f()", "set()", "f().items()", "{**x}"])
def test_a_loop_over_what_is_no_list_says_nothing_of_names(iterated: str) -> None:
    assert extract("a.py", f"for n in {iterated}:\n    register(n)\n".encode()).registering.bindings == ()


def test_a_method_that_calls_itself_on_its_object_is_followed_once() -> None:
    """As torch/_inductor/pattern_matcher.py: PatternEntry.register, which has an entry register for each function."""

    def source(times: int) -> str:
        again = "        self.register(passes, target)\n" * times
        method = f"    def register(self, passes, target=None):\n{again}        lib.impl('op', self.f)\n"
        head = "lib = Library('my', 'FRAGMENT')\nclass Entry:\n    def __init__(self, f):\n        self.f = f\n"
        return f"{head}{method}{F}Entry(f).register(passes)\n"

    few, many = source(1), source(4)
    assert reached(lib=many)["f"].operators == {"my::op"}
    assert calls(lambda: reached(lib=many)) < 3 * calls(lambda: reached(lib=few))  # 19 times, were it not known


def test_what_goes_through_several_calls_of_several_functions_is_followed_once() -> None:
    def source(times: int) -> str:
        steps = "    f = simplify(f, other=f)\n" * times
        head = "def simplify(f, other):\n    return f\ndef register(name, f):\n"
        return f"{head}{steps}    impl(name, f, 'Meta')\n{F}register('my::op', f)\n"

    assert reached(lib=source(4))["f"].operators == {"my::op"}
    # Were each argument another value, one would have 2**14 of them, the other 2**7.
    assert calls(lambda: reached(lib=source(14))) < 3 * calls(lambda: reached(lib=source(7)))


MLIR = "from jax.interpreters import mlir\nclass Norm:\n    @staticmethod\n    def lowering(x):\n        return x\n"


@pytest.mark.parametrize(
    ("source", "traced"),
    [
        (f"{MLIR}mlir.register_lowering(norm_p, Norm.lowering)\n", False),
        (f"{MLIR}def register(kind):\n    mlir.register_lowering(kind.p, kind.lowering)\nregister(Norm)\n", False),
        ("from jax.interpreters.mlir import register_lowering\n" + F + "register_lowering(f_p, f)\n", False),
        ("from torch._inductor.lowering import register_lowering\n" + F + "register_lowering(op, f)\n", True),
        ("import torch\nfrom lib.utils import register_fake\n@register_fake('my::op')\n" + F, True),
        ("from torch import nn\nfrom lib import utils\n@utils.register_fake('my::op')\n" + F, True),
        ("import torch\nfrom other.utils import register_fake\n@register_fake(NAME + suffix)\n" + F, True),
        (
            "import torch\nfrom other.utils import register_fake, resize\n@register_fake(resize, torch.Tensor)\n" + F,
            False,
        ),
        ("import torch\nfrom other import utils\n@utils.register_fake(F.resize)\n" + F, False),
        ("import torch\nfrom torch.library import register_fake\n@register_fake(utils.OP)\n" + F, True),
    ],
)
def test_a_registrar_of_another_library_counts_beside_torch_alone(source: str, traced: bool) -> None:
    assert bool(reached(lib=source)) == traced
