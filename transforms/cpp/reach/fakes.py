"""Kernels that a fake or an override keeps symbols from: of an operator that has one, they see numbers alone.

torch/_subclasses/fake_tensor.py asks a registered fake before any kernel, and the dispatcher goes to a Meta kernel
before one of CompositeExplicitAutograd (c10/core/DispatchKey.h). CompositeImplicitAutograd is run before both, and is
traced, unless Python registers another under that key.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

from transforms.cpp.reading.facts import FileFacts, Registration
from transforms.python.reach.kernels import COMPOSITE, FAKE, PythonKernels

_EXPLICIT = re.compile(r"CompositeExplicit\w*")
_IMPLICIT = re.compile(r"|CatchAll|CompositeImplicitAutograd")


def with_symbols(
    facts: Mapping[str, FileFacts], python: Callable[[Iterable[str]], PythonKernels]
) -> Mapping[str, FileFacts]:
    """`facts` less the registrations that symbols do not get to.

    `python`, what Python registers of some kinds, is only asked where C++ registers composites.
    """
    registrations = [r for file in facts.values() for r in file.registrations if _kernel(r)]
    explicit = {_operator(r) for r in registrations if _EXPLICIT.fullmatch(r.key)}
    implicit = {_operator(r) for r in registrations if _IMPLICIT.fullmatch(r.key)}
    if not (explicit or implicit):
        return facts
    kernels = python([kind for kind, operators in ((FAKE, explicit), (COMPOSITE, implicit)) if operators])
    faked = explicit & (kernels.fakes | {_operator(r) for r in registrations if r.key == "Meta"})
    overridden = implicit & kernels.composites

    def reached(registration: Registration) -> bool:
        operator = _operator(registration)
        if operator in faked and _EXPLICIT.fullmatch(registration.key):
            return False
        return not (operator in overridden and _IMPLICIT.fullmatch(registration.key) and _kernel(registration))

    if not (faked or overridden):
        return facts
    return {
        path: dataclasses.replace(file, registrations=tuple(filter(reached, file.registrations)))
        for path, file in facts.items()
    }


def _kernel(registration: Registration) -> bool:
    """Whether it gives the operator a kernel, and no schema alone."""
    return bool(registration.operator and (registration.function or registration.inline))


def _operator(registration: Registration) -> str:
    """The name without its overload, which Python's registrations leave open."""
    return registration.operator.partition(".")[0]
