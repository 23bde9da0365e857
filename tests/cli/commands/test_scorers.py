"""`scorers`: what can judge an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from eval_skills.scorers import registry, scorer_names

Run = Callable[..., Any]


def test_every_scorer_is_listed_with_what_it_says(run_here: Run) -> None:
    said = run_here("scorers")
    assert said.code == 0
    lines = {line.split()[0]: line for line in said.out.splitlines()[1:]}
    assert [*lines] == list(scorer_names())
    assert "exact_match or exact" in lines["exact_match"]
    assert all(len(line.split()) > 4 for line in lines.values())
    assert "`" not in said.out


def test_one_is_shown_with_its_options(run_here: Run) -> None:
    lines = run_here("scorers", "exact").out.splitlines()
    assert lines[0] == "exact_match or exact"
    options = [line.split() for line in lines[lines.index(next(line for line in lines if line.startswith("option"))) + 1 :]]
    assert options[0][:2] == ["value", "*"]
    assert ["caseSensitive", "true", "or", "false", "true"] in options
    assert not any(line.startswith("Raises") for line in run_here("scorers", "levenshtein").out.splitlines())


def test_json_has_all_of_it(run_here: Run) -> None:
    listed = json.loads(run_here("scorers", "--json").out)["scorers"]
    one = json.loads(run_here("scorers", "levenshtein", "--json").out)
    assert [each["name"] for each in listed] == list(scorer_names())
    assert one in listed
    assert {option["name"] for each in listed for option in each["options"]}.isdisjoint({"task", "settings"})
    assert {"name": "value", "type": "text or list of text", "required": True, "default": None, "inExpectedOutput": True} in one[
        "options"
    ]
    judge = next(each for each in listed if each["name"] == "llm_judge")
    assert {option["name"]: option["default"] for option in judge["options"]}["models"] is None


def test_one_that_is_not_there_is_named_with_the_nearest(run_here: Run) -> None:
    said = run_here("scorers", "exact_mach")
    assert (said.code, said.out) == (2, "")
    assert "unknown scorer 'exact_mach' (did you mean 'exact_match'?)" in said.err


def test_a_plug_in_that_cannot_be_loaded_hides_no_other(run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_module:judge", registry.ENTRY_POINT_GROUP)

    def installed(group: str, name: str | None = None) -> list[EntryPoint]:
        return [broken] if name in (None, "broken") else []

    monkeypatch.setattr(registry, "entry_points", installed)
    said = run_here("scorers")
    assert said.code == 0
    assert "the scorer plug-in 'broken' (no_such_module:judge) cannot be loaded" in said.err
    assert "levenshtein" in said.out
