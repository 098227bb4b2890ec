"""What one Python file says by itself about functions, calls and sizes. Made once per content and cached."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from transforms.python.flow.values import Value
from transforms.python.reading.registering import Registering


class Call(NamedTuple):
    """A call inside a function: the callee as written, and the arguments that may hold a size.

    A slot is a position ("0", "1", …) or a keyword's name; "2*" what is unpacked there, "2+" an argument behind that,
    "2*+" what is unpacked behind it.
    """

    callee: str
    arguments: tuple[tuple[str, Value], ...] = ()


class Body(NamedTuple):
    """What a function does with values, which takes most of the time: read of functions that symbols reach."""

    calls: tuple[Call, ...] = ()
    returns: Value = Value("plain")
    conditions: tuple[frozenset[str], ...] = ()
    """For each place that asks for a concrete size or truth, the dependencies of its value."""
    made: tuple[tuple[str, int], ...] = ()
    """(parameter, line) of each that it makes a plain number of in any case."""


NO_BODY = Body()


class Function(NamedTuple):
    """A function definition. `name` is qualified: `Module.forward`, `outer.<locals>.inner` is written `outer.inner`.

    Of several of one name in a scope the last has it, and those before are `name#1`, `name#2` and so on.
    """

    name: str
    line: int
    decorators: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    """Names with their annotations as written; those of `*args` and `**kwargs` are not among them."""
    positional: int = 0
    """How many of them, the first, may be given by position."""
    required: int = 0
    """How many of those have no default."""
    rest: str = ""
    """The name of `*args`; "" where there is none, or where it has an annotation."""
    calls: tuple[str, ...] = ()
    """The callees as written, sorted."""
    untraced: tuple[str, ...] = ()
    """Of `calls` those that no trace makes: behind `if torch.jit.is_scripting()`, say."""
    method: bool = False
    bases: tuple[str, ...] = ()
    """Of the class a method belongs to."""
    defaults: tuple[tuple[str, str], ...] = ()
    """Of a registered decomposition: the parameters that have a default, with it as written."""
    caught: tuple[tuple[str, str], ...] = ()
    """Of `calls` those whose exceptions may end in the function, with what ends them: see flow.catching."""
    ends: str = ""
    """Of a context manager: the exceptions that it may end, each behind a space."""

    @property
    def traced_calls(self) -> Sequence[str]:
        """Those of `calls` that a trace may make."""
        return [name for name in self.calls if name not in self.untraced] if self.untraced else self.calls

    @property
    def own_name(self) -> str:
        """`inner` of `outer.inner`, `f` of the first of several `f`, which is `f#1`."""
        return self.name.rpartition(".")[2].partition("#")[0]


class FileFacts(NamedTuple):
    """All that the later stages want to know of a file without parsing it again."""

    path: str
    functions: tuple[Function, ...] = ()
    imports: tuple[tuple[str, str], ...] = ()
    """(local name, dotted name of the module or of `module.object`)."""
    registering: Registering = Registering()
    """What may register functions with PyTorch, or compile them."""
    left_to_eager: tuple[str, ...] = ()
    """Functions of the file, and methods, that a call of torch.compiler.disable or its like replaces."""
    sized: bool = False
    """Whether the file may ask for a size, so that there are values to follow in it."""
    scripted: bool = False
    """Whether the file is written for TorchScript too."""
    scripted_operators: tuple[str, ...] = ()
    """Operators whose Python the file hands to `torch.jit.script`: `nll_loss_backward`."""
    statements: tuple[tuple[str, int, int], ...] = ()
    """(name, first line, last line) of each definition in the module's own scope of a file that may ask for a size: the
    lines of the statement at the top that holds it, and of what stands before that."""
    passing: tuple[tuple[str, str, str], ...] = ()
    """(scope, callee, function) for what calls are passed that may be a function: of this file, or imported."""
    broken: str = ""
    """Of a file that speaks of torch and that Python cannot read: the line, and why."""


def unreadable(path: str, source: bytes, error: SyntaxError | ValueError) -> FileFacts:
    """The facts of a file that Python cannot read, which are none but that, where it speaks of torch."""
    line = getattr(error, "lineno", None) or 1
    return FileFacts(path, broken=f"{line}: {getattr(error, 'msg', error)}" if b"torch" in source else "")


def of_functions(
    passing: Iterable[tuple[str, str, str]], imported: Collection[str], functions: Iterable[Function]
) -> Iterator[tuple[str, str, str]]:
    """What is `passed` by a name that may be that of a function."""
    own = {function.own_name for function in functions}
    brought = {*imported} - {"torch"}
    for scope, callee, name in passing:
        head, _, last = name.rpartition(".")
        of_file = head in ("", "self", "cls") and last in own
        if of_file or name.partition(".")[0] in brought:
            yield scope, callee, name
