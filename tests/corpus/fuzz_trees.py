"""What a round of fuzz.py starts from: `examples/` and some files of a real tree, with the operators they speak of."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from corpus_trees import source_files

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OPERATORS = "aten/src/ATen/native/native_functions.yaml"

_LARGEST = 60_000  # bytes of a file, so that a round stays fast
_SKIPPED = ("third_party/", "docs/", "android/", "ios/", "build/", "test/", "caffe2/")
_TELLING = re.compile(rb"(?:\.|->)(?:size|sizes|numel|stride|strides|dim|shape)\b|TORCH_LIBRARY")
_NAME = re.compile(rb"- func: *([A-Za-z_]\w*)")
_WORD = re.compile(rb"[A-Za-z_]\w+")
_MOST_OPERATORS = 120


@dataclass(frozen=True, slots=True)
class Source:
    """A real tree. `files` are its sources that speak of sizes, `operators` its operators' entries by their names."""

    tree: Path
    files: tuple[str, ...]
    operators: dict[bytes, list[bytes]]

    @classmethod
    def of(cls, tree: Path) -> Source:
        """What the folder `tree` has; nothing where it is `examples/`, which is in every round."""
        if tree.resolve() == EXAMPLES:
            return cls(tree, (), {})
        files = []
        for path in source_files(tree):
            if path.endswith((".cpp", ".h", ".py")) and not path.startswith(_SKIPPED):
                place = tree / path
                if 200 < place.stat().st_size < _LARGEST and len(_TELLING.findall(place.read_bytes())) > 2:
                    files.append(path)
        return cls(tree, tuple(files), _entries(tree / OPERATORS))

    def build(self, target: Path, chance: Random) -> list[str]:
        """Make the folder `target` with the files of one round; returns the paths of its sources."""
        if not self.files or chance.random() < 0.7:
            shutil.copytree(EXAMPLES, target, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        words: set[bytes] = set()
        for path in chance.sample(self.files, min(len(self.files), chance.choice((2, 4, 8)))):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.tree / path, target / path)
            words.update(_WORD.findall((target / path).read_bytes()))
        operators = target / OPERATORS
        if self.operators:
            operators.parent.mkdir(parents=True, exist_ok=True)
            named = [entry for name in sorted(words & self.operators.keys()) for entry in self.operators[name]]
            with open(operators, "ab") as file:
                file.writelines(named[:_MOST_OPERATORS])
        return list(source_files(target))


def _entries(operators: Path) -> dict[bytes, list[bytes]]:
    if not operators.is_file():
        return {}
    entries: dict[bytes, list[bytes]] = {}
    for entry in re.split(rb"(?m)^(?=- func:)", operators.read_bytes())[1:]:
        name = _NAME.match(entry)
        if name:
            entries.setdefault(name[1], []).append(entry)
    return entries


def make_tools(folder: Path) -> Path:
    """A folder for $PATH with git, a shell and a compiler that says yes at once; nothing else is run by its name."""
    folder.mkdir(parents=True)
    for name in ("git", "sh", "touch", "false", "cat"):
        place = shutil.which(name)
        if place is not None:
            os.symlink(place, folder / name)
    compiler = folder / "g++"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "g++ that says yes"\nexit 0\n', encoding="ascii")
    compiler.chmod(0o755)
    return folder


def make_headers(folder: Path) -> Path:
    """A folder that is taken for torch's headers."""
    version = folder / "torch" / "headeronly" / "version.h"
    version.parent.mkdir(parents=True)
    version.write_text('#define TORCH_VERSION "2.13.0"\n', encoding="ascii")
    return folder
