"""Opening each shard's pull request exactly once, also where runs are interrupted and repeated."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from codemod.bundle.repository import is_ours
from codemod.errors import SymfixError
from codemod.planning.naming import PREFIX
from codemod.pr.github import GitHub, Pull, similar
from codemod.pr.journal import Entry, Journal
from codemod.pr.remote import Remote
from codemod.terminal import one_line


@dataclass(frozen=True, slots=True)
class Request:
    """A pull request to be.

    `about` is the operator, "" for what several run; `parent` is the shard that it is stacked on, "" for none.
    """

    shard: str
    about: str
    commit: str
    parent: str
    title: str
    body: str
    held: str = ""
    """Why it is not to be opened, "" for no reason."""

    @property
    def branch(self) -> str:
        """The branch that holds it."""
        return PREFIX + self.shard


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one request: its state in a few words, and the address of the pull request, "" where there is none.

    `reached` says whether those stacked on it can be opened.
    """

    shard: str
    state: str
    url: str = ""
    reached: bool = True


@dataclass(slots=True)
class Publisher:
    """Opens pull requests, and records each in the journal.

    GitHub is asked which exist before one is opened, for a journal lacks those whose answer never came.
    """

    github: GitHub
    remote: Remote
    journal: Journal
    base: str
    most_open: int
    """How many may be open at a time, 0 for any number."""
    pause: float
    """Seconds between two that are opened."""
    stack: bool = False
    duplicates: bool = False
    """Whether another open pull request about the same operator is no reason to wait."""
    labels: Sequence[str] = ()
    """The labels of what is opened."""

    def publish(self, requests: Sequence[Request]) -> Iterator[Result]:
        """The result of each request, as soon as there is one; bases come before what is stacked on them.

        Raises SymfixError where git, gh or GitHub fails: what was done until then stays, and the next call goes on.
        """
        mine = {pull.branch for pull in self.github.mine() if pull.branch.startswith(PREFIX)}
        tips = self.remote.tips()
        reached: set[str] = set()
        opened = 0
        for request in requests:
            result = self._waits(request, reached)
            if result is None:
                full = bool(self.most_open) and request.branch not in mine and len(mine) >= self.most_open
                pull = self._pull_of(request)
                if pull is None and opened and not full:
                    time.sleep(self.pause)
                result = self._submit(request, pull, tips.get(request.branch, ""), full)
                if result.state == "opened":
                    opened += 1
                    mine.add(request.branch)
            if result.reached:
                reached.add(request.shard)
            yield result

    def _waits(self, request: Request, reached: Collection[str]) -> Result | None:
        if request.held:
            return Result(request.shard, f"not opened: {request.held}", reached=False)
        if request.parent and not self.stack:
            return Result(request.shard, f"waits for {PREFIX}{request.parent}; --stack opens it on top", reached=False)
        if request.parent and request.parent not in reached:
            return Result(request.shard, f"waits for {PREFIX}{request.parent}", reached=False)
        return None

    def _pull_of(self, request: Request) -> Pull | None:
        """The pull request of this branch, an open one before those that are closed.

        One that was merged with another commit is not counted: the present commit is a new change.
        """
        pulls = self.github.of_branch(request.branch)
        current = [pull for pull in pulls if pull.state != "MERGED" or pull.commit == request.commit]
        ordered = sorted(current, key=lambda pull: pull.state != "OPEN")
        return ordered[0] if ordered else None

    def _submit(self, request: Request, pull: Pull | None, tip: str, full: bool) -> Result:
        if pull is not None and pull.state != "OPEN":
            return Result(request.shard, f"{pull.state.lower()} before", pull.url, pull.state == "MERGED")
        base = PREFIX + request.parent if request.parent else self.base
        if pull is not None:
            changed = self._push(request, tip, pull.url)
            if pull.base != base:  # what it was stacked on has landed, or is new
                self.github.retarget(pull.url, base)
                changed = True
            return Result(request.shard, "updated" if changed else "open already", pull.url)
        if full:
            return Result(request.shard, f"later: {self.most_open} are open", reached=False)
        if request.about and not self.duplicates:
            duplicate = similar(self.github.about(request.about), request.branch)
            if duplicate is not None:
                return Result(
                    request.shard, f"somebody is at it: {one_line(duplicate.title)}", duplicate.url, reached=False
                )
        self._push(request, tip, "")
        url = self._create(request, base)
        self.journal.put(self.remote.name, request.branch, Entry(request.commit, url))
        return Result(request.shard, "opened", url)

    def _push(self, request: Request, tip: str, url: str) -> bool:
        """Whether the branch had to be pushed; it is not where it is there already."""
        entry = self.journal.get(self.remote.name, request.branch)
        if (
            tip
            and tip != request.commit
            and not (entry is not None and entry.pushed == tip)
            and not self._ours(request, tip)
        ):
            raise SymfixError(
                f"{self.remote.name}/{request.branch} holds work that is not symfix's; delete or rename it there"
            )
        if tip != request.commit:
            self.remote.push(request.branch, request.commit, tip)
        self.journal.put(self.remote.name, request.branch, Entry(request.commit, url))
        return tip != request.commit

    def _ours(self, request: Request, commit: str) -> bool:
        try:
            return is_ours(self.remote.repository.message(commit), request.shard)
        except ValueError:  # not in this clone
            return False

    def _create(self, request: Request, base: str) -> str:
        """Open it. Where gh fails after GitHub has done its part, the pull request is looked up."""
        try:
            return self.github.create(request.branch, base, request.title, request.body, self.labels)
        except SymfixError:
            pull = self._after_failure(request)
            if pull is None:
                raise
            return pull.url

    def _after_failure(self, request: Request) -> Pull | None:
        try:
            return self._pull_of(request)
        except SymfixError:
            return None
