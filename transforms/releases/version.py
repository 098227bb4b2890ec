"""Releases of torch by number."""

from __future__ import annotations

import re

Release = tuple[int, int]


def release(text: str) -> Release | None:
    """The release that a version such as `2.4` or `2.4.1+cpu` belongs to; None where it is none."""
    match = re.match(r"v?(\d{1,3})(?:\.(\d{1,3}))?(?![\d])", text.strip(), re.ASCII)
    return (int(match[1]), int(match[2] or 0)) if match else None


def spelled(number: Release) -> str:
    """`2.4` for (2, 4)."""
    return f"{number[0]}.{number[1]}"
