"""One change as lines of a terminal: its place, why a symbol arrives, the diff, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from codemod.model.decisions import Choice, Decision
from codemod.model.edits import by_path
from codemod.model.findings import Finding, Level, Step
from codemod.planning.naming import base_name
from codemod.prove.evidence import Evidence, Verdict
from codemod.reporting.report import LEVEL_STYLES, plural
from codemod.review.items import Item
from codemod.review.terminal.code import Row, diff_rows
from codemod.terminal import and_more, one_line, shorten_path
from codemod.tree.sources import Sources

_SIGNS = {"-": "red", "+": "green"}
_ROOM_FOR_NUMBERS = 90  # columns
_ROOM_FOR_LABELS = 50
_MOST_NAMES = 12
_MOST_BADGES = 3
_OUTCOMES = {"cured": "bold green", "worse": "bold red"}
CHOICES = {Choice.ACCEPT: ("accepted", "green"), Choice.REJECT: ("rejected", "red"), Choice.EDIT: ("edited", "cyan")}


class View:
    """Renders changes for a terminal; `rules` maps a rule's name to the first line of its manual page."""

    def __init__(self, sources: Sources, rules: Mapping[str, str]) -> None:
        self._sources = sources
        self._rules = rules

    def lines(
        self,
        item: Item,
        decision: Decision | None,
        evidence: Sequence[Evidence],
        bases: Sequence[tuple[str, str]],
        width: int,
    ) -> list[Text]:
        """`item` in lines of at most `width` columns. `bases` are the shards it needs, with what is decided there."""
        edits = decision.edits if decision and decision.choice is Choice.EDIT else item.group.edits
        page = _Page(width)
        self._head(page, item)
        _badges(page, evidence)
        visible: set[tuple[str, int]] = set()
        edited = by_path(edits)
        for path, chosen in edited.items():
            page.blank()
            if len(edited) > 1 or path != item.group.findings[0].path:
                page.add(Text(shorten_path(one_line(path), width), "bold"))
            rows = diff_rows(path, self._sources.of(path), chosen)
            visible.update((path, row.line) for row in rows if row.sign != "+")
            page.diff(rows)
        if not edits:
            page.add(Text("your edit leaves everything as it is", "dim"))
        self._sites(page, item, visible)
        self._company(page, item, bases)
        for record in evidence:
            page.blank()
            _evidence(page, record)
        return page.lines

    def _head(self, page: _Page, item: Item) -> None:
        first = item.group.findings[0]
        page.add(Text(one_line(first.function) or "(outside any function)", "bold cyan"))
        page.add(Text(shorten_path(one_line(f"{first.path}:{first.line}"), page.width), "dim"))
        reach = max((finding.reach for finding in item.group.findings), key=len)
        for number, step in enumerate(reach):
            name = step.path.rpartition("/")[2] if page.width < _ROOM_FOR_NUMBERS else step.path
            page.labelled("a symbol arrives  " if not number else "", 18, _step(step, name))
        if item.shard.kind == "helper" and item.shard.operators:
            names = list(dict.fromkeys(map(base_name, item.shard.operators)))
            more = and_more(len(names) - _MOST_NAMES)
            page.labelled("serves            ", 18, Text(one_line(", ".join(names[:_MOST_NAMES]) + more)))

    def _sites(self, page: _Page, item: Item, visible: set[tuple[str, int]]) -> None:
        page.blank()
        by_rule: dict[str, list[Finding]] = {}
        for finding in item.group.findings:
            by_rule.setdefault(finding.rule, []).append(finding)
        for rule, members in by_rule.items():
            level = max(finding.level for finding in members)
            head = Text.assemble((rule, "bold"), f" ({len(members)})" if len(members) > 1 else "", "  ", _level(level))
            if level > Level.SAFE and self._rules.get(rule):
                head.append(f"  {self._rules[rule]}", "dim")
            page.add(head, indent=2)
            alike: dict[tuple[str, str, str], list[Finding]] = {}
            for finding in members:
                alike.setdefault((finding.path, finding.message, finding.reason), []).append(finding)
            for (path, message, reason), sites in alike.items():
                _site(page, path, message, reason, sites, visible)

    def _company(self, page: _Page, item: Item, bases: Sequence[tuple[str, str]]) -> None:
        notes: list[str] = []
        if item.waiting:
            places = ", ".join(f"{finding.path.rpartition('/')[2]}:{finding.line}" for finding in item.waiting[:3])
            more = ", …" if len(item.waiting) > 3 else ""
            verb = "overlaps" if len(item.waiting) == 1 else "overlap"
            notes.append(
                f"{plural(len(item.waiting), 'finding')} {verb} this change and will be offered once it is written, or"
                f" ignored by a comment in the source: {places}{more}"
            )
        for group in item.sharing:
            first = group.findings[0]
            notes.append(f"makes an edit that the change at {first.path}:{first.line} makes too: either writes it")
        if bases:
            notes.append("runs on other changes too: " + ", ".join(f"{name} ({state})" for name, state in bases))
        if notes:
            page.blank()
        for note in notes:
            page.labelled("  · ", 4, Text(one_line(note)))


class _Page:
    """Lines of one width, longer ones wrapped."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Text] = []
        self._console = Console(width=width)

    def blank(self) -> None:
        self.lines.append(Text())

    def add(self, text: Text, indent: int = 0) -> None:
        self.labelled(" " * indent, indent, text)

    def labelled(self, label: str, column: int, text: Text) -> None:
        """`text` from `column` on, wrapped between words, with `label` before its first line."""
        if self.width < _ROOM_FOR_LABELS and column > 2:
            if label.strip():
                self.lines.append(Text(label.rstrip()[: self.width]))
            label, column = "", 2
        parts = text.wrap(self._console, max(10, self.width - column))
        for number, part in enumerate(parts):
            part.rstrip()
            self.lines.append(Text.assemble((label if not number else "").ljust(column), part))

    def diff(self, rows: Iterable[Row]) -> None:
        """`rows`, with line numbers where there is room; a long line goes on below itself."""
        numbers = self.width >= _ROOM_FOR_NUMBERS
        gutter = 8 if numbers else 2
        for row in rows:
            if row.sign == "@":
                self.lines.append(Text("   ⋯" if numbers else f"⋯ {row.line}", "dim"))
                continue
            head = Text()
            if numbers:
                head.append(f"{row.line:>5} ", "dim")
            head.append(f"{row.sign} ", _SIGNS.get(row.sign, ""))
            text, room = row.text, max(10, self.width - gutter)
            while len(text) and text.cell_len > room:
                cut = _fitting(text, room)
                self.lines.append(head + text[:cut])
                text = text[cut:]
                head = Text.assemble((" " * (gutter - 2) + "↪ ", "dim"))
            self.lines.append(head + text)


def _fitting(text: Text, room: int) -> int:
    """How many characters of `text` fit `room` columns, at least one."""
    cut = min(len(text), room)
    while cut > 1 and text[:cut].cell_len > room:
        cut -= 1
    return cut


def _level(level: Level) -> Text:
    return Text(level.name.lower(), LEVEL_STYLES[level])


def _step(step: Step, name: str) -> Text:
    text = Text(one_line(step.text))
    return text.append(f"  {name}:{step.line}" if step.line else f"  {name}", "dim")


def _site(
    page: _Page, path: str, message: str, reason: str, sites: Sequence[Finding], visible: set[tuple[str, int]]
) -> None:
    """What was found in the same words, and where its values flow beyond the lines that are `visible`."""
    lines = ", ".join(map(str, dict.fromkeys(finding.line for finding in sites)))
    page.labelled("    ", 4, Text.assemble((lines, "dim"), f"  {one_line(message)}"))
    if reason:
        page.labelled("      ", 6, Text(one_line(reason), "yellow"))
    for step in dict.fromkeys(step for finding in sites for step in finding.flow):
        if (step.path, step.line) not in visible:
            place = f"{step.line}" if step.path == path else f"{step.path.rpartition('/')[2]}:{step.line}"
            page.labelled("      ", 6, Text(f"flows by {place}  {one_line(step.text)}", "dim"))


def _badges(page: _Page, evidence: Sequence[Evidence]) -> None:
    """What was seen, a line an operator: it decides before the diff does."""
    for record in evidence[:_MOST_BADGES]:
        text = Text.assemble((record.outcome, _OUTCOMES.get(record.outcome, "bold")), f"  {one_line(record.operator)}")
        if record.before is not None and record.after is not None:
            text.append(f"  {record.before.status} → {record.after.status}")
        page.labelled("seen              ", 18, text)
    if len(evidence) > _MOST_BADGES:
        page.labelled(" " * 18, 18, Text(f"and {plural(len(evidence) - _MOST_BADGES, 'other operator')}, below", "dim"))


def _evidence(page: _Page, record: Evidence) -> None:
    outcome = record.outcome, _OUTCOMES.get(record.outcome, "bold")
    head = Text.assemble("evidence  ", outcome, f"  {one_line(record.operator)}")
    if record.reason:
        head.append(f": {one_line(record.reason)}")
    page.add(head, indent=2)
    for name, verdict in (("before", record.before), ("after", record.after)):
        if verdict is not None:
            page.labelled(f"    {name:<6}  ", 12, _verdict(verdict))
    if record.versions:
        versions = sorted(item for item in record.versions.items() if item[0] != "runner")
        made_with = ", ".join(f"{name} {version}" for name, version in versions)
        page.labelled("            ", 12, Text(one_line(made_with), "dim"))


def _verdict(verdict: Verdict) -> Text:
    text = Text(verdict.status, "green" if verdict.status == "passes" else "red")
    if verdict.frames:
        text.append(f", compiled {plural(verdict.frames, 'time')}")
    if verdict.guards:
        text.append(f", {plural(len(verdict.guards), 'guard')} on sizes")
    if verdict.unbacked:
        text.append(f", unbacked: {verdict.unbacked}")
    if verdict.message:
        text.append(f"\n{one_line(verdict.message)}", "dim")
    return text
