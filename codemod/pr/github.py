"""Pull requests, read and opened with the `gh` command."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codemod.errors import SymfixError
from codemod.terminal import one_line, visible

_FIELDS = "title,url,state,labels,headRefName,headRefOid,headRepositoryOwner,baseRefName"
_MOST = 200
_SYMBOLIC = re.compile(r"dynamic|symbolic|sym_|symint|unbacked|data.dependent", re.IGNORECASE)
_LIMITED = re.compile(r"rate limit|abuse detection|HTTP 429|submitted too quickly", re.IGNORECASE)
_LABEL = re.compile(r'[^\x00-\x1f\x7f,"]{1,50}')
"""What gh takes as one label: it reads a list of comma-separated values."""
_ADDRESS = re.compile(r"https://\S+/pull/\d+")


class RateLimited(SymfixError):
    """GitHub asks for patience."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `state` is OPEN, CLOSED or MERGED, as GitHub writes it, and MERGED too where a label says so.

    PyTorch's merge bot lands the commit itself, closes the pull request and labels it so.
    """

    url: str
    title: str
    state: str
    branch: str
    commit: str
    owner: str
    """Whose repository the branch is in; "" where that is gone."""
    base: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Pull:
        """The pull request of one object that gh prints. Raises KeyError or TypeError where it is none."""
        owner = entry["headRepositoryOwner"] or {}
        labels = tuple(str(label["name"]) for label in entry["labels"])
        return cls(
            entry["url"],
            entry["title"],
            "MERGED" if "Merged" in labels else entry["state"],
            entry["headRefName"],
            entry["headRefOid"],
            str(owner.get("login", "")),
            entry["baseRefName"],
            labels,
        )


@dataclass(frozen=True, slots=True)
class GitHub:
    """The repository where pull requests are opened. `owner` owns the branches, "" for the repository's own."""

    root: Path
    repository: str
    """OWNER/NAME, "" for what gh finds from the checkout's remotes."""
    owner: str
    timeout: float
    """Seconds that one call may take."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """What gh, which calls git itself, is run with."""

    def mine(self) -> list[Pull]:
        """The user's open pull requests."""
        return self._list("--state", "open", "--author", "@me")

    def of_branch(self, branch: str) -> list[Pull]:
        """The pull requests from `branch`, those that are closed too."""
        pulls = self._list("--state", "all", "--head", branch)
        return [pull for pull in pulls if pull.branch == branch and self.owner in ("", pull.owner)]

    def about(self, operator: str) -> list[Pull]:
        """The open pull requests whose title names `operator`, and whose title or labels are about symbolic shapes."""
        word = re.compile(rf"(?<![\w.]){re.escape(operator)}(?![\w.])")
        pulls = self._list("--state", "open", "--search", f'"{operator}" in:title')
        return [
            pull for pull in pulls if word.search(pull.title) and _SYMBOLIC.search(" ".join((pull.title, *pull.labels)))
        ]

    def create(self, branch: str, base: str, title: str, body: str, labels: Sequence[str] = ()) -> str:
        """Open a draft and return its address.

        Raises SymfixError where gh fails or does not answer, RateLimited where GitHub wants a pause; the pull request
        may exist all the same: see `of_branch`.
        """
        head = f"{self.owner}:{branch}" if self.owner else branch
        output = self._run("pr", "create", "--draft", "--head", head, "--base", base, "--title", title,
                         "--body-file", "-", *(f"--label={label}" for label in labels), text=body)  # fmt: skip
        address = _ADDRESS.search(output)
        if address is None:
            raise SymfixError(f"gh pr create: said {one_line(output)!r}, which is no address of a pull request")
        return address[0]

    def retarget(self, url: str, base: str) -> None:
        """Have the pull request at `url` merged into another branch. Raises SymfixError where gh fails."""
        self._run("pr", "edit", url, "--base", base)

    def _list(self, *filters: str) -> list[Pull]:
        output = self._run("pr", "list", *filters, "--limit", str(_MOST), "--json", _FIELDS)
        try:
            return [Pull.of(entry) for entry in json.loads(output)]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SymfixError(f"gh pr list: said what is no list of pull requests ({error}); update gh") from error

    def _run(self, *arguments: str, text: str = "") -> str:
        command = ["gh", *arguments, *(("--repo", self.repository) if self.repository else ())]
        what = " ".join(command[:3])
        try:
            done = subprocess.run(
                command, cwd=self.root, input=text, capture_output=True, check=False, encoding="utf-8",
                errors="replace", timeout=self.timeout, env=self.environment,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise SymfixError("gh is not installed; see https://cli.github.com, then: gh auth login") from error
        except subprocess.TimeoutExpired as error:
            raise SymfixError(f"{what}: no answer within {self.timeout:g} seconds; run symfix pr again") from error
        if done.returncode == 0:
            return done.stdout
        message = one_line(done.stderr) or f"exit code {done.returncode}"
        if _LIMITED.search(message):
            raise RateLimited(f"{what}: GitHub asks for a pause ({message}); run symfix pr again in an hour")
        raise SymfixError(f"{what}: {message}")


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """`names`, each as gh takes it for one label. Raises SymfixError on another."""
    wrong = next((name for name in names if not _LABEL.fullmatch(name)), None)
    if wrong is not None:
        raise SymfixError(f"label {visible(wrong)}: no label of GitHub; write 1 to 50 characters, no comma, no quote")
    return tuple(names)


def owner_of(address: str) -> str:
    """The owner in a remote's address (`git@github.com:me/pytorch.git`), "" where it is none of a hosted repository."""
    match = re.match(r"(?:\w+://(?:[^@/]+@)?[^/]+/|[^@/]+@[^:/]+:)([^/]+)/[^/]+$", address)
    return match[1] if match else ""


def similar(pulls: Sequence[Pull], branch: str) -> Pull | None:
    """The first of `pulls` that is not of `branch`."""
    return next((pull for pull in pulls if pull.branch != branch), None)
