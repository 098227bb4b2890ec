"""The C++ that symfix writes for some operators, built as libraries to load over the installed torch.

    python tests/corpus/cpp_overlay.py [OPTIONS OF symfix prove] --op OPERATOR… > libraries.txt
    python tests/corpus/audit_unbacked.py run --load libraries.txt --out after.json

Runs in a checkout of PyTorch. Prints a path for each library that `symfix prove` would run after the change, and says
on stderr what it cannot build. All changes that are asked for are in each library, also those of other shards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from codemod.cli.prove import prove
from codemod.cli.prove_session import ProofSession
from codemod.cli.running import begin, changes_of, chosen_groups, load_plan
from codemod.prove.build import build, sides
from codemod.prove.check import shown
from codemod.prove.compiler import Diagnostic
from codemod.prove.installed import over_installed
from codemod.prove.isolate import terminable


def built(context: click.Context) -> Iterator[str]:
    """The path of each library; what does not build is said on stderr."""
    run, plan = load_plan(begin(context, context.params))
    groups = chosen_groups(run, plan)
    session = ProofSession(run, plan, groups)
    settings = session.whole_settings()
    _, after = sides(settings, changes_of(run, plan, groups).files)
    seen: set[Path] = set()
    for request in session.requests():
        task = request.make()
        for override in over_installed(settings, task.overrides):
            names = ", ".join(override.operators)
            if not override.parts or settings.compiler is None:
                print(f"{request.shard}: {names}: {override.reason or 'not C++'}", file=sys.stderr)
                continue
            library = build(after, override, settings.compiler)
            if isinstance(library, Diagnostic):
                print(f"{request.shard}: {names}: {shown(library, after)}", file=sys.stderr)
            elif library not in seen:
                seen.add(library)
                print(
                    f"{request.shard}: {names}: built{' to be preloaded' if override.preload else ''}", file=sys.stderr
                )
                if not override.preload:
                    yield str(library)


def main(arguments: Sequence[str]) -> int:
    """The program; its options are those of `symfix prove`."""
    with prove.make_context("prove", list(arguments)) as context, terminable():
        for library in built(context):
            print(library, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
