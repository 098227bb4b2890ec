"""From the places of one file to its findings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain

import libcst as cst

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Root, Step
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called, registered
from transforms.python.flow.sites import Site, is_traced, sites
from transforms.python.flow.values import Value
from transforms.python.reach.composites import Composite
from transforms.python.reading.extract import NestedTooDeep, Parts, Scope, outline, scopes
from transforms.python.rules import load_rules, undecided_branch
from transforms.python.writing.evaluation import only_arithmetic
from transforms.python.writing.formatting import Formatter
from transforms.python.writing.helpers import Home
from transforms.python.writing.imports import Fits, Insertion, unneeded
from transforms.python.writing.logic import Undecided
from transforms.python.writing.names import HELPER, Layout, Names, TopLevel
from transforms.python.writing.place import Change, Place, Rewrite, merged_insertions
from transforms.python.writing.releases import absent, released
from transforms.python.writing.spans import Spans
from transforms.python.writing.style import Style
from transforms.python.writing.whole import ASKING, Paths
from transforms.releases.version import Release

# Why a function is not read: a refusal's code, and the reason. The parser's columns are those of UTF-8, whatever the
# file's encoding.
_ENCODING = (
    "encoding", "the file is not UTF-8: convert it (iconv -t utf-8, and its coding line), then run symfix again"
)  # fmt: skip
_NESTED = ("nested", "its code is nested too deep to be followed: split it up, then run symfix again")


@dataclass(frozen=True, slots=True)
class Job:
    """A function that symbols reach, with what is known of its parameters and callees.

    `inlined` says that Dynamo traces it, `eager`, `scripted` and `sympy` that eager, TorchScript, and Inductor with
    expressions of sympy, run it.
    """

    parameters: Mapping[str, Value]
    returns: Mapping[str, Value]
    reach: tuple[Step, ...]
    operators: tuple[str, ...]
    inlined: bool = False
    eager: bool = False
    scripted: bool = False
    sympy: bool = False
    composite: Composite | None = None
    root: Root = Root.OPERATOR


@dataclass(frozen=True, slots=True)
class FileJob:
    """All such functions of one file, by qualified name. `vocabulary` holds the functions this PyTorch has.

    `place` is the path with the root's own package in front: `torch/_refs/fft.py` where the root is `torch` itself.
    `home` is the file for helpers, None where the tree has none.
    """

    path: str
    place: str
    source: bytes
    functions: Mapping[str, Job]
    vocabulary: frozenset[str]
    style: Style = field(default_factory=Style)
    home: Home | None = None
    minimum: Release | None = None
    """The oldest torch that the file has to run with; None where the vocabulary says all."""


@dataclass(slots=True)
class Answer:
    """A rule's answer at one site, and the names it needs."""

    rule: str
    rewrite: Rewrite
    used: set[str]
    start: int
    end: int


@dataclass(slots=True)
class Rewritten:
    """The answers in one function."""

    name: str
    job: Job
    names: Names
    answers: list[Answer] = field(default_factory=list)

    def used(self, level: Level) -> set[str]:
        """The names that the answers of one level need."""
        return set().union(*(a.used for a in self.answers if a.rewrite.changes and a.rewrite.level == level))

    def imported(self, level: Level) -> set[str]:
        """Those of them that an import brings."""
        return _to_import(self.used(level))


def findings(job: FileJob) -> list[Finding]:
    """Every finding in one file."""
    try:
        trees = Parts(job.source)
    except (SyntaxError, ValueError):
        return []
    except NestedTooDeep:  # how much stack is left when a file is read again is not the same everywhere
        return [_unread(job, name, reached.reach[-1].line, _NESTED) for name, reached in job.functions.items()]
    try:
        job.source.decode("utf-8")
    except UnicodeDecodeError:
        chosen = (scope for tree in trees for scope in scopes(tree) if scope.name in job.functions)
        return [_unread(job, scope.name, getattr(scope.node, "lineno", 1), _ENCODING) for scope in chosen]
    layout = Layout(job.source)
    top = TopLevel(ast.Module(list(_outlines(trees, job)), []), job.source)
    refused: list[Finding] = []
    functions: list[Rewritten] = []
    outer: list[tuple[Scope, Interpreter]] = []  # the functions around the one at hand, outermost first
    around = {name for inner in job.functions for name in accumulate(inner.split("."), "{}.{}".format)}
    for scope in chain.from_iterable(scopes(tree, chosen=around) for tree in trees):
        if not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        while outer and not scope.name.startswith(outer[-1][0].name + "."):
            outer.pop()
        reached = job.functions.get(scope.name)
        try:
            rewritten, values = _rewritten(scope, reached, outer, top, layout, job)
        except RecursionError:
            if reached is not None:
                refused.append(_unread(job, scope.name, scope.node.lineno, _NESTED))
            continue
        outer.append((scope, values))
        if rewritten is not None and rewritten.answers:
            functions.append(rewritten)
    _import_together(functions)
    _format(functions, layout, formatter := Formatter(layout, top.body, job.style))
    _import_together(functions, whole=True)
    return [*_assembled(job.path, layout, functions, formatter.fits, job.home), *refused]


def _outlines(trees: Iterable[ast.Module], job: FileJob) -> Iterator[ast.stmt]:
    """The statements at the top of a file without what they hold, save the functions that rules look into."""
    whole = {name for reached in job.functions.values() if reached.composite for name in reached.composite.bodies}
    for tree in trees:
        for statement in tree.body:
            computes = isinstance(statement, ast.FunctionDef) and only_arithmetic(statement)
            yield statement if computes or getattr(statement, "name", "") in whole else outline(statement)


def _rewritten(
    scope: Scope,
    reached: Job | None,
    outer: Sequence[tuple[Scope, Interpreter]],
    top: TopLevel,
    layout: Layout,
    job: FileJob,
) -> tuple[Rewritten | None, Interpreter]:
    """The answers in a function, None where no symbol reaches it, and its values."""
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    enclosing = outer[-1][1] if outer and outer[-1][0].name == scope.name.rpartition(".")[0] else None
    parameters, returns = (reached.parameters, reached.returns) if reached else ({}, {})
    values = Interpreter(function, scope.nodes, parameters, returns, enclosing)
    if reached is None:
        return None, values
    around = [function, *(holder.node for holder, _ in reversed(outer))]
    names = Names(
        top,
        around,
        job.place,
        inlined=reached.inlined,
        eager=reached.eager,
        scripted=reached.scripted,
        sympy=reached.sympy,
        home=job.home,
    )
    answers = _whole(function, list(_answers(scope, values, layout, names, reached, job)))
    # What is left to ask of the functions is where imports may stand in them.
    names.functions = [outline(node, 1) for node in around if isinstance(node, ast.stmt)]
    return Rewritten(scope.name, reached, names, answers), values


def _whole(function: ast.FunctionDef | ast.AsyncFunctionDef, answers: Sequence[tuple[Site, Answer]]) -> list[Answer]:
    """The answers, rewrites withdrawn where the same call stops at a place that is left as it is."""
    left = [
        (site, answer.rewrite)
        for site, answer in answers
        if not answer.rewrite.changes and site.kind in ASKING and site.value.certain
        if answer.rewrite.refusal != "traced-assert"
    ]
    paths = Paths(function, [site.node for site, _ in left]) if left and len(left) < len(answers) else None
    kept = []
    for site, answer in answers:
        stop = paths.stop(site.node, answer.rewrite.general) if paths is not None and answer.rewrite.changes else None
        if stop is not None:
            place, refusal = left[stop]
            reason = f"the same call stops at line {getattr(place.node, 'lineno', 0)}: {refusal.reason}"
            rewrite = Rewrite(Level.MANUAL, answer.rewrite.message, reason=reason, refusal="half")
            answer = replace(answer, rewrite=rewrite, used=set())
        kept.append(answer)
    return kept


def _answers(
    scope: Scope, values: Interpreter, layout: Layout, names: Names, job: Job, file: FileJob
) -> Iterator[tuple[Site, Answer]]:
    """Each place that asks for a size, with what the first rule that knows it says."""
    vocabulary = file.vocabulary
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    consumed = Spans()
    all_sites = list(sites(scope.nodes, values))
    if job.composite is not None:
        all_sites.insert(0, Site("composite", function, function.decorator_list[0], Value("bool")))
    for site in all_sites:
        start, end = layout.start(site.expression), layout.end(site.expression)
        if consumed.holds(start, end):
            continue
        if site.kind == "sizevars" and f"sizevars.{called(site.node)}" in vocabulary:
            continue
        if site.kind == "out" and (names.local or not job.inlined or job.scripted):
            continue  # only a compiled function of the user's is compiled again
        if site.kind == "counted" and (names.shared or job.inlined or not registered(function)):
            continue  # elsewhere the number itself is part of the graph
        if site.kind == "chunks" and not (names.shared and names.home):
            continue  # what else can be written is longer than what it would replace
        if job.inlined and is_traced(site):
            continue  # Dynamo keeps the symbol by itself
        names.used = set()
        place = Place(site, function, scope.nodes, values, layout, names, job.composite)
        rule, rewrite = _first(place)
        wrapped = {"guard_or_false", "guard_or_true"} if HELPER in names.used else set()
        needed = _imported(names.used) | wrapped
        if not (rewrite.changes or rewrite.refusal):  # as it is written no truth of a size is asked
            continue
        rewrite = released(rewrite, layout, needed, file.minimum)
        if rewrite.changes and (gone := ", ".join(absent(rewrite, layout, needed, vocabulary))):
            rewrite = Rewrite(Level.MANUAL, rewrite.message, reason=f"this PyTorch has no {gone}", refusal="vocabulary")
        if rewrite.changes:
            whole = [change for change in rewrite.changes if change.start <= start and end <= change.end]
            for first, last in [(change.start, change.end) for change in whole] or [(start, end)]:
                consumed.add(first, last)
        if site.kind in ("if", "while", "assert") and isinstance(site.node, ast.stmt):
            start = layout.start(site.node)
        yield site, Answer(rule, rewrite, set(names.used), start, end)


def _first(place: Place) -> tuple[str, Rewrite]:
    """The first rule that knows a place, and what it says."""
    for place_rule in load_rules():
        try:
            place.names.used = set()
            rewrite = place_rule.rewrite(place)
        except Undecided as undecided:
            message = f"{place_rule.rule.name} does not apply"
            return place_rule.rule.name, Rewrite(Level.MANUAL, message, reason=str(undecided), refusal="undecided")
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError) as error:
            reason = f"libcst does not read this expression: {type(error).__name__}"
            return place_rule.rule.name, Rewrite(Level.MANUAL, "not rewritten", reason=reason, refusal="unreadable")
        except RecursionError:
            code, reason = _NESTED
            return place_rule.rule.name, Rewrite(Level.MANUAL, "not rewritten", reason=reason, refusal=code)
        if rewrite is not None:
            return place_rule.rule.name, rewrite
    raise AssertionError("the last rule knows every place")


def _format(functions: Iterable[Rewritten], layout: Layout, formatter: Formatter) -> None:
    """Have the changes of each function written as the tree's formatter would."""
    for function in functions:
        unit = layout.unit(function.names.functions[0])
        rewrites = formatter.settled([answer.rewrite for answer in function.answers], unit)
        for answer, rewrite in zip(function.answers, rewrites, strict=True):
            answer.rewrite = rewrite


def _import_together(functions: Sequence[Rewritten], whole: bool = False) -> None:
    """Have safe changes for review whose names an import brings that also has to bring others for review.

    So a scope gets one import, whatever of it is applied. With `whole` all safe changes of such a function go along,
    as they must once some of them share formatted lines.
    """
    module_wide = any(function.names.module_wide for function in functions)
    for scope in [functions] if module_wide else [[function] for function in functions]:
        safe, review = (set().union(*(f.imported(level) for f in scope)) for level in (Level.SAFE, Level.REVIEW))
        if not safe or review <= safe:
            continue
        for function in scope:
            for answer in function.answers if function.imported(Level.SAFE) else ():
                rewrite = answer.rewrite
                if rewrite.level == Level.SAFE and (whole or _to_import(answer.used)):
                    reason = rewrite.reason or "shares an import with a change for review"
                    answer.rewrite = rewrite._replace(level=Level.REVIEW, reason=reason)


def _imported(used: set[str]) -> set[str]:
    """What of the names that rewrites use an import brings in, and methods of sizevars."""
    return used - {HELPER}


def _to_import(used: set[str]) -> set[str]:
    return {name for name in _imported(used) if "." not in name}


def _assembled(
    path: str, layout: Layout, functions: list[Rewritten], fits: Fits, home: Home | None
) -> Iterator[Finding]:
    levels = (Level.SAFE, Level.REVIEW)
    wide: set[str] = set().union(*(f.imported(level) for f in functions for level in levels))
    for function in functions:
        names = function.names
        imported = wide if names.module_wide else set().union(*map(function.imported, levels))
        gone = frozenset[str]()
        review = [answer.rewrite for answer in function.answers if answer.rewrite.level == Level.REVIEW]
        if not function.imported(Level.SAFE):
            gone = names.unused(layout, [change[:3] for rewrite in review for change in rewrite.changes])
        for level in levels:
            needed = function.imported(level) or (gone and level == Level.REVIEW)
            insertions = names.imports(layout, imported, fits, gone) if needed else []
            helper_edits = home.edits() if home is not None and HELPER in function.used(level) else ()
            answers = [a for a in function.answers if a.rewrite.changes and a.rewrite.level == level]
            together = list(dict.fromkeys(change for a in answers for change in a.rewrite.changes))
            merged = merged_insertions(together)
            insertions += unneeded(names.top.body, layout, [change[:3] for change in together])
            group = f"{path}:{function.name}:{level.name.lower()}"
            for answer in answers:
                changes = {merged[c.start] if c.inserts else c for c in answer.rewrite.changes}
                edits = tuple(sorted({*_edits(path, layout, changes, insertions), *helper_edits}))
                yield _finding(path, layout, function, answer, edits, group)
        for answer in function.answers:
            if not answer.rewrite.changes:
                yield _finding(path, layout, function, answer, (), "")


def _edits(path: str, layout: Layout, changes: set[Change], imports: list[Insertion]) -> tuple[Edit, ...]:
    spans = {(change.start, change.end, change.text) for change in changes}
    spans |= {(insertion.offset, insertion.end, insertion.text) for insertion in imports}
    return tuple(sorted(Edit(path, start, end, layout.source[start:end], text.encode()) for start, end, text in spans))


def _unread(job: FileJob, name: str, line: int, why: tuple[str, str]) -> Finding:
    """The refusal of a whole function; `why` is the code and the reason."""
    start = Layout(job.source).line_start(line)
    reached = job.functions[name]
    return Finding(
        path=job.path,
        start=start,
        end=start,
        line=line,
        column=1,
        mode=undecided_branch.MODE,
        rule=undecided_branch.NAME,
        level=Level.MANUAL,
        function=name,
        operators=reached.operators,
        message=f"`{name}` is not read",
        reason=why[1],
        refusal=why[0],
        reach=reached.reach,
        root=reached.root,
    )


def _finding(
    path: str, layout: Layout, function: Rewritten, answer: Answer, edits: tuple[Edit, ...], group: str
) -> Finding:
    rewrite = answer.rewrite
    line = layout.line_of(answer.start)
    rule = next(place_rule.rule for place_rule in load_rules() if place_rule.rule.name == answer.rule)
    return Finding(
        path=path,
        start=answer.start,
        end=answer.end,
        line=line,
        column=answer.start - layout.line_start(line) + 1,
        mode=rule.mode,
        rule=answer.rule,
        level=rewrite.level,
        function=function.name,
        operators=function.job.operators,
        message=rewrite.message,
        reason=rewrite.reason,
        refusal=rewrite.refusal,
        reach=function.job.reach,
        edits=edits,
        group=group,
        root=function.job.root,
    )
