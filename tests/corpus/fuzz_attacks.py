"""What a round does besides changing the tree: files that the command line names, and the books of symfix itself."""

from __future__ import annotations

import hashlib
import json
import os
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


def play(game: Round) -> None:
    """Run symfix on the tree that `game` has built: scan, perhaps with an attack, diff, apply, and apply again."""
    chance = game.chance
    jobs = chance.choice(([], ["--jobs", "1"], ["--jobs", "2"], ["--no-cache"]))
    scan = game.symfix("scan", "--format", "json", *jobs, form="json")
    if scan.timed_out:
        return
    game.count_refusals(scan.out)
    if chance.random() < 0.4:
        form = chance.choice(FORMATS)
        game.symfix("scan", "--format", form, form=form)
    level = chance.choice(LEVELS)
    if chance.random() < 0.5:
        game.change(level, plan=scan.out)
        return
    name = chance.choice(list(ATTACKS))
    game.changes.append(name)
    ATTACKS[name](game, scan.out, level)


def _saved_plan(game: Round, plan: bytes, level: str) -> None:
    """diff and apply of a plan that somebody has edited."""
    path = game.side / "plan.json"
    document = _redirected_plan(game, plan) if game.chance.random() < 0.3 else mutate_json(plan, game.chance)
    path.write_bytes(document)
    game.culprits += ["plan.json", *_paths_in(document)]
    game.change(level, ("--plan", str(path)), plan=document, twice=False)


def _redirected_plan(game: Round, plan: bytes) -> bytes:
    """`plan` with the edits of one of its files made to another, whose true hash it names."""
    try:
        document = json.loads(plan)
        edited = sorted({edit["path"] for finding in document["findings"] for edit in finding["edits"]})
    except (ValueError, KeyError, TypeError):
        return plan
    if not edited:
        return plan
    old = game.chance.choice(edited)
    new = game.chance.choice((*HOSTILE_PATHS[:4], *HOSTILE_PATHS[10:14], VICTIM, ".git/config"))
    changed = redirected(document, old, new)
    try:
        content = (game.tree / new).read_bytes() if "\0" not in new and (game.tree / new).is_file() else b""
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


def _imported_decisions(game: Round, plan: bytes, level: str) -> None:
    """Decisions that somebody has edited, taken over and then followed."""
    path = game.side / "decisions.json"
    game.symfix("review", "--accept", "level:safe", "--reject", "path:*.py", "--export", str(path), named=[str(path)])
    if path.is_file():
        path.write_bytes(mutate_json(path.read_bytes(), game.chance))
        game.symfix("review", "--import", str(path), named=[str(path)])
    # An edit that came with a decision is in no plan: what it writes is compared with the diff alone.
    _change_with_any_edit(game, level, game.chance.choice(((), ("--accepted",))))


def _stored_decisions(game: Round, plan: bytes, level: str) -> None:
    """Decisions in symfix's own books, damaged."""
    game.symfix("review", "--accept", "level:review")
    for path in _books(game):
        if path.suffix == ".json":
            path.write_bytes(mutate_json(path.read_bytes(), game.chance))
            game.culprits.append(path.name)
    _change_with_any_edit(game, level, game.chance.choice(((), ("--accepted",))))


def _change_with_any_edit(game: Round, level: str, more: tuple[str, ...]) -> None:
    kept = len(game.violations)
    game.change(level, more, twice=False)
    game.violations[kept:] = [v for v in game.violations[kept:]
                              if v.promise not in ("bytes outside an edit", "no syntax error gained")]  # fmt: skip


def _baseline(game: Round, plan: bytes, level: str) -> None:
    """A baseline that somebody has edited."""
    path = game.side / "baseline.json"
    path.write_bytes(mutate_json(game.symfix("scan", "--format", "baseline", form="baseline").out, game.chance))
    game.symfix("scan", "--baseline", str(path), named=[str(path)])
    game.change(level, plan=plan)


def _shards(game: Round, plan: bytes, level: str) -> None:
    """A file of shards that somebody has edited."""
    path = game.side / "shards.yaml"
    game.symfix("bundle", "--dry-run", "--allow-dirty", "--save-shards", str(path), named=[str(path), "tree"])
    if path.is_file():
        path.write_bytes(mutate_yaml(path.read_bytes(), game.chance))
        game.symfix("bundle", "--dry-run", "--allow-dirty", "--shards", str(path), named=[str(path), "tree"])
    game.change(level, plan=plan)


def _commands(game: Round, plan: bytes, level: str) -> None:
    """A compile_commands.json, with a compiler that takes whatever it is given."""
    sources = [path for path in _paths_in(plan) if path.endswith(".cpp")] or ["no.cpp"]
    place = game.tree / game.chance.choice(("compile_commands.json", "build/compile_commands.json"))
    place.parent.mkdir(exist_ok=True)
    if not os.path.lexists(place):
        place.write_bytes(make_commands(str(game.tree), sources, game.chance))
        game.culprits.append("compile_commands.json")
    game.symfix("bundle", "--allow-dirty", "--include", str(game.around.headers), named=["tree"], writes=(".git",))
    game.change(level, plan=plan)


def _vocabulary(game: Round, plan: bytes, level: str) -> None:
    """A vocabulary of the command line that somebody has edited."""
    path = game.side / "vocabulary.yaml"
    place = game.tree / OPERATORS
    path.write_bytes(mutate_yaml(place.read_bytes() if place.is_file() else b"- func: add(Tensor x)\n", game.chance))
    game.culprits.append(path.name)
    fresh = game.symfix("scan", "--format", "json", "--vocabulary", str(path), form="json")
    game.change(level, ("--vocabulary", str(path)), plan=fresh.out)


def _template(game: Round, plan: bytes, level: str) -> None:
    """A template of the user's own that fails or never ends."""
    path = game.side / "template.md.j2"
    path.write_bytes(make_template(game.chance))
    # What renders it may hold this much, and no more.
    game.symfix("pr", "--allow-dirty", "--template", str(path), form="patch", named=[str(path), "tree"], megabytes=1_200)
    game.change(level, plan=plan)


def _pull_requests(game: Round, plan: bytes, level: str) -> None:
    """The text of the pull requests, as Markdown."""
    game.symfix("pr", "--allow-dirty", "--level", level, form="markdown", named=["tree"])
    game.change(level, plan=plan)


def _page(game: Round, plan: bytes, level: str) -> None:
    """The page of the review."""
    path = game.side / "page.html"
    game.symfix("review", "--html", str(path), named=[str(path)])
    if path.is_file() and b"<script>alert(1)" in path.read_bytes():
        game.violations.append(Violation("nothing of a source runs in the page", "a script of the tree", "review"))
    game.change(level, plan=plan)


def _since(game: Round, plan: bytes, level: str) -> None:
    """What is not committed yet, beside HEAD."""
    place = game.tree / "untracked.cpp"
    kind = game.chance.randrange(3)
    if not os.path.lexists(place):
        if kind == 0:
            os.mkfifo(place)
        elif kind == 1:
            os.symlink("/dev/zero", place)
        else:
            place.write_bytes(b"int64_t f(at::Tensor x) { return x.size(0); }\n")
        game.culprits.append("untracked.cpp")
    game.symfix("scan", "--since", "HEAD", named=["tree"])
    game.change(level, plan=plan)


def _cache(game: Round, plan: bytes, level: str) -> None:
    """A cache of which files are cut off, empty, gone or of another kind: it may never fail a run."""
    for place, folders, names in os.walk(game.folder / "cache"):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            kind = game.chance.randrange(6)
            if kind == 0:
                path.unlink()
            elif kind <= 2:
                path.write_bytes((b"", b"\x80\x04garbage" * 99)[kind - 1])
            elif kind <= 4:
                path.write_bytes(truncate(path.read_bytes(), game.chance))
    game.change(level, plan=plan)


def _killed(game: Round, plan: bytes, level: str) -> None:
    """An `apply` that is killed as it renames a file, its books and staged files perhaps damaged, and the next run."""
    strace, symfix = shutil.which("strace"), Path(sys.executable).with_name("symfix")
    if strace is None or not symfix.exists():
        game.change(level, plan=plan)
        return
    before = game.files()
    patched = game.patched(before, game.symfix("diff", "--level", level, form="patch").out)
    kill = f"inject=rename,renameat,renameat2:signal=SIGKILL:when={game.chance.randrange(1, 9)}"
    subprocess.run(
        [strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename,renameat,renameat2", "-e", kill,
         str(symfix), "apply", "--no-cache", "--jobs", "1", "--level", level, "--allow-dirty", "--allow-no-vcs"],
        cwd=game.tree, env=game.environment, capture_output=True, check=False, timeout=10 * game.around.bounds.limit,
    )  # fmt: skip
    _damage(game, before, patched)
    ran = game.symfix("apply", "--level", level, "--allow-dirty", "--allow-no-vcs", writes=(".",))
    if ran.timed_out:
        return
    after = game.files()
    for path in differences(before, after):
        if path in before and after.get(path) not in (before[path], patched.get(path)):
            game.violations.append(Violation("a killed run leaves files old or new", f"{path!r} is neither"))


def _damage(game: Round, before: Mapping[str, object], patched: Mapping[str, object]) -> None:
    """Change the books of a killed run, or what it staged; as often, neither."""
    kind = game.chance.randrange(3)
    if kind == 1:
        for path in _books(game):
            if path.suffix == ".json":
                document = path.read_bytes()
                if game.chance.random() < 0.5:
                    document = _redirected_books(game, document, before, patched)
                else:
                    document = mutate_json(document, game.chance)
                path.write_bytes(document)
                game.culprits.append(path.name)
    elif kind == 2:
        for staged in sorted(game.files().keys() - before.keys()):
            (game.tree / staged).write_bytes(game.chance.choice((b"", b"damaged\n", b"#error PWNED\n")))
            game.culprits.append(staged)


def _redirected_books(game: Round, document: bytes, before: Mapping[str, object],
                      patched: Mapping[str, object]) -> bytes:  # fmt: skip
    changed = [path for path in sorted(before) if before[path] != patched.get(path)]
    try:
        books = json.loads(document)
    except ValueError:
        return document
    for path in changed:
        books = redirected(books, path, game.chance.choice(HOSTILE_PATHS))
    return json.dumps(books).encode("ascii")


def _books(game: Round) -> list[Path]:
    """The files that symfix keeps about the tree, in its git folder or in the cache."""
    places = [game.tree / ".git" / "symfix", game.folder / "cache"]
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
