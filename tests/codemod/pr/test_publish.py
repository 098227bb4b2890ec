"""Pull requests are opened once each, whatever goes wrong on the way, and wherever."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemod.bundle.repository import Repository
from codemod.errors import SymfixError
from codemod.pr.github import GitHub, RateLimited, owner_of
from codemod.pr.journal import Journal
from codemod.pr.publish import Publisher, Request, Result
from codemod.pr.remote import Remote
from codemod.terminal import visible
from codemod.tree.checkout import find_checkout
from tests.conftest import MakeTree

Git = Callable[..., bytes]

_CALLS = 7  # the user's own, then for each of two: of its branch, about its operator, create
_CREATE = (4, 7)
_DONE = {"foo": "opened", "bar": "opened"}


@dataclasses.dataclass
class Place:
    """A clone, its remote, and a fake gh."""

    tree: Path
    remote: Path
    gh: Path
    git: Git
    requests: list[Request]

    def publisher(self, **changed: Any) -> Publisher:
        """A publisher, new as in a new run."""
        repository = Repository.open(find_checkout(self.tree))
        values = {"base": "main", "most_open": 0, "pause": 0.0, **changed}
        github = GitHub(self.tree, "", "", timeout=values.pop("timeout", 30.0))
        return Publisher(github, Remote(repository, "origin", 30.0), Journal(self.tree / ".git/pulls.json"), **values)

    def run(self, **changed: Any) -> list[Result]:
        """One run to its end."""
        publisher = self.publisher(**changed)
        try:
            return list(publisher.publish(self.requests))
        finally:
            publisher.remote.repository.close()

    def run_apart(self, **changed: Any) -> int:
        """One run in a process that may be killed: 0 where it came to its end, 1 where it was stopped by an error."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                (self.gh / "pid").write_text(str(os.getpid()))
                self.run(**changed)
                code = 0
            except SymfixError:
                pass
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def pulls(self) -> list[dict[str, Any]]:
        """What there is at GitHub."""
        path = self.gh / "pulls.json"
        found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        return found

    def edit(self, number: int, **changed: Any) -> None:
        """Somebody changes a pull request."""
        pulls = self.pulls()
        pulls[number] |= changed
        (self.gh / "pulls.json").write_text(json.dumps(pulls))

    def pushes(self) -> list[str]:
        """The branches that were pushed, in order."""
        path = self.remote / "pushes"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def place(make_tree: MakeTree, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    tree = make_tree({"a.cc": b"size\n"})
    remote, gh = tmp_path / "remote.git", tmp_path / "gh"
    git("init", "-q", "--bare", str(remote), cwd=tmp_path)
    git("remote", "add", "origin", str(remote), cwd=tree)
    gh.mkdir()
    for name, line in (("pre-receive", "true"), ("post-receive", f"cut -d' ' -f3 >> {remote}/pushes")):
        hook = remote / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        kill = f"[ -e {gh}/kill-{name} ] && rm {gh}/kill-{name} && kill -9 $(cat {gh}/pid)"
        hook.write_text(f"#!/bin/sh\n{line}\n{kill}\nexit 0\n")
        hook.chmod(0o755)
    program = tmp_path / "bin/gh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -SE {Path(__file__).with_name("fake_gh.py")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_GH", str(gh))
    requests = []
    for name in ("foo", "bar"):
        message = f"{name}\n\nSymfix-Shard: {name}\n"
        commit = git("commit-tree", "-p", "HEAD", "-m", message, "HEAD^{tree}", cwd=tree).decode().strip()
        requests.append(Request(name, name, commit, "", f"Use symbolic sizes in {name}", f"Body of {name}\n"))
    return Place(tree, remote, gh, git, requests)


def states(results: list[Result]) -> dict[str, str]:
    return {result.shard: result.state for result in results}


def test_drafts_are_opened_and_a_second_run_does_nothing(place: Place) -> None:
    assert states(place.run()) == _DONE
    assert [(pull["headRefName"], pull["baseRefName"], pull["body"]) for pull in place.pulls()] == [
        ("symfix/foo", "main", "Body of foo\n"),
        ("symfix/bar", "main", "Body of bar\n"),
    ]
    assert place.pushes() == ["refs/heads/symfix/foo", "refs/heads/symfix/bar"]
    assert len((place.gh / "calls").read_text().splitlines()) == _CALLS
    again = place.run()
    assert states(again) == {"foo": "open already", "bar": "open already"}
    assert [result.url for result in again] == [pull["url"] for pull in place.pulls()]
    assert len(place.pushes()) == 2


_FAULTS = [(call, how) for call in range(1, _CALLS + 1) for how in ("fail", "limit", "stall", "die")]
_FAULTS += [(call, f"{how}-late") for call in _CREATE for how in ("fail", "limit", "stall", "die")]


@pytest.mark.parametrize(("call", "how"), _FAULTS)
def test_whatever_call_goes_wrong_none_is_opened_twice_and_none_is_lost(place: Place, call: int, how: str) -> None:
    (place.gh / "fault").write_text(f"{call} {how}")
    code = place.run_apart(timeout={"stall": 0.5, "stall-late": 5.0}.get(how, 30.0))
    recovers = how.endswith("-late") and not how.startswith("die")  # it asks, and finds what was made
    assert code == (-signal.SIGKILL if how.startswith("die") else 0 if recovers else 1)
    (place.gh / "fault").unlink()
    place.run()
    assert Counter(pull["headRefName"] for pull in place.pulls()) == {"symfix/foo": 1, "symfix/bar": 1}
    assert sorted(place.pushes()) == ["refs/heads/symfix/bar", "refs/heads/symfix/foo"]
    assert set(states(place.run()).values()) == {"open already"}


@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"])
def test_killed_while_it_pushes(place: Place, hook: str) -> None:
    (place.gh / f"kill-{hook}").touch()
    assert place.run_apart() == -signal.SIGKILL
    place.run()
    assert Counter(pull["headRefName"] for pull in place.pulls()) == {"symfix/foo": 1, "symfix/bar": 1}
    assert sorted(set(place.pushes())) == ["refs/heads/symfix/bar", "refs/heads/symfix/foo"]
    assert len(place.pushes()) == 2


def test_a_rate_limit_says_to_come_back(place: Place) -> None:
    (place.gh / "fault").write_text("4 limit")
    with pytest.raises(RateLimited, match="gh pr create: GitHub asks for a pause"):
        place.run()
    assert place.pulls() == []


def test_the_most_that_may_be_open(place: Place) -> None:
    assert states(place.run(most_open=1)) == {"foo": "opened", "bar": "later: 1 are open"}
    assert place.pushes() == ["refs/heads/symfix/foo"]
    place.edit(0, state="MERGED", headRefOid=place.requests[0].commit)
    assert states(place.run(most_open=1)) == {"foo": "merged before", "bar": "opened"}


def test_what_pytorchs_bot_merged_is_closed_and_labelled(place: Place) -> None:
    place.run()
    place.edit(0, state="CLOSED", labels=[{"name": "Merged"}], headRefOid=place.requests[0].commit)
    place.edit(1, state="CLOSED")
    assert states(place.run()) == {"foo": "merged before", "bar": "closed before"}
    # What there is after a merge is something new.
    place.requests[0] = dataclasses.replace(place.requests[0], commit=place.requests[1].commit)
    assert states(place.run())["foo"] == "opened"


def test_an_open_one_is_updated_by_a_push(place: Place) -> None:
    place.run()
    place.requests[0] = dataclasses.replace(place.requests[0], commit=place.requests[1].commit)
    assert states(place.run()) == {"foo": "updated", "bar": "open already"}
    assert len(place.pulls()) == 2
    tip = place.git("rev-parse", "symfix/foo", cwd=place.remote).decode().strip()
    assert tip == place.requests[1].commit


def test_a_branch_of_others_at_the_remote_is_not_overwritten(place: Place) -> None:
    place.git("push", "-q", "origin", "HEAD:refs/heads/symfix/foo", cwd=place.tree)
    with pytest.raises(SymfixError, match="origin/symfix/foo holds work that is not symfix's"):
        place.run()
    assert place.pulls() == []


@pytest.mark.parametrize(
    ("title", "labels", "meant"),
    [
        ("Fix foo\x1b[2J for dynamic shapes", [], True),
        ("Fix foo", [{"name": "module: dynamic shapes"}], True),
        ("Fix foo", [{"name": "module: docs"}], False),
        ("Dynamic shapes in food and foo_bar", [], False),
    ],
)
def test_somebody_elses_pull_request_about_the_same_is_named(
    place: Place, title: str, labels: list[dict[str, str]], meant: bool
) -> None:
    other = {
        "url": "https://github.com/o/r/pull/1", "title": title, "state": "OPEN", "headRefName": "fix", "labels": labels,
        "headRefOid": "", "headRepositoryOwner": {"login": "you"}, "baseRefName": "main",
    }  # fmt: skip
    (place.gh / "pulls.json").write_text(json.dumps([other]))
    results = place.run()
    if meant:
        assert states(results) == {"foo": f"somebody is at it: {visible(title)}", "bar": "opened"}
        assert results[0].url == other["url"]
        results = place.run(duplicates=True)
    assert states(results)["foo"] == "opened"


def test_stacked_ones_wait_for_their_base_or_stand_on_its_branch(place: Place) -> None:
    place.requests[1] = dataclasses.replace(place.requests[1], parent="foo")
    assert states(place.run()) == {"foo": "opened", "bar": "waits for symfix/foo; --stack opens it on top"}
    assert states(place.run(stack=True, most_open=1)) == {"foo": "open already", "bar": "later: 1 are open"}
    assert states(place.run(stack=True)) == {"foo": "open already", "bar": "opened"}
    assert place.pulls()[1]["baseRefName"] == "symfix/foo"


def test_one_whose_base_landed_is_retargeted(place: Place) -> None:
    place.requests[1] = dataclasses.replace(place.requests[1], parent="foo")
    place.run(stack=True)
    place.requests[1] = dataclasses.replace(place.requests[1], parent="")
    del place.requests[0]
    assert states(place.run()) == {"bar": "updated"}
    assert place.pulls()[1]["baseRefName"] == "main"
    assert states(place.run()) == {"bar": "open already"}


def test_nothing_is_stacked_on_what_is_not_there(place: Place) -> None:
    place.requests[1] = dataclasses.replace(place.requests[1], parent="foo")
    place.run(most_open=1)
    place.edit(0, state="CLOSED")
    assert states(place.run(stack=True)) == {"foo": "closed before", "bar": "waits for symfix/foo"}


def test_what_is_worse_is_not_opened(place: Place) -> None:
    place.requests[0] = dataclasses.replace(place.requests[0], held="worse: adds a guard")
    assert states(place.run()) == {"foo": "not opened: worse: adds a guard", "bar": "opened"}


def test_commits_that_the_base_lacks_are_refused(place: Place) -> None:
    place.git("push", "-q", "origin", "HEAD:refs/heads/main", cwd=place.tree)
    place.git("fetch", "-q", "origin", cwd=place.tree)
    remote = place.publisher().remote
    remote.check_base("main")
    place.git("commit", "-q", "--allow-empty", "-m", "mine", cwd=place.tree)
    remote = place.publisher().remote
    with pytest.raises(SymfixError, match="holds commits that origin/main does not"):
        remote.check_base("main")


@pytest.mark.parametrize("said", ["nonsense", "[1]", '[{"url": ""}]'])
def test_an_answer_that_cannot_be_read(place: Place, said: str) -> None:
    gh = place.tree.parent / "bin/gh"
    gh.write_text(f"#!/bin/sh\necho '{said}'\n")
    with pytest.raises(SymfixError, match="said what is no list of pull requests"):
        place.run()


def test_without_gh_it_says_where_to_get_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place.gh))
    with pytest.raises(SymfixError, match="gh is not installed; see https://"):
        GitHub(place.tree, "", "", 30.0).mine()


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pulls.json").write_text('{"format": "symfix-pulls", "branches": {"x": {}}}')
    with pytest.raises(SymfixError, match=r"pulls\.json: damaged"):
        Journal(tmp_path / "pulls.json")


@pytest.mark.parametrize(
    ("address", "owner"),
    [
        ("git@github.com:me/pytorch.git", "me"),
        ("https://github.com/me/pytorch", "me"),
        ("https://token@github.com/me/pytorch.git", "me"),
        ("ssh://git@github.com/me/pytorch.git", "me"),
        ("/srv/pytorch.git", ""),
    ],
)
def test_the_owner_of_a_remote(address: str, owner: str) -> None:
    assert owner_of(address) == owner
