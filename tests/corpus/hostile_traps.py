"""The traps of hostile_vectors.py: each makes one in a tree, before it is committed or after."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from fuzz_documents import redirected
from hostile_place import Place

Make = Callable[[Place], None]

SOURCE = "aten/src/ATen/native/Blend.cpp"


def links(*pairs: tuple[str, str]) -> Make:
    """Links at paths of the tree, each with where it leads, relative to the tree."""

    def make(place: Place) -> None:
        for path, target in pairs:
            place.link(path, target)

    return make


def own_file(place: Place) -> None:
    """A file of the user's own, not committed, at a name that a program could choose; it is watched like others."""
    for path in (SOURCE, "extension/neighbor_ops.cpp"):
        folder, name = os.path.split(path)
        own = place.write(f"{folder}/.{name}.symfix-tmp", "the user's own\n")
        # A second name for the same file: if it is written over in place, this shows it.
        os.link(own, place.outside / f"own-{name}")


def embedded(place: Place) -> None:
    """A folder of plain files that git takes for a bare repository, with a program in its configuration."""
    shutil.copytree(place.tree / "aten", place.tree / "sub" / "aten")
    for name in ("objects", "refs"):
        place.write(f"sub/{name}/keep", "")
    place.write("sub/HEAD", "ref: refs/heads/main\n")
    place.write("sub/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
                f'\tfsmonitor = "{place.trap}"\n\thooksPath = {place.tree}/hooks\n')  # fmt: skip
    _hooks(place, "hooks")


_HOOKS = ("post-index-change", "reference-transaction", "post-commit", "pre-commit", "post-checkout",
          "fsmonitor-watchman", "pre-auto-gc", "commit-msg", "prepare-commit-msg", "post-rewrite", "applypatch-msg",
          "pre-push")  # fmt: skip


def _hooks(place: Place, folder: str) -> None:
    for name in _HOOKS:
        place.write(f"{folder}/{name}", f"#!/bin/sh\ntouch {place.mark}\n", executable=True)


def config(*lines: str, attributes: str = "") -> Make:
    """Lines of .git/config, where TRAP is a command that springs the trap and TREE the tree, and attributes."""

    def make(place: Place) -> None:
        with open(place.tree / ".git" / "config", "a", encoding="utf-8") as file:
            file.writelines(f"{line.replace('TRAP', place.trap).replace('TREE', str(place.tree))}\n" for line in lines)
        if attributes:
            place.write(".git/info/attributes", attributes)
        _touch_sources(place)

    return make


def _touch_sources(place: Place) -> None:
    """Make git look at the bytes of every source again."""
    for path in place.tree.rglob("*.cpp"):
        os.utime(path, ns=(10**18, 10**18))


def own_hooks(place: Place) -> None:
    """Hooks in the git folder."""
    _hooks(place, ".git/hooks")
    _touch_sources(place)


def hooks_path(place: Place) -> None:
    """Hooks in a folder of the tree, for a configuration that names it."""
    _hooks(place, "hooks")


def worktree_config(place: Place) -> None:
    """A configuration of the worktree beside that of the repository."""
    config("[core]", "\trepositoryformatversion = 1", "[extensions]", "\tworktreeConfig = true")(place)
    place.write(".git/config.worktree", f'[core]\n\tfsmonitor = "{place.trap}"\n')


def included_config(place: Place) -> None:
    """A configuration in the tree, for one that includes it."""
    place.write("evil.gitconfig", f'[core]\n\tfsmonitor = "{place.trap}"\n')


def promisor(place: Place) -> None:
    """A partial clone whose missing objects git fetches by a program of the configuration's choice."""
    blob = place.git("rev-parse", f"HEAD:{SOURCE}").strip()
    (place.tree / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    config("[core]", "\trepositoryformatversion = 1", "[extensions]", "\tpartialClone = origin", '[remote "origin"]',
           "\turl = TREE", "\tpromisor = true", '\tuploadpack = "TRAP"')(place)  # fmt: skip


def git_file(place: Place) -> None:
    """The git folder is elsewhere, named by a file."""
    os.rename(place.tree / ".git", place.git_elsewhere)
    place.write(".git", f"gitdir: {place.git_elsewhere}\n")
    with open(place.git_elsewhere / "config", "a", encoding="utf-8") as file:
        file.write(f'[core]\n\tfsmonitor = "{place.trap}"\n')


def nested(place: Place) -> None:
    """A repository within, as an unpacked archive has them, with a configuration of its own."""
    sub = place.tree / "nested"
    sub.mkdir()
    (sub / "a.cpp").write_text("int64_t f(at::Tensor x) { return x.size(0); }\n", encoding="ascii")
    place.git("init", "-q", ".", folder=sub)
    place.git("add", "-A", folder=sub)
    place.git("commit", "-q", "-m", "start", folder=sub)
    place.git("add", "nested")
    place.git("commit", "-q", "-m", "nested")
    with open(sub / ".git" / "config", "a", encoding="utf-8") as file:
        file.write(f'[core]\n\tfsmonitor = "{place.trap}"\n')
    (sub / "a.cpp").write_text("int64_t f(at::Tensor x) { return x.size(1); }\n", encoding="ascii")


def plan(target: str) -> Make:
    """A saved plan in which the edits of one file are another's, whose hash it names."""

    def make(place: Place) -> None:
        document = json.loads(place.symfix("scan", "--format", "json"))
        path = target.replace("OUTSIDE", str(place.outside))
        changed = redirected(document, SOURCE, path)
        file = place.tree / path
        changed["files"][path] = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        edits = [edit for finding in changed["findings"] for edit in finding["edits"] if edit["path"] == path]
        for edit in edits:
            edit.update(start=0, end=0, old="", new=f'[core]\n\tfsmonitor = "{place.trap}"\n')
        assert edits
        (place.side / "plan.json").write_text(json.dumps(changed), encoding="ascii")

    return make


def with_plan(place: Place) -> Sequence[str]:
    """The option that names the saved plan."""
    return ("--plan", str(place.side / "plan.json"))


def tool(*lines: str) -> Make:
    """A [tool.symfix] in the tree's pyproject.toml."""

    def make(place: Place) -> None:
        text = "\n".join(["[tool.symfix]", *lines, ""])
        place.write("pyproject.toml", text.replace("OUTSIDE", str(place.outside)))

    return make


def linked_template(place: Place) -> None:
    """A template of the tree that is a link out of it."""
    tool('template = "template.md.j2"')(place)
    place.link("template.md.j2", "../outside/template.md.j2")


def computing_template(place: Place) -> None:
    """A template of the tree that asks for what it may not have, and never ends."""
    tool('template = "evil.md.j2"')(place)
    place.write("evil.md.j2", "{{ ''.__class__.__mro__[1].__subclasses__() }}{% for i in range(10**9) %}x{% endfor %}")


def decided(place: Place) -> None:
    """Decisions that were made on every change."""
    place.symfix("review", "--accept", "level:review")


def dirty(place: Place) -> None:
    """A change of a tracked file that is not committed."""
    place.write("README.md", "changed, and not committed\n")


class _Sprung:
    """What runs a command when it is unpickled."""

    def __init__(self, trap: str) -> None:
        self._trap = trap

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (self._trap,)


def _poison(place: Place) -> None:
    """Put a trap in the place of every pickle in the cache that a run has filled."""
    place.symfix("scan")
    place.symfix("diff", "--level", "review")
    evil = pickle.dumps(_Sprung(place.trap))
    for path in sorted(place.cache.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"SQLite format 3"):
                _poison_database(path, evil)
            elif content.startswith(b"\x80"):
                path.write_bytes(evil)


def _poison_database(path: Path, evil: bytes) -> None:
    with closing(sqlite3.connect(path)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
                database.execute(f"UPDATE {table} SET {column} = ? WHERE substr({column}, 1, 1) = x'80'", (evil,))
        database.commit()


def foreign_cache(place: Place) -> None:
    """A cache with traps that belongs to another user."""
    _poison(place)
    for path in [place.cache, *place.cache.rglob("*")]:
        os.chown(path, 65534, 65534)


def open_cache(place: Place) -> None:
    """A cache with traps that every user may write."""
    _poison(place)
    for path in place.cache.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def linked_cache(place: Place) -> None:
    """A cache that is a link to another user's."""
    foreign_cache(place)
    os.rename(place.cache / "symfix", place.folder / "foreign")
    os.symlink(place.folder / "foreign", place.cache / "symfix")


_PLUGIN = """#include <stdlib.h>
__attribute__((constructor)) static void spring(void) { system("touch MARK"); }
int plugin_is_GPL_compatible;
"""


def compile_commands(*flags: str, whole: bool = False) -> Make:
    """A compile_commands.json with `flags`, as a list or `whole`, where TREE and MARK are those of the place."""

    def make(place: Place) -> None:
        texts = [flag.replace("TREE", str(place.tree)).replace("MARK", str(place.mark)) for flag in flags]
        entries: list[dict[str, Any]] = []
        for path in sorted(place.tree.rglob("*.cpp")):
            arguments = ["c++", *texts, "-c", str(path)]
            entry = {"directory": str(place.tree), "file": str(path)}
            entries.append(entry | ({"command": shlex.join(arguments)} if whole else {"arguments": arguments}))
        place.write("compile_commands.json", json.dumps(entries))
        place.write("args", f"-fplugin={place.tree}/evil.so\n")
        place.write("evil.specs", f"*cpp_options:\n-fplugin={place.tree}/evil.so\n")
        for name in ("cc1plus", "as", "ld"):
            place.write(f"bin/{name}", f"#!/bin/sh\ntouch {place.mark}\n", executable=True)
        if any(".so" in flag or "@" in flag or "specs" in flag for flag in flags):
            source = place.write("evil.c", _PLUGIN.replace("MARK", str(place.mark)))
            library = str(place.tree / "evil.so")
            subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", "-o", library, str(source)], check=True)
            source.unlink()

    return make
