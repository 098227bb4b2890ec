"""What C++ registers with the dispatcher, counted in what the real preprocessor makes of it.

Every header that is not the tree's own is empty, so that TORCH_LIBRARY and its kin stay as they are, and whatever
expands to them is seen as they are called. Each file is read twice: as it is, and with all its conditional lines.
"""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

SOURCES = (".cpp", ".cc", ".cxx", ".cu", ".hip", ".mm")
HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inl", ".inc", ".hxx")
SECONDS = 60
_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]')
_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\r?\n|[^\n])*)")
_CONDITIONAL = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:\\\r?\n|[^\n])*")
_SEED = re.compile(rb"TORCH_LIBRARY|RegisterOperators|\bLibrary\s*&")
_LINE = re.compile(r'(?m)^# \d+ "((?:\\.|[^"\\])*)"[ \d]*$')
_BLOCK = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY(_FRAGMENT|_IMPL|_THREAD_UNSAFE_LAZY_INIT)?\s*\(")
_HELPER = re.compile(r"\b(\w+)\s*\(([^(){};]*\bLibrary\s*&\s*(\w+)[^(){};]*)\)\s*\{")
_METHOD = re.compile(r"\b(\w+)\s*\.\s*(def|impl)\s*\(")
_OPERATORS = re.compile(r"\bRegisterOperators\b[^;]*;", re.S)
_OP = re.compile(r"(?:\.\s*op|\bRegisterOperators\s*\w*)\s*\(")
_STRINGS = re.compile(
    r'\s*(?:\w[\w:]*\s*\(\s*)*(?:R"(?P<d>\w*)\((?P<raw>.*?)\)(?P=d)"|(?P<plain>(?:"(?:\\.|[^"\\])*"\s*)+))', re.S
)
_MISSING = re.compile(rb"fatal error: ([\w./+-]+): No such file")
_COMPUTED = 40
"""How many names that macros make of a header are stubbed for one file at the most."""
_NAMED_KEY = re.compile(r'\s*"[^"]*"\s*,\s*((?:(?:torch|c10|at)::)+(?:DispatchKey::|k)\w+)\s*,')
_KEY = re.compile(r"(?:.*(?:::|\())?\s*k?([A-Z]\w*)\W*$", re.S)


class Registration(NamedTuple):
    """An operator, "" where no literal names it, with the dispatch key ("" for none) and the file."""

    operator: str
    key: str
    path: str


def registered(tree: Path, paths: list[str], scratch: Path) -> tuple[set[Registration], list[str]]:
    """All registrations of the C++ files among `paths`, and a line for each that could not be preprocessed."""
    cpp = [path for path in paths if path.endswith((*SOURCES, *HEADERS))]
    contents = {path: (tree / path).read_bytes() for path in cpp}
    words = _opening(contents)
    chosen = [path for path, content in contents.items() if words.search(content)]
    if not chosen:
        return set(), []
    stubs = scratch / "stubs"
    _write_stubs(tree, contents, stubs)
    with ThreadPoolExecutor(2) as pool:
        texts = [text for both in pool.map(lambda path: _expanded(tree, path, stubs, scratch), chosen) for text in both]
    failed = [f"{path}: not preprocessed in {SECONDS} s" for path, text in texts if text is None]
    return set(_registrations(tree, [text for _, text in texts if text is not None])), failed


def _opening(contents: Mapping[str, bytes]) -> re.Pattern[bytes]:
    """What a file holds that may register: torch's own macros, and all that the tree defines by them."""
    names: set[bytes] = set()
    bodies = [match.groups() for content in contents.values() for match in _DEFINE.finditer(content)]
    pattern = _SEED
    while more := {name for name, body in bodies if pattern.search(body)} - names:
        names |= more
        pattern = re.compile(_SEED.pattern + b"|" + b"|".join(rb"\b%s\b" % name for name in sorted(names)))
    return pattern


def _write_stubs(tree: Path, contents: Mapping[str, bytes], stubs: Path) -> None:
    """A folder with a header for every name that is included: the tree's own of that name, or nothing."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in contents:
        by_name[path.rpartition("/")[2]].append(path)
    included = {match[1].decode("utf-8", "replace") for c in contents.values() for match in _INCLUDE.finditer(c)}
    stubs.mkdir(parents=True, exist_ok=True)
    for name in sorted(included):
        target = Path(os.path.normpath(stubs / name))
        if stubs not in target.parents or name.startswith("/") or target.is_dir():
            continue
        tail = os.path.normpath(name).lstrip("./")
        own = [path for path in by_name[tail.rpartition("/")[2]] if f"/{path}".endswith(f"/{tail}")][:3]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(f'#include "{tree / path}"\n' for path in own), encoding="utf-8")


def _expanded(tree: Path, path: str, stubs: Path, scratch: Path) -> list[tuple[str, str | None]]:
    """What the preprocessor makes of a file, with each branch's condition as it comes out, and of all branches."""
    flat = scratch / "flat" / path
    flat.parent.mkdir(parents=True, exist_ok=True)
    flat.write_bytes(_CONDITIONAL.sub(lambda m: b"\n" * m[0].count(b"\n"), (tree / path).read_bytes()))
    around = str((tree / path).parent)
    return [(path, _preprocess(file, path, stubs, around)) for file in (tree / path, flat)]


def _preprocess(file: Path, path: str, stubs: Path, around: str) -> str | None:
    command = ["g++", "-E", "-x", "c++", "-nostdinc", "-w", "-fmax-include-depth=60", "-iquote", around]
    command += ["-I", str(stubs), "-D__CUDACC__", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        for _ in range(_COMPUTED):
            missing = _MISSING.search(done.stderr)
            target = Path(os.path.normpath(stubs / missing[1].decode())) if missing else None
            if target is None or stubs not in target.parents or target.exists():
                break
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None
    return f'# 1 "{path}"\n' + done.stdout.decode("utf-8", "replace").replace(f'"{file}"', f'"{path}"')


def _registrations(tree: Path, texts: list[str]) -> Iterator[Registration]:
    helpers: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    blocks: list[tuple[str, str, str, str, str]] = []
    for text in texts:
        lines = [(m.start(), m[1].removeprefix(f"{tree}/")) for m in _LINE.finditer(text)]
        starts = [start for start, _ in lines]

        def path_at(place: int, lines: list[tuple[int, str]] = lines, starts: list[int] = starts) -> str:
            return lines[bisect_right(starts, place) - 1][1]

        blank = _without_strings(text)
        for match in _HELPER.finditer(blank):
            body = text[match.end() : _closing(blank, match.end() - 1)]
            helpers[match[1]].append((match[3], body, path_at(match.start())))
        for match in _BLOCK.finditer(blank):
            end = _closing(blank, match.end() - 1)
            given = [part.strip() for part in text[match.end() : end].split(",")]
            opened = blank.find("{", end)
            if len(given) < 2 or opened < 0 or _LINE.sub("", blank[end + 1 : opened]).strip():
                continue
            key = given[1] if match[1] == "_IMPL" else ""
            namespace = "" if given[0] == "_" else re.sub(r"\s", "", given[0])
            body = text[opened + 1 : _closing(blank, opened)]
            blocks.append((namespace, key, given[-1], body, path_at(match.start())))
        for match in _OPERATORS.finditer(blank):
            for op in _OP.finditer(blank, match.start(), match.end()):
                name = _first_string(text[op.end() : match.end()])
                if name:
                    yield Registration(_name(name, ""), "", path_at(op.start()))
    seen = set()
    while blocks:
        block = blocks.pop()
        if block in seen:
            continue
        seen.add(block)
        namespace, key, variable, body, path = block
        yield from _inside(namespace, key, variable, body, path)
        for helper, held in helpers.items():
            if re.search(rf"\b{helper}\s*(?:<[^<>;]*>)?\s*\([^;(]*\b{re.escape(variable)}\b", body):
                near = [entry for entry in held if entry[2] == path] or held
                blocks += [(namespace, key, *entry) for entry in near]


def _inside(namespace: str, key: str, variable: str, body: str, path: str) -> Iterator[Registration]:
    body = _LINE.sub("", body)
    blank = _without_strings(body)
    for match in _METHOD.finditer(blank):
        if match[1] != variable:
            continue
        end = _closing(blank, match.end() - 1)
        given = body[match.end() : end]
        if "makeFallthrough" in given:
            continue
        name = _first_string(given)
        dispatch = re.search(r"\bdispatch\s*\(([^,]*),", given) or _NAMED_KEY.match(given)
        operator = _name(name, namespace) if name else ""
        named = dispatch[1].strip().strip('"') if dispatch else key
        short = _KEY.match(named)
        yield Registration(operator, short[1] if short else named, path)


def _name(schema: str, namespace: str) -> str:
    name = schema.partition("(")[0].strip()
    return name if "::" in name or not namespace else f"{namespace}::{name}"


def _first_string(given: str) -> str:
    match = _STRINGS.match(given)
    if match is None:
        return ""
    if match["raw"] is not None:
        return match["raw"]
    name = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match["plain"]))
    rest = given[match.end() :].lstrip()
    return "" if rest.startswith("+") and "(" not in name else name


def _without_strings(text: str) -> str:
    """The text with the inside of its literals as blanks, of the same length."""
    pattern = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\''
    keep = {match.start() for match in _LINE.finditer(text)}

    def blank(match: re.Match[str]) -> str:
        line = text.rfind("\n", 0, match.start()) + 1
        return match[0] if line in keep else '"' + " " * (len(match[0]) - 2) + '"'

    return re.sub(pattern, blank, text, flags=re.S)


def _closing(text: str, opened: int) -> int:
    """Where the bracket at `opened` closes, the end of the text where it does not."""
    pair = {"(": "()", "{": "{}"}[text[opened]]
    depth = 0
    for match in re.compile("[" + re.escape(pair) + "]").finditer(text, opened):
        depth += 1 if match[0] == pair[0] else -1
        if not depth:
            return match.start()
    return len(text)
