"""Which functions Python registers with PyTorch, for which operator, and who then calls them."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from codemod.model.findings import Root
from tests.transforms.counting import calls
from tests.transforms.python.reach.following import followed, tree_of
from transforms.python.reach.evaluation import Evaluation
from transforms.python.reach.registrations import Registrations
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


def test_findings_name_the_operator_of_their_function_and_of_the_entry_point() -> None:
    source = "@torch.library.register_fake('my::op')\ndef f(x):\n    return g(x)\ndef g(x):\n    return x\n"
    assert {name: found.operators for name, found in reached(lib=source).items()} == {"f": {"my::op"}, "g": {"my::op"}}


PRESERVED = (
    "l = torch.library.Library('my', 'DEF')\n"
    "def register_by_name(lib):\n    def wrap(fn):\n        name = fn.__name__\n"
    "        if name[0] == '_':\n            name = name[1:]\n"
    "        lib.impl(name, fn, 'CompositeExplicitAutograd')\n        return fn\n    return wrap\n"
    "preserve = register_by_name(l)\n@preserve\n"
)


@pytest.mark.parametrize(
    ("source", "operators"),
    [
        (PRESERVED, {"my::f"}),
        (PRESERVED.replace("name = name[1:]", "name = f'{lib.ns}_' + name[1:]"), {"my::f"}),
        (PRESERVED.replace("name[0] == '_'", "name[0] != '_'"), set()),
        (PRESERVED.replace("name[0] == '_'", "hasattr(fn, '_')"), {"my::f"}),
        (PRESERVED.replace("name[1:]", "f'g_{name}'.removeprefix('g_')"), {"my::f"}),
        ("for n in range(3):\n    @torch.library.register_fake(f'my::f_{n}')\n", {"my::f_0", "my::f_1", "my::f_2"}),
        ("for n in ('a', 'b'):\n    @torch.library.register_fake('my::f_' + n)\n", {"my::f_a", "my::f_b"}),
        ("for n in range(10**9):\n    @torch.library.register_fake(f'my::f_{n}')\n", set()),
        ("for n in names():\n    @torch.library.register_fake(f'my::f_{n}')\n", set()),
        ("for n in {'a', 'b'}:\n    @torch.library.register_fake('my::' + n)\n", {"my::a", "my::b"}),
        ("for n, k in [('a', 2), ('b', None)]:\n    @torch.library.register_fake(f'my::{n}')\n", {"my::a", "my::b"}),
        ("for n in (2, 3):\n    @torch.library.register_fake(f'my::f_{n}x{n}')\n", {"my::f_2x2", "my::f_3x3"}),
        (
            "for n in (2, 3):\n    op = f'f_{n}'\n    @torch.library.register_fake(f'my::{op}')\n",
            {"my::f_2", "my::f_3"},
        ),
    ],
)
def test_names_that_are_put_together(source: str, operators: set[str]) -> None:
    body = "".join("    " * source.startswith("for") + line for line in F.splitlines(keepends=True))
    found = reached(lib=source + body)["f"]
    assert found.operators == operators


@pytest.mark.parametrize(
    ("held", "loop"),
    [
        ("OPS = ['a', 'b']\n", "for n in OPS:\n"),
        ("OPS = {'a': f, 'b': f}\n", "for n in OPS:\n"),
        ("OPS = {'a': f, 'b': f}\n", "for n, fn in OPS.items():\n"),
        ("OPS = (('my::a', f), ('my::b', f))\n", "for n, fn in OPS:\n"),
        ("", "for n, fn in {'a': f, 'b': f}.items():\n"),
    ],
)
def test_names_in_a_list_that_a_function_goes_over(held: str, loop: str) -> None:
    """As sglang registers its fakes for graphs of CPUs, and DeepSpeed its operators."""
    function = "fn" if "fn" in loop else "f"
    body = f"def register():\n    lib = Library('my', 'FRAGMENT')\n    {loop}        lib.impl(n, {function}, 'Meta')\n"
    found = reached(lib=F + held + body + "register()\n")
    assert found["f"].operators == {"my::a", "my::b"}


def test_a_helper_of_several_operators_names_them_all() -> None:
    source = (
        "def h(x):\n    return k(x)\ndef k(x):\n    return x\n"
        "@register_fake('my::a')\ndef a(x):\n    return h(x)\n"
        "@register_fake('my::b')\ndef b(x):\n    return h(x)\n"
        "@register_fake('my::c')\ndef c(x):\n    return k(x)\n"
    )
    found = reached(lib=source)
    assert found["h"].operators == {"my::a", "my::b"}
    assert found["k"].operators == {"my::a", "my::b", "my::c"}
    assert found["a"].operators == {"my::a"}


BOUND = (
    "def g(x):\n    return x\nother = Library('own', 'DEF')\nregister = functools.partial(direct, target=other)\n"
    "register(op_name='op', op_func=g, fake_impl=f)\n"
)
ADAPTED = (
    "def g(x):\n    return x\ndef adapted(fn):\n    def wrap(x):\n        return fn(x)\n    return wrap\n"
    "direct('op', g, fake_impl=adapted(f))\n"
)


@pytest.mark.parametrize(("source", "operator"), [(BOUND, "own::op"), (ADAPTED, "my::op")])
def test_functions_and_arguments_that_are_bound_before(source: str, operator: str) -> None:
    found = reached(lib=F + VLLM + source)
    assert found["f"].operators == {operator}
    assert "g" not in found


OBJECTS = (
    "lib = Library('my', 'FRAGMENT')\n"
    "class Base:\n    prefix = ''\n"
    "    def __init__(self, name, body):\n        self.name = self.prefix + name\n        self.fake = body\n"
    "        lib.define(self.name + infer_schema(body))\n"
    "        lib.impl(self.name, self.call, dispatch_key='CUDA')\n"
    "        lib._register_fake(self.name, self.run_fake)\n"
    "    def call(self, x):\n        return kernels[self.name](x)\n"
    "    def run_fake(self, x):\n        return self.fake(x)\n"
    "    def register_fake(self, g):\n        self.fake = g\n        return g\n"
    "class Derived(Base):\n    prefix = 'more_'\n"
    "    def __init__(self, body):\n        super().__init__(body.__name__, body)\n"
    "def register_op(f=None, *, name=None):\n"
    "    def wrap(g):\n        return Derived(g) if name is None else Base(name, g)\n"
    "    return wrap(f) if f is not None else wrap\n"
)


@pytest.mark.parametrize(
    ("source", "operator"),
    [
        ("@register_op\n" + F, "my::more_f"),
        ("@register_op(name='op')\n" + F, "my::op"),
        (F + "thing = Base('op', f)\n", "my::op"),
        ("def g(x):\n    return x\nthing = Base('op', g)\n@thing.register_fake\n" + F, "my::op"),
        ("@register_op(name='op')\ndef g(x):\n    return x\n@g.register_fake\n" + F, "my::op"),
    ],
)
def test_operators_that_are_objects(source: str, operator: str) -> None:
    found = reached(ops=OBJECTS, user="from ops import Base, register_op\n" + source)
    assert operator in found["f"].operators
    assert operator in found["Base.run_fake"].operators
    assert "Base.call" not in found


def test_objects_of_who_knows_what_register_nothing() -> None:
    method = "    def __init__(self, f):\n        self.register_buffer('f', f)\n"
    source = "class A(nn.Module):\n" + method + F + "a = A(f)\n"
    facts = extract("lib.py", source.encode())
    assert ("f" not in reached(lib=source), facts.registering.wrappers) == (True, ())


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


MAKER = (
    "def make(n):\n    @torch.library.register_fake(f'my::op{n}d')\n"
    "    def f(x):\n        return x\n    return f\none = make(1)\n"
)
META_LIBRARY = (
    "def meta_lib():\n    return torch.library.Library('my', 'IMPL', 'Meta')\n"
    "def register_meta(name, overload='default'):\n    def wrap(g):\n"
    "        meta_lib().impl(getattr(getattr(torch.ops.my, name), overload), g)\n        return g\n"
    "    return wrap\n@register_meta('op')\n"
)
DEFINED = "lib = torch.library.Library('my', 'FRAGMENT')\nop = lib.define('op(Tensor x) -> Tensor')\n"
MADE = (
    "def refuse(name):\n    def f(ctx, grad):\n        raise RuntimeError(name)\n    return f\n"
    "torch.library.register_autograd('my::op', refuse('op'))\n"
)


@pytest.mark.parametrize(
    ("source", "operator"),
    [
        (MAKER, "my::op1d"),
        (META_LIBRARY + F, "my::op"),
        (MADE, "my::op"),
        (F + "lib_of(name()).impl('op', f, 'Meta')\n", ""),
        (F + DEFINED + "lib.impl(op, f, 'Meta')\n", "my::op"),
        (F + DEFINED.replace("'op(", "'op.one(") + "lib.impl(op, f, 'Meta')\n", "my::op"),
        (
            F + DEFINED + "if not hasattr(torch.ops.my, 'op'):\n    op = lib.define(schema)\nlib.impl(op, f, 'Meta')\n",
            "my::op",
        ),
        (F + "op = config.define('op(Tensor x) -> Tensor')\nlib.impl(op, f, 'Meta')\n", ""),
    ],
)
def test_makers_of_functions_and_libraries(source: str, operator: str) -> None:
    (found,) = (found for name, found in reached(lib=source).items() if name.rpartition(".")[2] == "f")
    assert found.operators == {operator} - {""}


def test_what_pytorchs_own_objects_register_is_known_by_name() -> None:
    method = "    def py_impl(self, key):\n        def inner(fn):\n            register(self, key, fn)\n"
    source = "class Base:\n" + method + "            return fn\n        return inner\nclass Higher(Base):\n    pass\n"
    user = "from torch._ops import Higher\nhigher = Higher()\n@higher.py_impl(DispatchKey.Meta)\n" + F
    assert "f" in reached(torch___ops=source, torch__user=user)
    library = "class Library:\n    def impl(self, name, fn, key=''):\n        self.m.impl(name, fn, key)\n"
    user = "import torch\nlib = torch.library.Library('aten', 'IMPL', 'MPS')\nlib.impl('op', f)\n" + F
    assert "f" not in reached(torch__library=library, torch____init__="", torch__user=user)


@pytest.mark.parametrize(
    ("operator", "key", "traced"),
    [
        ("higher", "DispatchKey.CompositeExplicitAutograd", False),
        ("higher", "torch._C.DispatchKey.CompositeExplicitAutograd", False),
        ("higher", "DispatchKey.Autograd", True),
        ("higher", "FakeTensorMode", True),
        ("torch.ops.aten.add.default", "DispatchKey.CompositeExplicitAutograd", True),
        ("torch.ops.aten.add.default", "DispatchKey.CPU", False),
    ],
)
def test_real_tensors_alone_get_to_the_kernel_of_a_higher_order_operator(operator: str, key: str, traced: bool) -> None:
    head = "import torch\nfrom torch._ops import HigherOrderOperator\nhigher = HigherOrderOperator('higher')\n"
    assert ("f" in reached(torch__user=f"{head}@{operator}.py_impl({key})\n{F}")) is traced


def test_constants_name_the_operator_of_a_helper_in_a_function() -> None:
    helper = "import torch\ndef fake_for(op):\n    @torch.library.register_fake(op)\n    def f(x):\n        return x\n"
    calls = "def register():\n    fake_for('my::op')\nregister()\n"
    assert reached(lib=helper + calls)["fake_for.f"].operators == {"my::op"}


def test_an_overload_of_what_getattr_gives_is_the_operator() -> None:
    source = "import torch\ndef add(name):\n    op = getattr(torch.ops.my, name).default\n"
    source += "    torch.library.register_vmap(op, f)\nadd('op')\n" + F
    tree = tree_of({"lib.py": source})
    assert [role.operator for roles in Registrations(tree).roles.values() for role in roles] == ["", "my::op"]


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
