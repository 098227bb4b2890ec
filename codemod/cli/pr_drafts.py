"""What `symfix pr` does: the texts of pull requests, and opening them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.borders.quoting import markdown
from codemod.cli.bundling import Bundle, make_bundle, prove_compiling
from codemod.cli.run import Run
from codemod.cli.running import begin, exit_code
from codemod.errors import SymfixError
from codemod.planning.naming import without_branch
from codemod.reporting.report import plural
from codemod.terminal import encode, note, show

if TYPE_CHECKING:
    from codemod.bundle.commits import Commit
    from codemod.bundle.description import Description
    from codemod.pr.publish import Publisher, Request, Result
    from codemod.pr.text import Text

_BOOKS = "pulls"
"""The folder of the journal, with a lock of its own: pull requests take their time, which apply need not wait for."""


def write_requests(context: click.Context, parameters: dict[str, Any]) -> int:
    """Write the texts of pull requests, and open them where that is asked for; returns the exit code."""
    run = begin(context, parameters)
    bundle = make_bundle(run)
    if not bundle.split.steps:
        note("symfix: nothing to change")
        return exit_code(run, bundle.plan, False)
    texts = _texts(run, bundle)
    results = _create(run, bundle, texts) if run.values["create"] else {}
    if run.values["output"] is not None:
        _write_files(run.values["output"], bundle, texts, results)
    elif not run.values["create"]:
        show("\n\n".join(f"{text.title}\n\n{text.body.strip()}" for text in texts.values()).split("\n"))
    return exit_code(run, bundle.plan, True)


def _texts(run: Run, bundle: Bundle) -> dict[str, Text]:
    from codemod.pr.release_notes import listed_topics
    from codemod.pr.text import render

    fixes: dict[str, list[str]] = {}
    names = [step.shard.name for step in bundle.split.steps]
    for fix in run.values["fixes"]:
        written, _, number = fix.rpartition("=")
        shard = without_branch(written)
        if not number.isdigit():
            raise SymfixError(f"--fixes {fix}: not the number of an issue; write 123, or SHARD=123")
        if not shard and len(names) > 1:
            raise SymfixError(f"--fixes {fix}: which of {plural(len(names), 'shard')}? Write SHARD={number}")
        if shard and shard not in names:
            raise SymfixError(f"--fixes {fix}: there is no shard {shard}; symfix bundle --dry-run lists them")
        fixes.setdefault(shard or names[0], []).append(number)
    texts = render([bundle.descriptions[name] for name in names], fixes, run.values["template"], run.values["cc"],
                   listed_topics(run.checkout.root))  # fmt: skip
    return dict(zip(names, texts, strict=True))


def _create(run: Run, bundle: Bundle, texts: dict[str, Text]) -> dict[str, Result]:
    from codemod.bundle.commits import refuse_foreign
    from codemod.bundle.make import commit_all, set_branches
    from codemod.bundle.message import commit_message
    from codemod.writing.files import make_folder
    from codemod.writing.write import locked

    publisher = _publisher(run, bundle)
    refuse_foreign(bundle.repository, list(texts))
    environment = bundle.repository.identity()
    prove_compiling(run, bundle)
    messages = {name: commit_message(description) for name, description in bundle.descriptions.items()}
    commits = commit_all(bundle.repository, bundle.split, messages, environment)
    by_name = {commit.step.shard.name: commit for commit in commits}
    set_branches(bundle.repository, commits)
    bundle.names.save(run.journal)
    held = _held(bundle.descriptions, run.values["include_unproved"])
    requests = [_request(commit, texts[name], held.get(name, "")) for name, commit in by_name.items()]
    books = run.journal / _BOOKS
    make_folder(books)
    with locked(books):
        return _publish(publisher, requests)


def _request(commit: Commit, text: Text, held: str) -> Request:
    from codemod.pr.publish import Request

    shard = commit.step.shard
    about = shard.about if shard.kind == "operator" else ""
    return Request(shard.name, about, commit.sha, commit.step.parent, text.title, text.body, held)


def _held(descriptions: Mapping[str, Description], unproved: bool) -> dict[str, str]:
    """By shard why no pull request is opened: it is worse, or cures nothing and nothing that does stands on it."""
    from codemod.bundle.observed import cures
    from codemod.model.needs import ancestry

    held = {name: f"worse: {description.worse}" for name, description in descriptions.items() if description.worse}
    if unproved:
        return held
    bases = {name: description.bases for name, description in descriptions.items()}
    wanted = {base for name, description in descriptions.items() if cures(description.evidence)
              for base in ancestry(name, bases)}  # fmt: skip
    for name, description in descriptions.items():
        if name not in wanted and name not in held:
            seen = "no evidence that it cures anything" if description.evidence else "symfix prove has not run on it"
            held[name] = f"{seen}; --include-unproved opens it"
    return held


def _publish(publisher: Publisher, requests: list[Request]) -> dict[str, Result]:
    results: dict[str, Result] = {}
    for result in publisher.publish(requests):
        results[result.shard] = result
        show(["  ".join(part for part in (f"symfix/{result.shard}", result.state, result.url) if part)])
    opened = sum(result.state == "opened" for result in results.values())
    waiting = sum(not result.reached for result in results.values())
    note(f"symfix: opened {plural(opened, 'draft')}" + (f", {plural(waiting, 'shard')} to go" if waiting else ""))
    return results


def _publisher(run: Run, bundle: Bundle) -> Publisher:
    """Raises SymfixError where there is nothing to push to, or what is pushed would hold more than the shards."""
    from codemod.pr.github import GitHub, labels_of, owner_of
    from codemod.pr.journal import Journal
    from codemod.pr.publish import Publisher
    from codemod.pr.remote import Remote

    values = run.values
    remote = Remote(bundle.repository, values["remote"], values["timeout"])
    owner = owner_of(remote.address)
    fork = bool(values["repo"]) and owner != values["repo"].partition("/")[0]
    if fork and values["stack"]:
        raise SymfixError(f"--stack needs branches in {values['repo']} itself, and {values['remote']} is a fork of it")
    base = values["base"] or bundle.repository.branch
    remote.check_base(base)
    github = GitHub(run.checkout.root, values["repo"], owner if fork else "", values["timeout"],
                    bundle.repository.git.environment)  # fmt: skip
    journal = Journal(run.journal / _BOOKS / "journal.json")
    return Publisher(github, remote, journal, base, values["max_open"], values["pause"], values["stack"],
                     values["duplicates"], labels_of(values["label"]))  # fmt: skip


def _write_files(folder: Path, bundle: Bundle, texts: dict[str, Text], results: dict[str, Result]) -> None:
    from codemod.pr.text import Row, series
    from codemod.writing.files import make_folder, replace_file

    rows = []
    for step in bundle.split.steps:
        name = step.shard.name
        state, url = (results[name].state, results[name].url) if name in results else ("", "")
        rows.append(Row(bundle.descriptions[name], texts[name].title, step.parent, state, url))
    try:
        make_folder(folder)
        for name, text in texts.items():
            replace_file(folder / f"{name}.md", encode(f"# {markdown(text.title)}\n\n{text.body.strip()}\n"))
        replace_file(folder / "series.md", encode(series(rows)))
    except OSError as error:
        raise SymfixError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
    note(f"symfix: {folder}/series.md lists {plural(len(rows), 'pull request')}")
