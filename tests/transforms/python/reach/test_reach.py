"""Which functions symbols reach, by which path, and what their parameters then hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from tests.transforms.python.reach.following import followed, tree_of
from transforms.python.reach.reached import given_sympy, reach, scripted
from transforms.python.reading.sympy_calls import sympy_calls
from transforms.python.transform import PythonTransform


def reached(**files: str) -> Any:
    """Paths with `__` for `/`, and what is reached in them."""
    tree, functions = followed({name.replace("__", "/") + ".py": source for name, source in files.items()})
    return tree, {f"{d.path}:{d.function.name}": function for d, function in functions.items()}


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x\n",
        "def forward(x):\n    return x\n",
        "class A:\n    def forward(self, x):\n        return x\n",
        "@torch.compile\n@torch.compiler.disable\ndef f(x):\n    return x\n",
        "def f(x):\n    return x\nlib.impl('op', f, 'CUDA')\n",
        "class M(Module):\n  def forward(self, x):\n    return x\n  forward = torch.compiler.disable(forward)\n",
        "class M(Module):\n  def forward(self, x): ...\n  def a(self):\n    self.forward = disable(self.forward)",
        "@torch.compile\ndef f(x):\n    return x\nf = disable(f, reason='slow')\n",
    ],
)
def test_elsewhere_nothing(source: Any) -> None:
    assert reached(user__code=source)[1] == {}


@pytest.mark.parametrize(
    "source",
    [
        "@torch.compile\ndef f(x):\n    return x\n",
        "def f(x):\n    return x\ng = torch.compile(f)\n",
        "@torch.library.register_fake('my::op')\ndef f(x):\n    return x\n",
        "@register_meta([aten.add.default])\ndef f(x):\n    return x\n",
        "@aten.add.default.py_impl(DispatchKey.Autograd)\ndef f(x):\n    return x\n",
        "def f(x):\n    return x\nmine.register_fake(f)\n",
        "lib.impl('op', f, 'Meta')\ndef f(x):\n    return x\n",
    ],
)
def test_entry_points(source: Any) -> None:
    assert "user/code.py:f" in reached(user__code=source)[1]


def test_a_module_forward_and_the_helpers_it_calls() -> None:
    _, found = reached(
        model="from lib import helper\n"
        "class M(nn.Module):\n"
        "    def forward(self, x: Tensor):\n        return self.inner(x, x.shape[0])\n"
        "    def inner(self, x, n):\n        return helper(n, x.shape)\n",
        lib="def helper(count, size):\n    return count\ndef other(x):\n    return x\n",
    )
    assert set(found) == {"model.py:M.forward", "model.py:M.inner", "lib.py:helper"}
    helper = found["lib.py:helper"]
    assert helper.inlined
    assert (helper.parameters["count"].kind, helper.parameters["size"].kind) == ("int", "shape")
    assert [step.text.partition(":")[0] for step in helper.path()] == ["M.forward", "M.inner", "helper"]


def test_what_a_class_inherits_and_what_is_written_anew_below_it_may_be_called() -> None:
    _, found = reached(
        base="class Base(nn.Module):\n"
        "    def forward(self, x: Tensor):\n        return self.mix(x)\n"
        "    def mix(self, x):\n        raise NotImplementedError\n"
        "    def scale(self, x, n):\n        return n\n"
        "class Other(nn.Module):\n    def mix(self, x):\n        return x\n",
        model="from base import Base\n"
        "class Middle(Base):\n    pass\n"
        "class Mine(Middle):\n"
        "    def mix(self, x: Tensor):\n        return self.scale(x, x.shape[0])\n",
    )
    names = {"base.py:Base.forward", "base.py:Base.mix", "base.py:Base.scale", "model.py:Mine.mix"}
    assert set(found) == names
    assert found["base.py:Base.scale"].parameters["n"].kind == "int"
    steps = [step.text for step in found["base.py:Base.scale"].path()]
    assert [step.partition(":")[0] for step in steps] == ["Base.forward", "Mine.mix", "Base.scale"]
    assert steps[1] == "Mine.mix: called by Base.forward"


def test_what_is_written_anew_may_be_left_to_eager() -> None:
    source = (
        "class Base(nn.Module):\n    def forward(self, x: Tensor):\n        return self.mix(x)\n"
        "class Mine(Base):\n    @torch.compiler.disable\n    def mix(self, x: Tensor):\n        return x\n"
    )
    assert set(reached(a=source)[1]) == {"a.py:Base.forward"}


def test_a_module_may_be_called_before_its_forward() -> None:
    call = "    def __call__(self, x: Tensor):\n        return x\n"
    source = f"class M(nn.Module):\n{call}class N:\n{call}"
    (found,) = reached(a=source)[1].values()
    assert found.path()[0].text == "M.__call__: the __call__ of a module"


@pytest.mark.parametrize(
    "left",
    [
        "@torch.compiler.disable\ndef g(x):\n    return h(x)\n",
        "def g(x):\n    return h(x)\ng = torch.compiler.disable(g)\n",
        "def g(x):\n    return h(x)\ng = torch._dynamo.disable(g)\n",
    ],
)
def test_what_dynamo_leaves_to_eager_is_no_way_on(left: str) -> None:
    source = left + "def h(x):\n    return x\n@torch.compile\ndef f(x):\n    return g(x)\n"
    assert set(reached(a=source)[1]) == {"a.py:f"}
    assert set(reached(a=source + "@torch.compile\ndef k(x):\n    return h(x)\n")[1]) == {
        "a.py:f", "a.py:k", "a.py:h"
    }  # fmt: skip
    assert "a.py:h" in reached(a=source.replace("@torch.compile\n", "@torch.library.register_fake('a::b')\n"))[1]


@pytest.mark.parametrize("call", ["torch.compiler.disable(g)(x)", "wrapped(x, torch._dynamo.disable(g))"])
def test_a_function_that_is_passed_to_disable_is_not_called(call: str) -> None:
    source = f"def g(x):\n    return x\n@torch.compile\ndef f(x):\n    return {call}\n"
    assert set(reached(a=source)[1]) == {"a.py:f"}


@pytest.mark.parametrize("kept", ["g = torch.compiler.disable(g, recursive=False)", "h = torch.compiler.disable(g)"])
def test_what_is_still_compiled(kept: str) -> None:
    source = f"def g(x):\n    return x\n{kept}\n@torch.compile\ndef f(x):\n    return g(x)\n"
    assert set(reached(a=source)[1]) == {"a.py:f", "a.py:g"}


@pytest.mark.parametrize(
    ("body", "traced"),
    [
        ("if torch.jit.is_scripting():\n        return g(x)\n    return x", False),
        ("if torchvision._is_tracing():\n        return g(x)\n    return x", False),
        ("if not torch._C._get_tracing_state():\n        return x\n    g(x)\n    return x", False),
        ("return g(x) if torch.jit.is_tracing() and x.dim() > 2 else x", False),
        ("return apply(g, x) if torch.jit.is_scripting() else x", False),
        ("if torch.compiler.is_compiling():\n        return x\n    g(x)\n    return x", False),
        ("if torch.jit.is_scripting():\n        g(x)\n    return g(x)", True),
        ("if torch.jit.is_scripting() or x.dim() > 2:\n        return g(x)\n    return x", True),
        ("if x.dim() > 2:\n        if torch.compiler.is_compiling():\n            return x\n    return g(x)", True),
    ],
)
def test_what_only_torchscript_or_eager_calls_is_no_way_on(body: str, traced: bool) -> None:
    source = f"import torch\nimport torchvision\ndef g(x):\n    return x\n@torch.compile\ndef f(x):\n    {body}\n"
    functions = reached(code=source)[1]
    assert functions.keys() == ({"code.py:f", "code.py:g"} if traced else {"code.py:f"})


def test_what_a_helper_returns_reaches_its_caller() -> None:
    _, found = reached(
        a="from b import sizes\n@register_meta(aten.x)\ndef f(x):\n    m, n = sizes(x)\n    return x.size(0), g(n)\n"
        "def g(k):\n    return k\n",
        b="def sizes(x):\n    return x.shape, x.shape[0]\n",
    )
    assert found["a.py:g"].parameters["k"].kind == "int"


def test_torch_itself_by_place() -> None:
    _, found = reached(
        torch___refs____init__="def f(x):\n    return g(x)\n",
        torch__nn__functional="def h(x):\n    return x\n",
        torch__testing__x="@register_meta(aten.x)\ndef t(x):\n    return x\n",
    )
    assert {name.rpartition(":")[2]: function.inlined for name, function in found.items()} == {"f": False, "h": True}


@pytest.mark.parametrize("root", ["", "src__"])
def test_a_folder_torch_of_a_library_is_not_torch(root: str) -> None:
    files = {
        f"{root}own__torch__{name}": "@register_fake('own::f')\ndef f(x):\n    return x\n"
        for name in ("utils__a", "onnx__a", "_refs__a", "functional")
    }
    inits = {f"{root}{name}____init__": "" for name in ("own", "own__torch")}
    assert len(reached(**files, **inits)[1]) == 4


def test_what_lies_in_a_folder_torch_of_a_library_is_read(tmp_path: Path) -> None:
    body = "def f(x):\n    if x.shape[0] == 0:\n        raise ValueError('empty')\n    return x\n"
    source = f"import torch\n\n\n@torch.library.register_fake('own::f')\n{body}"
    for package in ("own/torch/utils", "torch/utils"):
        files = {"own/__init__.py": "", "own/torch/__init__.py": "", "torch/__init__.py": "", f"{package}/a.py": source}
        found = list(PythonTransform().analyse(MemoryProject(tmp_path, files, tmp_path / "none.yaml")))
        assert (len(found) == 1) is (package == "own/torch/utils")


def test_a_helper_of_references_has_the_operators_that_run_it() -> None:
    tree = tree_of(
        {
            "torch/__init__.py": "",
            "torch/_refs/__init__.py": "@register_decomposition(aten.cat)\ndef cat(x):\n    return check(x)\n"
            "def narrow(x):\n    return check(x)\n"
            "def check(x):\n    return deep(x)\n"
            "def deep(x):\n    return x\n"
            "def left(x):\n    return alone(x)\n"
            "def alone(x):\n    return left(x)\n",
            "torch/_refs/linalg/__init__.py": "def cond(x):\n    return x\n",
            "torch/masked/_ops.py": "def amax(x):\n    return _mask(x)\ndef _mask(x):\n    return x\n",
            "torch/nn/functional.py": "def loss(x):\n    return _size(x)\ndef _size(x):\n    return x\n",
        }
    )
    declared = {"cat", "narrow", "linalg_cond", "cond", "amax"}
    functions = reach(tree, declared=declared.intersection)
    assert {definition.function.name: sorted(entry.operators) for definition, entry in functions.items()} == {
        "cat": ["aten::cat"], "narrow": ["aten::narrow"], "check": ["aten::cat", "aten::narrow"],
        "deep": ["aten::cat", "aten::narrow"], "left": ["aten::left"], "alone": ["aten::alone"],
        "cond": ["aten::linalg_cond"], "amax": ["aten::masked_amax"], "_mask": ["aten::masked_amax"],
        "loss": ["aten::loss"], "_size": ["aten::loss"],
    }  # fmt: skip
    ways = {definition.function.name: [step.text for step in entry.path()] for definition, entry in functions.items()}
    assert ways["check"] == ["cat: registered by @register_decomposition", "check: called by cat"]
    assert ways["_size"] == ["loss: a composite that torch.compile traces", "_size: called by loss"]
    assert ways["deep"] == [*ways["check"], "deep: called by check"]
    assert ways["left"] == ["left: a reference, meta or decomposition"]


def test_decompositions_handed_to_torchscript_by_operator() -> None:
    tree, found = reached(
        torch___decomp__jvp="def _script(op):\n    return torch.jit.script(table[op])\n"
        "_script(torch.ops.aten.glu.default)\n",
        torch___decomp__all="@register_decomposition(aten.glu)\ndef glu(x):\n    return helper(x)\n"
        "@register_decomposition(aten.elu)\ndef elu(x):\n    return x\n"
        "def helper(x):\n    return x\n",
    )
    read = {d.function.name for d in scripted(tree, {function.definition: function for function in found.values()})}
    assert {"glu", "helper"} <= read
    assert "elu" not in read


@pytest.mark.parametrize(
    ("head", "decorator", "read"),
    [
        ("import torch", "torch.jit.script", True),
        ("import torch", "torch.jit.script_if_tracing", True),
        ("import torch", "torch.jit._script_if_tracing", True),
        ("from torch.jit import script", "script", True),
        ("from torch.jit import script as compiled", "compiled", True),
        ("from torch import jit", "jit.script", True),
        ("import torch.jit as js", "js.script", True),
        ("from torch.jit import trace", "other", False),
        ("import torch.jit as js\nfrom own import script", "script", False),
    ],
)
@pytest.mark.parametrize("outer", ["", "class M:\n    ", "def g(x):\n    "])
def test_what_a_decorator_hands_to_torchscript(head: str, decorator: str, read: bool, outer: str) -> None:
    decorated = f"@torch.library.register_fake('a::b')\n@{decorator}\ndef f(x):\n    return x\n"
    tree, found = reached(a=f"{head}\n{outer}{decorated.replace(chr(10), chr(10) + ' ' * 4 * bool(outer))}\n")
    functions = {function.definition: function for function in found.values()}
    assert ("f" in {d.function.own_name for d in scripted(tree, functions)}) is read


@pytest.mark.parametrize(
    ("path", "source", "inlined", "eager"),
    [
        ("torch__nn__functional", "def f(x):\n    return x\n", True, True),
        ("user__net", "class Net(Module):\n    def forward(self, x):\n        return x\n", True, True),
        ("user__net", "@torch.compile\ndef f(x):\n    return x\n", True, False),
        ("torch___refs__ops", "def f(x):\n    return x\n", False, False),
        ("user__fake", "@torch.library.register_fake('a::b')\ndef f(x):\n    return x\n", False, False),
    ],
)
def test_who_else_runs_a_function(path: str, source: str, inlined: bool, eager: bool) -> None:
    ((_, function),) = reached(**{path: source})[1].items()
    assert (function.inlined, function.eager) == (inlined, eager)


def test_what_eager_code_calls_eager_runs_too() -> None:
    functions = reached(
        torch__nn__functional="from torch._helpers import g\n\n\ndef f(x):\n    return g(x)\n",
        torch___helpers="def g(x):\n    return x\n",
    )[1]
    assert functions["torch/_helpers.py:g"].eager


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("", "", {"strides", "check"}),
        ("import sympy", "import math", set()),
        ("torch._refs.ops", "torch._refs.fft", set()),
        ("strides(s)", "other(s)", {"other"}),
    ],
)
def test_functions_that_are_given_sympy_expressions(old: str, new: str, names: set[str]) -> None:
    tree = reached(
        torch___refs__ops="def strides(shape):\n    return check(shape)\n\n\n"
        "def check(shape):\n    return shape\n\n\ndef other(shape):\n    return shape\n",
    )[0]
    caller = "import sympy\nfrom torch._refs.ops import strides, other\n\n\ndef f(s):\n    return strides(s)\n"
    calls = sympy_calls("a.py", caller.replace(old, new).encode())
    assert {definition.function.name for definition in given_sympy(tree, reach(tree), [calls])} == names


def test_lowerings_are_given_sympy_expressions_and_what_they_call(tmp_path: Path) -> None:
    head = "import torch\nfrom torch._inductor.lowering import register_lowering\nfrom own.b import check\n"
    body = "    if x.shape[0] < 1:\n        raise ValueError('few')\n    return x\n"
    files = {
        "own/__init__.py": "",
        "own/a.py": f"{head}@register_lowering(torch.ops.own.f)\ndef f(x):\n    check(x)\n{body}",
        "own/b.py": f"import torch\ndef check(x: torch.Tensor):\n{body}",
    }
    fake = f"import torch\n@torch.library.register_fake('own::f')\ndef f(x: torch.Tensor):\n{body}"
    for others in ({}, {"own/c.py": fake}):
        found = [*PythonTransform().analyse(MemoryProject(tmp_path, {**files, **others}, tmp_path / "none.yaml"))]
        assert [finding.path for finding in found if finding.edits] == [*others]
        assert {finding.path for finding in found if "sympy" in finding.reason} == {"own/a.py", "own/b.py"}


@pytest.mark.parametrize(
    ("path", "caller", "eager"),
    [
        ("lib__user", "def use(x):\n    return check(x)\n", True),
        ("lib__user", "class Layer:\n    def run(self, x):\n        return check(x)\n", True),
        ("lib__user", "def use(x):\n    return other(x)\n", False),
        ("tests__test_user", "def test(x):\n    return check(x)\n", False),
        ("torch___inductor__user", "def use(x):\n    return check(x)\n", False),
        ("torch___subclasses__user", "def use(x):\n    return check(x)\n", False),
        ("lib__user", "TABLE = {'check': check}\n", True),
        ("lib__user", "import lib.fakes as own\nEVERY = [own.check]\n", True),
        ("lib__user", "import lib.fakes\nuse = functools.partial(lib.fakes.check, n=1)\n", True),
        ("lib__user", "class Layer:\n    def __init__(self):\n        self.check = check\n", True),
        ("lib__user", "use = lambda x: check(x)\n", True),
        ("lib__user", "USED = check(torch.ones(2))\n", True),
        ("lib__user", "def use(check):\n    return [check]\n", False),
        ("lib__user", "def use(f):\n    return f is check\n", False),
        ("lib__user", "__all__ = ['check']\n", False),
        ("lib__user", "@check\ndef use(x):\n    return x\n", False),
        ("lib__user", "@torch.library.register_fake('my::other')\ndef other(x):\n    return [check]\n", False),
        ("tests__test_user", "TABLE = {'check': check}\n", False),
        ("torch___subclasses__user", "TABLE = {'check': check}\n", False),
    ],
)
def test_what_a_caller_without_symbols_calls_too_is_run_by_eager(path: str, caller: str, eager: bool) -> None:
    fake = (
        "import torch\n@torch.library.register_fake('my::op')\ndef fake(x):\n    return check(x)\n"
        "def check(x):\n    return size(x)\ndef size(x):\n    return x.size(0)\n"
    )
    found = reached(lib__fakes=fake, **{path: f"from lib.fakes import check\n{caller}"})[1]
    assert not found["lib/fakes.py:fake"].eager
    assert {found[f"lib/fakes.py:{name}"].eager for name in ("check", "size")} == {eager}


@pytest.mark.parametrize(
    ("registered", "eager"),
    [
        ("torch.library.register_fake('my::op', fake)\n", False),
        ("torch.library.register_fake('my::op')(fake)\n", False),
        ("for name, f in {'my::op': fake}.items():\n    torch.library.register_fake(name)(f)\n", False),
        ("def setup():\n    torch.library.register_fake('my::op', fake)\n", False),
        ("def setup():\n    torch.library.register_fake('my::op', fake)\n    TABLE['op'] = fake\n", True),
        ("torch.library.register_fake('my::op', fake)\ndef use():\n    return run(fake)\n", True),
        ("def use():\n    return torch.compile(fake)\n", True),
        ("torch.library.register_fake('my::op', fake)\nTABLE = {'op': fake}\n", True),
        ("lib.impl('op', fake, 'Meta')\nlayer.op = fake\n", True),
    ],
)
def test_a_function_is_named_to_be_registered(registered: str, eager: bool) -> None:
    found = reached(lib__fakes=f"import torch\ndef fake(x):\n    return x.new_empty(x.size(0))\n{registered}")[1]
    assert [function.eager for function in found.values()] in ([eager], [] if "items" in registered else [eager])


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from lib import metrics", "metrics.psnr"),
        ("from lib.metrics import psnr", "psnr"),
        ("import lib.metrics", "lib.metrics.psnr"),
        ("from lib.metrics.psnr import psnr", "psnr"),
        ("from lib.metrics import psnr as measured", "measured"),
    ],
)
def test_a_function_of_a_package_hides_the_module_of_its_name(imported: str, called: str) -> None:
    forward = f"class M(torch.nn.Module):\n    def forward(self, x):\n        return {called}(x)\n"
    sources = {
        "lib/__init__.py": "",
        "lib/metrics/__init__.py": "from .psnr import psnr\n",
        "lib/metrics/psnr.py": "import torch\ndef psnr(a: torch.Tensor):\n    return a\n",
        "model.py": f"import torch\n{imported}\n{forward}",
    }
    assert "lib/metrics/psnr.py" in {definition.path for definition in followed(sources)[1]}
