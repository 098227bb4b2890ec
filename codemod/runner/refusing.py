"""What a kernel refuses, as `torch._check` says it: conditions on ranks, shapes and dtypes that draws show.

A condition holds for every call that eager accepts, and for none that it refuses with a certain message. Of several the
weakest is taken, and it has to hold for draws that it was not chosen by.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import sym_eq

from . import observing, schema
from .shape_rules import MISFITS, Bound

DRAWS = 600
"""So many draws are called; every other one chooses the conditions, and the rest tries them."""
REFUSALS = 5
"""So many calls have to be refused with a message."""
MOST = 6
"""So many checks are written."""
RANKS = 2
"""A tensor that is accepted with more different numbers of dimensions has no check of that."""
_NUMBER = re.compile(r"\[[^\]]*\]|\([^)]*\)|\d+")
_FOREIGN = re.compile(
    r"INTERNAL ASSERT|not implemented for|expected scalar type|Dimension (?:out of|specified)|Could not run|schema|/"
)
"""Messages that are no word about shapes, or not the kernel's own."""
_ALIKE = re.compile(r"same|match|equal|consistent|differ|==|of one ")
_RANK = re.compile(r"dim|rank|matri|vector|scalar")
_DTYPE = re.compile(r"\b(?:double|float|half|bfloat16|bool|long|int|short|char|byte)\b", re.I)
_LOOSE = re.compile(r"(?:[^\w.)\]`']|\b(?:with|of|to|for|and|or|the|an?|is|be|in|by|than|but|got|found))+$")
"""What a message does not end with."""
IMPORT = "from torch.fx.experimental.symbolic_shapes import sym_eq"


@dataclass(frozen=True)
class Condition:
    """A condition on arguments, as Python says it."""

    text: str
    code: Any

    def holds(self, bound: Bound) -> bool | None:
        """Whether it is so; None where these arguments do not allow to ask."""
        try:
            return bool(eval(self.code, {"sym_eq": sym_eq, "torch": torch, **bound}))
        except MISFITS:
            return None


def checks(overload: Any, each: Any, tried: Sequence[tuple[Any, Any]]) -> list[str]:
    """The lines of the checks for an overload, with the import they need; from calls that were `tried`, and draws.

    Of each call there is what `observing.outcomes` says of it.
    """
    drawn = [schema.Draw(number, False).arguments(each) for number in range(DRAWS)]
    ends = [*tried, *zip(drawn, observing.outcomes(overload, each, drawn), strict=True)]
    passing, refused = _parted(each, ends[::2])
    others = _parted(each, ends[1::2])
    lines: dict[str, str] = {}
    for messages in _alike(refused):
        chosen = _weakest(each, passing, messages, [*passing, *(bound for bound, _ in refused)])
        if chosen is None or not _stands(chosen, *others):
            continue
        said = _said([message for _, message in messages])
        lines.setdefault(chosen.text, f"torch._check({chosen.text}, lambda: {_quoted(said)})" if said else "")
    written = [line for line in lines.values() if line][:MOST]
    return [IMPORT] * any("sym_eq(" in line for line in written) + written


Ends = tuple[list[Bound], list[tuple[Bound, str]]]
"""The arguments that eager accepts, and those that it refuses, with the message."""


def _parted(each: Any, ends: Sequence[tuple[Any, Any]]) -> Ends:
    passing: list[Bound] = []
    refused: list[tuple[Bound, str]] = []
    for call, outcome in ends:
        if outcome is not None:
            bound = observing.bound(each, call)
            if "refused" in outcome:
                refused.append((bound, outcome["refused"]))
            else:
                passing.append(bound)
    return passing, refused


def _alike(refused: Sequence[tuple[Bound, str]]) -> Iterator[list[tuple[Bound, str]]]:
    """The refusals that have one message but for the numbers in it, the most frequent first."""
    groups: Mapping[str, list[tuple[Bound, str]]] = defaultdict(list)
    for bound, message in refused:
        if not _FOREIGN.search(message):
            groups[_NUMBER.sub("#", message)].append((bound, message))
    yield from sorted((g for g in groups.values() if len(g) >= REFUSALS), key=len, reverse=True)


def _weakest(
    each: Any, passing: Sequence[Bound], refused: Sequence[tuple[Bound, str]], everything: Sequence[Bound]
) -> Condition | None:
    """The condition that most arguments meet, of those that all `passing` meet and none of the `refused`."""
    fitting = [
        condition
        for condition in _conditions(each, passing)
        if all(_is_said(condition, each, message) for message in {message for _, message in refused})
        and all(condition.holds(bound) is False for bound, _ in refused)
        and all(map(condition.holds, passing))
    ]
    return max(fitting, key=lambda c: sum(c.holds(bound) is True for bound in everything), default=None)


def _is_said(condition: Condition, each: Any, message: str) -> bool:
    """Whether a message may mean a condition: that is about all arguments and numbers of dimensions it names.

    What one says of two arguments, or of a dtype, is said in words too: a message about a case of a third argument, or
    about another property, is no reason to refuse more than the kernel does.
    """
    words = f"_{re.sub('[^a-z0-9]+', '_', message.lower())}_"
    names = [argument.name for argument in each.arguments]
    named = {name for name in names if f"_{name.lower()}_" in words}
    if "_input_" in words and "input" not in names:
        named.add(names[0])
    about = set(re.findall(r"\w+", condition.text)) & set(names)
    if not named <= about or ("." not in condition.text and not named):
        return False
    if "dtype" in condition.text and "type" not in message:
        return False
    if len(about) > 1 and not _ALIKE.search(message) and "<" not in condition.text:
        return False
    said = {int(rank) for rank in re.findall(r"\b(\d)-?[dD]\b", message)}
    ranks = re.fullmatch(r"\w+\.dim\(\) (==|in|>=) (.*)", condition.text)
    if ranks is None:
        return True
    meant = {int(rank) for rank in re.findall(r"\d", ranks[2])}
    return bool(said or _RANK.search(message)) and (
        not said or (min(said) in meant if ranks[1] == ">=" else said == meant)
    )


def _stands(condition: Condition, passing: Sequence[Bound], refused: Sequence[tuple[Bound, str]]) -> bool:
    """Whether other draws say the same: all that pass meet it, and of those that are refused enough do not."""
    against = sum(condition.holds(bound) is False for bound, _ in refused)
    return all(map(condition.holds, passing)) and against >= REFUSALS


def _conditions(each: Any, passing: Sequence[Bound]) -> Iterator[Condition]:
    """The conditions to try, the plainest first."""
    if not passing:
        return
    names = [a.name for a in each.arguments if all(isinstance(b.get(a.name), torch.Tensor) for b in passing)]
    texts: list[str] = []
    for name in names:
        ranks = sorted({bound[name].dim() for bound in passing})
        if len(ranks) <= RANKS:
            texts.append(f"{name}.dim() == {ranks[0]}" if len(ranks) == 1 else f"{name}.dim() in {tuple(ranks)}")
        texts.append(f"{name}.dim() >= {ranks[0]}")
        texts.append(f"{name}.numel() == 1")
    for position, name in enumerate(names):
        for second in names[position + 1 :]:
            texts.append(f"{name}.dim() == {second}.dim()")
            texts += (f"{name}.shape[{i}] == {second}.shape[{j}]" for i in (0, 1, -1) for j in (0, 1, -1))
            texts.append(f"{name}.numel() == {second}.numel()")
            texts.append(f"sym_eq({name}.shape, {second}.shape)")
            texts.append(f"{name}.dtype == {second}.dtype")
    numbers = [a.name for a in each.arguments if str(a.type) == "int" and a.name != "dim"]
    texts += (f"{name} {relation}" for name in numbers for relation in (">= 0", "> 0"))
    texts += (f"{a} {relation} {b}" for a in numbers for b in numbers if a != b for relation in ("<=", "<"))
    yield from (
        Condition(text, compile(text, text, "eval")) for text in texts if text[-3:] != "= 0" or "dim" not in text
    )


def _said(messages: Sequence[str]) -> str:
    """What all of the messages begin with, up to what these calls had; "" where that is too short."""
    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*messages, strict=False))
    common = "".join(letters[0] for letters in alike)
    if len(set(messages)) > 1:
        common = common.rpartition(" ")[0]
    common = " ".join(common.split())
    common = _DTYPE.split(re.split(r"[,;]? (?:but|got|found)\b", common)[0])[0]
    common = _LOOSE.sub("", common)
    return common if len(common.split()) > 3 else ""


def _quoted(text: str) -> str:
    return f'"{text}"' if not {'"', "\\"} & set(text) else repr(text)
