"""A `gh` that keeps pull requests in a folder, and fails at one call as it is told.

`$FAKE_GH` holds `pulls.json`, `calls` (one line each) and, for one fault, `fault`: the number of the call, counted from
1, and how it goes wrong: `fail`, `limit`, `stall` or `die` (its caller is killed), each with `-late` when GitHub has
done its part before.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["FAKE_GH"])


def main(arguments: list[str]) -> str:
    """What gh prints."""
    with open(FOLDER / "calls", "a") as calls:
        calls.write(" ".join(arguments[:2]) + "\n")
    number = len((FOLDER / "calls").read_text().splitlines())
    text = sys.stdin.read() if "--body-file" in arguments else ""
    fault = FOLDER / "fault"
    at, _, how = fault.read_text().partition(" ") if fault.exists() else ("0", "", "")
    strikes = int(at) == number
    if strikes and not how.endswith("-late"):
        strike(how)
    said = answer(arguments, text)
    if strikes:
        strike(how)
    return said


def strike(how: str) -> None:
    """Go wrong."""
    kind = how.partition("-")[0]
    if kind == "die":
        os.kill(os.getppid(), signal.SIGKILL)
    if kind == "stall":
        time.sleep(60)
    sys.exit("HTTP 403: You have exceeded a secondary rate limit" if kind == "limit" else "HTTP 502: Bad Gateway")


def answer(arguments: list[str], text: str) -> str:
    """Do what is asked for."""
    path = FOLDER / "pulls.json"
    pulls: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    options = {name: value for name, value in itertools.pairwise(arguments) if name.startswith("--")}
    if arguments[:2] == ["pr", "list"]:
        found = [pull for pull in pulls if options["--state"] == "all" or pull["state"] == "OPEN"]
        if "--author" in options:
            found = [pull for pull in found if pull["headRepositoryOwner"]["login"] == "me"]
        if "--head" in options:
            found = [pull for pull in found if pull["headRefName"] == options["--head"]]
        if "--search" in options:
            word = options["--search"].split('"')[1]
            found = [pull for pull in found if word in pull["title"]]
        return json.dumps(found)
    if arguments[:2] == ["pr", "edit"]:
        for pull in pulls:
            if pull["url"] == arguments[2]:
                pull["baseRefName"] = options["--base"]
        path.write_text(json.dumps(pulls))
        return ""
    assert arguments[:2] == ["pr", "create"]
    assert "--draft" in arguments
    branch = options["--head"].rpartition(":")[2]
    if any(pull["headRefName"] == branch and pull["state"] == "OPEN" for pull in pulls):
        sys.exit(f"a pull request for branch {branch} already exists")
    url = f"https://github.com/o/r/pull/{len(pulls) + 1}"
    pulls.append({
        "url": url, "title": options["--title"], "state": "OPEN", "headRefName": branch, "labels": [],
        "headRefOid": "", "headRepositoryOwner": {"login": "me"}, "baseRefName": options["--base"], "body": text,
    })  # fmt: skip
    path.write_text(json.dumps(pulls))
    return url + "\n"


if __name__ == "__main__":
    print(main(sys.argv[1:]))
