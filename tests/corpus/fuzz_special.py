"""What a tree may hold besides plain files: links, pipes, devices, names and folders that nobody expects.

Each function changes the tree in place and returns the names, relative to the tree, that a message may have to name.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

Change = Callable[[Path, Random], list[str]]

HOSTILE_FILE_NAMES = (
    "nl\n::error file=x::INJECTED",
    "esc\x1b[31mred",
    "cr\r::error::INJECTED",
    "tab\there",
    "c1\udc9b31m",
    "not-utf8-\udcff\udcfe",
    "-rf",
    "--output=PWNED",
    " lead",
    "trail ",
    "a'b\"c",
    "$(touch PWNED)",
    "%s%n%0A",
    "back\\slash",
    "colon:1:2",
    "*[?]",
    "é\u202ecpp",
    "@fuzz-mention",
    "#31337",
    "x" * 240,
    "{{ 7*7 }}",
    "<script>alert(1)<",
    ".hidden",
    "a%b",
)
_CONFIGS = ("pyproject.toml", "aten/src/ATen/native/native_functions.yaml", "tools/autograd/derivatives.yaml",
            "compile_commands.json", ".gitattributes", ".gitignore", ".git")  # fmt: skip
_TARGETS = ("/dev/zero", "/dev/null", "/proc/self/mem", "../outside/victim.txt", "../outside/secret.cpp", ".", "/",
            "no-such-file", "../outside")  # fmt: skip
_ATTRIBUTES = ("* -text\n", "*.cpp binary\n", "* text eol=crlf\n", "* filter=evil\n", "* ident\n", "* diff=evil\n",
               "* working-tree-encoding=UTF-16\n", "[attr]x y\n* x\n", "* !text \x00\n",
               "*.cpp export-ignore\n")  # fmt: skip
_IGNORES = ("*\n", "*.cpp\n", "aten\n", "!*\n", "\\\n", "[\n", "/**/\n", "\0\n")


def sources_of(tree: Path) -> list[str]:
    """The plain sources of the tree, sorted."""
    paths = []
    for place, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - {".git"})
        paths += [os.path.relpath(os.path.join(place, name), tree) for name in names]
    return sorted(name for name in paths
                  if name.endswith((".cpp", ".h", ".py")) and stat.S_ISREG(os.lstat(tree / name).st_mode))  # fmt: skip


def rename_source(tree: Path, chance: Random) -> list[str]:
    """A source with a hostile name, which nothing forbids."""
    sources = sources_of(tree)
    if not sources:
        return []
    old = chance.choice(sources)
    name = chance.choice(HOSTILE_FILE_NAMES) + os.path.splitext(old)[1]
    folder = os.path.dirname(old) if chance.random() < 0.7 else os.path.join(os.path.dirname(old), "d\x1b[1m\n::x")
    (tree / folder).mkdir(exist_ok=True)
    new = os.path.join(folder, name)
    os.rename(tree / old, tree / new)
    return [new]


def link_source(tree: Path, chance: Random) -> list[str]:
    """A source that is a link: out of the tree, to a device, to another source, to itself or to nothing."""
    sources = sources_of(tree)
    if not sources:
        return []
    path = chance.choice(sources)
    target = chance.choice((*_TARGETS, os.path.relpath(chance.choice(sources), os.path.dirname(path) or ".")))
    if chance.random() < 0.5:
        path = os.path.join(os.path.dirname(path), f"linked{os.path.splitext(path)[1]}")
    else:
        os.unlink(tree / path)
    if not os.path.lexists(tree / path):
        os.symlink(_climbed(target, path), tree / path)
    return [path]


def link_config(tree: Path, chance: Random) -> list[str]:
    """A file that symfix or git reads by its name, as a link or a pipe."""
    path = chance.choice(_CONFIGS)
    if os.path.lexists(tree / path):
        if (tree / path).is_dir():
            return []
        os.unlink(tree / path)
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    # A pipe that git reads would stop git itself.
    if path.startswith(".git") or chance.random() < 0.75:
        os.symlink(_climbed(chance.choice(_TARGETS), path), tree / path)
    else:
        os.mkfifo(tree / path)
    return [path]


def plant_special(tree: Path, chance: Random) -> list[str]:
    """A pipe, a socket, a device or a folder with the name of a source."""
    sources = sources_of(tree)
    folder = os.path.dirname(chance.choice(sources)) if sources else ""
    path = os.path.join(folder, chance.choice(("special.cpp", "special.py", "special.h")))
    place = tree / path
    kind = chance.randrange(5)
    if kind <= 1:
        os.mkfifo(place)
    elif kind == 2:
        _socket(place)
    elif kind == 3 and os.geteuid() == 0:
        os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
    else:
        place.mkdir()
        (place / "inner.cpp").write_bytes(b"int f(at::Tensor x) { return x.size(0); }\n")
    return [path]


def take_rights(tree: Path, chance: Random) -> list[str]:
    """A source or a folder that its owner may not read or write (root may)."""
    sources = sources_of(tree)
    if not sources:
        return []
    path = chance.choice(sources)
    if chance.random() < 0.3 and os.path.dirname(path):
        path = os.path.dirname(path)
        os.chmod(tree / path, chance.choice((0o555, 0o1777)))
    else:
        os.chmod(tree / path, chance.choice((0, 0o444, 0o222, 0o755, 0o4755)))
    return [path]


def plant_temporary(tree: Path, chance: Random) -> list[str]:
    """A file or a link out of the tree at a name that a program may give to its temporary files."""
    sources = sources_of(tree)
    if not sources:
        return []
    path = chance.choice(sources)
    folder, name = os.path.split(path)
    names = (f".{name}.symfix-tmp", f"{name}.symfix-tmp", f"{name}.tmp", f"{name}~", f".{name}.swp", f"{name}.orig")
    temporary = os.path.join(folder, chance.choice(names))
    if os.path.lexists(tree / temporary):
        return []
    if chance.random() < 0.6:
        os.symlink(_climbed("../outside/victim.txt", temporary), tree / temporary)
    else:
        (tree / temporary).write_bytes(b"the user's own\n")
    return [temporary]


def link_folder(tree: Path, chance: Random) -> list[str]:
    """A folder of sources that is a link, out of the tree or back into it."""
    path = chance.choice(("linked", "aten/linked", "torch/linked"))
    if os.path.lexists(tree / path):
        return []
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    os.symlink(_climbed(chance.choice(("../outside", "/", ".", "..", "/proc/self", ".git")), path), tree / path)
    return [path]


def deep_folders(tree: Path, chance: Random) -> list[str]:
    """A source so deep that its whole path is longer than a name may be."""
    sources = sources_of(tree)
    if not sources:
        return []
    old = chance.choice(sources)
    part = chance.choice(("d", "folder-with-a-name", "x" * 200))
    folder = "/".join([part] * (chance.choice((40, 300, 1_500)) // (len(part) + 1)))
    (tree / folder).mkdir(parents=True, exist_ok=True)
    new = os.path.join(folder, os.path.basename(old))
    os.rename(tree / old, tree / new)
    return [new]


def empty_source(tree: Path, chance: Random) -> list[str]:
    """A source, or the list of operators, that is empty, or gone."""
    path = chance.choice([*sources_of(tree), "aten/src/ATen/native/native_functions.yaml"])
    if not (tree / path).is_file():
        return []
    if chance.random() < 0.5:
        (tree / path).write_bytes(b"")
    else:
        (tree / path).unlink()
    return [path]


def attributes(tree: Path, chance: Random) -> list[str]:
    """A .gitattributes or .gitignore that converts, hides or says nonsense."""
    name, texts = chance.choice(((".gitattributes", _ATTRIBUTES), (".gitignore", _IGNORES)))
    if not os.path.lexists(tree / name):
        (tree / name).write_text(chance.choice(texts), encoding="utf-8")
    return [name]


def embedded_repository(tree: Path, chance: Random) -> list[str]:
    """A folder that looks like a bare repository, whose configuration names a program."""
    path = chance.choice(("aten", "torch", "sub", "."))
    folder = tree / path
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "keep").write_bytes(b"")
    (folder / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (folder / "config").write_text(
        '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch PWNED; false"\n',
        encoding="utf-8",
    )
    return [path]


SPECIALS: Mapping[str, Change] = {
    "source renamed": rename_source,
    "source linked": link_source,
    "configuration linked": link_config,
    "special file": plant_special,
    "rights taken": take_rights,
    "temporary name taken": plant_temporary,
    "folder linked": link_folder,
    "deep folders": deep_folders,
    "file empty or gone": empty_source,
    "attributes": attributes,
    "repository embedded": embedded_repository,
}


def _climbed(target: str, path: str) -> str:
    """`target`, relative to the tree, as a link at `path` has to say it."""
    return target if target.startswith("/") else "../" * path.count("/") + target


def _socket(place: Path) -> None:
    """Bind a socket; its address has to be short, so it is named from its folder."""
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{place.name}")
        finally:
            os.close(folder)
