"""What symfix says about trees, recorded; and what of it another symfix says otherwise.

    python tests/corpus/compare_outputs.py record OUT TREE [TREE…] [--symfix COMMAND]
    python tests/corpus/compare_outputs.py compare BEFORE AFTER [--limit N] [--sample N --seed S] [--format json]
    python tests/corpus/compare_outputs.py sample RECORDING N [--seed S]

`record` copies each TREE into a git repository of one commit and keeps what scan, diff, review --html and bundle say
there, at levels safe and review; corpus_recording.py lists the files. TREE is a folder, `examples` (that of this
checkout), or `torch` (the Python of the installed package). It runs the symfix of this checkout, or COMMAND, with an
empty cache and by the command line alone, so that modules may move between two recordings. bundle compiles nothing:
$CXX is /dev/null there.

`compare` exits with 0 and says "no difference" where BEFORE and AFTER hold the same bytes, else with 1, and says which
outputs differ and which decisions appeared, vanished or changed. Where the trees themselves differ, as examples/ does
after a new rule, positions are carried over by lines. `--format json` has all decisions, whatever `--limit`.

`sample` prints findings at random, refusals too, to be read by eye. A folder of one tree within a recording will do
wherever a recording is asked for.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import corpus_recording
from corpus_findings import FIELDS, Differences, compare_findings
from corpus_recording import RUNS, RecordingError, TreeRecording, open_recording
from corpus_show import CONTEXT, show_decision, show_finding
from rich.console import Console
from rich.text import Text


@dataclass(frozen=True)
class TreeComparison:
    """What differs between two recordings of one tree."""

    before: TreeRecording
    after: TreeRecording
    outputs: list[str] = field(default_factory=list)
    """The recorded files that are not the same."""
    differences: Differences = field(default_factory=lambda: Differences([], (), ()))

    @property
    def other_tree(self) -> bool:
        """Whether the recordings are of trees that are not the same."""
        return bool(self.before.meta["tree"] != self.after.meta["tree"])

    @property
    def same(self) -> bool:
        """Whether every byte is the same, those of the tree too."""
        return not self.outputs and not self.other_tree

    def commits(self) -> dict[str, dict[str, list[str]]]:
        """For each run of bundle the branches that appeared, that vanished, and whose parent, tree, message differ."""
        runs = {}
        for run in RUNS:
            old, new = self.before.commits(run), self.after.commits(run)
            counts = {"appeared": sorted(new.keys() - old.keys()), "vanished": sorted(old.keys() - new.keys())}
            for key in ("parent", "tree", "message"):
                counts[key] = [name for name in sorted(old.keys() & new.keys()) if old[name][key] != new[name][key]]
            runs[run] = {key: names for key, names in counts.items() if names}
        return {run: counts for run, counts in runs.items() if counts}

    def to_json(self) -> dict[str, Any]:
        """All of it, for a program."""
        decisions = [
            {"kind": decision.kind, "fields": decision.fields, "before": decision.before, "after": decision.after}
            for decision in self.differences.decisions
        ]
        return {
            "same": self.same,
            "failures": self.after.failures(),
            "other_tree": self.other_tree,
            "outputs": self.outputs,
            "not_compared": self.differences.one_sided,
            "by_rule": self.differences.by_rule(),
            "decisions": decisions,
            "commits": self.commits(),
        }


def compare_tree(before: TreeRecording, after: TreeRecording) -> TreeComparison:
    """What differs between two recordings of one tree."""
    names = sorted({*before.outputs(), *after.outputs()})
    outputs = [name for name in names if before.output(name) != after.output(name)]
    if "scan-json.stdout" not in outputs:
        return TreeComparison(before, after, outputs)
    return TreeComparison(before, after, outputs, compare_findings(before, after))


def record(options: argparse.Namespace, console: Console) -> int:
    """Record each tree; returns 0, 1 where a command of symfix failed.

    Raises RecordingError before anything is recorded where one of the trees cannot be.
    """
    command = shlex.split(options.symfix) if options.symfix else corpus_recording.own_symfix()
    names = [corpus_recording.tree_name(tree) for tree in options.trees]
    for name in names:
        if names.count(name) > 1:
            raise RecordingError(f"{name}: two trees of this name; record them into two folders")
        corpus_recording.refuse_recorded(options.out / name)
    for name, tree in zip(names, options.trees, strict=True):
        for step in corpus_recording.record_tree(tree, options.out, command):
            print(f"{name}: {step}", file=sys.stderr, flush=True)
    recordings = open_recording(options.out)
    failures = [line for name in names for line in recordings[name].failures()]
    console.print(Text("\n".join([*failures, f"recorded {', '.join(names)} in {options.out}"])))
    return 1 if failures else 0


def compare(options: argparse.Namespace, console: Console) -> int:
    """Say what differs; returns 0 where nothing does, else 1."""
    before, after = open_recording(options.before), open_recording(options.after)
    if len(before) == len(after) == 1 and (options.before / "recorded.json").is_file():
        after = dict(zip(before, after.values(), strict=True))
    comparisons = {}
    for name in sorted(before.keys() & after.keys()):
        print(f"comparing {name}", file=sys.stderr, flush=True)
        comparisons[name] = compare_tree(before[name], after[name])
    only = {"only_before": sorted(before.keys() - after.keys()), "only_after": sorted(after.keys() - before.keys())}
    same = all(comparison.same for comparison in comparisons.values()) and not any(only.values())
    if options.format == "json":
        trees = {name: comparison.to_json() for name, comparison in comparisons.items()}
        print(json.dumps({"same": same, **only, "trees": trees}, indent=1))
        return 0 if same else 1
    for name in (*only["only_before"], *only["only_after"]):
        console.print(Text(f"{name}: recorded in {options.before if name in before else options.after} only"))
    for name, comparison in comparisons.items():
        if not comparison.same:
            _show(name, comparison, options.limit if options.sample is None else 0, console)
    if options.sample is not None:
        _sample_decisions(comparisons.values(), options.sample, options.seed, console)
    for line in [line for tree in after.values() for line in tree.failures()]:
        console.print(Text(f"failed, so that little is compared: {line}", style="yellow"))
    if same:
        findings = sum(len(tree.findings) for tree in before.values())
        console.print(Text(f"no difference: {', '.join(before)} ({findings:,} findings)", style="green"))
    return 0 if same else 1


def sample(options: argparse.Namespace, console: Console) -> int:
    """Print findings at random with the source around them; returns 0."""
    trees = open_recording(options.recording).values()
    findings = [(tree, finding) for tree in trees for finding in tree.findings]
    chosen = random.Random(options.seed).sample(findings, min(options.count, len(findings)))
    for number, (tree, finding) in enumerate(chosen, 1):
        console.print(Text(f"{number} of {len(chosen)}  {tree.name}", style="cyan"))
        _print(show_finding(finding, tree, CONTEXT), console)
        console.print()
    return 0


def _show(name: str, comparison: TreeComparison, limit: int, console: Console) -> None:
    console.print(Text(name, style="bold underline"))
    differences = comparison.differences
    if comparison.other_tree:
        files = "".join(f"\n    {path}" for path in differences.sources[:limit])
        console.print(Text(f"  the tree itself differs: {len(differences.sources)} files with findings{files}"))
    if differences.one_sided:
        console.print(Text(f"  only one of them has {', '.join(differences.one_sided)}, which is not compared"))
    for output in comparison.outputs:
        lines = _file_diff(comparison.before.folder / output, comparison.after.folder / output)
        away, new = (sum(line.startswith(sign) for line in lines) for sign in "-+")
        console.print(Text(f"  {output}: {away:,} lines less, {new:,} more"))
        # Where decisions differ, the rest follows from them.
        for line in [] if differences.decisions else lines[:limit]:
            console.print(Text(f"    {line}", style={"+": "green", "-": "red"}.get(line[:1], "")))
    for run, counts in comparison.commits().items():
        for key, names in counts.items():
            shown = ", ".join(names[:limit]) + (" …" if len(names) > limit else "")
            console.print(Text(f"  {run}: branches, {_how(key)}: {len(names)}{f': {shown}' if limit else ''}"))
    if differences.decisions:
        _print(map(Text, _table(differences)), console, "  ")
    for kind, decisions in differences.kinds().items():
        if limit:
            console.print(Text(f"{_how(kind)} ({len(decisions)})", style="bold"))
        for decision in decisions[:limit]:
            _print(show_decision(decision, comparison.before, comparison.after), console, "  ")
        if len(decisions) > limit > 0:
            console.print(Text(f"  … and {len(decisions) - limit} more (--limit)", style="dim"))
    console.print()


def _how(kind: str) -> str:
    return kind if kind in ("appeared", "vanished") else f"changed {kind}"


def _sample_decisions(comparisons: Iterable[TreeComparison], count: int, seed: int, console: Console) -> None:
    decisions = [(comparison, decision) for comparison in comparisons for decision in comparison.differences.decisions]
    chosen = random.Random(seed).sample(decisions, min(count, len(decisions)))
    for number, (comparison, decision) in enumerate(chosen, 1):
        title = f"{number} of {len(chosen)}  {comparison.after.name}  {_how(decision.kind)}"
        console.print(Text(title, style="cyan"))
        _print(show_decision(decision, comparison.before, comparison.after, CONTEXT), console)
        console.print()


def _table(differences: Differences) -> list[str]:
    """How many decisions of each rule appeared, vanished and changed, and in how many each field differs."""
    rules = differences.by_rule()
    total: Counter[str] = sum(rules.values(), Counter())
    columns = [name for name in ("appeared", "vanished", "changed", *FIELDS) if total[name]]
    rows = [["rule", *columns]]
    for rule, counts in [*rules.items(), ("all", total)]:
        rows.append([rule, *(f"{counts[column]:,}" if counts[column] else "·" for column in columns)])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *(map(str.rjust, row[1:], widths[1:]))]) for row in rows]


def _print(lines: Iterable[Text], console: Console, indent: str = "") -> None:
    for line in lines:
        console.print(Text(indent).append_text(line))


def _file_diff(before: Path, after: Path) -> list[str]:
    """The lines of a diff of two files, either of which may be absent, from the first hunk on."""
    names = [str(path) if path.is_file() else "/dev/null" for path in (before, after)]
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--text", "-U0", *names],
        capture_output=True,
        check=False,
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return lines[first:]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="record | compare | sample")
    recorder = commands.add_parser("record", help="keep what symfix says about trees")
    recorder.add_argument("out", type=Path, metavar="OUT")
    recorder.add_argument("trees", nargs="+", metavar="TREE", help="a folder, examples, or torch")
    recorder.add_argument("--symfix", metavar="COMMAND", help="another symfix than that of this checkout")
    recorder.set_defaults(run=record)
    comparer = commands.add_parser("compare", help="say what differs between two recordings")
    comparer.add_argument("before", type=Path, metavar="BEFORE")
    comparer.add_argument("after", type=Path, metavar="AFTER")
    comparer.add_argument("--limit", type=int, default=10, metavar="N", help="how many of each kind (10)")
    comparer.add_argument("--format", choices=("text", "json"), default="text")
    comparer.add_argument("--sample", type=int, metavar="N", help="in their place, so many at random with their source")
    comparer.add_argument("--seed", type=int, default=0, metavar="S")
    comparer.set_defaults(run=compare)
    sampler = commands.add_parser("sample", help="print findings at random with their source")
    sampler.add_argument("recording", type=Path, metavar="RECORDING")
    sampler.add_argument("count", type=int, metavar="N")
    sampler.add_argument("--seed", type=int, default=0, metavar="S")
    sampler.set_defaults(run=sample)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options, Console(soft_wrap=True, highlight=False))
    except RecordingError as error:
        print(f"compare_outputs.py: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    raise SystemExit(main())
