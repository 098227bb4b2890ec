"""Records of torch's structured trace: their stacks and payloads, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codemod.errors import SymfixError
from codemod.probe.trace import Frame, read_trace, trace_files

HEAD = "V1122 06:59:39.722000 13408 torch/fx/experimental/symbolic_shapes.py:8058] "


def line(document: dict[str, Any], payload: str = "") -> str:
    """A record as torch writes it, with the lines of its payload."""
    return "\n".join([HEAD + json.dumps(document), *(f"\t{text}" for text in payload.splitlines())])


def trace(folder: Path, *lines: str, name: str = "dedicated_log_torch_trace_a.log") -> Path:
    """A trace file of these records."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_stacks_name_files_by_the_table_of_strings(tmp_path: Path) -> None:
    stack = [{"line": 3, "name": "f", "filename": 1, "loc": "if n:"}, {"line": "no", "filename": 1}, 7]
    guard = {
        "guard_added_fast": {"expr": "s0 > 5", "stack": stack, "user_stack": None},
        "frame_id": 0,
        "frame_compile_id": 1,
    }
    path = trace(tmp_path, line({"str": ["/home/a.py", 1]}), line(guard))
    (record,) = read_trace(path)
    assert (record.kind, record.compilation) == ("guard_added_fast", "0/1")
    assert record.stack == (Frame("/home/a.py", 3, "f", "if n:"),)
    assert record.user_stack == ()


def test_a_payload_belongs_to_the_record_before_it(tmp_path: Path) -> None:
    reasons = {"artifact": {"name": "recompile_reasons"}, "frame_id": 0, "frame_compile_id": 1, "has_payload": "0"}
    other = {"artifact": {"name": "dynamo_output_graph"}, "has_payload": "0"}
    path = trace(tmp_path, line(other, "class G"), line(reasons, "0/0: a\nb"), line({"dynamo_start": {"stack": []}}))
    records = list(read_trace(path))
    assert [(record.kind, record.payload) for record in records] == [("artifact", "0/0: a\nb"), ("dynamo_start", "")]


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    start = line({"dynamo_start": {"stack": []}})
    assert len(list(read_trace(trace(tmp_path, start, start[:-3], "noise")))) == 1


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b"\xff\x00" * 9, HEAD.encode() + b"[1]\n", HEAD.encode() + b"{" * 9000]
)
def test_what_is_no_trace_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(content)
    with pytest.raises(SymfixError, match=r"a\.log: not a structured trace of torch; TORCH_TRACE=FOLDER makes one"):
        list(read_trace(path))


def test_a_folder_has_a_trace_a_process(tmp_path: Path) -> None:
    for name in ("b.log", "a.log", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in trace_files(tmp_path)] == ["a.log", "b.log"]
    assert trace_files(tmp_path / "a.log") == [tmp_path / "a.log"]
    with pytest.raises(SymfixError, match="there is no such trace"):
        trace_files(tmp_path / "c")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SymfixError, match="holds no trace"):
        trace_files(tmp_path / "empty")
