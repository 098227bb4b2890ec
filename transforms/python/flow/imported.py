"""What names stand for that a file imports torch by: `torch` for `th`, `F.pad` for `pad`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from transforms.python.flow.nodes import written

_USUAL = {
    "torch": "torch",
    "torch.nn": "nn",
    "torch.nn.functional": "F",
    "torch.functional": "torch",
    "numpy": "np",
    **{f"torch.{space}": f"torch.{space}" for space in ("fft", "linalg", "special")},
}
"""The names that rules know modules by."""
_STANDS_FOR = "stands_for"


def meanings(imports: Iterable[tuple[str, str]], own: Collection[str]) -> dict[str, str]:
    """What imported names stand for, where they are not the usual ones: of (local name, dotted name of what it is).

    What is imported as `F`, `nn` or the like, and is no part of torch, stands for itself: `torchvision.….functional`.
    `own` are functions of the file, whose names are theirs.
    """
    meant: dict[str, str] = {}
    for name, target in imports:
        if name in own:
            continue
        holder, _, last = target.rpartition(".")
        if target in _USUAL:
            meant[name] = _USUAL[target]
        elif holder in _USUAL:
            meant[name] = f"{_USUAL[holder]}.{last}"
        elif name in _USUAL.values() and last != name and not target.startswith("torch."):
            meant[name] = target
    return {name: meaning for name, meaning in meant.items() if meaning != name}


def mark(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    nodes: Sequence[ast.AST],
    meant: Mapping[str, str],
    around: Collection[str] = (),
) -> None:
    """Note what the names of a function stand for, for `torch_name`; `around` are variables of enclosing functions."""
    if not meant:
        return
    signature = list(ast.walk(function.args))
    named = [node for node in (*nodes, *signature) if type(node) is ast.Name and node.id in meant]
    arguments = (node.arg for node in signature if isinstance(node, ast.arg))
    defined = (node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))
    bound = {*around, *arguments, *defined, *(node.id for node in named if not isinstance(node.ctx, ast.Load))}
    for node in named:
        if node.id not in bound:
            setattr(node, _STANDS_FOR, meant[node.id])


def usual_text(text: str, meant: Mapping[str, str]) -> str:
    """An expression as it is written, `th.Tensor`, with the names that its imports stand for: `torch.Tensor`."""
    return re.sub(r"(?<![\w.])[^\W\d]\w*", lambda name: meant.get(name[0], name[0]), text)


def annotation_text(node: ast.expr | None) -> str:
    """An annotation as `usual_text`; "" for none."""
    if node is None:
        return ""
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return usual_text(written(node), {name.id: getattr(name, _STANDS_FOR, name.id) for name in names})


def torch_name(node: ast.AST) -> str:
    """`torch.cat` or `F.pad`, by whatever name the file has it; other names and attributes as they are written.

    "" for anything but names and attributes.
    """
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join((getattr(node, _STANDS_FOR, node.id), *reversed(names))) if isinstance(node, ast.Name) else ""


def function_name(call: ast.Call, variables: Collection[str]) -> tuple[str, str]:
    """The module and the name of the function that is called, ("F", "pad").

    No module where it is an object's method or a name of no module that is known, no name where it is a variable.
    """
    function = call.func
    if isinstance(function, ast.Attribute):
        of_module = isinstance(function.value, ast.Name) and function.value.id not in variables
        return torch_name(function.value) if of_module else "", function.attr
    if not isinstance(function, ast.Name) or function.id in variables:
        return "", ""
    module, _, name = torch_name(function).rpartition(".")
    return module, name
