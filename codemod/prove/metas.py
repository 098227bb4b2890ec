"""Drawing metas over an installed torch: each operator in a process of its own, with the limits of a proof."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from codemod.borders.documents import Shape, fit
from codemod.errors import SymfixError
from codemod.model.drawn import DrawnMeta
from codemod.prove.executor import work_through
from codemod.prove.inquiry import ask
from codemod.prove.isolate import Ended
from codemod.prove.run_folder import remove_dead, run_folder
from codemod.prove.session import code_digest, scratch
from codemod.prove.target import Target
from codemod.terminal import one_line

_LISTED: Shape = {"torch": str, "operators": [str]}
_DRAWN: Shape = {
    "torch": str,
    "metas": [
        {
            "overload": str, "parameters?": [str], "body?": [str], "outputs?": [str], "functional?": str,
            "samples?": int, "fatal?": int, "unbacked?": str, "reason?": str,
        }
    ],
}  # fmt: skip


def untraced(target: Target, operators: Sequence[str], seconds: float) -> list[str]:
    """Those of `operators` that have an overload without a way to trace in the torch of `target`, sorted.

    Raises SymfixError where that torch does not answer.
    """
    remove_dead()
    ended, document = _run(target, {"untraced": sorted(operators)}, seconds, _LISTED)
    if not document:
        raise SymfixError(f"{target.python}: its operators cannot be listed: {one_line(ended.cause)}")
    return list(document["operators"])


def state(target: Target) -> str:
    """What a drawn meta rests on beside its operator: the installed torch, and the code that draws."""
    return f"{target.torch_version} {code_digest()}"


def draw_all(
    target: Target,
    operators: Sequence[str],
    kept: Callable[[str], list[DrawnMeta] | None],
    jobs: int,
    seconds: float,
) -> Generator[tuple[str, list[DrawnMeta], bool], None, None]:
    """(operator, its metas, whether they are `kept` from an earlier run) as they come about.

    Ends all processes that it has started, and waits for them, when the caller stops early or is interrupted.
    """
    executor = ThreadPoolExecutor(jobs, "draw")

    def submit(operator: str) -> Future[list[DrawnMeta]]:
        return executor.submit(functools.partial(draw, target, operator, seconds))

    yield from work_through(executor, operators, kept, submit, jobs)


def draw(target: Target, operator: str, seconds: float) -> list[DrawnMeta]:
    """What is drawn for the overloads of one operator; one entry with the reason where its process does not answer."""
    ended, document = _run(target, {"draw": operator, "cache": str(scratch() / "runner")}, seconds, _DRAWN)
    torch = target.torch_version
    if not document:
        base = operator.partition("::")[2]
        how = f"its kernel was not done within {seconds:.0f} s" if ended.how == "timed out" else one_line(ended.cause)
        return [DrawnMeta(operator, f"{base}.default", torch, reason=how or "its process said nothing")]
    lists = ("parameters", "body", "outputs")
    entries: list[dict[str, Any]] = document["metas"]
    for entry in entries:
        entry.update({name: tuple(entry[name]) for name in lists if name in entry})
    return [DrawnMeta(operator=operator, torch=torch, **entry) for entry in entries]


def _run(target: Target, job: Mapping[str, Any], seconds: float, shape: Shape) -> tuple[Ended, dict[str, Any]]:
    """How the job ended, and what it wrote; an empty table where that is not of `shape`."""
    with run_folder() as folder:
        ended, document = ask(target, folder, job, seconds)
    try:
        fit(document, shape, "", "")
    except SymfixError:
        return ended, {}
    return ended, dict(document)
