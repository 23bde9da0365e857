"""What judging may cost, and what it did."""

from __future__ import annotations

import asyncio
import threading

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.scorers.judging.budget import counted
from eval_skills.scorers.judging.model import JudgeModel
from tests.scorers.judging.asking import PRICED, Settings, asked, code_of
from tests.scripted_model import Says, ScriptedModel, failure


async def test_the_budget_is_never_overdrawn_and_then_nothing_more_is_asked(model: ScriptedModel, settings: Settings) -> None:
    judges = settings(PRICED, max_judge_cost=0.15).judges
    await asked(judges, "a")
    await asked(judges, "b")
    assert judges.budget.spent_usd == pytest.approx(0.04)
    await asked(judges, "c")
    with pytest.raises(JudgeError, match=r"--max-judge-cost 0\.15 does not allow another request \(0\.06 USD spent") as caught:
        await asked(judges, "d")
    assert (caught.value.code, judges.budget.exhausted, len(model.asked)) == ("JUDGE_BUDGET", True, 3)
    assert (await asked(judges, "a")).cached, "what is known costs nothing"


@pytest.mark.slow
async def test_requests_at_the_same_time_cannot_overdraw_it_together(model: ScriptedModel, settings: Settings) -> None:
    judges = settings(PRICED, max_judge_cost=0.25, judge_concurrency=8).judges
    done = await asyncio.gather(*(asked(judges, str(n)) for n in range(12)), return_exceptions=True)
    codes = [each.code for each in done if isinstance(each, JudgeError)]
    assert set(codes) == {"JUDGE_BUDGET"}
    assert judges.budget.spent_usd == pytest.approx(0.02 * len(model.asked))
    assert judges.budget.spent_usd <= 0.25 < judges.budget.spent_usd + 0.1, "all of it that could be used was"
    assert model.most_busy <= 2


@pytest.mark.slow
async def test_a_request_that_failed_costs_nothing_and_one_that_was_cut_off_all_that_it_might(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # only the one that is held is cut off, once or, on a busy machine, also before it reaches the model
    monkeypatch.setattr(JudgeModel, "attempt_s", property(lambda _: 1.0 if len(model.asked) == 1 else 60.0))
    gate, turns = threading.Event(), list[str]()
    judges = settings(PRICED, max_judge_cost=1.0).judges

    async def turn(name: str) -> None:
        turns.append(name)

    judges.before_request = turn
    model.script(failure(503, Retry_After="0"), Says(hold=gate))
    await asked(judges)
    gate.set()
    cut_off = len(turns) - 2
    assert (len(model.asked), cut_off >= 1) == (3, True)
    assert judges.budget.spent_usd == pytest.approx(0.10 * cut_off + 0.02)


async def test_a_limit_without_a_price_judges_nothing(model: ScriptedModel, settings: Settings) -> None:
    assert await code_of(settings(max_judge_cost=1.0).judges) == "JUDGE_BUDGET"
    assert not model.asked


async def test_a_listed_price_is_known_without_asking_the_network(model: ScriptedModel, settings: Settings) -> None:
    with counted() as spending:
        await asked(settings({"model": "openai/gpt-4o-mini"}, max_judge_cost=1.0).judges)
    assert spending.cost_usd == pytest.approx(100 * 0.15e-6 + 20 * 0.6e-6)
