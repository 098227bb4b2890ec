"""What an expression is taken to be: sizes, shapes and Tensors, and what is none of these."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes
from transforms.python.flow.sites import sites
from transforms.python.flow.values import Value

FUNCTION = """
def f(x: Tensor, y: TensorLikeType, ts: list[Tensor], size: ShapeType, n: SymInt, dim: int, k: int, flag: bool, u=None):
    a, b = x.shape
    first, *rest = y.shape
    c = y.size(dim)
    d = x.numel() // 2
    out = []
    out.append(c)
    shapes = []
    shapes.append(x.shape)
    for i, s in enumerate(x.stride()):
        e = s
    for p, q in zip(x.shape, reversed(y.shape)):
        pair = p * q
    batch = list(x.shape[:-2]) + [a, c]
    t = x.transpose(0, 1)
    r = float(a) / 2
    g = u.shape
    h = helper(u)
    scale = a if flag else 1
    head, *middle, unit, whole = *x.shape, x.device, x.ndim == 5
    count, *tensors, amount = 2, x, y, a
"""


@pytest.fixture
def values() -> Interpreter:
    function = ast.parse(FUNCTION).body[0]
    assert isinstance(function, ast.FunctionDef)
    return Interpreter(function, own_nodes(function))


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("x", "tensor"), ("t", "tensor"), ("ts[0]", "tensor"), ("torch.add(x, y)", "tensor"), ("x + a", "tensor"),
        ("ts", "tensors"), ("[x, y]", "tensors"), ("tensors", "tensors"), ("tensors[0]", "tensor"),
        ("head", "int"), ("middle[0]", "int"), ("unit", "plain"), ("whole", "plain"), ("amount", "int"),
        ("a", "int"), ("c", "int"), ("d", "int"), ("e", "int"), ("pair", "int"), ("n", "int"), ("scale", "int"),
        ("min(a, 3)", "int"), ("torch.sym_max(a, 1)", "int"), ("torch.sym_ite(flag, a, 1)", "int"),
        ("math.prod(x.shape)", "int"),
        ("x.storage_offset()", "int"),
        ("len(x)", "int"), ("x.shape[-1]", "int"), ("-a", "int"), ("(a + 1) % 2", "int"), ("g[0]", "int"),
        ("x.shape", "shape"), ("rest", "shape"), ("batch", "shape"), ("size", "shape"), ("x.size()", "shape"),
        ("out", "shape"), ("shapes[0]", "shape"), ("shapes[0][0]", "int"),
        ("x.shape[1:]", "shape"), ("[s for s in x.shape]", "shape"),
        ("[t.shape for t in ts][0]", "shape"), ("[x.shape, y.shape][0]", "shape"), ("[x.shape, [a, 1]][1][0]", "int"),
        ("(x, a, x.shape)[1:][0]", "int"), ("(x, a, x.shape)[-1:][0]", "shape"), ("(x, a)[::-1][0]", "int"),
        ("(a, a)[k:][0]", "int"), ("[*x.shape, 1]", "shape"), ("[*x.shape, 1][0]", "int"),
        ("[t.shape for t in ts][0][1]", "int"), ("tuple(x.shape)", "shape"),
        ("r", "float"), ("a / 2", "float"),
        ("a == 0", "bool"), ("x.shape == y.shape", "bool"), ("all(s > 0 for s in x.shape)", "bool"), ("not a", "bool"),
        ("guard_or_false(a == 0)", "plain"), ("x.ndim", "plain"), ("x.dim()", "plain"), ("len(x.shape)", "plain"),
        ("dim", "plain"), ("flag", "plain"), ("x.dtype == y.dtype", "plain"), ("a is None", "plain"), ("i", "plain"),
        ("x.shape == [a, b]", "plain"), ("x.shape == ()", "plain"),
        ("x.shape == torch.Size([])", "plain"), ("x.shape != tuple()", "plain"), ("x.shape == torch.Size([a])", "bool"),
        ("isinstance(a, int)", "plain"), ("x.is_contiguous()", "plain"),
        ("x == 0", "tensor"), ("a == 'no'", "plain"),
    ],
)  # fmt: skip
def test_kind(values: Any, expression: Any, kind: Any) -> None:
    assert values.value(ast.parse(expression, mode="eval").body).kind == kind


@pytest.mark.parametrize(
    ("expression", "dependencies"),
    [
        ("k + 1", {"k"}),
        ("k == 2", {"k"}),
        ("u[0]", {"u[0]"}),
        ("h", {"()helper"}),
        ("a == k", set()),
        ("([k] * a)[0] == 2", {"k"}),
        ("(a * (k, 1))[0]", {"k"}),
        ("([a] * k)[0]", set()),
        ("([k] + [a])[0]", set()),
    ],
)
def test_what_depends_on_others_says_so(values: Any, expression: Any, dependencies: Any) -> None:
    assert values.value(ast.parse(expression, mode="eval").body).dependencies == dependencies


def test_callers_and_callees_fill_dependencies_in() -> None:
    function = ast.parse("def f(k, m):\n    n = g(m)\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function), {"k": Value("int")}, {"g": Value("shape")})
    assert values.variables["k"].kind == "int"
    assert values.variables["m"].kind == "plain"
    assert values.variables["n"].kind == "shape"


KINDS = """
def f(
    x: Tensor, ts: List[Tensor], grid: List[List[Tensor]], either: Tensor | list[int], pg: dist.ProcessGroup,
    mesh: Optional[DeviceMesh], array: np.ndarray, config: "ModelConfig", meta: AttentionMetadata, q: DTensor,
    like: FakeTensorLike, process_group=None, u=None, anything: Any = None, call: Callable[[Tensor], int] = None,
    pair: tuple[int, Tensor] = None,
):
    rows = [ts[i : i + 2] for i in range(2)]
    out = []
    out.append(ts[:2])
    world = dist.get_world()
    group = torch.distributed.new_group()
    table = np.asarray(u)
    settings = BenchConfig(x)
    maybe_group = None
    maybe_group = dist.new_group()
    parts = x.split(2)
    quantiles = torch.quantile(x, 2).tolist()
    values, order = x.sort()
    found = torch.where(x)
    column = (torch.sparse.sum(x, dim=(0,)) / 2).indices()[0]
    padded = F.pad(x, (1, 0))
    later = x
    later = u.thing()
    optional = None
    optional = x + 1
    batch, rest = ts[0], helper(x)
"""


@pytest.fixture
def kinds() -> Interpreter:
    function = ast.parse(KINDS).body[0]
    assert isinstance(function, ast.FunctionDef)
    return Interpreter(function, own_nodes(function), {}, {})


def _value(values: Interpreter, expression: str) -> Value:
    return values.value(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    "expression",
    [
        "ts", "ts[1:]", "grid[0]", "rows", "rows[0]", "[r for r in rows][0]", "out[0]", "either", "parts", "parts[1:]",
        "quantiles", "found", "torch.split(x, 2)", "x.max(0)", "x.nonzero(as_tuple=True)", "later", "rest", "u.max()",
        "F.max_pool2d(x, 2, return_indices=True)", "F.max_pool2d_with_indices(x, 2)", "call", "call(x)", "pair",
        "pair[0]", "torch.unique(x, return_counts=True)", "x or ts", "x if u else [x]", "torch.linalg.svd(x)",
        "x.max", "x.tolist()", "world", "list(x)",
    ],
)  # fmt: skip
def test_what_may_be_no_tensor_has_a_length_of_its_own(kinds: Any, expression: Any) -> None:
    assert _value(kinds, f"len({expression})").kind == "plain"
    assert not kinds.surely_tensor(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    "expression",
    [
        "x", "ts[0]", "ts[1:][0]", "rows[0][0]", "out[0][1]", "parts[0]", "values", "found[0]", "column", "padded",
        "x.max(0)[0]", "x.sum()", "x.unique()", "x.nonzero()", "x.t() + u", "optional", "batch", "torch.cat(ts)", "x.T",
        "x if u else x[0]", "[x, *ts][0]",
    ],
)  # fmt: skip
def test_what_is_a_tensor_on_every_path_has_a_first_size(kinds: Any, expression: Any) -> None:
    assert _value(kinds, f"len({expression})").kind == "int"


@pytest.mark.parametrize(
    "owner",
    ["pg", "mesh", "array", "array[0]", "array.T", "config", "meta", "world", "group", "table", "settings",
     "maybe_group", "process_group", "self.tp_group", "self.device_mesh", "x.numpy()", "np.zeros(2)"],
)  # fmt: skip
def test_what_is_no_tensor_has_no_symbolic_size(kinds: Any, owner: Any) -> None:
    assert _value(kinds, f"{owner}.size()").kind not in ("int", "shape")
    assert _value(kinds, f"{owner}.size() == 1").kind == "plain"
    if "group" not in owner and "mesh" not in owner:
        assert _value(kinds, f"{owner}.shape[0] + {owner}.numel()").kind == "plain"


@pytest.mark.parametrize(
    "owner",
    ["x", "q", "like", "u", "anything", "meta.block_tables", "config.weights[0]", "config['weight']", "world.tensor",
     "meta.get('key')", "x.untyped_storage()", "self.weight", "dist.nn.functional.all_gather(x)[0]", "self.groups"],
)  # fmt: skip
def test_what_may_be_a_tensor_or_its_storage_keeps_its_sizes(kinds: Any, owner: Any) -> None:
    assert _value(kinds, f"{owner}.size()").kind == "shape"
    assert _value(kinds, f"{owner}.numel() == 0").kind == "bool"


@pytest.mark.parametrize(
    "condition",
    ["u.max() < x.shape[1]", "self.outliers[-1].max() < x.shape[1]", "x.shape[0] == self.lengths.sum()",
     "x[0] > x.numel()", "u.any() == x.size(0)", "u.argmax(-1) >= x.size(0)", "u.norm() * 2 > x.numel()",
     "torch.special.i0(u) > x.numel()",
     "torch.sparse.sum(u) > x.numel()", "max(u.sum(-1)) > x.numel()", "x.shape[0] in u.mean()"],
)  # fmt: skip
def test_a_comparison_with_what_may_be_a_tensor_is_no_question_about_sizes(kinds: Any, condition: Any) -> None:
    assert _value(kinds, condition).kind == "tensor"


@pytest.mark.parametrize(
    "condition",
    ["u.count > x.shape[1]", "config.size > x.shape[1]", "max(u, 2) < x.shape[1]", "u.max().item() < x.shape[1]",
     "array.max() < x.shape[1]", "math.prod(x.shape) > u",
     "quantiles[0] == x.numel()"],
)  # fmt: skip
def test_a_comparison_of_a_size_with_a_number_is_one(kinds: Any, condition: Any) -> None:
    assert _value(kinds, condition).kind == "bool"


@pytest.mark.parametrize("argument", ["n", "sym_float(n)", "torch.sym_float(n)", "1.0 / float(n)", "float(x.size(0))"])
def test_a_root_of_a_size_made_real_fixes_it_all_the_same(argument: Any) -> None:
    function = ast.parse(f"def f(x: Tensor, n: SymInt):\n    return math.sqrt({argument})\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = own_nodes(function)
    assert "root" in [site.kind for site in sites(nodes, Interpreter(function, nodes))]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("    if n > 0:\n        n = x.size(0) + n\n    return n\n", "plain"),
        ("    n = x.size(0)\n    if n > 0:\n        return n\n", "int"),
        ("    for _ in y:\n        if n > 0:\n            n = x.size(0)\n    return n\n", "int"),
    ],
)
def test_a_parameter_is_what_was_passed_until_it_is_assigned(body: str, kind: str) -> None:
    tree = ast.parse("def f(x: Tensor, y: list[str], n: Optional[int]):\n" + body)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function), {})
    test = next(node.test for node in ast.walk(function) if isinstance(node, ast.If))
    assert isinstance(test, ast.Compare)
    assert values.value(test.left).kind == kind


@pytest.mark.parametrize(
    "body",
    [
        "    return [\n        len(x)\n        for x in y\n    ]\n",
        "    return {\n        k: len(x)\n        for k, x in y.items()\n    }\n",
        "    return [\n        len(x)\n        for n in y\n        if (x := n)\n    ]\n",
        "    return (\n        len(x)\n        if (x := y) else 0\n    )\n",
        "    with y as x:\n        return len(x)\n",
        "    with y as (x, n):\n        return len(x)\n",
        "    try:\n        y()\n    except TypeError as x:\n        return len(x)\n",
        "    import math as x\n    return len(x)\n",
        "    def x(): pass\n    return len(x)\n",
        "    def g():\n        nonlocal x\n        x = y\n    g()\n    return len(x)\n",
        "    match y:\n        case [x, *_]:\n            return len(x)\n",
        "    match y:\n        case str() as x:\n            return len(x)\n",
        "    match y:\n        case {1: 2, **x}:\n            return len(x)\n",
        "    parts = [x]\n    parts[0] = y\n    return len(parts[0])\n",
        "    parts = [x]\n    parts[:] = y\n    return len(parts[0])\n",
        "    parts = [x]\n    parts.append(y)\n    return len(parts[1])\n",
        "    parts = [x]\n    parts.insert(0, y)\n    return len(parts[0])\n",
        "    parts = []\n    parts.append(y)\n    parts.append(x)\n    return len(parts[0])\n",
        "    parts = [[x], [x]]\n    parts[0] = y\n    return len(parts[0][0])\n",
    ],
)
def test_what_is_bound_to_something_else_is_no_longer_surely_a_tensor(body: str) -> None:
    assert _length(body) == "plain"


@pytest.mark.parametrize(
    "body",
    [
        "    n = len(x)\n    return n, [\n        x\n        for x in y\n    ]\n",
        "    return [\n        len(x)\n        for n in y\n    ]\n",
        "    parts = [x]\n    parts[0] = x + 1\n    return len(parts[0])\n",
        "    parts = [x]\n    parts.append(x.t())\n    return len(parts[1])\n",
        "    with y as z:\n        return len(x)\n",
    ],
)
def test_what_is_bound_to_tensors_alone_is_one(body: str) -> None:
    assert _length(body) == "int"


def _length(body: str) -> str:
    function = ast.parse("def f(x: Tensor, y: list[str]):\n" + body).body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = own_nodes(function)
    call = next(node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "len")
    return Interpreter(function, nodes).value(call).kind


def test_a_value_that_was_told_is_told_anew_once_a_variable_changed() -> None:
    function = ast.parse("def f(x: Tensor, y: Foo):\n    n = y\n    use(n + 1)\n    n = x.shape[0]\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = own_nodes(function)
    values = Interpreter(function, nodes)
    used = next(node for node in nodes if isinstance(node, ast.BinOp))
    assert values.value(used).kind == "int"
    loop = ast.parse("[n for n in x]", mode="eval").body  # binds n to a Tensor too
    values.value(loop)
    assert values.value(used).kind == "tensor"


@pytest.mark.parametrize(
    ("owner", "kind"), [("ctx", "tensors"), ("self", "plain"), ("other", "plain"), ("ctx.inner", "plain")]
)
def test_what_a_context_saves_are_tensors(owner: str, kind: str) -> None:
    function = ast.parse(f"def backward(self, ctx, grad):\n    x, *y = {owner}.saved_tensors\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function), {})
    assert values.value(ast.parse(f"{owner}.saved_tensors", mode="eval").body).kind == kind
    assert values.surely_tensor(ast.Name("x", lineno=3)) is (kind == "tensors")


@pytest.mark.parametrize(("body", "kind"), [("torch.sym_int(step)", "float"), ("sym_float(step)", "plain")])
def test_what_a_function_takes_for_a_symbol_is_a_number_whatever_its_annotation_says(body: str, kind: str) -> None:
    function = ast.parse(f"def f(step: NumberType):\n    whole = {body}\n    return step\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function))
    assert values.value(ast.parse("step", mode="eval").body).kind == kind
