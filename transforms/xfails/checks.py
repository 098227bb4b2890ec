"""What an entry's tests do, as checks that `prove` can run; the names follow PyTorch's test files.

test/test_proxy_tensor.py: `test_make_fx_symbolic_exhaustive[_inplace|_out]`; test/functorch/test_aotdispatch.py:
`test_aot_autograd_symbolic_exhaustive`; test/test_ops_unbacked.py: `test_unbacked_op_db` and others of that name.
"""

from __future__ import annotations

import re

from codemod.model.xfails import make_check
from transforms.xfails.facts import Entry, Test

SYMBOLIC = re.compile(r"symbolic|dynamic|unbacked|(?:^|_)dde(?:_|$)", re.I)
NAMES_A_TEST = "it names a test of the tree, which symfix does not run"
KINDS = (
    (re.compile(r"unbacked", re.I), "unbacked"),
    (re.compile(r"aot\w*symbolic"), "aot-symbolic"),
    (re.compile(r"make_fx_symbolic\w*_inplace$"), "symbolic-inplace"),
    (re.compile(r"make_fx_symbolic\w*_out$"), "symbolic-out"),
    (re.compile(r"make_fx_symbolic"), "symbolic"),
)


def checks_of(entry: Entry) -> tuple[tuple[str, ...], str]:
    """The checks that stand for the tests of an entry; none, and why, where they cannot all be run."""
    if entry.names == "test":
        return (), NAMES_A_TEST
    if entry.names == "module":
        return (), "it names a module, whose test symfix does not run"
    if not entry.tests:
        return (), "symfix does not see which test reads it"
    concrete = [test for test in entry.tests if not SYMBOLIC.search(f"{test.owner}.{test.name}")]
    if concrete:
        return (), f"it is also expected with concrete shapes, by {concrete[0].name}"
    checks: list[str] = []
    for test in entry.tests:
        kind = _kind(test)
        if not kind:
            return (), f"symfix does not know what {test.name} does"
        scope = entry.dtypes or test.dtypes
        if not scope or "?" in scope:
            return (), f"it speaks of every dtype that {test.name} runs"
        checks += [make_check(kind, entry.name, entry.variant, dtype) for dtype in scope]
    return tuple(dict.fromkeys(checks)), ""


def symbolic(path: str, entry: Entry) -> bool:
    """Whether a test with symbolic sizes reads an entry, as far as names tell."""
    if entry.tests:
        return any(SYMBOLIC.search(f"{test.owner}.{test.name}") for test in entry.tests)
    return SYMBOLIC.search(f"{path} {entry.registry} {entry.name}") is not None


def devices_of(entry: Entry) -> tuple[str, ...]:
    """The devices that an entry speaks of: its own, else those its tests run on; empty for every one."""
    if entry.devices or not entry.tests or not all(test.devices for test in entry.tests):
        return entry.devices
    return tuple(sorted({device for test in entry.tests for device in test.devices}))


def _kind(test: Test) -> str:
    where = f"{test.owner}.{test.name}"
    return next((kind for pattern, kind in KINDS if pattern.search(where)), "")
