"""One run of a command: what its parameters and the configuration ask for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from codemod.borders.documents import read_bounded
from codemod.borders.private import distrust, make_private, say_once
from codemod.digest import digest
from codemod.errors import SymfixError, nearest
from codemod.model.choices import ALL, OPERATORS
from codemod.model.findings import Level
from codemod.model.scope import Scope
from codemod.planning.selection import Selection
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout, checkout_of, find_checkout, of_pytorch, user_cache
from codemod.tree.config import VERSION, Config, read_config, read_user_config
from codemod.tree.pool import default_jobs
from codemod.tree.project import CheckoutProject
from codemod.tree.touched import touched_since


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: the checkout, what of it is asked for, and the project to ask."""

    checkout: Checkout
    project: CheckoutProject
    selection: Selection
    values: Mapping[str, Any]
    """The command's parameters, from the command line, else from [tool.symfix], else from the user's config.toml."""
    configured: Mapping[str, Path] = field(default_factory=dict)
    """The file that a parameter's value comes from, of those that the command line does not give."""

    def origin(self, name: str) -> str:
        """Where the value of the parameter `name` is to be changed, as a message begins."""
        option = name.replace("_", "-")
        return f"{self.configured[name]}: {option}:" if name in self.configured else f"--{option}"

    @property
    def journal(self) -> Path:
        """Where writing keeps its books: in the git folder, else in the user's cache; of its own for each root.

        Raises SymfixError where that is a link, or may be somebody else's.
        """
        from codemod.writing.write import journal_name

        git, root = self.checkout.git, self.checkout.root
        if git is not None:
            top = git.git_dir / "symfix"
            folder = top if root == git.top else top / "below" / digest(os.path.relpath(root, git.top))
            for name in (top, top / "below", folder, folder / "evidence", folder / "pulls"):
                if name.is_symlink():
                    raise SymfixError(f"{name}: is a link, and symfix writes its books there; remove it")
            return folder
        base = user_cache()
        folder = base / "journal" / journal_name(root)
        with contextlib.suppress(OSError):  # what only reads needs no folder
            make_private(folder, base)
        reason = distrust(folder, base)
        if reason:
            raise SymfixError(f"{reason}; decisions and unfinished writes are kept there")
        return folder


def start(context: click.Context, parameters: Mapping[str, Any], root: Path | None = None) -> Run:
    """The run that a command's `parameters` ask for, in the tree at `root`, else in the one that holds their paths.

    Raises SymfixError on a path, a vocabulary or a configuration that cannot be used.
    """
    paths: tuple[Path, ...] = parameters["paths"]
    for missing in (path for path in paths if not path.exists()):
        beside = os.listdir(missing.parent) if missing.parent.is_dir() else ()
        raise SymfixError(f"{missing}: no such file or folder{nearest(missing.name, sorted(beside))}")
    checkout = _checkout(paths, root)
    user, tree = read_user_config(), read_config(checkout)
    configured = _configured(context, parameters, user, tree)
    values = {**parameters, **configured}
    relative = tuple(sorted({checkout.relative(path) for path in values["paths"]}))
    scope = values["scope"] or (ALL if of_pytorch(checkout) else OPERATORS)
    project = CheckoutProject(
        checkout=checkout,
        cache=Cache(None) if values["no_cache"] else Cache.of(checkout.root, user_cache()),
        paths=() if "" in relative else relative,
        vocabulary=_vocabulary(values["vocabulary"]),
        torch=_version(values["torch"]),
        scope=Scope(scope, relative),
        jobs=values["jobs"] or default_jobs(),
    )
    for path in project.paths:
        if not any(name == path or name.startswith(path + "/") for name in project.names):
            raise SymfixError(
                f"{path}: holds no file of the checkout {checkout.root}; what git ignores is read if it is named alone"
            )
    selection = Selection(
        ops=values["op"],
        modes=frozenset(values["mode"]),
        rules=frozenset(values["rule"]),
        level=Level[values["level"].upper()],
        since=None if values["since"] is None else touched_since(checkout, values["since"]),
    )
    files = {name: tree.path if name in tree.values else user.path for name in configured}
    return Run(checkout, project, selection, values, files)


def _checkout(paths: Sequence[Path], root: Path | None) -> Checkout:
    """The tree at `root`, else the one that holds the first of `paths`, or the working directory."""
    if root is not None:
        return Checkout(root, None)
    return checkout_of(paths[0]) if paths else find_checkout(Path())


def _configured(context: click.Context, parameters: Mapping[str, Any], user: Config, tree: Config) -> dict[str, Any]:
    """The configured values of parameters of this command that the command line leaves at their default.

    The tree's go before the user's, but only lower how much is done at once; what it cannot set is said. A choice that
    this command does not have is another's: --format is scan's.
    """
    command_line = click.core.ParameterSource.COMMANDLINE
    kinds = {option.name: option.type for option in context.command.params}
    choices = {name: kind.choices for name, kind in kinds.items() if isinstance(kind, click.Choice)}
    unset = {name for name in parameters if context.get_parameter_source(name) is not command_line}
    for key in tree.ignored:
        if key.replace("-", "_") in unset - user.values.keys():
            say_once(f"{tree.path}: {key} is ignored, for it is not the tree's to say; give --{key}, or set it in"
                     f" {user.path}")  # fmt: skip
    most: dict[str, Any] = {"jobs": default_jobs(), "max_open": parameters.get("max_open") or 1, **user.values}
    lowered: dict[str, Any]
    lowered = {name: min(tree.values[name], most[name]) for name in ("jobs", "max_open") if name in tree.values}
    config: dict[str, Any] = {**user.values, **tree.values, **lowered}
    return {
        name: value
        for name, value in config.items()
        if name in unset and (name not in choices or value in choices[name])
    }


def _version(text: str | None) -> str:
    """`text`, once it names a release; "" for None."""
    if text is not None and not VERSION.fullmatch(text):
        raise SymfixError(f"--torch: {text!a} is not a version such as 2.4")
    return text or ""


def _vocabulary(path: Path | None) -> Path | None:
    """`path`, absolute, once it looks like a native_functions.yaml; a transform reads it in full."""
    if path is None:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        try:
            if "- func:" in read_bounded(path).decode("utf-8"):
                return path.resolve()
        except OSError as error:
            raise SymfixError(f"{path}: the vocabulary cannot be read: {error.strerror}") from error
    raise SymfixError(f"{path}: not a native_functions.yaml (no '- func:' entries); --vocabulary takes one")
