"""The published cases of scoring: answers and agent runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import score_response, score_response_sync

FOLDER = Path(__file__).parents[2].parent / "shared" / "conformance"
if not FOLDER.is_dir():
    pytest.skip("shared/conformance is absent: it belongs to the developers' workplace, not to a clone", allow_module_level=True)


def merged(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """`given` over `defaults`, objects merged deeply."""
    both = {
        key: merged(defaults[key], given[key])
        for key in defaults.keys() & given.keys()
        if isinstance(defaults[key], dict) and isinstance(given[key], dict)
    }
    return {**defaults, **given, **both}


def cases() -> list[Any]:
    """Every case of the two files, with its defaults filled in."""
    found = []
    for name in ("core", "agent_scoring"):
        document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for case in document["cases"]:
            if name == "agent_scoring" or case["area"] == "scorer":
                given = {key: merged(document["defaults"].get(key, {}), value) for key, value in case["given"].items()}
                found.append(pytest.param(given, case["expect"], id=case["name"]))
    return found


async def verdict_of(given: dict[str, Any]) -> Verdict:
    task, response = EvalTask.model_validate(given["task"]), SkillResponse.model_validate(given["response"])
    return await score_response(task, response, given.get("settings"))


def check(verdict: Verdict, expect: dict[str, Any]) -> None:
    assert {key: getattr(verdict, key) for key in ("status", "passed") if key in expect} == {
        key: expect[key] for key in ("status", "passed") if key in expect
    }
    if "score" in expect:
        assert verdict.score == pytest.approx(expect["score"], abs=1e-4)
    for name, value in expect.get("dimensions", {}).items():
        assert verdict.dimensions[name] == pytest.approx(value, abs=1e-4)
    assert not set(expect.get("absent", ())) & verdict.dimensions.keys()
    assert len([each for each in verdict.reasons if each.code and each.message]) >= expect.get("min_reasons", 0)
    assert set(expect.get("codes", ())) <= {each.code for each in verdict.reasons}
    if "forbidden" in expect:
        violations = [each for each in verdict.reasons if "forbidden" in each.code.lower()]
        assert len(violations) == len(expect["forbidden"])
        for reason, name in zip(violations, expect["forbidden"], strict=True):
            assert name in reason.message + reason.where


CASES = cases()


@pytest.mark.parametrize(("given", "expect"), CASES)
async def test_case(given: dict[str, Any], expect: dict[str, Any]) -> None:
    if expect.get("refused"):
        with pytest.raises(ValueError, match=r"\S"):
            await verdict_of(given)
    else:
        check(await verdict_of(given), expect)


@pytest.mark.parametrize(("given", "expect"), [case for case in CASES if not case.values[1].get("refused")][::10])
def test_the_synchronous_door_gives_the_same(given: dict[str, Any], expect: dict[str, Any]) -> None:
    task, response = EvalTask.model_validate(given["task"]), SkillResponse.model_validate(given["response"])
    check(score_response_sync(task, response, given.get("settings")), expect)


def test_all_cases_are_here() -> None:
    assert len(CASES) > 100
