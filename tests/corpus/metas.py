"""Which overloads of the installed torch have no way to trace, and which metas can be drawn from what kernels show?

`list` counts the overloads by family. `draw` runs what `symfix fix --mode 3` runs, for all of them or for some
OPERATORs, and prints a table: each meta, on how many calls it equals its kernel, and why the others have none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from codemod.model.drawn import DrawnMeta, drawn_to_json
from codemod.prove.metas import draw_all, untraced
from codemod.prove.target import find_target

_SECONDS = 1200


def family(schema: Any, overload: Any) -> str:
    """What kind of overload it is, by its schema and tags."""
    from codemod.runner import schema as schemas
    from codemod.runner import uncovered

    returns = [str(value.type) for value in schema.returns]
    if uncovered.size_depends_on_data(overload):
        return "sizes that depend on values"
    if schemas.is_out(schema):
        return "out variant"
    if not returns or schemas.writes(schema):
        return "writes to its arguments"
    if "backward" in schema.name or "jvp" in schema.name:
        return "backward or jvp"
    return "gives one tensor" if returns == ["Tensor"] else "gives several"


def listed() -> list[tuple[Any, Any]]:
    """The overloads without a way to trace."""
    from codemod.runner.uncovered import uncovered

    return sorted(uncovered(), key=lambda pair: str(pair[1]))


def drawn(names: list[str], jobs: int) -> list[DrawnMeta]:
    """What is drawn for operators, each said on stderr as it comes."""
    target = find_target(Path(sys.executable))
    operators = untraced(target, names, _SECONDS)
    for name in sorted(set(names) - set(operators)):
        print(f"metas: {name}: no operator with an overload that has a kernel and no way to trace", file=sys.stderr)
    metas: list[DrawnMeta] = []
    with closing(draw_all(target, operators, lambda _: None, jobs, _SECONDS)) as ended:
        for operator, of_operator, _ in ended:
            metas += of_operator
            written = sum(not meta.reason for meta in of_operator)
            print(f"{operator}: {written} of {len(of_operator)}", file=sys.stderr, flush=True)
    return metas


def table(metas: list[DrawnMeta]) -> None:
    """What became of each overload."""
    for meta in sorted(metas, key=lambda meta: (bool(meta.reason), meta.overload)):
        said = meta.reason or " ".join(meta.body)
        count = "" if meta.reason else meta.samples
        print(f"{'left' if meta.reason else 'meta':5} {meta.overload:55} {count:>5}  {said}")
        if meta.fatal:
            print(f"{'':67}  on {meta.fatal} more calls the kernel alone ends its process")
        if not meta.reason and meta.unbacked != "passes":
            print(f"{'':67}  unbacked: {meta.unbacked}")
    written = [meta for meta in metas if not meta.reason]
    unbacked = sum(meta.unbacked == "passes" for meta in written)
    print(f"{len(written)} of {len(metas)} overloads get a meta that equals the kernel; {unbacked} compile unbacked")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("list", "draw"))
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="aten::foo; all where none is named")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write what was drawn there")
    options = parser.parse_args()
    if options.what == "list":
        counts = Counter(family(schema, overload) for schema, overload in listed())
        for name, count in counts.most_common():
            print(f"{count:4} {name}")
        print(f"{counts.total():4} overloads have a kernel for the CPU, and no way to trace")
        return
    metas = drawn(options.operators or sorted({schema.name for schema, _ in listed()}), options.jobs)
    if options.json:
        options.json.write_text(json.dumps(list(map(drawn_to_json, metas)), indent=1) + "\n", encoding="utf-8")
    table(metas)


if __name__ == "__main__":
    main()
