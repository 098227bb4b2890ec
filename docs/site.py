"""A hook of MkDocs: what the manual links to outside its folder (`../RULES.md`) is a part of the site too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parent.parent
_OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add every target outside the folder, and CHANGELOG.md."""
    linked = {target for path in Path(config["docs_dir"]).glob("*.md") for target in _OUTSIDE.findall(path.read_text())}
    for target in sorted({*linked, "CHANGELOG.md"}):
        files.append(File.generated(config, target, abs_src_path=str(_ROOT / target)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The manual's links as they are where all lies in one folder; a page from outside keeps those into itself."""
    if (_ROOT / "docs" / page.file.src_uri).is_file():
        return re.sub(r"\]\(\.\./", "](", markdown)
    return re.sub(r"\[([^\]]+)\]\((?!#|https?:)(?:\.\./)*[^)]*\)", r"\1", markdown)
