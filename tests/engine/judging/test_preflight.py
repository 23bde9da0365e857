"""The judge's key never reaches a skill: whichever option of the skill names its variable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import make_plan

JUDGED = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
HTTP = {"adapterType": "http", "entrypoint": "http://127.0.0.1:9/"}
MakeRequest = Callable[..., EvaluateRequest]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, f"sk-{name.lower()}-1234")


@pytest.fixture
def check(make_request: MakeRequest, write_skill: Callable[..., Path], write_tasks: Callable[..., str]) -> Callable[..., None]:
    """Makes a plan of a skill with this adapterConfig, for tasks that are judged as said."""

    def make(config: dict[str, Any], llm: dict[str, Any], judged: dict[str, Any] = JUDGED) -> None:
        write_skill(adapterConfig=config, **(HTTP if {"headers", "authType"} & config.keys() else {}))
        make_plan(EvaluateRequest.model_validate(make_request(tasks=write_tasks("ok", **judged)).to_json() | {"llm": llm}))

    return make


def skill_of(*names: str) -> dict[str, Any]:
    return {"passEnv": list(names)}


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(skill_of("OTHER", "JUDGE_KEY"), id="pass-env"),
        pytest.param({"authType": "bearer", "authTokenEnvKey": "JUDGE_KEY"}, id="auth"),
        pytest.param({"headers": {"X-Key": "Bearer ${JUDGE_KEY}"}}, id="header"),
    ],
)
def test_p71_the_variable_that_llm_names_is_refused(check: Callable[..., None], config: dict[str, Any]) -> None:
    named = r"moody@1\.0\.0 asks for the variable JUDGE_KEY, which llm\.apiKeyEnv names as the judge's key, and a skill must"
    with pytest.raises(UsageError, match=named):
        check(config, {"model": "openai/x", "apiKeyEnv": "JUDGE_KEY"})


def test_p71_also_where_no_task_is_judged(check: Callable[..., None]) -> None:
    with pytest.raises(UsageError, match=r"JUDGE_KEY, which llm\.apiKeyEnv names as the judge's key"):
        check(skill_of("JUDGE_KEY"), {"model": "openai/x", "apiKeyEnv": "JUDGE_KEY"}, {})


def test_p71_so_is_the_usual_variable_of_the_judges_provider(check: Callable[..., None]) -> None:
    told = r"OPENAI_API_KEY, from which the judge openai/x takes its key, .* separate variable, and name it with llm\.apiKeyEnv"
    with pytest.raises(UsageError, match=told):
        check(skill_of("OPENAI_API_KEY"), {"model": "openai/x"})


def test_p71_also_of_a_model_that_a_task_names(check: Callable[..., None]) -> None:
    judged = {"evaluator": {"type": "llm_judge", "criteria": "Be right.", "models": ["openai/x", "anthropic/y"]}}
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY, from which the judge anthropic/y takes its key"):
        check(skill_of("ANTHROPIC_API_KEY"), {"model": "openai/x"}, judged)


@pytest.mark.parametrize(
    ("names", "llm", "judged"),
    [
        pytest.param(["ANTHROPIC_API_KEY"], {"model": "openai/x"}, JUDGED, id="of-another-provider"),
        pytest.param(["OPENAI_API_KEY"], {"model": "openai/x", "apiKeyEnv": "JUDGE_KEY"}, JUDGED, id="the-judge-has-its-own"),
        pytest.param(["OPENAI_API_KEY"], {"model": "openai/x", "apiBase": "http://127.0.0.1:9/v1"}, JUDGED, id="own-server"),
        pytest.param(["OPENAI_API_KEY"], {"model": "openai/x"}, {}, id="nobody-judges"),
    ],
)
def test_a_skill_may_have_every_other_key(
    check: Callable[..., None], names: list[str], llm: dict[str, Any], judged: dict[str, Any]
) -> None:
    check(skill_of(*names), llm, judged)
