"""Functions are converted where a symbolic tensor can pass, and left where something concrete stands on every way."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import HEADER, MemoryProject, converted, findings
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.reach import headers

EDIT = "Tensor y = x.view(x.sizes());"
STOP = "takes_int(x.stride(0));"


def body(text: str) -> str:
    return f"Tensor f(const Tensor& x, bool b) {{ {text} }}".replace("EDIT", EDIT).replace("STOP", STOP)


BLOCKED = [
    "EDIT STOP return y;",
    "STOP EDIT return y;",
    "EDIT if (b) { STOP } else { STOP } return y;",
    "EDIT if (b) { STOP } else if (x.is_cuda()) { STOP } else { STOP return y; } return y;",
    "EDIT return b && takes_int(x.stride(0)) ? y : takes_int(x.stride(1)) ? y : x;".replace("b && ", ""),
    "if (b) { EDIT STOP return y; } return x;",
    "if (b) { EDIT if (y.is_cuda()) { return y; } STOP } return x;",
    "if (x.dim() == 0) { return x; } EDIT for (const auto i : c10::irange(2)) { STOP } return y;",
    "EDIT TORCH_CHECK(takes_int(x.stride(0)) == 1, b); return y;",
    "EDIT if (b) { TORCH_CHECK(false); } else { STOP } return y;",
    "EDIT if (b) { STOP } else { throw 1; } return y;",
    "EDIT auto z = mystery(x); z.numel(); return y;",
    "EDIT fade_stub(x.device().type(), y); return y;",
    "EDIT fill(y); return y;",
    "EDIT lend(y); return y;",
    "EDIT auto iter = TensorIterator::unary_op(y, x); return y;",
    "EDIT auto iter = sweep(y, x); return y;",
    "EDIT auto z = [&] { STOP return y; }(); return z;",
    "EDIT std::for_each(v.begin(), v.end(), [&](int64_t d) { STOP }); return y;",
    "EDIT auto n = std::accumulate(v.begin(), v.end(), 0, [](int n, auto& z) { return n + z.size(0); }); return y;",
    "EDIT auto n = std::accumulate(v.begin(), v.end(), 0, [](int n, const Tensor& z) { return z.numel(); }); return y;",
    "EDIT if (b) { return x; } else { STOP } return y;",
    "EDIT if (x.dim() == 0) { y.add_(1); } else { STOP } return y;",
    "EDIT if (x.dim() != 0) { STOP } return y;",
    "if (x.view(x.sizes()).is_cuda()) { STOP } else { STOP } return x;",
    "EDIT if (y.sum().item<bool>()) { return x; } return y;",
    "EDIT if (b) { STOP return y; } TORCH_CHECK(false);",
    "EDIT if (b) { STOP return y; } if (x.is_cuda()) { STOP return x; } throw 1;",
    "EDIT\n#ifdef BUILT\nif (b) { STOP return y; }\n#endif\nTORCH_CHECK(false);",
]


@pytest.mark.parametrize("text", BLOCKED)
def test_what_every_way_meets_keeps_the_rest_concrete(tmp_path: Path, text: str) -> None:
    source = body(text)
    source = "static void fill(const Tensor& y) { y.data_ptr<float>()[0] = 1; }\n" + source
    source = "static Array lend(const Tensor& y) { return from(at::toDLPack(y.contiguous())); }\n" + source
    source = "static TensorIterator sweep(const Tensor& y, const Tensor& x) { return unary(y, x); }\n" + source
    assert converted(tmp_path, source) == source
    refused = [finding for finding in findings(tmp_path, source) if finding.refusal == "half-conversion"]
    assert refused
    assert all(finding.level is Level.MANUAL for finding in refused)


NEVER_REACHED = [
    "if (!isTensorSubclassLike(x)) { EDIT STOP return y; } return x;",
    "if (isTensorSubclassLike(x)) { return x; } EDIT return y;",
    "const bool like = areAnyTensorSubclassLike({x}); if (b) { return x; } else if (!like) { EDIT } return x;",
    "if (x.is_quantized()) { EDIT return y; } return x;",
]


@pytest.mark.parametrize("text", NEVER_REACHED)
def test_where_no_symbolic_tensor_arrives_nothing_is_said(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, body(text)) == []


OPEN = [
    "EDIT if (b) { fade_stub(x.device().type(), y); } return y;",
    "EDIT if (b) { STOP } return y;",
    "EDIT if (x.dim() == 1) { y.add_(1); } else { STOP } return y;",
    "EDIT if (x.dim() == 0) { STOP } return y;",
    "EDIT if (b) { y.sum().item<bool>(); } return y;",
    "EDIT if (b) { STOP } else { y = y + 1; } return y;",
    "EDIT if (b) { STOP return y; } return x;",
    "EDIT bool z = b && takes_int(x.stride(0)); return y;",
    "EDIT auto z = b ? takes_int(x.stride(0)) : 1; return y;",
    "EDIT TORCH_CHECK(b, takes_int(x.stride(0))); return y;",
    "EDIT auto later = [&] { STOP }; return y;",
    "EDIT if (b) { STOP TORCH_CHECK(false); } return y;",
    "if (b) { EDIT return y; } STOP return x;",
    "EDIT if (x.is_quantized()) { STOP } return y;",
    "if (isTensorSubclassLike(x)) { EDIT return y; } STOP return x;",
    "EDIT if (!isTensorSubclassLike(x)) { STOP } return y;",
    "EDIT if (b && (isFwGradDefined(x) || isFwGradDefined(y))) { STOP } return y;",
    "EDIT if (b) { STOP return y; } if (x.is_cuda()) { return x; } throw 1;",
    "EDIT if (b) { STOP return y; } else { return x; } throw 1;",
    "EDIT if (b) { if (x.is_cuda()) { return y; } STOP } throw 1;",
    "EDIT if (b) { STOP return y; }\n#ifdef BUILT\nif (x.is_cuda()) { return x; }\n#endif\nthrow 1;",
]


@pytest.mark.parametrize("text", OPEN)
def test_what_only_some_ways_meet_does_not(tmp_path: Path, text: str) -> None:
    assert "x.view_symint(x.sym_sizes())" in converted(tmp_path, body(text))


def test_all_blockers_are_named_at_once(tmp_path: Path) -> None:
    found = findings(tmp_path, body("EDIT STOP takes_int(x.storage_offset()); return y;"))
    reason = next(finding.reason for finding in found if finding.refusal == "half-conversion")
    assert "`x.stride` and `x.storage_offset`" in reason


def test_sizes_that_only_messages_show_stay(tmp_path: Path) -> None:
    source = body("TORCH_CHECK(b, x.sizes()); if (!b) { AT_ERROR(x.numel()); } return x;")
    assert converted(tmp_path, source) == source
    assert {finding.refusal for finding in findings(tmp_path, source)} == {"message"}
    assert "x.sym_sizes()); if" in converted(
        tmp_path, body("TORCH_CHECK(b, x.sizes()); if (x.numel() > 2) {} return x;")
    )


def test_a_caller_that_serves_a_symbolic_helper_gives_it_symbols(tmp_path: Path) -> None:
    source = (
        "static Tensor keep(const Tensor& x, IntArrayRef s) { return x.view(s); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sizes()); }\n"
        "Tensor g(const Tensor& x) { takes_int(x.stride(0)); return keep(x, x.sizes()); }"
    )
    assert converted(tmp_path, source).count("keep(x, x.sym_sizes())") == 2


@pytest.mark.parametrize(
    "text",
    [
        "EDIT auto n = x.size(0); takes_int(n); for (const auto i : c10::irange(n)) {} return y;",
        "EDIT if (b) { for (const auto i : c10::irange(x.size(0))) {} } return y;",
        "auto n = x.size(0); for (const auto i : c10::irange(n)) {} return x;",
        "EDIT for (const auto n : x.sizes()) { for (const auto i : c10::irange(n)) {} } return y;",
    ],
)
def test_loops_are_not_counted_by_a_guard_where_that_is_not_enough_or_not_needed(tmp_path: Path, text: str) -> None:
    assert "guard_int" not in converted(tmp_path, body(text))


def test_a_guard_is_for_review(tmp_path: Path) -> None:
    source = body("EDIT for (const auto i : c10::irange(x.sizes()[0])) {} return y;")
    assert "irange(x.sym_sizes()[0].guard_int(__FILE__, __LINE__))" in converted(tmp_path, source)
    assert converted(tmp_path, source, Level.SAFE) == source


def test_sizes_that_only_a_stream_shows_stay(tmp_path: Path) -> None:
    for chain in ('"of size " << x.sizes()', 'x.sizes() << " are the sizes"', 'b << x.sizes() << ", " << x.numel()'):
        source = body(f"if (b) {{ std::cerr << {chain}; }} return x;")
        assert converted(tmp_path, source) == source
    assert "1 << x.sym_size(0)" not in converted(tmp_path, body("auto n = 1 << x.size(0); return x.view(x.sizes());"))


HELP = "static Tensor help(const Tensor& x) { return x.view(x.sizes()); }\n"


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        pytest.param("auto y = help(x); fade_stub(x.device().type(), y); return y;", False, id="a kernel on every way"),
        pytest.param("auto y = help(x); if (b) { fade_stub(x.device().type(), y); } return y;", True, id="on some"),
        pytest.param("auto y = help(x); STOP return y;", False, id="a size that stays concrete on every way"),
        pytest.param("auto y = help(x); if (b) { return y; } STOP return y;", True, id="on all but an early one"),
        pytest.param("if (x.numel() == 0) { return x; } auto y = help(x); STOP return y;", False, id="save empty ones"),
        pytest.param("auto n = x.sum().item<int64_t>(); return help(x).add(n);", False, id="a value that is read"),
        pytest.param("if (b) { return x.add(x.item()); } return help(x);", True, id="a value that is read on some"),
    ],
)
def test_helpers_of_functions_that_symbols_do_not_pass_are_not_reached(
    tmp_path: Path, text: str, reached: bool
) -> None:
    assert ("x.view_symint(x.sym_sizes())" in converted(tmp_path, HELP + body(text))) is reached
    both = HELP + body(text) + "\nTensor g(const Tensor& x) { return help(x); }"
    assert "x.view_symint(x.sym_sizes())" in converted(tmp_path, both)


DEAD = "static int64_t rows(const Tensor& x) { return takes_int(x.stride(0)); }\n"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        pytest.param("EDIT rows(x); return y;", False, id="on every way"),
        pytest.param("EDIT rows(x); if (b) { return x; } return y;", False, id="before the ways part"),
        pytest.param("EDIT twice(x); return y;", False, id="through another"),
        pytest.param("EDIT if (b) { rows(x); return y; } throw 1;", False, id="on all that raise nothing"),
        pytest.param("EDIT if (b) { rows(x); } return y;", True, id="on some"),
        pytest.param("EDIT if (b) { return y; } rows(x); return x;", True, id="behind an early return"),
        pytest.param("EDIT auto later = [&] { rows(x); }; return y;", True, id="in a function of its own"),
        pytest.param("EDIT sometimes(x, b); return y;", True, id="which has a way round itself"),
    ],
)
def test_a_call_that_stops_symbols_further_on_keeps_the_rest_concrete(tmp_path: Path, text: str, edited: bool) -> None:
    source = DEAD + "static void twice(const Tensor& x) { rows(x); }\n"
    source += "static void sometimes(const Tensor& x, bool b) { if (b) { return; } rows(x); }\n" + body(text)
    assert ("x.view_symint(x.sym_sizes())" in converted(tmp_path, source)) is edited
    reasons = [finding.reason for finding in findings(tmp_path, source) if finding.refusal == "half-conversion"]
    assert bool(reasons) is not edited
    assert all("passes `rows`" in reason or "passes `twice`" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("condition", "edited"),
    [
        ("isFwGradDefined(x)", False),
        ("!isFwGradDefined(x)", True),
        ("isFwGradDefined(x) || b", True),
        ("isFwGradDefined(x) || isFwGradDefined(x) || isFwGradDefined(x)", False),
    ],
)
def test_what_forward_gradients_alone_come_to_stays(tmp_path: Path, condition: str, edited: bool) -> None:
    source = body(f"if ({condition}) {{ EDIT return y; }} return x;")
    assert ("x.view_symint(x.sym_sizes())" in converted(tmp_path, source)) is edited


def test_a_function_with_a_receiver_of_unknown_type_is_left_whole(tmp_path: Path) -> None:
    source = body("EDIT auto z = mystery(x); if (b) { z.sizes(); } return y;")
    assert converted(tmp_path, source) == source
    assert any("`z.sizes` asks a tensor is not known" in finding.reason for finding in findings(tmp_path, source))
    assert "x.sym_sizes()" in converted(tmp_path, source.replace("mystery(x)", "x.sum()"))


@pytest.mark.parametrize(
    ("compared", "edited"),
    [("IntArrayRef({n, 2})", False), ("IntArrayRef({3, 2})", True), ("IntArrayRef({x.size(1), 2})", True)],
)
def test_sizes_are_not_fixed_to_what_the_caller_gives(tmp_path: Path, compared: str, edited: bool) -> None:
    source = body(f"TORCH_CHECK(x.sizes() == {compared}); return x;").replace("bool b", "int64_t n")
    assert ("x.sym_sizes()" in converted(tmp_path, source)) is edited


def test_a_call_that_gets_a_symbolic_name_stops_nothing(tmp_path: Path) -> None:
    helper = "static Tensor rows(const Tensor& x, {}) {{ takes_int(x.stride(0)); return x; }}\n"
    source = helper.format("IntArrayRef s") + body("EDIT rows(x, x.sizes()); return y;")
    assert converted(tmp_path, source) == source
    twin = helper.format("c10::SymIntArrayRef s").replace("rows", "rows_symint").replace("takes_int(x.stride(0)); ", "")
    assert "rows_symint(x, x.sym_sizes())" in converted(tmp_path, twin + source)


def test_a_result_is_symbolic_through_several_helpers(tmp_path: Path) -> None:
    source = (
        "static DimVector shape(const Tensor& x) { return DimVector(x.sizes()); }\n"
        "static DimVector outer(const Tensor& x) { return shape(x); }\n"
        "Tensor f(const Tensor& x) { return x.view(outer(x)); }"
    )
    edited = converted(tmp_path, source)
    assert edited.count("static c10::SymDimVector") == 2
    assert "x.view_symint(outer(x))" in edited
    assert converted(tmp_path, source.replace("x.view(outer(x))", "x.narrow(0, 0, takes_int(outer(x)[0]))")) != edited


ATEN = {
    "aten/src/ATen/native/native_functions.yaml": """\
- func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
  variants: method
  dispatch:
    CPU, Meta: view
- func: fade(Tensor self) -> Tensor
- func: blur(Tensor self) -> Tensor
- func: _fade_rows(Tensor self, Tensor(a!) out) -> ()
  dispatch:
    CPU: fade_rows_cpu
- func: _blur_rows(Tensor self, Tensor(a!) out) -> ()
  dispatch:
    CPU: blur_rows_cpu
- func: same(Tensor self, Tensor other) -> bool
  tags: [data_dependent_output, pointwise]
  dispatch:
    CPU: same_cpu
- func: grain(Tensor self) -> Tensor
- func: sharpen(Tensor self) -> Tensor
- func: grain_rows(Tensor self) -> Tensor
- func: sharpen_rows(Tensor self) -> Tensor
- func: sharpen_rows.n(Tensor self, SymInt n) -> Tensor
- func: mix(Tensor self) -> Tensor
""",
    "torch/_meta_registrations.py": "@register_meta(aten._blur_rows)\ndef blur_rows(a, out):\n    pass\n",
    "aten/src/ATen/native/Fade.cpp": """\
namespace at { namespace native {
Tensor fade(const Tensor& x) { auto y = x.view(x.sizes()); at::_fade_rows(x, y); return y; }
Tensor blur(const Tensor& x) { auto y = x.view(x.sizes()); at::_blur_rows(x, y); return y; }
Tensor grain_rows(const Tensor& x) { takes_int(x.stride(0)); return x; }
Tensor sharpen_rows(const Tensor& x) { takes_int(x.stride(0)); return x; }
Tensor sharpen_rows(const Tensor& x, int64_t n) { takes_int(x.stride(0)); return x; }
Tensor grain(const Tensor& x) { auto y = x.view(x.sizes()); at::grain_rows(x); return y; }
Tensor sharpen(const Tensor& x) { auto y = x.view(x.sizes()); at::sharpen_rows(x); return y; }
static bool holds(const Tensor& x) { return at::same(x, x); }
Tensor mix(const Tensor& x) { auto y = x.view(x.sizes()); TORCH_CHECK(holds(x)); return y; }
}}
""",
}


def test_schemas_are_read_only_where_operators_are_defined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Mock(side_effect=headers.load_schemas)
    monkeypatch.setattr(headers, "load_schemas", load)
    (tmp_path / "none.yaml").write_text("- func: other(Tensor x) -> Tensor\n")
    plain = "void rows(const at::Tensor& x) { takes_int(x.size(0)); }\n"
    for source, loads in ((plain, 0), (plain + 'TORCH_LIBRARY(own, m) { m.def("rows", &rows); }\n', 1)):
        assert len(list(analyse_tree(MemoryProject(tmp_path, {"a.cpp": source}, tmp_path / "none.yaml")))) == loads
        assert load.call_count == loads


def test_operators_that_no_symbolic_tensor_passes_stop_symbols(tmp_path: Path) -> None:
    for path, text in {**ATEN, "c10.h": HEADER}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = MemoryProject(tmp_path, {**ATEN, "c10.h": HEADER}, tmp_path / "none.yaml")
    project.vocabulary = None
    outcomes = {(f.function.rpartition("::")[2], f.refusal, bool(f.edits)) for f in analyse_tree(project)}
    assert outcomes >= {("fade", "half-conversion", False), ("blur", "", True)}
    assert {name for name, refusal, _ in outcomes if refusal == "half-conversion"} == {"fade", "grain", "mix"}
    assert {name for name, _, edited in outcomes if edited} == {"blur", "sharpen"}


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("EDIT n = n >= x.size(0) ? x.size(0) : n; return y.narrow(0, 0, n);", True),
        ("EDIT n = n >= x.size(0) ? n : x.size(0); return y.narrow(0, 0, n);", True),
        ("EDIT n = n >= x.size(0) ? x.size(0) : 2; return y.narrow(0, 0, n);", False),
        ("EDIT n = x.size(0); return y.narrow(0, 0, n);", False),
        ("EDIT const auto m = n >= x.size(0) ? x.size(0) : n; return y.narrow(0, 0, m);", False),
        ("STOP n = n >= x.size(0) ? x.size(0) : n; return x.narrow(0, 0, n);", False),
    ],
)
def test_a_size_that_a_parameter_is_clamped_to_is_guarded(tmp_path: Path, text: str, guarded: bool) -> None:
    source = body(text).replace("bool b", "int64_t n")
    assert ("x.sym_size(0).guard_int(__FILE__, __LINE__)" in converted(tmp_path, source)) is guarded
    assert "guard_int" not in converted(tmp_path, source, Level.SAFE)


TEMPLATE = "template <bool b, typename T> Tensor drop(T& input) { if (input.numel() == 0) { return input; } TAIL }"


@pytest.mark.parametrize(
    ("tail", "tensor"),
    [
        ("return at::sum(input);", True),
        ("auto z = at::mul(input, 2); return z;", True),
        ("return input.clone();", False),
        ("return other(input);", False),
        ("return at::arange(input);", False),
    ],
)
def test_a_parameter_of_a_templates_type_is_what_operators_take_it_for(tmp_path: Path, tail: str, tensor: bool) -> None:
    source = TEMPLATE.replace("TAIL", tail) + "\nTensor f(const Tensor& x) { return drop<false>(x); }"
    assert ("input.sym_numel()" in converted(tmp_path, source)) is tensor
    assert ("unknown-receiver" in {finding.refusal for finding in findings(tmp_path, source)}) is not tensor
