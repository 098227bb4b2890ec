"""A Tensor that is made of sizes is made by torch.tensor, which keeps them symbolic where Dynamo traces it.

    torch.as_tensor([h, w], device=x.device)    torch.tensor([h, w], device=x.device)
    torch.LongTensor([n])                       torch.tensor([n], dtype=torch.int64, device="cpu")

What it does: `torch.as_tensor` and `torch.asarray` of numbers, or of a list or tuple, and the constructors
`torch.Tensor`, `torch.LongTensor` and their kin of a list or tuple make new Tensors of what they are given, and so does
`torch.tensor`. The constructors make them on the CPU whatever the default device is; where the Tensor goes to a device
at once, none is written. Left is what may be a Tensor itself, which `as_tensor` gives back as it is (a parameter that
has no annotation may, whatever the tree's own calls pass), and what else is passed along.

Why: Dynamo knows `torch.tensor` alone of them; the others make constants of the sizes: torch 2.13 compiles again for
each size, and fails where the size is not known. `torch.jit.trace` keeps of all what it keeps of one, a number that is
the whole content.

Fix safety: review.

References: torch/_dynamo/variables/torch.py (handle_torch_tensor), torch/csrc/utils/tensor_new.cpp (as_tensor,
legacy_tensor_ctor).
"""

from __future__ import annotations

import ast

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called, named_parameters
from transforms.python.flow.torch_names import CONSTRUCTORS
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "copied-size"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 208
EXAMPLES = (
    Example("@torch.compile\ndef f(x: Tensor):\n    return torch.tensor(x.shape)\n", None, "Dynamo keeps the sizes"),
    Example(
        "@torch.compile\ndef f(x: Tensor):\n    return torch.Tensor(x.shape)\n", None, "of that shape, and no content"
    ),
    Example(
        "@torch.compile\ndef f(x: Tensor):\n    return torch.as_tensor([x.size(1), 2], device=x.device)\n",
        "@torch.compile\ndef f(x: Tensor):\n    return torch.tensor([x.size(1), 2], device=x.device)\n",
    ),
)

MESSAGE = "a Tensor is made of a size"
_MOVING = frozenset({"to", "cuda"})


def rewrite(place: Place) -> Rewrite | None:
    """The call of torch.tensor; None for other sites."""
    node = place.site.node
    if place.site.kind != "copied" or not isinstance(node, ast.Call):
        return None
    (content,), name, torch = node.args, called(node), place.names.torch
    given = {keyword.arg for keyword in node.keywords}
    written = isinstance(content, (ast.List, ast.Tuple, ast.ListComp))
    if not (given <= {"dtype", "device"} if name not in CONSTRUCTORS else not given):
        raise Undecided("torch.tensor, which keeps sizes, does not take all that is passed here")
    if not written and not (place.site.value.numbers and _is_no_others(place, content)):
        raise Undecided("torch.tensor keeps sizes, and this may be a Tensor, which it would copy")
    start, end = place.layout.start(node.func), place.layout.end(node.func)
    changes = [Change(start, end, f"{torch}.tensor")]
    if name in CONSTRUCTORS:
        device = "" if _is_moved(place, node) else ', device="cpu"'
        behind = place.layout.end(content)
        changes.append(Change(behind, behind, f", dtype={torch}.{CONSTRUCTORS[name]}{device}"))
    return Rewrite(Level.REVIEW, MESSAGE, tuple(changes))


def _is_no_others(place: Place, content: ast.expr) -> bool:
    """Whether a value is no parameter that callers outside of the tree may give a Tensor for."""
    untyped = {parameter.arg for parameter in named_parameters(place.function.args) if parameter.annotation is None}
    return place.function.name.startswith("_") or not isinstance(content, ast.Name) or content.id not in untyped


def _is_moved(place: Place, node: ast.Call) -> bool:
    """Whether a new Tensor goes to a device at once: `torch.LongTensor([n]).to(x.device)`."""
    for method in place.nodes:
        if isinstance(method, ast.Call) and isinstance(method.func, ast.Attribute) and method.func.value is node:
            where = [ast.unparse(each) for each in (*method.args, *method.keywords)]
            return method.func.attr in _MOVING and all("device" in text for text in where[:1])
    return False
