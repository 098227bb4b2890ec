"""Comments that tell symfix to leave a place alone: `// symfix: ignore[rule] reason`, `# symfix: ignore[rule] reason`.

They apply to their own line, or, alone on a line, to the next one. Several rules are separated by commas.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codemod.model.findings import Finding, Level, Mode
from codemod.model.transform import Example, Rule
from codemod.terminal import and_more

UNUSED = "unused-suppression"

UNUSED_RULE = Rule(
    UNUSED,
    Mode.DIRECT_THROW,
    Level.MANUAL,
    """Ignore comments that suppress nothing are reported.

    What it does: names every rule in an ignore comment that finds nothing on the line the comment speaks of: its own,
    or, where it stands alone, the next one. The finding takes the mode of the rule it names.

    Why: such a comment hides nothing today and would hide a true finding tomorrow.

    Fix safety: manual. Remove the comment, or move it to the line it is meant for.
    """,
    (
        Example("auto n = x.dim();  // symfix: ignore[sym-accessor] small", None, "nothing to suppress"),
        Example("// symfix: ignore[sym-accessor] read on the host only\nauto n = x.numel();", None, "used"),
    ),
)

_COMMENT = re.compile(rb"(?://|#)[ \t]*symfix:[ \t]*ignore\[([^\]\r\n]*)\][ \t]*([^\r\n]*)")
# What a person may write for one, as they do for other tools, and what no rule is read from.
_NEARLY = re.compile(
    _COMMENT.pattern + rb"|(?://|#|/\*)[ \t]*(?i:symfix)[ \t]*(?::[ \t]*(?i:ignore)\b|(?i:ignore)[ \t]*[\[(])[^\r\n]*"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. `line` is where it stands, `target` the line it applies to, both from 1."""

    path: str
    start: int
    end: int
    line: int
    column: int
    target: int
    rules: tuple[str, ...]
    """Empty where the comment is not of the form that is read, and suppresses nothing."""


def suppressions(path: str, source: bytes) -> tuple[Suppression, ...]:
    """Every suppression comment of a file, and what is nearly one, in order."""
    if b"ymfix" not in source and b"YMFIX" not in source:
        return ()
    comments = []
    line, counted = 1, 0
    for match in _NEARLY.finditer(source):
        begin = source.rfind(b"\n", 0, match.start()) + 1
        line += source.count(b"\n", counted, begin)
        counted = begin
        alone = not source[begin : match.start()].strip()
        named = match[1]
        rules = () if named is None else tuple(name.strip() for name in named.decode("utf-8", "replace").split(","))
        column = match.start() - begin + 1
        comments.append(Suppression(path, match.start(), match.end(), line, column, line + alone, rules))
    return tuple(comments)


def suppress(
    findings: Iterable[Finding], comments: Mapping[str, Sequence[Suppression]], rules: Sequence[Rule]
) -> tuple[list[Finding], int]:
    """The findings that no comment suppresses, and how many one does.

    What shares a group with a suppressed finding is kept with its edits taken away, for a group is applied whole;
    a comment that suppresses nothing becomes a finding of the rule `unused-suppression`.
    """
    by_line: dict[tuple[str, int, str], Suppression] = {}
    for path, file_comments in comments.items():
        for comment in file_comments:
            by_line.update(((path, comment.target, rule), comment) for rule in comment.rules)
    remaining: list[Finding] = []
    used: set[tuple[str, int, str]] = set()
    broken: dict[str, str] = {}
    count = 0
    for finding in findings:
        key = (finding.path, finding.line, finding.rule)
        if key in by_line:
            used.add(key)
            count += 1
            if finding.group:
                broken[finding.group] = f"{finding.path}:{finding.line}"
        else:
            remaining.append(finding)
    result = [
        refuse(finding, "suppressed", f"belongs to the same change as {broken[finding.group]}, which is suppressed")
        if finding.group in broken and finding.edits
        else finding
        for finding in remaining
    ]
    modes = {rule.name: rule.mode for rule in rules}
    result += (_unused(by_line[key], key[2], modes) for key in sorted(by_line.keys() - used))
    return result, count


def nearly_suppressed(comments: Mapping[str, Sequence[Suppression]]) -> str:
    """One line that says where comments are nearly of the form that suppresses; "" for none."""
    nearly = [comment for path in sorted(comments) for comment in comments[path] if not comment.rules]
    if not nearly:
        return ""
    others = and_more(len(nearly) - 1)
    return f'{nearly[0].path}:{nearly[0].line}{others}: suppresses nothing; the form is "symfix: ignore[RULE] reason"'


def refuse(finding: Finding, refusal: str, reason: str) -> Finding:
    """`finding` as one that symfix leaves to a person."""
    return dataclasses.replace(finding, level=Level.MANUAL, edits=(), group="", refusal=refusal, reason=reason)


def _unused(comment: Suppression, rule: str, modes: Mapping[str, Mode]) -> Finding:
    exists = rule in modes
    return Finding(
        path=comment.path,
        start=comment.start,
        end=comment.end,
        line=comment.line,
        column=comment.column,
        mode=modes.get(rule, Mode.DIRECT_THROW),
        rule=UNUSED,
        level=Level.MANUAL,
        function="",
        operators=(),
        message=f"ignore[{rule}] suppresses nothing",
        reason=f"{rule} finds nothing on line {comment.target}" if exists else f"there is no rule named {rule!r}",
    )
