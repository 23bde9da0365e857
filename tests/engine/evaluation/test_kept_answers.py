"""Answers that are recorded, replayed without the skill, or kept between runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Journal, Store
from eval_skills.core.store.history import past_runs
from eval_skills.core.store.journal import read_journal
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation import recorder
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import RunSession, manifest_of
from eval_skills.engine.evaluation.spending import spent_before

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

COUNTING = """
import json, sys
with open("calls", "a") as calls:
    for line in sys.stdin:
        request = json.loads(line)
        print("called", file=calls, flush=True)
        answer = {"output": request["params"]["what"], "usage": {"promptTokens": 3, "completionTokens": 4}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}), flush=True)
"""


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr("eval_skills.engine.evaluation.retries.delay_s", lambda attempt: 0.0)
    return tmp_path / "caches"


@pytest.fixture
def asked() -> list[EvaluateRequest]:
    """The request of the test, once something was evaluated."""
    return []


@pytest.fixture
def evaluated(make_request: MakeRequest, asked: list[EvaluateRequest]) -> Callable[..., Any]:
    """Evaluates the skill on what it is told; the same folder of skills every time."""

    def evaluate(*whats: str, **fields: Any) -> Any:
        if whats:
            asked[:] = [make_request(*whats, timeout_ms=120_000)]
        return evaluate_in_process(make_plan(asked[0].model_copy(update=fields)))

    return evaluate


def statuses(summary: Any) -> list[tuple[str, str, Any, str | None, float | None]]:
    [report] = summary.reports
    return [(item.task_id, item.status, item.attempts, item.error_message, item.latency_ms) for item in report.task_results]


class TestReplay:
    @pytest.mark.slow
    def test_what_was_recorded_is_judged_the_same_without_the_skill(self, evaluated: Callable[..., Any], tmp_path: Path) -> None:
        file, again = tmp_path / "recorded.jsonl", tmp_path / "again.jsonl"
        live = evaluated("ok", "wrong", "refuse", "die", "dear", runs=2, retries=1, record=str(file))
        (tmp_path / "skills/moody/skill.py").unlink()
        replayed = evaluated(runs=2, replay=str(file), record=str(again))
        assert statuses(replayed) == statuses(live)
        assert {status for _, status, *_ in statuses(live)} == {"pass", "fail", "error"}
        assert again.read_bytes() == file.read_bytes()
        assert list(tmp_path.glob("*.part")) == []
        assert [run.run_id for run in past_runs(Store(live.store), limit=9)] == [live.run_id]

    @pytest.mark.slow
    def test_what_is_expected_may_change_and_what_is_asked_may_not(self, evaluated: Callable[..., Any], tmp_path: Path) -> None:
        file, tasks = str(tmp_path / "recorded.jsonl"), tmp_path / "tasks.json"
        evaluated("ok", "wrong", record=file)
        told = json.loads(tasks.read_text())
        told[1]["expectedOutput"], told[0]["inputData"] = {"value": "wrong"}, {"what": "other"}
        tasks.write_text(json.dumps(told))
        [(_, first, _, why, _), (_, second, *_)] = statuses(evaluated(replay=file))
        assert (first, second) == ("error", "pass")
        assert "another input" in str(why)

    @pytest.mark.slow
    def test_a_run_that_was_not_recorded_is_an_error(self, evaluated: Callable[..., Any], tmp_path: Path) -> None:
        file = str(tmp_path / "recorded.jsonl")
        evaluated("ok", record=file)
        replayed = evaluated(runs=2, replay=file)
        assert [status for _, status, *_ in statuses(replayed)] == ["pass", "error"]
        assert "1 of 2 items have no line in recorded.jsonl and end as errors: moody@1.0.0/ok#2" in replayed.remarks

    @pytest.mark.slow
    def test_another_version_is_replayed_and_said(self, evaluated: Callable[..., Any], tmp_path: Path) -> None:
        file, described = str(tmp_path / "recorded.jsonl"), tmp_path / "skills/moody/skill.json"
        evaluated("ok", record=file)
        described.write_text(json.dumps(json.loads(described.read_text()) | {"version": "2.0.0"}))
        assert "the answers of moody@2.0.0 were recorded from moody@1.0.0" in evaluated(replay=file).remarks
        described.write_text(json.dumps(json.loads(described.read_text()) | {"id": "stranger"}))
        with pytest.raises(InputError, match=r"no run of stranger@2.0.0, but moody@1.0.0"):
            evaluated(replay=file)

    @pytest.mark.slow
    def test_a_killed_run_loses_no_answer(self, make_request: MakeRequest, tmp_path: Path) -> None:
        plan = make_plan(make_request("ok", "wrong", "refuse", timeout_ms=120_000, record=str(tmp_path / "recorded.jsonl")))
        plan.write_manifest(manifest_of(plan))

        async def killed_after_the_first() -> None:
            with Journal(plan.store.journal_path(plan.run_id)) as journal:
                async with RunSession(plan, journal, NullObserver()) as session:
                    await session.attempt(plan.items[0], last=True)

        asyncio.run(killed_after_the_first())
        [part] = tmp_path.glob("recorded.jsonl.*.part")
        with part.open("ab") as torn:
            torn.write(b'{"taskId": "wrong", "outp')
        evaluate_in_process(resumed_plan(EvaluateRequest(resume=plan.run_id, store=plan.store.path)))
        lines = [json.loads(line) for line in (tmp_path / "recorded.jsonl").read_text().splitlines()]
        assert [line["taskId"] for line in lines] == ["ok", "wrong", "refuse"]
        assert not part.exists()

    def test_secrets_are_not_recorded(
        self, evaluated: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TOKEN_OF_TEST", "hunter2hunter2")
        evaluated("hunter2hunter2", record=str(tmp_path / "recorded.jsonl"), secrets=["TOKEN_OF_TEST"])
        assert json.loads((tmp_path / "recorded.jsonl").read_text())["output"] == "[redacted:TOKEN_OF_TEST]"

    @pytest.mark.slow
    def test_a_recording_that_lacks_answers_replaces_none(
        self, evaluated: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "recorded.jsonl"
        evaluated("ok", record=str(file))
        whole = file.read_bytes()
        monkeypatch.setattr(recorder, "MAX_DOCUMENT_BYTES", 10)  # as where the disk is full: no line can be written
        found = evaluated(record=str(file))
        assert f"{file} was not written" in found.remarks
        assert file.read_bytes() == whole
        file.unlink()
        evaluated(record=str(file))
        assert not file.exists()

    @pytest.mark.parametrize("there", ["tasks.json", "skills/moody/skill.json", "skills/moody/skill.py"])
    def test_a_recording_is_not_written_over_something_else(
        self, evaluated: Callable[..., Any], tmp_path: Path, there: str
    ) -> None:
        evaluated("ok")
        before = (tmp_path / there).read_bytes()
        with pytest.raises(UsageError, match="exists and is not a recording"):
            evaluated(record=str(tmp_path / there))
        assert (tmp_path / there).read_bytes() == before


class TestCache:
    @pytest.fixture
    def calls(self, tmp_path: Path, evaluated: Callable[..., Any]) -> Callable[..., int]:
        """How many calls of the skill an evaluation makes."""

        def count(*whats: str, **fields: Any) -> int:
            folder = tmp_path / "skills/moody"
            (folder / "calls").unlink(missing_ok=True)
            evaluated(*whats, **fields)
            made = (folder / "calls").read_text().count("called") if (folder / "calls").exists() else 0
            (folder / "calls").unlink(missing_ok=True)
            return made

        return count

    @pytest.fixture(autouse=True)
    def skill(self, evaluated: Callable[..., Any], tmp_path: Path) -> Path:
        evaluated("ok", "wrong")
        (tmp_path / "skills/moody/skill.py").write_text(COUNTING)
        return tmp_path / "skills/moody"

    @pytest.mark.slow
    def test_an_unchanged_skill_is_asked_once(self, calls: Callable[..., int], skill: Path) -> None:
        assert [calls(runs=2, cache=True), calls(runs=2, cache=True), calls(runs=3, cache=True)] == [4, 0, 2]
        assert calls(runs=2) == 4  # unless the cache is left out
        assert calls(runs=2, cache=True, timeout_ms=110_000) == 4  # an answer in time may come too late for another limit
        (skill / "skill.py").write_text(COUNTING + "\n# changed\n")
        assert calls(runs=2, cache=True) == 4

    @pytest.mark.slow
    def test_runs_share_an_answer_only_where_that_is_asked(self, calls: Callable[..., int]) -> None:
        assert [calls(runs=5, cache=True, cache_runs=True), calls(runs=5, cache=True, cache_runs=True)] == [2, 0]

    @pytest.mark.slow
    @pytest.mark.parametrize("place", ["node_modules/helper.js", "linked/helper.js"])
    def test_what_the_digest_of_the_folder_passes_over_counts(self, calls: Callable[..., int], skill: Path, place: str) -> None:
        (elsewhere := skill.parent.parent / "elsewhere").mkdir()
        (skill / "linked").symlink_to(elsewhere)
        (skill / place).parent.mkdir(exist_ok=True)
        (skill / place).write_text("one")
        assert [calls(cache=True), calls(cache=True)] == [2, 0]
        (skill / place).write_text("two")
        assert [calls(cache=True), calls(cache=True)] == [2, 0]

    @pytest.mark.slow
    def test_a_skill_that_leads_anywhere_is_asked_every_time(
        self, calls: Callable[..., int], evaluated: Callable[..., Any], skill: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("eval_skills.core.fingerprint.MAX_PASSED_OVER", 10)
        (skill / "disk").symlink_to("/usr")
        assert [calls(cache=True), calls(cache=True)] == [2, 2]
        [remark] = [each for each in evaluated(cache=True).remarks if "not kept" in each]
        assert remark.startswith("answers of moody@1.0.0 are not kept, as a change of it may go unseen: ")
        assert remark.endswith("leads to more than 10 files")

    @pytest.mark.slow
    def test_a_skill_may_refuse(self, calls: Callable[..., int], skill: Path) -> None:
        described = json.loads((skill / "skill.json").read_text())
        (skill / "skill.json").write_text(json.dumps(described | {"metadata": {"deterministic": False}}))
        assert [calls(cache=True), calls(cache=True)] == [2, 2]

    @pytest.mark.slow
    def test_a_broken_entry_is_asked_again(self, calls: Callable[..., int], caches: Path) -> None:
        calls(cache=True)
        for entry in caches.rglob("*.json"):
            entry.write_bytes(entry.read_bytes()[:-20])
        assert [calls(cache=True), calls(cache=True)] == [2, 0]

    @pytest.mark.slow
    def test_rows_say_that_they_are_no_news(self, evaluated: Callable[..., Any], calls: Callable[..., int]) -> None:
        calls(cache=True)
        summary = evaluated(cache=True)
        items = Store(summary.store).items(run_id=summary.run_id)
        assert set(items["origin"]) == {"cached"}
        assert dict(zip(items["task_id"], items["status"], strict=True)) == {"ok": "pass", "wrong": "fail"}
        assert [{reason["code"] for reason in reasons} >= {"KEPT_ANSWER"} for reasons in items["reasons"]] == [True, True]
        assert "2 of 2 answers were kept from earlier calls" in summary.remarks

    @pytest.mark.slow
    def test_errors_are_not_kept(self, evaluated: Callable[..., Any], skill: Path) -> None:
        (skill / "skill.py").write_text("raise SystemExit(3)")
        assert [evaluated(cache=True).remarks for _ in range(2)][1] == []

    @pytest.mark.slow
    def test_an_answer_with_a_secret_is_not_kept(self, calls: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TOKEN_OF_TEST", "hunter2hunter2")
        about = {"cache": True, "secrets": ["TOKEN_OF_TEST"]}
        assert [calls(**about), calls(**about)] == [2, 0]
        monkeypatch.setenv("TOKEN_OF_TEST", "wrong")
        assert [calls(**about, timeout_ms=110_000), calls(**about, timeout_ms=110_000)] == [2, 1]

    @pytest.mark.slow
    def test_what_was_paid_for_before_counts_to_no_limit(self, calls: Callable[..., int], evaluated: Callable[..., Any]) -> None:
        calls(cache=True)
        summary = evaluated(cache=True, max_tokens=1)
        assert (summary.stopped, summary.finished) == (None, 2)
        assert spent_before(Store(summary.store), summary.run_id).items == 0

    @pytest.mark.slow
    async def test_nor_does_it_while_it_is_in_the_journal(self, calls: Callable[..., int], asked: list[EvaluateRequest]) -> None:
        calls(cache=True)
        plan = make_plan(asked[0].model_copy(update={"cache": True}))
        with Journal(plan.store.journal_path(plan.run_id)) as journal:
            async with RunSession(plan, journal, NullObserver()) as session:
                await session.attempt(plan.items[0], last=True)
        assert len(list(read_journal(plan.store.journal_path(plan.run_id)))) == 1
        assert spent_before(plan.store, plan.run_id).items == 0

    @pytest.mark.slow
    def test_workers_elsewhere_have_no_cache(self, evaluated: Callable[..., Any]) -> None:
        with pytest.raises(UsageError, match="keeps answers on this machine"):
            evaluated(cache=True, task_runner="dask")
