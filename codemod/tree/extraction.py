"""The facts of one file as they are made in a worker process, and what they are kept under."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codemod.borders.files import read_below, read_file
from codemod.errors import SymfixError
from codemod.tree.cache import Kept, code_version, dependency_versions
from codemod.tree.digest import digest

Source = tuple[str, bytes]
"""The path and the bytes of a file."""


def extract_file(root: str, extract: Callable[..., Any], item: tuple[str, str, tuple[Any, ...]]) -> tuple[str, Kept]:
    """The sha256 of a file, and its facts in a new version; without bytes where the cache has them under their key.

    `item` is the path, the key that the cache has, and what is wanted of the file. Raises SymfixError where it cannot
    be read.
    """
    path, cached, asked = item
    try:
        source = read_source(root, path)
    except OSError as error:
        raise SymfixError(f"cannot be read: {error.strerror}") from error
    sha = hashlib.sha256(source).hexdigest()
    key = key_of(sha, asked)
    blob = b"" if key == cached else pickle.dumps(extract(path, source, *asked), pickle.HIGHEST_PROTOCOL)
    return sha, Kept(key, key, blob)


def read_source(root: str | Path, path: str) -> bytes:
    """The bytes of a file, relative to `root` or absolute. Raises OSError where it cannot be read."""
    return read_file(path) if os.path.isabs(path) else read_below(root, path)


def extractor_of(extract: Callable[..., Any]) -> str:
    """The name of what makes facts, with the version of the code that it rests on."""
    return versioned(f"{extract.__module__}.{extract.__qualname__}")


def versioned(name: str) -> str:
    """The dotted `name` of code, with a version that changes with all the code of its package."""
    version = f"{code_version(name.partition('.')[0])} {dependency_versions('symfix')}"
    return f"{name}@{hashlib.sha256(version.encode()).hexdigest()[:16]}"


def key_of(sha: str, asked: tuple[Any, ...]) -> str:
    """What facts are kept under: the sha256 of their file, and a digest of what was wanted of it."""
    return f"{sha} {digest(asked)}" if asked else sha


def key_of_source(code: hashlib._Hash, path: str, source: bytes) -> str:
    """What `code`, a digest that this changes, becomes with a file, as text that names both."""
    code.update(b"%b\0%b" % (os.fsencode(path), source))
    return code.hexdigest()


def version_of(made: Kept, facts: object, before: Kept | None) -> str:
    """The version of `facts`, those in `made`: that of the ones before where they are equal."""
    if made is not before and before is not None:
        with contextlib.suppress(Exception):  # damaged, or of values that have no digest
            if digest(pickle.loads(before.blob)) == digest(facts):
                return before.version
    return made.version
