"""The C++ analysis of a tree: facts, reach, flow in every reached function, findings."""

from __future__ import annotations

from collections.abc import Iterator

from codemod.findings import Finding, Level
from codemod.transform import Project
from transforms.cpp import headers
from transforms.cpp.extract import extract
from transforms.cpp.facts import Function
from transforms.cpp.flow.outcome import Assumptions, Outcome, Task, analyse, tasks_by_file
from transforms.cpp.reach import reached
from transforms.cpp.report import Lines, findings, group_name
from transforms.schema import derivatives as derivatives_yaml

SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".cu", ".cuh", ".mm")
_PYTORCH = ("aten/src/ATen", "torch/csrc/autograd", "torch/csrc/utils", "c10/core", "c10/util")
_DERIVATIVES = "tools/autograd/derivatives.yaml"


def source_files(project: Project) -> list[str]:
    """The files whose facts matter: in a PyTorch checkout where operators and their helpers live, else all."""
    everything = project.files(SUFFIXES)
    if not (project.root / headers.OWN_YAML).is_file():
        return everything
    folders = tuple(f"{folder}/" for folder in _PYTORCH)
    return [path for path in everything if path.startswith(folders) or path.endswith((".cpp", ".h")) and _extra(project, path)]


def _extra(project: Project, path: str) -> bool:
    """A file outside the usual folders that the user named."""
    return project.selected(path) and not project.selected("")


def analyse_tree(project: Project) -> Iterator[Finding]:
    """Every finding in the selected files of a tree."""
    paths = source_files(project)
    sources = headers.locate(project)
    facts = project.facts(extract, paths)
    natives = headers.load_operators(project, sources.yaml)
    own = natives if sources.yaml == headers.OWN_YAML else None
    if own is None and (project.root / headers.OWN_YAML).is_file():
        own = headers.load_operators(project, headers.OWN_YAML)
    formulas = None
    if (project.root / _DERIVATIVES).is_file():
        formulas = project.facts(derivatives_yaml.load, [_DERIVATIVES]).get(_DERIVATIVES)
    reach = reached(facts, own, formulas)
    vocabulary = headers.load_vocabulary(project, facts, sources, natives)
    chosen = [
        function
        for path, file in facts.items()
        if project.selected(path)
        for function in file.functions
        if function.body >= 0 and (path, function.start) in reach and function.candidates
    ]
    tasks = _tasks(project, chosen, lambda path, source, functions: Task(path, source, functions, vocabulary, Assumptions(), False))
    for task, outcomes in zip(tasks, project.map(analyse, tasks, "following values"), strict=True):
        lines = Lines(task.source)
        for outcome in outcomes:
            function = outcome.function
            yield from findings(outcome, reach[function.path, function.start], lines, group_name(function), _level(outcome))


def _tasks(project: Project, chosen: list[Function], make) -> list[Task]:  # type: ignore[no-untyped-def]
    return [
        make(path, project.read(path), tuple(functions)) for path, functions in tasks_by_file(chosen).items()
    ]


def _level(outcome: Outcome) -> Level:
    """Safe where the whole function converts; a function that is converted in part needs a person's eye."""
    left = outcome.unknown or any(site.origin in outcome.concrete for site in outcome.sites)
    return Level.REVIEW if left else Level.SAFE
