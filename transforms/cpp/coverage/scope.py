"""The names of a kernel and what they hold, statement by statement, as the fake has them."""

from __future__ import annotations

import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from codemod.model.callgraph import shortest_ways
from transforms.cpp.coverage.body import Branch, Line, Statement
from transforms.cpp.coverage.types import fits
from transforms.cpp.coverage.values import OWN_NAMES, Value

Names = Mapping[str, Value | None]
State = tuple[str, Sequence[tuple[str, int]]]
_WORD = re.compile(r"[A-Za-z_]\w*")
_FILLED = re.compile(r"(?<=[._])(?:zeros|ones)(?=(?:_like)?\()")


class Scope:
    """What the names in scope hold, None where that is not known, and the statements of the fake so far."""

    def __init__(self, taken: Collection[str]) -> None:
        """`taken` are the parameters of the fake, which are never assigned to."""
        self.names: dict[str, Value | None] = {}
        self.unknown: dict[str, str] = {}
        """Why it is not known what names hold, where that was seen."""
        self.types: dict[str, str] = {}
        """What the names in scope are declared as."""
        self.statements: list[Statement] = []
        """Those of the block that is read."""
        self._taken = {*taken, *OWN_NAMES}
        self._declared: set[str] = set()
        self._writes = Counter[str]()
        self._made: dict[str, State] = {}
        """What the locals were made of."""
        self._alike: defaultdict[str, set[str]] = defaultdict(set)
        """The tensors that each was made of, or that were made of it, and may be the same one as."""

    def add(self, line: Line) -> None:
        """Add a line to the block that is read."""
        self._writes[line.name] += 1
        self.statements.append(line)

    def is_local(self, value: Value) -> bool:
        """Whether a value is held by a local of the fake."""
        return value.text.isidentifier() and value.text not in self._taken and not keyword.iskeyword(value.text)

    def declare(self, names: Iterable[str], declared: str) -> None:
        """Note names that end with the block that is read, and their type as it is written."""
        for name in names:
            self._declared.add(name)
            self.types[name] = declared
            self.unknown.pop(name, None)

    def fits(self, name: str, value: Value) -> bool:
        """Whether a name holds just what it is given, by its type; of what is declared elsewhere none is known."""
        return fits(self.types.get(name, ""), value)

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value, in a local of its own where that is more than another name or a number."""
        if value.kind == "options" or value.text.isidentifier() or value.text.isdigit():
            self.names[name] = value
            self.unknown.pop(name, None)
            return
        self.assign(name, value, value.text, value.names)

    def assign(self, name: str, value: Value, text: str, used: frozenset[str]) -> str:
        """Give a name what `text` says, in a local, whose name is returned; `value` says of what kind it is."""
        local = self._local(name, self.names)
        self._note_alike(local, value, text)
        self._made[local] = self._state(text, used)
        self.add(Line(local, text, used, value.atomic))
        self.names[name] = replace(value, text=local, names=frozenset({local}), atomic=True)
        self.unknown.pop(name, None)
        return local

    def _note_alike(self, local: str, value: Value, text: str) -> None:
        """Note what tensors a local may be the same one as. What is made anew is no argument."""
        kinds = ("tensor", "tensors")
        words = set(_WORD.findall(text)) if value.kind in kinds else ()
        for other in filter(None, self.names.values()):
            held = "tensors" in (value.kind, other.kind)
            if other.kind in kinds and other.text in words and (held or other.fresh is value.fresh):
                self._alike[local].add(other.text)
                self._alike[other.text].add(local)

    def _local(self, name: str, *held: Names) -> str:
        """A name for a local, on which no value of another name rests. `name` is one of C++."""
        assert name.isidentifier(), name
        items = (item for names in held for item in names.items())
        resting = {used for other, value in items if other != name and value is not None for used in value.names}
        while name in self._taken or name in resting or keyword.iskeyword(name):
            name = f"{name}_"
        return name

    def lose(self, name: str, reason: str, value: Value | None, *, own: bool = True) -> None:
        """Note that it is not known what a name holds: for what it is made of, where there is an `own` reason.

        That is the first part that was not read, by itself or as another name has it. Else its type may not fit.
        """
        known = reason in self.unknown.values()
        self.names[name] = None
        self.unknown.pop(name, None)
        if reason:
            self.unknown[name] = reason if known or not own else f"`{name}` is made of {reason}"
        elif value is not None and self.types.get(name) and not self.fits(name, value):
            self.unknown[name] = f"`{name}`, declared as `{self.types[name]}`"

    def forget(self, names: Iterable[str]) -> None:
        """Note that it is not known what names hold."""
        for name in names:
            self.names[name] = None

    def forget_tensor(self, text: str) -> None:
        """Forget all names of what may have been changed in place.

        What it was made of, and what was made of that, may be the same tensor, as `x.contiguous()` is.
        """
        same = shortest_ways([[text]], self._alike.__getitem__)
        self.forget([name for name, value in self.names.items() if value is not None and value.text in same])

    def block(self, read: Callable[[], bool]) -> bool:
        """Read a block, whose names end with it; whether no way leads past it."""
        outer, types, unknown, declared = dict(self.names), dict(self.types), dict(self.unknown), self._declared
        self._declared = set()
        ended = read()
        self.names.update({name: outer.get(name) for name in self._declared})
        self.types.update({name: types.get(name, "") for name in self._declared})
        for name in self._declared:
            self.unknown.pop(name, None)
        self.unknown.update({name: unknown[name] for name in self._declared & unknown.keys()})
        self._declared = declared
        return ended

    def branch(self, condition: Value, then: Callable[[], bool], otherwise: Callable[[], bool]) -> bool:
        """Read both arms of an `if`; whether no way leads past it. Each is read from the names before it."""
        branch = Branch(condition.text, condition.names)
        before, statements = dict(self.names), self.statements
        going: list[dict[str, Value | None]] = []
        for read, lines in ((then, branch.then), (otherwise, branch.otherwise)):
            self.statements = lines
            self._restore(before)
            if not self.block(read):
                going.append({name: self.names.get(name) for name in before})
        self.statements = statements
        self._restore(going[0] if going else before)
        if len(going) == 2:
            self._join(branch, before, *going)
        for name in [name for name in self.unknown if self.names.get(name) is not None]:
            del self.unknown[name]
        statements.append(branch)
        return not going

    def _restore(self, names: Names) -> None:
        self.names.clear()
        self.names.update(names)

    def _join(self, branch: Branch, before: Names, first: Names, second: Names) -> None:
        """The names behind a branch: in one local each where its arms leave it different values."""
        for name, value in first.items():
            other = second[name]
            if value is None or other is None or value.kind != other.kind:
                self.names[name] = None
                continue
            joined = replace(
                value,
                natural=value.natural and other.natural,
                least=min(value.least, other.least),
                settled=value.settled and other.settled,
                optional=value.optional or other.optional,
                fresh=value.fresh and other.fresh,
                unset=value.unset or other.unset,
            )
            if value.text == other.text and value.options == other.options:
                self.names[name] = joined
            elif value.kind == "options":
                self.names[name] = None
            else:
                local = self._local(name, before, first, second)
                for arm, held in ((branch.then, value), (branch.otherwise, other)):
                    if held.text != local:
                        self._writes[local] += 1
                        self._note_alike(local, held, held.text)
                        lines = self.statements if held == before[name] else arm
                        lines.append(Line(local, held.text, held.names, held.atomic))
                self.names[name] = replace(joined, text=local, names=frozenset({local}), atomic=True)

    def state(self, value: Value) -> State:
        """What is the same where a value is the same, of the same locals, at another place.

        A local that nothing else was given to is what it was made of, and a tensor is what it is filled with or not.
        """
        state = self._state(value.text, value.names)
        while self._writes[state[0]] == 1 and state[0] in self._made:
            state = self._made[state[0]]
        return _FILLED.sub("empty", state[0]), state[1]

    def _state(self, text: str, names: Iterable[str]) -> State:
        return text, sorted((name, self._writes[name]) for name in names)
