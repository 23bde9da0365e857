from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from eval_skills.core.diff.model import DiffRow
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.reporting.skill_effect.document import EFFECT_FORMATS, write_effect
from eval_skills.reporting.skill_effect.figures import comparison_line, judging_cost, spending
from tests.core.skill_effect.test_effect import LOADED, NOT_LOADED, effect, every, report

HOSTILE = "<script>alert(1)</script>|`\x1b[31m"


def found(*, loaded_without: bool = False) -> SkillEffect:
    ours = report("with", {**every(8, "pp"), HOSTILE: "ff"}, LOADED)
    theirs = report("without", {**every(8, "ff"), HOSTILE: "pp"}, LOADED if loaded_without else NOT_LOADED)
    return effect(with_=ours, without=theirs)


@pytest.mark.parametrize("name", EFFECT_FORMATS)
def test_every_format_is_written_and_foreign_names_are_text(tmp_path: Path, name: str) -> None:
    (file,) = write_effect(found(), [name, "csv"], tmp_path)
    text = file.read_text()
    assert "csv-tools" in text
    assert "<script>alert(1)" not in text or name == "json"
    assert "\x1b" not in text


def test_json_has_all_of_it_unrounded(tmp_path: Path) -> None:
    (file,) = write_effect(found(), ["json"], tmp_path)
    document = json.loads(file.read_text())
    assert document["comparisons"][0]["diff"]["statistics"]["meanDifference"] == pytest.approx(7 / 9)
    assert {"with": 0.0, "without": 1.0} in [task["rates"] for task in document["tasks"]]


def test_junit_fails_the_tasks_that_got_worse(tmp_path: Path) -> None:
    (file,) = write_effect(found(), ["junit"], tmp_path)
    root = ElementTree.parse(file).getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("11", "1", "0")
    (failure,) = root.iter("failure")
    assert failure.get("type") == "TASK_WORSE"


def test_a_wrong_set_up_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    (file,) = write_effect(found(loaded_without=True), ["junit"], tmp_path)
    root = ElementTree.parse(file).getroot()
    assert root.get("errors") == "1"
    verdict = next(case for case in root.iter("testcase") if case.get("name") == "verdict")
    assert verdict.find("skipped") is not None


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_no_page_shows_a_verdict_of_a_wrong_set_up(tmp_path: Path, name: str) -> None:
    (file,) = write_effect(found(loaded_without=True), [name], tmp_path)
    text = file.read_text()
    assert "no verdict: the set-up is wrong" in text
    assert "✔" not in text


def test_an_agent_that_was_never_reached_has_no_verdict(tmp_path: Path) -> None:
    (file,) = write_effect(
        effect(with_=report("with", every(8, "ii")), without=report("without", every(8, "ii"))), ["markdown"], tmp_path
    )
    assert "with − without: no verdict: the set-up is wrong" in file.read_text()


def test_what_judges_were_paid_stands_apart() -> None:
    made = found()
    arms = [arm.model_copy(update={"judge_cost_usd": 0.012 if arm.arm == "with" else None}) for arm in made.arms]
    assert judging_cost(made) is None
    assert judging_cost(made.model_copy(update={"arms": arms})) == "judging: $0.0120 with; not in the arms' cost"


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        pytest.param(1.0, "× 1.00", id="the-same"),
        pytest.param(1.23456, "× 1.23", id="apart"),
        pytest.param(1.0034, "× 1.003", id="hardly-more"),
        pytest.param(0.0004, "× 0.0004", id="next-to-nothing"),
        pytest.param(1.0 - 1e-12, "× 1.00", id="the-same-but-for-binary-fractions"),
        pytest.param(0.00000123, "× 1.2e-06", id="a-millionth"),
        pytest.param(2.5e17, "× 2.5e+17", id="a-mistaken-unit"),
        pytest.param(None, "no ratio to nothing", id="unknown"),
    ],
)
def test_a_ratio_is_1_or_0_only_where_it_is(ratio: float | None, shown: str) -> None:
    row = DiffRow(metric="tokens", before=1000.0, after=1003.0, ratio=ratio, significant=True)
    made = found().comparisons[0]
    compared = made.model_copy(update={"diff": made.diff.model_copy(update={"rows": [row]})})
    assert [each.ratio for each in spending(compared)] == [shown]


@pytest.mark.parametrize(
    ("gain", "shown"),
    [
        pytest.param(0.8749, "gain 87 %", id="most"),
        pytest.param(299 / 300, "gain 99.7 %", id="all-but-one"),
        pytest.param(1 / 300, "gain 0.3 %", id="one"),
        pytest.param(1.0 - 1e-12, "gain 100 %", id="all-but-for-binary-fractions"),
        pytest.param(-1.0 - 1 / 300, "gain -100.3 %", id="lost-more-than-was-left"),
        pytest.param(0.0, "gain 0 %", id="none"),
        pytest.param(None, "gain undefined", id="nothing-was-left"),
    ],
)
def test_a_gain_is_all_or_nothing_only_where_it_is(gain: float | None, shown: str) -> None:
    made = found()
    line = comparison_line(made.comparisons[0].model_copy(update={"gain": gain}), made)
    assert line.partition("; ")[2].removesuffix(" of what was left") == shown


def test_the_page_says_of_what_its_figures_are_means(tmp_path: Path) -> None:
    (file,) = write_effect(found(), ["html"], tmp_path)
    assert "each figure is a mean over their shared tasks, a geometric one where there is a ratio" in file.read_text()
