"""The script of a pull request: one of `codemod.runner.script`, which shows by itself what the evidence says."""

from __future__ import annotations

import textwrap

from codemod.bundle.observed import Cure, cure
from codemod.prove.evidence import Evidence

_MAIN = '\n\nif __name__ == "__main__":\n'
_GIVEN = ", given the compiled files of the library that importing it does not load"
_LOADING = "    for library in sys.argv[1:]:\n        torch.ops.load_library(library)\n"
_IMPORTS = "import sys\n\nimport torch\n"
_COUNTED = """\
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("{backend}")
    compiled = torch.compile(operator, dynamic=True, fullgraph=True, backend=counter)
    for n in sizes:
        torch.testing.assert_close({compiled}, {eager}, equal_nan=True)
    print("compiled", counter.frame_count, "times for the sizes", *sizes)
"""
_UNBACKED = """\
    from torch._dynamo.decorators import mark_unbacked
    from torch.utils._pytree import tree_leaves

    graph = torch.compile(operator, fullgraph=True, backend="{backend}")

    def compiled(*tensors):
        for tensor in tree_leaves(tensors):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                for dimension in range(tensor.dim()):
                    mark_unbacked(tensor, dimension)
        return graph(*tensors)

    n = sizes[0]
    torch.testing.assert_close({compiled}, {eager}, equal_nan=True)
    print("passes with unbacked sizes")
"""
_MAINS: dict[Cure, str] = {"compilations": _COUNTED, "unbacked": _UNBACKED}
_ENDS: dict[Cure, tuple[str, str]] = {
    "throws": ("throws", "passes"),
    "wrong": ("finds other values than eager", "passes"),
    "unbacked": ("fails", "passes"),
}


def script(evidence: Evidence) -> str:
    """The script, which prints what was seen; that of a user, or one that makes no graph to count, as it is."""
    head, main, body = evidence.repro.partition(_MAIN)
    if not main or not body.startswith(_LOADING):
        return evidence.repro
    body = body.removeprefix(_LOADING)
    wanted = _MAINS.get(cure(evidence))
    if wanted is not None and "\ndef symbolic(" not in head:
        value = "results({}, n)" if "\ndef results(" in head else "{}(*inputs(n))"
        values = {"compiled": value.format("compiled"), "eager": value.format("operator")}
        body = wanted.format(backend=evidence.backend, **values)
    # A library's Python may need its compiled operators when it is imported; PyTorch's are there.
    first = f"{_IMPORTS}\n{textwrap.dedent(_LOADING)}" if "::" in evidence.operator else "import torch\n"
    return head.replace(_IMPORTS, first, 1) + main + body


def ends(evidence: Evidence) -> str:
    """How the script ends before the change and after it, "" where it does not show the cure by itself."""
    kind, before, after = cure(evidence), evidence.before, evidence.after
    if before is None or after is None or _MAIN not in evidence.repro:
        return ""
    if kind in _MAINS and "\ndef symbolic(" in evidence.repro:
        return ""
    counts = f"prints compiled {before.frames} times", f"{after.frames} times"
    sides = counts if kind == "compilations" else _ENDS.get(kind)
    limitation = _GIVEN if "::" in evidence.operator else ""
    return f"{sides[0]} before this change, and {sides[1]} after it{limitation}" if sides else ""
