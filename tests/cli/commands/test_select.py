"""``select``: what it says of skills that filters remove, and where --top-k cuts through skills that share their ranks."""

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


def test_an_entry_says_its_run_and_of_a_skill_without_a_verdict_nothing(place: Any, run_here: Callable[..., Any]) -> None:
    place.write("skills.json", [skill(name).to_json() for name in "ab"])
    known = ran("a", GOOD).model_copy(update={"evaluator_metadata": {"runId": "20260101T000000Z-0001"}})
    gone = ran("b", "i" * 20)
    unknown = {"missing_items": 20, "error_rate": 1.0, "judged_completion_rate": None}
    place.write(
        "r.json", [known.to_json(), gone.model_copy(update={"summary": gone.summary.model_copy(update=unknown)}).to_json()]
    )
    done = run_here("select", "--from", "skills.json", "--reports", "r.json", "--min-completion", "0")
    assert done.code == 0, done.err
    figures = [[entry[name] for name in ("runId", "completionRate", "compositeScore")] for entry in done.json]
    assert figures == [["20260101T000000Z-0001", 1, pytest.approx(known.summary.composite_score)], [None, None, None]]


def test_figures_of_several_benchmarks_are_not_taken_for_comparable(place: Any, run_here: Callable[..., Any]) -> None:
    place.write("skills.json", [skill(name).to_json() for name in "abd"])
    place.write("r.json", [ran("a", BAD).to_json(), ran("d", BAD).to_json()])
    place.write("easy.json", [ran("b", GOOD).model_copy(update={"benchmark_id": "easy"}).to_json()])
    place.write("by-completion.yaml", "sortBy: completionRate\ntopK: 1\n")
    result = run_here("select", "--from", "skills.json", "--reports", "r.json", "easy.json", "--strategy", "by-completion.yaml")
    assert [(entry["skill"]["id"], entry["benchmark"]) for entry in result.json] == [("b", "easy")]
    assert "the figures are of 2 benchmarks" in result.err
    assert "on b: a@1.0.0, d@1.0.0; on easy: b@1.0.0" in result.err
    assert "benchmarks" not in run_here("select", "--from", "skills.json", "--reports", "r.json").err


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        pytest.param([], ["a", "c", "b"], id="some-are-selected"),
        pytest.param(["--output", "chosen.json"], None, id="into-a-file"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True], ids=["terminal", "json"])
def test_what_a_filter_removes_is_named_with_the_filter(
    place: Any, run_here: Callable[..., Any], arguments: list[str], kept: list[str] | None, as_json: bool
) -> None:
    place.write("skills.json", [skill(name).to_json() for name in (*RAN, "new")])
    place.write("r.json", [ran(name, statuses).to_json() for name, statuses in RAN.items()])
    options = [*arguments, *(["--json"] if as_json else [])]
    result = run_here("select", "--from", "skills.json", "--reports", "r.json", "--min-completion", "0.5", *options)
    removed = [line for line in result.err.splitlines() if line.startswith("not selected: ")]
    assert [line.split()[2] for line in removed] == ["d@1.0.0:", "new@1.0.0:"]
    assert removed[0].endswith("(minCompletionRate)")
    assert "no skill was selected" not in result.err
    if kept is not None:
        assert sorted(entry["skill"]["id"] for entry in result.json) == sorted(kept)


def test_many_removed_skills_are_counted(place: Any, run_here: Callable[..., Any]) -> None:
    place.write("skills.json", [skill(f"s{number}").to_json() for number in range(7)])
    place.write("r.json", [ran(f"s{number}", BAD).to_json() for number in range(7)])
    result = run_here("select", "--from", "skills.json", "--reports", "r.json", "--min-completion", "0.9")
    lines = result.err.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("no skill was selected", "… and 2 skills more not selected", 7)
