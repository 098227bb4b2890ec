"""The oldest torch that a tree says it runs with, read from what it tells installers; nothing of it is run."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from codemod.borders.documents import LARGEST_SETTINGS, load_toml
from codemod.errors import SymfixError
from codemod.model.transform import Project

_COMPUTED = re.compile(rb"(?mi)^Dynamic:[ \t]*Requires-Dist\b")
_TORCH = re.compile(r"\s*torch\s*(?:\[[^\]]*\]\s*)?\(?\s*((?:[<>=!~^,.*+\w\s]|(?<=\d)-)*)", re.ASCII)
_LOWEST = re.compile(r"(?:>=?|===?|~=|\^)\s*(\d{1,3}(?:\.\d{1,3})?)", re.ASCII)


def torch_requirement(project: Project) -> str:
    """The lowest version of torch that the project's own requirements allow, "" where they name none.

    The first that names one counts: pyproject.toml, setup.cfg, setup.py, all of the root's requirements*.txt, and what
    a source distribution or an unpacked wheel says of itself.
    """
    listed = project.files((*_READERS, ".txt", *_OF_BUILT))
    texts = sorted(path for path in listed if re.fullmatch(r"requirements[^/]*\.txt", path))
    built = sorted(path for path in listed if re.fullmatch(r"PKG-INFO|[^/]+\.dist-info/METADATA", path))
    for paths in *([name] for name in _READERS if name in listed), texts, built:
        versions = [version for path in paths for version in _versions(project, path)]
        if versions:
            return min(versions, key=_order)
    return ""


def _versions(project: Project, path: str) -> list[str]:
    """The lower bounds for torch in one file; none where it is damaged."""
    try:
        content = project.read(path)
        reader = _READERS.get(path) or _OF_BUILT.get(path.rpartition("/")[2], _of_requirements)
        requirements = reader(content) if len(content) <= LARGEST_SETTINGS else ()
        return list(filter(None, map(_lowest, requirements)))
    except (OSError, SymfixError, SyntaxError, ValueError, RecursionError, MemoryError, configparser.Error):
        return []


def _lowest(requirement: str) -> str:
    match = _TORCH.match(requirement)
    bound = _LOWEST.search(match[1]) if match and not match[1][:1].isalnum() else None
    return bound[1] if bound else ""


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _of_pyproject(content: bytes) -> Iterator[str]:
    document = load_toml(content, "pyproject.toml")
    project = _table(document, "project")
    for listed in (project.get("dependencies"), *_table(project, "optional-dependencies").values()):
        if isinstance(listed, list):
            yield from (item for item in listed if isinstance(item, str))
    poetry = _table(_table(_table(document, "tool"), "poetry"), "dependencies").get("torch")
    constraint = poetry.get("version") if isinstance(poetry, Mapping) else poetry
    if isinstance(constraint, str):
        yield f"torch {constraint}"


def _of_setup_cfg(content: bytes) -> Iterator[str]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(content.decode("utf-8"))
    if parser.has_section("options"):
        yield from parser["options"].get("install_requires", "").splitlines()
    if parser.has_section("options.extras_require"):
        for value in parser["options.extras_require"].values():
            yield from value.splitlines()


def _of_setup_py(content: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _of_requirements(content: bytes) -> Iterator[str]:
    yield from (line.partition("#")[0].partition(";")[0] for line in content.decode("utf-8").splitlines())


def _of_source(content: bytes) -> Iterator[str]:
    """What a source distribution requires, but for what is computed anew where it is built."""
    if _COMPUTED.search(content) is None:
        yield from _of_metadata(content)


def _of_metadata(content: bytes) -> Iterator[str]:
    head = re.split(rb"\r?\n\r?\n", content, maxsplit=1)[0].decode("utf-8")
    yield from (required.partition(";")[0] for required in re.findall(r"(?m)^Requires-Dist:[ \t]*(.*)$", head))


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}


_READERS: Mapping[str, Callable[[bytes], Iterable[str]]] = {
    "pyproject.toml": _of_pyproject,
    "setup.cfg": _of_setup_cfg,
    "setup.py": _of_setup_py,
}
_OF_BUILT: Mapping[str, Callable[[bytes], Iterable[str]]] = {"PKG-INFO": _of_source, "METADATA": _of_metadata}
