"""What a library leaves undefined and the installed ones do not export: functions of other sources, to be built too."""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path

_TARGET = re.compile(r"lib(?:torch|c10)\w*\.so$")
_TEMPLATE = re.compile(r"<[^<>]*>")
# Of classes in the namespaces at, c10 and torch; those of the C++ library are elsewhere.
_TABLE = re.compile(r"_ZT[VI]N(?:2at|3c10|5torch)")
_SECONDS = 120


def missing(library: Path, installed: Path) -> set[str]:
    """The qualified names of the functions that `library` uses and neither it nor a library in `installed` has.

    Only torch's own libraries are looked at. Empty where nm and c++filt of GNU binutils are not to be had.
    """
    undefined = _names(library, "-u") - _exported(installed)
    if not undefined:
        return set()
    shown = _run(["c++filt"], "\n".join(sorted(undefined)))
    return {_qualified(line) for line in shown.splitlines() if "(" in line}


def missing_tables(library: Path, installed: Path) -> set[str]:
    """The mangled names of the vtables and type information that `library` uses and nobody has.

    They are of classes whose methods stand in sources that are generated. Functions may stay undefined until they are
    called, but a library that names such data does not load.
    """
    return {name for name in _names(library, "-u") - _exported(installed) if _TABLE.match(name)}


@functools.cache
def _exported(folder: Path) -> frozenset[str]:
    names: set[str] = set()
    for path in sorted(folder.glob("lib*.so")):
        if _TARGET.fullmatch(path.name):
            names |= _names(path, "--defined-only")
    return frozenset(names)


def _names(library: Path, which: str) -> set[str]:
    """The mangled names in a library's dynamic symbol table, without versions."""
    lines = _run(["nm", "-D", which, "--format=posix", str(library)]).splitlines()
    return {line.partition(" ")[0].partition("@")[0] for line in lines if line}


def _run(command: list[str], stdin: str = "") -> str:
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _qualified(signature: str) -> str:
    """`at::native::gemm` of `void at::native::gemm<double>(double const*)`."""
    text = signature
    while (shorter := _TEMPLATE.sub("", text)) != text:
        text = shorter
    return text.partition("(")[0].rpartition(" ")[2]
