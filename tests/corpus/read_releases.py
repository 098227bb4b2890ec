"""Write what each release of torch has as the data that symfix ships, from the wheels of the package index.

usage: read_releases.py [--first RELEASE] [--wheels DIR]

Of every release since RELEASE (1.13) the first wheel for macOS, which is small, is fetched, read and deleted, one after
another; nothing of it is run. DIR holds wheels that are not to be fetched. Prints the rows of each file of
transforms/releases, and its size. What is kept are facts: names, schemas, and types of parameters and results.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gzip
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from transforms.cpp.reach.headers import holds_vocabulary
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.releases.data import KINDS, MAGIC, SOURCES, Kind, generated, names_in, path_of
from transforms.releases.version import Release, release
from transforms.schema.entries import schemas
from transforms.schema.native_functions import COMPOSITE_IMPLICIT, load

PYTHONS = ("3.11", "3.10", "3.13")
PLATFORM = "macosx_15_0_arm64"  # and older ones: pip expands it
INCLUDE = "torch/include/"
YAML = "torchgen/packaged/ATen/native/native_functions.yaml"

Rows = dict[Kind, dict[str, list[str]]]
"""For each kind the rows of a release by their key, in order."""


def versions(first: Release) -> list[str]:
    """The lowest version of every release that the index has, since `first`, oldest first."""
    listed = _pip("index", "versions", "torch")
    line = next(line for line in listed.splitlines() if line.startswith("Available versions:"))
    lowest: dict[Release, tuple[int, ...]] = {}
    for version in line.partition(":")[2].split(","):
        match = re.fullmatch(r"\s*(\d+)\.(\d+)\.(\d+)", version)
        if match and (int(match[1]), int(match[2])) >= first:
            numbers = tuple(map(int, match.groups()))
            lowest[numbers[:2]] = min(numbers, lowest.get(numbers[:2], numbers))  # type: ignore[index, arg-type]
    return [".".join(map(str, numbers)) for _, numbers in sorted(lowest.items())]


def _pip(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip {' '.join(arguments)}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def fetch(version: str, folder: Path) -> Path:
    """The wheel of a version, downloaded into `folder`."""
    for python in PYTHONS:
        options = ("--no-deps", "--only-binary=:all:", "--platform", PLATFORM, "--python-version", python)
        try:
            _pip("download", "--quiet", *options, "--dest", str(folder), f"torch=={version}")
        except SystemExit:
            if python == PYTHONS[-1]:
                raise
            continue
        break
    return next(folder.glob(f"torch-{version}-*.whl"))


def read(wheel: Path) -> Rows:
    """What the release in a wheel has."""
    with zipfile.ZipFile(wheel) as archive:
        return read_files({name: archive.read(name) for name in archive.namelist() if _wanted(name)})


def _wanted(name: str) -> bool:
    below = name.removeprefix(INCLUDE)
    places = [YAML, *SOURCES.values()]
    return (below != name and holds_vocabulary(below)) or name in places


def read_files(files: Mapping[str, bytes]) -> Rows:
    """What the release with these files, named as in a wheel, has."""
    headers = sorted(name for name in files if name.startswith(INCLUDE))
    with ProcessPoolExecutor(2) as pool:
        facts = list(pool.map(extract, headers, [files[name] for name in headers], chunksize=16))
    return {
        "functions": _grouped((function.name, function_row(function)) for file in facts for function in file.functions),
        "operators": _grouped(_operators(files[YAML])),
        "names": _grouped(_names(facts)),
        "python": _grouped(_python(files)),
    }


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, dict[str, None]] = {}
    for key, row in rows:
        groups.setdefault(key, {}).setdefault(row)
    return {key: list(group) for key, group in sorted(groups.items())}


def function_row(function: Function) -> str:
    """A function as a row of the kind `functions`."""
    scope = function.qualified.removesuffix(function.name).removesuffix("::")
    parent = "=" if function.parent and function.parent == scope.rpartition("::")[2] else function.parent
    flags = "t" * function.template + "d" * (function.body >= 0)
    params = ("=" * bool(parameter.default) + parameter.type for parameter in function.params)
    return "\t".join((function.name, scope, parent, flags, function.returns, *params))


def _operators(yaml: bytes) -> Iterator[tuple[str, str]]:
    written = [str(mapping["func"]) for _, _, mapping in schemas(YAML, yaml, "func", YAML)]
    for entry, schema in zip(load(YAML, yaml).entries, written, strict=True):
        composite = [key for key, _ in entry.dispatch] == [COMPOSITE_IMPLICIT]
        yield entry.schema.base, f"{' '.join(schema.split())}\t{'c' * composite}"


def _names(facts: Iterable[FileFacts]) -> Iterator[tuple[str, str]]:
    aliases: dict[str, str] = {}
    for file in facts:
        yield from ((name, f"macro\t{name}") for name in file.macros)
        for name, spelled in file.aliases:
            aliases.setdefault(name, spelled)
    yield from ((name, f"alias\t{name}\t{spelled}") for name, spelled in aliases.items())


def _python(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for module, place in SOURCES.items():
        text = files[place].decode("utf-8") if place in files else ""
        for name in [*names_in(module, text), *(generated(ast.parse(text)) if module == "torch" else ())]:
            yield name, f"{module}\t{name}"


def merged(releases: Sequence[Mapping[str, Sequence[str]]]) -> Iterator[tuple[int, str]]:
    """All rows with their masks, by key; the rows of each release are among them in its own order."""
    for key in sorted({key for rows in releases for key in rows}):
        union: list[tuple[int, str]] = []
        for index, rows in enumerate(releases):
            union = list(_woven(union, list(rows.get(key, ())), 1 << index))
        yield from union


def _woven(union: list[tuple[int, str]], rows: list[str], bit: int) -> Iterator[tuple[int, str]]:
    matcher = difflib.SequenceMatcher(None, [row for _, row in union], rows, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        equal = tag == "equal"
        yield from ((mask | bit * equal, row) for mask, row in union[start:end])
        yield from ((bit, row) for row in rows[first:last] if not equal)


def encode(kind: Kind, names: Sequence[str], releases: Sequence[Mapping[str, Sequence[str]]]) -> bytes:
    """The file of a kind: the same bytes for the same releases."""
    everywhere = (1 << len(names)) - 1
    lines = [f"{MAGIC} {kind} {' '.join(names)}"]
    lines += (f"{'' if mask == everywhere else format(mask, 'x')}\t{row}" for mask, row in merged(releases))
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as file:
        file.write("\n".join(lines).encode("utf-8") + b"\n")
    return buffer.getvalue()


def main(arguments: Sequence[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", default="1.13", help="the oldest release")
    parser.add_argument("--wheels", type=Path, help="a folder with wheels that are not to be fetched")
    options = parser.parse_args(arguments)
    names = versions(release(options.first) or (1, 13))
    tables = []
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            kept = list(options.wheels.glob(f"torch-{name}-*.whl")) if options.wheels else []
            tables.append(read(kept[0] if kept else fetch(name, Path(scratch))))
        print(name, {kind: sum(map(len, rows.values())) for kind, rows in tables[-1].items()}, flush=True)
    with ProcessPoolExecutor(2) as pool:
        contents = pool.map(partial(_encoded, names), KINDS, ([table[kind] for table in tables] for kind in KINDS))
        for kind, content in zip(KINDS, contents, strict=True):
            path_of(kind).write_bytes(content)
            count = len(gzip.decompress(content).splitlines()) - 1
            print(f"{kind}: {count:,} rows, {len(content):,} bytes")
    return 0


def _encoded(names: Sequence[str], kind: Kind, tables: Sequence[Mapping[str, Sequence[str]]]) -> bytes:
    return encode(kind, names, tables)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
