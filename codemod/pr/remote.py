"""The remote repository that branches are pushed to."""

from __future__ import annotations

import os
from dataclasses import dataclass

from codemod.bundle.repository import Repository, translate_git_errors
from codemod.errors import SymfixError
from codemod.planning.naming import PREFIX

_QUIET = {"GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote of the checkout, by its name in git."""

    repository: Repository
    name: str
    timeout: float
    """Seconds that one call may take."""

    @property
    def address(self) -> str:
        """Where it pushes to. Raises SymfixError where there is no such remote."""
        remotes = {remote.name: remote for remote in self.repository.repo.remotes}
        if self.name not in remotes:
            raise SymfixError(
                f"there is no remote {self.name!r} to push to; name one with --remote, or: git remote add {self.name} …"
            )
        with translate_git_errors(self.repository.root):
            address = str(self.repository.repo.git.remote("get-url", "--push", self.name))
        git = self.repository.git
        place = os.path.realpath(os.path.join(git.top, address.removeprefix("file://")))
        if os.path.isdir(place) and any(
            f"{place}/".startswith(f"{os.path.realpath(own)}/") for own in (git.top, git.git_dir)
        ):
            raise SymfixError(f"{address}: lies in the checkout itself, whose hooks would run; name another --remote")
        return address

    def tips(self) -> dict[str, str]:
        """The commit of each of its branches below symfix/."""
        with translate_git_errors(self.repository.root, self.repository.git.unused()):
            listed = str(
                self.repository.repo.git.ls_remote(
                    self.name, f"refs/heads/{PREFIX}*", env=_QUIET, kill_after_timeout=self.timeout
                )
            )
        pairs = (line.split("\t") for line in listed.splitlines())
        return {name.removeprefix("refs/heads/"): sha for sha, name in pairs}

    def push(self, branch: str, commit: str, old: str) -> None:
        """Set `branch` there to `commit`, where it still is `old` ("" for absent); no hook of this side runs.

        Raises SymfixError where it cannot be pushed.
        """
        lease = f"--force-with-lease=refs/heads/{branch}:{old}"
        with translate_git_errors(self.repository.root, self.repository.git.unused()):
            self.repository.repo.git.push(
                "--no-verify", "--quiet", lease, self.name, f"{commit}:refs/heads/{branch}",
                env=_QUIET, kill_after_timeout=self.timeout,
            )  # fmt: skip

    def check_base(self, base: str) -> None:
        """Raise SymfixError where the last commit here is not in `base` there, as of the last fetch."""
        repo = self.repository.repo
        tracking = f"refs/remotes/{self.name}/{base}"
        if any(ref.path == tracking for ref in repo.refs) and not repo.is_ancestor(
            repo.commit(self.repository.head), repo.commit(tracking)
        ):
            raise SymfixError(
                f"{self.repository.branch} holds commits that {self.name}/{base} does not, and pull requests would too;"
                f" switch to {base}, or name another branch: --base"
            )
