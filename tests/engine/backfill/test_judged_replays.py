"""A replay whose judge fails in the middle, or whose limit of what judging costs is reached: the same call goes on with it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.store import Store
from eval_skills.engine.backfill.summary import BackfillSummary
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import plan_for
from tests.engine.backfill.backfills import backfill, shown
from tests.scripted_model import Says, ScriptedModel, failure, verdict

Replay = Callable[..., BackfillSummary]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A skill of three days, which answers with the day's number and the task's name."""
    folder = tmp_path / "repository" / "skill"
    folder.mkdir(parents=True)
    described = {"id": "echo", "name": "Echo", "version": "1.0.0", "adapterType": "custom", "entrypoint": "s.py:answer"}
    (folder / "skill.json").write_text(json.dumps(described))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = ["git", "-C", str(folder.parent), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "--quiet"], env=kept, check=True)
    for day in (1, 2, 3):
        (folder / "s.py").write_text(f"def answer(task): return '{day}' + task['n']")
        at = f"2026-03-0{day}T12:00:00Z"
        subprocess.run([*git, "add", "-A"], env=kept, check=True)
        dated = kept | {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
        subprocess.run([*git, "commit", "--quiet", "-m", at], env=dated, check=True)
    return folder.parent


@pytest.fixture
def replay(tmp_path: Path, repository: Path, store: Store, model: ScriptedModel) -> Replay:
    judged = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": name, "inputData": {"n": name}, **judged} for name in "ab"]))
    options: dict[str, Any] = {
        "skillsRepo": str(repository), "skillsPath": "skill", "tasks": str(tmp_path / "tasks.json"),
        "outputDir": str(tmp_path / "reports"), "noJudgeCheck": True, "judgeConcurrency": 1,
        "llm": {"model": "openai/scripted", "apiBase": model.url, "inputPrice": 0.0, "outputPrice": 1_000.0},
    }  # fmt: skip
    return lambda **more: backfill(store, "replay", evaluate=lambda asked: evaluate_in_process(plan_for(asked)), **options | more)


def down_at(model: ScriptedModel, *answers: str) -> None:
    down = [f"\n{answer}\n" for answer in answers]
    model.otherwise = lambda asked: failure(422, "down") if any(each in asked.prompt for each in down) else verdict()


def rates(summary: BackfillSummary) -> list[float | None]:
    return [row["completion_rate"] for row in summary.rows]


@pytest.mark.slow
def test_what_the_judge_failed_is_asked_again_by_the_same_call_which_calls_no_skill(
    replay: Replay, model: ScriptedModel, store: Store
) -> None:
    down_at(model, "2b")
    first = replay()
    assert (rates(first), first.unjudged) == ([1.0, 0.5, 1.0], {"2026-03-02": 1})
    assert str(first.unjudged_line).endswith("; the same call asks about it again")
    still = replay()
    assert (rates(still), still.unjudged) == (rates(first), first.unjudged), "no call says otherwise as long as it fails"
    model.asked.clear()
    model.otherwise = verdict()
    again = replay()
    assert (rates(again), again.unjudged, again.unjudged_line) == ([1.0, 1.0, 1.0], {}, None)
    assert again.done == ["2026-03-02", "2026-03-03"], "what is compared with it is compared anew"
    assert (again.rows[2]["before_run_id"], again.rows[2]["before_completion_rate"]) == (again.rows[1]["run_id"], 1.0)
    assert (len(model.asked), again.task_runs) == (1, 0)
    assert shown(last := replay()) == shown(again)
    assert last.done == []


@pytest.mark.slow
def test_a_day_that_it_failed_altogether_keeps_its_answers(replay: Replay, model: ScriptedModel) -> None:
    down_at(model, "2a", "2b")
    first = replay()
    assert (rates(first), first.unjudged) == ([1.0, None, 1.0], {"2026-03-02": 2})
    assert (rates(still := replay()), still.unjudged) == (rates(first), first.unjudged)
    model.otherwise = verdict()
    again = replay()
    assert (rates(again), again.unjudged) == ([1.0, 1.0, 1.0], {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checked", "asked"), [pytest.param(False, 3, id="unchecked"), pytest.param(True, 4, id="checked-before-each-run")]
)
def test_what_judging_may_cost_is_a_limit_of_the_call_and_not_of_each_run(
    replay: Replay, model: ScriptedModel, store: Store, checked: bool, asked: int
) -> None:
    """A reply costs 0.02 USD, as does a check, and 1.50 are set aside for a verdict: three fit, and each day alone would."""
    model.otherwise = lambda asked: Says("OK") if "Reply with: OK" in asked.prompt else verdict()
    told = r"what is left of --max-judge-cost 1\.55 \(\$1\.\d+\) does not pay for another request, and not everything was judged"
    with pytest.raises(RunError, match=f"{told}; the same call judges the rest, and gets further with a higher limit"):
        replay(maxJudgeCost=1.55, noJudgeCheck=not checked)
    assert len(model.asked) == asked
    assert store.comparisons()["period"].tolist() == ["2026-03-01"], "what was judged before is kept"
    rest = replay()
    assert (rates(rest), rest.up_to_date, rest.unjudged) == ([1.0, 1.0, 1.0], ["2026-03-01"], {})
    assert sum("Reply with: OK" not in each.prompt for each in model.asked) == 6, "each answer was paid once"
