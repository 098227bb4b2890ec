"""What a cache is kept by."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from codemod.tree.cache import dependency_versions


def test_the_versions_of_what_symfix_needs_are_those_that_pip_tells() -> None:
    own, *needed = (part.split(" ") for part in dependency_versions("symfix").split("; "))
    assert own == ["symfix", version("symfix")]
    assert {"libcst", "tree-sitter", "tree-sitter-cpp", "GitPython", "click"} <= {name for name, _ in needed}
    for name, stated in needed:
        if stated == "-":
            with pytest.raises(PackageNotFoundError):
                version(name)
        else:
            assert stated == version(name)
    assert dependency_versions("no-such-distribution") == ""
