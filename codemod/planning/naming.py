"""How operators and shards are called: what names of one operator have in common, and which a `--op` matches."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from codemod.borders.quoting import file_name
from codemod.model.groups import Group

HELPER = "helper"
PREFIX = "symfix/"
"""What the names of shards' branches begin with."""
_BRANCH = re.compile(rf"(?:refs/heads/)?{PREFIX}(?=.)", re.DOTALL)
_NUMBERED = re.compile(r"(.+)-\d+")


@dataclass(frozen=True, slots=True)
class Owner:
    """What a group's shard is about. `names` are the shard's candidates for a name, best first."""

    kind: str
    """"operator", or "helper" of several."""
    about: str
    names: tuple[str, ...]


def base_name(name: str) -> str:
    """`aten::add.Tensor` → `add`; another namespace than aten is kept: `torchvision::nms`."""
    return name.removeprefix("aten::").partition(".")[0]


@functools.cache
def family(operator: str) -> str:
    """The operator that `operator` is an overload, an out, in-place or backward variant of."""
    name = base_name(operator)
    for suffix in ("_out", "_backward", "_"):
        if len(name) > len(suffix) and name.endswith(suffix) and not name.endswith("__"):
            name = name.removesuffix(suffix)
    return name


def operators_of(groups: Iterable[Group]) -> tuple[str, ...]:
    """The operators that the findings of `groups` are about, sorted."""
    return tuple(sorted({name for group in groups for finding in group.findings for name in finding.operators}))


def owner_of(group: Group) -> Owner:
    """The operator that alone runs a group, or that the group is named after; else the helper that it is."""
    path = group.paths[0] if group.paths else group.findings[0].path
    families = {family(operator) for operator in operators_of([group])}
    functions = [finding.function.rpartition("::")[2] for finding in group.findings if finding.function]
    own = {family(function.removesuffix("_symint")) for function in functions}
    owner = families if len(families) == 1 else families & own
    if len(owner) == 1:
        (name,) = owner
        return Owner("operator", name, (name,))
    function = functions[0] if functions else path.rpartition("/")[2]
    stem = path.rpartition("/")[2].partition(".")[0]
    return Owner(HELPER, function, (f"{HELPER}-{function}", f"{HELPER}-{function}-{stem}"))


def matches_operator(glob: str, name: str) -> bool:
    """Whether `glob` means the operator `name`: by its full name, without namespace, overload, or both.

    The name of an operator means its out, in-place and backward variants too, as a shard holds them together. An
    overload is asked for in vain where `name` has none: then the operator is meant with all its overloads.
    """
    pattern = _compiled(glob)
    if any(pattern.match(form) for form in _forms(name)):
        return True
    whole, overload, _ = glob.partition(".")
    if not overload or "." in name:
        return False
    return _compiled(whole).match(name if "::" in whole else name.rpartition("::")[2]) is not None


def matches_shard(glob: str, group: Group) -> bool:
    """Whether `glob` is the name of the shard that holds `group`; the number of a part of it does not matter."""
    patterns = [_compiled(glob)]
    numbered = _NUMBERED.fullmatch(glob)
    if numbered is not None:
        patterns.append(_compiled(numbered[1]))
    return any(pattern.match(name) for pattern in patterns for name in shard_names(group))


def shard_names(group: Group) -> frozenset[str]:
    """The names that the shard of `group` may have: what it is about, and what branches and files are called."""
    owner = owner_of(group)
    return frozenset({owner.about, *owner.names, *map(file_name, owner.names)})


def without_branch(written: str) -> str:
    """The name of a shard where `written` is that of its branch, as bundle, fix and pr print it; else `written`."""
    return _BRANCH.sub("", written, count=1) if _BRANCH.match(written) else written


@functools.cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob))


@functools.cache
def _forms(name: str) -> tuple[str, ...]:
    bare, variant = name.rpartition("::")[2], family(name)
    whole = variant if "::" in variant else f"aten::{variant}"
    forms = (name, bare, name.partition(".")[0], bare.partition(".")[0], variant, whole, variant.rpartition("::")[2])
    return tuple(dict.fromkeys(forms))
