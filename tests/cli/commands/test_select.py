"""``select``: what it says where --top-k cuts through skills that share their ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.ranking.test_ranking import ALMOST, BAD, GOOD, ran
from tests.core.skills import skill

RAN = {"a": GOOD, "b": ALMOST, "c": GOOD, "d": BAD}


@pytest.mark.parametrize(
    ("options", "kept", "said"),
    [
        pytest.param(["--top-k", "1"], ["a"], "the tasks cannot tell c@1.0.0, b@1.0.0 from a selected skill", id="cut"),
        pytest.param(["--top-k", "1", "--keep-ties"], ["a", "c", "b"], "", id="kept"),
        pytest.param(["--top-k", "3"], ["a", "c", "b"], "", id="between"),
        pytest.param(["--top-k", "1", "--strategy", "keep.yaml"], ["a", "c", "b"], "", id="the-strategy-keeps"),
    ],
)
def test_a_cut_through_a_tie(place: Any, run_here: Callable[..., Any], options: list[str], kept: list[str], said: str) -> None:
    place.write("skills.json", [skill(name).to_json() for name in RAN])
    place.write("r.json", [ran(name, statuses).to_json() for name, statuses in RAN.items()])
    place.write("keep.yaml", "sortBy: completionRate\nkeepTies: true\n")
    place.write("by-completion.yaml", "sortBy: completionRate\n")
    strategy = [] if "--strategy" in options else ["--strategy", "by-completion.yaml"]
    result = run_here("select", "--from", "skills.json", "--reports", "r.json", *options, *strategy)
    assert [entry["skill"]["id"] for entry in result.json] == kept
    assert all((entry["ranking"]["rank"], entry["ranking"]["lastRank"]) == (1, 3) for entry in result.json)
    assert said in result.err
    assert ("top-k cuts" in result.err) is bool(said)
