"""From a project to its plan: what the transforms find, less what comments suppress, with overlaps settled."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from codemod import __version__
from codemod.borders.files import read_below, read_file
from codemod.model.choices import ALL
from codemod.model.findings import Finding
from codemod.model.groups import refuse_overlaps
from codemod.model.identity import with_ids
from codemod.model.operators import qualified
from codemod.model.plan import Plan
from codemod.model.suppress import nearly_suppressed, suppress, suppressions
from codemod.model.transform import ENTRY_POINT_GROUP, Transform
from codemod.tree.cache import code_version, dependency_versions, installed_version, racy
from codemod.tree.pool import beside, can_fork
from codemod.tree.project import CheckoutProject
from codemod.tree.record import Question, Record, Watched


def analyse(project: CheckoutProject, load: Callable[[], Sequence[Transform]]) -> Plan:
    """The plan of a project: the one kept from the last run where nothing it rests on has changed, else a new one.

    `load` gives the transforms; it is called only for a new plan.
    """
    key = _key(project)
    kept = project.cache.load_plan(key)
    if isinstance(kept, _Kept):
        fingerprint = project.fingerprint(kept.watched)
        if fingerprint == kept.fingerprint:
            return kept.plan
        # Only the times of files differ, as after a checkout.
        if project.contents(kept.watched, kept.plan.files) == kept.contents:
            if not _racy(project):
                project.cache.store_plan(key, kept._replace(fingerprint=fingerprint))
            return kept.plan
    with _no_collector():
        plan = _make(project, load(), key)
    if not project.failures:
        watched = project.watched()
        fingerprint = "" if _racy(project) else project.fingerprint(watched)
        contents = project.contents(watched, plan.files)
        project.cache.store_plan(key, _Kept(watched, fingerprint, contents, plan))
    return plan


class _Kept(NamedTuple):
    """A plan, and what it rests on: `codemod.tree.project.CheckoutProject.fingerprint` and `.contents`."""

    watched: Watched
    fingerprint: str
    contents: str
    plan: Plan


def _racy(project: CheckoutProject) -> bool:
    """Whether another write may still change a file without changing its times."""
    return any(map(racy, project.stats.values()))


def _left_out(project: CheckoutProject, suffixes: Sequence[str]) -> str:
    """One line that says how many sources a sparse checkout leaves out; "" for none."""
    count = len(project.left_out(suffixes))
    which = f"{count:,} source {'file' if count == 1 else 'files'}"
    return f"a sparse checkout leaves out {which}, so what these call and register is not seen" if count else ""


class _Found(NamedTuple):
    """What one transform found, and what it asked of the project: `codemod.tree.project.CheckoutProject.answers`."""

    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    answers: Mapping[Question, str]


def _found(project: CheckoutProject, transforms: Sequence[Transform], key: str) -> list[_Found]:
    """What each transform finds. The first of two or more that look anew does so beside the others, if possible.

    The others share what they make `once`.
    """
    keys = [hashlib.sha256(f"{key} {transform.name}".encode()).hexdigest()[:24] for transform in transforms]
    found = {key: kept for key in keys if (kept := _kept(project, key)) is not None}
    anew = [(key, transform) for key, transform in zip(keys, transforms, strict=True) if key not in found]
    if len(anew) > 1 and project.jobs > 1 and can_fork() and project.names:  # git lists them once for both
        (first, transform), *anew = anew
        with beside(partial(_recorded, project, transform, first), transform.name) as result:
            found |= {key: _look(project, transform, key) for key, transform in anew}
            found[first], record = result()
        project.add(record)
    else:
        found |= {key: _look(project, transform, key) for key, transform in anew}
    return [found[key] for key in keys]


def _kept(project: CheckoutProject, key: str) -> _Found | None:
    """What a transform found in an earlier run, where all that it asked would be answered alike.

    So an edit of C++ leaves Python's findings as they are, and the other way round.
    """
    kept = project.cache.load_findings(key)
    return kept if isinstance(kept, _Found) and project.answers_alike(kept.answers) else None


def _recorded(project: CheckoutProject, transform: Transform, key: str) -> tuple[_Found, Record]:
    return _look(project, transform, key), project.record()


def _look(project: CheckoutProject, transform: Transform, key: str) -> _Found:
    """What a transform finds now, kept for the next run where no file defeated it."""
    remarks, failures = len(project.remarks), len(project.failures)
    findings, answers = project.answers(lambda: tuple(map(_qualified, transform.analyse(project))))
    found = _Found(findings, tuple(project.remarks[remarks:]), answers)
    del project.remarks[remarks:]
    if len(project.failures) == failures:
        project.cache.store_findings(key, found)
    return found


def _make(project: CheckoutProject, transforms: Sequence[Transform], key: str) -> Plan:
    findings: list[Finding] = []
    for found in _found(project, transforms, key):
        findings += found.findings
        project.remarks += found.remarks
    suffixes = sorted({suffix for transform in transforms for suffix in transform.suffixes})
    paths = [path for path in project.files(suffixes) if project.selected(path)]
    comments = project.facts(suppressions, paths)
    # Only a comment that suppresses nothing is told by the rules, whose modules take long to load.
    rules = [rule for transform in transforms for rule in transform.rules()] if any(comments.values()) else []
    remaining, suppressed = suppress(findings, comments, rules)
    chosen, left = project.scope.split(remaining)
    remarks = (project.scope.remark(left), nearly_suppressed(comments), _left_out(project, suffixes), *project.remarks)
    options: dict[str, Any] = {"paths": list(project.paths)}
    if project.vocabulary is not None:
        options["vocabulary"] = project.vocabulary.name
    if project.torch:
        options["torch"] = project.torch
    if project.scope.name != ALL:
        options["scope"] = project.scope.name
    return Plan(
        findings=tuple(with_ids(refuse_overlaps(chosen), lambda path: read_below(project.root, path))),
        files=dict(sorted(project.hashes.items())),
        options=options,
        suppressed=suppressed,
        failures=tuple(dict.fromkeys(project.failures)),
        remarks=tuple(dict.fromkeys(filter(None, remarks))),
        symfix=__version__,
    )


def _qualified(finding: Finding) -> Finding:
    """`finding` with the full name of each operator, so that all that is made of a plan knows one name for it."""
    names = tuple(sorted({qualified(name) for name in finding.operators}))
    return finding if names == finding.operators else dataclasses.replace(finding, operators=names)


def _key(project: CheckoutProject) -> str:
    """Names the plans that the same code would make of the same question about the same bytes."""
    parts = [code_version("codemod"), dependency_versions("symfix"), repr(project.paths), repr(project.vocabulary)]
    parts += [project.torch, installed_version("torch"), project.scope.name, repr(sorted(project.traced))]
    if project.vocabulary is not None:
        parts.append(hashlib.sha256(read_file(project.vocabulary)).hexdigest())
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=ENTRY_POINT_GROUP)):
        package = point.module.partition(".")[0]
        parts.append(f"{point.name} {point.value} {point.dist.version if point.dist else ''} {code_version(package)}")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


@contextmanager
def _no_collector() -> Iterator[None]:
    """Facts are many small objects without cycles: collecting while they are made only costs time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # what was made is old by now: the collector need not look at all of it at once
            gc.unfreeze()
            gc.enable()
