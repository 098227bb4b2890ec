"""Changes of the documents that symfix reads, made at random: plans, decisions, journals, YAML, [tool.symfix]."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from fuzz_mutations import HOSTILE_NAMES, drop_lines, duplicate_lines, flip_bytes, insert_snippets, swap_lines, truncate

VICTIM = "../outside/victim.txt"
"""A file beside the tree, as the tree sees it: nothing may read or write it."""

HOSTILE_PATHS = (
    VICTIM,
    "/proc/self/environ",
    "/dev/zero",
    "/dev/stdin",
    "/",
    ".",
    "..",
    "",
    "\0",
    "a\0b",
    ".git/config",
    ".git/hooks/post-commit",
    "./.git/config",
    "aten/../.git/config",
    "aten/src/ATen/native/../../../../../outside/victim.txt",
    "//etc/passwd",
    "~/.bashrc",
    "aten",
    "no/such/file.cpp",
    "-rf",
    "a\n::error file=x::INJECTED",
    "a\x1b[31m",
    "\ud800",
    "x" * 300,
    "x/" * 3_000,
)

_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 10**6, 2**31, 2**63, 2**200, -(2**63), 1.5, -0.0, "", " ", "a", [], {}, [[]], [{}],
    {"a": 1}, [None], ["a"], [0], *HOSTILE_PATHS, *HOSTILE_NAMES, float("nan"), float("inf"), "0" * 64, "f" * 64,
)  # fmt: skip
_RAW: tuple[Callable[[bytes], bytes], ...] = (
    lambda document: b"",
    lambda document: b"null",
    lambda document: b"[]",
    lambda document: b"{}",
    lambda document: b"[" * 100_000,
    lambda document: b"[" * 100_000 + b"]" * 100_000,
    lambda document: b'{"a":' * 100_000,
    lambda document: b"\xef\xbb\xbf" + document,
    lambda document: document.decode("utf-8", "replace").encode("utf-16"),
    lambda document: document + document,
    lambda document: document.replace(b"1", b"1" * 5_000, 1),
    lambda document: document.replace(b"1", b"1e999", 1),
    lambda document: document.replace(b'"', b"'"),
    lambda document: document.replace(b": ", b": \x00", 1),
    lambda document: b'{"a": 1, "a": ' + document + b"}",
    lambda document: b"\0" * 1_000,
    lambda document: b"\xff\xfe\xfd",
)
_BYTES = (flip_bytes, truncate, insert_snippets, drop_lines, duplicate_lines)


def mutate_json(document: bytes, chance: Random) -> bytes:
    """A JSON document like `document`, with parts that are missing, of another type or hostile; or none at all."""
    if chance.random() < 0.25:
        return chance.choice(_RAW)(document)
    if chance.random() < 0.15:
        return chance.choice(_BYTES)(document, chance)
    try:
        changed = json.loads(document)
    except (ValueError, RecursionError):
        return flip_bytes(document, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        changed = replaced(changed, chance)
    return json.dumps(changed, indent=1, ensure_ascii=chance.random() < 0.8).encode("utf-8", "surrogatepass")


def replaced(document: Any, chance: Random) -> Any:
    """`document` with one of its values or keys changed, or gone, or another's."""
    places = [place for place in _places(document) if place]
    if not places:
        return chance.choice(_VALUES)
    # The few places near the root as often as the many in the leaves.
    depth = chance.choice(sorted({len(place) for place in places}))
    place = chance.choice([place for place in places if len(place) == depth])
    changed = copy.deepcopy(document)
    parent = changed
    for step in place[:-1]:
        parent = parent[step]
    last = place[-1]
    kind = chance.randrange(6)
    if kind == 0:
        del parent[last]
    elif kind == 1 and isinstance(parent, dict):
        parent[chance.choice([*HOSTILE_NAMES, *HOSTILE_PATHS, "extra"])] = parent.pop(last)
    elif kind == 2 and isinstance(parent, list):
        parent.extend([parent[last]] * chance.choice((1, 1, 100)))
    elif kind == 3:
        other = document
        for step in chance.choice(places):
            other = other[step]
        parent[last] = copy.deepcopy(other)
    else:
        parent[last] = chance.choice(_VALUES)
    return changed


def redirected(document: Any, old: str, new: str) -> Any:
    """`document` with the path `new` wherever it says `old`, as a value or as a key."""
    if isinstance(document, dict):
        return {new if key == old else key: redirected(value, old, new) for key, value in document.items()}
    if isinstance(document, list):
        return [redirected(value, old, new) for value in document]
    return new if document == old else document


def _places(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _places(value, (*place, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from _places(value, (*place, index))


def _deep_flow(mark: str) -> Callable[[Random], str]:
    def make(chance: Random) -> str:
        depth = chance.choice((20, 200, 1_000, 10_000, 200_000))
        closed = {"[": "]", "{a: ": "}", "? ": "", "- ": ""}[mark] * (depth if chance.random() < 0.5 else 0)
        return f"  tags: {mark * depth}{closed}"

    return make


def _aliases(chance: Random) -> str:
    depth = chance.choice((3, 10, 20, 40))
    lines = ["- &d0 {x: 1}", *(f"- &d{n} {{x: *d{n - 1}, y: *d{n - 1}}}" for n in range(1, depth)), ""]
    return "\n".join(lines)


_YAML_LINES: tuple[str | Callable[[Random], str], ...] = (
    _deep_flow("["), _deep_flow("{a: "), _deep_flow("- "), _deep_flow("? "), _aliases,
    "- func:", "- func: []", "- func: 1", "- func: null", "- func: {a: b}", "- func: ''", "- func: ( -> )",
    "- func: evil(Tensor self) -> Tensor\n  dispatch: 1", "- func: evil(Tensor self) -> Tensor\n  dispatch: []",
    "- func: evil(Tensor self) -> Tensor\n  dispatch: {CPU: [a]}", "- func: evil(Tensor self\n  dispatch: {CPU: f}",
    "- func: evil(Tensor self) -> Tensor\n  dispatch: {1: 2, null: null, [a]: b}",
    "- func: evil(Tensor self) -> Tensor\n  structured_delegate: 3\n  structured: maybe",
    "- func: evil(SymInt[] a, " + "SymInt b, " * 3_000 + "Tensor c) -> Tensor", "- []", "- - - func", "- null", "- 5",
    "func: top", "--- ", "...", "%YAML 9.9", "%TAG ! x", "\t- func: tab", "&a [*a]", "- &a [*a]", "- *unknown",
    "- !!python/object/apply:os.system ['touch PWNED']", "- !!binary x", "- !!int x", "- <<: *a", "- <<: 3", "- ? x",
    "- func: !!set {a}", "- 2001-99-99", "- 1:2:3:4e999", "- 0x" + "f" * 5_000, "- \"\\x1b\\0\\ud800\"", "- '", "- |",
    "\0",
    "- {<<: [{a: 1}, 2]}", "  dispatch:\n    CPU: a\n    CPU: b", "  variants: [", "  autogen: 7", "- name: 3",
    "- name: evil(Tensor self) -> Tensor\n  self: 3\n  other: [grad]",
)  # fmt: skip
_FUNCTION = re.compile(r"(func|name): *([\w.]+)")


def mutate_yaml(document: bytes, chance: Random) -> bytes:
    """A native_functions.yaml or derivatives.yaml like `document`, with parts too deep, mistyped or misnamed."""
    if chance.random() < 0.3:
        change = (flip_bytes, truncate, insert_snippets, drop_lines, duplicate_lines, swap_lines)
        return chance.choice(change)(document, chance)
    if chance.random() < 0.3:
        text = document.decode("utf-8", "replace")
        names = list(_FUNCTION.finditer(text))
        if names:
            match = chance.choice(names)
            name = chance.choice(HOSTILE_NAMES)
            quoted = json.dumps(f"{name}(Tensor self, SymInt n) -> Tensor") if chance.random() < 0.5 else name
            changed = text[: match.start(2)] + quoted + text[match.end(2) :]
            return changed.encode("utf-8", "surrogateescape")
    lines = document.decode("utf-8", "replace").split("\n")
    starts = [index for index, line in enumerate(lines) if line.startswith("- ")] or [0]
    for _ in range(chance.choice((1, 1, 2))):
        addition = chance.choice(_YAML_LINES)
        text = addition if isinstance(addition, str) else addition(chance)
        at = chance.choice(starts) + chance.choice((0, 1))
        lines[at:at] = [text]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


_OPTIONS: Mapping[str, Sequence[Any]] = {
    "paths": (["aten"], "aten", ["../outside"], ["/etc"], [""], ["\0"], [1], [[]], ["no-such"], [".git"], ["aten/src"]),
    "op": (["*"], "add", ["["], ["::"], [""], ["*" * 3_000], ["evil::*"], [1]),
    "mode": ([1], 1, [9], ["1"], [True], [], [1, 2, 3, 4]),
    "rule": (["sym-accessor"], ["no-such-rule"], "truthiness", [""], ["\n::error::INJECTED"], [1]),
    "level": ("safe", "review", "manual", "all", "", 1, ["safe"]),
    "vocabulary": ("aten/src/ATen/native/native_functions.yaml", "/dev/zero", VICTIM, "no-such", "", "\0", ".", "/etc"),
    "jobs": (1, 2, 0, -1, "2", 2.5, 10**9, True),
    "no-cache": (True, False, "yes", 1),
    "format": ("text", "json", "github", "sarif", "csv", "baseline", "xml", ""),
    "baseline": ("/dev/zero", VICTIM, "no-such", "README.md", "", "\0", "/etc/passwd"),
    "exit-zero": (True, False, 0),
    "allow-dirty": (True, False, "no"),
    "allow-no-vcs": (True, False),
    "group": ("operator", "file", "module", "x"),
    "max-files": (1, 0, -5, 2**70),
    "max-lines": (1, 0, "a"),
    "template": (VICTIM, "/etc/passwd", "/dev/zero", "no-such", "README.md", "\0"),
    "max-open": (1, 0),
    "remote": ("origin", "-x", "ext::sh -c touch% PWNED", "\n"),
    "repo": ("a/b", "", "a", "\x1b[31m"),
    "base": ("main", "-x", "refs/../x", ""),
    "repro": ({}, {"add": "README.md"}, {"add": VICTIM}, {"add": 1}, [], {"": ""}),
    "no-such-option": (1,),
    "\x1b[31m": (1,),
    "a\n::error::INJECTED": ("x",),
}
_BROKEN_TOML = (
    "[tool.symfix]\nop = ", "[tool.symfix]\nop = 1\nop = 2\n", "[tool.symfix", "[[tool.symfix]]\nop = 'a'\n",
    "tool.symfix = 3\n", "tool = 'symfix'\n#tool.symfix\n", "[tool.symfix]\nop = '''\n", "# tool.symfix \xff\0\n",
    "[tool.symfix.op]\na = 1\n", "[tool.symfix]\nlevel = 1979-05-27T07:32:00Z\n",
    "[tool.symfix]\njobs = 0x" + "f" * 9_000,
    "[tool.symfix]\njobs = " + "9" * 9_000 + "\n", "[tool.symfix]\nmax-lines = inf\n", "[tool]\nsymfix = []\n",
    "[tool.symfix]\nop = [\"\\uD800\"]\n", "[tool.symfix]\nop = [\"\\u001b[31m\"]\n",
)  # fmt: skip


def make_pyproject(chance: Random) -> bytes:
    """A pyproject.toml with a [tool.symfix] of options that are right, wrong or hostile, or that is no TOML."""
    kind = chance.randrange(5)
    if kind == 0:
        return chance.choice(_BROKEN_TOML).encode("latin-1")
    if kind == 1:
        depth = chance.choice((10, 100, 1_000, 100_000))
        mark = chance.choice(("[", "{a = ", "a."))
        return (f"tool.symfix.{mark * depth}a = 1" if mark == "a." else f"[tool.symfix]\nop = {mark * depth}").encode()
    lines = ["[tool.symfix]"]
    for name in sorted(chance.sample(sorted(_OPTIONS), chance.choice((1, 1, 2, 4)))):
        lines.append(f"{_toml(name)} = {_toml(chance.choice(_OPTIONS[name]))}")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _toml(value: Any) -> str:
    """A value as TOML writes it; its strings are JSON's, its tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=True)


_COMMAND_FLAGS: tuple[Any, ...] = (
    "-I.", "-Iaten/src", "-I", "-DX=1", "-D", "-std=c++17", "-std=c++999", "-O2", "-W", "-include", "victim.h",
    "-o", "x.o",
    "-fplugin=./evil.so", "-fdump-tree-all=PWNED", "-fopt-info=PWNED", "-wrapper", "sh,-c,touch PWNED", "@args", "-B.",
    "-specs=evil.specs", "-isystem", "-mno-such", "-fno-such", "\0", "", 1, None, ["a"], "-march=native", "-m32",
    "-fprofile-generate=PWNED", "-fcallgraph-info", "-frandom-seed=1", "-ffile-prefix-map=a=b", "-fmodules-ts", "-###",
)  # fmt: skip


def make_commands(root: str, sources: Sequence[str], chance: Random) -> bytes:
    """A compile_commands.json for some of `sources` below `root`, whose flags are right, wrong or hostile."""
    entries = []
    for source in sources:
        flags = [chance.choice(_COMMAND_FLAGS) for _ in range(chance.randrange(6))]
        entry: dict[str, Any] = {"directory": root, "file": source}
        if chance.random() < 0.5:
            entry["arguments"] = ["c++", *flags, source]
        else:
            entry["command"] = " ".join(["c++", *map(str, flags), source, *(["'"] if chance.random() < 0.1 else [])])
        entries.append(entry)
    document = json.dumps(entries).encode("ascii")
    return mutate_json(document, chance) if chance.random() < 0.5 else document


_TEMPLATES = (
    "{{ 1/0 }}", "{% for i in range(10**9) %}x{% endfor %}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{",
    "{% if %}", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "{% include '/etc/passwd' %}", "{{ 'x' * 10**10 }}",
    "{{ self._TemplateReference__context }}", "{{ no.such.name }}", "{% extends 'x' %}", "{{ [1]|map('x') }}", "\0", "",
    "{{ lipsum.__globals__ }}", "{% import 'os' as os %}", "{{ 'a'.center(10**9) }}", "{{ 2**(10**8) }}", "\xff",
    "{{ '" + "(" * 5_000 + "' }}", "{{ " + "(" * 5_000 + " }}", "{% if 1 %}" * 500, "{{ range(10**8)|list }}",
)  # fmt: skip


def make_template(chance: Random) -> bytes:
    """A Jinja2 template of a pull request's text that fails, never ends or asks for what it may not have."""
    return chance.choice(_TEMPLATES).encode("latin-1")
