from __future__ import annotations

from pathlib import Path

from rescans import rounds

from codemod.model.plan import Plan
from codemod.model.transform import load_transforms
from codemod.planning.analysis import analyse
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject

LIBRARY = Path(__file__).parents[2] / "examples/library"


def test_what_earlier_scans_found_is_found_anew(tmp_path: Path) -> None:
    def scan(copy: Path, cached: bool) -> Plan:
        # What was read of the installed torch serves both, which would else take most of the time.
        cache = Cache.of(copy, tmp_path) if cached else Cache(None, Cache(tmp_path / "installed"))
        plan = analyse(CheckoutProject(find_checkout(copy), cache), load_transforms)
        assert plan.findings
        return plan

    made = list(rounds(LIBRARY, tmp_path, 2, 7, scan))
    assert len({change for change, *_ in made}) == 2
    assert all(same for *_, same in made), made
