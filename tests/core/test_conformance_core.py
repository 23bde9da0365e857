"""The shared cases of metrics, selection, search, diff and models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel, ValidationError

import eval_skills.core.models as models
from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport
from eval_skills.core.search import search
from eval_skills.core.selection import SelectStrategy, select

FILE = Path(__file__).parents[2].parent / "shared" / "conformance" / "core.json"
if not FILE.exists():
    pytest.skip("shared/conformance is absent: it belongs to the developers' workplace, not to a clone", allow_module_level=True)

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
DEFAULTS: dict[str, Any] = DOCUMENT["defaults"]
Case = dict[str, Any]


def cases(area: str) -> pytest.MarkDecorator:
    chosen = [case for case in DOCUMENT["cases"] if case["area"] == area]
    assert chosen
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in chosen])


def merged(default: Any, given: Any) -> Any:
    if not (isinstance(default, dict) and isinstance(given, dict)):
        return given
    return {**default, **{key: merged(default.get(key), value) for key, value in given.items()}}


def reports_of_items(given: Case, items: Case) -> list[SkillCompletionReport]:
    frame = pd.DataFrame({**DEFAULTS["items"], **items})
    weights = frame["weight"] if "weight" in frame else pd.Series(1.0, index=frame.index)
    weight_of = dict(zip(frame["task_id"], weights, strict=True))
    tasks = [{**DEFAULTS["benchmark_task"], "id": task, "weight": weight} for task, weight in weight_of.items()]
    benchmark = Benchmark.model_validate({**DEFAULTS["benchmark"], **given.get("benchmark", {}), "tasks": tasks})
    return skill_reports(frame, benchmark, given.get("timeout_ms", 30_000))


def reports_of(given: list[Case]) -> list[SkillCompletionReport]:
    return [SkillCompletionReport.model_validate(merged(DEFAULTS["report"], report)) for report in given]


def skills_of(given: list[Case]) -> list[Skill]:
    return [Skill.model_validate({**DEFAULTS["skill"], **skill}) for skill in given]


def assert_holds(actual: Any, expected: Any, where: str = "") -> None:
    """Keys that are not named are free; numbers agree within 1e-4, ms within 0.5, interval bounds within 1e-3."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in actual, f"{where} has no {key}"
            assert_holds(actual[key], value, f"{where}.{key}")
    elif where.endswith(".method"):
        assert expected in actual
    elif isinstance(expected, float | int) and not isinstance(expected, bool):
        within = 0.5 if where.endswith("Ms") else 1e-3 if "confidenceInterval" in where else 1e-4
        assert actual == pytest.approx(expected, abs=within), where
    else:
        assert actual == expected, where


@cases("metrics")
def test_metrics(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    if expected.get("refused"):
        with pytest.raises(ValueError, match=r"\w"):
            reports_of_items(given, given["items"])
        return
    reports = {report.skill_key: report.to_json() for report in reports_of_items(given, given["items"])}
    if expected["reports"] == 0:
        assert reports == {}
        return
    assert reports.keys() == expected["reports"].keys()
    assert_holds(reports, expected["reports"])
    for report in reports.values():
        interval = report["summary"]["confidenceInterval"]
        assert interval["lower"] <= report["summary"]["completionRate"] <= interval["upper"]


@cases("selection")
def test_selection(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    strategy = SelectStrategy.model_validate(given["strategy"])
    ranked = select(skills_of(given["skills"]), reports_of(given["reports"]), strategy)
    assert [chosen.skill.key for chosen in ranked] == expected["ids"]
    assert [chosen.rank for chosen in ranked] == expected.get("ranks", list(range(1, len(ranked) + 1)))


@cases("search")
def test_search(case: Case) -> None:
    found = search(skills_of(case["given"]["skills"]), **case["given"]["options"])
    assert [skill.id for skill in found] == case["expect"]["ids"]


@cases("diff")
def test_diff(case: Case) -> None:
    given = case["given"]
    sides = [
        reports_of_items(given, given[f"{side}_items"]) if f"{side}_items" in given else reports_of(given[side])
        for side in ("before", "after")
    ]
    found = {skill["skillId"]: skill for skill in diff_reports(*sides).model_dump(by_alias=True)["skills"]}
    assert found.keys() == case["expect"]["skills"].keys()
    for skill_id, expected in case["expect"]["skills"].items():
        assert found[skill_id]["change"] == expected["change"]
        rows = {row["metric"]: row for row in found[skill_id]["rows"]}
        assert_holds(rows, expected.get("rows", {}), skill_id)
        if "verdict" in expected:
            assert found[skill_id]["verdict"] in expected["verdict"]


@cases("models")
def test_models(case: Case) -> None:
    model: type[BaseModel] = getattr(models, case["given"]["model"])
    data = case["given"]["data"]
    if case["expect"].get("refused"):
        with pytest.raises(ValidationError):
            model.model_validate(data)
        return
    accepted = model.model_validate(data)
    assert model.model_validate(accepted.model_dump(by_alias=True)) == accepted
