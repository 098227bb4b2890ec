"""The names of the operators that a tree's Python registers, wherever they are put together."""

from __future__ import annotations

import pytest

from tests.transforms.python.reach.following import tree_of
from tests.transforms.python.reach.test_registrations import VLLM, F, reached
from transforms.python.reach.registrations import Registrations
from transforms.python.reading.extract import extract

META_LIBRARY = (
    "def meta_lib():\n    return torch.library.Library('my', 'IMPL', 'Meta')\n"
    "def register_meta(name, overload='default'):\n    def wrap(g):\n"
    "        meta_lib().impl(getattr(getattr(torch.ops.my, name), overload), g)\n        return g\n"
    "    return wrap\n@register_meta('op')\n"
)


MAKER = (
    "def make(n):\n    @torch.library.register_fake(f'my::op{n}d')\n"
    "    def f(x):\n        return x\n    return f\none = make(1)\n"
)


MADE = (
    "def refuse(name):\n    def f(ctx, grad):\n        raise RuntimeError(name)\n    return f\n"
    "torch.library.register_autograd('my::op', refuse('op'))\n"
)


DEFINED = "lib = torch.library.Library('my', 'FRAGMENT')\nop = lib.define('op(Tensor x) -> Tensor')\n"


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
