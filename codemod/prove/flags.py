"""The compiler's flags that a checkout's compile_commands.json tells for its sources."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from codemod.errors import SymfixError

NAME = "compile_commands.json"
# Flags with their value in the next argument, and those that stand alone.
_PAIRED = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-D", "-U")
_KEPT = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-D", "-U", "-std=", "-m", "-f")


def compile_flags(root: Path) -> dict[str, tuple[str, ...]]:
    """The flags for each source, by its path relative to `root`; empty where the checkout has no such file.

    Only what decides how a source is read is kept, with folders made absolute. See
    https://clang.llvm.org/docs/JSONCompilationDatabase.html. Raises SymfixError where the file cannot be read.
    """
    path = next((p for p in (root / NAME, root / "build" / NAME) if p.is_file()), None)
    if path is None:
        return {}
    try:
        found = {}
        for entry in json.loads(path.read_bytes()):
            folder = entry["directory"]
            source = os.path.normpath(os.path.join(folder, entry["file"]))
            if source.startswith(f"{root}/"):
                arguments = entry.get("arguments") or shlex.split(entry["command"])
                found[source[len(str(root)) + 1 :]] = tuple(_kept(arguments[1:], folder))
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SymfixError(f"{path}: not a compilation database: {error}; make it again, or remove it") from error


def _kept(arguments: list[str], folder: str) -> list[str]:
    flags = []
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        position += 1
        if argument in _PAIRED and position < len(arguments):
            argument += arguments[position] if argument in ("-I", "-D", "-U") else f"\0{arguments[position]}"
            position += 1
        elif not argument.startswith(_KEPT):
            continue
        flags += _absolute(argument, folder)
    return flags


def _absolute(argument: str, folder: str) -> list[str]:
    name, zero, value = argument.partition("\0")
    if zero:
        return [name, os.path.normpath(os.path.join(folder, value))]
    if argument.startswith("-I"):
        return ["-I" + os.path.normpath(os.path.join(folder, argument[2:]))]
    return [argument]
