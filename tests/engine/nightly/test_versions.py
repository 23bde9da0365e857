"""Versions of a skill in nights: side by side, one in the place of another, and after others were retired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval_skills.engine.nightly.evidence import gone
from eval_skills.engine.nightly.history import LastNight, PastNight, SuiteHistory
from tests.engine.nightly.made_nights import BROKEN, FINE, TASKS, Nights, Outcome, verdicts
from tests.tables import each_row


@pytest.mark.slow
def test_another_version_of_the_skill_has_the_same_past(nights: Nights) -> None:
    nights.night(FINE)
    bad = nights.night(BROKEN, {"t3": "ffffff"}, skill_version="1.1.0")
    back = nights.night(FINE, skill_version="1.1.1")
    assert verdicts(bad, back) == ["regressed", "recovered"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tonight", "moved"),
    [
        pytest.param({"2.1.0": BROKEN}, {"1.0.0": [], "2.1.0": ["t3"]}, id="in-the-place-of-the-one-that-left"),
        pytest.param({"2.0.0": FINE, "2.1.0": BROKEN}, {"1.0.0": [], "2.0.0": [], "2.1.0": []}, id="a-third-one"),
        pytest.param({"2.1.0": BROKEN, "3.0.0": BROKEN}, {"1.0.0": [], "2.1.0": [], "3.0.0": []}, id="two-in-the-place-of-one"),
    ],
)
def test_a_version_beside_others_has_the_past_of_the_one_it_replaced(
    nights: Nights, tonight: dict[str, Outcome], moved: dict[str, list[str]]
) -> None:
    nights.night(FINE, beside={"2.0.0": FINE})
    (evidence,) = nights.evidence(nights.run(FINE, 2, beside=tonight))
    reports = evidence.run.reports
    assert {each.skill_version: skill.moved() for each, skill in zip(reports, evidence.skills, strict=True)} == moved
    shown = {skill.skill_version for _, diff in evidence.diffs for skill in diff.skills if skill.change == "compared"}
    assert shown == {each.skill_version for each, skill in zip(reports, evidence.skills, strict=True) if skill.past}


@pytest.mark.parametrize(
    ("before", "now", "missed"),
    [
        pytest.param(["1.0.0"], ["1.1.0"], [], id="another-version-is-the-same-skill"),
        pytest.param(["1.0.0", "2.0.0"], ["2.0.0"], ["1.0.0"], id="one-of-two-versions"),
        pytest.param(["1.0.0", "2.0.0"], ["2.0.0", "2.1.0"], [], id="one-of-two-versions-replaced"),
    ],
)
def test_versions_that_are_gone(nights: Nights, before: list[str], now: list[str], missed: list[str]) -> None:
    last = [LastNight("adder", version, "night", "run") for version in before]
    run = nights.run(FINE, 1)
    reports = [run.reports[0].model_copy(update={"skill_version": version}) for version in now]
    found = gone(replace(run, reports=reports), SuiteHistory(last=last))
    assert [each.skill_version for each in found] == missed


@each_row(
    ("nights_before", "tonight", "past"),
    [
        pytest.param(["1", "2", "1"], "2", "1 2 1", id="alone-every-version-counts"),
        pytest.param(["1 2", "1 2"], "1 2", "2 2", id="side-by-side"),
        pytest.param(["1", "1 2", "1 2"], "2", "2 2", id="the-other-is-retired"),
        pytest.param(["1 2", "1 2", "2"], "2", "2 2 2", id="the-other-was-retired-before"),
        pytest.param(["1 2", "1", "1 2"], "1 2", "2 2", id="away-for-a-night"),
        pytest.param(["1 2", "1 3", "1 3"], "1 4", "2 3 3", id="one-after-the-other-in-one-place"),
        pytest.param(["1 2", "1"], "1 3", "2", id="away-for-a-night-and-back-as-another"),
        pytest.param(["1 2"], "1 2 3", "", id="a-third-one"),
        pytest.param(["1 2"], "1 3 4", "", id="two-in-the-place-of-one"),
        pytest.param(["1", "1 2"], "3", "1 1 2", id="one-in-the-place-of-two"),
    ],
)
def test_the_past_of_a_version(nights_before: list[str], tonight: str, past: str) -> None:
    rows = [
        PastNight(f"n{number}", "run", None, "adder", version, "sums", True, None)
        for number, versions in enumerate(nights_before)
        for version in versions.split()
    ]
    found = SuiteHistory(nights=rows).of("adder", tonight.split()[-1], tonight.split())
    assert " ".join(night.skill_version for night in found) == past
    assert [night.night_id for night in found] == sorted(night.night_id for night in found)


@pytest.mark.slow
def test_what_a_version_beside_it_lost_is_not_lost_by_a_skill(nights: Nights) -> None:
    nights.night(FINE, beside={"2.0.0": FINE})
    bad = nights.night(FINE, {"t3": "ffffff"}, beside={"2.0.0": BROKEN}, of=1)
    later = [nights.night(FINE, {"t3": "ffffff"}, beside={"2.0.0": BROKEN}, of=1) for _ in range(2)]
    assert verdicts(bad, *later) == ["steady", "regressed"] * 3
    assert [suite.failures for suite in later] == [[], []], "the last good nights of the two are different ones"
    assert [skill.last_good for skill in later[1].skills] == [later[0].run_id, "20260101T000000Z-0001"]


@pytest.mark.slow
def test_a_version_that_is_left_alone_is_compared_with_its_own_nights(nights: Nights) -> None:
    half = FINE | dict.fromkeys(TASKS[:10], "f")
    for _ in range(2):
        nights.night(FINE, beside={"2.0.0": half})
    assert verdicts(nights.night(half, skill_version="2.0.0")) == ["steady"]


@pytest.mark.slow
def test_a_skill_that_regressed_again_after_it_was_back_regressed_tonight(nights: Nights) -> None:
    nights.night(FINE)
    nights.night(BROKEN, {"t3": "ffffff"}, skill_version="2.0.0")
    nights.night(FINE)
    again = nights.night(BROKEN, {"t3": "ffffff"}, skill_version="2.0.0").skills[0].classification
    assert again.lost is not None
    assert (again.verdict, again.lost.since) == ("regressed", "20260104T000000Z-9999")
