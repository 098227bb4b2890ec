"""The expected failures of PyTorch 2.6.0, operator by operator: what goes is what a person would take out by hand.

The lines were written down by reading the files: for each operator all of its xfails in the registries below.
"""

from __future__ import annotations

import ast
import contextlib
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from corpus_trees import find_tree

from codemod.model.edits import apply_edits
from codemod.model.xfails import ExpectedFailure, Removal
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.xfails import transform

PROXY = "test/test_proxy_tensor.py"
AOT = "test/functorch/test_aotdispatch.py"
META = "test/test_meta.py"
OPS = "test/test_ops.py"
DECOMP = "test/test_decomp.py"
OPINFO = "test/inductor/test_torchinductor_opinfo.py"
DYNAMIC = "test/inductor/test_torchinductor_dynamic_shapes.py"
CODEGEN = "test/inductor/test_torchinductor_codegen_dynamic_shapes.py"
MARKERS = "test/dynamo_expected_failures/"
REGISTRY = re.compile(
    r"(?:fail|fault|skip)\w*(?:\[[^]]*\])*(?:: .*)? = |(?:fail|fault|skip)\w*(?:\[[^]]*\])*\.update\("
)
FILES = (PROXY, AOT, META, OPS, DECOMP, OPINFO, DYNAMIC, CODEGEN)

# The lines that go; or, where a registry becomes empty, the lines it stood on and what stands there then.
Gone = Mapping[str, list[int | tuple[range, str]]]
OPERATORS: dict[tuple[str, ...], Gone] = {
    ("cross_entropy_loss",): {PROXY: [1996], AOT: [6457, 6458, 6459]},
    ("index_reduce",): {PROXY: [2062, 2063, 2064, 2065, 2066, 2067]},
    ("stft",): {PROXY: [2019], AOT: [6495]},
    ("corrcoef",): {PROXY: [1962], AOT: [6391, 6404], META: [663, 744], OPINFO: [283]},
    ("max_pool2d_with_indices_backward",): {PROXY: [2001, 2002], CODEGEN: [174, 175, 176, 177, 178, 179]},
    ("trace",): {AOT: [6472]},
    ("float_power",): {PROXY: [(range(2027, 2031), "inplace_symbolic_tensor_failures = set()")]},
    ("narrow",): {
        PROXY: [
            (range(1979, 1982), "only_real_tensor_failures = set()"),
            (range(1983, 1986), "only_fake_tensor_failures = set()"),
        ],
        AOT: [6394],
    },
    ("linalg_pinv",): {PROXY: [2051, 2052], OPINFO: [321, 322, 323]},
    ("combinations",): {PROXY: [1990], AOT: [6438], META: [662]},
    ("fft_ihfft2",): {PROXY: [2009, 2012], AOT: [6486], OPS: [142, 2563]},
    ("equal",): {PROXY: [1944], META: [843]},
    ("allclose", "equal"): {PROXY: [1942, 1943, 1944], META: [660, 827, 843]},
    ("interpolate",): {DECOMP: [539, 540, 541, 542, 543, 544]},
    ("to_sparse",): {AOT: [6403], META: [659], OPINFO: [236, 237, 238, 239, 254, 255, 256, 257, 258, 272]},
    ("resize_",): {OPINFO: [222], DYNAMIC: [78]},
    ("resize_", "resize_as_"): {OPINFO: [222, 223], DYNAMIC: [75, 76, 77, 78, 79, 80]},
    ("gaussian_nll_loss",): {PROXY: [1960], AOT: [6389, 6635, 6636, 6637, 6638, 6657], META: [677]},
    ("group_norm",): {AOT: [6466, 6467, 6468, 6658, 6659]},
    ("cat",): {MARKERS + "TestBitsCPU.test_cat_cpu": []},
    ("zeros",): {PROXY: [2061], CODEGEN: [127]},
    ("zero_",): {DECOMP: [519]},
    ("ctc_loss",): {PROXY: [1997], AOT: [6460, 6461, 6462, 6634], META: [676]},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> CheckoutProject:
    root = find_tree("pytorch-2.6.0")
    if root is None:
        pytest.skip("no pytorch-2.6.0 among the trees (see CONTRIBUTING.md)")
    part = tmp_path_factory.mktemp("tree")
    for path in (*FILES, "torch/nn/functional.py", "torch/functional.py"):
        (part / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, part / path)
    shutil.copytree(root / MARKERS, part / MARKERS)
    return CheckoutProject(Checkout(part, None), Cache(None))


@pytest.fixture(scope="module")
def entries(project: CheckoutProject) -> dict[tuple[str, ...], list[ExpectedFailure]]:
    families = [[f"aten::{operator}" for operator in operators] for operators in OPERATORS]
    found = transform().expected_failures(project, families)
    kept = [
        [entry for entry in several if entry.kind in ("xfail", "marker") and entry.path.startswith((*FILES, MARKERS))]
        for several in found
    ]
    return dict(zip(OPERATORS, kept, strict=True))


def removed(project: CheckoutProject, chosen: list[ExpectedFailure]) -> Removal:
    (removal,) = transform().remove(project, [chosen])
    assert removal.left == ()
    return removal


def by_hand(source: bytes, gone: list[int | tuple[range, str]]) -> bytes:
    """The source without some lines, or with others in their place."""
    lines: list[bytes | None] = [*source.splitlines(keepends=True)]
    for item in gone:
        where, text = item if isinstance(item, tuple) else (range(item, item + 1), "")
        for line in where:
            lines[line - 1] = None
        lines[where.start - 1] = text.encode() + b"\n" if text else None
    return b"".join(line for line in lines if line is not None)


@pytest.mark.parametrize("operators", OPERATORS, ids="+".join)
def test_what_goes_is_what_a_person_takes_out(
    project: CheckoutProject, entries: dict[tuple[str, ...], list[ExpectedFailure]], operators: tuple[str, ...]
) -> None:
    removal = removed(project, entries[operators])
    expected = OPERATORS[operators]
    assert {edit.path for edit in removal.edits}.union(removal.deleted) == set(expected)
    assert set(removal.deleted) == {path for path in expected if path.startswith(MARKERS)}
    for path, gone in expected.items():
        if path not in removal.deleted:
            source = project.read(path)
            new = apply_edits(source, [edit for edit in removal.edits if edit.path == path])
            assert new == by_hand(source, gone), path


class Stub:
    """Stands for whatever a registry's elements are made of; equal where it is written alike."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __getattr__(self, name: str) -> Stub:
        return Stub(f"{self.text}.{name}")

    def __call__(self, *args: object, **kwargs: object) -> Stub:
        given = [repr(argument) for argument in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
        return Stub(f"{self.text}({', '.join(given)})")

    def __repr__(self) -> str:
        return self.text

    def keys(self) -> tuple[()]:
        """None: `{**stub}` adds nothing."""
        return ()

    def __iter__(self) -> Iterator[Stub]:
        """Nothing: `known.update(stub)` adds nothing."""
        return iter(())

    def __getitem__(self, key: object) -> Stub:
        return Stub(f"{self.text}[{key!r}]")

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.text)


class Names(dict[str, Any]):
    """A module's names, of which those it does not define are stubs."""

    def __missing__(self, name: str) -> Any:
        containers = {"set": set, "defaultdict": defaultdict, "dict": dict}
        return containers.get(name) or Stub(name)


def registries(source: bytes) -> dict[str, set[str]]:
    """What the registries of a module evaluate to: their elements or keys as text, by name or `name[device]`."""
    names = Names()
    for node in ast.parse(source).body:
        if REGISTRY.search(ast.unparse(node).partition("\n")[0]) or isinstance(node, ast.If):
            part = ast.Module([node], [])
            with contextlib.suppress(TypeError, AttributeError, NameError):  # what else such statements do, with stubs
                exec(compile(part, "registry", "exec"), {"__builtins__": {}, "skip": Stub("skip")}, names)
    found: dict[str, set[str]] = {}
    for name, value in names.items():
        if isinstance(value, (set, dict)):
            found[name] = set(map(repr, value))
            nested = value.items() if isinstance(value, dict) else ()
            found.update({f"{name}[{key}]": set(map(repr, inner)) for key, inner in nested if isinstance(inner, dict)})
    return found


@pytest.mark.parametrize("path", FILES)
def test_the_registries_are_the_old_less_the_entries(
    project: CheckoutProject, entries: dict[tuple[str, ...], list[ExpectedFailure]], path: str
) -> None:
    chosen = {entry for several in entries.values() for entry in several if entry.path == path}
    removal = removed(project, sorted(chosen, key=lambda entry: entry.start))
    source = project.read(path)
    before, after = registries(source), registries(apply_edits(source, removal.edits))
    assert before.keys() == after.keys()
    assert {entry.registry for entry in chosen} <= before.keys()
    keys = {(entry.registry, repr((entry.name, entry.variant) if entry.variant else entry.name)) for entry in chosen}
    keys |= {(entry.registry, entry.name) for entry in chosen}
    calls = tuple(f"xfail({entry.name!r}" for entry in chosen)
    wrong = {}
    for name, held in before.items():
        expected = {text for text in held if (name, text) not in keys and not text.startswith(calls)}
        if after[name] != expected:
            wrong[name] = after[name] ^ expected
    assert not wrong
    assert any(before[name] != after[name] for name in before)
