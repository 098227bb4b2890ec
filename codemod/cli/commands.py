"""`symfix scan`, `diff`, `apply` and `rule`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from codemod import transform
from codemod.cli.options import Run, level_option, start, tree_options
from codemod.errors import SymfixError
from codemod.findings import Finding, Level
from codemod.groups import OVERLAP, Group, order
from codemod.plan import Plan, symfix_version
from codemod.terminal import colours, note, style, write


class _InOrder(click.Group):
    """Lists its commands as they are defined, in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing to do, 1 findings or changes, 2 an error.",
)
@click.version_option(symfix_version(), prog_name="symfix")
def group() -> None:
    """Make PyTorch operators work with symbolic shapes.

    \b
      symfix scan                            which operators would throw or specialize, and why
      symfix scan --op cross_entropy_loss    one operator, down to each site
      symfix diff                            what apply would write
      symfix apply                           write what gives the same result for every concrete input
      symfix apply --level review            also what a person should look at
      symfix rule                            the rules, and the manual page of each
    """


@group.command()
@tree_options
@level_option("manual", "Report findings up to this level.")
@click.option("--format", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
              help="json is a plan that diff and apply take with --plan.")  # fmt: skip
@click.pass_context
def scan(context: click.Context, /, **parameters: Any) -> int:
    """Find concrete-shape code that symbolic tensors reach.

    \b
      symfix scan                              the whole checkout, ending with operators by level
      symfix scan aten/src/ATen/native         one folder, a line for each finding
      symfix scan --op 'max_pool*'             explain operators site by site
      symfix scan --format json > plan.json    a plan, for symfix apply --plan plan.json
      symfix scan --format csv                 every finding, for a spreadsheet
    """
    from codemod.report import findings_csv

    run = _start(context, parameters)
    plan = _plan(run)
    chosen = sorted((f for g in run.selection.groups(plan.findings) for f in g.findings), key=order)
    if run.values["format"] == "json":
        filters = {name: list(run.values[name]) for name in ("op", "mode", "rule")}
        options = {**plan.options, **filters, "level": run.values["level"]}
        write(dataclasses.replace(plan, findings=tuple(chosen), options=options).to_json() + "\n")
    elif run.values["format"] == "csv":
        write(findings_csv(chosen))
    else:
        _print_scan(run, plan, chosen)
    return _exit_code(run, plan, bool(chosen))


@group.command()
@tree_options
@level_option("safe", "Show changes up to this level.")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="Show this saved plan.")
@click.pass_context
def diff(context: click.Context, /, **parameters: Any) -> int:
    """Show what apply would write, as a diff that git apply takes.

    \b
      symfix diff
      symfix diff --level review --op cross_entropy_loss
      symfix diff > symfix.patch && git apply symfix.patch
    """
    return _change(_start(context, parameters), write_files=False)


@group.command()
@tree_options
@level_option("safe", "Apply changes up to this level.")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="Apply this saved plan.")
@click.option("--dry-run", is_flag=True, help="Write nothing; the same as symfix diff.")
@click.option("--allow-dirty", is_flag=True, help="Also where there are changes that are not committed.")
@click.option("--allow-no-vcs", is_flag=True, help="Also where no git checkout would let you undo it.")
@click.pass_context
def apply(context: click.Context, /, **parameters: Any) -> int:
    """Rewrite the files, all or none.

    What is done is seen with git diff and undone with git restore.

    \b
      symfix apply
      symfix apply --level review --op 'max_pool*'
      symfix apply --plan plan.json
    """
    return _change(_start(context, parameters), write_files=not parameters["dry_run"])


@group.command()
@click.argument("name", required=False)
def rule(name: str | None) -> int:
    """List the rules, or print the manual page of one.

    \b
      symfix rule
      symfix rule NAME
    """
    from codemod.manual import rule_list, rule_page
    from codemod.suppress import UNUSED_RULE

    rules = [UNUSED_RULE, *(rule for one in transform.load_transforms() for rule in one.rules())]
    if name is None:
        write("\n".join(rule_list(rules)) + "\n")
        return 0
    found = next((rule for rule in rules if rule.name == name), None)
    if found is None:
        raise SymfixError(f"there is no rule named {name!r}; symfix rule lists them")
    write("\n".join(rule_page(found)) + "\n")
    return 0


def _start(context: click.Context, parameters: dict[str, Any]) -> Run:
    from codemod.write import recover

    run = start(context, parameters)
    done = recover(run.checkout.root, run.journal)
    if done:
        note(f"symfix: {done}")
        run = start(context, parameters)
    return run


def _plan(run: Run) -> Plan:
    from codemod.analysis import analyse

    plan_file: Path | None = run.values.get("plan_file")
    if plan_file is None:
        plan = analyse(run.project, transform.load_transforms)
    else:
        from codemod.changes import check_current

        try:
            plan = Plan.from_json(plan_file.read_bytes(), str(plan_file))
        except OSError as error:
            raise SymfixError(f"{plan_file}: the plan cannot be read: {error.strerror}") from error
        check_current(run.checkout.root, plan)
    for glob in run.selection.unmatched_ops(plan.findings):
        note(f"symfix: --op {glob}: no finding is about such an operator")
    for failure in plan.failures:
        note(f"symfix: {failure}")
    return plan


def _print_scan(run: Run, plan: Plan, chosen: list[Finding]) -> None:
    from codemod.explain import explanation
    from codemod.report import finding_lines, operator_table, refusal_table, totals

    lines: list[str] = []
    if run.selection.ops:
        lines += [*explanation(run.checkout.root, plan.findings, chosen), ""]
    elif run.project.paths or run.selection.modes or run.selection.rules:
        lines += [*finding_lines(chosen), ""]
    ops = run.selection.ops
    for block in (operator_table(chosen, ops), refusal_table(chosen)):
        lines += [*block, ""] if block else []
    lines += [*totals(chosen, len(plan.files), plan.suppressed, ops), ""]
    lines += _next_steps(run, chosen)
    write("\n".join(lines).strip("\n") + "\n")


def _next_steps(run: Run, chosen: list[Finding]) -> list[str]:
    from codemod.report import operator_counts

    ranked = operator_counts(chosen)
    steps = []
    if ranked and not run.selection.ops:
        steps.append((f"symfix scan --op {ranked[0][0]}", "explains one operator site by site"))
    if any(finding.edits for finding in chosen):
        review = not any(group.edits for group in dataclasses.replace(run.selection, level=Level.SAFE).groups(chosen))
        steps.append(("symfix diff" + (" --level review" if review else ""), "shows what would be written"))
    longest = max((len(command) for command, _ in steps), default=0)
    return [f"  {style(command.ljust(longest), 'cyan')}  {what}" for command, what in steps]


def _change(run: Run, write_files: bool) -> int:
    from codemod.changes import make_changes
    from codemod.diff import unified_diff
    from codemod.write import write_changes

    if write_files and run.checkout.git_dir is None and not run.values["allow_no_vcs"]:
        raise SymfixError(
            f"{run.checkout.root}: not a git checkout, so nothing could be undone;"
            " see symfix diff, or give --allow-no-vcs"
        )
    if write_files and not run.values["allow_dirty"]:
        _refuse_dirty(run, ())
    plan = _plan(run)
    groups = [one for one in run.selection.groups(plan.findings) if one.edits]
    changes = make_changes(run.checkout.root, plan, groups, transform.load_transforms() if groups else [],
                           lambda function, items: run.project.map(function, items, "checking"))  # fmt: skip
    if write_files:
        if not run.values["allow_dirty"]:
            _refuse_dirty(run, [change.path for change in changes.files])
        write_changes(run.checkout.root, run.journal, changes.files)
    else:
        for change in changes.files:
            write(_coloured(unified_diff(change.path, change.old, change.edits)))
    _print_summary(run, plan, list(changes.groups), len(changes.files), list(changes.refused), write_files)
    return _exit_code(run, plan, bool(changes.files))


def _refuse_dirty(run: Run, edited: list[str] | tuple[()]) -> None:
    """Raise SymfixError where a tracked file is changed, or one of `edited` is not tracked."""
    changed = run.checkout.dirty(untracked=edited)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise SymfixError(f"{changed[0]}{more}: not committed; commit or stash first, or give --allow-dirty")


def _print_summary(
    run: Run, plan: Plan, applied: list[Group], files: int, refused: list[Finding], write_files: bool
) -> None:
    """What was done, what was not, and what to do next, on stderr: stdout is the diff's."""
    from codemod.report import plural

    sites = sum(len(one.findings) for one in applied)
    if files:
        verb = "rewrote" if write_files else "would rewrite"
        note(f"symfix: {verb} {plural(sites, 'site')} in {plural(files, 'file')}")
    else:
        note("symfix: nothing to change" + (f" at --level {run.values['level']}" if plan.findings else ""))
    for finding in refused:
        note(f"symfix: {finding.path}:{finding.line}: left alone: {finding.reason}")
    overlaps = sum(finding.refusal == OVERLAP and run.selection.matches(finding) for finding in plan.findings)
    if overlaps:
        note(f"symfix: {plural(overlaps, 'finding')} left alone for overlapping others; symfix scan names them")
    higher = dataclasses.replace(run.selection, level=Level.REVIEW)
    waiting = sum(len(one.findings) for one in higher.groups(plan.findings) if one.edits) - sites
    if waiting > 0 and run.selection.level < Level.REVIEW:
        note(f"symfix: {plural(waiting, 'site')} more with --level review")
    if files and write_files:
        note("symfix: see it with git diff" if run.checkout.git_dir else "symfix: done")


def _coloured(patch: bytes) -> bytes:
    if not colours():
        return patch
    styles = {b"+": b"\x1b[32m", b"-": b"\x1b[31m", b"@": b"\x1b[36m", b"d": b"\x1b[1m"}
    lines = patch.split(b"\n")
    return b"\n".join(styles[line[:1]] + line + b"\x1b[0m" if line[:1] in styles else line for line in lines)


def _exit_code(run: Run, plan: Plan, anything: bool) -> int:
    if plan.failures:
        return 2
    return 1 if anything and not run.values["exit_zero"] else 0
