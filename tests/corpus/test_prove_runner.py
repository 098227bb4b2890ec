"""The runner's repros: what is spelled can be read back, and every piece of an operator runs. Needs torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from codemod.prove.isolate import RUNNER  # noqa: E402
from codemod.runner import backends, cases, check, forks, job, modules, opinfo, schema, script, spell  # noqa: E402

TENSORS = [
    torch.rand(2, 3),
    torch.randn(2, 3, dtype=torch.float64),
    torch.randn(4, 2, 3).permute(1, 2, 0),
    torch.randint(3, 7, (4,)),
    torch.tensor([[True], [False]]),
    torch.randn(2, dtype=torch.complex64),
    torch.zeros(0, 3),
    torch.tensor(2.5),
    torch.rand(2, 2).to(torch.bfloat16),
]


@pytest.mark.parametrize("style", spell.STYLES)
@pytest.mark.parametrize("value", TENSORS, ids=lambda value: f"{value.dtype}{list(value.shape)}")
def test_a_spelled_tensor_is_like_the_one_it_stands_for(value: Any, style: str) -> None:
    try:
        text = spell.tensor(value, style, str, gradient=False)
    except spell.Unspeakable:
        assert style != "random"
        return
    made = eval(text, {"torch": torch})
    assert (made.shape, made.dtype) == (value.shape, value.dtype)
    if style == "literal":
        assert torch.equal(made, value)
    else:
        assert made.stride() == value.stride()
    if value.numel() and not value.is_floating_point() and not value.is_complex():
        assert value.min() <= made.min()
        assert made.max() <= value.max()


def test_a_sparse_tensor_is_not_stacked() -> None:
    with pytest.raises(spell.Unspeakable, match="layout"):
        spell.stacked(torch.eye(2).to_sparse(), "random")


def test_what_torch_itself_has_is_spelled_as_it_is_reached_from_there() -> None:
    options = {"distance_function": torch.nn.PairwiseDistance(), "function": torch.nn.functional.softmin}
    assert spell.Arguments().call("f", (), options) == (
        "f(distance_function=torch.nn.modules.distance.PairwiseDistance(), function=torch.nn.functional.softmin)"
    )
    member = spell.constant(torch.autograd.DeviceType.CPU)
    assert eval(member, {"torch": torch}) == torch.autograd.DeviceType.CPU
    for value in (torch.nn.PairwiseDistance(3.0), torch.nn.Linear(2, 2), lambda x: x, object()):
        with pytest.raises(spell.Unspeakable):
            spell.constant(value)


def call(callee: str = "torch.mul", mutates: bool = False) -> cases.Call:
    left = torch.rand(3, 5, requires_grad=True)
    return cases.Call(callee, [left, torch.rand(5, requires_grad=True)], mutates=mutates)


def test_scripts_and_checks_compile_with_the_backend_that_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []

    def counting(graph: Any, inputs: Any) -> Any:
        compiled.append(graph)
        return graph

    look_up = torch._dynamo.lookup_backend
    monkeypatch.setattr(torch._dynamo, "lookup_backend", lambda name: counting if name == "counting" else look_up(name))
    monkeypatch.setattr(backends, "_chosen", backends.DEFAULT)
    assert backends.chosen() == "aot_eager"
    backends.choose("counting")
    made = cases.make("aten::mul", "forward", "mul", call())[0]
    assert 'backend="counting"' in made.script
    assert check.attempt(made.script, "mul", unbacked=False).status == "passes"
    assert compiled


@pytest.mark.parametrize("piece", script.PIECES)
def test_every_piece_makes_a_case_that_passes(piece: str) -> None:
    inplace = piece == "inplace"
    made = cases.make("aten::mul", piece, "mul", call(".mul_" if inplace else "torch.mul", mutates=inplace))
    assert made
    assert {case.piece for case in made} == {piece}
    result = check.attempt(made[0].script, "mul", unbacked=False)
    assert (result.status, result.message) == ("passes", "")
    assert result.frames >= 1
    assert "n" in made[0].script.partition("def inputs")[2]


def test_a_repro_runs_alone(tmp_path: Path) -> None:
    (case,) = cases.make("aten::mul", "backward", "mul", call())
    (tmp_path / "repro.py").write_text(case.script)
    done = subprocess.run([sys.executable, "repro.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("passes for the sizes")


def test_a_lowering_is_run_where_the_job_says_inductor(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import torch\n"
        "from torch._inductor.lowering import register_lowering\n\n"
        '@torch.library.custom_op("own::kept", mutates_args=())\n'
        "def kept(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n"
        "@kept.register_fake\ndef _(x):\n    return torch.empty_like(x)\n\n"
        "@register_lowering(torch.ops.own.kept.default)\n"
        'def lowered(x):\n    raise TypeError("seen by Inductor alone")\n'
    )
    text = "import torch\ndef inputs(n):\n    return (torch.ones(n),)\n"
    text += "def operator(x):\n    return torch.ops.own.kept(x)\n"
    cases = {"own::kept": [{"name": "a", "piece": "forward", "script": text}]}
    ends = {}
    for backend in ("aot_eager", "inductor"):
        document = {"operators": ["own::kept"], "imports": ["own"], "python_path": [str(tmp_path)], "cases": cases}
        (tmp_path / "job.json").write_text(json.dumps({**document, "backend": backend}))
        command = [sys.executable, str(RUNNER), str(tmp_path / "job.json"), str(tmp_path / "out.json")]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        (case,) = json.loads((tmp_path / "out.json").read_bytes())["operators"]["own::kept"]["cases"]
        ends[backend] = case["status"], case["unbacked"], "seen by Inductor alone" in case["message"]
    assert ends == {"aot_eager": ("passes", "passes", False), "inductor": ("throws", "throws", True)}


def test_a_wrong_result_a_throw_and_a_guard_are_told_apart() -> None:
    def repro(body: str) -> str:
        inputs = "def inputs(n):\n    return (torch.ones(n, 3),)\n"
        return f"import torch\n{inputs}def operator(x):\n    return {body}\n"

    wrong = check.attempt(repro("x * 2 if torch.compiler.is_compiling() else x"), "a", unbacked=False)
    assert (wrong.status, wrong.eager) == ("wrong", "")
    thrown = check.attempt(repro("x.new_ones(int(x.sum().item()))"), "b", unbacked=True)
    assert thrown.unbacked == "passes" or thrown.unbacked_message
    guarded = check.attempt(repro("x * 2 if x.shape[0] > 1000 else x"), "c", unbacked=True)
    assert (guarded.status, guarded.unbacked) == ("passes", "throws")
    assert any("1000" in guard for guard in guarded.guards)
    refused = check.attempt(repro("x.reshape(7)"), "d", unbacked=True)
    assert refused.eager


def test_a_guard_says_nothing_of_a_size_that_another_fixes() -> None:
    text = "import torch\ndef inputs(n):\n    return (torch.ones(n + 4, 3),)\ndef operator(x):\n    size = x.shape[1]\n"
    text += "    return x * 2 if size * size * x.shape[0] == 9 * x.shape[0] and size == 3 else x\n"
    (guard,) = check.attempt(text, "g", unbacked=False).guards
    assert re.fullmatch(r"Eq\(s\d+, 3\)", guard)


def test_what_memory_held_before_is_random() -> None:
    text = "import torch\ndef inputs(n):\n    return (torch.ones(n, 3),)\ndef operator(x):\n    return "
    assert check.attempt(text + "torch.empty_like(x)\n", "e", unbacked=False).random
    assert check.attempt(text + "torch.rand_like(x)\n", "r", unbacked=False).random
    assert not check.attempt(text + "x + 1\n", "p", unbacked=False).random


def test_arguments_are_drawn_from_the_schema_and_always_the_same() -> None:
    first, second = ([call.positional for call in schema.calls("aten::addmm", "forward")] for _ in range(2))
    assert first
    assert [[tuple(t.shape) for t in tensors] for tensors in first] == [[tuple(t.shape) for t in x] for x in second]
    assert list(schema.calls("aten::no_such_operator", "forward")) == []


def test_an_operators_own_samples_come_before_those_of_another_of_its_name() -> None:
    assert [entry.name for entry in opinfo.named("unfold")] == ["unfold", "nn.functional.unfold"]  # that is im2col
    assert opinfo.named("im2col")[0].name == "nn.functional.unfold"


def test_modules_tell_the_arguments_of_what_only_they_call() -> None:
    calls = list(modules.calls("gru_cell", "forward"))
    assert calls
    (case,) = cases.make("aten::gru_cell", "forward", "gru_cell", calls[0])
    assert "torch.gru_cell(" in case.script
    assert list(modules.calls("gru_cell", "out")) == []
    assert list(modules.calls("no_such_operator", "forward")) == []


def test_a_backward_operator_is_run_by_those_whose_gradients_it_makes(tmp_path: Path) -> None:
    for way, callers in (("forward", {}), ("backward", {"nn.functional.glu": ["aten::glu_backward"]})):
        called = {opinfo.label(entry): callers.get(entry.name, []) for entry in opinfo.entries()}
        (tmp_path / f"opinfo-{torch.__version__}-{way}.json").write_text(json.dumps(called))
    index = opinfo.Index(str(tmp_path))
    found = [job.sampled("aten::glu_backward", piece, index) for piece in ("forward", "vmap")]
    (backward, mapped) = (next(job.candidates("aten::glu_backward", "forward", entries)) for entries in found)
    assert (backward[0], backward[2].callee) == ("backward", "torch.nn.functional.glu")
    assert (mapped[0], mapped[2].callee) == ("vmap", "gradients")
    assert cases.make("aten::glu_backward", "vmap", "glu", mapped[2])


def test_what_calls_what_is_found_once_for_each_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tuple(entry for entry in opinfo.entries() if entry.name in ("nn.functional.glu", "add"))
    monkeypatch.setattr(opinfo, "entries", lambda: chosen)
    for index in (opinfo.Index(str(tmp_path)), opinfo.Index(str(tmp_path))):
        assert [entry.name for entry in index.callers("aten::glu", "forward")] == ["nn.functional.glu"]
        assert index.callers("aten::glu_backward", "forward") == []
        assert [entry.name for entry in index.callers("aten::glu_backward", "backward")] == ["nn.functional.glu"]
        monkeypatch.setattr(opinfo, "called", None)  # the second reads what the first has kept


def test_a_call_that_ends_the_process_is_a_case_still() -> None:
    case, other = {"name": "one"}, {"name": "other"}
    found = [[case, None], [case, "throws"], [other, None]]
    assert list(job.whole(found)) == [(case, "throws"), (other, job.ENDS)]
    assert list(job.whole([[case, None], [other, None], [other, ""]])) == [(case, job.ENDS), (other, "")]


def test_why_eager_takes_no_inputs_is_what_it_says_most_often() -> None:
    assert "CPU" in schema.refusal("aten::cudnn_convolution")
    assert schema.refusal("aten::no_such_operator") == ""


def test_a_search_ends_once_a_throw_is_found_and_nothing_new_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(messages: list[str]) -> tuple[int, list[str]]:
        seen: list[str] = []

        def forecast(*given: Any) -> Iterator[tuple[int, Any]]:
            for number, message in enumerate(messages):
                seen.append(message)
                yield number, [{"name": str(number), "piece": "forward", "script": ""}, message]

        monkeypatch.setattr(job, "forecasts", forecast)
        monkeypatch.setattr(forks, "survive", lambda work, ended: (given for _, given in work(0)))
        made = job.search({}, "none::such", "forward", None, [])
        return len(seen), [case.name for case in made]

    throws = "Cannot call numel() on tensor with symbolic sizes/strides"
    assert found(["", "", ""] + [throws] * 100) == (4 + job.ALIKE, ["3", "0", "1"])
    assert found([""] * 100)[0] == 100
