"""Functions that are defined more than once: a build takes one, and what others know them by changes for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject, converted, findings
from transforms.cpp.analyse import analyse_tree

KEEP = "Tensor keep(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n"
OTHER = "Tensor keep(const Tensor& x, int64_t n) { return x.narrow(0, x.size(0) - n, n); }\n"
KERNEL = "Tensor keep(const Tensor& x, int64_t n) { std::fill_n(x.data_ptr<float>(), n, 1.f); return x; }\n"
DECLARED = "Tensor keep(const Tensor& x, int64_t n);\n"
USE = "Tensor f(const Tensor& x) { return keep(x, x.size(0)); }\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(demo, CompositeImplicitAutograd, m) { m.impl("f", f); }\n'


def _symbolic(source: str) -> str:
    for old, new in (("int64_t", "c10::SymInt"), ("size", "sym_size"), ("narrow", "narrow_symint")):
        source = source.replace(old, new)
    return source


def _found(root: Path, files: dict[str, str]) -> list[Finding]:
    yaml = root / "schemas.yaml"
    yaml.write_text(SCHEMAS)
    return list(analyse_tree(MemoryProject(root, {**files, "c10.h": HEADER}, yaml)))


def _converted(root: Path, files: dict[str, str]) -> dict[str, str]:
    edits: dict[str, list[Edit]] = {path: [] for path in files}
    for edit in (edit for finding in _found(root, files) for edit in finding.edits):
        edits[edit.path].append(edit)
    return {path: apply_edits(text.encode(), edits[path]).decode() for path, text in files.items()}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("static " + KEEP, "static " + OTHER),
        (
            "static " + KEEP,
            'static Tensor keep(const Tensor&, int64_t) { TORCH_CHECK(false, "no"); }\n',
        ),
        (
            "static int64_t keep(const Tensor& x, int64_t n) { return x.size(0) - n; }\n",
            "static int64_t keep(const Tensor& x, int64_t n) { return 0; }\n",
        ),
    ],
    ids=["a parameter", "a parameter without a name", "a result that the second does not ask for"],
)
def test_what_is_defined_under_a_condition_and_otherwise_changes_whole(tmp_path: Path, first: str, second: str) -> None:
    use = USE if "Tensor keep" in first else "Tensor f(const Tensor& x) { return x.narrow(0, 0, keep(x, x.size(0))); }"
    source = f"#ifdef FAST\n{first}#else\n{second}#endif\n{use}"
    assert converted(tmp_path, source) == _symbolic(source)


@pytest.mark.parametrize(
    "second",
    [
        "static " + KERNEL,
        "static Tensor keep(const Tensor& x, int64_t n) { for (int64_t i = 0; i < n; i++) {} return x; }\n",
    ],
    ids=["a kernel", "a loop over it"],
)
def test_what_its_other_definition_cannot_take_stays_and_gains_no_twin(tmp_path: Path, second: str) -> None:
    source = f"#ifdef FAST\nstatic {KEEP}#else\n{second}#endif\n{USE}"
    assert converted(tmp_path, source) == source
    (refused,) = (f for f in findings(tmp_path, source) if f.refusal == "callee-takes-int")
    assert refused.reason == "its value is an argument of `keep`, which takes `int64_t` there, as at source.cpp:4"


def test_the_definitions_stand_in_one_group(tmp_path: Path) -> None:
    source = f"#ifdef FAST\nstatic {KEEP}#else\nstatic {OTHER}#endif\n{USE}"
    groups = {f.group for f in findings(tmp_path, source) for e in f.edits if b"SymInt" in e.new}
    assert len(groups) == 1


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"keep.h": DECLARED, "a.cpp": KEEP, "b.cpp": OTHER, "f.cpp": USE + REGISTERED}, {"keep.h", "a.cpp", "b.cpp"}),
        ({"keep.h": DECLARED, "a.cpp": KEEP, "b.cpp": KERNEL, "f.cpp": USE + REGISTERED}, set()),
        ({"keep.h": DECLARED, "a.cpp": KERNEL, "b.cpp": KEEP, "f.cpp": USE + REGISTERED}, set()),
        ({"keep.h": DECLARED, "a.cpp": KEEP, "b.cu": KERNEL, "f.cpp": USE + REGISTERED}, set()),
        ({"a.h": "inline " + KEEP, "b.h": "inline " + KERNEL, "f.cpp": USE + REGISTERED}, set()),
        ({"a.h": "static " + KEEP, "b.h": "static " + KERNEL, "f.cpp": USE + REGISTERED}, set()),
        (
            {
                "keep.h": f"namespace a {{ {DECLARED} }}\nnamespace b {{\n{DECLARED}}}\n",
                "a.cpp": f"namespace a {{ {KEEP} }}",
                "b.cpp": f"namespace b {{ {KERNEL} }}",
                "f.cpp": f"namespace a {{ {USE} {REGISTERED} }}",
            },
            {"keep.h", "a.cpp"},
        ),
        (
            {"b.cpp": f"static {DECLARED}static {KERNEL}", "f.cpp": f"static {DECLARED}static {KEEP}{USE}{REGISTERED}"},
            {"f.cpp"},
        ),
        (
            {"keep.h": f"LIB_BEGIN\n{DECLARED}LIB_END\n", "f.cpp": f"namespace lib {{ {KEEP}{USE}{REGISTERED} }}"},
            {"keep.h", "f.cpp"},
        ),
    ],
    ids=[
        "both follow",
        "the other cannot",
        "the first cannot",
        "the other is for a device",
        "two headers",
        "two headers, each for its own",
        "another namespace has one of its name",
        "another file has one of its own",
        "a macro opens the namespace",
    ],
)
def test_definitions_in_several_files(tmp_path: Path, files: dict[str, str], changed: set[str]) -> None:
    after = _converted(tmp_path, files)
    follows = {path for path in files if "c10::SymInt" in after[path]}
    assert follows == changed
    assert ("sym_size" in after["f.cpp"]) == bool(changed)
    assert "_symint(const" not in "".join(after.values())
    for path, text in files.items():
        if "namespace b" in text:
            assert after[path].partition("namespace b")[2] == text.partition("namespace b")[2]
