"""The core flow against a real Prefect server, real processes, and the API's own account of what happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.models import Attempt
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs
from eval_skills.engine.evaluation.plan import Item
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.flows import evaluate
from tests.flows.hanging_api import hang_when_told
from tests.otlp_receiver import Receiver

Ask = Callable[..., Any]

HANG_MS = 1000
SKILL = """
import json, os, pathlib, sys, time
request = json.loads(sys.stdin.readline())
what = request["params"]["what"]
tries = pathlib.Path("tries-" + what)
with tries.open("a") as file:  # a stroke for each; several may ask at the same moment
    file.write("1")
if what == "hang":
    time.sleep(600)
if what == "die" or (what == "die-once" and tries.read_text() == "1"):
    os._exit(9)
if what == "garbage":
    print("no answer here"); sys.exit(0)
reply = {"error": {"code": 1, "message": "cannot"}} if what == "refuse" else {"result": what}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}))
"""


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill that does what it is told: answer, refuse, hang, die, answer garbage."""
    folder = tmp_path / "moody"
    folder.mkdir()
    (folder / "skill.py").write_text(SKILL)
    describe(folder, "moody", "python3 skill.py")
    return folder


def describe(folder: Path, name: str, entrypoint: str, **more: Any) -> None:
    data = {"id": name, "name": name, "version": "1.0.0", "adapterType": "subprocess", "entrypoint": entrypoint, **more}
    (folder / "skill.json").write_text(json.dumps(data))


def tasks_file(folder: Path, *whats: str, **more: Any) -> str:
    """A file of tasks, one for each thing to tell the skill; only what hangs has a small limit."""
    limits = {what: {"timeoutMs": HANG_MS if what == "hang" else 120_000} for what in whats}
    common = {"expectedOutput": {"value": "ok"}, **more}
    tasks = [{"id": what, "inputData": {"what": what}, **limits[what], **common} for what in whats]
    path = folder / "tasks.json"
    path.write_text(json.dumps(tasks))
    return str(path)


def run(tmp_path: Path, skills: Path | list[Path], **options: Any) -> RunSummary:
    skills = skills if isinstance(skills, list) else [skills]
    where = {"store": str(tmp_path / "store"), "output_dir": str(tmp_path / "reports")}
    return evaluate(EvaluateRequest(**{"skills": [str(path) for path in skills], **where, **options}))


def task_runs(ask: Ask, summary: RunSummary) -> dict[str, dict[str, Any]]:
    """The mapped task runs of a run by name, as soon as the server has recorded all of them in a final state."""
    import time

    deadline = time.monotonic() + 120
    while True:
        found = ask("task_runs/filter", flow_runs={"id": {"any_": list(summary.flow_runs)}}, limit=200)
        mapped = {each["name"]: each for each in found if "#" in each["name"] or "+" in each["name"]}
        final = [each for each in found if each["state_type"] in {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}]
        if len(final) >= summary.task_runs or time.monotonic() > deadline:
            assert len(final) == len(found) == summary.task_runs
            return mapped
        time.sleep(0.1)


@pytest.mark.usefixtures("prefect_url")
class TestStates:
    def test_one_task_run_per_item_whose_state_says_what_happened(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        tasks = tasks_file(tmp_path, "ok", "wrong", "refuse", "die", "garbage", "hang")
        summary = run(tmp_path, skill, tasks=tasks, runs=2)
        states = {name: (each["state_type"], each["state_name"]) for name, each in task_runs(ask, summary).items()}
        expected = {
            "ok": ("COMPLETED", "Passed"),
            "wrong": ("COMPLETED", "Failed check"),
            "refuse": ("FAILED", "Failed"),
            "die": ("FAILED", "Failed"),
            "garbage": ("FAILED", "Failed"),
            "hang": ("FAILED", "TimedOut"),
        }
        assert states == {f"moody@1.0.0/{what}#{number}": state for what, state in expected.items() for number in (1, 2)}

    def test_the_flow_run_completes_whatever_its_items_do(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        summary = run(tmp_path, skill, tasks=tasks_file(tmp_path, "die"))
        [flow_run] = ask("flow_runs/filter", flow_runs={"id": {"any_": list(summary.flow_runs)}})
        assert flow_run["state_name"] == "Completed"
        assert flow_run["state"]["message"] == summary.line
        assert flow_run["name"] == f"tasks · 1 skill · {summary.run_id}"

    def test_items_are_spans_of_the_run_whatever_prefect_task_run_they_are_in(
        self, tmp_path: Path, skill: Path, otlp: Callable[[str], None]
    ) -> None:
        with Receiver() as receiver:
            otlp(receiver.url)
            tasks = tasks_file(tmp_path, "ok", "die-once", "refuse")
            summaries = [run(tmp_path, skill, tasks=tasks, retries=1, items_per_task=size) for size in (1, 3)]
        traces = {each.attributes["eval_skills.run.id"]: each for each in receiver.named("evaluate ")}
        again = ({"ok": 1, "die-once": 2, "refuse": 1}, {"ok": 1, "die-once": 1, "refuse": 1})  # the second time it lives
        for summary, attempts in zip(summaries, again, strict=True):
            trace = traces[summary.run_id]
            assert trace.attributes["eval_skills.prefect.flow_run_id"] == summary.flow_runs[0]
            items = {each.attributes["test.case.name"]: each for each in receiver.children(trace)}
            assert {task: len(receiver.children(item)) for task, item in items.items()} == attempts
            assert items["refuse"].attributes["error.type"] == "skill"
            assert not any("sent" in remark for remark in summary.remarks)

    def test_every_item_lands_classified(self, tmp_path: Path, skill: Path) -> None:
        tasks = tasks_file(tmp_path, "ok", "wrong", "refuse", "die", "garbage", "hang")
        summary = run(tmp_path, skill, tasks=tasks)
        items = Store(tmp_path / "store").items(run_id=summary.run_id).set_index("task_id")
        assert items["status"].to_dict() == {
            "ok": "pass", "wrong": "fail", "refuse": "error", "die": "error", "garbage": "error", "hang": "timeout",
        }  # fmt: skip
        kinds = items["error_kind"].dropna().to_dict()
        assert kinds == {"refuse": "skill", "die": "skill", "garbage": "contract", "hang": "timeout"}
        assert items["latency_ms"].to_dict()["hang"] >= HANG_MS
        assert all(items["task_run_id"].notna())
        assert all(items["flow_run_id"] == summary.flow_runs[0])
        assert all(len(reasons) for status, reasons in zip(items["status"], items["reasons"], strict=True) if status != "pass")

    def test_p25_a_missing_interpreter_is_the_error_of_its_own_items(self, tmp_path: Path, skill: Path) -> None:
        broken = tmp_path / "broken"
        broken.mkdir()
        describe(broken, "broken", "no-such-interpreter skill.py")
        summary = run(tmp_path, [skill, broken], tasks=tasks_file(tmp_path, "ok"))
        rates = {report.skill_id: report.summary.completion_rate for report in summary.reports}
        assert rates == {"moody": 1.0, "broken": 0.0}


@pytest.mark.usefixtures("prefect_url")
class TestRetries:
    def test_transient_trouble_is_tried_again_and_shows_as_prefect_retries(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        summary = run(tmp_path, skill, tasks=tasks_file(tmp_path, "die-once", "ok"), retries=1)
        runs = task_runs(ask, summary)
        counts = {name.split("/")[1]: each["run_count"] for name, each in runs.items()}
        assert counts == {"die-once#1": 2, "ok#1": 1}
        attempts = Store(tmp_path / "store").items(run_id=summary.run_id).set_index("task_id")["attempts"]
        assert [attempt["error_kind"] for attempt in attempts["die-once"]] == ["skill", None]

    @pytest.mark.parametrize("what", ["wrong", "refuse", "garbage"])
    def test_p20_what_cannot_change_is_final(self, tmp_path: Path, skill: Path, what: str) -> None:
        run(tmp_path, skill, tasks=tasks_file(tmp_path, what), retries=2)
        assert (skill / f"tries-{what}").read_text() == "1"

    def test_batches_retry_their_items_too(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        tasks = tasks_file(tmp_path, "ok", "die-once", "wrong")
        summary = run(tmp_path, skill, tasks=tasks, retries=1, items_per_task=2)
        assert sorted(each["state_name"] for each in task_runs(ask, summary).values()) == ["Finished", "Finished"]
        statuses = Store(tmp_path / "store").items(run_id=summary.run_id)["status"]
        assert Counter(statuses) == {"pass": 1, "fail": 2}
        assert (skill / "tries-die-once").read_text() == "11"


@pytest.mark.usefixtures("prefect_url")
class TestArtifacts:
    def test_ranking_and_report_have_keys_that_stay_the_same(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        tasks = tasks_file(tmp_path, "ok")
        summaries = [run(tmp_path, skill, tasks=tasks) for _ in range(2)]
        for key in ("eval-skills-ranking-tasks", "eval-skills-report-tasks"):
            runs = [summary.flow_runs[0] for summary in summaries]
            found = ask("artifacts/filter", artifacts={"key": {"any_": [key]}, "flow_run_id": {"any_": runs}})
            assert {each["flow_run_id"] for each in found} == set(runs)

    def test_an_answer_cannot_draw_in_the_prefect_ui(self, tmp_path: Path, skill: Path, ask: Ask) -> None:
        hostile = "<script>alert(1)</script>|x"
        summary = run(tmp_path, skill, tasks=tasks_file(tmp_path, "ok", description=hostile, tags=[hostile]))
        own = {"key": {"any_": ["eval-skills-report-tasks"]}, "flow_run_id": {"any_": list(summary.flow_runs)}}
        [report] = ask("artifacts/filter", artifacts=own)
        assert "<script>" not in report["data"]


@pytest.mark.usefixtures("prefect_url")
class TestResume:
    def test_a_finished_run_resumes_to_its_reports_and_calls_nothing(self, tmp_path: Path, skill: Path) -> None:
        first = run(tmp_path, skill, tasks=tasks_file(tmp_path, "ok", "wrong"))
        again = evaluate(
            EvaluateRequest(resume="latest", store=str(tmp_path / "store"), format=["json"], output_dir=str(tmp_path))
        )
        assert again.run_id == first.run_id
        assert [report.summary for report in again.reports] == [report.summary for report in first.reports]
        assert (skill / "tries-ok").read_text() == "1"

    def test_retry_errors_runs_only_errors_again_and_replaces_them(self, tmp_path: Path, skill: Path) -> None:
        first = run(tmp_path, skill, tasks=tasks_file(tmp_path, "ok", "wrong", "die-once"))
        store = Store(tmp_path / "store")
        assert Counter(store.items(run_id=first.run_id)["status"]) == {"pass": 1, "fail": 1, "error": 1}
        evaluate(EvaluateRequest(resume=first.run_id, retry_errors=True, store=str(tmp_path / "store"), format=[]))
        assert store.items(run_id=first.run_id).set_index("task_id")["status"].to_dict() == {
            "ok": "pass", "wrong": "fail", "die-once": "fail",
        }  # fmt: skip
        assert (skill / "tries-wrong").read_text() == "1"

    def test_a_changed_benchmark_is_refused(self, tmp_path: Path, skill: Path) -> None:
        run(tmp_path, skill, tasks=tasks_file(tmp_path, "ok"))
        tasks_file(tmp_path, "ok", "wrong")
        with pytest.raises(UsageError, match="changed since run"):
            evaluate(EvaluateRequest(resume="latest", store=str(tmp_path / "store")))

    def test_p54_fail_fast_stops_keeps_the_journal_and_goes_on(self, tmp_path: Path, skill: Path) -> None:
        tasks = tasks_file(tmp_path, "wrong", "ok", "two", "three", "four")
        first = run(tmp_path, skill, tasks=tasks, fail_fast=True, concurrency=1)
        assert (first.finished, first.planned, first.gate_passed) == (1, 5, False)
        store = Store(tmp_path / "store")
        assert store.unfinished() == [first.run_id]
        assert store.items().empty
        resumed = evaluate(EvaluateRequest(resume="latest", store=str(tmp_path / "store"), fail_fast=False, format=[]))
        assert resumed.finished == 5
        assert len(store.items(run_id=first.run_id)) == 5
        assert (skill / "tries-wrong").read_text() == "1"


@pytest.mark.usefixtures("prefect_url")
class TestRefusals:
    def test_a_named_broken_skill_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        (tmp_path / "skill.json").write_text("{")
        with pytest.raises(InputError, match="not valid JSON at line 1"):
            run(tmp_path, tmp_path / "skill.json", tasks=tasks_file(tmp_path, "ok"))
        assert not (tmp_path / "store").exists()

    def test_an_evaluator_that_needs_permission_is_refused_without_it(self, tmp_path: Path, skill: Path) -> None:
        (tmp_path / "score.py").write_text("def score(output, expected, task):\n    return 1.0\n")
        tasks = tasks_file(
            tmp_path, "ok", evaluator={"type": "custom", "timeoutMs": 60_000}, expectedOutput={"customScorerPath": "score.py"}
        )
        with pytest.raises(InputError, match="allow"):
            run(tmp_path, skill, tasks=tasks)
        assert run(tmp_path, skill, tasks=tasks, allow_custom_code=True).reports[0].summary.completion_rate == 1.0


@pytest.mark.usefixtures("prefect_url")
def test_whoever_watches_sees_every_result_after_the_journal_has_it(tmp_path: Path, skill: Path) -> None:
    class Watcher(NullObserver):
        def __init__(self) -> None:
            self.seen: list[tuple[str, bool]] = []

        def finished(self, result: Any) -> None:
            journal = Store(tmp_path / "store").journal_path(result.run_id).read_text()
            self.seen.append((result.task_id, f'"{result.task_id}"' in journal))

    watcher = Watcher()
    with observed_runs.by(watcher):
        run(tmp_path, skill, tasks=tasks_file(tmp_path, "ok", "wrong"))
    assert sorted(watcher.seen) == [("ok", True), ("wrong", True)]


def test_a_prefect_api_that_hangs_does_not_hold_up_the_items_for_their_progress(
    tmp_path: Path, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("eval_skills.flows.evaluate")  # of the package, the name is the flow
    waits = hang_when_told(b"eval-skills-progress", monkeypatch)
    monkeypatch.setattr(module, "PROGRESS_AFTER_S", 0.0)
    summary = run(tmp_path, skill, tasks=tasks_file(tmp_path, *(f"ok-{number}" for number in range(8))), concurrency=1)
    assert summary.finished == 8
    assert waits == [module.PROGRESS_TIMEOUT_S]  # once, and none of Prefect's five retries


@pytest.mark.parametrize("size", [1, 2])
def test_the_reason_for_missing_results_is_not_how_an_item_with_a_result_failed(
    tmp_path: Path, skill: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    execute = LocalExecutor.execute

    async def executed(self: LocalExecutor, item: Item, earlier: Sequence[Attempt] = ()) -> Outcome:
        if item.task == "lost":
            raise RuntimeError("the worker of the item is gone")
        return await execute(self, item, earlier)

    monkeypatch.setattr(LocalExecutor, "execute", executed)
    tasks = tasks_file(tmp_path, "ok", "lost", "refuse", "die")
    expected = r"1 of 4 items have no result \(.*the worker of the item is gone\); continue with --resume"
    with pytest.raises(RunError, match=expected):
        run(tmp_path, skill, tasks=tasks, concurrency=1, items_per_task=size, retries=0)


def test_it_grows_until_it_is_decided(tmp_path: Path, skill: Path) -> None:
    """Eight tasks that all passed and all fail now: after two of ten runs that is worse, and no third one is asked for."""
    whats = [f"right-{number}" for number in range(8)]
    right = tasks_file(tmp_path, *whats)
    tasks = [task | {"expectedOutput": {"value": task["inputData"]["what"]}} for task in json.loads(Path(right).read_text())]
    Path(right).write_text(json.dumps(tasks))
    before = run(tmp_path, skill, tasks=right, runs=3)
    (skill / "skill.py").write_text(SKILL.replace('{"result": what}', '{"result": "nonsense"}'))
    grown = run(tmp_path, skill, tasks=right, until="decided", against="latest", items_per_task=4)
    (decision,) = grown.decisions
    assert (decision.against, decision.verdict) == (before.run_id, "worse")
    assert (grown.finished, grown.planned) == (decision.runs * 8, decision.runs * 8)
    assert decision.runs < 10
    assert grown.report_files
    assert "stopped early" in next(path for path in grown.report_files if path.suffix == ".md").read_text()
    assert Store(str(tmp_path / "store")).latest_run() == grown.run_id
