"""What tests that compile or run against the installed torch share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpus_compile import COMPILER, LIBRARY_FLAGS, compiler_version, torch_include
from corpus_includes import HEADERS, SOURCES, torch_headers
from corpus_trees import source_files

from codemod.cli import main
from codemod.prove import nursery
from tests.conftest import MakeTree
from tests.sharing import of_all_workers, one_at_a_time

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="session")
def library_headers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A header with what examples/ includes of torch and C++, compiled once for all that `-include` it.

    Most of the time of a compiler goes to these. A source that misses one of them is not found out with it.
    """
    include = torch_include()
    assert include is not None
    header = of_all_workers(tmp_path_factory) / "library_headers.h"
    compiled = header.with_name(f"{header.name}.gch")
    with one_at_a_time(header.with_suffix(".lock")):
        if not header.exists():
            sources = [path for path in source_files(EXAMPLES) if path.endswith(SOURCES + HEADERS)]
            names = torch_headers(EXAMPLES, sources)
            staged = header.with_suffix(".tmp.h")
            staged.write_text("".join(f"#include <{name}>\n" for name in names), encoding="ascii")
            folders = [f"-I{folder}" for folder in (include, include / "torch/csrc/api/include")]
            if compiler_version().startswith("g++"):  # others read the header as it is
                output = ["-x", "c++-header", str(staged), "-o", str(compiled)]
                subprocess.run([COMPILER, *LIBRARY_FLAGS, *folders, *output], check=True)
            staged.rename(header)
    yield header
    compiled.unlink(missing_ok=True)  # hundreds of megabytes; who still asks for it reads the header


@pytest.fixture(scope="session")
def _end_servers() -> Iterator[None]:
    close = nursery.close
    yield
    close()


@pytest.fixture
def server_stays(_end_servers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has imported torch, which takes seconds, serves the tests of this worker that ask for it next."""
    monkeypatch.setattr(nursery, "close", lambda: None)


@pytest.fixture
def functions_named(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], set[str]]:
    """The functions of a Python source in which `symfix scan` names something."""

    def named(source: str) -> set[str]:
        monkeypatch.chdir(make_tree({"source.py": source.encode()}))
        with pytest.raises(SystemExit):
            main(["scan", "--scope", "all", "--level", "manual", "--format", "json"])
        return {finding["function"] for finding in json.loads(capsys.readouterr().out)["findings"]}

    return named
