"""Which functions symbolic tensors reach: first what they do not."""

from __future__ import annotations

import pytest

from codemod.model.operators import Reach
from transforms.cpp.reach.reached import Reacher, reached, reached_and_stopped
from transforms.cpp.reading.extract import extract
from transforms.schema import derivatives, native_functions

NATIVE = "aten/src/ATen/native/"


def reach(files: dict[str, str], yaml: str = "", formulas: str = "") -> dict[str, Reach]:
    """The reach of every reached function by its qualified name."""
    facts = {path: extract(path, source.encode()) for path, source in files.items()}
    natives = native_functions.load("native_functions.yaml", yaml.encode()) if yaml else None
    backward = derivatives.load("derivatives.yaml", formulas.encode()) if formulas else None
    names = {(f.path, f.start): f.qualified for file in facts.values() for f in (*file.functions, *file.generated)}
    return {names[key]: value for key, value in reached(facts, natives, backward).items()}


def native(code: str, folder: str = "", name: str = "Fade.cpp") -> dict[str, str]:
    return {f"{NATIVE}{folder}{name}": f"namespace at {{ namespace native {{ {code} }} }}"}


COMPOSITE = "- func: fade(Tensor self) -> Tensor\n"
BACKEND = COMPOSITE + "  dispatch:\n    CPU, CUDA: fade\n"


@pytest.mark.parametrize(
    ("files", "yaml"),
    [
        pytest.param(native("Tensor fade(const Tensor& x) { return x; }"), BACKEND, id="a kernel of backends"),
        pytest.param(
            native("Tensor fade(const Tensor& x) { return x; }"),
            COMPOSITE + "  dispatch:\n    NestedTensorCPU, SparseCPU, QuantizedCPU, MkldnnCPU, ZeroTensor: fade\n",
            id="kernels of layouts",
        ),
        pytest.param(
            native("Tensor fade(const Tensor& x) { return x; }"),
            COMPOSITE + "  structured_delegate: fade.out\n",
            id="a structured operator has no kernel of that name",
        ),
        pytest.param(
            native("TORCH_META_FUNC(fade)(const Tensor& x) {} TORCH_IMPL_FUNC(fade_out)(const Tensor& x) {}"),
            COMPOSITE,
            id="structured kernels",
        ),
        pytest.param(
            native("Tensor fade(const Tensor& x) { return AT_DISPATCH_ALL_TYPES(x, n, [&] {}); }"),
            COMPOSITE,
            id="a backend kernel in disguise",
        ),
        pytest.param(
            {f"{NATIVE}Fade.cpp": "namespace other { Tensor fade(const Tensor& x) { return x; } }"},
            COMPOSITE,
            id="a function of the same name elsewhere",
        ),
        pytest.param(
            {"lib.cpp": 'Tensor f(Tensor x) { return x; } TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("f", &f); }'},
            "",
            id="registered for a backend",
        ),
        pytest.param(
            {"test/lib.cpp": 'Tensor f(Tensor x) { return x; } TORCH_LIBRARY(lib, m) { m.def("f", &f); }'},
            "",
            id="registered by a test",
        ),
    ],
)
def test_not_reached(files: dict[str, str], yaml: str) -> None:
    assert reach(files, yaml) == {}


@pytest.mark.parametrize(
    "helper",
    [
        pytest.param("Tensor scale(const Tensor& x) { return x.data_ptr<float>(); }", id="reads memory"),
        pytest.param("Tensor scale() { return x; }", id="fewer parameters than arguments"),
        pytest.param("struct Box { Tensor scale(const Tensor& x) { return x; } };", id="a method of some class"),
    ],
)
def test_what_a_reached_function_calls_may_still_be_no_callee(helper: str) -> None:
    files = native(helper + " Tensor fade(const Tensor& x) { return scale(x); }")
    assert set(reach(files, COMPOSITE)) == {"at::native::fade"}


TAKES = (
    'Tensor held() { return x; } Tensor take(TYPE n) { return held(); } TORCH_LIBRARY(lib, m) { m.def("take", &take); }'
)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        *[(kind, set()) for kind in ("int64_t", "const std::string&", "IntArrayRef", "std::optional<at::ScalarType>")],
        *[(kind, set()) for kind in ("std::vector<double>", "std::tuple<bool, std::optional<int64_t>>")],
        *[
            (kind, {"take", "held"})
            for kind in ("Tensor", "std::optional<Tensor>", "TensorList", "c10::SymInt", "Scalar", "IValue", "Box&")
        ],
        ("std::tuple<int64_t, Tensor>", {"take", "held"}),
        ("std::vector<c10::SymInt>", {"take", "held"}),
    ],
)
def test_a_kernel_that_is_given_numbers_and_names_alone_is_no_root(kind: str, found: set[str]) -> None:
    assert reach({"lib.cpp": TAKES.replace("TYPE", kind)}).keys() == found


@pytest.mark.parametrize(
    ("kernel", "registered", "found"),
    [
        ("Tensor lib::take(int64_t n) { return held(); }", "lib::take", set()),
        ("Tensor lib::take(Tensor n) { return held(); }", "lib::take", {"lib::take", "held"}),
        ("struct Take { static Tensor run(int64_t n) { return held(); } };", "&Take::run", set()),
        ("struct Take { static Tensor run(Tensor n) { return held(); } };", "&Take::run", {"Take::run", "held"}),
    ],
)
def test_a_kernel_in_a_namespace_or_class_that_is_given_numbers_alone(
    kernel: str, registered: str, found: set[str]
) -> None:
    code = f'Tensor held() {{ return x; }} {kernel} TORCH_LIBRARY(lib, m) {{ m.def("take", {registered}); }}'
    assert reach({"lib.cpp": code}).keys() == found


def test_a_kernel_of_numbers_that_others_call_by_the_dispatcher_is_a_root() -> None:
    caller = 'Tensor f(Tensor x) { return findSchemaOrThrow("lib::take", "").typed<decltype(take)>().call(x.size(0)); }'
    found = reach({"lib.cpp": TAKES.replace("TYPE", "int64_t"), "f.cpp": caller})
    assert found.keys() == {"take", "held"}


def test_the_dispatcher_is_no_edge() -> None:
    code = "Tensor blur(const Tensor& x) { return x; } Tensor fade(const Tensor& x) { return at::blur(x.blur()); }"
    yaml = COMPOSITE + "- func: blur(Tensor self) -> Tensor\n  variants: function, method\n  dispatch:\n    CPU: blur\n"
    assert set(reach(native(code), yaml)) == {"at::native::fade"}


def test_kernels_for_backends_alone_are_no_helpers() -> None:
    code = "Tensor blur(const Tensor& x) { return x; } Tensor fade(const Tensor& x) { return blur(x); }"
    yaml = COMPOSITE + "- func: blur(Tensor self) -> Tensor\n  dispatch:\n    CPU: blur\n"
    assert set(reach(native(code), yaml)) == {"at::native::fade"}


def test_folders_of_backends_are_entered_by_the_yaml_alone() -> None:
    inner = native(
        "Tensor scale(const Tensor& x) { return x; } Tensor glow(const Tensor& x) { return scale(x); }", "cuda/"
    )
    outer = native("Tensor fade(const Tensor& x) { return scale(x); }")
    yaml = COMPOSITE + "- func: glow(Tensor self) -> Tensor\n"
    assert set(reach({**inner, **outer}, yaml)) == {"at::native::fade", "at::native::glow"}
    assert set(reach(native("Tensor scale(const Tensor& x) { return x; }", name="Scale.h") | outer, yaml)) == {
        "at::native::fade",
        "at::native::scale",
    }


def test_a_helper_and_its_path() -> None:
    files = native(
        """
        static Tensor scale(const Tensor& x) { return x; }
        static Tensor step(const Tensor& x) {
          return scale(x);
        }
        Tensor fade_symint(const Tensor& x) { return step(x); }
        """
    )
    yaml = "\n\n- func: fade(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: fade_symint\n"
    found = reach(files, yaml)
    assert found["at::native::fade_symint"].kind == "CompositeImplicitAutograd"
    helper = found["at::native::scale"]
    assert (helper.kind, helper.operators) == ("helper", ("fade",))
    assert [(step.path.rpartition("/")[2], step.line, step.text) for step in helper.steps] == [
        ("native_functions.yaml", 3, "fade is CompositeImplicitAutograd"),
        ("Fade.cpp", 6, "fade_symint calls step"),
        ("Fade.cpp", 4, "step calls scale"),
    ]


def test_a_helper_knows_all_its_operators() -> None:
    code = """
        Tensor scale(const Tensor& x) { return x; }
        Tensor fade(const Tensor& x) { return scale(x); }
        Tensor blur(const Tensor& x) { return fade(x); }
    """
    yaml = COMPOSITE + "- func: blur(Tensor self) -> Tensor\n"
    found = reach(native(code), yaml)
    assert found["at::native::scale"].operators == ("blur", "fade")
    assert [step.text for step in found["at::native::scale"].steps] == [
        "fade is CompositeImplicitAutograd",
        "fade calls scale",
    ]


def test_overloads_are_told_apart_by_their_parameters() -> None:
    code = """
        Tensor fade(const Tensor& x) { return x; }
        Tensor fade(const Tensor& x, int64_t n, int64_t m) { return x; }
    """
    (path,) = native(code)
    facts = extract(path, native(code)[path].encode())
    got = reached({path: facts}, native_functions.load("y", COMPOSITE.encode()), None)
    assert set(got) == {(path, facts.functions[0].start)}


def test_methods_and_constructors_of_helper_classes() -> None:
    code = """
        struct Grid {
          Grid(const Tensor& x) : x_(x) { check(x); }
          Tensor run() { return fold(); }
          Tensor fold() { return x_; }
          static void check(const Tensor& x) { }
          Tensor unused() { return x_; }
          Tensor x_;
        };
        Tensor fade(const Tensor& x) { return Grid(x).run(); }
    """
    names = {name.rpartition("::")[2] for name in reach(native(code), COMPOSITE)}
    assert names == {"fade", "Grid", "run", "fold", "check"}


def test_templates_and_lambdas() -> None:
    code = """
        template <typename T> Tensor scale(const T& x) { return x; }
        Tensor lift(const Tensor& x) { return x; }
        Tensor fade(const Tensor& x) { auto g = [&](const Tensor& y) { return lift(y); }; return g(scale<Tensor>(x)); }
    """
    assert {name.rpartition("::")[2] for name in reach(native(code), COMPOSITE)} == {"fade", "scale", "lift"}


def test_functions_that_macros_define_are_passed_through() -> None:
    code = """
        Tensor scale(const Tensor& x) { return x; }
#define ALIAS(NAME) Tensor NAME(const Tensor& x) { return scale(x); }
        ALIAS(lift)
        Tensor fade(const Tensor& x) { return lift(x); }
    """
    assert {name.rpartition("::")[2] for name in reach(native(code), COMPOSITE)} == {"fade", "scale", "lift"}


def test_derivatives() -> None:
    path = "torch/csrc/autograd/FunctionsManual.cpp"
    source = """
        namespace torch::autograd::generated::details {
        Tensor spare(Tensor x) { return x; }
        Tensor fade_backward(Tensor grad) { grad.data_ptr<float>(); return grad; }
        }
    """
    found = reach({path: source}, "", "- name: fade(Tensor self) -> Tensor\n  self: fade_backward(grad)\n")
    scope = "torch::autograd::generated::details::"
    assert {name: (got.kind, got.operators) for name, got in found.items()} == {
        f"{scope}fade_backward": ("AutogradManual", ("fade",)),
        f"{scope}spare": ("AutogradManual", ()),
    }
    assert found[f"{scope}fade_backward"].steps[0].text == "the derivative of fade calls fade_backward"


def test_a_library_outside_pytorch() -> None:
    source = """
        Tensor pad(Tensor x) { return x; }
        struct Shift : public torch::autograd::Function<Shift> {
          static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) { return pad(x); }
          static Tensor backward(torch::autograd::AutogradContext* ctx, Tensor grad) { return grad; }
        };
        Tensor shift(Tensor x) { return Shift::apply(x); }
        Tensor shift_cpu(Tensor x) { return x; }
        Tensor unused(Tensor x) { return x; }
        TORCH_LIBRARY(lib, m) { m.def("shift(Tensor x) -> Tensor"); helper_of_registration(m); }
        TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("shift", &shift_cpu); }
        TORCH_LIBRARY_IMPL(lib, Autograd, m) { m.impl("shift", &shift); }
    """
    found = reach({"csrc/shift.cpp": source})
    assert set(found) == {"shift", "Shift::forward", "Shift::backward", "pad"}
    assert [step.text for step in found["pad"].steps] == [
        "lib::shift is registered for Autograd",
        "shift calls Shift::forward",
        "Shift::forward calls pad",
    ]
    assert found["pad"].operators == ("lib::shift",)


@pytest.mark.parametrize(
    ("other", "runs"),
    [
        ("", False),
        (
            "struct Turn : Function<Turn> { static Tensor backward(AutogradContext* ctx, Tensor g) { return g; } };",
            True,
        ),
    ],
)
def test_what_a_blocked_forward_would_record_is_not_run(other: str, runs: bool) -> None:
    source = """
        Tensor pad(Tensor x) { return x; }
        struct Shift : public torch::autograd::Function<Shift> {
          static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) { return run(x); }
          static Tensor backward(torch::autograd::AutogradContext* ctx, Tensor grad) { return pad(grad); }
        };
        Tensor shift(Tensor x) { return Shift::apply(x); }
        TORCH_LIBRARY_IMPL(lib, Autograd, m) { m.impl("shift", &shift); }
    """
    facts = {"csrc/shift.cpp": extract("csrc/shift.cpp", f"{other}{source}".encode())}
    reacher = Reacher(facts, None, None)
    nodes = {f"{f.parent}::{f.name}": node for node, f in reacher.nodes.items()}
    assert {"Shift::forward", "Shift::backward", "::pad"} <= {name for name in nodes if nodes[name] in reacher.run()}
    found = {name for name in nodes if nodes[name] in reacher.run([nodes["Shift::forward"]])}
    assert found == {"::shift", "Shift::forward"} | ({"Turn::backward"} if runs else set())


def test_what_is_registered_for_meta_is_reached_whatever_it_does_elsewhere() -> None:
    source = """
        template <bool kIsMeta> Tensor pack(Tensor x) { if (!kIsMeta) { run(x.data_ptr()); } return x; }
        TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("pack", TORCH_FN(pack<false>)); }
        TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("pack", TORCH_FN(pack<true>)); }
    """
    assert reach({"csrc/pack.cpp": source})["pack"].kind == "Meta"


def test_a_lambda_kernel_reaches_what_it_calls_and_its_block_nothing_else() -> None:
    source = """
        Tensor pad(Tensor x) { return x; }
        Tensor pack(Tensor x) { return x; }
        TORCH_LIBRARY(lib, m) {
          m.def("pad", [](Tensor x) { return pad(x); });
          m.class_<Box>("Box").def("pack", [](Tensor x) { return pack(x); });
        }
    """
    assert set(reach({"csrc/lib.cpp": source})) == {"TORCH_LIBRARY", "pad"}


def test_batch_rules() -> None:
    source = """
        namespace at::functorch {
        static Tensor lift(const Tensor& x) { return x; }
        Tensor fade_batch_rule(const Tensor& x) { return lift(x); }
        TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) { VMAP_SUPPORT(fade, fade_batch_rule); }
        }
    """
    found = reach({"aten/src/ATen/functorch/BatchRulesFade.cpp": source})
    rule = found["at::functorch::fade_batch_rule"]
    assert (rule.kind, rule.operators, rule.steps[0].text) == (
        "FuncTorchBatched",
        ("fade",),
        "aten::fade is registered for FuncTorchBatched",
    )
    assert found["at::functorch::lift"].operators == ("fade",)


def test_the_same_whatever_the_order_of_files() -> None:
    files = {
        f"csrc/{name}.cpp": f"Tensor {name}(Tensor x) {{ return pad(x); }}\n"
        f'TORCH_LIBRARY_FRAGMENT(lib, m) {{ m.def("{name}", &{name}); }}'
        for name in "cab"
    }
    files["csrc/pad.h"] = "inline Tensor pad(Tensor x) { return x; }"
    forwards, backwards = reach(files), reach(dict(reversed(files.items())))
    assert forwards == backwards
    assert forwards["pad"].steps[0].text == "lib::a is registered for CompositeImplicitAutograd"


def test_a_registration_means_the_function_of_its_own_namespace() -> None:
    files = {
        "a.cpp": "namespace at { void loop(const Tensor& x) { x.sizes(); } }",
        "b.cpp": "namespace at { namespace functorch { void loop(const Tensor& x) { x.sizes(); } } }",
        "c.cpp": "namespace at { namespace functorch { static void own(const Tensor& x) {}\n"
        "TORCH_LIBRARY_IMPL(_, FuncTorchBatched, m) { m.fallback(&loop); } } }",
    }
    assert "at::functorch::loop" in reach(files)
    assert "at::loop" not in reach(files)


def test_what_a_header_defines_and_nothing_calls_is_no_root() -> None:
    header = "namespace at { namespace functorch { inline int64_t width(const Tensor& x) { return x.size(0); } } }"
    user = "namespace at { namespace functorch { int64_t twice(const Tensor& x) { return 2 * width(x); } } }"
    assert set(reach({"a.h": header})) == set()
    assert set(reach({"a.h": header, "b.cpp": user})) == {"at::functorch::width", "at::functorch::twice"}


def test_a_second_run_says_what_a_first_one_would() -> None:
    code = (
        "namespace at { Tensor deep(const Tensor& x) { return x; } Tensor mid(const Tensor& x) { return deep(x); } "
        'Tensor top(const Tensor& x) { return mid(x); } TORCH_LIBRARY(a, m) { m.def("top", top); } }'
    )
    facts = {"a.cpp": extract("a.cpp", code.encode())}
    blocked = {("a.cpp", function.start) for function in facts["a.cpp"].functions if function.name == "mid"}
    reacher = Reacher(facts, None, None)
    first = reacher.reached_and_stopped()
    assert len(first[0]) == 3
    assert reacher.reached_and_stopped(blocked) == reached_and_stopped(facts, None, None, blocked=blocked)
    assert len(reacher.reached_and_stopped(blocked)[0]) == 2
    assert reacher.reached_and_stopped() == first
