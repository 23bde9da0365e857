"""The judges of a run: asked whether they can be asked, given what they may know, and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from eval_skills.cli.output.monitor import MonitorGate
from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store import Store
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.session import RunSession
from eval_skills.engine.judging.outcome import judging_lines
from eval_skills.engine.judging.preflight import check_judges_ready
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.planning.dry_run import foreseen
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, MakePlan

JUDGED = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
PRICED = {"inputPrice": 0.0, "outputPrice": 1_000.0}
"""A reply of 20 tokens costs 0.02 USD; one of llm_judge may cost up to 1.50."""


@pytest.fixture
def llm(model: ScriptedModel) -> Callable[..., dict[str, Any]]:
    """The options of a request that judges with the scripted model."""
    return lambda **more: {"llm": {"model": "openai/scripted", "apiBase": model.url, **more}}


@pytest.fixture
def judged_plan(make_plan_of: MakePlan, llm: Callable[..., dict[str, Any]], write_tasks: Callable[..., str]) -> MakePlan:
    """A plan whose tasks are judged by the scripted model; keyword arguments are options, `llm` adds to its settings."""

    def make(*whats: str, **fields: Any) -> RunPlan:
        return make_plan_of(tasks=write_tasks(*whats, **JUDGED), **{**llm(**fields.pop("llm", {})), **fields})

    return make


class TestBeforeTheRun:
    def test_one_token_is_asked_for_and_the_skill_is_not(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        assert check_judges_ready(judged_plan("ok", "no").scorings) == []
        [asked] = model.asked
        assert (asked.body["max_tokens"], asked.body["model"]) == (1, "scripted")

    async def test_it_can_be_asked_below_a_running_event_loop(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        assert check_judges_ready(judged_plan("ok").scorings) == []

    def test_nothing_is_asked_where_no_model_judges(self, model: ScriptedModel, make_plan_of: MakePlan, llm: Any) -> None:
        assert check_judges_ready(make_plan_of("ok", **llm()).scorings) == []
        assert not model.asked

    def test_nor_where_nobody_wants_to_know(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        check_judges_ready(judged_plan("ok", no_judge_check=True).scorings)
        assert not model.asked

    @pytest.mark.parametrize(
        ("says", "error", "message"),
        [
            pytest.param(failure(401, "bad key"), UsageError, "nothing was run: .* refused access .*bad key", id="key"),
            pytest.param(failure(404, "no such model"), UsageError, "there is no model openai/scripted", id="model"),
            pytest.param(failure(429, "exceeded your current quota"), UsageError, "quota .* is used up", id="quota"),
            pytest.param(failure(500, "down"), RunError, "not available .*--no-judge-check", id="outage"),
        ],
    )
    def test_what_would_fail_every_item_stops_the_run_at_once(
        self,
        model: ScriptedModel,
        judged_plan: MakePlan,
        says: Says,
        error: type[Exception],
        message: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("eval_skills.scorers.judging.member.CHECK_S", 0.1)
        model.otherwise = says
        with pytest.raises(error, match=message):
            check_judges_ready(judged_plan("ok").scorings)

    @pytest.mark.slow
    @pytest.mark.parametrize("down", [pytest.param({"two"}, id="one"), pytest.param({"two", "three"}, id="two")])
    def test_a_member_that_does_not_answer_is_a_remark_where_its_panel_can_do_without_it(
        self, model: ScriptedModel, make_plan_of: MakePlan, llm: Any, write_tasks: Any, down: set[str], monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("eval_skills.scorers.judging.member.CHECK_S", 0.1)
        model.otherwise = lambda asked: failure(500, "down") if asked.body["model"] in down else verdict()
        panel = {"type": "llm_judge", "criteria": "Be right.", "models": ["openai/one", "openai/two", "openai/three"]}
        plan = make_plan_of(tasks=write_tasks("ok", evaluator=panel, expectedOutput=None), **llm())
        if len(down) == 2:
            with pytest.raises(RunError, match=r"nothing was run: openai/two is not available .*--no-judge-check"):
                check_judges_ready(plan.scorings)
            return
        [remark] = check_judges_ready(plan.scorings)
        assert remark.startswith("openai/two does not answer, and its panel judges without it until it does: openai/two is not")
        asked = len(model.asked)
        summary = evaluate_in_process(plan)
        assert (summary.unjudged, summary.reports[0].summary.completion_rate) == (0, 1.0)
        assert {each.body["model"] for each in model.asked[asked:] if each.body["max_tokens"] > 1} == {"one", "three"}

    def test_one_that_refuses_so_short_a_reply_can_be_asked_all_the_same(
        self, model: ScriptedModel, judged_plan: MakePlan
    ) -> None:
        model.otherwise = failure(400, "max_tokens is too small")
        assert check_judges_ready(judged_plan("ok").scorings) == []

    def test_a_limit_of_cost_needs_a_price(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        with pytest.raises(UsageError, match=r"--max-judge-cost needs a price, .*openai/scripted.*llm\.inputPrice"):
            check_judges_ready(judged_plan("ok", max_judge_cost=1.0, no_judge_check=True).scorings)
        assert check_judges_ready(judged_plan("ok", max_judge_cost=1.0, llm=PRICED).scorings) == []

    def test_without_a_model_there_is_no_plan(self, make_plan_of: MakePlan, write_tasks: Callable[..., str]) -> None:
        with pytest.raises(UsageError, match=r"task 'ok' is judged by a model: .*--judge-model PROVIDER/MODEL"):
            make_plan_of(tasks=write_tasks("ok", **JUDGED))

    @pytest.mark.parametrize(
        ("evaluator", "message"),
        [
            pytest.param({"models": ["openai/scripted", "gpt"]}, "'gpt' names no provider", id="of-a-panel"),
            pytest.param({"model": "acme/b"}, "'acme/b' names no provider", id="of-a-task"),
            pytest.param({"model": "azure"}, "'azure' names no provider", id="no-model"),
            pytest.param({"model": "openai/"}, "'openai/' names no model", id="blank-model"),
        ],
    )
    def test_p40_a_name_without_a_provider_is_refused_before_anything_is_asked(
        self,
        model: ScriptedModel,
        make_plan_of: MakePlan,
        llm: Callable[..., dict[str, Any]],
        write_tasks: Callable[..., str],
        evaluator: dict[str, Any],
        message: str,
    ) -> None:
        tasks = write_tasks("ok", evaluator={"type": "llm_judge", "criteria": "Be right.", **evaluator}, expectedOutput=None)
        with pytest.raises(UsageError, match=f"task 'ok' is judged by a model: {message}"):
            make_plan_of(tasks=tasks, **llm())
        assert model.asked == []

    def test_nor_without_the_key_that_was_named(self, judged_plan: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NOT_THERE", raising=False)
        with pytest.raises(UsageError, match=r"llm\.apiKeyEnv: the environment variable NOT_THERE is not set"):
            judged_plan("ok", llm={"apiKeyEnv": "NOT_THERE"})

    @pytest.mark.parametrize(
        "config",
        [
            pytest.param({"passEnv": ["OTHER", "JUDGE_KEY"]}, id="pass-env"),
            pytest.param({"authType": "bearer", "authTokenEnvKey": "JUDGE_KEY"}, id="auth"),
        ],
    )
    def test_p71_a_skill_that_asks_for_the_judges_key_is_refused(
        self,
        judged_plan: MakePlan,
        write_skill: Callable[..., Path],
        monkeypatch: pytest.MonkeyPatch,
        config: dict[str, Any],
    ) -> None:
        monkeypatch.setenv("JUDGE_KEY", "sk-judge-1234")
        adapter = {"adapterType": "http", "entrypoint": "http://127.0.0.1:9/"} if "authType" in config else {}
        write_skill(adapterConfig=config, **adapter)
        with pytest.raises(UsageError, match=r"asks for the variable JUDGE_KEY, which llm\.apiKeyEnv names as the judge's key"):
            judged_plan("ok", llm={"apiKeyEnv": "JUDGE_KEY"})

    def test_a_limit_that_several_processes_would_each_have_is_refused(self, judged_plan: MakePlan) -> None:
        with pytest.raises(UsageError, match="--max-judge-cost counts in one process, and --task-runner dask has several"):
            judged_plan("ok", max_judge_cost=1.0, task_runner="dask")

    def test_a_run_without_prefect_is_stopped_as_well_and_leaves_nothing(
        self, model: ScriptedModel, judged_plan: MakePlan
    ) -> None:
        model.otherwise = failure(401, "bad key")
        plan = judged_plan("ok")
        with pytest.raises(UsageError, match="nothing was run"):
            evaluate_in_process(plan)
        assert not plan.store.run_folder(plan.run_id).exists()


class TestForeseen:
    PANEL: ClassVar = {"type": "llm_judge", "criteria": "Be right.", "models": [None, "openai/two"], "votes": 3}

    def test_every_member_of_a_panel_is_named_with_its_questions(
        self, make_plan_of: MakePlan, llm: Any, write_tasks: Any, monkeypatch: Any
    ) -> None:
        check = {"hallucination": {"mode": "judged", "model": "openai/two"}}
        tasks = write_tasks("a", "b", evaluator=self.PANEL, checks=check, expectedOutput=None)
        ahead = foreseen(make_plan_of(tasks=tasks, runs=2, **llm()))
        assert (ahead.judged_answers, ahead.questions) == (4, {"openai/scripted": 12, "openai/two": 20})
        assert ahead.lines[-2] == "judging    4 answers, about 32 questions to openai/scripted (12), openai/two (20)"

    @pytest.mark.slow
    def test_the_cost_is_that_of_the_last_runs_requests_and_unknown_for_another_model(
        self, model: ScriptedModel, judged_plan: MakePlan
    ) -> None:
        before = judged_plan("a", "b", llm=PRICED, no_judge_check=True)
        evaluate_in_process(before)
        ahead = foreseen(judged_plan("a", "b", "c", llm=PRICED))
        assert ahead.judging_usd == pytest.approx(3 * 0.02)
        assert ahead.lines[-1] == f"           about $0.0600, as in run {before.run_id}; what is in the cache costs nothing"
        other = foreseen(judged_plan("a", llm=PRICED | {"model": "openai/other"}))
        assert (other.judging_usd, other.questions) == (None, {"openai/other": 1})


class TestTheRun:
    def test_a_run_without_prefect_tells_what_judging_came_to(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        summary = evaluate_in_process(judged_plan("ok", no_judge_check=True))
        assert [line.split(",")[0] for line in summary.judging] == ["judging: 1 request"]
        assert not summary.out_of_budget

    @pytest.mark.slow
    @pytest.mark.parametrize(("ask", "unjudged"), [("all", 2), ("one", 1)])
    def test_p13_what_the_judge_failed_is_told_and_passes_no_gate(
        self, model: ScriptedModel, judged_plan: MakePlan, ask: str, unjudged: int
    ) -> None:
        bad = failure(422, "out of order")
        model.otherwise = lambda asked: bad if ask == "all" or "dead" in asked.prompt.rpartition("<<<answer")[2] else verdict()
        summary = evaluate_in_process(judged_plan("ok", "dead", no_judge_check=True, min_completion=0.0))
        assert (summary.unjudged, summary.gate_passed, summary.out_of_budget) == (unjudged, False, False)
        assert summary.judging[0].startswith(f"judge: {unjudged} of 2 items could not be judged: openai/scripted does not take")
        assert "out of order" in summary.judging[0]

    @pytest.mark.slow
    def test_what_was_not_asked_after_a_refusal_says_so_and_is_counted(self, model: ScriptedModel, judged_plan: MakePlan) -> None:
        model.otherwise = lambda asked: failure(401, "gone") if len(model.asked) > 1 else verdict()
        once = {"judge_concurrency": 1, "concurrency": 1, "no_judge_check": True}
        summary = evaluate_in_process(judged_plan("a", "b", "c", "d", **once))
        said = summary.judging[0]
        assert said.startswith("judge: 3 of 4 items could not be judged: openai/scripted refused access (HTTP 401: gone)")
        assert said.endswith("; 2 of them were not asked, because of that")
        [last] = [each for each in summary.reports[0].task_results if each.task_id == "d"]
        assert [each.code for each in last.reasons] == ["JUDGE_NOT_ASKED"]
        assert str(last.error_message).startswith("not asked, because openai/scripted refused access (HTTP 401: gone)")
        assert (len(model.asked), summary.judging[-1]) == (2, "judging: 2 requests, 0 from the cache, 120 tokens, cost unknown")

    async def test_what_judging_cost_is_kept_with_the_item_apart_from_the_skills(
        self, model: ScriptedModel, judged_plan: MakePlan, open_run: Callable[..., RunSession]
    ) -> None:
        plan = judged_plan("dear", llm=PRICED)
        async with open_run(plan) as session:
            result = (await session.attempt(plan.items[0], last=True)).result
        assert (result.status, result.scorer, result.prompt_tokens, result.cost_usd) == ("pass", "llm_judge", 3, 0.5)
        assert result.judge_tokens == 120
        assert result.judge_cost_usd == pytest.approx(0.02)
        assert judging_lines(judges_of(plan.scorings), plan.run_id, plan.request.store) == [
            "judging: 1 request, 0 from the cache, 120 tokens, $0.0200"
        ]

    async def test_all_tasks_of_a_run_share_one_budget_and_what_is_left_is_an_error_of_the_judge(
        self, model: ScriptedModel, judged_plan: MakePlan, open_run: Callable[..., RunSession]
    ) -> None:
        plan = judged_plan("a", "b", "c", max_judge_cost=1.53, llm=PRICED)
        async with open_run(plan) as session:
            results = [(await session.attempt(item, last=True)).result for item in plan.items]
        assert [result.status for result in results] == ["pass", "pass", "error"]
        assert (results[2].error_kind, results[2].reasons[0].code, results[2].output) == ("judge", "JUDGE_BUDGET", "c")
        lines = judging_lines(judges_of(plan.scorings), plan.run_id, "./my store")
        assert "what is left of --max-judge-cost 1.53 ($1.4900) does not pay for another request" in lines[-1]
        assert lines[-1].endswith(f"eval-skills rescore {plan.run_id} --max-judge-cost USD --store './my store'")

    async def test_the_runs_secrets_are_not_shown_to_the_judge(
        self,
        model: ScriptedModel,
        judged_plan: MakePlan,
        open_run: Callable[..., RunSession],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("PASSWORD", "hunter2-hunter2")
        plan = judged_plan("it is hunter2-hunter2", secrets=["PASSWORD"])
        async with open_run(plan) as session:
            await session.attempt(plan.items[0], last=True)
        assert "hunter2" not in json.dumps(model.asked[0].body)
        assert "[redacted:PASSWORD]" in model.asked[0].prompt

    def test_the_judges_key_is_one_of_the_runs_secrets(self, judged_plan: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JUDGE_KEY", "sk-judge-1234")
        assert judged_plan("ok", llm={"apiKeyEnv": "JUDGE_KEY"}).secrets()["JUDGE_KEY"] == "sk-judge-1234"


class TestRescoring:
    @pytest.fixture
    def request_of(self, landed_run: LandedRun, write_tasks: Callable[..., str], tmp_path: Path, llm: Any) -> Any:
        run_id = landed_run({"a": "right", "b": "wrong", "c": "wrong"})
        tasks = write_tasks("a", "b", "c", **JUDGED)

        def make(**fields: Any) -> RescoreRequest:
            settings = llm(**fields.pop("llm", {}))
            return RescoreRequest(run_id=run_id, tasks=tasks, store=str(tmp_path / "store"), **settings, **fields)

        return make

    @pytest.mark.slow
    def test_stored_answers_are_judged_and_their_cost_is_kept(
        self, model: ScriptedModel, request_of: Any, tmp_path: Path
    ) -> None:
        model.otherwise = lambda asked: verdict(1 if "right" in asked.prompt.rpartition("<<<answer")[2] else 0)
        plan = plan_rescoring(request_of(llm=PRICED, no_judge_check=True))
        rescore(plan)
        items = Store(tmp_path / "store").items(run_id=plan.run_id).set_index("task_id").sort_index()
        assert list(items["status"]) == ["pass", "fail", "fail"]
        assert list(items["judge_tokens"]) == [120] * 3
        assert items["judge_cost_usd"].sum() == pytest.approx(0.06)
        reports = Store(tmp_path / "store").reports()
        assert list(reports[reports["run_id"] == plan.run_id]["judge_tokens"]) == [360]

    @pytest.mark.slow
    def test_a_budget_that_is_too_small_lands_nothing_and_a_higher_one_goes_on(
        self, model: ScriptedModel, request_of: Any, tmp_path: Path
    ) -> None:
        store = Store(tmp_path / "store")
        before = store.run_ids()
        small = plan_rescoring(request_of(llm=PRICED, no_judge_check=True, max_judge_cost=1.53))
        with pytest.raises(RunError, match=r"what is left of --max-judge-cost 1\.53 .* nothing landed, .*in its cache"):
            rescore(small, concurrency=1)
        assert (store.run_ids(), len(model.asked)) == (before, 2)
        rescore(plan_rescoring(request_of(llm=PRICED, no_judge_check=True, max_judge_cost=5.0)))
        assert len(model.asked) == 3, "what was judged before is not paid again"

    def test_p85_another_model_is_another_scoring_and_another_time_limit_is_not(self, request_of: Any) -> None:
        one, other, slower = (plan_rescoring(request_of(llm=more)) for more in ({}, {"model": "openai/b"}, {"timeoutMs": 5}))
        assert one.digest != other.digest
        assert one.digest == slower.digest

    def test_a_model_that_knows_us_not_is_told_before_anything_is_judged(self, model: ScriptedModel, request_of: Any) -> None:
        model.otherwise = failure(401)
        with pytest.raises(UsageError, match="nothing was run"):
            rescore(plan_rescoring(request_of()))
        assert len(model.asked) == 1


class TestMonitor:
    def request(self, tmp_path: Path, settings: dict[str, Any], **fields: Any) -> MonitorRequest:
        log = tmp_path / "log.jsonl"
        log.write_text("".join(json.dumps({"id": str(n), "input": "?", "output": f"answer {n}"}) + "\n" for n in range(3)))
        expected = {"type": "llm_judge", "criteria": "Be right."}
        given = {"log": str(log), "rate": 1.0, "store": str(tmp_path / "store"), "expected_output": expected, "min_sample": 1}
        return MonitorRequest(**{**given, **settings, **fields})

    def judged(self, request: MonitorRequest) -> Any:
        with MonitorSession(request) as session:
            for batch in session.batches():
                session.judge(batch, lambda _: None)
            return session.summary()

    def test_sampled_answers_are_judged(self, model: ScriptedModel, llm: Any, tmp_path: Path) -> None:
        model.otherwise = lambda asked: verdict(_number(asked) / 2)
        summary = self.judged(self.request(tmp_path, llm(), no_judge_check=True))
        assert (summary.sampled, summary.window.pass_rate) == (3, pytest.approx(1 / 3))
        assert any(remark.startswith("judging: 3 requests") for remark in summary.remarks)

    def test_p13_a_spent_budget_is_no_drop_in_health_and_the_next_call_goes_on(
        self, model: ScriptedModel, llm: Any, tmp_path: Path
    ) -> None:
        options = {"no_judge_check": True, "concurrency": 1}
        with pytest.raises(RunError, match="--max-judge-cost"):
            self.judged(self.request(tmp_path, llm(**PRICED), **options, max_judge_cost=1.53))
        assert Store(tmp_path / "store").samples().empty
        summary = self.judged(self.request(tmp_path, llm(**PRICED), **options, max_judge_cost=9.0))
        assert (summary.sampled, summary.window.errors, len(model.asked)) == (3, 0, 3)

    def test_p13_an_outage_of_the_judge_is_no_drop_in_health_and_the_next_call_goes_on(
        self, model: ScriptedModel, llm: Any, tmp_path: Path
    ) -> None:
        request = self.request(tmp_path, llm(), no_judge_check=True)
        model.otherwise = failure(401, "bad key")
        with pytest.raises(RunError, match=r"judge: 3 of 3 samples could not be judged: .*bad key.*still insufficient_data"):
            self.judged(request)
        assert Store(tmp_path / "store").samples().empty
        model.otherwise = verdict()
        summary = self.judged(request)
        assert (summary.status, summary.sampled, summary.unjudged, summary.judge_failed) == ("healthy", 3, 0, False)

    def test_p13_what_the_judge_cannot_judge_is_no_evidence(self, model: ScriptedModel, llm: Any, tmp_path: Path) -> None:
        model.otherwise = lambda asked: failure(422, "not this one") if _number(asked) == 1 else verdict()
        summary = self.judged(self.request(tmp_path, llm(), no_judge_check=True))
        assert (summary.sampled, summary.window.size, summary.window.pass_rate, summary.judge_failed) == (2, 2, 1.0, False)
        [told] = [each for each in summary.remarks if each.startswith("judge: ")]
        assert told.startswith("judge: 1 of 3 samples could not be judged: ")
        assert told.endswith("they are left out of the window")

    def test_no_gate_passes_where_what_the_judge_could_not_judge_leaves_it_open(
        self, model: ScriptedModel, llm: Any, tmp_path: Path
    ) -> None:
        request = self.request(tmp_path, llm(), no_judge_check=True, window=4)
        model.otherwise = lambda asked: failure(422, "not this one") if _number(asked) == 1 else verdict()
        lenient = self.request(tmp_path, llm(), no_judge_check=True, window=4, critical=0.6)
        gate, now = MonitorGate("critical", None), datetime.now(UTC)
        said = "1 recent sample that could not be judged leaves open whether the status is critical"
        for _ in range(2):  # the second call finds nothing new
            summary = self.judged(request)
            assert (summary.status, gate.why_not(summary, now)) == ("healthy", said)
        assert gate.why_not(self.judged(lenient), now) is None
        with Path(request.log).open("a", encoding="utf-8") as log:
            log.writelines(json.dumps({"id": str(n), "input": "?", "output": f"answer {n}"}) + "\n" for n in range(3, 9))
        assert gate.why_not(self.judged(request), now) is None

    @pytest.mark.slow
    def test_p13_a_batch_that_is_mostly_not_judged_changes_nothing_and_is_not_read_forever(
        self, model: ScriptedModel, llm: Any, tmp_path: Path
    ) -> None:
        request = self.request(tmp_path, llm(), no_judge_check=True)
        model.otherwise = lambda asked: verdict() if _number(asked) == 1 else failure(422, "not this one")
        summary = self.judged(request)
        assert (summary.sampled, summary.window.size, summary.unjudged, summary.judge_failed) == (0, 0, 2, True)
        assert any("nothing counts in 1 batch where it failed more than half" in each for each in summary.remarks)
        assert self.judged(request).read == 0

    def test_another_model_is_another_monitor(self, llm: Any, tmp_path: Path) -> None:
        one = MonitorSession(self.request(tmp_path, llm())).monitor_id
        assert one == MonitorSession(self.request(tmp_path, llm(timeoutMs=5))).monitor_id
        assert one != MonitorSession(self.request(tmp_path, llm(model="openai/b"))).monitor_id


def _number(asked: Asked) -> int:
    return int(asked.prompt.rpartition("<<<answer")[2].partition("answer ")[2][0])
