"""Type-checking C++ sources with $CXX, by default g++, each result kept by the content it rests on."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemod.digest import digest
from codemod.tree.checkout import user_cache

# Seconds of processor time for one source, which a busy machine does not use up; the slowest real one takes 15.
_LIMITED = ("sh", "-c", 'ulimit -t 240; exec "$@"', "sh")
COMPILER = os.environ.get("CXX") or "g++"
_ERROR = re.compile(r"^(.*?):(\d+):\d+: (?:fatal )?error: (.*)$", re.M)

SILENT = ("-w",)
WARNINGS = (
    "-Wall", "-Wextra", "-Wdeprecated", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-array-bounds",
    "-Wno-unknown-pragmas", "-Wno-strict-overflow", "-Wno-strict-aliasing", "-Wno-type-limits", "-Werror",
)  # fmt: skip
"""Those that PyTorch's CI builds with (its cmake/public/utils.cmake and CMakeLists.txt)."""
LIBRARY_FLAGS = (
    "-std=c++20", "-fPIC", "-O0", "-w", "-DTORCH_EXTENSION_NAME=symfix_extension", "-D_GLIBCXX_USE_CXX11_ABI=1",
    "-DNDEBUG",
)  # fmt: skip
"""With which `symfix prove` compiles a library; g++ passes over a header that was compiled with others."""


@cache
def compiler_version() -> str:
    """The first line of what the compiler says of its version, or "" where there is none."""
    try:
        said = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True).stdout
        return said.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def torch_include() -> Path | None:
    """The `include` folder of the installed torch, found without importing it; None where torch is absent."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "include"
    return folder if folder.is_dir() else None


@dataclass(frozen=True)
class Compiler:
    """How sources are checked: the C++ standard, the folders of headers beside the tree's own, and further flags."""

    standard: str
    headers: tuple[Path, ...]
    flags: tuple[str, ...] = ()
    tree_includes: tuple[str, ...] = ("aten/src", "")
    """Folders of the tree itself that are searched, before `headers`."""
    warnings: tuple[str, ...] = SILENT

    def check(self, root: Path, path: str, context: str) -> str:
        """The first error the compiler reports for the source `path` of the tree `root`, or "" where it type-checks.

        `context` names the state of the headers that it includes: results are kept by it, the bytes and the command.
        """
        includes = [f"-I{root / name}" for name in self.tree_includes]
        includes += [part for name in self.headers for part in ("-isystem", str(name))]
        command = [COMPILER, f"-std={self.standard}", "-fsyntax-only", *self.warnings, "-fmax-errors=1", *self.flags]
        kept = _kept(compiler_version(), *command, *map(str, self.headers), context, path, (root / path).read_bytes())
        if kept.is_file():
            return kept.read_text(encoding="utf-8")
        whole = [*_LIMITED, *command, *includes, str(root / path)]
        result = subprocess.run(whole, capture_output=True, check=False)
        error = _first_error(result.stderr.decode("utf-8", "replace"), root) if result.returncode else ""
        if result.returncode in (0, 1):  # a compiler that was killed says nothing about the source
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(error, encoding="utf-8")
        return error

    def check_all(self, root: Path, paths: Sequence[str], contexts: Mapping[str, str], jobs: int = 2) -> dict[str, str]:
        """`check` of every path in its context, `jobs` at a time, in the order given."""
        with ThreadPoolExecutor(jobs) as pool:
            return dict(zip(paths, pool.map(lambda path: self.check(root, path, contexts[path]), paths), strict=True))


def contents(root: Path, paths: Collection[str]) -> str:
    """A short hash of the bytes of `paths` below `root`; "" for none."""
    named = (part for path in sorted(paths) for part in (path, (root / path).read_bytes()))
    return digest(*named)[:16] if paths else ""


def _first_error(output: str, root: Path) -> str:
    found = _ERROR.search(output)
    if not found:
        return (output.strip().splitlines() or ["failed without a message"])[-1]
    return f"{found[1].removeprefix(f'{root}/')}:{found[2]}: {found[3]}"


def _kept(*parts: str | bytes) -> Path:
    return user_cache() / "compiled" / digest(*parts)
