"""Operators that nothing traces with symbolic sizes, and the composite ones that their backward formulas alone call.

`fake_quantize_per_channel_affine_cachemask` has kernels for CPU and CUDA and no fake: tracing stops there, so that the
composite `…_cachemask_backward` of its formula never sees a symbol. Functions of FunctionsManual.cpp are not meant: an
operator can be given a decomposition in Python beside the fake of the other one, they have no other way than C++.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from codemod.model.transform import Project
from codemod.planning.naming import base_name
from transforms.cpp.reach.reached import SYMBOLIC_KEYS, left_out
from transforms.cpp.reach.vocabulary import base_name as without_suffix
from transforms.cpp.reading.facts import FileFacts
from transforms.schema import references
from transforms.schema.derivatives import Derivative, Derivatives
from transforms.schema.native_functions import NativeFunctions

_CALL = re.compile(r"\b(\w+)\s*\(")


def untraceable_operators(
    project: Project, facts: Mapping[str, FileFacts], own: NativeFunctions | None
) -> frozenset[str]:
    """The base names of the operators of a PyTorch checkout that have kernels for backends alone.

    Those that its tables in Python so much as mention are left out; a checkout without these tables tells of none.
    """
    paths = [path for path in project.files((".py",)) if path.startswith(references.FOLDERS)] if own is not None else []
    if own is None or not paths:
        return frozenset()
    mentioned = frozenset[str]().union(*project.facts(references.mentions, paths).values())
    return references.untraceable({*mentioned, *_registered(facts)}, own.entries)


def alone_in_formulas(
    facts: Mapping[str, FileFacts], untraceable: Collection[str], formulas: Derivatives | None
) -> dict[str, Derivative]:
    """What formulas of `untraceable` operators call, and neither another formula nor C++ does, by base name.

    Each comes with an entry whose formula calls it.
    """
    callers: dict[str, list[Derivative]] = {}
    for entry in formulas.entries if formulas is not None else ():
        for _, formula in entry.formulas:
            for name in _CALL.findall(formula):
                callers.setdefault(without_suffix(name)[0], []).append(entry)
    candidates = {
        name: entries[0]
        for name, entries in callers.items()
        if all(entry.schema.base in untraceable for entry in entries)
    }
    called = set(_called(facts)) if candidates else set()
    return {name: entry for name, entry in candidates.items() if name not in called}


def _called(facts: Mapping[str, FileFacts]) -> Iterator[str]:
    for path, file in facts.items():
        if not left_out(path):
            for function in (*file.functions, *file.generated):
                for call in function.calls:
                    yield without_suffix(call.callee.split("<")[0].rpartition("::")[2])[0]


def _registered(facts: Mapping[str, FileFacts]) -> Iterator[str]:
    """The operators that C++ registers a kernel for which symbolic tensors reach."""
    for path, file in facts.items():
        for registration in file.registrations if not left_out(path) else ():
            if registration.operator and SYMBOLIC_KEYS.match(registration.key) is not None:
                yield base_name(registration.operator)
