"""What `symfix prove` does: the shards of a plan as tasks for `codemod.prove`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.borders.quoting import file_name
from codemod.cli.run import Run
from codemod.cli.running import begin, changes_of, chosen_groups, load_plan, operators_of
from codemod.cli.samples import with_samples
from codemod.errors import SymfixError
from codemod.model import transform
from codemod.planning.naming import matches_operator
from codemod.planning.operators import is_glob
from codemod.prove.evidence import FOLDER, EvidenceStore
from codemod.terminal import encode, show, write, write_exact

if TYPE_CHECKING:
    from codemod.bundle.shards import Shard
    from codemod.model.groups import Group
    from codemod.model.plan import Plan
    from codemod.prove.evidence import Evidence
    from codemod.prove.orchestrate import ProofRequest
    from codemod.prove.target import Target
    from codemod.prove.task import Settings, Task
    from codemod.writing.changes import Change

NO_INPUTS = "no inputs are known that run the change; write a script and give it with --repro FILE"


def prove_shards(context: click.Context, parameters: dict[str, Any]) -> int:
    """Prove the shards that are asked for, and print what was seen; returns the exit code."""
    from codemod.prove.executor import make_executor
    from codemod.prove.isolate import terminable
    from codemod.prove.orchestrate import prove_all
    from codemod.prove.table import document, line, totals

    run = begin(context, parameters)
    if isinstance(run.values["repro"], Path) and len(run.values["op"]) != 1:
        raise SymfixError("--repro runs one operator: name it with --op")
    run, plan = load_plan(run)
    session = ProofSession(run, plan, chosen_groups(run, plan))
    if run.values["repro_only"]:
        return session.print_repro()
    store = EvidenceStore(run.journal / FOLDER)
    executor = make_executor(run.values["executor"], run.project.jobs)
    proved = []
    text = run.values["format"] == "text"
    ended = prove_all(session.settings, session.requests(), store, executor, run.project.jobs, run.values["no_cache"],
                      session.whole_settings)  # fmt: skip
    with terminable(), contextlib.closing(ended):
        for shard in ended:
            proved.append(shard)
            for evidence in shard.evidence:
                if text:
                    show([line(evidence, shard.reused)])
                session.save_repro(evidence)
    evidence_of_all = [evidence for shard in proved for evidence in shard.evidence]
    if text:
        show([totals(evidence_of_all, session.settings.target.torch_version)])
    else:
        write(document(proved, session.described()).encode("ascii") + b"\n")
    if plan.failures:
        return 2
    worse = any(evidence.outcome == "worse" for evidence in evidence_of_all)
    return 1 if worse and not run.values["exit_zero"] else 0


def _scripts(run: Run, plan: Plan) -> dict[str, str]:
    """The user's scripts by operator: that of --repro for all that run, or those of [tool.symfix.repro].

    Raises SymfixError where the latter names an operator that the tree does not have.
    """
    repro: Path | Mapping[str, Path] | None = run.values["repro"]
    if repro is None or isinstance(repro, Path):
        return {"*": str(repro)} if repro else {}
    names = operators_of(run, plan)
    place = f"{run.configured['repro']}: repro: "
    return {glob: str(path) for operator, path in repro.items() for glob in names.resolve(operator, place)}


class ProofSession:
    """One run of the command: the shards of a plan, over one target."""

    def __init__(self, run: Run, plan: Plan, groups: Sequence[Group]) -> None:
        from codemod.bundle.make import sources_of
        from codemod.bundle.shards import make_shards
        from codemod.prove.session import load_provers
        from codemod.prove.target import after_import, find_target

        self._run = run
        try:
            target = find_target(run.values["python"], False)
        except SymfixError:  # the files of a torch may not say its version
            target = find_target(run.values["python"])
        pool = ThreadPoolExecutor(1)
        self._imported = pool.submit(after_import, target)  # takes seconds, in which the tree is read
        pool.shutdown(wait=False)
        changes = changes_of(run, plan, groups)
        self._sources = sources_of(run.checkout.root, changes)
        self.shards = {shard.name: shard for shard in make_shards(changes.groups)}
        self._provers = load_provers(run.project)
        self._scripts = _scripts(run, plan)
        settings = self._make_settings(target)
        if settings.version:  # a library's operators are none that PyTorch has samples of
            settings = dataclasses.replace(settings, target=with_samples(settings.target, run.values["install"]))
        self.settings = settings

    def _make_settings(self, target: Target) -> Settings:
        values, provers = self._run.values, self._provers
        return dataclasses.replace(
            provers.settings(target, values["include"]),
            prelude="".join(prover.prelude for prover in provers),
            seconds=values["timeout"],
            repros=self._scripts,
        )

    def whole_settings(self) -> Settings:
        """`settings` with what it takes to build and run, which takes longer to find than kept evidence.

        Raises SymfixError where torch cannot be imported.
        """
        definitions = {name: path for prover in self._provers for name, path in prover.definitions.items()}
        shown, target = self._imported.result(), self.settings.target
        target = dataclasses.replace(target, torch_version=shown.torch_version, cxx11_abi=shown.cxx11_abi)
        return dataclasses.replace(self.settings, definitions=definitions, target=target)

    def requests(self) -> Iterator[ProofRequest]:
        """The shards, in the order of their names; each is rendered when its turn comes."""
        from codemod.bundle.shards import closure
        from codemod.prove.evidence import evidence_key
        from codemod.prove.orchestrate import ProofRequest
        from codemod.writing.changes import changes_in

        for shard in self.shards.values():
            changes = changes_in(closure(shard, self.shards), self._sources)
            key = evidence_key(changes)
            named = frozenset(filter(self._named, shard.operators))
            make = functools.cache(functools.partial(self._task, shard, key, changes, named))
            yield ProofRequest(shard.name, key, make, named)

    def _named(self, operator: str) -> bool:
        """Whether the user has named an operator; a glob names none of them."""
        return any(matches_operator(name, operator) for name in self._run.selection.ops if not is_glob(name))

    def _task(self, shard: Shard, key: str, changes: tuple[Change, ...], named: Collection[str]) -> Task:
        from codemod.prove.task import Task

        findings = [finding for group in shard.groups for finding in group.findings]
        overrides: list[transform.Override] = []
        operators: list[set[str]] = []  # that each prover runs the changes of
        checked: dict[str, None] = {}
        for suffixes, prover in self._provers.by_suffixes:
            own = [f for f in findings if any(edit.path.endswith(suffixes) for edit in f.edits)]
            changed = list(prover.overrides(own, named)) if own else []
            operators.append({operator for override in changed for operator in override.operators})
            if own:
                overrides += changed
                built = {part.path for override in overrides for part in override.parts}
                checked.update(dict.fromkeys(prover.checked(shard.paths, built)))
        for prover, covered in zip(self._provers, operators, strict=True):
            overrides += prover.companions(sorted(set().union(*operators) - covered))
        return Task(shard.name, key, changes, tuple(overrides), tuple(checked), self._checks.get(shard.name, ()))

    @functools.cached_property
    def _checks(self) -> dict[str, tuple[str, ...]]:
        """The checks that each shard may cure; only PyTorch's own samples make them."""
        from codemod.bundle.follow_up import checks_of

        return checks_of(self._run.project, transform.load_transforms(), list(self.shards.values()))

    def repro(self) -> str:
        """The script that shows the failure of the operators asked for, "" where no inputs are known that fail."""
        from codemod.prove.work import find_repro

        settings = self.whole_settings()
        return next(filter(None, (find_repro(settings, request.make()) for request in self.requests())), "")

    def print_repro(self) -> int:
        """Print the script that shows the failure of the operators asked for."""
        script = self.repro()
        if not script:
            raise SymfixError(NO_INPUTS)
        write_exact(encode(script))
        return 0

    def save_repro(self, evidence: Evidence) -> None:
        """Keep an operator's script in the folder of --save-repro."""
        folder: Path | None = self._run.values["save_repro"]
        if folder is not None and evidence.repro:
            from codemod.writing.files import make_folder, replace_file

            make_folder(folder)
            replace_file(folder / f"{file_name(evidence.operator)}.py", encode(evidence.repro))

    def described(self) -> dict[str, str]:
        """The target, for a reader."""
        target = self.settings.target
        return {"python": target.python, "python_version": target.python_version, "torch": target.torch_version,
                "tree": self.settings.version}  # fmt: skip
