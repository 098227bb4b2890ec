"""C++ functions drawn at random, rewritten, and run beside themselves in sizes that nothing was traced with.

    python tests/corpus/fuzz_cpp.py --functions 250 --seed 1 [--numbers | --schemas]

All functions are operators of one library. It is rewritten at level review and both are built, with $CXX or g++. What
is rewritten has to compile, in eager to give and raise the same, compiled with dynamic shapes to give the same, and
where it compiles with every size unbacked, to take what eager takes, and to give the same. Of an operator whose caller
is left as it is, eager alone is asked. Printed is each function that does not, then how many there are of each. A
function that asks for more than an unbacked size can answer counts as right where its dynamic shapes are. Needs torch.
"""

from __future__ import annotations

import argparse
import logging
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import drawn_cpp
import drawn_schemas
import torch
from corpus_compile import torch_include
from corpus_drawn import ALL, Call, K, compiled_differs, eager_differs, end, inputs, same
from corpus_trees import apply_in

_FUNCTION = re.compile(r"^// drawn (\d+)\n.*?^// end\n", re.M | re.S)
_CALLED = re.compile(r"^Tensor f\d+\(.*?^}\n", re.M | re.S)
_DYNAMIC = 7


def rewritten(text: str, folder: Path) -> str:
    """The file as symfix writes it at level review."""
    folder.mkdir()
    (folder / "ops.cpp").write_text(text)
    apply_in(folder, "review")
    return (folder / "ops.cpp").read_text()


def functions(text: str) -> dict[int, str]:
    """The source of each function by its seed."""
    return {int(match[1]): match[0] for match in _FUNCTION.finditer(text)}


def compiler(*options: str) -> list[str]:
    """The command that compiles against the installed torch."""
    include = torch_include()
    assert include is not None
    return ["g++", "-std=c++20", "-O0", "-fPIC", "-w", f"-I{include}", f"-I{include}/torch/csrc/api/include", *options]


def refused(text: str, folder: Path) -> set[int]:
    """The functions that do not compile."""
    path = folder / "checked.cpp"
    path.write_text(text)
    said = subprocess.run(compiler("-fsyntax-only", "-fmax-errors=0", str(path)), capture_output=True, text=True).stderr
    lines = {
        int(line) for line in re.findall(rf"^{re.escape(str(path))}:(\d+):\d+: (?:error: | +required)", said, re.M)
    }
    offsets = [0, *(match.end() for match in re.finditer("\n", text))]
    places = [offsets[line - 1] for line in lines]
    return {int(m[1]) for m in _FUNCTION.finditer(text) if any(m.start() <= place < m.end() for place in places)}


def without(text: str, seeds: Collection[int]) -> str:
    """The file without some of its functions."""
    text = _FUNCTION.sub(lambda match: "" if int(match[1]) in seeds else match[0], text)
    return re.sub(
        r'^  m\.(?:def|impl)\("[fg](\d+)\b.*\n',
        lambda match: "" if int(match[1]) in seeds else match[0],
        text,
        flags=re.M,
    )


def load(text: str, library: str, folder: Path) -> None:
    """Builds and loads a library of operators."""
    path, built = folder / f"{library}.cpp", folder / f"{library}.so"
    path.write_text(text)
    libraries = Path(torch.__file__).parent / "lib"
    link = ["-shared", str(path), "-o", str(built), f"-L{libraries}", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(compiler(*link), check=True)
    registry: Any = torch.ops
    registry.load_library(str(built))


def judged(before: Call, after: Call, concrete: bool) -> str:
    """What is wrong with a rewritten operator, "" for nothing; eager alone is asked where it needs `concrete` sizes."""
    ends = {sizes: end(before, sizes) for sizes in ALL}
    shown = eager_differs(ends, after)
    if shown or concrete:
        return shown
    shown = _dynamic_differs(ends, after)
    compiles, differs = (False, "") if shown else compiled_differs(ends, after)
    return differs if compiles else shown


def _dynamic_differs(ends: dict[Any, Any], after: Call) -> str:
    torch.compiler.reset()
    compiled: Any = torch.compile(after, backend="aot_eager", fullgraph=True, dynamic=True)
    taken = [sizes for sizes, expected in ends.items() if not isinstance(expected, str) and len(sizes[1]) == 2]
    config: Any = torch._dynamo.config
    for sizes in taken[:: max(1, len(taken) // _DYNAMIC)]:
        try:
            with config.patch(recompile_limit=len(taken)):  # `narrow(0, 0, k)`, then `expand`, asks for one size
                result = compiled(*inputs(sizes))
        except Exception as error:  # Dynamo raises many
            return f"dynamic, {sizes}: {str(error).splitlines()[0][:150]}"
        if not same(ends[sizes], result):
            return f"dynamic, {sizes}: {list(result.shape)} for {list(ends[sizes].shape)}, or other values"
    return ""


def _operator(library: str, seed: int) -> Call:
    operator = getattr(getattr(torch.ops, library), f"f{seed}")
    return lambda x, y: operator(x, y, K)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws, rewrites, builds, judges, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    family = parser.add_mutually_exclusive_group()
    family.add_argument("--numbers", action="store_true", help="functions that compute with sizes, not of branches")
    family.add_argument("--schemas", action="store_true", help="operators whose schemas take sizes, and their callers")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    draw = drawn_schemas.source if options.schemas else partial(drawn_cpp.source, counts=options.numbers)
    seeds, kinds = range(options.seed, options.seed + options.functions), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = refused(draw(seeds, "drawn_before"), folder)
        seeds_left = [seed for seed in seeds if seed not in own]
        before = draw(seeds_left, "drawn_before")
        after = rewritten(draw(seeds_left, "drawn_after"), folder / "tree")
        broken = refused(after, folder)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(load, (before, without(after, broken)), ("drawn_before", "drawn_after"), (folder, folder)))
    old, new = functions(before), functions(after)
    for seed in seeds_left:
        if old[seed].replace("drawn_before", "drawn_after") == new[seed]:
            kinds["left"] += 1
            continue
        pair = _operator("drawn_before", seed), _operator("drawn_after", seed)
        left = _CALLED.findall(old[seed]) == _CALLED.findall(new[seed])
        shown = "does not compile" if seed in broken else judged(*pair, left)
        kinds["wrong" if shown else "right"] += 1
        if shown:
            print(f"{shown}\n{new[seed]}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
