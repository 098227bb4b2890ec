"""Helpers whose signatures stay for others' sake; those who have sizes call a twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject, converted
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.reach.kept import standing

HELPER = "static int64_t twice(int64_t n) { return 2 * n; }\n"
USE = "Tensor f(const Tensor& x) { return at::zeros({twice(x.size(0))}); }\n"
OTHERS = {
    "a table": "struct Table { int64_t (*fn)(int64_t); };\nstatic const Table kTable = {twice};\n",
    "a map": 'static const std::map<std::string, int64_t (*)(int64_t)> kTable = {{"a", twice}};\n',
    "an algorithm": "void all(std::vector<int64_t>& v) { std::transform(v.begin(), v.end(), v.begin(), twice); }\n",
    "a template's argument": "int64_t six(int64_t n) { return app<twice>(n); }\n",
    "a pointer": "int64_t six(int64_t n) { int64_t (*p)(int64_t) = twice; return p(n); }\n",
    "an address": "int64_t six(int64_t n) { return call(&twice, n); }\n",
    "a constant": "static const int64_t kSix = twice(3);\n",
    "a member": "struct Config {\n  int64_t six = twice(3);\n  int64_t ten{twice(5)};\n};\n",
    "a default argument": "Tensor g(const Tensor& x, int64_t n = twice(3)) { return x.sum(n); }\n",
    "a macro": "#define TWICE_IN(n) twice(n)\n",
    "an overload of doubles": "static double twice(double v) { return 2.5 * v; }\n",
    "an overload of sequences": "static int64_t twice(IntArrayRef v) { return v.size(); }\n",
    "an overload of a template": "template <typename T> static T twice(T v) { return v + v; }\n",
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_helper_that_others_name_stays_and_gains_a_twin(tmp_path: Path, other: str) -> None:
    result = converted(tmp_path, HELPER + other + USE)
    assert HELPER in result
    assert other in result
    assert "twice_symint(x.sym_size(0))" in result or USE in result


@pytest.mark.parametrize(
    "other",
    [
        "static int64_t six(int64_t twice) { return call(twice, 3 * twice); }\n",
        "static int64_t six(int64_t n) { auto twice = 2 * n; return call(twice); }\n",
        "static Tensor twice(const Tensor& x) { return 2 * x; }\n",
        "static int64_t twice(int64_t n, int64_t m) { return n * m; }\n",
        "// as (twice) says\n",
        "#ifdef TWICE\nstatic int64_t six() { return 6; }\n#endif\n",
    ],
)
def test_a_helper_that_nobody_else_names_changes(tmp_path: Path, other: str) -> None:
    result = converted(tmp_path, HELPER + other + USE)
    assert "static c10::SymInt twice(c10::SymInt n)" in result
    assert other in result


@pytest.mark.parametrize("spelled", ["constexpr int64_t", "static constexpr int64_t", "consteval int64_t"])
def test_a_constant_stays(tmp_path: Path, spelled: str) -> None:
    source = HELPER.replace("static int64_t", spelled) + USE
    assert converted(tmp_path, source) == source


@pytest.mark.parametrize("binding", ['m.def("five", &lib::five);', 'm.def("six", [](int n) { return five(n); });'])
def test_what_python_calls_keeps_its_signature(tmp_path: Path, binding: str) -> None:
    yaml = tmp_path / "schemas.yaml"
    yaml.write_text(SCHEMAS)
    files = {
        "c10.h": HEADER,
        "a.cpp": "namespace lib {\nint64_t five(int64_t n) { return 5 * n; }\n"
        "Tensor f(const Tensor& x) { return at::zeros({five(x.size(0))}); }\n"
        'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", f); }\n}\n',
        "bind.cpp": f"namespace lib {{ int64_t five(int64_t n); }}\nPYBIND11_MODULE(_lib, m) {{ {binding} }}\n",
    }
    project = MemoryProject(tmp_path, files, yaml)
    edits = [edit for finding in analyse_tree(project) for edit in finding.edits]
    for path, text in files.items():
        result = apply_edits(text.encode(), {edit for edit in edits if edit.path == path}).decode()
        assert text == result or "int64_t five(int64_t n) { return 5 * n; }" in result
        assert path != "bind.cpp" or text == result


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("MY_API int64_t five(int64_t n);", "MY_API c10::SymInt five(c10::SymInt n);"),
        (
            "MY_API [[nodiscard]] int64_t five(int64_t n = 2);",
            "MY_API [[nodiscard]] c10::SymInt five(c10::SymInt n = 2);",
        ),
        ("[[nodiscard]] MY_API int64_t five(int64_t n);", "[[nodiscard]] MY_API c10::SymInt five(c10::SymInt n);"),
        ("extern MY_API\nint64_t five(int64_t n);", "extern MY_API\nc10::SymInt five(c10::SymInt n);"),
        ("My_Api int64_t five(int64_t n);", ""),
    ],
)
def test_a_declaration_behind_a_macro_changes_with_its_definition(tmp_path: Path, declared: str, expected: str) -> None:
    yaml = tmp_path / "schemas.yaml"
    yaml.write_text(SCHEMAS)
    files = {
        "c10.h": HEADER,
        "five.h": f"#include <ATen/ATen.h>\n{declared}\n",
        "five.cpp": "#include <ATen/ATen.h>\nint64_t five(int64_t n) { return 5 * n; }\n",
        "a.cpp": '#include "five.h"\nTensor f(const Tensor& x) { return at::zeros({five(x.size(0))}); }\n'
        'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", f); }\n',
    }
    edits = [edit for finding in analyse_tree(MemoryProject(tmp_path, files, yaml)) for edit in finding.edits]
    result = {
        path: apply_edits(text.encode(), {edit for edit in edits if edit.path == path}).decode()
        for path, text in files.items()
    }
    if expected:
        assert expected in result["five.h"]
        assert "c10::SymInt five(c10::SymInt n)" in result["five.cpp"]
    else:
        assert result == files


HELPERS = """
SCOPE int64_t width(const Tensor& x, int64_t n) { return x.size(0) + n; }
Tensor f(const Tensor& x) { return x.narrow(0, 0, width(x, x.size(1))); }
"""


@pytest.mark.parametrize(("scope", "changes"), [("static", True), ("/* not static: no kernel either */", False)])
def test_what_files_that_are_not_there_may_call_keeps_its_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, changes: bool
) -> None:
    """A sparse checkout has others' callers and kernels in git alone."""
    source = HELPERS.replace("SCOPE", scope)
    whole = converted(tmp_path, source)
    assert "c10::SymInt width(const Tensor& x, c10::SymInt n) {" in whole
    monkeypatch.setattr(MemoryProject, "left_out", lambda project, suffixes: ["other.cpp"])
    sparse = converted(tmp_path, source)
    assert (sparse == whole) is changes
    assert (f"{scope} int64_t width(const Tensor& x, int64_t n) {{" in sparse) is not changes
    assert ("c10::SymInt width_symint(const Tensor& x, c10::SymInt n) {" in sparse) is not changes


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("run(f, at::g, ns :: inner::h);", ("f", "g", "h")),
        ("return x ? at::f : g;", ("f", "g", "x")),
        ("auto p = &A::method;", ("method",)),
        ("return detail::f;", ("f",)),
        ("return f(x);", ("x",)),
        ("x = at::empty({n}, y);", ("n", "y")),
        ("f<T, at::kernel>(n * m);", ("T", "kernel")),
        ("case at::kFloat: return 1;", ("kFloat",)),
    ],
)
def test_a_name_stands_where_a_value_may_and_is_no_scope_of_another(code: str, names: tuple[str, ...]) -> None:
    assert standing("a.cpp", code.encode()) == names
