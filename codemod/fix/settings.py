"""Settings of torch that keep a size or a number in the graph, as a line behind the imports of a program."""

from __future__ import annotations

import ast

from codemod.fix.catching import parsed
from codemod.fix.nodes import offset
from codemod.fix.torch_names import torch_in
from codemod.model.edits import Edit
from codemod.probe.advice import DUCK_ADVICE, DUCK_SIZING
from codemod.probe.answers import Answer
from codemod.probe.breaks import SCALARS, setting_against
from codemod.probe.contraction import ORDER_ADVICE, ORDERED

_IMPORTS = (ast.Import, ast.ImportFrom)
_DYNAMO = "torch._dynamo.config."
_MODULES = (_DYNAMO, "torch.backends.", "torch.fx.experimental._config.")
_ADVISED = {ORDER_ADVICE: ORDERED, DUCK_ADVICE: DUCK_SIZING}
"""The setting that an advice names."""


def setting_for(answer: Answer) -> str:
    """The line of a program that may help against an answer, `torch._dynamo.config.… = True`; "" for none."""
    if answer.advice in _ADVISED:
        return _ADVISED[answer.advice]
    setting = setting_against(answer.text)
    return f"{_DYNAMO}{setting} = True" if setting else ""


def setting_edits(path: str, source: bytes, setting: str) -> tuple[Edit, ...]:
    """The edits of `path` that make a setting; none where the file names it, or has no place for it.

    Its place is behind the imports that the file begins with, of which one has to be torch's.
    """
    tree = parsed(source)
    if tree is None:
        return ()
    body = tree.body[1:] if tree.body and ast.get_docstring(tree, clean=False) is not None else tree.body
    count = next((n for n, statement in enumerate(body) if not isinstance(statement, _IMPORTS)), len(body))
    head, rest = body[:count], body[count : count + 1]
    torch = torch_in(path, source, tree)
    if torch is None or torch != torch_in(path, source, ast.Module([*head], [])) or _name(setting) in source:
        return ()
    last = head[-1].end_lineno or head[-1].lineno
    lines = source.splitlines(keepends=True)
    line = lines[last - 1]
    newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    if not line.endswith(newline) or (rest and rest[0].lineno == last):
        return ()
    end = offset(lines, last + 1, 0)
    text, start = torch.spelled(setting).encode(), end - len(newline)
    if SCALARS in setting:  # in front of the line's end, so that others have places of their own
        return (Edit(path, start, start, b"", newline * 2 + text), *torch.imported)
    if setting in _ADVISED.values():
        return (Edit(path, start, end, newline, newline * 2 + text + newline), *torch.imported)
    return (Edit(path, end, end, b"", newline + text + newline), *torch.imported)


def _name(setting: str) -> bytes:
    """The setting as any spelling has it."""
    name = setting.partition(" = ")[0]
    module = next(filter(name.startswith, _MODULES), "")
    return name.removeprefix(module).encode()
