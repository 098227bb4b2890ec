"""The git repository as a bundle uses it: objects are added, branches set; work tree, index and hooks are not used."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codemod.errors import SymfixError
from codemod.planning.naming import PREFIX
from codemod.terminal import encode
from codemod.tree.checkout import Checkout
from codemod.tree.git import Git, printed_by, reason_of

if TYPE_CHECKING:
    from git import Repo

_TREE = b"40000"
_SUBMODULE = b"160000"
_LINK = b"120000"


class Entry(NamedTuple):
    """One name of a tree object: its mode as git writes it (octal, bytes) and the hexadecimal id of what it names."""

    mode: bytes
    sha: str


@dataclass(slots=True)
class Repository:
    """A repository that a bundle can be made in. Paths are relative to the checkout's root."""

    repo: Repo
    git: Git
    root: Path
    prefix: str
    """The checkout's root below the repository's top, "" or ending in a slash."""
    branch: str
    head: str
    """The commit that everything starts from."""
    _trees: dict[str, dict[str, Entry]] = field(default_factory=dict)
    _made: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """What git is still to be given, by its id: the kind of an object, and its bytes."""
    _filtered: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, checkout: Checkout) -> Repository:
        """The repository of `checkout`. Raises SymfixError where no branch could be started from its last commit."""
        if checkout.git is None:
            raise SymfixError(f"{checkout.root}: not a git checkout, so there is nothing to branch from")
        repo = checkout.git.repository()
        try:
            return cls._checked(repo, checkout.git, checkout.root)
        except BaseException:
            repo.close()
            raise

    @classmethod
    def _checked(cls, repo: Repo, git: Git, root: Path) -> Repository:
        with translate_git_errors(root):
            if repo.git.rev_parse("--is-shallow-repository") == "true":
                raise SymfixError(f"{root}: a shallow clone, whose branches others may not take: git fetch --unshallow")
            if repo.git.rev_parse("--show-object-format") != "sha1":
                raise SymfixError(f"{root}: its object ids are not SHA-1, and GitPython reads no other")
            if any(line.startswith("S ") for line in repo.git.ls_files("-t").splitlines()):
                raise SymfixError(
                    f"{root}: a sparse checkout, and branches may break what it leaves out: git sparse-checkout disable"
                )
        if repo.head.is_detached:
            raise SymfixError(f"{root}: HEAD is detached, so there is no branch to build on: git switch -c NAME")
        if not repo.head.is_valid():
            raise SymfixError(f"{root}: no commit yet, so there is nothing to branch from: commit first")
        branch = repo.head.ref.name
        if branch.startswith(PREFIX):
            raise SymfixError(f"{root}: {branch} is checked out, a branch of a bundle: git switch to the one it is for")
        prefix = os.path.relpath(root, git.top).replace(os.sep, "/")
        return cls(repo, git, root, "" if prefix == "." else prefix + "/", branch, repo.head.commit.hexsha)

    def close(self) -> None:
        """End the git processes that serve it."""
        self.repo.close()

    def check_committed(self, sources: Mapping[str, bytes]) -> None:
        """Raise SymfixError where a file of `sources` is not what the last commit holds."""
        for path, source in sources.items():
            entry = self.entry(path)
            if entry is None:
                raise SymfixError(f"{path}: not in the last commit; commit it first")
            if entry.mode == _LINK:
                raise SymfixError(f"{path}: a link in the last commit, a file in the work tree; commit it first")
            if _id(b"blob", source) != entry.sha:
                if self._clean(path, source) != entry.sha:
                    name = self.git.filtered(path, self.root)
                    if name:
                        raise SymfixError(f"{path}: passes git's filter {name}, which symfix does not run")
                    raise SymfixError(f"{path}: not what the last commit holds; commit or stash it first")
                self._filtered.add(path)

    def entry(self, path: str) -> Entry | None:
        """What the last commit holds at `path`, None for nothing. Raises SymfixError inside a submodule."""
        parts = (self.prefix + path).split("/")
        sha = self.tree_of(self.head)
        for index, part in enumerate(parts):
            entry = self._tree(sha).get(part)
            if entry is None or index == len(parts) - 1:
                return entry
            if entry.mode == _SUBMODULE:
                folder = "/".join(parts[: index + 1])
                raise SymfixError(f"{path}: lies in the submodule {folder}; run symfix in there")
            if entry.mode != _TREE:
                return None
            sha = entry.sha
        return None

    def content(self, path: str) -> bytes | None:
        """The bytes of a file in the commit that everything starts from; None where it holds no such file."""
        entry = self.entry(path)
        if entry is None or entry.mode == _LINK:
            return None
        return bytes(self.repo.odb.stream(bytes.fromhex(entry.sha)).read())

    def starting_from(self, commit: str) -> Repository:
        """The same repository, where branches start from `commit`, one before the last."""
        return replace(self, head=commit)

    def holds(self, commit: str) -> bool:
        """Whether `commit` is the last one or among those before it."""
        import git

        try:
            self.repo.git.merge_base("--is-ancestor", commit, self.head)
        except git.GitCommandError:
            return False
        return True

    def tree_of(self, commit: str) -> str:
        """The id of a commit's tree."""
        return str(self.repo.commit(commit).tree.hexsha)

    def changed_tree(self, tree: str, files: Mapping[str, bytes | None]) -> str:
        """The id of `tree` with the contents of `files`, which all are in it; None deletes one.

        Git has it from `store` on.
        """
        blobs = {
            self.prefix + path: None if new is None else self._store_file(path, new) for path, new in files.items()
        }
        return self._changed(tree, {tuple(path.split("/")): sha for path, sha in blobs.items()})

    def store(self) -> None:
        """Give git what `changed_tree` made, all at once: a process for each object takes longer than all else."""
        if not self._made:
            return
        from gitdb import OStream
        from gitdb.pack import PackEntity

        objects = [
            OStream(bytes.fromhex(sha), kind, len(content), BytesIO(content))
            for sha, (kind, content) in self._made.items()
        ]
        written = BytesIO()
        PackEntity.write_pack(objects, written.write)
        self.git.run("unpack-objects", "-q", stdin=written.getvalue())
        self._made.clear()

    def changed_names(self, trees: Sequence[tuple[str, str]]) -> list[set[str]]:
        """The paths from the repository's top in which the trees of each pair differ, as git says."""
        pairs = [f"{old} {new}\n".encode() for old, new in trees]
        listed = self.git.run("diff-tree", "-r", "-z", "--name-only", "--stdin", stdin=b"".join(pairs))
        changed = []
        at = 0
        for pair, following in itertools.zip_longest(pairs, pairs[1:]):
            at += len(pair)
            names = set()
            while at < len(listed) and not (following and listed.startswith(following, at)):
                end = listed.index(b"\0", at)
                names.add(listed[at:end].decode("utf-8", "surrogateescape"))
                at = end + 1
            changed.append(names)
        return changed

    def commit(self, tree: str, parent: str, message: str, environment: Mapping[str, str]) -> str:
        """The id of a new commit, signed where the user's configuration says so; no hook runs."""
        with self.repo.config_reader() as config:
            sign = config.getboolean("commit", "gpgsign", fallback=False)
        with translate_git_errors(self.root), tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "message"
            text.write_bytes(encode(message))
            arguments = ["-S"] if sign else []
            return str(
                self.repo.git.commit_tree(*arguments, "-p", parent, "-F", str(text), tree, env=dict(environment))
            )

    def identity(self) -> dict[str, str]:
        """The environment in which commits are made: author, committer, and the date of $SOURCE_DATE_EPOCH, else now.

        Raises SymfixError where git knows no name or address, or the date is no number.
        """
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        if epoch and not epoch.isdigit():
            raise SymfixError(f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds")
        environment: dict[str, str] = {}
        import git

        for who in ("AUTHOR", "COMMITTER"):
            try:
                ident = self.repo.git.var(f"GIT_{who}_IDENT")
            except git.GitCommandError as error:
                raise SymfixError(
                    'git knows no name for commits: git config user.name "…" and git config user.email "…"'
                ) from error
            date = f"{epoch} +0000" if epoch else " ".join(ident.split()[-2:])
            name, _, rest = ident.rpartition(" <")
            environment |= {
                f"GIT_{who}_NAME": name,
                f"GIT_{who}_EMAIL": rest.partition(">")[0],
                f"GIT_{who}_DATE": f"@{date}",
            }
        return environment

    def tips(self) -> dict[str, str]:
        """The commit of each branch below symfix/, by its name without that."""
        with translate_git_errors(self.root):
            listed = self.repo.git.for_each_ref("--format=%(refname) %(objectname)", f"refs/heads/{PREFIX}*")
        pairs = (line.split(" ") for line in listed.splitlines())
        return {name.removeprefix(f"refs/heads/{PREFIX}"): sha for name, sha in pairs}

    def has_branch(self, name: str) -> bool:
        """Whether there is a branch of that full name."""
        return name in (head.name for head in self.repo.heads)

    def message(self, commit: str) -> str:
        """A commit's message."""
        return str(self.repo.commit(commit).message)

    def checked_out(self) -> set[str]:
        """The branches that some worktree has checked out."""
        with translate_git_errors(self.root):
            listed = self.repo.git.worktree("list", "--porcelain")
        return {line.removeprefix("branch refs/heads/") for line in listed.splitlines() if line.startswith("branch ")}

    def set_branches(self, branches: Mapping[str, tuple[str, str]]) -> None:
        """Set branches below symfix/ to new commits, all or none: name → (new, old), old "" where there is none yet.

        No hook runs.
        Raises SymfixError where one is no longer what it was, or cannot be made.
        """
        zero = "0" * 40
        lines = [f"update refs/heads/{PREFIX}{name}\0{new}\0{old or zero}\0" for name, (new, old) in branches.items()]
        with translate_git_errors(self.root), tempfile.TemporaryFile() as commands:
            commands.write("".join(lines).encode())
            commands.seek(0)
            self.repo.git.update_ref("-m", "symfix bundle", "--create-reflog", "--stdin", "-z", istream=commands)

    def _changed(self, tree: str, files: Mapping[tuple[str, ...], str | None]) -> str:
        entries = dict(self._tree(tree))
        below: dict[str, dict[tuple[str, ...], str | None]] = {}
        for (name, *rest), sha in files.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = sha
            elif sha is None:
                del entries[name]
            else:
                entries[name] = entries[name]._replace(sha=sha)
        for name, inner in below.items():
            sha = self._changed(entries[name].sha, inner)
            if self._tree(sha):
                entries[name] = Entry(_TREE, sha)
            else:
                del entries[name]  # git keeps no empty folders
        return self._store_tree(entries)

    def _tree(self, sha: str) -> dict[str, Entry]:
        if sha not in self._trees:
            data = self.repo.odb.stream(bytes.fromhex(sha)).read()
            entries = {}
            at = 0
            while at < len(data):
                space, end = data.index(b" ", at), data.index(b"\0", at)
                name = data[space + 1 : end].decode("utf-8", "surrogateescape")
                entries[name] = Entry(data[at:space], data[end + 1 : end + 21].hex())
                at = end + 21
            self._trees[sha] = entries
        return self._trees[sha]

    def _store_tree(self, entries: Mapping[str, Entry]) -> str:
        named = sorted((encode(name), entry) for name, entry in entries.items())
        named.sort(key=lambda pair: pair[0] + b"/" if pair[1].mode == _TREE else pair[0])
        sha = self._store(b"tree", b"".join(b"%s %s\0%s" % (e.mode, name, bytes.fromhex(e.sha)) for name, e in named))
        self._trees[sha] = dict(entries)
        return sha

    def _store_file(self, path: str, content: bytes) -> str:
        return self._clean(path, content, "-w") if path in self._filtered else self._store(b"blob", content)

    def _store(self, kind: bytes, content: bytes) -> str:
        sha = _id(kind, content)
        self._made[sha] = kind, content
        return sha

    def _clean(self, path: str, content: bytes, *options: str) -> str:
        """The id of what git would commit for `content` in the work tree: line ends converted, no filter run."""
        with translate_git_errors(self.root), tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            name = f"--path={self.prefix}{path}"
            return str(self.repo.git.hash_object(*options, name, "--stdin", istream=file))


def _id(kind: bytes, content: bytes) -> str:
    """The id that git gives an object."""
    return hashlib.sha1(b"%b %d\0" % (kind, len(content)) + content, usedforsecurity=False).hexdigest()


@contextlib.contextmanager
def translate_git_errors(root: Path, hint: str = "") -> Iterator[None]:
    """Turn a failure of git into a SymfixError with what git says of it, and `hint` after that."""
    import git

    try:
        yield
    except git.GitCommandError as error:
        raise SymfixError(f"{root}: git failed: {reason_of(printed_by(error)) or error.status}{hint}") from error


def is_ours(message: str, name: str) -> bool:
    """Whether a commit of this message was made by a bundle for the shard `name`: its last paragraph says so."""
    return f"Symfix-Shard: {name}" in message.rstrip("\n").rpartition("\n\n")[2].splitlines()
