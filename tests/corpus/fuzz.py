"""Give symfix trees that are damaged at random, and check its promises.

    python tests/corpus/fuzz.py TREE [--rounds 2000] [--seed 1] [--workers 2] [--keep DIR]
    python tests/corpus/fuzz.py TREE --seed 1 --round 17          the same round again

A round takes `examples/` and some files of TREE, changes them (lines, bytes, names, nesting, YAML, [tool.symfix],
links, pipes), and often a file of the command line or of symfix's own books as well. It runs scan, diff, apply and
apply again, each in a process of its own, and asks: does each exit 0, 1 or 2, in time and within memory, and on 2 with
a line that names the file? Is what `git apply` makes of the diff what apply writes? Are all bytes outside the edits
kept, no syntax error gained, and nothing outside of the tree touched? A round is the same for the same seed and tree;
one that fails is kept, with what to type to see it again. Prints a table; exit 1 where a promise did not hold.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from fuzz_attacks import run_commands
from fuzz_promises import Bounds, Violation
from fuzz_round import Round, Surroundings, round_chance
from fuzz_server import Server
from fuzz_trees import Source, make_headers, make_tools

_SHOWN = 15


@dataclass(slots=True)
class Tally:
    """What all rounds came to."""

    rounds: int = 0
    failed: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    """How runs of each command ended."""
    edits: int = 0
    written: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    """Findings that are left alone, by the code of the reason."""
    messages: Counter[str] = field(default_factory=Counter)
    """First lines of runs that exited 2, without names and numbers."""
    causes: dict[str, list[int]] = field(default_factory=dict)
    """The rounds in which a promise did not hold, by how."""

    def add(self, number: int, case: Round) -> None:
        """Count the round `number`."""
        self.rounds += 1
        self.failed += bool(case.violations)
        self.edits += case.edits
        self.written += case.written
        self.refusals.update(case.refusals)
        for run in case.runs:
            self.codes[f"{run.arguments[0]} {'hangs' if run.timed_out else run.code}"] += 1
            if run.code == 2 and run.err.strip():
                self.messages[_kind(run.err)] += 1
        for violation in case.violations:
            rounds = self.causes.setdefault(violation.cause, [])
            if number not in rounds:
                rounds.append(number)


def _kind(message: bytes) -> str:
    """The first line of a message without what differs from file to file."""
    text = message.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("symfix: ")
    text = re.sub(r"\S*/\S*|\S+\.(?:cpp|h|py|yaml|json|toml|md|j2)\b:?|'[^']*'|\"[^\"]*\"", "…", text)
    return re.sub(r"\d+", "N", text)[:90]


def run_rounds(source: Source, seed: int, numbers: Sequence[int], workers: int, bounds: Bounds, keep: Path) -> Tally:
    """Run the rounds `numbers`, as many at a time as `workers`; those that fail are kept in the folder `keep`."""
    tally = Tally()
    usual = threading.stack_size(64 << 20)  # compile() of deep Python recurses in C
    scratch = Path(tempfile.mkdtemp(prefix="symfix-fuzz-"))
    shared = make_tools(scratch / "tools"), make_headers(scratch / "headers")
    local = threading.local()
    servers: list[Server] = []

    def run_round(number: int) -> Round:
        if not hasattr(local, "around"):
            local.around = Surroundings(Server(scratch, shared[0]), source, bounds, *shared)
            servers.append(local.around.server)
        folder = scratch / f"round-{seed}-{number}"
        case = Round(local.around, folder, round_chance(seed, number))
        try:
            case.build()
            run_commands(case)
        except Exception as error:  # one round that this program cannot make must not end all others
            where = traceback.extract_tb(error.__traceback__)[-1]
            detail = f"{type(error).__name__}: {error} ({where.name}:{where.lineno})"
            case.violations.append(Violation("this program makes the round", detail))
        if case.violations:
            _keep(case, folder, keep, f"fuzz.py {shlex.quote(str(source.tree))} --seed {seed} --round {number}")
        shutil.rmtree(folder, onerror=lambda function, path, error: None)
        return case

    try:
        with ThreadPoolExecutor(workers) as pool:
            futures = {pool.submit(run_round, number): number for number in numbers}
            for future in as_completed(futures):
                tally.add(futures[future], future.result())
                _show_progress(tally, len(numbers))
    finally:
        threading.stack_size(usual)
        for server in servers:
            server.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return tally


def _keep(case: Round, folder: Path, keep: Path, again: str) -> None:
    """Keep the tree as it was left, the output of each run, and what shows it again."""
    target = keep / folder.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in ("log", "tree", "side", "outside"):
        shutil.move(folder / name, target / name)
    lines = [f"python tests/corpus/{again} --keep {shlex.quote(str(keep))}", ""]
    lines += [f"broken: {violation}" for violation in case.violations]
    lines += [f"changed: {change}" for change in case.changes]
    lines += [f"run: symfix {shlex.join(run.arguments)}  # {run.code}, {run.processor:.1f} s, {run.megabytes} MB"
              for run in case.runs]  # fmt: skip
    text = "\n".join(lines) + "\n"
    (target / "again.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
    first = case.violations[0]
    _say(f"{folder.name}: {first}\n  kept in {target}\n  again: {lines[0]}")


def _say(text: str) -> None:
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    sys.stderr.write(f"{clear}{text}\n".encode("utf-8", "backslashreplace").decode())


def _show_progress(tally: Tally, rounds: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{tally.rounds} of {rounds} rounds, {tally.failed} failed, {tally.edits} edits")
        sys.stderr.flush()


def report(tally: Tally, seconds: float) -> str:
    """The table of a run."""
    runs = sum(tally.codes.values())
    lines = [
        f"{tally.rounds} rounds with {runs} runs in {seconds:.0f} s; {tally.edits} edits in {tally.written} files seen",
        "",
        *_table("runs, by how they ended", tally.codes),
        *_table("findings left alone, by reason", tally.refusals),
        *_table("exit 2, by message", tally.messages),
    ]
    for cause, rounds in sorted(tally.causes.items(), key=lambda item: -len(item[1])):
        first = ", ".join(map(str, sorted(rounds)[:3]))
        lines.append(f"BROKEN {cause}  ({len(rounds)} rounds: {first}{', …' if len(rounds) > 3 else ''})")
    held = tally.rounds - tally.failed
    return "\n".join([*lines, f"{held} of {tally.rounds} rounds kept every promise"])


def _table(title: str, counts: Counter[str]) -> list[str]:
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = [f"  {'':>7}  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return [title, *(f"  {count:>7}  {name}" for name, count in rows[:_SHOWN]), *more, ""]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, help="only this one, and keep it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where failing rounds are kept [default: a new temporary folder]")
    parser.add_argument("--seconds", type=float, default=20, help="of the processor that a run may take [20]")
    parser.add_argument("--memory", type=int, default=600, help="megabytes that a run may hold [600]")
    parser.add_argument("--limit", type=float, default=60, help="seconds without work after which a run hangs [60]")
    options = parser.parse_args(arguments)
    keep = options.keep or Path(tempfile.mkdtemp(prefix="symfix-fuzz-kept-"))
    bounds = Bounds(options.seconds, options.memory, options.limit)
    numbers = range(1, options.rounds + 1) if options.round is None else [options.round]
    begun = time.monotonic()
    tally = run_rounds(Source.of(options.tree), options.seed, numbers, options.workers, bounds, keep.resolve())
    print(report(tally, time.monotonic() - begun))
    return 1 if tally.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
