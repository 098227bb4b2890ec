"""The C++ of examples/ type-checks against torch's headers after `symfix apply` at either level."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from corpus_compile import LIBRARY_FLAGS, Compiler, compiler_version, contents, torch_include
from corpus_includes import Includes, torch_headers
from corpus_trees import apply_in, changed_files, copy_tree
from jinja2 import Template

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TEMPLATES: dict[str, list[dict[str, object]]] = {
    "extension/pooled_template.cpp": [{"weighted": True, "max_width": 8}, {"weighted": False, "max_width": 4}],
    "library/csrc/fold_template.cpp": [{"kind": "half"}, {"kind": "third"}],
}
"""What each template is rendered with."""
SOURCES = sorted({path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.cpp")} - TEMPLATES.keys())
HEADERS = [path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.h")]
INCLUDE = torch_include()
TOGETHER = "together.cpp"

pytestmark = [
    pytest.mark.skipif(INCLUDE is None, reason="torch is not installed (pip install torch==2.13.0): no headers"),
    pytest.mark.skipif(not compiler_version(), reason="g++ is not installed"),
]


def rendered(root: Path) -> list[str]:
    """The sources that are made of the templates of `root`, written there."""
    made = []
    for path, settings in TEMPLATES.items():
        template = Template((root / path).read_text(encoding="utf-8"))
        for number, values in enumerate(settings):
            made.append(path.replace("_template", f"_{number}"))
            (root / made[-1]).write_text(template.render(values), encoding="utf-8")
    return made


def errors(root: Path, compiled: Path) -> list[str]:
    """The first error of each source of `root` that does not type-check, those made of templates among them.

    `compiled` is a precompiled header: it stands for those that the sources include, never for one that they lack.
    """
    assert INCLUDE is not None
    sources = [*SOURCES, *rendered(root)]
    compiler = Compiler("c++20", (INCLUDE, INCLUDE / "torch/csrc/api/include"), tree_includes=("aten/src",))
    includes = Includes(root)
    contexts = {path: contents(root, includes.headers_of(path, HEADERS)) for path in sources}
    included = torch_headers(root, [*sources, *HEADERS])
    # Most of the time goes to torch's headers. Each source includes what it needs, so that all of them together show
    # what each alone does; where they do not, each is compiled alone.
    (root / TOGETHER).write_text("".join(f'#include "{root / path}"\n' for path in sources), encoding="utf-8")
    together = compiler
    if included == torch_headers(compiled.parent, [compiled.name]):
        together = replace(compiler, flags=("-include", str(compiled), *LIBRARY_FLAGS))
    if not together.check(root, TOGETHER, contents(root, [*sources, *HEADERS])):
        return []
    results = compiler.check_all(root, sources, contexts)
    return [error for error in results.values() if error]


@pytest.mark.parametrize("level", ["safe", "review"])
def test_examples_compile_after_apply(tmp_path: Path, level: str, library_headers: Path) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    assert apply_in(root, level) == 1
    assert "aten/src/ATen/native/Blend.cpp" in changed_files(EXAMPLES, root)
    assert ("extension/pooled_template.cpp" in changed_files(EXAMPLES, root)) == (level == "review")
    assert errors(root, library_headers) == []


def test_what_does_not_compile_is_named(tmp_path: Path, library_headers: Path) -> None:
    root = copy_tree(EXAMPLES, tmp_path / "examples")
    for path in [*SOURCES, *TEMPLATES]:
        (root / path).write_text("static int same;\n", encoding="utf-8")  # not to be compiled together
    assert errors(root, library_headers) == []
    (root / SOURCES[-1]).write_text("int f() { return no_such_name; }\n", encoding="utf-8")
    (error,) = errors(root, library_headers)
    assert error.startswith(f"{SOURCES[-1]}:1: ")
    assert "no_such_name" in error
