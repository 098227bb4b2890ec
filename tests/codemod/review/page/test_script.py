"""The script of the review page: it hears every filter, and is one that a browser reads."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.codemod.review.page.test_page import example, page_of


def test_every_filter_is_heard() -> None:
    text = page_of(example()).decode()
    offered = re.findall(r'<select id="by-(\w+)">', text)
    heard = re.search(r"for \(const name of \[([^\]]*)\]\) \{\s*\$\(`by-", text)
    assert heard is not None
    assert sorted(re.findall(r'"(\w+)"', heard[1])) == sorted(offered)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_is_one_that_a_browser_reads(tmp_path: Path) -> None:
    path = tmp_path / "page.js"
    path.write_bytes(re.findall(rb"<script>(.*?)</script>", page_of(example()), re.S)[-1])
    done = subprocess.run(["node", "--check", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
