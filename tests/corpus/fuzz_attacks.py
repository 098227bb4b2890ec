"""What a round does besides changing the tree: files that the command line names, and the books of symfix itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz_documents import (
    HOSTILE_PATHS,
    VICTIM,
    make_commands,
    make_template,
    mutate_json,
    mutate_yaml,
    redirected,
)
from fuzz_mutations import truncate
from fuzz_promises import Violation, differences
from fuzz_round import Round
from fuzz_trees import OPERATORS

FORMATS = ("text", "github", "sarif", "csv", "baseline")
LEVELS = ("safe", "review", "review")


def run_commands(case: Round) -> None:
    """Run symfix on the tree that `case` has built: scan, perhaps with an attack, diff, apply, and apply again."""
    chance = case.chance
    jobs = chance.choice(([], ["--jobs", "1"], ["--jobs", "2"], ["--no-cache"]))
    scan = case.symfix("scan", "--format", "json", *jobs, form="json")
    if scan.timed_out:
        return
    case.count_refusals(scan.out)
    if chance.random() < 0.4:
        form = chance.choice(FORMATS)
        case.symfix("scan", "--format", form, form=form)
    level = chance.choice(LEVELS)
    if chance.random() < 0.5:
        case.change(level, plan=scan.out)
        return
    name = chance.choice(list(ATTACKS))
    case.changes.append(name)
    ATTACKS[name](case, scan.out, level)


def _saved_plan(case: Round, plan: bytes, level: str) -> None:
    """diff and apply of a plan that somebody has edited."""
    path = case.side / "plan.json"
    document = _redirected_plan(case, plan) if case.chance.random() < 0.3 else mutate_json(plan, case.chance)
    path.write_bytes(document)
    case.culprits += ["plan.json", *_paths_in(document)]
    case.change(level, ("--plan", str(path)), plan=document, twice=False)


def _redirected_plan(case: Round, plan: bytes) -> bytes:
    """`plan` with the edits of one of its files made to another, whose true hash it names."""
    try:
        document = json.loads(plan)
        edited = sorted({edit["path"] for finding in document["findings"] for edit in finding["edits"]})
    except (ValueError, KeyError, TypeError, RecursionError):
        return plan
    if not edited:
        return plan
    old = case.chance.choice(edited)
    new = case.chance.choice((*HOSTILE_PATHS[:4], *HOSTILE_PATHS[10:14], VICTIM, ".git/config"))
    changed = redirected(document, old, new)
    try:
        content = (case.tree / new).read_bytes() if "\0" not in new and (case.tree / new).is_file() else b""
    except OSError:
        content = b""
    changed["files"][new] = hashlib.sha256(content).hexdigest()
    for finding in changed["findings"]:
        for edit in finding["edits"]:
            if edit["path"] == new:
                edit.update(start=0, end=0, old="", new="PWNED\n")
    return json.dumps(changed).encode("ascii")


def _paths_in(plan: bytes) -> list[str]:
    try:
        return [path for path in json.loads(plan)["files"] if isinstance(path, str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _imported_decisions(case: Round, plan: bytes, level: str) -> None:
    """Decisions that somebody has edited, taken over and then followed."""
    path = case.side / "decisions.json"
    case.symfix("review", "--accept", "level:safe", "--reject", "path:*.py", "--export", str(path), named=[str(path)])
    if path.is_file():
        path.write_bytes(mutate_json(path.read_bytes(), case.chance))
        case.symfix("review", "--import", str(path), named=[str(path)])
    _change_with_any_edit(case, level, case.chance.choice(((), ("--accepted",))))


def _stored_decisions(case: Round, plan: bytes, level: str) -> None:
    """Decisions in symfix's own books, damaged."""
    case.symfix("review", "--accept", "level:review")
    for path in _books(case):
        if path.suffix == ".json":
            path.write_bytes(mutate_json(path.read_bytes(), case.chance))
            case.culprits.append(path.name)
    _change_with_any_edit(case, level, case.chance.choice(((), ("--accepted",))))


def _change_with_any_edit(case: Round, level: str, more: tuple[str, ...]) -> None:
    """diff and apply of decisions, whose edits are in no plan and may be any text."""
    kept = len(case.violations)
    case.change(level, more, twice=False)
    case.violations[kept:] = [v for v in case.violations[kept:] if v.promise != "no syntax error gained"]


def _baseline(case: Round, plan: bytes, level: str) -> None:
    """A baseline that somebody has edited."""
    path = case.side / "baseline.json"
    path.write_bytes(mutate_json(case.symfix("scan", "--format", "baseline", form="baseline").out, case.chance))
    case.symfix("scan", "--baseline", str(path), named=[str(path)])
    case.change(level, plan=plan)


def _shards(case: Round, plan: bytes, level: str) -> None:
    """A file of shards that somebody has edited."""
    path = case.side / "shards.yaml"
    case.symfix("bundle", "--dry-run", "--allow-dirty", "--save-shards", str(path), named=[str(path), "tree"])
    if path.is_file():
        path.write_bytes(mutate_yaml(path.read_bytes(), case.chance))
        case.symfix("bundle", "--dry-run", "--allow-dirty", "--shards", str(path), named=[str(path), "tree"])
    case.change(level, plan=plan)


def _commands(case: Round, plan: bytes, level: str) -> None:
    """A compile_commands.json, with a compiler that takes whatever it is given."""
    sources = [path for path in _paths_in(plan) if path.endswith(".cpp")] or ["no.cpp"]
    place = case.tree / case.chance.choice(("compile_commands.json", "build/compile_commands.json"))
    place.parent.mkdir(exist_ok=True)
    if not os.path.lexists(place):
        place.write_bytes(make_commands(str(case.tree), sources, case.chance))
        case.culprits.append("compile_commands.json")
    case.symfix("bundle", "--allow-dirty", "--include", str(case.around.headers), named=["tree"], writes=(".git",))
    case.change(level, plan=plan)


def _vocabulary(case: Round, plan: bytes, level: str) -> None:
    """A vocabulary of the command line that somebody has edited."""
    path = case.side / "vocabulary.yaml"
    place = case.tree / OPERATORS
    plain = place.is_file() and not place.is_symlink()
    path.write_bytes(mutate_yaml(place.read_bytes() if plain else b"- func: add(Tensor x)\n", case.chance))
    case.culprits.append(path.name)
    fresh = case.symfix("scan", "--format", "json", "--vocabulary", str(path), form="json")
    case.change(level, ("--vocabulary", str(path)), plan=fresh.out)


def _template(case: Round, plan: bytes, level: str) -> None:
    """A template of the user's own that fails or never ends."""
    path = case.side / "template.md.j2"
    path.write_bytes(make_template(case.chance))
    # What renders it may hold this much and take this long, and no more.
    case.symfix("pr", "--allow-dirty", "--template", str(path), form="patch", named=[str(path), "tree"],
                megabytes=1_200, seconds=30)  # fmt: skip
    case.change(level, plan=plan)


def _pull_requests(case: Round, plan: bytes, level: str) -> None:
    """The text of the pull requests, as Markdown."""
    case.symfix("pr", "--allow-dirty", "--level", level, form="markdown", named=["tree"])
    case.change(level, plan=plan)


def _page(case: Round, plan: bytes, level: str) -> None:
    """The page of the review."""
    path = case.side / "page.html"
    case.symfix("review", "--html", str(path), named=[str(path)])
    if path.is_file() and b"<script>alert(1)" in path.read_bytes():
        case.violations.append(Violation("nothing of a source runs in the page", "a script of the tree", "review"))
    case.change(level, plan=plan)


def _since(case: Round, plan: bytes, level: str) -> None:
    """What is not committed yet, beside HEAD."""
    place = case.tree / "untracked.cpp"
    kind = case.chance.randrange(3)
    if not os.path.lexists(place):
        if kind == 0:
            os.mkfifo(place)
        elif kind == 1:
            os.symlink("/dev/zero", place)
        else:
            place.write_bytes(b"int64_t f(at::Tensor x) { return x.size(0); }\n")
        case.culprits.append("untracked.cpp")
    case.symfix("scan", "--since", "HEAD", named=["tree"])
    case.change(level, plan=plan)


def _cache(case: Round, plan: bytes, level: str) -> None:
    """A cache of which files are cut off, empty, gone or of another kind: it may never fail a run."""
    kinds: dict[str, int] = {}
    for place, _, names in os.walk(case.folder / "cache"):
        for name in sorted(names):
            path = Path(place, name)
            # What is named by a digest has another name in another folder.
            kind = kinds.setdefault(re.sub(r"[0-9a-f]{8,}", "", name), case.chance.randrange(6))
            if kind == 0:
                path.unlink()
            elif kind <= 2:
                path.write_bytes((b"", b"\x80\x04garbage" * 99)[kind - 1])
            elif kind <= 4:
                path.write_bytes(truncate(path.read_bytes(), case.chance))
    case.change(level, plan=plan)


def _killed(case: Round, plan: bytes, level: str) -> None:
    """An `apply` that is killed as it renames a file, its books and staged files perhaps damaged, and the next run."""
    strace, symfix = shutil.which("strace"), Path(sys.executable).with_name("symfix")
    if strace is None or not symfix.exists():
        case.change(level, plan=plan)
        return
    before = case.files()
    patched = case.patched(before, case.symfix("diff", "--level", level, form="patch").out)
    kill = f"inject=rename,renameat,renameat2:signal=SIGKILL:when={case.chance.randrange(1, 9)}"
    subprocess.run(
        [strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename,renameat,renameat2", "-e", kill,
         str(symfix), "apply", "--no-check", "--no-cache", "--jobs", "1", "--level", level, "--allow-dirty",
         "--allow-no-vcs"],
        cwd=case.tree, env=case.environment, capture_output=True, check=False, timeout=10 * case.around.bounds.limit,
    )  # fmt: skip
    _damage(case, before, patched)
    run = case.symfix("apply", "--no-check", "--level", level, "--allow-dirty", "--allow-no-vcs", writes=(".",))
    if run.timed_out:
        return
    after = case.files()
    for path in differences(before, after):
        if path in before and after.get(path) not in (before[path], patched.get(path)):
            case.violations.append(Violation("a killed run leaves files old or new", f"{path!r} is neither"))


def _damage(case: Round, before: Mapping[str, object], patched: Mapping[str, object]) -> None:
    """Change the books of a killed run, or what it staged; as often, neither."""
    kind = case.chance.randrange(3)
    if kind == 1:
        for path in _books(case):
            if path.suffix == ".json":
                document = path.read_bytes()
                if case.chance.random() < 0.5:
                    document = _redirected_books(case, document, before, patched)
                else:
                    document = mutate_json(document, case.chance)
                path.write_bytes(document)
                case.culprits.append(path.name)
    elif kind == 2:
        for staged in sorted(case.files().keys() - before.keys()):
            (case.tree / staged).write_bytes(case.chance.choice((b"", b"damaged\n", b"#error PWNED\n")))
            case.culprits.append(staged)


def _redirected_books(case: Round, document: bytes, before: Mapping[str, object],
                      patched: Mapping[str, object]) -> bytes:  # fmt: skip
    changed = [path for path in sorted(before) if before[path] != patched.get(path)]
    try:
        books = json.loads(document)
    except (ValueError, RecursionError):
        return document
    for path in changed:
        books = redirected(books, path, case.chance.choice(HOSTILE_PATHS))
    return json.dumps(books).encode("ascii")


def _books(case: Round) -> list[Path]:
    """The files that symfix keeps about the tree, in its git folder or in the cache."""
    places = [case.tree / ".git" / "symfix", case.folder / "cache"]
    return sorted(path for place in places for path in place.rglob("*") if path.is_file() and not path.is_symlink())


ATTACKS: Mapping[str, Callable[[Round, bytes, str], None]] = {
    "saved plan": _saved_plan,
    "imported decisions": _imported_decisions,
    "stored decisions": _stored_decisions,
    "baseline": _baseline,
    "shards": _shards,
    "compile commands": _commands,
    "vocabulary": _vocabulary,
    "template": _template,
    "pull requests": _pull_requests,
    "page": _page,
    "since": _since,
    "damaged cache": _cache,
    "killed apply": _killed,
}
