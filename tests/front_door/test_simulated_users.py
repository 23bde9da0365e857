"""A simulated user that fails in a run of Python objects: what can be done about it from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from tests.scripted_model import Says, ScriptedModel

TASK: dict[str, Any] = {"id": "u", "user": {"goal": "g", "maxTurns": 2}, "evaluator": {"type": "contains", "keywords": ["x"]}}


def skill(said: str) -> str:
    return said


@pytest.mark.parametrize("kept", [True, False], ids=["with-a-store", "without"])
def test_conversations_are_had_again_by_what_python_can_call(tmp_path: Path, kept: bool) -> None:
    with ScriptedModel() as model:
        model.otherwise = Says("nonsense")
        llm = {"model": "openai/m1", "apiBase": model.url, "cacheDir": str(tmp_path / "cache")}
        store = str(tmp_path / "store") if kept else None
        result = es.evaluate(skill, [TASK], llm=llm, no_judge_check=True, store=store)
    said = "\n".join(result.remarks)
    assert "1 of 1 item could not be brought to an end" in said
    assert "eval-skills eval" not in said
    assert "/eval-skills-" not in said
    assert (f'resume="{result.run_id}", retry_errors=True' in said, "give store=" in said) == (kept, not kept)


def test_what_a_cost_limit_left_is_not_judged_by_a_command_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    task = {"id": "j", "input": "x", "evaluator": {"type": "llm_judge", "criteria": "Be right."}}
    with ScriptedModel() as model:
        prices = {"inputPrice": 1.0, "outputPrice": 1.0, "cacheDir": str(tmp_path / "cache")}
        llm = {"model": "openai/m1", "apiBase": model.url, **prices}
        result = es.evaluate(skill, [task], llm=llm, no_judge_check=True, max_judge_cost=1e-9)
    said = "\n".join(result.remarks)
    assert "give store=, so that no skill is called again for it" in said
    assert "rescore" not in said
