"""The statements of a fake: which of them its result rests on, and as they are written."""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codemod.model.callgraph import shortest_ways

_REFUSED = re.compile(r"(torch\._check\w*\(False), lambda.*", re.S)
FACTORIES = {"empty": 0, "zeros": 0, "ones": 0, "full": 1}
"""Factories that take sizes first, and how many arguments come between these and the options."""
_LONGEST = 100
"""Characters of a statement that fit in a line, where it stands in a branch of a fake that stands in one."""


@dataclass
class Line:
    """One line of a fake: `name = text`, or what is done for its own sake where `name` is empty."""

    name: str
    text: str
    names: frozenset[str]
    atomic: bool = True
    changes: bool = False
    """Whether `text` changes the tensor `name` in place, and is all that is written."""

    @property
    def written(self) -> str:
        """The statement."""
        return self.text if self.changes or not self.name else f"{self.name} = {self.text}"

    @property
    def returns(self) -> bool:
        """Whether the fake ends here, with its result."""
        return self.text.startswith("return ")


@dataclass
class Branch:
    """`if condition: …`, and what is done where it does not hold."""

    condition: str
    names: frozenset[str]
    then: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)


Statement = Line | Branch
Result = tuple[object, ...]
"""What a fake returns, statement by statement: equal where two fakes return the same."""


@dataclass
class Body:
    """The statements of a fake, its result last."""

    statements: list[Statement] = field(default_factory=list)
    left: int = 0
    """How many checks of the kernel are not among them."""

    @property
    def returns(self) -> bool:
        """Whether there is a way that ends with a result."""
        return any(line.returns for line in _lines(_flat(self.statements)))

    @property
    def result(self) -> Result:
        """What is returned, and the locals that it rests on: without the checks."""
        return _shown(_needed(self.statements, lambda line: line.returns))

    @property
    def checks(self) -> list[tuple[Line, Result]]:
        """Each check, with where it stands, and what it rests on: equal where two fakes check the same there.

        What ends a way whatever is asked stays equal where its message differs: nothing may be made on that way.
        """
        found, returned = list[tuple[Line, Result]](), 0
        for line in _lines(_flat(self.statements)):
            returned += line.returns
            if not line.name and not line.returns:
                resting = _needed(self.statements, functools.partial(operator.is_, line))
                found.append((line, (returned, *_shown(Body(resting).needed().statements))))
        return found

    def written(self) -> list[str]:
        """The lines, indented by a level for each branch that they stand in."""
        return list(_written(self.statements))

    def needed(self) -> Body:
        """The body without the locals that nothing rests on, those used once put where they are used."""
        kept = _needed(self.statements, lambda line: not line.name)
        result: list[Statement] = []
        for index, statement in enumerate(kept):
            if not isinstance(statement, Line) or not _put(statement, kept, index):
                result.append(statement)
        return Body(result, self.left)

    def sizes(self) -> set[str]:
        """The sizes that the kernel makes tensors of whatever it is given, and so are not negative where it ends."""
        if any(isinstance(s, Branch) and any(line.returns for line in _lines(_flat([s]))) for s in self.statements):
            return set()
        lines = list(_lines(self.statements))
        written = Counter(line.name for line in _lines(_flat(self.statements)))
        held = {line.name: line.text for line in lines if written[line.name] == 1}
        found = {size for line in lines if not line.changes for size in _sizes(line.text.removeprefix("return "))}
        return found | {held[size] for size in found if size in held}

    @property
    def names(self) -> frozenset[str]:
        """All names that the statements rest on."""
        return frozenset().union(*(statement.names for statement in _flat(self.statements)))


def shared(bodies: Sequence[Body]) -> Body:
    """The fake of several kernels that return the same, with the checks that all of them make.

    Those of one alone, as of its device or dtypes, would refuse what the others take.
    """
    first, *others = bodies
    made = [{what for _, what in body.checks} for body in others]
    own = [line for line, what in first.checks if not all(what in checks for checks in made)]
    kept = len(first.checks) - len(own)
    left = sum(body.left + len(body.checks) - kept for body in bodies)
    return Body(_without(first.statements, own), left)


def _without(statements: Iterable[Statement], dropped: Sequence[Line]) -> list[Statement]:
    return [
        replace(s, then=_without(s.then, dropped), otherwise=_without(s.otherwise, dropped))
        if isinstance(s, Branch)
        else s
        for s in statements
        if not any(s is line for line in dropped)
    ]


def _needed(statements: Sequence[Statement], asked: Callable[[Line], bool]) -> list[Statement]:
    """The results and checks that are asked for, and the statements that these rest on.

    What changes a tensor in place changes each local that is the same one, as `x.contiguous()` may be.
    """
    lines = list(_lines(_flat(statements)))
    made: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        made[line.name] |= line.names
    changed = {line.name: shortest_ways([[line.name]], made.__getitem__).keys() for line in lines if line.changes}
    shared: set[str] = set()
    while True:
        kept = _live(statements, set(), shared, asked)
        resting = set().union(*(statement.names for statement in _flat(kept)))
        found = {name for name, made_of in changed.items() if not made_of.isdisjoint(resting)}
        if found <= shared:
            return kept
        shared |= found


def _live(
    statements: Sequence[Statement], wanted: set[str], shared: set[str], asked: Callable[[Line], bool]
) -> list[Statement]:
    """The statements that `wanted` names, what changes the `shared` tensors, and what is asked for rest on.

    `wanted` has what they rest on afterwards.
    """
    kept: list[Statement] = []
    for statement in reversed(statements):
        if isinstance(statement, Branch):
            otherwise = set(wanted)
            then = _live(statement.then, wanted, shared, asked)
            other = _live(statement.otherwise, otherwise, shared, asked)
            wanted |= otherwise
            if then or other:
                wanted |= statement.names
                kept.append(Branch(statement.condition, statement.names, then, other))
        elif (
            statement.name in wanted
            or (statement.changes and statement.name in shared)
            or (not statement.name and asked(statement))
        ):
            wanted |= statement.names
            kept.append(replace(statement))
    kept.reverse()
    return kept


def _flat(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those inside them, in order."""
    for statement in statements:
        yield statement
        if isinstance(statement, Branch):
            yield from _flat((*statement.then, *statement.otherwise))


def _shown(statements: Iterable[Statement]) -> Result:
    return tuple(
        (s.condition, _shown(s.then), _shown(s.otherwise)) if isinstance(s, Branch) else _REFUSED.sub(r"\1", s.written)
        for s in statements
    )


def _sizes(text: str) -> Iterator[str]:
    """The sizes that an expression makes tensors of."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Tuple(elts=sizes), *_]):
                yield from map(ast.unparse, sizes if name.removeprefix("new_") in FACTORIES else ())


def _put(line: Line, kept: Sequence[Statement], index: int) -> bool:
    """Whether the value of a local was put into the one place that uses it, where that is the same there."""
    later = list(_flat(kept[index + 1 :]))
    use = re.compile(rf"\b{re.escape(line.name)}\b") if line.name else None
    if (
        use is None
        or line.changes
        or any(other.name == line.name for other in _lines(_flat(kept)) if other is not line)
    ):
        return False
    if any(other.name in line.names for other in _lines([line, *later])):
        return False
    users = [s for s in later for _ in use.findall(s.condition if isinstance(s, Branch) else s.text)]
    if len(users) != 1:
        return False
    (user,) = users
    before = user.condition if isinstance(user, Branch) else user.text
    text = line.text if line.atomic or before == line.name else f"({line.text})"
    after = text.join(use.split(before))
    if len(after) > max(_LONGEST, len(line.written)):
        return False  # a name is read more easily than what stands beyond the end of a line
    if isinstance(user, Branch):
        user.condition = after
    else:
        user.text = after
    if line.name in user.names:
        user.names = (user.names - {line.name}) | line.names
    return True


def _lines(statements: Iterable[Statement]) -> Iterator[Line]:
    return (statement for statement in statements if isinstance(statement, Line))


def _written(statements: Sequence[Statement], indent: str = "") -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, Line):
            yield f"{indent}{statement.written}"
            continue
        then, otherwise, condition = statement.then, statement.otherwise, statement.condition
        if not then:
            then, otherwise, condition = otherwise, [], f"not ({condition})"
        yield f"{indent}if {condition}:"
        yield from _written(then, f"{indent}    ")
        if otherwise:
            first, *others = _written(otherwise, f"{indent}    ")
            if len(otherwise) == 1 and isinstance(otherwise[0], Branch) and otherwise[0].then:
                yield f"{indent}el{first.lstrip()}"
                yield from (line[4:] for line in others)
            else:
                yield f"{indent}else:"
                yield from (first, *others)
