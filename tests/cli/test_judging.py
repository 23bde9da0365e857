"""Judging with a model from the command line, against a real model server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store import Store
from tests.scripted_model import ScriptedModel, failure, verdict


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


def tasks(place: Any, count: int = 3) -> str:
    judged = {"type": "llm_judge", "criteria": "The sum is right."}
    document = [
        {"id": f"add-{n}", "inputData": {"operation": "evaluate", "expression": f"{n} + 1"}, "expectedOutput": judged}
        for n in range(count)
    ]
    return str(place.write("judged.json", document))


def environ(place: Any, model: ScriptedModel, **llm: str) -> dict[str, str]:
    named = {f"EVAL_SKILLS_LLM__{name}": value for name, value in llm.items()}
    return {"EVAL_SKILLS_LLM__API_BASE": model.url, "XDG_CACHE_HOME": str(place.folder / "cache"), **named}


def test_without_a_model_the_call_says_how_to_name_one(run_here: Any, place: Any) -> None:
    result = run_here("eval", "--skills", "skills", "--tasks", tasks(place), "--dry-run")
    assert (result.code, result.out) == (2, "")
    assert (
        "task 'add-0' is judged by a model: no judging model is named; name one with --judge-model PROVIDER/MODEL" in result.err
    )


def test_a_dry_run_asks_nobody(run_here: Any, place: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ(place, model).items():
        monkeypatch.setenv(name, value)
    result = run_here("eval", "--skills", "skills", "--tasks", tasks(place), "--judge-model", "openai/scripted", "--dry-run")
    assert result.code == 0, result.err
    assert not model.asked
    assert "judging    3 answers, about 3 questions to openai/scripted (3)\n           at a cost that is not known" in result.out


def test_the_wrong_limit_is_refused_by_its_option(run_here: Any, place: Any) -> None:
    result = run_here("eval", "--skills", "skills", "--tasks", tasks(place), "--max-judge-cost", "nan", "--dry-run")
    assert result.code == 2
    assert "--max-judge-cost" in result.err


@pytest.mark.slow
def test_a_judged_run_says_what_judging_cost_and_the_next_one_pays_nothing(served: Any, model: ScriptedModel) -> None:
    model.otherwise = lambda asked: verdict(0.0 if "2 + 1" in asked.prompt else 1.0)
    call = ["eval", "--skills", "skills", "--tasks", tasks(served), "--judge-model", "openai/gpt-4o-mini", "--format", "json"]
    first = served.call(*call, environ=environ(served, model))
    assert first.code == 0, first.err
    assert (
        "judging: 3 requests, 0 from the cache, 360 tokens, $0.000081; the check before: 1 request, 120 tokens, $0.000027\n"
        in first.out
    )
    shown = served.call("show", "latest", "calculator", "add-0").out
    assert "  $0.000027, 120 tokens, 1 request\n" in shown
    second = served.call(*call, "--json", environ=environ(served, model))
    document = second.json  # p62: the client library prints nothing on stdout
    assert document["judging"]["lines"][0].startswith(
        "judging: 0 requests, 3 from the cache, 0 tokens, $0.00; the check before: 1 request"
    )
    cost = document["reports"][0]["tokenCost"]
    assert (cost["judgeTokens"], cost["judgeUSD"], cost["estimatedUSD"]) == (0, 0.0, None)
    items = Store(served.folder / "eval-store").items()
    assert sorted(items["status"]) == ["fail"] * 2 + ["pass"] * 4
    assert len(model.asked) == 5


@pytest.mark.slow
def test_a_refused_key_ends_the_call_before_a_skill_is_called_and_is_told_to_nobody(served: Any, model: ScriptedModel) -> None:
    model.otherwise = failure(401, "Incorrect API key provided: sk-judge-secret")
    key = {"JUDGE_KEY": "sk-judge-secret", **environ(served, model, API_KEY_ENV="JUDGE_KEY", MODEL="openai/scripted")}
    result = served.call("eval", "--skills", "skills", "--tasks", tasks(served), environ=key)
    assert (result.code, result.out) == (2, "")
    assert "eval-skills: nothing was run: openai/scripted refused access (HTTP 401: Incorrect API key" in result.err
    assert "sk-judge-secret" not in result.err
    assert not Path(served.folder / "eval-store" / "runs").exists()
    assert not Path(served.folder / "reports").exists()


@pytest.mark.slow
def test_a_spent_budget_ends_with_3_lands_what_is_there_and_rescore_judges_the_rest(served: Any, model: ScriptedModel) -> None:
    prices = {"INPUT_PRICE": "0", "OUTPUT_PRICE": "1000", "MODEL": "openai/scripted"}  # 0.02 USD a reply, 1.50 reserved
    variables = environ(served, model, **prices)
    call = ["eval", "--skills", "skills", "--tasks", tasks(served), "--no-judge-check", "--judge-concurrency", "1"]
    first = served.call(*call, "--max-judge-cost", "1.53", environ=variables)
    assert first.code == 3, first.err
    assert "2 passed, 0 failed, 1 error" in first.out
    assert "what is left of --max-judge-cost 1.53" in first.out
    store = Store(served.folder / "eval-store")
    [run_id] = store.run_ids()
    again = served.call("rescore", run_id, "--max-judge-cost", "9", "--json", environ=variables)
    assert again.code == 0, again.err
    assert list(store.items(run_id=again.json["runId"])["status"]) == ["pass"] * 3
    manifest = json.loads((served.folder / "eval-store" / "runs" / run_id / "manifest.json").read_text())
    assert manifest["request"]["llm"]["model"] == "openai/scripted"
