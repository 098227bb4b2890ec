"""Device code: first what of it is not edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Finding
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject
from transforms.cpp.analyse import analyse_tree

META = 'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("glow", glow_meta); }'
CUDA = 'TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("glow", glow_cuda); }'
COMPOSITE = 'TORCH_LIBRARY_IMPL(lib, CompositeImplicitAutograd, m) { m.impl("glow", glow); }'
KERNEL = "__global__ void burn(float* x, int n) {}\n"


def findings(root: Path, files: dict[str, str]) -> list[Finding]:
    """Every finding about the files."""
    yaml = root / "schemas.yaml"
    yaml.write_text(SCHEMAS)
    return list(analyse_tree(MemoryProject(root, {**files, "c10.h": HEADER}, yaml)))


def edited(root: Path, files: dict[str, str]) -> set[tuple[str, str]]:
    """(path, function) of what is edited."""
    return {(finding.path, finding.function) for finding in findings(root, files) if finding.edits}


def refused(root: Path, files: dict[str, str]) -> dict[str, str]:
    """The refusals by function."""
    found = findings(root, files)
    assert not any(finding.edits and finding.refusal for finding in found)
    return {finding.function: finding.refusal for finding in found if finding.refusal}


@pytest.mark.parametrize("name", ["lib.cu", "lib.cuh", "lib.hip", "lib.mm", "lib.cpp", "lib.h"])
def test_a_launcher_is_left_alone_whatever_it_is_registered_for(tmp_path: Path, name: str) -> None:
    code = KERNEL + "Tensor glow(const Tensor& x) { auto y = at::empty({x.size(0)}); burn<<<1, 32>>>(y, 1); return y; }"
    files = {name: code + COMPOSITE}
    assert refused(tmp_path, files) == {"glow": "kernel-launch"}
    assert edited(tmp_path, files) == set()


@pytest.mark.parametrize(
    "launch",
    [
        "void run(Tensor y) { burn<<<1, 32>>>(y, 1); }",
        "void run(Tensor y) { cudaLaunchKernel(burn, 1, 32, y); }",
        "#define BURN(y) burn<<<1, 32>>>(y, 1)\nvoid run(Tensor y) { BURN(y); }",
        "void run(Tensor y) { auto p = y.packed_accessor32<float, 1>(); }",
        "void start(Tensor y) { burn<<<1, 32>>>(y, 1); }\nvoid run(Tensor y) { start(y); }",
    ],
)
@pytest.mark.parametrize(
    "glow",
    [
        "Tensor glow(const Tensor& x) { run(at::empty({x.size(0)})); return x; }\n" + COMPOSITE,
        "struct G { static Tensor forward(AutogradContext* c, const Tensor& x) { run(at::empty({x.size(0)})); } };",
    ],
)
def test_what_comes_to_a_launch_is_left_alone(tmp_path: Path, launch: str, glow: str) -> None:
    files = {"lib.cu": f"{KERNEL}{launch}\n{glow}"}
    assert set(refused(tmp_path, files).values()) == {"kernel-launch"}
    assert edited(tmp_path, files) == set()


def test_kernels_keep_the_helpers_they_share(tmp_path: Path) -> None:
    code = """
        static Tensor halved(const Tensor& x) { return at::empty({x.size(0) / 2}); }
        static Tensor like(const Tensor& x) { return halved(x); }
        Tensor glow_meta(const Tensor& x) { return like(x); }
        Tensor glow_cuda(const Tensor& x) { auto y = like(x); burn<<<1, 32>>>(y, 1); return y; }
    """
    files = {"lib.cu": KERNEL + code + META + CUDA}
    assert refused(tmp_path, files) == {"halved": "device-code"}
    assert edited(tmp_path, files) == set()


def test_no_signature_that_kernels_have_or_declare_is_changed(tmp_path: Path) -> None:
    composite = "Tensor glow(const Tensor& x) { return fill(x, x.size(0)); }\n" + COMPOSITE
    fill = "Tensor fill(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n"
    declared = "Tensor fill(const Tensor& x, int64_t n);\n"
    assert edited(tmp_path, {"lib.cpp": fill + composite}) != set()
    assert ("fill.cu", "fill") in edited(tmp_path, {"lib.cpp": declared + composite, "fill.cu": fill + KERNEL})
    kernel = "Tensor glow_cuda(const Tensor& x) { auto y = fill(x, 1); burn<<<1, 32>>>(y, 1); return y; }\n"
    assert edited(tmp_path, {"lib.cpp": declared + composite, "use.cu": fill + KERNEL + kernel + CUDA}) == set()
    # Where the definition is at hand, it gains a twin; the source of the kernels and their declaration stay.
    twins = edited(tmp_path, {"lib.cpp": fill + composite, "use.cu": declared + KERNEL + kernel + CUDA})
    assert twins == {("lib.cpp", "fill"), ("lib.cpp", "glow")}


def test_what_is_registered_for_symbols_is_edited_with_what_it_alone_calls(tmp_path: Path) -> None:
    code = """
        static Tensor halved(const Tensor& x) { return at::empty({x.size(0) / 2}); }
        static Tensor wide(const Tensor& x) { return at::empty({x.size(1)}); }
        Tensor glow_meta(const Tensor& x) { return at::empty({halved(x).size(0), x.size(1)}); }
        Tensor glow_cuda(const Tensor& x) { auto y = wide(x); burn<<<1, 32>>>(y, 1); return y; }
    """
    files = {"lib.cu": KERNEL + code + META + CUDA}
    assert edited(tmp_path, files) == {("lib.cu", "halved"), ("lib.cu", "glow_meta")}
    assert refused(tmp_path, files) == {}


def test_a_composite_of_other_operators_is_edited_in_device_code_too(tmp_path: Path) -> None:
    code = "Tensor glow(const Tensor& x) { return x.reshape({x.numel(), 1}); }\n"
    assert edited(tmp_path, {"lib.cu": KERNEL + code + COMPOSITE}) == {("lib.cu", "glow")}
