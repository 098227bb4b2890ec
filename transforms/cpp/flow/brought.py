"""Functions that a using-declaration lets code call by their names alone: `using at::infer_size;`.

It brings one name in, and not that of the `_symint` twin, which is to be written with the namespace.
"""

from __future__ import annotations

import re

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reading.tree import Node

_SCOPES = ("qualified_identifier", "field_expression")
"""What a name stands in that says where it is looked for."""


def reachable(flow: Flow, name: Node, old: str, new: str) -> str:
    """How the function `new` is called at `name`, where `old` is that of the same namespace."""
    around = name.parent
    if around is not None and around.kind in ("template_function", "template_method"):
        around = around.parent
    if around is None or around.kind in _SCOPES:
        return new
    pattern = rb"\busing\s+((?:::\s*)?(?:\w+\s*::\s*)+)%s\s*;" % re.escape(old.encode())
    brought = re.search(pattern, flow.root.source)
    return new if brought is None else "".join(brought[1].decode("utf-8", "replace").split()) + new
