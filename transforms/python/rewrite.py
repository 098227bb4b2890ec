"""From the places of one file to its findings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level
from transforms.python.answering import NESTED, Answer, answers, stops_at
from transforms.python.flow.constants import Constants
from transforms.python.flow.imported import mark
from transforms.python.flow.interpret import Interpreter
from transforms.python.jobs import FileJob, Job
from transforms.python.reading.extract import Parts, Scope, outline, scopes
from transforms.python.reading.parsing import NestedTooDeep
from transforms.python.rules import composite_reference, load_rules, undecided_branch
from transforms.python.writing.bindings import builtins_bound
from transforms.python.writing.comments import with_comments
from transforms.python.writing.formatting import Formatter
from transforms.python.writing.helpers import Home
from transforms.python.writing.imports import Fits, Insertion, unneeded
from transforms.python.writing.names import HELPER, MODULES, Layout, Names, TopLevel
from transforms.python.writing.place import Change, Rewrite, merged_insertions
from transforms.python.writing.ranks import only_arithmetic

# Why a function is not read: a refusal's code, and the reason. The parser's columns are those of UTF-8, whatever the
# file's encoding.
_ENCODING = (
    "encoding", "the file is not UTF-8: convert it (iconv -t utf-8, and its coding line), then run symfix again"
)  # fmt: skip


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

    def changes(self, level: Level) -> list[Change]:
        """The changes of the answers of one level, each once."""
        answers = (a.rewrite for a in self.answers if a.rewrite.level == level)
        return list(dict.fromkeys(change for rewrite in answers for change in rewrite.changes))


def findings_of(_: str, source: bytes, jobs: Iterable[FileJob]) -> list[Finding]:
    """Every finding in one file."""
    return [finding for job in jobs for finding in findings(job, source)]


def findings(job: FileJob, source: bytes) -> list[Finding]:
    """The findings of one job in a file of those bytes."""
    layout = Layout(source)
    try:
        trees = Parts(source)
    except (SyntaxError, ValueError):
        return []
    except NestedTooDeep:  # how much stack is left when a file is read again is not the same everywhere
        return [_unread(job, layout, name, reached.reach[-1].line, NESTED) for name, reached in job.functions.items()]
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        chosen = (scope for tree in trees for scope in scopes(tree) if scope.name in job.functions)
        return [_unread(job, layout, scope.name, getattr(scope.node, "lineno", 1), _ENCODING) for scope in chosen]
    constants = Constants(source)
    top = TopLevel(ast.Module(list(_outlines(trees, job, constants)), []), source)
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
            rewritten, values = _rewritten(scope, reached, outer, top, layout, job, constants)
        except RecursionError:
            if reached is not None:
                refused.append(_unread(job, layout, scope.name, scope.node.lineno, NESTED))
            continue
        outer.append((scope, values))
        if rewritten is not None and rewritten.answers:
            functions.append(rewritten)
    _whole_stand_ins(functions, layout)
    _import_together(functions)
    _format(functions, layout, formatter := Formatter(layout, top.body, job.style))
    _import_together(functions, whole=True)
    return [*_assembled(job.path, layout, functions, formatter.fits, job.home), *refused]


def _outlines(trees: Iterable[ast.Module], job: FileJob, constants: Constants) -> Iterator[ast.stmt]:
    """The statements at the top of a file without what they hold, save the functions that rules look into."""
    whole = {name for reached in job.functions.values() if reached.composite for name in reached.composite.bodies}
    for tree in trees:
        constants.add(tree)
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
    constants: Constants,
) -> tuple[Rewritten | None, Interpreter]:
    """The answers in a function, None where no symbol reaches it, and its values."""
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    enclosing = outer[-1][1] if outer and outer[-1][0].name == scope.name.rpartition(".")[0] else None
    known = (reached.parameters, reached.returns) if reached else ({}, {})
    needs = reached.needs if reached else {}
    hidden = {*top.hidden, *builtins_bound(scope.telling)}
    lookup = None if enclosing else constants.of(function, scope.owner)
    mark(function, scope.nodes, job.meanings, enclosing.variables if enclosing else ())
    values = Interpreter(function, scope.nodes, *known, enclosing, hidden=hidden, constants=lookup, needs=needs)
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
        caught=reached.caught,
        home=job.home,
    )
    rewritten = Rewritten(scope.name, reached, names, answers(scope, values, layout, names, reached, job))
    # What is left to ask of the functions is where imports may stand in them.
    names.functions = [outline(node, 1) for node in around if isinstance(node, ast.stmt)]
    return rewritten, values


def _whole_stand_ins(functions: Sequence[Rewritten], layout: Layout) -> None:
    """Withdraw decompositions for a C++ composite that would still stop at a place which is left as it is.

    The composite may well take the symbols that such a place makes numbers.
    """
    stops = {f.name: [(layout.line_of(a.start), a.rewrite) for a in f.answers if a.stops] for f in functions}
    for function in functions:
        runs = function.job.composite.runs if function.job.composite else ()
        for line, refusal in list(chain.from_iterable(stops.get(name, ()) for name in runs))[:1]:
            for answer in function.answers:
                if answer.rule == composite_reference.NAME and answer.rewrite.changes:
                    reason = f"what would take its place {stops_at(line, refusal)}"
                    withdrawn = Rewrite(Level.MANUAL, answer.rewrite.message, reason=reason, refusal="half")
                    answer.rewrite, answer.used = withdrawn, set()


def _format(functions: Iterable[Rewritten], layout: Layout, formatter: Formatter) -> None:
    """Have the changes of each function keep the comments in what they replace, and formatted as the tree is."""
    for function in functions:
        unit = layout.unit(function.names.functions[0])
        whole = [with_comments(answer.rewrite, layout, formatter.logical) for answer in function.answers]
        rewrites = formatter.settled(whole, unit)
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


def _to_import(used: set[str]) -> set[str]:
    """What of the names that rewrites use an import brings in."""
    return {name for name in used - {HELPER} if "." not in name}


def _assembled(
    path: str, layout: Layout, functions: list[Rewritten], fits: Fits, home: Home | None
) -> Iterator[Finding]:
    levels = (Level.SAFE, Level.REVIEW)
    wide: set[str] = set().union(*(f.imported(level) for f in functions for level in levels))
    last_uses = {level: _last_uses(functions, layout, level) for level in levels}
    for index, function in enumerate(functions):
        names = function.names
        imported = set[str]().union(*map(function.imported, levels))
        if names.module_wide:
            imported |= {name for name in wide if not name.startswith(MODULES)}
        gone = frozenset[str]()
        if not function.imported(Level.SAFE):
            gone = names.unused(layout, [change[:3] for change in function.changes(Level.REVIEW)])
        for level in levels:
            needed = function.imported(level) or (gone and level == Level.REVIEW)
            insertions = names.imports(layout, imported, fits, gone) if needed else []
            helper_edits = home.edits() if home is not None and HELPER in function.used(level) else ()
            answers = [a for a in function.answers if a.rewrite.changes and a.rewrite.level == level]
            merged = merged_insertions(function.changes(level))
            dropped, applied_with = last_uses[level][index]
            insertions += dropped
            group = f"{path}:{applied_with}:{level.name.lower()}"
            for answer in answers:
                changes = {merged[c.start] if c.inserts else c for c in answer.rewrite.changes}
                edits = tuple(sorted({*_edits(path, layout, changes, insertions), *helper_edits}))
                yield _finding(path, layout, function, answer, edits, group)
        for answer in function.answers:
            if not answer.rewrite.changes:
                yield _finding(path, layout, function, answer, (), "")


def _last_uses(functions: list[Rewritten], layout: Layout, level: Level) -> list[tuple[list[Insertion], str]]:
    """For each function what takes away imports of which nothing is used any more, and a name for its changes.

    Functions that take away an import's uses only together have one name, and are changed together.
    """
    dropped: list[list[Insertion]] = [[] for _ in functions]
    groups = [function.name for function in functions]
    changes = [[change[:3] for change in function.changes(level)] for function in functions]
    body = functions[0].names.top.body if functions else []
    for users, removed in unneeded(body, layout, changes):
        together = {groups[index] for index in users}
        groups = [min(together) if group in together else group for group in groups]
        for index in users:
            dropped[index] += removed
    return list(zip(dropped, groups, strict=True))


def _edits(path: str, layout: Layout, changes: set[Change], imports: list[Insertion]) -> tuple[Edit, ...]:
    spans = {(change.start, change.end, change.text) for change in changes}
    spans |= {(insertion.offset, insertion.end, insertion.text) for insertion in imports}
    return tuple(sorted(Edit(path, start, end, layout.source[start:end], text.encode()) for start, end, text in spans))


def _unread(job: FileJob, layout: Layout, name: str, line: int, why: tuple[str, str]) -> Finding:
    """The refusal of a whole function; `why` is the code and the reason."""
    start = layout.line_start(line)
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
