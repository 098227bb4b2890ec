"""`symfix probe`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import install_option
from codemod.cli.root import group, loading
from codemod.model.choices import BACKENDS, MOST_JOBS


@group.command()
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--trace", type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="Read this trace, or folder of traces, that TORCH_TRACE made; nothing is run.")  # fmt: skip
@click.option("--error", metavar="FILE",
              help="Read an error, TORCH_LOGS or draft_export's report from a file, - for stdin.")  # fmt: skip
@click.option("--op", multiple=True, metavar="GLOB",
              help="Ask operators: topk, 'linalg.*', 'mylib::*', '*' for all that PyTorch has samples of.")  # fmt: skip
@click.option("--module", multiple=True, metavar="PKG:FACTORY",
              help="Ask a module: FACTORY() returns it and its arguments, or what makes them of a size.")  # fmt: skip
@click.option("--import", "imports", multiple=True, metavar="MODULE",
              help="Import this module first, which brings a library's operators. Repeatable.")  # fmt: skip
@click.option("--python", type=click.Path(path_type=Path), metavar="PATH",
              help="The interpreter whose torch has the operators."
              "  [default: the active virtual environment's, else symfix's own]")  # fmt: skip
@install_option
@click.option("--backend", type=click.Choice(BACKENDS),
              help="Compile operators with it; inductor takes longer, and needs a C++ compiler."
              "  [default: aot_eager]")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, MOST_JOBS), metavar="N",
              help="Operators at a time.  [default: one for each processor]")  # fmt: skip
@click.option("--executor", default="", metavar="dask://HOST:PORT",
              help="Ask operators on the machines of this dask cluster, which see the same folders.")  # fmt: skip
@click.option("--compare", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="Report only what this earlier report (--format json) does not hold.")  # fmt: skip
@click.option("--all", "everything", is_flag=True,
              help="Also checks that run, what torch's own code assumes, and numbers that never change.")  # fmt: skip
@click.option("--no-source", is_flag=True, help="Do not look for findings at the lines that are named.")
@click.option("--format", type=click.Choice(["text", "json", "markdown", "sarif", "html"]), default="text",
              show_default=True, help="json is a report that --compare takes, html a page.")  # fmt: skip
@click.option("--exit-zero", is_flag=True, help="Exit 0 also where there is something to report.")
@click.pass_context
def probe(context: click.Context, /, **parameters: Any) -> int:
    """Ask the running torch which lines guard, specialize and compile again.

    \b
      symfix probe -- python train.py           run it, and say what was compiled
      symfix probe -- pytest tests/test_it.py   the same of a test run
      symfix probe --trace FOLDER               what TORCH_TRACE=FOLDER recorded
      symfix probe --error - < error.txt        an error, a log, draft_export
      symfix probe --op 'linalg.*'              operators, mode by mode
      symfix probe --op 'mylib::*' --import mylib
      symfix probe --module mylib.models:tiny   a module, mode by mode
    \b
      symfix probe --format json -- python train.py > before.json
      symfix probe --compare before.json -- python train.py   what is new?

    The program runs as it is, with its own torch; its output goes to stderr. Each answer names the line that asked,
    whose it is, and the change that symfix can make to your source there. Operators run on PyTorch's own samples, or
    on arguments that fit their schema, each in a process of its own; what they answer is kept until their code
    changes, so a run that was stopped goes on. Exit 0 where nothing asks for anything.
    """
    with loading():
        from codemod.cli.probe_report import print_report

    return print_report(context, parameters)
