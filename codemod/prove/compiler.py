"""The C++ compiler: sources type-checked, compiled and linked, each result cached under all that it depends on."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.documents import check, load_json
from codemod.borders.files import read_file
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.prove.isolate import Ended, Limits, run
from codemod.prove.run_folder import LOCK, run_folder

_LIMITS = Limits(seconds=600, memory=8 << 30, network=True)  # it may be a client that has other machines compile
_DIAGNOSTIC = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)
_INCLUDED_AT = re.compile(r"^(?:In file included from|\s+from) (.*?):(\d+)", re.M)
_NOTED_AT = re.compile(r"^(.*?):(\d+):(?:(\d+):)? +(?:required from|note:)", re.M)
_MANIFEST = {
    "error": (None, {"message": str, "places": [{"path": str, "line": int}]}),
    "dependencies": {Path: str},
}
_CACHE_BYTES = 4 << 30
# g++ takes FILE.gch in place of the FILE that it is the first to include: a memory image, which a tree may bring along.
# After the first token of C++ it takes none: https://gcc.gnu.org/onlinedocs/gcc/Precompiled-Headers.html.
_NO_PRECOMPILED = ";\n"
_KEY = 32  # digits in the names of cached files
_OBJECT = ("-c", "-O0", "-fPIC")

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A compiler's first error. `places` are (path, line) of it and of what led there, the error's own first."""

    message: str
    places: tuple[tuple[str, int], ...] = ()
    of_source: bool = True
    """False where the compiler itself failed, as when memory runs out: that is no verdict on the source."""

    def __str__(self) -> str:
        path, line = self.places[0] if self.places else ("", 0)
        return f"{path}:{line}: {self.message}" if path else self.message


@dataclass(frozen=True, slots=True)
class Unit:
    """One translation unit: `text`, usually an include of a source and what follows it, and the flags for it."""

    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler, and the folder where its results are cached."""

    command: tuple[str, ...]
    version: str
    cache: Path

    def check(self, unit: Unit) -> Diagnostic | None:
        """The first error in `unit`, None where it type-checks."""
        compiled = self._compile(unit, ("-fsyntax-only",), "")
        return compiled if isinstance(compiled, Diagnostic) else None

    def compile(self, unit: Unit) -> Path | Diagnostic:
        """The object file of `unit`, position independent and not optimised, or its first error."""
        return self._compile(unit, _OBJECT, ".o")

    def read_by(self, unit: Unit) -> frozenset[str]:
        """The files that `compile` made the object of `unit` from; none where that is not known."""
        try:
            document = load_json(read_file(self.cache / f"{self._key(unit, _OBJECT)}.json"), "manifest", "")
            check(document, _MANIFEST)
        except (OSError, ValueError, SymfixError):
            return frozenset()
        return frozenset(map(os.path.realpath, document["dependencies"]))

    def link(self, objects: Sequence[Path], flags: Sequence[str]) -> Path | Diagnostic:
        """The shared library of `objects`, or the linker's last line."""
        key = digest(self.version, *self.command, *flags, *(path.read_bytes() for path in objects))[:_KEY]
        library = self.cache / f"{key}.so"
        with _locks[str(library)]:
            if not library.is_file():
                staged = library.with_suffix(f".{os.getpid()}.so")
                command = [*self.command, "-shared", *map(str, objects), *flags, "-o", str(staged)]
                ended = _run_tool(command)
                if ended.code != 0:
                    return Diagnostic(ended.over or ended.last_line or "the linker failed without a message")
                staged.replace(library)
        os.utime(library)
        return library

    def _compile(self, unit: Unit, mode: tuple[str, ...], suffix: str) -> Path | Diagnostic:
        key = self._key(unit, mode)
        with _locks[key]:
            manifest, output = self.cache / f"{key}.json", self.cache / f"{key}{suffix or '.ok'}"
            cached = _load(manifest, output)
            return self._run(unit, self._command(unit, mode), key, output) if cached is None else cached

    def _command(self, unit: Unit, mode: tuple[str, ...]) -> list[str]:
        return [*self.command, *mode, "-w", "-fmax-errors=1", *unit.flags]

    def _key(self, unit: Unit, mode: tuple[str, ...]) -> str:
        return digest(self.version, *self._command(unit, mode), unit.text)[:_KEY]

    def _run(self, unit: Unit, command: list[str], key: str, output: Path) -> Path | Diagnostic:
        self.cache.mkdir(parents=True, exist_ok=True)
        source, needed = self.cache / f"{key}.cpp", self.cache / f"{key}.{os.getpid()}.d"
        source.write_text(_NO_PRECOMPILED + unit.text, encoding="utf-8", errors="surrogateescape")
        staged = output.with_name(f"{key}.{os.getpid()}{output.suffix}")
        target = ["-o", str(staged)] if output.suffix == ".o" else []
        try:
            ended = _run_tool([*command, "-MD", "-MF", str(needed), "-MT", "x", str(source), *target])
            if ended.code not in (0, 1):
                return Diagnostic(f"the compiler {ended.how}: {ended.over or ended.last_line}", of_source=False)
            error = first_error(ended.output, str(source)) if ended.code else None
            if error is not None and not error.of_source:
                return error
            if error is None:
                if not target:
                    staged.write_bytes(b"")
                staged.replace(output)
            if error is not None:  # g++ writes no dependencies where it stops at an error: ask for them alone
                _run_tool([*command, "-M", "-MG", "-MF", str(needed), "-MT", "x", str(source)])
            dependencies = _dependencies(needed, [flag[2:] for flag in command if flag.startswith("-I")])
            dependencies.pop(str(source), None)  # the unit is in the key, and gone when this returns
            if dependencies:
                _save(self.cache / f"{key}.json", error, dependencies)
            return output if error is None else error
        finally:
            for path in (source, needed, staged):
                path.unlink(missing_ok=True)


def find_compiler(cache: Path) -> Compiler:
    """The compiler of $CXX, by default g++, c++ or clang++; its results go to the folder `cache`.

    Raises SymfixError where there is none.
    """
    named = os.environ.get("CXX", "")
    for candidate in [named] if named else ["g++", "c++", "clang++"]:
        command = tuple(shlex.split(candidate))
        version = _version(command)
        if version:
            return Compiler(command, version, cache)
    if named:
        raise SymfixError(f"$CXX: {named}: cannot be run; set it to a C++ compiler")
    raise SymfixError("there is no C++ compiler (g++, c++, clang++); install one, or name it with $CXX")


def forget_old(cache: Path) -> None:
    """Remove what was not used for longest from the folder `cache`, until it holds no more than 4 GB."""
    entries = []
    for path in cache.glob("*") if cache.is_dir() else ():
        try:
            state = path.stat()
        except OSError:
            continue
        entries.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= _CACHE_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size


def _run_tool(command: Sequence[str]) -> Ended:
    """Run the compiler, with a folder for its temporary files: it leaves them where it is killed."""
    with run_folder() as folder:
        return run(command, _LIMITS, {**os.environ, "TMPDIR": str(folder)}, held=folder / LOCK)


def _version(command: tuple[str, ...]) -> str:
    try:
        result = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, timeout=60)
        return result.stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return ""


def first_error(output: str, source: str) -> Diagnostic:
    """The first error that g++ or clang++ reports in `output`; places in `source`, the unit, are left out."""
    error = _DIAGNOSTIC.search(output)
    if error is None:
        lines = output.strip().splitlines() or ["the compiler failed without a message"]
        # g++ reports a cc1plus that was killed with an error of no place, and exit code 1.
        return Diagnostic(next((line for line in lines if "error:" in line), lines[-1]), of_source=False)
    places = [(error[1], int(error[2]))]
    places += ((match[1], int(match[2])) for match in _INCLUDED_AT.finditer(output))
    places += ((match[1], int(match[2])) for match in _NOTED_AT.finditer(output))
    distinct = tuple(dict.fromkeys((path, line) for path, line in places if path != source))
    return Diagnostic(error[4], distinct)


def _load(manifest: Path, output: Path) -> Path | Diagnostic | None:
    """The result of an earlier run, None where there is none or a file that it was made from has changed."""
    try:
        document = load_json(read_file(manifest), str(manifest), "")
        check(document, _MANIFEST)
        if any(_state(path) != state for path, state in document["dependencies"].items()):
            return None
        if document["error"] is not None:
            places = tuple((place["path"], place["line"]) for place in document["error"]["places"])
            return Diagnostic(document["error"]["message"], places)
        os.utime(manifest)
        os.utime(output)
        return output
    except (OSError, ValueError, SymfixError):
        return None


def _save(manifest: Path, error: Diagnostic | None, dependencies: Mapping[str, str]) -> None:
    places = [{"path": path, "line": line} for path, line in error.places] if error is not None else []
    document = {
        "error": None if error is None else {"message": error.message, "places": places},
        "dependencies": dict(sorted(dependencies.items())),
    }
    staged = manifest.with_name(f"{manifest.stem}.{os.getpid()}.tmp")
    staged.write_text(json.dumps(document), encoding="ascii")
    staged.replace(manifest)


def _dependencies(needed: Path, include: Sequence[str]) -> dict[str, str]:
    """The state of each file in a make rule; of a header that is not found, that no folder has it which was looked in:

    one of `include`, or that of a file which may include it by a relative path.
    """
    try:
        text = needed.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return {}
    names = re.findall(r"(?:\\.|\S)+", text.replace("\\\n", " ").partition(":")[2])
    paths = [re.sub(r"\\(.)", r"\1", name) for name in names]
    states = {path: _state(path) for path in paths}
    missing = [path for path, state in states.items() if not state and not os.path.isabs(path)]
    folders = dict.fromkeys([*include, *(os.path.dirname(path) for path in paths if states[path])] if missing else ())
    for name in missing:
        del states[name]
        states |= dict.fromkeys((f"{folder}/{name}" for folder in folders), "")
    return states


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"
