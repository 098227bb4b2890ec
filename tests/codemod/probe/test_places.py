"""Which line asked about a size, from stacks as torch writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.probe.places import asking, compiled_frame, in_full, owner, torch_folder
from codemod.probe.trace import Frame

SITE = "/venv/lib/python3.11/site-packages"
TORCH = f"{SITE}/torch"
USER = Frame("/home/u/model.py", 12, "f", "if x.size(0) > 5:")
MAIN = Frame("/home/u/model.py", 40, "<module>", "g(x)")


def torch_frame(path: str, function: str = "fn", line: int = 7) -> Frame:
    return Frame(f"{TORCH}/{path}", line, function, "")


DYNAMO = (torch_frame("_dynamo/convert_frame.py"), torch_frame("_dynamo/symbolic_convert.py"))
CAPTURED = (
    *DYNAMO,
    torch_frame("fx/interpreter.py"),
    torch_frame("_subclasses/fake_tensor.py"),
    torch_frame("_ops.py"),
)
PYTHON_ANSWERS = (
    torch_frame("__init__.py", "__bool__"),
    torch_frame("fx/experimental/sym_node.py"),
    torch_frame("fx/experimental/symbolic_shapes.py"),
    torch_frame("_logging/_internal.py"),
)
C_ANSWERS = PYTHON_ANSWERS[1:]


def test_the_folder_of_torch_is_where_its_logging_lies() -> None:
    assert torch_folder((MAIN, *DYNAMO, *C_ANSWERS)) == TORCH
    assert torch_folder((MAIN,)) == ""
    assert torch_folder((Frame("/home/u/pytorch/torch/_dynamo/convert_frame.py", 1, "f"),)) == "/home/u/pytorch/torch"


def test_what_inductor_wrote_is_nobodys_own_line() -> None:
    name = "cbzaswswzexom62zvrk37y54vvstlj6tog3nd6ejqtloqxvsyfjp.py"
    assert owner(Frame(f"/tmp/torchinductor_u/bz/{name}", 61, "call"), TORCH) == "generated code"
    assert owner(Frame(f"/home/u/model/{name}", 61, "call"), TORCH) == "your code"


def test_the_end_of_a_path_is_no_path_of_the_users() -> None:
    assert owner(Frame("nn/modules/linear.py", 134, "forward"), TORCH) == "unknown"


@pytest.mark.parametrize(
    ("end", "paths", "whole"),
    [
        ("nn/modules/linear.py", (), "torch/nn/modules/linear.py"),  # what is there
        ("src/nn/layers.py", (), "src/nn/layers.py"),
        ("n/layers.py", (), ""),
        ("twice.py", (), ""),  # would be cut at another folder: above the root, and in torch's
        ("gone/model.py", ("{root}/gone/model.py", "/x/gone/model.py"), "gone/model.py"),  # what stacks name
        ("gone/model.py", ("/x/gone/model.py",), ""),
    ],
)
def test_the_whole_path_is_the_one_that_torch_cuts_to_its_end(
    tmp_path: Path, end: str, paths: tuple[str, ...], whole: str
) -> None:
    for name in ("torch/nn/modules/linear.py", "src/nn/layers.py", "torch/twice.py", "twice.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    named = [path.format(root=tmp_path) for path in paths]
    frame = in_full(Frame(end, 3, "f"), str(tmp_path / "torch"), named)
    assert frame.path == (str(tmp_path / whole) if whole else end)


def test_the_root_alone_loses_a_letter(tmp_path: Path) -> None:
    """Of /tmp/model.py there is mp/model.py, where torch lies in /usr."""
    model = tmp_path / "model.py"
    model.touch()
    assert in_full(Frame(str(model)[2:], 3, "f"), "/usr", ()) == Frame(str(model), 3, "f")


def test_a_module_compiled_as_a_whole_is_named_after_its_caller() -> None:
    wrapper = torch_frame("_dynamo/external_utils.py", "inner", 67)
    call = torch_frame("nn/modules/module.py", "_call_impl")
    library = Frame("/usr/lib/python3.11/runpy.py", 5, "run_path")
    assert compiled_frame((library, MAIN, call, wrapper), TORCH) == MAIN
    assert compiled_frame((library, call, wrapper), TORCH) == wrapper
    assert compiled_frame((MAIN, USER), TORCH) == USER


def test_dynamo_asks_for_the_programs_own_line() -> None:
    stack = (MAIN, *DYNAMO, torch_frame("_dynamo/variables/tensor.py"), *PYTHON_ANSWERS)
    assert asking(stack, (USER,), TORCH) == (USER, None, "your code")


def test_a_python_line_of_torch_asks_for_itself() -> None:
    line = torch_frame("_refs/__init__.py", "reshape")
    assert asking((MAIN, *CAPTURED, line, *PYTHON_ANSWERS), (USER,), TORCH) == (line, USER, "torch")


def test_a_library_is_named() -> None:
    line = Frame(f"{SITE}/vision_ops/fakes.py", 3, "fake")
    assert asking((MAIN, *CAPTURED, line, *PYTHON_ANSWERS), (USER,), TORCH)[2] == "vision_ops"
    assert owner(Frame(f"{SITE}/single.py", 3, "fake"), TORCH) == "single"
    assert owner(Frame("/usr/lib/python3.11/random.py", 3, "randrange"), TORCH) == "Python's library"
    assert owner(Frame("/home/u/lib/python3/model.py", 3, "f"), TORCH) == "your code"


def test_c_code_is_named_by_the_line_that_calls_it() -> None:
    line = torch_frame("_decomp/decompositions.py", "matmul")
    assert asking((MAIN, *CAPTURED, line, torch_frame("_ops.py"), *C_ANSWERS), (USER,), TORCH) == (
        line,
        USER,
        "C++ of torch",
    )
    fake = Frame("/home/u/fakes.py", 3, "fake")
    assert (
        asking((MAIN, *CAPTURED, fake, torch_frame("_ops.py"), *C_ANSWERS), (), TORCH)[2] == "C++ that your code calls"
    )


def test_c_code_of_a_captured_graph_is_named_by_the_programs_line() -> None:
    assert asking((MAIN, *CAPTURED, *C_ANSWERS), (USER,), TORCH) == (USER, None, "C++ of torch")
    assert asking((MAIN, *CAPTURED, *C_ANSWERS), (), TORCH) == (None, None, "C++ of torch")


def test_nothing_is_claimed_without_a_stack() -> None:
    assert asking((), (), "") == (None, None, "unknown")
    assert asking((), (USER,), "") == (USER, None, "your code")
    assert owner(Frame("<eval_with_key>.1", 3, "forward"), TORCH) == "generated code"


def test_sizes_of_a_fake_tensor_are_asked_for_by_the_c_function_that_was_called() -> None:
    line = torch_frame("_decomp/decompositions.py", "nll_loss")
    handler = (torch_frame("_subclasses/fake_tensor.py", "dispatch"), torch_frame("_subclasses/fake_tensor.py"))
    assert asking((MAIN, *CAPTURED, line, *handler, *PYTHON_ANSWERS), (USER,), TORCH) == (line, USER, "C++ of torch")
    assert asking((MAIN, *DYNAMO, *handler, *PYTHON_ANSWERS), (USER,), TORCH) == (USER, None, "C++ of torch")
    assert asking((MAIN, *DYNAMO, torch_frame("_dynamo/utils.py"), *C_ANSWERS), (USER,), TORCH)[2] == "C++ of torch"
    graph = (torch_frame("_functorch/_aot_autograd/graph_capture.py"), *C_ANSWERS)
    assert asking((MAIN, *graph), (), TORCH) == (None, None, "C++ of torch")


def test_a_function_that_dynamo_puts_in_the_place_of_pythons_own_does_not_ask() -> None:
    polyfill = torch_frame("_dynamo/polyfills/builtins.py", "any")
    stack = (MAIN, *DYNAMO, torch_frame("_dynamo/variables/tensor.py"), *PYTHON_ANSWERS)
    assert asking(stack, (USER, polyfill), TORCH) == (USER, None, "your code")


def test_what_called_the_compiled_function_has_no_part_in_it() -> None:
    call = torch_frame("nn/modules/module.py", "_call_impl")
    stack = (MAIN, call, *DYNAMO, torch_frame("_dynamo/utils.py", "run_node"), *C_ANSWERS)
    assert asking(stack, (USER,), TORCH) == (USER, None, "C++ of torch")


def test_the_programs_line_is_named_beside_torchs_that_dynamo_traces() -> None:
    functional = torch_frame("nn/functional.py", "dropout")
    forward = torch_frame("nn/modules/dropout.py", "forward")
    stack = (MAIN, *DYNAMO, torch_frame("_dynamo/variables/tensor.py"), *PYTHON_ANSWERS)
    assert asking(stack, (USER, forward, functional), TORCH) == (functional, USER, "torch")
    native = (MAIN, *DYNAMO, torch_frame("_dynamo/utils.py", "run_node"), *C_ANSWERS)
    assert asking(native, (USER, forward, functional), TORCH) == (functional, USER, "C++ of torch")
    assert asking(stack, (forward, functional), TORCH) == (functional, None, "torch")


def test_the_programs_line_is_named_where_torch_export_runs_it() -> None:
    """Dynamo has no stack of the program then; what passes calls on to kernels asks nothing."""
    graph = torch_frame("_functorch/_aot_autograd/graph_capture.py")
    functional = torch_frame("nn/functional.py", "max_pool1d")
    mode = (torch_frame("_export/non_strict_utils.py"), torch_frame("_library/utils.py", "handle_dispatch_mode"))
    stack = (MAIN, graph, USER, functional, *mode, *C_ANSWERS)
    assert asking(stack, (), TORCH) == (functional, USER, "C++ of torch")
    assert asking((MAIN, graph, USER, *mode, *C_ANSWERS), (), TORCH) == (USER, None, "C++ that your code calls")
    line = torch_frame("_refs/__init__.py", "reshape")
    assert asking((MAIN, graph, USER, line, *PYTHON_ANSWERS), (), TORCH) == (line, USER, "torch")
    assert asking((MAIN, USER, graph, line, *PYTHON_ANSWERS), (), TORCH) == (line, None, "torch")


EXPORT = (MAIN, torch_frame("export/_trace.py"), torch_frame("fx/experimental/proxy_tensor.py"))


def test_a_program_that_export_runs_is_on_its_stack() -> None:
    passing = torch_frame("_export/non_strict_utils.py", "__torch_function__")
    asked = (*EXPORT, torch_frame("nn/modules/module.py"), USER, passing, *C_ANSWERS)
    assert asking(asked, (), TORCH, native=True) == (USER, None, "C++ that your code calls")
    own = torch_frame("functional.py", "stft")
    through = (*EXPORT, torch_frame("nn/modules/module.py"), USER, own, passing, *C_ANSWERS)
    assert asking(through, (), TORCH, native=True) == (own, USER, "C++ of torch")
    assert asking((*EXPORT, own, *PYTHON_ANSWERS), (), TORCH) == (own, MAIN, "torch")
    traced = (MAIN, *DYNAMO, own, *PYTHON_ANSWERS)
    assert asking(traced, (), TORCH) == (own, None, "torch")
