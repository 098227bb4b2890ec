"""The entries of torchgen's YAML files, each a list of mappings, with their lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml

from codemod.borders.documents import WRONG_VALUES, yaml_loader
from codemod.errors import SymfixError
from transforms.schema.schema import Schema, parse_schema

Value: TypeAlias = "str | list[str] | dict[str, str]"


class BrokenYaml(SymfixError, ValueError):
    """A YAML file that is not what torchgen reads: the file, the line and what is wrong, in one line."""


def entries(path: str, source: bytes) -> Iterator[tuple[int, dict[str, Value]]]:
    """(line, mapping) of every entry; scalars are strings. Raises BrokenYaml."""
    try:
        loader = yaml_loader(source, path)
    except SymfixError as error:
        raise BrokenYaml(str(error)) from None
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.SequenceNode):
            raise BrokenYaml(f"{path}:1: not a list of operators: the first entry must begin with '- '")
        for node in root.value:
            line = node.start_mark.line + 1
            yield line, _mapping(loader, node, f"{path}:{line}")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        raise BrokenYaml(f"{path}:{mark.line + 1 if mark is not None else 1}: {problem}") from None


def _mapping(loader: yaml.SafeLoader, node: yaml.Node, place: str) -> dict[str, Value]:
    """The entry at `node`. Raises BrokenYaml, or YAMLError."""
    try:
        loaded = loader.construct_object(node, deep=True)
        if isinstance(loaded, dict):
            return {str(key): _value(value) for key, value in loaded.items()}
    except WRONG_VALUES as error:
        raise BrokenYaml(f"{place}: a value that is not of its type: {error}") from None
    raise BrokenYaml(f"{place}: an entry must be a mapping of keys to values")


def schemas(path: str, source: bytes, key: str, file: str) -> Iterator[tuple[Schema, int, dict[str, Value]]]:
    """(schema under `key`, line, mapping) of every entry; `file` names what is read. Raises BrokenYaml."""
    for line, mapping in entries(path, source):
        text = text_of(mapping, key)
        if not text:
            raise BrokenYaml(f"{path}:{line}: an entry has no '{key}:'; is this a {file}?")
        try:
            yield parse_schema(text), line, mapping
        except ValueError as error:
            raise BrokenYaml(f"{path}:{line}: {error}") from None


def _value(value: Any) -> Value:
    if isinstance(value, dict):
        return {str(key): str(item) for key, item in value.items()}
    if isinstance(value, list):
        return [str(item) for item in value]
    return "" if value is None else str(value)


def text_of(mapping: dict[str, Value], key: str) -> str:
    """The scalar under `key`, "" where there is none."""
    value = mapping.get(key, "")
    return value if isinstance(value, str) else ""


def list_of(mapping: dict[str, Value], key: str) -> tuple[str, ...]:
    """The items under `key`, written as a list or separated by commas."""
    value = mapping.get(key, "")
    items = value.split(",") if isinstance(value, str) else list(value)
    return tuple(item.strip() for item in items if item.strip())
