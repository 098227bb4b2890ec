"""A `gh` that keeps pull requests in a folder, and fails at one call as it is told.

`$FAKE_GH` holds `pulls.json`, `calls` (one line each) and, for one fault, `fault`: the number of the call, counted from
1, and how it goes wrong: `fail`, `limit`, `stall` or `die` (its caller is killed), each with `-late` when GitHub has
done its part before. It is started hundreds of times, and imports no more than it needs.
"""

import itertools
import json
import os
import sys

FOLDER = os.environ["FAKE_GH"]


def read(name: str) -> str:
    """What a file of the folder holds, "" where it is absent."""
    if not os.path.exists(f"{FOLDER}/{name}"):
        return ""
    with open(f"{FOLDER}/{name}", encoding="utf-8") as file:
        return file.read()


def write(name: str, text: str, mode: str = "w") -> None:
    """Write a file of the folder, or with mode "a" go on with it."""
    with open(f"{FOLDER}/{name}", mode, encoding="utf-8") as file:
        file.write(text)


def main(arguments: list[str]) -> str:
    """What gh prints."""
    write("calls", " ".join(arguments[:2]) + "\n", "a")
    number = len(read("calls").splitlines())
    text = sys.stdin.read() if "--body-file" in arguments else ""
    at, _, how = (read("fault") or "0").partition(" ")
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
        os.kill(os.getppid(), 9)
    if kind == "stall":
        import time

        time.sleep(60)
    sys.exit("HTTP 403: You have exceeded a secondary rate limit" if kind == "limit" else "HTTP 502: Bad Gateway")


def answer(arguments: list[str], text: str) -> str:
    """Do what is asked for."""
    pulls = json.loads(read("pulls.json") or "[]")
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
        write("pulls.json", json.dumps(pulls))
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
    write("pulls.json", json.dumps(pulls))
    return url + "\n"


if __name__ == "__main__":
    print(main(sys.argv[1:]))
