"""What a hostile tree holds: each vector makes one trap in a tree, for what somebody only reads or unpacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hostile_place import Place
from hostile_traps import (
    Make,
    compile_commands,
    computing_template,
    config,
    decided,
    dirty,
    embedded,
    foreign_cache,
    git_file,
    hooks_path,
    included_config,
    linked_cache,
    linked_template,
    links,
    nested,
    open_cache,
    own_file,
    own_hooks,
    plan,
    promisor,
    tool,
    with_plan,
    worktree_config,
)

EVERY = ("scan", "since", "diff", "apply", "review", "bundle", "pr")
"""All commands that a vector is tried with; hostile_tree.py says what each runs."""


def _nothing(place: Place) -> None:
    """Make nothing."""


@dataclass(frozen=True)
class Vector:
    """One trap. `tracked` makes what a clone brings along, `planted` what only an archive or another user could."""

    name: str
    tracked: Make = _nothing
    planted: Make = _nothing
    bites: Sequence[str] = ("scan", "apply")
    """The commands that a short run tries."""
    paths: Sequence[str] = ()
    """PATHS of the command line."""
    folder: str = "."
    """Where in the tree the command is run."""
    options: Callable[[Place], Sequence[str]] = field(default=lambda place: ())
    """What the command line says besides."""
    compiler: bool = False
    refused: Sequence[str] = ()
    """The commands that have to exit 2."""
    root: bool = False
    """Whether only root can make it."""


def _compiling(name: str, *flags: str, whole: bool = False) -> Vector:
    return Vector(f"compile_commands: {name}", compile_commands(*flags, whole=whole), bites=("bundle",), compiler=True)


def _planning(name: str, target: str, tracked: Make = _nothing) -> Vector:
    return Vector(f"plan: {name}", tracked, plan(target), ("diff", "apply"), options=with_plan,
                  refused=("diff", "apply"))  # fmt: skip


def _configured(name: str, make: Make, bites: Sequence[str], **more: Any) -> Vector:
    return Vector(f"[tool.symfix] {name}", make, bites=bites, **more)


_FSMONITOR = ("[core]", '\tfsmonitor = "TRAP"')
_EVIL = "*.cpp filter=evil diff=evil merge=evil\n"

VECTORS: tuple[Vector, ...] = (
    Vector("link at a source's temporary name", links(
        ("aten/src/ATen/native/.Blend.cpp.symfix-tmp", "../outside/victim.txt"),
        ("extension/.neighbor_ops.cpp.symfix-tmp", "../outside/victim.txt"),
    ), bites=("apply",)),
    Vector("link at the page's temporary name", links(
        ("page.html.symfix-tmp", "../outside/victim.txt"), (".page.html.symfix-tmp", "../outside/victim.txt"),
    ), bites=("review",)),
    Vector("link at the page's own name", links(("page.html", "../outside/victim.txt")), bites=("review",)),
    Vector("link at the name of the shards", links(("shards.yaml", "../outside/victim.txt"),
           ("shards.yaml.symfix-tmp", "../outside/victim.txt")), bites=("shards",)),
    Vector("link at the names of the texts", links(
        ("pulls/series.md", "../outside/victim.txt"), ("pulls/tile_mean.md", "../outside/victim.txt"),
    ), bites=("texts",)),
    Vector("link at the name of the decisions", links(("decisions.json", "../outside/victim.txt"),
           ("decisions.json.symfix-tmp", "../outside/victim.txt")), bites=("export",)),
    Vector("the user's own file at a temporary name", planted=own_file, bites=("apply",)),
    Vector("embedded repository, named", embedded, bites=("scan", "diff", "apply"), paths=("sub",)),
    Vector("embedded repository, inside", embedded, bites=("scan", "diff", "apply"), folder="sub"),
    _compiling("-fplugin", "-fplugin=TREE/evil.so"),
    _compiling("-fplugin in a command", "-fplugin=TREE/evil.so", whole=True),
    _compiling("-fplugin after a kept flag", "-I", "include", "-fplugin=TREE/evil.so"),
    _compiling("-fdump", "-fdump-tree-all=MARK", "-fdump-lang-raw=MARK", "-fdump-passes"),
    _compiling("-fopt-info", "-fopt-info=MARK", "-fopt-info-all=MARK"),
    _compiling("-fmodule-mapper", "-fmodules-ts", "-fmodule-mapper=|touch MARK"),
    _compiling("-wrapper", "-wrapper", "sh,-c,touch MARK"),
    _compiling("-fwrapper", "-f-wrapper", "-mwrapper", "-std=c++17", "-wrapper=sh,-c,touch MARK"),
    _compiling("@file", "@TREE/args"),
    _compiling("@file as a value", "-include", "@TREE/args", "-I@TREE/args", "-D", "@TREE/args"),
    _compiling("-B", "-BTREE/bin/", "-B", "TREE/bin/"),
    _compiling("-specs", "-specs=TREE/evil.specs", "--specs=TREE/evil.specs"),
    _compiling("-o", "-o", "MARK", "-oMARK"),
    _compiling("-MF", "-MD", "-MF", "MARK"),
    _compiling("-save-temps", "-save-temps=obj", "-dumpdir", "TREE/"),
    _compiling("-fcallgraph-info", "-fcallgraph-info", "-fstack-usage", "-fsave-optimization-record",
               "-fprofile-generate=MARK", "-ftest-coverage", "-fprofile-arcs"),
    _compiling("-Wp", "-Wp,-MD,MARK", "-Xpreprocessor", "-MDMARK"),
    _compiling("-Wa", "-Wa,-a=MARK", "-aux-info", "MARK"),
    _compiling("-include of another's file", "-include", "../outside/victim.txt"),
    _planning(".git/config", ".git/config"),
    _planning("a hook", ".git/hooks/post-index-change"),
    _planning("out of the tree", "../outside/victim.txt"),
    _planning("absolute", "OUTSIDE/victim.txt"),
    _planning("back and forth", "aten/../.git/config"),
    _planning("through a link out", "linked/victim.txt", links(("linked", "../outside"))),
    _planning("through a link to .git", "linked/config", links(("linked", ".git"))),
    _configured("template out of the tree", tool('template = "OUTSIDE/template.md.j2"'), ("pr",)),
    _configured("template back out", tool('template = "../outside/template.md.j2"'), ("pr",)),
    _configured("template through a link", linked_template, ("pr",)),
    _configured("template that computes", computing_template, ("pr",)),
    _configured("allow-dirty", tool("allow-dirty = true"), ("apply",), planted=dirty, refused=("apply",)),
    _configured("vocabulary /dev/zero", tool('vocabulary = "/dev/zero"'), ("scan",)),
    _configured("vocabulary of another", tool('vocabulary = "OUTSIDE/vocabulary.yaml"'), ("scan",)),
    _configured("baseline /dev/zero", tool('baseline = "/dev/zero"'), ("scan",)),
    _configured("baseline of another", tool('baseline = "OUTSIDE/victim.txt"'), ("scan",)),
    _configured("paths out of the tree", tool('paths = ["../outside"]'), ("scan",)),
    Vector("decisions that are forgotten", planted=decided, bites=("forget", "forget all"),
           refused=("forget", "forget all")),
    Vector("the cache of another user", planted=foreign_cache, root=True, bites=("scan", "diff")),
    Vector("a cache that anyone may write", planted=open_cache, bites=("scan", "diff")),
    Vector("a link to the cache of another", planted=linked_cache, root=True, bites=("scan",)),
    Vector(".git/config: fsmonitor", planted=config(*_FSMONITOR), bites=("scan", "since", "apply", "bundle")),
    Vector(".git/config: hooksPath", hooks_path, config("[core]", "\thooksPath = TREE/hooks"),
           ("since", "apply", "bundle")),
    Vector(".git/hooks", planted=own_hooks, bites=("since", "apply", "bundle")),
    Vector(".git/config: filter", planted=config('[filter "evil"]', '\tclean = "TRAP"', '\tsmudge = "TRAP"',
           "\trequired = true", attributes=_EVIL), bites=("since", "apply", "bundle", "pr")),
    Vector(".git/config: filter process", planted=config('[filter "evil"]', '\tprocess = "TRAP"', attributes=_EVIL),
           bites=("since", "apply", "bundle", "pr")),
    Vector(".git/config: textconv", planted=config('[diff "evil"]', '\ttextconv = "TRAP"', attributes=_EVIL),
           bites=("since", "apply", "bundle")),
    Vector(".git/config: diff driver", planted=config('[diff "evil"]', '\tcommand = "TRAP"', attributes=_EVIL),
           bites=("since", "apply", "bundle")),
    Vector(".git/config: external diff", planted=config("[diff]", '\texternal = "TRAP"'),
           bites=("since", "apply", "bundle")),
    Vector(".git/config: gpg", planted=config("[commit]", "\tgpgsign = true", "[gpg]",
           "\tprogram = TREE/hooks/pre-commit", "[user]", "\tsigningkey = 0"), tracked=hooks_path, bites=("bundle",)),
    Vector(".git/config: merge driver", planted=config('[merge "evil"]', '\tdriver = "TRAP"', attributes=_EVIL),
           bites=("bundle",)),
    Vector(".git/config: programs for people", planted=config(
        "[core]", '\tpager = "TRAP"', '\teditor = "TRAP"', '\tsshCommand = "TRAP"', '\taskPass = "TRAP"',
        '\tgitProxy = "TRAP"', '\talternateRefsCommand = "TRAP"', "[credential]", '\thelper = "!TRAP"',
        "[sequence]", '\teditor = "TRAP"', "[interactive]", '\tdiffFilter = "TRAP"', "[pager]", '\tdiff = "TRAP"',
        "[alias]", '\tdiff = "!TRAP"', '\tls-files = "!TRAP"'), bites=("apply", "bundle")),
    Vector(".git/config: of the worktree", planted=worktree_config, bites=("scan", "apply")),
    Vector(".git/config: included", included_config, config("[include]", "\tpath = TREE/evil.gitconfig"), ("scan",)),
    Vector(".git/config: work tree elsewhere", planted=config("[core]", "\tworktree = TREE/../outside"),
           bites=("scan", "since")),
    Vector(".git/config: promisor", planted=promisor, bites=("since", "apply", "bundle")),
    Vector(".git is a file", planted=git_file, bites=("scan", "apply")),
    Vector("nested repository", planted=nested, bites=("scan", "since", "apply")),
    Vector("nested repository, named", planted=nested, bites=("scan",), paths=("nested",)),
)  # fmt: skip
