"""Autograd's formulas: what calls them is generated, so it is generated again and compiled with them.

tools/autograd/gen_autograd.py of a PyTorch tree writes Functions.cpp, the nodes of the backward graph, whose methods
are exported, and VariableType_N.cpp, the Autograd kernels, which also hold the formulas of forward mode.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.digest import digest
from codemod.model.transform import Override, Part
from codemod.prove.isolate import Limits, run
from transforms.cpp.overrides.registering import ALLOW
from transforms.schema.derivatives import Derivative

MANUAL = "torch/csrc/autograd/FunctionsManual.cpp"
_TOOLS = "tools/autograd"
_NATIVE = "aten/src/ATen/native"
_LIMITS = Limits(seconds=300, memory=4 << 30)
_NODE = re.compile(r"^(?:static )?variable_list (\w+?)(?:_apply_functional|::apply)\(.*?^\}$", re.M | re.S)
_KERNEL = re.compile(r"^[\w:<>&, ]+ (\w+)\(c10::DispatchKeySet ks.*?^\}$", re.M | re.S)
_IMPL = re.compile(r'^m\.impl\("([\w.]+)",\s*TORCH_FN\(VariableType::(\w+)\)\s*\);', re.M)
_LIBRARY = re.compile(r"^TORCH_LIBRARY_IMPL\((\w+), (\w+), m\)", re.M)


@dataclass(frozen=True, slots=True)
class Generated:
    """The generated sources."""

    functions: str
    kernels: tuple[str, ...]


class AutogradCode:
    """The generated code of the tree at `root`, made when first asked for and kept below `scratch`."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        self._scratch = scratch
        self._generated: Generated | str | None = None

    def overrides(
        self, functions: Iterable[str], derivatives: Sequence[Derivative], operators: Container[str]
    ) -> list[Override]:
        """How the formulas `functions` are run by the operators of `derivatives`; `operators` are all there are."""
        if self._generated is None:
            self._generated = self._generate()
        if isinstance(self._generated, str):
            return [Override((), reason=self._generated)]
        mentioned = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(functions)))})\s*\(")
        overrides = []
        for derivative in derivatives:
            overrides += self._backward(derivative, self._generated.functions, mentioned, operators)
            overrides += self._forward(derivative, self._generated.kernels, mentioned)
        return overrides

    def _backward(
        self, derivative: Derivative, text: str, mentioned: re.Pattern[str], operators: Container[str]
    ) -> list[Override]:
        """The nodes of an operator's backward graph, in the place of the installed ones."""
        base = derivative.schema.base
        name = "".join(part.title() for part in base.split("_"))
        blocks: dict[str, list[str]] = {}
        for match in _NODE.finditer(text):
            if re.fullmatch(rf"{re.escape(name)}Backward\w*?\d+", match[1]):
                blocks.setdefault(match[1], []).append(match[0])
        chosen = [block for parts in blocks.values() if any(map(mentioned.search, parts)) for block in parts]
        if not chosen:
            return []
        head = text[: text.index("namespace torch::autograd::generated {")]
        after = f"{head}\nnamespace torch::autograd::generated {{\n" + "\n".join(chosen) + "\n}\n"
        operator, piece = (base.removesuffix("_"), "backward")
        if base.endswith("_backward") and (forward := base.removesuffix("_backward")) in operators:
            operator, piece = forward, "double_backward"
        return [Override((f"aten::{operator}",), (piece,), (Part(MANUAL, after=after),), preload=True)]

    def _forward(self, derivative: Derivative, texts: Sequence[str], mentioned: re.Pattern[str]) -> list[Override]:
        """The Autograd kernels of an operator that hold a formula of forward mode, registered again."""
        for text in texts:
            blocks = {match[1]: match[0] for match in _KERNEL.finditer(text) if mentioned.search(match[0])}
            chosen: dict[str, tuple[str, str]] = {}
            for match in _IMPL.finditer(text):
                if match[2] in blocks and match[1] == derivative.schema.full_name:
                    key = [library[2] for library in _LIBRARY.finditer(text, 0, match.start())][-1]
                    chosen[match[2]] = (match[1], key)
            if chosen:
                head = text[: text.index("namespace torch::autograd {")]
                after = [ALLOW, head, "namespace torch::autograd { namespace VariableType { namespace {\n"]
                after += (blocks[function] + "\n" for function in chosen)
                for number, (function, (name, key)) in enumerate(chosen.items()):
                    after.append(
                        f"namespace symfix_{number} {{ TORCH_LIBRARY_IMPL(aten, {key}, m) {{\n"
                        f'  m.impl("{name}", TORCH_FN(VariableType::{function}));\n}} }}\n'
                    )
                after.append("}}}\n")
                operator = f"aten::{derivative.schema.base.removesuffix('_')}"
                return [Override((operator,), ("jvp",), (Part(MANUAL, after="".join(after)),))]
        return []

    def _generate(self) -> Generated | str:
        """The generated sources, or why they cannot be made."""
        tools = (path for path in sorted((self._root / _TOOLS).rglob("*.*")) if path.suffix != ".pyc")
        inputs = (self._root / _NATIVE / "native_functions.yaml", *tools)
        contents = (path.read_bytes() for path in inputs if path.is_file())
        folder = self._scratch / digest(str(self._root), *contents)[:24]
        if not (folder / "done").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, "-m", "tools.autograd.gen_autograd", f"{_NATIVE}/native_functions.yaml"]
            command += [f"{_NATIVE}/tags.yaml", str(folder), _TOOLS]
            variables = {**os.environ, "PYTHONPATH": str(self._root), "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                ended = run(command, _LIMITS, variables, self._root)
            except OSError as error:
                return f"{_TOOLS}/gen_autograd.py cannot be run: {error.strerror}"
            if ended.code:
                return f"{_TOOLS}/gen_autograd.py fails: {ended.last_line}"
            (folder / "done").touch()
        kernels = sorted(path for path in folder.glob("VariableType_*.cpp"))
        try:
            texts = [path.read_text(encoding="utf-8") for path in (folder / "Functions.cpp", *kernels)]
        except OSError as error:
            return f"{_TOOLS}/gen_autograd.py made no {error.filename}"
        return Generated(texts[0], tuple(texts[1:]))
