"""One digest of several texts, which differs for any two different lists of texts."""

from __future__ import annotations

import hashlib


def digest(*parts: str | bytes) -> str:
    """The sha256 of `parts`, each with its length before it, in hexadecimal digits."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()
