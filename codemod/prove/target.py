"""The target: the interpreter that operators are run in, and the torch that is installed there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from codemod.borders.documents import fit, load_json
from codemod.borders.files import read_file
from codemod.borders.private import kept_folder
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.prove import companions
from codemod.terminal import one_line
from codemod.tree.checkout import user_cache

_SECONDS = 120

# Finds torch without importing it, which takes seconds.
_LOCATE = """
import importlib.util, json, platform, sys, sysconfig
spec = importlib.util.find_spec("torch")
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
print(json.dumps([platform.python_version(), sysconfig.get_path("include"), spec and spec.origin, missing]))
"""
_ASK = """
import json, torch
print(json.dumps([torch.__version__, bool(torch._C._GLIBCXX_USE_CXX11_ABI)]))
"""
_CACHED = {
    "python": str, "python_version": str, "python_include": str, "package": str, "torch_version": str,
    "cxx11_abi": bool, "standard": str,
}  # fmt: skip
_VERSION_HEADERS = ("torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h")
_VERSION = re.compile(r'#define TORCH_VERSION\s*\\?\s*"((\d+)\.(\d+)[^"]*)"')
_INSTALLED = re.compile(r"^__version__ = '([^']+)'", re.M)
_STANDARD = re.compile(r"common_cflags \+= \['-std=(c\+\+\w+)'")


@dataclass(frozen=True, slots=True)
class Target:
    """One interpreter with torch. `standard` is the C++ standard that this torch builds extensions with."""

    python: str
    python_version: str
    python_include: str
    package: str
    """The folder `torch`."""
    torch_version: str
    cxx11_abi: bool
    standard: str
    missing: tuple[str, ...] = ()
    """The packages without which PyTorch's samples are not there."""
    support: str = ""
    """The folder that has such packages beside the interpreter's own; "" for none."""

    @property
    def include(self) -> tuple[str, ...]:
        """The folders of torch's headers and of Python's."""
        folder = f"{self.package}/include"
        return folder, f"{folder}/torch/csrc/api/include", self.python_include

    @property
    def libraries(self) -> str:
        """The folder of torch's shared libraries."""
        return f"{self.package}/lib"


def find_target(python: Path | None, imported: bool = True) -> Target:
    """The target in the interpreter `python`, by default that of the active virtual environment, else symfix's own.

    What importing torch shows is cached until the installed torch changes. Unless `imported`, torch is not imported (it
    may be the checkout's own code): its files hold what a compiler needs.
    Raises SymfixError where there is no interpreter, or none that imports torch.
    """
    path = python or _default_python()
    if path.exists():  # else a name that is looked for in $PATH
        path = path.absolute()
    version, include, origin, absent = ask(path, _LOCATE, 4, *companions.NAMES)
    if origin is None:
        raise SymfixError(f"{path}: torch is not installed there; name an interpreter that has it with --python")
    target = _target_of(path, version, include, Path(origin).parent, imported)
    names = [name for name in companions.NAMES if isinstance(absent, list) and name in absent]
    support, missing = companions.added(path, version, names)
    return replace(target, support=support, missing=missing)


def after_import(target: Target) -> Target:
    """What `find_target` gives where torch is imported, for a target that it gave without.

    Raises SymfixError where torch cannot be imported.
    """
    path, package = Path(target.python), Path(target.package)
    shown = _target_of(path, target.python_version, target.python_include, package, imported=True)
    return replace(shown, support=target.support, missing=target.missing)


def _target_of(path: Path, version: str, include: str, package: Path, imported: bool) -> Target:
    """The target of the `package` torch that an interpreter has; see `find_target`."""
    cached = _cache_file(path, package)
    try:
        document = load_json(read_file(cached), str(cached), "")
        fit(document, _CACHED, str(cached), "")
        target = Target(**document)
        if target.python_version == version:
            return target
    except (OSError, SymfixError):
        pass
    if not imported:
        return Target(str(path), version, include, str(package), *_read(package), _standard(package))
    torch_version, abi = ask(path, _ASK, 2)
    target = Target(str(path), version, include, str(package), torch_version, abi, _standard(package))
    with contextlib.suppress(OSError):  # asked again next time
        kept = asdict(target)
        cached.write_text(json.dumps({name: kept[name] for name in _CACHED}), encoding="ascii")
    return target


def target_of_headers(include: Sequence[Path]) -> Target | None:
    """The target of sources that are only type-checked, where a folder of `include` has torch's headers, else None."""
    for folder in include:
        for name in _VERSION_HEADERS:
            try:
                match = _VERSION.search((folder / name).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if match is not None:
                version, major, minor = match[1], int(match[2]), int(match[3])
                standard = "c++17" if (major, minor) < (2, 11) else "c++20"
                python = sysconfig.get_path("include")
                return Target(sys.executable, "", python, str(folder.parent), version, True, standard)
    return None


def _default_python() -> Path:
    environment = os.environ.get("VIRTUAL_ENV")
    candidate = Path(environment, "bin", "python") if environment else None
    return candidate if candidate is not None and candidate.exists() else Path(sys.executable)


def ask(python: Path, program: str, fields: int, *arguments: str) -> list[Any]:
    """The JSON list of so many `fields` that `program` prints in `python`, given `arguments`.

    A module that stands in the current folder is not found. Raises SymfixError where there is no such answer.
    """
    try:
        result = subprocess.run(
            [str(python), "-I", "-c", program, *arguments],
            capture_output=True, text=True, timeout=_SECONDS, check=False, cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SymfixError(f"{python}: no answer within {_SECONDS} s; --python takes a Python interpreter") from None
    except OSError as error:
        raise SymfixError(f"{python}: cannot be run: {error.strerror}; --python takes a Python interpreter") from error
    if result.returncode:
        last = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
        raise SymfixError(f"{python}: torch cannot be imported there: {one_line(last)}")
    try:
        answer = json.loads(result.stdout.splitlines()[-1])
    except (ValueError, IndexError, RecursionError):
        answer = None
    if not isinstance(answer, list) or len(answer) != fields:
        raise SymfixError(f"{python}: is no Python interpreter; --python takes one that has torch")
    return answer


def _read(package: Path) -> tuple[str, bool]:
    """The version of the installed torch, and whether it has the new ABI of libstdc++, as its CMake files say.

    Raises SymfixError where its version is not found.
    """
    try:
        match = _INSTALLED.search((package / "version.py").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        match = None
    if match is None:
        raise SymfixError(f"{package}: is no installed torch; name an interpreter that has it with --python")
    try:
        cmake = (package / "share/cmake/Torch/TorchConfig.cmake").read_text(encoding="utf-8")
    except (OSError, ValueError):
        cmake = ""
    return match[1], "-D_GLIBCXX_USE_CXX11_ABI=0" not in cmake


def _cache_file(python: Path, package: Path) -> Path:
    states = []
    for name in ("version.py", "lib/libtorch_cpu.so"):
        with contextlib.suppress(OSError):
            status = os.stat(package / name)
            states.append(f"{name} {status.st_mtime_ns} {status.st_size} {status.st_ino}")
    base = user_cache()
    folder = kept_folder(base / "prove" / "targets", base)
    return folder / f"{digest(str(python.absolute()), *states)[:24]}.json"


def _standard(package: Path) -> str:
    """The C++ standard in torch/utils/cpp_extension.py, c++17 (that of torch 2.1 to 2.10) where it is not found."""
    try:
        text = (package / "utils" / "cpp_extension.py").read_text(encoding="utf-8")
    except OSError:
        return "c++17"
    match = _STANDARD.search(text)
    return match[1] if match is not None else "c++17"
