"""A transform simple enough to foresee, to test the engine alone.

In `*.cc` files each line is a site by the words it holds: `size` is renamed to `sym_size` (safe), `numel` to
`sym_numel` (review), `loop` is refused, `break` becomes an unbalanced brace. `@name` puts the line's finding into the
group of that name, of whatever file; `op:name` gives it an operator, and `root:module` another root than an operator;
`root:traced` is a site only where torch has come to the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode, Root, Step
from codemod.model.transform import Example, Project, Rule

_WORD = re.compile(rb"(?<!\[)\b(size|numel|loop|break)\b")
_NEW = {b"size": b"sym_size", b"numel": b"sym_numel", b"break": b"}"}
_LEVELS = {b"size": Level.SAFE, b"numel": Level.REVIEW, b"loop": Level.MANUAL, b"break": Level.SAFE}


def extract(path: str, source: bytes) -> tuple[tuple[int, int, bytes, bytes], ...]:
    """(start, line, word, text of the line) of every site."""
    if b"RAISE" in source:
        raise ValueError("asked to")
    sites = []
    for match in _WORD.finditer(source):
        begin = source.rfind(b"\n", 0, match.start()) + 1
        end = source.find(b"\n", begin)
        line = source.count(b"\n", 0, begin) + 1
        sites.append((match.start(), line, match[1], source[begin : end if end >= 0 else None]))
    return tuple(sites)


class FakeTransform:
    name = "fake"
    suffixes: tuple[str, ...] = (".cc",)

    def rules(self) -> Sequence[Rule]:
        """The two rules of the fake."""
        return [
            Rule("size", Mode.DIRECT_THROW, Level.SAFE, "Rename size.\n\nBecause.", (Example("size", "sym_size"),)),
            Rule("loop", Mode.LEAK, Level.MANUAL, "Loops stay.", (Example("loop", None, "A loop"),)),
        ]

    def parse_errors(self, path: str, source: bytes) -> int:
        """How far braces are from balanced."""
        return abs(source.count(b"{") - source.count(b"}"))

    def analyse(self, project: Project) -> Iterable[Finding]:
        """One finding for each word."""
        for path, sites in project.facts(extract, project.files(self.suffixes)).items():
            came = {traced.line for traced in project.traced if traced.path == path}
            for start, line, word, text in sites:
                if project.selected(path) and (b"root:traced" not in text or line in came):
                    yield _finding(path, start, line, word, text)


def _finding(path: str, start: int, line: int, word: bytes, text: bytes) -> Finding:
    group = re.search(rb"@(\w+)", text)
    operator = re.search(rb"op:(\S+)", text)
    root = re.search(rb"root:(\w+)", text)
    refused = word == b"loop"
    return Finding(
        path=path,
        start=start,
        end=start + len(word),
        line=line,
        column=text.index(word) + 1,
        mode=Mode.LEAK if refused else Mode.DIRECT_THROW,
        rule="loop" if refused else "size",
        level=_LEVELS[word],
        function="f",
        operators=(operator[1].decode(),) if operator else (),
        message=f"{word.decode()} throws on symbolic shapes",
        reason="it bounds a loop" if refused else "",
        refusal="loop-bound" if refused else "",
        reach=(Step(path, 1, "f is a kernel"),),
        flow=(Step(path, line, "returned"),),
        edits=() if refused else (Edit(path, start, start + len(word), word, _NEW[word]),),
        group=group[1].decode() if group else "",
        root=Root[root[1].decode().upper()] if root else Root.OPERATOR,
    )


def transforms() -> list[FakeTransform]:
    """What `load_transforms` gives in tests of the engine."""
    return [FakeTransform()]
