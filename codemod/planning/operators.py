"""From what a person writes for an operator to the names that a plan has for it."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from codemod.errors import SymfixError, nearest
from codemod.model.findings import Finding
from codemod.model.groups import Group, make_groups
from codemod.planning.naming import base_name, family, matches_operator, matches_shard, shard_names, without_branch

# How Python spells operators: torch.ops has the dispatcher's names, all else are places in the package `torch`.
_DISPATCHED = re.compile(r"(?:torch\.)?(?:_?ops\.)(\w+)\.([^.]+)(?:\.([^.]+))?")
_PACKAGE = re.compile(r"(?:torch\.)?(?:nn\.functional|functional|Tensor|_C\._nn|_C|_VF|_refs)\.|torch\.|F\.")
_GLOB = re.compile(r"[*?\[]")


class UnknownOperator(SymfixError):
    """A name that neither a plan nor its tree has for an operator."""


@dataclass(frozen=True, slots=True)
class TreeNames:
    """What a tree says of names when a plan does not have them; each is asked for when it is needed."""

    operators: Callable[[], Collection[str]] = frozenset
    """Every operator that the tree declares or registers: `aten::add`, `torchvision::nms`."""
    functions: Callable[[], Mapping[str, tuple[str, ...]]] = dict
    """Public Python functions, by the last part of their name, with the operators that they return."""


class Operators:
    """The names of a plan's operators and shards."""

    def __init__(self, findings: Iterable[Finding], tree: TreeNames | None = None) -> None:
        listed = list(findings)
        self._findings = listed
        self._tree = tree or TreeNames()
        self.names = frozenset(name for finding in listed for name in finding.operators)

    @functools.cached_property
    def _groups(self) -> list[Group]:
        return make_groups(self._findings)

    def resolve(self, written: str, place: str) -> tuple[str, ...]:
        """The globs, for `codemod.planning.naming`, that stand for `written` in this plan.

        Where an operator of the tree has no finding, what is returned matches none.
        Raises UnknownOperator, which begins with `place`, where neither the plan nor the tree has such a name.
        """
        meant = without_branch(written)
        spellings = spelled(meant)
        own = next((spelling for spelling in spellings if self.has(spelling)), "")
        chosen = [own] if own else []
        called: tuple[str, ...] = ()
        if not own or _PACKAGE.match(meant):
            called = self._called(spellings[-1])
            chosen += [name for name in called if name not in chosen and self.has(name)]
        if chosen:
            return tuple(chosen)
        declared = next((spelling for spelling in spellings if _matches(spelling, self._tree.operators())), "")
        if declared or called:
            return (declared,) if declared else called
        close = "" if is_glob(meant) else nearest(base_name(spellings[-1]), self.all())
        raise UnknownOperator(f"{place}{written}: no operator of this tree has such a name{close}")

    def has(self, glob: str) -> bool:
        """Whether a finding is about an operator, or in a shard, that `glob` matches."""
        return _matches(glob, self.names) or any(matches_shard(glob, group) for group in self._groups)

    def all(self) -> list[str]:
        """Every name that may be written, in its short form, sorted."""
        names = {base_name(name) for name in {*self.names, *self._tree.operators()}}
        shards = (name for group in self._groups for name in shard_names(group))
        return sorted({*names, *map(family, self.names), *shards, *self._tree.functions()})

    def _called(self, spelling: str) -> tuple[str, ...]:
        """The operators that the public functions of this name return."""
        last = base_name(spelling)
        functions = self._tree.functions()
        names = (name for key in fnmatch.filter(functions, last) for name in functions[key])
        return tuple(dict.fromkeys(names))


def spelled(written: str) -> tuple[str, ...]:
    """The names that `written` may stand for, the likeliest first: `torch.linalg.cond` → `aten::linalg_cond`.

    `torch.nn.functional.pad` and `torch.Tensor.cov` are called `pad` and `cov` by ATen, and what stands in another
    module of torch has its name before it (native_functions.yaml, `python_module`).
    """
    if "::" in written or "." not in written:
        return (written,)
    dispatched = _DISPATCHED.fullmatch(f"ops.{written}" if written.startswith("aten.") else written)
    if dispatched is not None:
        namespace, name, overload = dispatched.groups()
        return (f"{namespace}::{name}" + (f".{overload}" if overload not in (None, "default") else ""),)
    plain = _PACKAGE.sub("", written, count=1)
    if plain != written:
        return (f"aten::{plain.replace('.', '_')}",)
    package, _, last = written.partition(".")
    return written, f"{package}::{last.rpartition('.')[2]}", f"aten::{written.replace('.', '_')}"


def is_glob(written: str) -> bool:
    """Whether `written` may mean several operators."""
    return _GLOB.search(written) is not None


def _matches(glob: str, names: Iterable[str]) -> bool:
    return any(matches_operator(glob, name) for name in names)
