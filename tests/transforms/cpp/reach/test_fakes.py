"""Kernels of C++ that symbols do not get to, for something is in their place: first those that they do get to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject
from transforms.cpp.analyse import analyse_tree

KERNEL = "Tensor glow(const Tensor& x) { return at::empty({x.size(0)}); }\n"
EXPLICIT = KERNEL + 'TORCH_LIBRARY_IMPL(lib, CompositeExplicitAutograd, m) { m.impl("glow", glow); }\n'
LAMBDA = (
    'TORCH_LIBRARY_IMPL(lib, CompositeExplicitAutogradNonFunctional, m) { m.impl("glow", [](const Tensor& x) {'
    " return at::empty({x.size(0)}); }); }\n"
)
IMPLICIT = KERNEL + 'TORCH_LIBRARY_IMPL(lib, CompositeImplicitAutograd, m) { m.impl("glow", glow); }\n'
DEFINED = KERNEL + 'TORCH_LIBRARY(lib, m) { m.def("glow(Tensor x) -> Tensor", &glow); }\n'
META = "Tensor shaped(const Tensor& x) { return x; }" + 'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("glow", shaped); }\n'
FAKE = "import torch\n@torch.library.register_fake('lib::glow')\ndef _(x):\n    return x\n"
LIBRARY = "import torch\nlib = torch.library.Library('lib', 'IMPL')\ndef glow(x):\n    return x\n"


def edited(root: Path, files: dict[str, str]) -> set[str]:
    """The functions of C++ that are edited."""
    yaml = root / "schemas.yaml"
    yaml.write_text(SCHEMAS)
    project = MemoryProject(root, {**files, "c10.h": HEADER}, yaml)
    return {finding.function for finding in analyse_tree(project) if finding.edits}


@pytest.mark.parametrize(
    "python",
    [
        "",
        "import torch\n@torch.library.register_fake('lib::other')\ndef _(x):\n    return x\n",
        "import torch\n@torch.library.register_fake('other::glow')\ndef _(x):\n    return x\n",
        LIBRARY + "lib.impl('glow', glow, 'CUDA')\n",
        LIBRARY + "lib.impl('glow', glow, 'AutogradCUDA')\n",
    ],
)
@pytest.mark.parametrize("cpp", [EXPLICIT, LAMBDA, IMPLICIT, DEFINED])
def test_symbols_get_to_composites(tmp_path: Path, cpp: str, python: str) -> None:
    assert len(edited(tmp_path, {"lib.cpp": cpp, "lib/ops.py": python})) == 1


@pytest.mark.parametrize("cpp", [EXPLICIT, LAMBDA])
@pytest.mark.parametrize(
    "python", [FAKE, FAKE.replace("register_fake", "impl_abstract"), LIBRARY + "lib.impl('glow', glow, 'Meta')\n"]
)
def test_a_fake_is_asked_before_an_explicit_composite(tmp_path: Path, cpp: str, python: str) -> None:
    assert edited(tmp_path, {"lib.cpp": cpp, "lib/ops.py": python}) == set()


@pytest.mark.parametrize("cpp", [EXPLICIT, LAMBDA])
def test_so_is_a_meta_kernel_of_cpp(tmp_path: Path, cpp: str) -> None:
    assert edited(tmp_path, {"lib.cpp": cpp, "meta.cpp": META}) == set()


@pytest.mark.parametrize("cpp", [IMPLICIT, DEFINED])
def test_an_implicit_composite_is_traced_unless_python_has_its_place(tmp_path: Path, cpp: str) -> None:
    assert edited(tmp_path, {"lib.cpp": cpp, "lib/ops.py": FAKE, "meta.cpp": META}) == {"glow"}
    python = LIBRARY + "lib.impl('glow', glow, 'CompositeImplicitAutograd')\n"
    assert edited(tmp_path, {"lib.cpp": cpp, "lib/ops.py": python}) == set()
    assert edited(tmp_path, {"lib.cpp": cpp, "tests/ops.py": python}) == {"glow"}


def test_a_fake_for_one_operator_leaves_another_of_the_same_kernel(tmp_path: Path) -> None:
    both = EXPLICIT.replace('glow", glow);', 'glow", glow); m.impl("shine", glow);')
    assert edited(tmp_path, {"lib.cpp": both, "lib/ops.py": FAKE}) == {"glow"}
