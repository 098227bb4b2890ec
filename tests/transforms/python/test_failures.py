from __future__ import annotations

import pytest

from codemod.model.findings import Finding
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from tests.conftest import MakeTree
from transforms.python import rewrite
from transforms.python.jobs import FileJob
from transforms.python.transform import PythonTransform

SOURCE = b"""import torch


class Block(torch.nn.Module):
    def forward(self, x):
        n, c = x.shape
        assert n % 8 == 0 and c % 8 == 0
        return x
"""


def test_a_rule_that_fails_in_one_file_leaves_what_is_found_in_others(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = rewrite.findings

    def failing(job: FileJob, source: bytes) -> list[Finding]:
        if job.path == "net/bad.py":
            raise KeyError("rule")
        return findings(job, source)

    monkeypatch.setattr(rewrite, "findings", failing)
    root = make_tree({"net/__init__.py": b"", "net/bad.py": SOURCE, "net/good.py": SOURCE})
    project = CheckoutProject(find_checkout(root), Cache(None))
    assert [(found.path, bool(found.edits)) for found in PythonTransform().analyse(project)] == [("net/good.py", True)]
    (failure,) = project.failures
    assert failure.startswith("net/bad.py: KeyError: 'rule' (test_failures.py:")
