"""Since which release torch has the functions that rewrites call.

For each the first release that a source shows to have it; where none shows the first, a later one, so that nothing is
written that the declared minimum may lack. Sources: the trees of torch 1.13.1, which has none of them, and of 2.6.0
(torch/__init__.py, torch/fx/experimental/symbolic_shapes.py); the documentation of 2.1 (torch.sym_float, torch.sym_max,
which are listed with their kin), of 2.3 (torch.fx.experimental: sym_eq, guard_size_oblivious, statically_known_true),
of 2.4 (exportdb: torch._check, torch._check_is_size) and of 2.8 (guard_or_false, guard_or_true); the pull requests
pytorch/pytorch#106720 (expect_true, August 2023), #111440 (sym_ite, October 2023), #148430 (guard_or_false and
guard_or_true, still under review when 2.7 was branched) and #150456 (sym_and and sym_or, April 2025).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from codemod.model.findings import Level
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Rewrite

Release = tuple[int, int]

SINCE: Mapping[str, Release] = {
    **dict.fromkeys(("sym_float", "sym_int", "sym_max", "sym_min", "sym_not"), (2, 1)),
    **dict.fromkeys(("expect_true", "sym_ite"), (2, 2)),
    **dict.fromkeys(("sym_eq", "guard_size_oblivious", "statically_known_true"), (2, 3)),
    **dict.fromkeys(("_check", "_check_is_size", "_check_with", "_check_value", "_check_index", "_check_type"), (2, 4)),
    **dict.fromkeys(("_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with"), (2, 4)),
    "_sym_sqrt": (2, 6),
    **dict.fromkeys(("guard_or_false", "guard_or_true", "sym_and", "sym_or"), (2, 8)),
}

_NAME = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+)")
# What a string holds is no call.
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")


def release(text: str) -> Release | None:
    """The release that a version such as `2.4` or `2.4.1+cpu` belongs to; None where it is none."""
    match = re.match(r"v?(\d{1,3})(?:\.(\d{1,3}))?(?![\d])", text.strip(), re.ASCII)
    return (int(match[1]), int(match[2] or 0)) if match else None


def functions_named(text: str) -> set[str]:
    """The functions of the table that a piece of Python names."""
    return SINCE.keys() & set(_NAME.findall(_STRING.sub("''", text)))


def newer(names: Iterable[str], minimum: Release | None) -> list[tuple[str, Release]]:
    """Those of `names` that the release `minimum` lacks, sorted, with the release that has them; none for None."""
    if minimum is None:
        return []
    return sorted((name, SINCE[name]) for name in names if name in SINCE and SINCE[name] > minimum)


def released(rewrite: Rewrite, layout: Layout, used: set[str], minimum: Release | None) -> Rewrite:
    """The rewrite, a refusal where it calls what the oldest torch that the tree runs with does not have yet."""
    for change in rewrite.changes if minimum else ():
        used = used | (functions_named(change.text) - functions_named(layout.text(change.start, change.end)))
    late = newer(used, minimum) if rewrite.changes else []
    if not late or minimum is None:
        return rewrite
    since = ", ".join(f"{name} is of torch {major}.{minor}" for name, (major, minor) in late)
    reason = f"{since}, and this tree has to run with torch {minimum[0]}.{minimum[1]} (--min-torch)"
    return Rewrite(Level.MANUAL, rewrite.message, reason=reason, refusal="min-torch")
