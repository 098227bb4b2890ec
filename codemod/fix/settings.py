"""Settings of Dynamo that keep in the graph what breaks it, as a line behind the imports of a program."""

from __future__ import annotations

import ast

from codemod.fix.catching import parsed
from codemod.fix.marks import imports_torch
from codemod.fix.nodes import offset
from codemod.model.edits import Edit
from codemod.probe.breaks import SCALARS

_IMPORTS = (ast.Import, ast.ImportFrom)


def setting_edit(path: str, source: bytes, setting: str) -> Edit | None:
    """The edit of `path` that sets `torch._dynamo.config.SETTING`; None where it names it, or has no place for it.

    Its place is behind the imports that the file begins with, of which one has to be torch's.
    """
    tree = parsed(source)
    if tree is None:
        return None
    body = tree.body[1:] if tree.body and ast.get_docstring(tree, clean=False) is not None else tree.body
    count = next((n for n, statement in enumerate(body) if not isinstance(statement, _IMPORTS)), len(body))
    head, rest = body[:count], body[count : count + 1]
    if not imports_torch(ast.Module([*head], [])) or not imports_torch(tree) or setting.encode() in source:
        return None
    last = head[-1].end_lineno or head[-1].lineno
    lines = source.splitlines(keepends=True)
    line = lines[last - 1]
    newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    if not line.endswith(newline) or (rest and rest[0].lineno == last):
        return None
    end = offset(lines, last + 1, 0)
    text = b"torch._dynamo.config.%s = True" % setting.encode()
    if setting == SCALARS:  # in front of the line's end, so that another setting has a place of its own
        start = end - len(newline)
        return Edit(path, start, start, b"", newline * 2 + text)
    return Edit(path, end, end, b"", newline + text + newline)
