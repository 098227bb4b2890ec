"""Where fakes that are read from kernels are written, and what stands around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from codemod.model.transform import Project
from tests.transforms.cpp.test_coverage import missing
from transforms.cpp import analyse
from transforms.python.reach.kernels import source_paths

CPP = """\
Tensor fold_cpu(const Tensor& x, int64_t n) { return at::empty({n, x.size(0)}, x.options()); }
Tensor lift_cpu(const Tensor& x) { return at::empty_like(x); }
TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x, SymInt n=2) -> Tensor"); m.def("lift(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("fold", fold_cpu); m.impl("lift", lift_cpu); }
"""
LOADS = "import os\n\nfrom other import x\n\ntorch.ops.load_library(x)\n"
LOADED = LOADS.replace("torch.ops", "import torch\ntorch.ops")


def test_fakes_go_to_the_module_that_loads_the_library(tmp_path: Path) -> None:
    findings = missing(tmp_path, c=CPP, p=LOADED)
    assert [finding.level for finding in findings] == [Level.REVIEW] * 2
    edits = {edit for finding in findings for edit in finding.edits}
    source = LOADED
    assert apply_edits(source.encode(), edits).decode() == source + (
        '\n\n@torch.library.register_fake("lib::fold")\n'
        "def _(x: torch.Tensor, n: int = 2) -> torch.Tensor:\n    return x.new_empty((n, x.shape[0]))\n"
        '\n\n@torch.library.register_fake("lib::lift")\n'
        "def _(x: torch.Tensor) -> torch.Tensor:\n    return torch.empty_like(x)\n"
    )


def test_a_tree_is_listed_once_however_much_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Project] = []

    def counted(project: Project) -> list[str]:
        listed.append(project)
        return source_paths(project)

    monkeypatch.setattr(analyse, "source_paths", counted)
    imports = "".join(f"from package import part_{number}\n" for number in range(9))
    assert any(finding.edits for finding in missing(tmp_path, c=CPP, p=LOADED, u=imports))
    assert len(listed) == 1


def test_torch_is_imported_above_what_a_decorator_begins(tmp_path: Path) -> None:
    source = "import os\n\n\n@cache\ndef f():\n    pass\n\n\nimport torch.ops\n\ntorch.ops.load_library('x')\n"
    edits = {edit for finding in missing(tmp_path, c=CPP, p=source) for edit in finding.edits}
    written = apply_edits(source.encode(), edits).decode()
    assert written.startswith("import os\n\n\nimport torch\n\n@cache\ndef f():\n")


def test_without_such_a_module_nothing_is_written(tmp_path: Path) -> None:
    findings = missing(tmp_path, c=CPP, p="import torch\n")
    assert {(finding.level, finding.edits) for finding in findings} == {(Level.MANUAL, ())}
    assert all("no module of Python is known to load it" in finding.reason for finding in findings)


def test_kernels_that_differ_have_no_fake(tmp_path: Path) -> None:
    cuda = "Tensor lift_cuda(const Tensor& x) { return at::empty({3}, x.options()); }\n"
    cuda += 'TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("lift", lift_cuda); }\n'
    findings = missing(tmp_path, c=CPP + cuda, p="import torch\n\ntorch.ops.load_library('x')\n")
    assert {finding.operators[0]: finding.level for finding in findings} == {
        "lib::fold": Level.REVIEW,
        "lib::lift": Level.MANUAL,
    }


@pytest.mark.parametrize(
    ("name", "made", "called"),
    [
        ("len", "at::zeros({len, static_cast<int64_t>(s.size())}, x.options())", "len"),
        ("torch", "x.new_zeros({torch})", "torch"),
        ("len", "x.new_zeros({len})", ""),
    ],
)
def test_an_argument_named_as_what_the_fake_calls_has_none(tmp_path: Path, name: str, made: str, called: str) -> None:
    cpp = f"Tensor f_cpu(const Tensor& x, int64_t {name}, at::IntArrayRef s) {{ return {made}; }}\n"
    cpp += f'TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x, int {name}, int[] s) -> Tensor"); }}\n'
    cpp += 'TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("f", f_cpu); }\n'
    (finding,) = missing(tmp_path, c=cpp, p=LOADED)
    assert bool(finding.edits) is not bool(called)
    assert (f"its argument `{called}` hides Python's" in finding.reason) is bool(called)


@pytest.mark.parametrize(
    ("cpu", "cuda", "lines", "left"),
    [
        (
            'TORCH_CHECK(x.is_cpu(), "CPU"); TORCH_CHECK(x.dim() == 2, "rank"); TORCH_CHECK(x.dtype() == at::kFloat);',
            'TORCH_CHECK(x.is_cuda(), "CUDA"); auto d = x.dim(); TORCH_CHECK(d == 2, "rank"); TORCH_CHECK(strange(x));',
            ['torch._check(x.dim() == 2, lambda: "rank")'],
            "4 checks of the kernels, which a fake cannot make or which not all of them make, stay there alone",
        ),
        # The same text of another number; another message; behind a branch; behind a result.
        (
            "auto n = x.size(0); TORCH_CHECK(n > 2 && n < 9);",
            "auto n = x.size(1); TORCH_CHECK(n > 2 && n < 9);",
            [],
            "4 ",
        ),
        ('TORCH_CHECK(x.dim() == 2, "one");', 'TORCH_CHECK(x.dim() == 2, "two");', [], "2 "),
        ("TORCH_CHECK(x.dim() == 2);", "if (x.is_floating_point()) { TORCH_CHECK(x.dim() == 2); }", [], "2 "),
        ("if (x.dim() > 3) { TORCH_CHECK(x.is_cpu()); }", "TORCH_CHECK(x.is_cuda());", [], "2 "),
        # Nothing is made where all refuse.
        (
            'if (x.dim() == 3) { AT_ERROR("three"); }',
            'if (x.dim() == 3) { AT_ERROR("3"); }',
            ["if x.dim() == 3:", '    torch._check(False, lambda: "three")'],
            "",
        ),
    ],
)
def test_a_fake_makes_the_checks_that_all_kernels_make(
    tmp_path: Path, cpu: str, cuda: str, lines: list[str], left: str
) -> None:
    source = "".join(
        f"Tensor lift_{key}(const Tensor& x) {{ {code} return at::empty_like(x); }}\n"
        f'TORCH_LIBRARY_IMPL(lib, {key}, m) {{ m.impl("lift", lift_{key}); }}\n'
        for key, code in (("CPU", cpu), ("CUDA", cuda))
    )
    source += 'TORCH_LIBRARY(lib, m) { m.def("lift(Tensor x) -> Tensor"); }\n'
    (finding,) = missing(tmp_path, c=source, p=LOADED)
    written = apply_edits(LOADED.encode(), finding.edits).decode().partition("def _(")[2].splitlines()[1:]
    assert written == [f"    {line}" for line in (*lines, "return torch.empty_like(x)")]
    assert left in finding.reason if left else "stay there" not in finding.reason


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        (CPP, LOADS.replace("torch.ops", "import torch\n\n\ndef load():\n    torch.ops")),
        (CPP.replace("TORCH_LIBRARY(", "#ifdef LIFT\nTORCH_LIBRARY(", 1) + "#endif\n", LOADED),
        (CPP.replace("CPU", "CUDA"), LOADED),
        (CPP, "from .ops import *\n"),
    ],
)
def test_what_may_not_be_there_gets_no_fake(tmp_path: Path, cpp: str, python: str) -> None:
    findings = missing(tmp_path, c=cpp, p=python)
    assert {(finding.level, finding.edits) for finding in findings} == {(Level.MANUAL, ())}
    assert len(findings) == 2


@pytest.mark.parametrize(
    "python",
    [
        LOADS.replace("torch.ops", "import torch\nif x:\n    torch.ops"),
        LOADS.replace("torch.ops", "import torch\ntry:\n    torch.ops") + "except OSError:\n    pass\n",
        LOADS.replace("torch.ops", "import torch\nfor p in x:\n    if p:\n        torch.ops"),
    ],
)
def test_where_the_library_may_not_be_loaded_the_fake_asks(tmp_path: Path, python: str) -> None:
    findings = missing(tmp_path, c=CPP, p=python)
    assert [finding.level for finding in findings] == [Level.REVIEW] * 2
    (lift,) = (f.edits for f in findings if f.operators == ("lib::lift",))
    assert apply_edits(python.encode(), lift).decode() == python + (
        '\n\nif hasattr(torch.ops.lib, "lift"):\n'
        '    @torch.library.register_fake("lib::lift")\n'
        "    def _lift_fake(x: torch.Tensor) -> torch.Tensor:\n        return torch.empty_like(x)\n"
    )


def test_a_name_of_the_module_is_not_given_to_a_fake(tmp_path: Path) -> None:
    python = LOADS.replace("torch.ops", "import torch\n_lift_fake = 1\nif x:\n    torch.ops")
    (lift,) = (f.edits for f in missing(tmp_path, c=CPP, p=python) if f.operators == ("lib::lift",))
    assert b"def _(x: torch.Tensor)" in lift[-1].new


LOADER = "import torch\n\n\ndef load(x):\n    torch.ops.load_library(x)\n"


@pytest.mark.parametrize(
    ("python", "guard"),
    [
        ("from .inner.u import load\n\nload(1)\n", ""),
        ("from .inner.u import load as first\n\nif first:\n    first(1)\n", "if hasattr(torch.ops.lib, "),
        ("from .inner.u import load\n\nfound = load(1)\n", ""),
        (
            "from .inner.u import load\n\nfound: object = None\ntry:\n    found = load(1)\nexcept OSError:\n    pass\n",
            "if hasattr(torch.ops.lib, ",
        ),
        ("from .inner import u\n\n\ndef load(x):\n    u.load(x)\n", None),
        ("from .inner.u import load\n\nfound = [load]\nloads = load.__name__\n", None),
    ],
)
def test_a_function_that_loads_the_library_counts_where_it_is_called(
    tmp_path: Path, python: str, guard: str | None
) -> None:
    edits = {edit for finding in missing(tmp_path, c=CPP, p=python, u=LOADER, i="") for edit in finding.edits}
    assert {edit.path for edit in edits} == (set() if guard is None else {"lib/p.py"})
    if guard is not None:
        assert (f'\n\n{guard}"lift"' if guard else "\n\n@torch") in apply_edits(python.encode(), edits).decode()


def test_what_lies_beside_the_library_is_no_place_for_its_fakes(tmp_path: Path) -> None:
    reasons = [finding.reason for finding in missing(tmp_path, c=CPP, e=LOADED)]
    assert reasons
    assert all("no module of Python is known to load it" in reason for reason in reasons)
    edits = {edit for finding in missing(tmp_path, c=CPP, e=LOADED, p=LOADED) for edit in finding.edits}
    assert {edit.path for edit in edits} == {"lib/p.py"}


@pytest.mark.parametrize(
    ("package", "is_compiled"),
    [
        ("", True),
        ("def __getattr__(name):\n    return name\n", False),
        ("import sys\n\nsys.modules[__name__] = object()\n", False),
    ],
)
def test_a_package_that_has_any_name_imports_no_compiled_module(
    tmp_path: Path, package: str, is_compiled: bool
) -> None:
    edits = {e for f in missing(tmp_path, c=CPP, i=package, p="from lib import fast\n") for e in f.edits}
    assert bool(edits) == is_compiled


def test_a_library_that_is_loaded_comes_before_a_module_that_is_imported(tmp_path: Path) -> None:
    loads = LOADS.replace("torch.ops", "import torch\ntry:\n    torch.ops") + "except OSError:\n    pass\n"
    edits = {e for f in missing(tmp_path, c=CPP, i="", p="from lib import fast\n", u=loads) for e in f.edits}
    assert {edit.path for edit in edits} == {"lib/inner/u.py"}


def test_a_guard_of_the_whole_file_is_no_condition(tmp_path: Path) -> None:
    guarded = f"#ifndef LIB\n#define LIB\n{CPP}#endif\n"
    findings = missing(tmp_path, c=guarded, p=LOADED)
    assert {finding.level for finding in findings} == {Level.REVIEW}
