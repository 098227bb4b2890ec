"""The state of one function while it is solved: scopes, variables, sites, sinks, and the edits that rules want."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from transforms.cpp.flow.answers import Rewrites, emit
from transforms.cpp.flow.assumptions import Asked, Assumptions
from transforms.cpp.flow.events import Condition, Event, ShortcutNumber, StoredType
from transforms.cpp.flow.marked import ACROSS, INSIDE, REFUSAL, Marked
from transforms.cpp.flow.state import Emission, Handle, Lambda, Quotient, Sink, Site, Variable
from transforms.cpp.reach.vocabulary import Vocabulary
from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type, parse_type, symbolic_spelling
from transforms.recursion import TooDeep

LEVELS = 500
"""How deep statements and expressions may be nested; PyTorch's own are 37, and compilers are asked for 256 blocks
(C++ standard, Annex B). A chain, as of operators, of `else if` or of method calls, is one level."""
_ACCESS = re.compile(rb"(\w+)\s*(?:\.|->)\s*(numel|sizes?|strides?|storage_offset|nbytes)\s*\(")
NOTHING: frozenset[int] = frozenset()


RENAMED = -800_000
"""The origin of edits that follow a kernel's new name."""
OWN_RESULT = -900_000
"""The origin of the function's own result, once that is settled to be symbolic."""
_OF_VMAP = "VmapSymDimVector"
"""PyTorch 1.13 has none (aten/src/ATen/functorch/LegacyVmapTransforms.h)."""


def own_result_origin(index: int) -> int:
    """The origin of the function's own result, or of one part of it, once that is settled to be symbolic."""
    return OWN_RESULT if index == -1 else OWN_RESULT + index


def part_origin(start: int, index: int) -> int:
    """The origin of a part of the tuple that a helper returns, called at byte `start`; `index` is that of its slot."""
    return -2_000_000_000 - 64 * start + index


def parameter_origin(index: int) -> int:
    """The origin of a parameter that callers want to be symbolic; sites have their (positive) offset."""
    return -1 - index


def result_origin(start: int) -> int:
    """The origin of a helper's symbolic result, called at byte `start`."""
    return -1_000_000 - start


class Flow:
    """One function. `solve` leaves `emissions`, `sinks` and `sites` behind."""

    def __init__(
        self,
        function: Function,
        root: Node,
        vocabulary: Vocabulary,
        rewrites: Rewrites,
        assumptions: Assumptions,
        *,
        passive: bool = False,
        marks: Marked | None = None,
    ) -> None:
        self.function = function
        self.root = root
        self.vocabulary = vocabulary
        self.rewrites = rewrites
        self.asked = Asked(assumptions)
        """What the search between functions holds by now."""
        self.marks = marks
        """Those of a template."""
        self.passive = passive
        """No symbolic tensor arrives here: accessors stay as they are."""
        self.concrete: set[int] = set()
        """Origins that were found to reach a sink."""
        self.guarded: set[int] = set()
        """Accessors that count loops, asked for their value by a guard."""
        self.tensors: set[int] = set()
        """Declarators of parameters of a template's type that operators take for a Tensor."""
        self.refusals: list[Sink] = []
        self.variables: dict[int, Variable] = {}
        self.lambdas: dict[str, Lambda] = {}
        self.handles: dict[str, Handle] = {}
        self.assigned: frozenset[str] | None = None
        """What is assigned to, or stepped, as it is written; None where nobody has looked yet."""
        self.looked_ahead = False
        """Whether another pass was asked for, which knows what is declared behind the place that it has come to."""
        self.level = 0
        """How many expressions and statements around the present one are being read."""
        self.steps = 0
        """How many more may be read."""
        self.begin()

    def begin(self) -> None:
        """Forget what the last pass saw, before another."""
        self.scopes: list[dict[str, Variable]] = [{}]
        self.emissions: dict[tuple[int, int, str], Emission] = {}
        self.sinks: list[Sink] = []
        self.sites: dict[int, Site] = {}
        self.unknown_receivers: dict[int, Site] = {}
        self.kernels: dict[int, str] = {}
        """Calls that no symbolic tensor comes back from, in words, by the offset of the call."""
        self.dead_ends: dict[int, str] = {}
        """Calls that every symbolic tensor is stopped in, further on, in words, by the offset of the call."""
        self.idle: list[tuple[int, int]] = []
        """The spans of code that no symbolic tensor arrives in."""
        self.served: set[int] = set()
        """Origins of values that a settled parameter of a helper is given."""
        self.converted: set[int] = set()
        """Accessors that are rewritten."""
        self.unreadable_sites: dict[int, Site] = {}
        """Accessors in code that the parser could not read."""
        self.iterators: dict[int, tuple[int, int]] = {}
        """The spans of calls that build a TensorIterator."""
        self.uses: set[Slot] = set()
        """Settled slots that this function gives a symbolic value to, or takes one from."""
        self.gives: set[int] = set()
        """The indexes of settled results, the parts of a tuple, that are symbolic on some way out."""
        self.wanted: set[Slot] = set()
        """Parameters of the function itself that it hands to settled slots, and that are integers still."""
        self.filled: set[Slot] = set()
        """Settled members that this function gives a symbolic value to."""
        self.conflicts: set[Slot] = set()
        """Settled slots that this function cannot serve: it has a concrete sequence, or needs an integer."""
        self.dropped: set[tuple[Slot, int]] = set()
        """Settled results that this function cannot take, with the origin that each has here."""
        self.truths: dict[int, tuple[str, str]] = {}
        """The sizes that stand as conditions of shortcuts, by offset, with the guards for them (`SizeShortcut`)."""
        self.guarded_truths = False
        self.questions: list[Event] = []
        """The checks and branches on sizes that can do without an answer, each a change of its own."""
        self.quotients: dict[int, Quotient] = {}
        """The quotients of integers that are symbolic, by the offset of their end."""
        self.active_lambdas: list[Lambda] = []
        self.changed = False

    def enter(self) -> None:
        """Go one level down; who reads a node comes up again. Raises TooDeep."""
        self.level += 1
        self.steps -= 1
        if self.level > LEVELS:
            raise TooDeep("nested too deep to analyse")
        if self.steps < 0:
            raise TooDeep("too entangled to analyse")

    # ------------------------------------------------------------------- scopes
    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block: names declared inside are gone after it."""
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    def lookup(self, name: str) -> Variable | None:
        """The innermost variable of that name."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def declare(
        self, name: str, kind: Type, declarator: Node, declaration: Node | None = None, *, deduced: bool = False
    ) -> Variable:
        """The variable declared at `declarator`: the same object in every pass."""
        variable = self.variables.get(declarator.start)
        if variable is None:
            variable = Variable(name, kind, declarator, declaration, deduced=deduced)
            self.variables[declarator.start] = variable
        elif deduced:
            variable.type = kind
        earlier = self.scopes[-1].get(name) if name else None  # parameters without a name are not the same one
        if earlier is not None and earlier is not variable:  # of `#if` and `#else`, or of a template's branches
            self.make_symbolic(variable, earlier.value.origins or NOTHING, declarator)
            self.make_symbolic(earlier, variable.value.origins or NOTHING, declarator)
        self.scopes[-1][name] = variable
        return variable

    def type_of(self, spelled: str) -> Type:
        """The type a spelling means, `using` aliases of the tree included."""
        kind = parse_type(spelled)
        if kind.kind == "other" and kind.name in self.vocabulary.aliases:
            return parse_type(self.vocabulary.aliases[kind.name])
        return kind

    def is_template_parameter(self, kind: Type) -> bool:
        """Whether a type, of the kind "other", may be a parameter of the function's template."""
        named = self.function.template and kind.name.isidentifier()
        return named and kind.name not in self.vocabulary.classes

    # --------------------------------------------------------------- bookkeeping
    def live(self, origins: Iterable[int]) -> frozenset[int]:
        """`origins` without those that were turned concrete."""
        return frozenset(origins) - self.concrete

    def slot(self, index: int) -> Slot:
        """A slot of the function itself."""
        return Slot(self.function.path, self.function.start, index)

    def settled_value(self, slot: Slot, kind: Type, origin: int) -> Type:
        """`kind`, symbolic because of `origin`, where a settled slot can be taken so; else that is noted."""
        if origin in self.concrete:
            self.dropped.add((slot, origin))
            return kind
        self.uses.add(slot)
        return kind.with_origins({origin})

    def sink(self, node: Node, code: str, reason: str, *types: Type, slot: Slot | None = None) -> None:
        """Note that symbolic values of `types` end at `node`, where only a concrete one will do."""
        origins = frozenset().union(*(kind.origins for kind in types if kind.origins))
        if origins:
            self.sinks.append(Sink(code, reason, node.start, node.end, origins, slot))

    def divide(self, node: Node, token: str, operands: tuple[Node, ...], *types: Type) -> None:
        """Note that integers of `types`, of which one may be symbolic, are divided at `node`."""
        origins = frozenset().union(*(kind.origins for kind in types if kind.origins))
        if origins and all(kind.kind in ("int", "bool") for kind in types):
            self.quotients[node.end] = Quotient(node, token, operands, origins)

    def announce(self, event: Event) -> None:
        """Have the rules that answer `event` write what the source is to read there."""
        emissions = list(emit(self.rewrites, event))
        if self.marks is not None and emissions and self._is_across(self.marks, event, emissions):
            first, last = emissions[0], emissions[-1]
            self.sinks.append(Sink(REFUSAL, ACROSS, first.start, last.end, event.origins or NOTHING))
            return
        for emission in emissions:
            self.converted |= emission.origins
            key = (emission.start, emission.end, emission.new)
            earlier = self.emissions.get(key)
            self.emissions[key] = (
                replace(emission, origins=emission.origins | earlier.origins) if earlier is not None else emission
            )

    def _is_across(self, marks: Marked, event: Event, emissions: Sequence[Emission]) -> bool:
        """Whether a mark of the template stands where an event would be answered."""
        return marks.splits(emissions) or (isinstance(event, Condition | ShortcutNumber) and marks.directs(event.node))

    def hold_inside(self, node: Node, value: Type) -> None:
        """A value of an expression of a template stays as it is where that has other forms."""
        if value.origins and self.marks is not None and self.marks.interrupts(node):
            self.sink(node, REFUSAL, INSIDE, value)

    def _hold_for_unread(self, marks: Marked) -> None:
        """What code of the template may use that is not read stays as it is."""
        for variable in self.variables.values():
            kind = variable.value
            if kind.kind == "lambda":
                kind = self.lambdas[kind.name].result
            reason = marks.user(variable.name) if kind.origins else ""
            if reason:
                self.sink(variable.declarator, REFUSAL, reason, kind)
            elif variable.deduced and marks.is_guessed(variable.declaration):
                self.sink(variable.declarator, REFUSAL, INSIDE, variable.value)

    def answers(self, event: Event) -> Iterator[Emission]:
        """What the rules that answer `event` write, whether or not an accessor has to change for it."""
        for rule, rewrite in self.rewrites.get(type(event), ()):
            for part in rewrite(event):
                yield Emission(rule, part.start, part.end, part.new, event.origins or NOTHING, part.message)

    def make_symbolic(self, variable: Variable, origins: frozenset[int], node: Node) -> None:
        """A symbolic value is stored in `variable`: change its declared type, or refuse where that cannot be."""
        if not origins or (variable.type.symbolic and not variable.type.origins):
            return
        if variable.parameter >= 0:
            kind = variable.type.with_origins(origins)
            slot = self.slot(variable.parameter)
            if not self.asked.is_settled(slot):
                reason = f"is stored in the parameter `{variable.name}`"
                self.sink(
                    node,
                    "parameter",
                    reason,
                    kind,
                    slot=slot if variable.type.kind in ("int", "ints", "wrap") else None,
                )
            return
        if variable.type.kind == "wrap" and variable.type.name == "*" and self._is_taken_apart(variable.name):
            reason = f"is stored in `{variable.name}`, an array of C or a pointer"
            self.sink(node, "stored", reason, variable.type.with_origins(origins))
            return
        if not (origins <= (variable.origins or NOTHING)):
            variable.origins = (variable.origins or NOTHING) | origins
            self.changed = True

    def _is_taken_apart(self, name: str) -> bool:
        """Whether an array of C is anything but declared and passed as a whole: its elements are not followed."""
        uses = (part for part in self.root.walk() if part.kind == "identifier" and part.text == name)
        parents = {use.parent.kind if use.parent is not None else "" for use in uses}
        return not parents <= {"array_declarator", "argument_list"}

    def unreadable(self, node: Node) -> None:
        """What the parser could not read is left alone, and so is every value named in it."""
        for word in set(re.findall(r"\w+", node.text)):
            variable = self.lookup(word)
            if variable is not None and variable.value.kind in ("int", "ints", "wrap", "float"):
                self.sink(node, "parse-error", f"`{word}` stands in code that cannot be parsed", variable.value)
        for match in _ACCESS.finditer(node.source, node.start, node.end):
            api, receiver = match[2].decode(), match[1].decode()
            self.unreadable_sites[match.start(2)] = Site(match.start(2), match.start(), match.end(), api, receiver)

    def retype_all(self) -> None:
        """Change the declared type of every variable that holds symbolic values, or let those sink there."""
        if self.marks is not None:
            self._hold_for_unread(self.marks)
        for variable in self.variables.values():
            if variable.parameter >= 0 or not variable.origins:
                continue
            kinds = (
                ("int", "ints", "float", "wrap", "unknown") if variable.deduced else ("int", "ints", "float", "wrap")
            )
            if variable.type.kind in kinds and self._retype(variable):
                continue
            self.sink(variable.declarator, *self._storage(variable), variable.type.with_origins(variable.origins))

    def _storage(self, variable: Variable) -> tuple[str, str]:
        if outlives(variable.declaration):
            return "stored", f"is stored in `{variable.name}`, which outlives the call"
        if variable.type.kind == "int" and symbolic_spelling(variable.type.name or "int64_t") is None:
            return "size_t", f"is stored in `{variable.name}`, a `{variable.type.name}`"
        return "stored", f"is stored in `{variable.name}`, which has no symbolic type"

    def _retype(self, variable: Variable) -> bool:
        declaration = variable.declaration
        if outlives(declaration):
            return False
        if variable.deduced:
            return declaration is not None or variable.type.symbolic
        spelled = declaration.field("type") if declaration is not None else None
        if spelled is None or declaration is None:
            return False
        if any(c.kind == "type_qualifier" and c.text == "constexpr" for c in declaration.children):
            return False
        new = self.symbolic_spelling(spelled.text)
        if new is None:
            return False
        self.retype(spelled, new, variable.origins)
        return True

    def symbolic_spelling(self, spelled: str) -> str | None:
        """`spelled` with integers made SymInt; None where that has no name in the version at hand."""
        new = symbolic_spelling(spelled)
        lacks = new is not None and _OF_VMAP in new and not self.available(_OF_VMAP)
        return None if lacks else new

    def retype(self, spelled: Node, new: str, origins: frozenset[int] | None) -> None:
        """Edit a type as written."""
        self.announce(StoredType(origins, spelled, new))

    def available(self, name: str) -> bool:
        """Whether the version at hand has `name` in its headers."""
        return name in self.vocabulary.names


def outlives(declaration: Node | None) -> bool:
    """Whether a variable is `static` or `thread_local`: it would keep the symbols of one trace."""
    children = declaration.children if declaration is not None else ()
    return any(c.kind == "storage_class_specifier" and c.text in ("static", "thread_local") for c in children)


def join(*types: Type) -> Type:
    """One type for values that may be any of `types`; the origins add up."""
    first = next((kind for kind in types if kind.kind != "unknown"), UNKNOWN)
    origins = [kind.origins for kind in types if kind.origins is not None]
    return first.with_origins(frozenset().union(*origins)) if origins else first
