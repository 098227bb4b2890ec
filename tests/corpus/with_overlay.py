"""A plugin of pytest: PyTorch's own tests over the C++ that symfix writes, as cpp_overlay.py builds it.

    python tests/corpus/cpp_overlay.py [OPTIONS OF symfix prove] > libraries.txt
    cd PYTORCH/test
    OVERLAY=libraries.txt PYTHONPATH=REPOSITORY:REPOSITORY/tests/corpus python -m pytest -p with_overlay test_torch.py

PYTORCH is a checkout of the release that is installed. Without $OVERLAY the tests run over torch as it is.
"""

from __future__ import annotations

import os
from pathlib import Path

from codemod.runner.libraries import load


def pytest_configure() -> None:
    """Load each library that the file $OVERLAY names, before any test is imported. Raises OSError where one cannot."""
    listed = os.environ.get("OVERLAY")
    if listed:
        import torch  # noqa: F401  (what they are linked with)

        for library in Path(listed).read_text(encoding="utf-8").splitlines():
            load(library)
