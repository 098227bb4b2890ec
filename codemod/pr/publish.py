"""Opening each shard's pull request once, whatever happens on the way."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from codemod.bundle.repository import PREFIX, is_ours
from codemod.errors import SymfixError
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
    worse: str = ""
    """Why it had better not land."""

    @property
    def branch(self) -> str:
        """The branch that holds it."""
        return PREFIX + self.shard


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request: a word or two, and the address of the pull request, "" where there is none.

    `reached` says whether those stacked on it can be opened.
    """

    shard: str
    state: str
    url: str = ""
    reached: bool = True


@dataclass(slots=True)
class Publisher:
    """Opens pull requests and keeps the books.

    GitHub is asked what there is before anything is made, for a journal knows nothing of an answer that never came.
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

    def publish(self, requests: Sequence[Request]) -> Iterator[Result]:
        """What becomes of each request, as it comes about; bases come before what is stacked on them.

        Raises SymfixError where git, gh or GitHub fails: what was done until then is kept, and the next call goes on.
        """
        mine = {pull.branch for pull in self.github.mine() if pull.branch.startswith(PREFIX)}
        tips = self.remote.tips()
        reached: set[str] = set()
        opened = 0
        for request in requests:
            result = self._waits(request, reached)
            if result is None:
                full = bool(self.most_open) and request.branch not in mine and len(mine) >= self.most_open
                known = self._known(request)
                if known is None and opened and not full:
                    time.sleep(self.pause)
                result = self._one(request, known, tips.get(request.branch, ""), full)
                if result.state == "opened":
                    opened += 1
                    mine.add(request.branch)
            if result.reached:
                reached.add(request.shard)
            yield result

    def _waits(self, request: Request, reached: Collection[str]) -> Result | None:
        if request.worse:
            return Result(request.shard, f"not opened: worse: {request.worse}", reached=False)
        if request.parent and not self.stack:
            return Result(request.shard, f"waits for {PREFIX}{request.parent}; --stack opens it on top", reached=False)
        if request.parent and request.parent not in reached:
            return Result(request.shard, f"waits for {PREFIX}{request.parent}", reached=False)
        return None

    def _known(self, request: Request) -> Pull | None:
        """The pull request of this branch, an open one before those that are closed.

        One that was merged with another commit is history: what there is now is something new.
        """
        pulls = self.github.of_branch(request.branch)
        current = [pull for pull in pulls if pull.state != "MERGED" or pull.commit == request.commit]
        found = sorted(current, key=lambda pull: pull.state != "OPEN")
        return found[0] if found else None

    def _one(self, request: Request, known: Pull | None, tip: str, full: bool) -> Result:
        if known is not None and known.state != "OPEN":
            return Result(request.shard, f"{known.state.lower()} before", known.url, known.state == "MERGED")
        base = PREFIX + request.parent if request.parent else self.base
        if known is not None:
            changed = self._push(request, tip, known.url)
            if known.base != base:  # what it was stacked on has landed, or is new
                self.github.retarget(known.url, base)
                changed = True
            return Result(request.shard, "updated" if changed else "open already", known.url)
        if full:
            return Result(request.shard, f"later: {self.most_open} are open", reached=False)
        if request.about and not self.duplicates:
            other = similar(self.github.about(request.about), request.branch)
            if other is not None:
                return Result(request.shard, f"somebody is at it: {one_line(other.title)}", other.url, reached=False)
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
        """Open it. Where gh fails after GitHub has done its part, the pull request is found all the same."""
        try:
            return self.github.create(request.branch, base, request.title, request.body)
        except SymfixError:
            made = self._after_failure(request)
            if made is None:
                raise
            return made.url

    def _after_failure(self, request: Request) -> Pull | None:
        try:
            return self._known(request)
        except SymfixError:
            return None
