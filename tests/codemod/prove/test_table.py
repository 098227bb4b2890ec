from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest

from codemod import terminal
from codemod.prove.evidence import Evidence, Verdict
from codemod.prove.orchestrate import Proved
from codemod.prove.table import document, line, totals
from tests.hostile import ATTACKS, runs_a_command, unseen

CURED = Evidence(
    "cross_entropy_loss", "cured", "abc", "throws (mode 1) → passes", Verdict("throws", 1), Verdict("passes", 2),
    versions={"torch": "2.6.0"}, seconds=7.4,
)  # fmt: skip
PASSED = Evidence("cat", "unchanged", "abd", "passed before", Verdict("passes"), Verdict("passes"))
LOST = Evidence("sgn", "not provable", "abe", "no inputs could be made that eager accepts " + "x" * 90)
TARGET = {"python": "python3", "python_version": "3.11.2", "torch": "2.6.0", "tree": "2.6.0"}


def test_a_line_for_each_operator() -> None:
    assert line(CURED, reused=False).split() == [
        "cross_entropy_loss",
        "cured",
        "throws",
        "(1)",
        "→",
        "passes",
        "7",
        "s",
    ]
    assert line(PASSED, reused=True).endswith("known  passed before")


def test_a_cure_of_what_passed_says_what_it_was() -> None:
    fewer = Evidence("cat", "cured", "abd", "compilations over the sizes: 4 → 2", Verdict("passes"), CURED.after)
    assert line(fewer, reused=True).endswith("compilations over the sizes: 4 → 2")


def test_why_nothing_was_proved_is_told_in_full() -> None:
    assert line(LOST, reused=False).endswith("x" * 90)


def test_totals_say_what_passed_before() -> None:
    said = totals([CURED, PASSED, LOST], "2.6.0")
    assert said == "3 operators over torch 2.6.0: 1 cured, 1 unchanged (1 passed before), 1 not provable"
    assert totals([], "2.6.0") == "0 operators over torch 2.6.0: nothing to prove"


def test_a_network_is_said_where_there_was_one() -> None:
    cut_off, reachable = replace(CURED, network="cut off"), replace(PASSED, network="open")
    assert "network" not in totals([cut_off, LOST], "2.6.0")
    assert "what was run for 1 of them had the network" in totals([cut_off, reachable], "2.6.0")


def test_json_follows_the_published_schema() -> None:
    proved = [Proved("cross_entropy_loss", (CURED,)), Proved("cat", (PASSED, LOST), reused=True)]
    found = json.loads(document(proved, TARGET))
    schema = json.loads(files("codemod").joinpath("prove/prove.schema.json").read_text())
    jsonschema.validate(found, schema)
    assert found["totals"] == {"cured": 1, "unchanged": 1, "worse": 0, "not provable": 1}
    assert [entry["passed_before"] for entry in found["operators"]] == [False, True, False]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_what_a_run_says_gives_no_orders(attack: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    verdict = Verdict("throws", 1, attack, (attack,))
    evidence = Evidence(attack, "worse", "k", attack, verdict, verdict, attack, {"torch": attack})
    terminal.show([line(evidence, reused=False), totals([evidence], attack)])
    shown = capfdbinary.readouterr().out.decode()
    assert len(shown.splitlines()) == 2
    assert not unseen(shown)
    assert not runs_a_command(shown)
    text = document([Proved(attack, (evidence,))], TARGET)
    assert not runs_a_command(text)
    json.dumps(json.loads(text), ensure_ascii=False).encode()  # no half of a character


def test_a_line_says_where_inputs_come_from_and_what_opcheck_says() -> None:
    drawn = replace(CURED, inputs="its schema", opcheck={"test_a": ("passes", "passes"), "test_b": ("x", "passes")})
    assert line(drawn, reused=False).endswith("7 s  inputs of its schema; opcheck fails → passes (test_b)")
    failing = replace(PASSED, inputs="PyTorch's samples", opcheck={"test_a": ("x", "y")})
    assert line(failing, reused=True).endswith("known  passed before; opcheck fails (test_a)")
    assert line(replace(PASSED, opcheck={"test_a": ("passes", "passes")}), reused=True).endswith("; opcheck passes")
    lowering = replace(PASSED, backend="inductor")
    assert line(lowering, reused=True).endswith("known  passed before; compiled with inductor")
