"""Which of the checks that a patch adds are needed: what happens without each, for the sizes that it refuses.

    python tests/corpus/audit_checks.py [--torch COPY] [--only PATTERN] [--check 'torch/_refs/*']

Every OpInfo entry is compiled over the patched torch with all sizes unbacked (fullgraph), and the checks that tracing
meets are taken down. Its samples in other sizes (of all tensors, and of one tensor alone) that violate a
check which the patch adds are then given to a graph traced without that check:

- needed: the unpatched eager takes the sizes and the graph gives another result or fails, or eager refuses them and
  the graph gives a result, or without the check nothing can be traced. Such a check is too broad where it also refuses
  sizes that the graph without it serves.
- needless: the graph without it gives eager's result for all sizes that eager takes.
- the author's own: what the check replaces raised the same exception and message for all drawn values that it refuses
  (corpus_own_checks.py), so that it refuses nothing anew.
- another error: it refuses only what eager refuses too, and without it the graph still fails.
- no verdict: torch's own assertions, or ranges of sizes that it concludes, refuse these sizes too.
- never refuses: traced, but no size that was tried violates it.
- not reached: no entry traces it, so nothing was seen of it.

Where another added check refuses the same sizes, both are taken out for the answer. Entries are traced in three ways:
as they are, with all of PyTorch's decompositions, and with their gradients. Exits 1 where a check is needless or too
broad.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audit_unbacked import DATA_DEPENDENT, Audit, called, eager, entries, refusal_of, sample_arguments
from corpus_own_checks import OWN, own_checks
from corpus_patch import Check, added_checks
from corpus_refusals import INDEFINITE, check_at
from corpus_sizes import agree, other_sizes, single_sizes, unbacked
from corpus_torch import add_torch_option, both_torches
from corpus_workers import Workers, add_worker_options

VERDICTS = ("needed", "needless", OWN, "another error", "no verdict", "never refuses", "not reached")
HOW = ("forward", "decomposed", "gradients")
"""The operator's own graph, the graph after all of PyTorch's decompositions, and with the graph of its gradients."""
VALID, INVALID = 6, 4
"""So many sizes that eager takes, and that it refuses, are tried for a check and a sample."""
TOGETHER = 5
"""At most so many checks that refuse the same sizes are taken out together."""


_ASSERTION = re.compile(r"Runtime assertion failed|Guard failed on the same frame")
"""What tracing left in a graph to refuse sizes with; anything else is what the path taken does with them."""


def variants(arguments: Any) -> dict[str, Any]:
    """A sample in all other sizes, by what was changed."""
    return {**dict(other_sizes(arguments)), **dict(single_sizes(arguments))}


def differentiated(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns what `function` does, and the gradients of its sum."""
    import torch
    from torch.utils import _pytree as pytree

    def gradients(args: Any, kwargs: Any) -> Any:
        results = function(args, kwargs)
        ends, starts = ([leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor) and
                         leaf.requires_grad] for tree in (results, (args, kwargs)))  # fmt: skip
        if not ends or not starts:
            return results
        ones = [torch.ones_like(leaf) for leaf in ends]
        return results, torch.autograd.grad(ends, starts, ones, allow_unused=True)

    gradients.__name__ = getattr(function, "__name__", "compiled")
    return gradients


def expected_function(op: Any, how: str) -> Callable[..., Any]:
    """What eager is asked for an entry."""
    return differentiated(called(op)) if how == "gradients" else called(op)


def decomposing() -> Any:
    """A backend that runs the graph after all of PyTorch's decompositions."""
    from torch._decomp import decomposition_table
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.backends.debugging import boxed_nop

    return aot_autograd(fw_compiler=boxed_nop, bw_compiler=boxed_nop, decompositions=decomposition_table)


def _setup_plain(samples: int) -> tuple[Any, Callable[[Any], Any]]:
    ops = entries()

    def work(item: tuple[str, str]) -> list[dict[str, str]]:
        name, how = item
        function = expected_function(ops[name], how)
        answers: list[dict[str, str]] = []
        for arguments in sample_arguments(ops[name], samples, how == "gradients"):
            try:
                refusal = refusal_of(function, arguments)
            except Exception:  # a sample that eager refuses says nothing; its place is kept
                answers.append({})
                continue
            answers.append({label: refusal(variant) for label, variant in variants(arguments).items()})
        return answers

    return list(ops), work


def _setup(plain: Path, package: Path, checks: Sequence[Check], samples: int) -> tuple[Any, Callable[[Any], Any]]:
    ops = entries()
    trial = Trial(package, checks, Audit(samples, False))
    return (list(ops), own_checks(plain, package, checks)), lambda item: trial.entry(ops[item[0]], item[1], item[2])


class Trial:
    """The trial of the checks that one entry meets."""

    def __init__(self, package: Path, checks: Sequence[Check], audit: Audit) -> None:
        self.package, self.checks, self.audit = package, checks, audit
        self.backends = {"forward": "aot_eager", "decomposed": decomposing(), "gradients": "aot_eager"}

    def entry(self, op: Any, how: str, plain: Sequence[dict[str, str]] | None) -> dict[str, Any]:
        """The checks that the samples of an entry meet, traced in one of the ways of `HOW`, and the evidence for each.

        `plain` says for each sample and its sizes why the unpatched eager refuses them, "" where it takes them; where
        it is None, no evidence is looked for. Evidence is `(place, kind, text)`.
        """
        met: set[str] = set()
        evidence: list[tuple[str, str, str]] = []
        if how == "gradients" and not op.supports_autograd:
            return {"met": [], "evidence": []}
        self.audit.backend = self.backends[how]
        self.audit.derived = differentiated if how == "gradients" else lambda call: call
        self.compiled, self.function = called(op), expected_function(op, how)
        for index, arguments in enumerate(sample_arguments(op, self.audit.samples, how == "gradients")):
            try:
                self.arguments, self.expected = arguments, eager(self.function, arguments)
            except Exception:  # a sample that eager or deepcopy refuses says nothing
                continue
            if self.audit.compiled(self.compiled, arguments, self.expected)["outcome"] != "pass":
                continue
            trace = self.audit.recorder.last
            met |= {check.place for check in map(self.added, trace.places()) if check}
            if plain is None or index >= len(plain):
                continue
            self.variants, self.eager = variants(arguments), plain[index]
            refused: dict[Check, list[str]] = defaultdict(list)
            for label, variant in self.variants.items():
                violated = {check for _, place in trace.violated(variant) if (check := self.added(place))}
                for check in violated if violated and self.refuses(variant) else ():
                    refused[check].append(label)
            for check, labels in refused.items():
                evidence += [
                    (check.place, kind, f"{op.name} ({how}), sample {index}, {text}")
                    for kind, text in self.without([check], self.chosen(labels))
                ]
        return {"met": sorted(met), "evidence": evidence}

    def refuses(self, variant: Any) -> bool:
        """Whether the graph just compiled fails for these arguments, or has to be compiled anew."""
        import torch._dynamo

        try:
            with torch._dynamo.config.patch(error_on_recompile=True):
                self.audit.call(*unbacked(variant)[0])
        except Exception:
            return True
        return False

    def added(self, place: str) -> Check | None:
        """The check of the patch on a line."""
        return None if place == "unknown" else check_at(place, self.checks)

    def chosen(self, labels: Sequence[str]) -> list[str]:
        """Some of these sizes, of those that eager takes and of those that it refuses."""
        taken = [label for label in labels if self.eager.get(label) == ""]
        refused = [label for label in labels if self.eager.get(label) not in (None, "", INDEFINITE)]
        return taken[:VALID] + refused[:INVALID]

    def without(self, checks: list[Check], labels: Sequence[str]) -> list[tuple[str, str]]:
        """How the graph traced without these checks ends for these sizes: `(kind, text)` each."""
        from corpus_removal import removed

        others: dict[Check, list[str]] = defaultdict(list)
        results: list[tuple[str, str]] = []
        with removed(self.package, checks) as changed:
            if not changed:
                return [("no verdict", "no function of this process holds the check")]
            end = self.audit.compiled(self.compiled, self.arguments, self.expected)
            if end["outcome"] != "pass":
                return [("needed", f"without it: {end['outcome']} {end.get('message', '').splitlines()[:1]}")]
            trace = self.audit.recorder.last
            for label in labels:
                violated = [(self.added(place), place) for _, place in trace.violated(self.variants[label])]
                other = next((check for check, _ in violated if check is not None and check not in checks), None)
                if other is not None and len(checks) < TOGETHER:
                    others[other].append(label)
                elif other is not None:
                    results.append(("no verdict", f"{label}: {other.place} refuses too"))
                else:
                    own = ", ".join(place for check, place in violated if check is None)
                    results.append(self.judged(label, own))
        for other, refused in others.items():
            results += [(kind, f"{text} (also without {other.place})")
                        for kind, text in self.without([*checks, other], refused)]  # fmt: skip
        return results

    def judged(self, label: str, own: str) -> tuple[str, str]:
        """How the call of the graph ends; `own` are the lines of torch's own assertions that the sizes violate."""
        import torch

        variant, refused = self.variants[label], self.eager[label]
        try:
            torch.manual_seed(0)
            actual = self.audit.call(*unbacked(variant)[0])
        except Exception as error:
            message = f"{type(error).__name__}: {error}".splitlines()[0][:150]
            if refused:
                return "another error", f"{label}: {message}"
            asserted = own or _ASSERTION.search(str(error)) or DATA_DEPENDENT.search(str(error))
            return "no verdict" if asserted else "needed", f"{label}: {message} {own}".strip()
        if refused:
            return "needed", f"{label}: a result, where eager says {refused}"
        if agree(self.function, variant, actual, eager(self.function, variant)):
            return "needless", f"{label}: eager's result"
        return "needed", f"{label}: not eager's result"


def verdict(place: str, met: set[str], evidence: Sequence[tuple[str, str]]) -> str:
    """The verdict on a check from all evidence `(kind, text)` for it."""
    kinds = {kind for kind, _ in evidence}
    if kinds:
        return next(name for name in VERDICTS if name in kinds)
    return "never refuses" if place in met else "not reached"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_torch_option(parser)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of entries")
    parser.add_argument("--check", nargs="+", default=["*"], metavar="PATTERN", help="globs of checks, as file:line")
    parser.add_argument("--samples", type=int, default=2, help="of each entry, %(default)s")
    parser.add_argument("--how", nargs="+", choices=HOW, default=HOW, help="what is traced of each entry, all three")
    add_worker_options(parser, jobs=1, timeout=600)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all evidence as JSON")
    arguments = parser.parse_args(argv)
    with both_torches(arguments.torch) as (plain, patched):
        every = added_checks(plain, patched)
        checks = [c for c in every if any(fnmatch.fnmatch(c.place, p) for p in arguments.check)]
        met, evidence = _evidence(plain, patched, every, arguments)
    by_check: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for place, kind, text in evidence:
        by_check[place].append((kind, text))
    if arguments.out:
        arguments.out.write_text(json.dumps({"met": sorted(met), "evidence": by_check}, indent=1, sort_keys=True))
    verdicts = {check.place: verdict(check.place, met, by_check[check.place]) for check in checks}
    broad = [p for p, name in verdicts.items() if name == "needed" and any(k == "needless" for k, _ in by_check[p])]
    totals = Counter(verdicts.values())
    print(f"{len(checks)} checks: " + ", ".join(f"{name} {totals[name]}" for name in VERDICTS)
          + f"; of the needed {len(broad)} too broad")  # fmt: skip
    for name in VERDICTS:
        print(f"\n{name}: {totals[name]}")
        for check in (c for c in checks if verdicts[c.place] == name):
            label = f"{check.place}{' (too broad)' if check.place in broad else ''}"
            print(f"  {label}: {' '.join(check.source.split())[:120]}")
            shown = ["needed", "needless"] if check.place in broad else [name]
            for kind, text in by_check[check.place]:
                if kind in shown:
                    print(f"      {kind}: {text[:200]}")
    return 1 if totals["needless"] or broad else 0


def _evidence(
    plain: Path, patched: Path, checks: Sequence[Check], arguments: argparse.Namespace
) -> tuple[set[str], list[tuple[str, str, str]]]:
    """The places of checks that the chosen entries meet, and the evidence for each check."""
    settings = (arguments.jobs, arguments.timeout)
    met: set[str] = set()
    meeting: list[tuple[str, str]] = []
    evidence: list[tuple[str, str, str]] = []
    with Workers(patched, _setup, (plain, patched, checks, arguments.samples), *settings) as tracing:
        names, own = tracing.announced
        evidence += [(place, OWN, text) for place, text in own]
        chosen = [n for n in names if any(fnmatch.fnmatch(n, p) for p in arguments.only)]
        for number, (item, result) in enumerate(
            tracing.results([(n, how, None) for how in arguments.how for n in chosen])
        ):
            met |= set(result.get("met", ()))
            meeting += [item[:2]] if result.get("met") else []
            if number % 50 == 49:
                print(f"{number + 1} traced, {len(meeting)} meet {len(met)} checks", file=sys.stderr)
        with Workers(plain, _setup_plain, (arguments.samples,), *settings) as workers:
            answers = [(*item, answer) for item, answer in workers.results(meeting) if isinstance(answer, list)]
        for (name, how, _), result in tracing.results(answers):
            said = result.get("outcome") or dict(Counter(kind for _, kind, _ in result["evidence"]))
            print(f"{name} ({how}): {said}", file=sys.stderr)
            evidence += [(place, kind, text) for place, kind, text in result.get("evidence", ())]
    return met, evidence


if __name__ == "__main__":
    sys.exit(main())
