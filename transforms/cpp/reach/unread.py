"""How many of a library's registrations were understood, and which were not: what no operator was found for is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from transforms.cpp.reach.reached import left_out
from transforms.cpp.reading.facts import Block, FileFacts, Registration


def remarks(
    facts: Mapping[str, FileFacts], selected: Callable[[str], bool], named: Callable[[str], bool] = lambda path: False
) -> Iterator[str]:
    """How many registrations of the selected files are understood, a line for each that is not, and what is none.

    `named` says which tests count. Nothing where there is none of all that. `facts` are those of `with_libraries`.
    """
    files = [file for path, file in sorted(facts.items()) if selected(path) and (named(path) or not left_out(path))]
    # What a function registers for several callers counts once.
    understood = sum(len({_place(r) for r in file.registrations if not r.written}) for file in files)
    unread = [place for file in files for place in sorted(_unread(file))]
    if understood or unread:
        rest = "; not understood:" if unread else ""
        yield f"C++ registrations: {understood:,} of {understood + len(unread):,} understood{rest}"
    yield from (f"{path}:{line}: {why}" for path, line, why in unread)
    classes = sum(file.classes for file in files)
    if classes:
        yield f"{_are(classes, 'class', 'classes')} registered with torch::class_, which is no operator"
    bound = sum(file.bound for file in files)
    if bound:
        bound_by = _are(bound, "function", "functions")
        yield f"{bound_by} bound for Python, past the dispatcher: no symbol arrives that way"


def _place(registration: Registration) -> tuple[int, str, str, str]:
    name = registration.operator.rpartition("::")[2]
    return registration.start, name, registration.function, registration.schema


def _are(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular} is" if count == 1 else f"{count:,} {plural} are"


def _unread(file: FileFacts) -> Iterator[tuple[str, int, str]]:
    placed = {registration.start for registration in file.registrations}
    for registration in file.registrations:
        if registration.written:
            yield file.path, registration.line, f"the operator's name is no literal: {registration.written}"
    for block in file.blocks:
        for registration in block.registrations:
            if registration.start not in placed and block.names_library:
                yield file.path, registration.line, _why(block, registration)


def _why(block: Block, registration: Registration) -> str:
    name = registration.operator or registration.written or "a kernel"
    if block.arguments:
        return f"{name}: {block.head} is no macro of this tree that opens a TORCH_LIBRARY block"
    if not block.head:
        return f"{name}: which namespace `{block.library}` registers in is not known"
    return f"{name}: {block.head} is called by no TORCH_LIBRARY block"
