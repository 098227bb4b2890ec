"""What a call does to the memory of the tensors that it is given: writes it, gives it back, or makes new memory."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import all_nodes, called, dotted
from transforms.python.flow.sources import Function
from transforms.python.flow.torch_names import GUARDS, METHODS, TENSOR_MODULES, TORCH_MODULES
from transforms.python.writing.held import binds
from transforms.python.writing.place import Place

# Where the functions of torch.nn.functional that may write what they are given are told so by place.
_INPLACE = {
    "relu": 1, "relu6": 1, "mish": 1, "selu": 1, "silu": 1, "hardsigmoid": 1, "hardswish": 1, "celu": 2, "elu": 2,
    "leaky_relu": 2, "threshold": 3, "dropout": 3, "dropout1d": 3, "dropout2d": 3, "dropout3d": 3, "alpha_dropout": 3,
    "feature_alpha_dropout": 3, "hardtanh": 3, "rrelu": 4,
}  # fmt: skip
# Functions and methods whose results are no views of what they are given: native_functions.yaml, without an alias.
_NEW = re.compile(
    r"^(?:clone|pad|constant_pad_nd|(?:\w+_)?(?:zeros|ones|empty|full|rand|randn)(?:_like)?|new_tensor|cat|concat|stack"
    r"|hstack|vstack|where|matmul|mm|bmm|addmm|baddbmm|linear|bilinear|(?:conv|(?:max|avg)_pool|conv_transpose)[123]d"
    r"|(?:layer|batch|group|instance|rms)_norm|scaled_dot_product_attention|(?:log_)?softmax|log_sigmoid|sigmoid|tanh"
    r"|relu|gelu|silu|elu|exp|log|sqrt|rsqrt|square|pow|neg|abs|sin|cos|add|sub|mul|div|floor|ceil|round|clamp|maximum"
    r"|minimum|sum|mean|prod|amax|amin|argmax|argmin|var|std|cumsum|cumprod|gather|index_select|masked_(?:fill|select)"
    r"|repeat|repeat_interleave|roll|flip|tri[ul]|outer|topk|sort|one_hot|embedding|i?r?fftn?|tolist|eq|ne|lt|le|gt|ge|max|min|all|any|int|float|bool"
    r"|item)$"
)
_CONVERTING = frozenset({"int", "float", "bool"})
_CHOOSING = frozenset({"max", "min"})
"""Builtins that give one of what they are given."""
_NEW_LAYERS = re.compile(
    r"^(?:Conv(?:Transpose)?[123]d|Linear|Bilinear|Embedding|(?:Layer|Group|RMS)Norm|(?:Batch|Instance)Norm[123]d"
    r"|(?:Max|Avg)Pool[123]d|GELU|Sigmoid|Tanh)$"
)
_TELLING = (METHODS.keys() - {"item", "join", "get", "format"}) | GUARDS.keys()
_HOLDING = frozenset(
    {"list", "tuple", "reversed", "zip", "enumerate", "iter", "next", "sorted", "dict", "set", "filter", "getattr",
     "cast", "annotate", "copy"}
)  # fmt: skip
# What changes a tensor itself, and not only what its memory holds: a view is another tensor.
_OF_THE_TENSOR = re.compile(
    r"^(?:(?:resize|(?:un)?squeeze|transpose|swap|as_strided|set|requires_grad|detach|rename|share_memory)\w*_|t_"
    r"|retain_grad|register_hook|backward)$"
)
_GATHERING = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "save_for_backward"})
"""Methods of containers, and of what autograd hands a function, that keep what they are given as it is."""
_OF_TORCH = re.compile(
    r"^(?:torch\.nn\.|nn\.)?Module$|^(?:torch\.)?nn\.\w+$|^(?:object|ABC|abc\.ABC|Generic|Protocol)$"
)
"""Bases that hold no layers but their own."""
_SHOWN = re.compile(r"\binplace\s*=\s*(?!False\b)\S")


def tells(call: ast.Call) -> bool:
    """Whether a call asks for a shape or a kind, and not for values."""
    return called(call) in _TELLING


def holds(call: ast.Call) -> bool:
    """Whether a builtin gives what it is given, in a container or out of one."""
    return isinstance(call.func, ast.Name) and call.func.id in _HOLDING


def made_for_effect(node: ast.expr) -> Iterator[ast.Call]:
    """The calls of an expression whose result nobody takes that are made for what they do."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call):
        yield node
        parts = node.args if holds(node) else []
    elif isinstance(node, (ast.Await, ast.Starred)):
        parts = [node.value]
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = node.elts
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        parts = [node.elt]
    for part in parts:
        yield from made_for_effect(part)


def only_reads(call: ast.Call) -> bool:
    """Whether a call that is made for what it does is known to leave the values that it is given as they are."""
    gathers = isinstance(call.func, ast.Attribute) and call.func.attr in _GATHERING
    prints = isinstance(call.func, ast.Name) and call.func.id == "print"
    return gathers or prints or tells(call) or holds(call) or of_torch(call)


def of_torch(call: ast.Call) -> bool:
    """Whether a call is one of a function of torch that computes with tensors, as it is written."""
    owner = torch_name(call.func).rpartition(".")[0]
    module, _, rest = owner.partition(".")
    computes = not rest or TENSOR_MODULES.match(owner) is not None
    return (module in TORCH_MODULES and computes and not owner.startswith("torch.ops")) or owner == "nn.functional"


def makes_new(call: ast.Call) -> bool:
    """Whether a function of torch, or a method of a tensor, gives memory of its own.

    A method that converts gives back the tensor that needs no conversion; builtins of its name make numbers.
    """
    converts = isinstance(call.func, ast.Attribute) and call.func.attr in _CONVERTING
    chooses = isinstance(call.func, ast.Name) and call.func.id in _CHOOSING
    return _NEW.match(called(call)) is not None and not converts and not chooses


def writes_input(call: ast.Call) -> bool:
    """Whether a function is told to write what it is given: `F.relu(x, True)`, `f(x, inplace=flag)`."""
    inplace = [keyword.value for keyword in call.keywords if keyword.arg == "inplace"]
    index = _INPLACE.get(called(call))
    if index is not None and of_torch(call):
        inplace += call.args[index : index + 1]
    return any(not isinstance(value, ast.Constant) or value.value for value in inplace)


def grows_list(method: ast.Attribute, place: Place) -> bool:
    """Whether a method adds to a variable that is given nothing but lists that the function writes."""
    holder = method.value
    given = place.assigned(holder.id) if isinstance(holder, ast.Name) else []
    lists = bool(given) and all(isinstance(value, (ast.List, ast.ListComp)) for value in given)
    return lists and method.attr in ("append", "extend", "insert")


def written_by(function: ast.AST) -> Iterator[ast.Name]:
    """What a function in another one writes of that one's variables."""
    own = {node.arg if isinstance(node, ast.arg) else node.id for node in ast.walk(function) if binds(node)}
    alone = [node.value for node in ast.walk(function) if isinstance(node, ast.Expr)]
    effects = {call for value in alone for call in made_for_effect(value)}
    for node in ast.walk(function):
        target = node.target if isinstance(node, ast.AugAssign) else node
        stores = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        acts = isinstance(node, ast.Call) and (called(node).endswith("_") or writes_input(node))
        if stores or acts or isinstance(node, ast.AugAssign) or (node in effects and not only_reads(node)):
            names = (part for part in ast.walk(target) if isinstance(part, ast.Name))
            yield from (name for name in names if name.id not in own)


def of_the_tensor(method: str) -> bool:
    """Whether a method changes a tensor itself: its shape, its place in the graph of gradients."""
    return _OF_THE_TENSOR.match(method) is not None


@functools.lru_cache(maxsize=1)
def file_nodes(source: bytes) -> tuple[ast.AST, ...]:
    """All nodes of a file, the module first; none where Python's parser does not take it."""
    try:
        return tuple(all_nodes([ast.parse(source)]))
    except (SyntaxError, ValueError, RecursionError):
        return ()


class Layers:
    """What the class of a method, and its bases in the file, say of the layers that `self` holds."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @functools.cached_property
    def _classes(self) -> list[ast.ClassDef]:
        """The class and its bases at the top of the file; none for a function."""
        module, *nodes = file_nodes(self._place.layout.source) or [ast.Module([], [])]
        line = self._place.function.lineno
        pending = [n for n in nodes if isinstance(n, ast.ClassDef) and any(part.lineno == line for part in n.body)]
        top = [node for node in getattr(module, "body", ()) if isinstance(node, ast.ClassDef)]
        found: list[ast.ClassDef] = []
        while pending:
            current = pending.pop()
            if current not in found:
                found.append(current)
                pending += [node for node in top if node.name in map(_base, current.bases)]
        return found

    @functools.cached_property
    def _whole(self) -> bool:
        """Whether no base is of another file, but for those of torch."""
        bases = {_base(base) for node in self._classes for base in node.bases}
        return all(_OF_TORCH.match(base) for base in bases - {node.name for node in self._classes})

    @functools.cached_property
    def _given(self) -> dict[str, list[ast.expr]]:
        given: dict[str, list[ast.expr]] = {}
        for node in (node for tree in self._classes for node in ast.walk(tree)):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if dotted(target).startswith("self."):
                        given.setdefault(dotted(target), []).append(node.value)
        return given

    def methods(self, name: str) -> list[Function]:
        """The methods of that name."""
        members = (member for tree in self._classes for member in tree.body)
        return [m for m in members if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef)) and m.name == name]

    def writes(self, call: ast.Call) -> bool:
        """Whether a layer is one of torch's that is made to write what it is given."""
        return any(isinstance(value, ast.Call) and writes_input(value) for value in self._layer(call))

    def may_write(self, call: ast.Call) -> bool:
        """Whether what is written of a layer, or of the class where that is not to be seen, has it write in place.

        A layer that a base of another file holds may.
        """
        if layer := self._layer(call):
            return any(_SHOWN.search(ast.unparse(value)) for value in layer)
        holder, _, name = dotted(call.func).rpartition(".")
        if holder == "self" and not self.methods(name) and not self._whole:
            return True
        return any(_SHOWN.search(ast.unparse(tree)) for tree in self._classes)

    def makes_new(self, call: ast.Call) -> bool:
        """Whether a layer is one of torch's that gives memory of its own."""
        layer = self._layer(call)
        return bool(layer) and all(
            dotted(getattr(value, "func", value)).rpartition(".")[0] in ("nn", "torch.nn")
            and _NEW_LAYERS.match(called(value)) is not None
            for value in layer
        )

    def _layer(self, call: ast.Call) -> list[ast.expr]:
        return self._given.get(dotted(call.func), [])


def _base(base: ast.expr) -> str:
    """The name of a base, without what it is subscripted with."""
    return dotted(base.value if isinstance(base, ast.Subscript) else base)
