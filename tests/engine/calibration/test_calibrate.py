"""A judge held against people's labels: of a stored run, of answers judged now; and what reports say from then on."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import RunError, UsageError, UserError
from eval_skills.core.models import Reason
from eval_skills.core.store import Store, land_rows
from eval_skills.core.store.files import once_free
from eval_skills.engine.calibration.calibrate import CalibrationOutcome, calibrate_judge
from eval_skills.engine.calibration.request import CalibrateRequest
from eval_skills.engine.evaluation.summary import landed_reports
from eval_skills.engine.stored_runs.reports import ReportSource, read_source
from eval_skills.reporting import ReportContext, json_report
from eval_skills.reporting import markdown as markdown_report
from eval_skills.reporting.judging import figures_in
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, MakePlan

TASKS = [f"t{n}" for n in range(10)]
SAID = Reason(code="JUDGE_VERDICT", message="so", where="output")


@pytest.fixture
def model(model: ScriptedModel) -> ScriptedModel:
    model.otherwise = by_length
    return model


def by_length(asked: Asked) -> Says:
    """A judge that likes long answers."""
    answer = asked.prompt.partition("<<<answer ")[2].partition("\n")[2].partition("\n<<<end of answer")[0]
    return verdict(min(1.0, len(answer) / 10))


@pytest.fixture(autouse=True)
def tasks_file(tmp_path: Path) -> Path:
    """Tasks that a model judges, which is named in each."""
    judged = {"evaluator": {"type": "llm_judge", "criteria": "Be right.", "model": "openai/one"}}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": name, "inputData": {"q": name}, **judged} for name in TASKS]))
    return path


@pytest.fixture
def run(tmp_path: Path, landed_run: LandedRun, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A run whose judge passed the first so many tasks; `fields` are those of single items."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def landed(passed: int = 6, **fields: Any) -> str:
        answers = {name: "right" if n < passed else "wrong" * (n + 1) for n, name in enumerate(TASKS)}
        return landed_run(answers, scorer="llm_judge", reasons=[SAID], **fields)

    return landed


@pytest.fixture
def labelled(tmp_path: Path) -> Callable[..., CalibrationOutcome]:
    """Calibrates with the labels of these rows; options are those of the request."""

    def calibrated(rows: list[dict[str, Any]], **options: Any) -> CalibrationOutcome:
        path = tmp_path / "labels.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        given = {"labels": str(path), "store": str(tmp_path / "store"), **options}
        return calibrate_judge(CalibrateRequest.model_validate(given))

    return calibrated


def labels(passed: int) -> list[dict[str, Any]]:
    return [{"task_id": name, "label": "pass" if n < passed else "fail"} for n, name in enumerate(TASKS)]


def shown(run_id: str, tmp_path: Path) -> ReportSource:
    return read_source(run_id, str(tmp_path / "store"))


class TestOfAStoredRun:
    @pytest.mark.slow
    def test_its_verdicts_are_held_against_the_labels(self, run: Any, labelled: Any, tmp_path: Path) -> None:
        outcome = labelled(labels(passed=5), run_id=run(passed=6))
        [(name, found)] = outcome.calibrations.items()
        assert found.table == [[4, 1], [0, 5]]
        assert (found.sensitivity.value, found.specificity.value, found.accuracy.value) == (1.0, 0.8, 0.9)
        assert (found.model, found.prompt) == ("openai/one", "llm_judge 1, prompt 1")
        assert "10 labels of openai/one: use at least 30 for reliable figures" in outcome.remarks
        row = Store(tmp_path / "store").calibrations().iloc[0]
        assert (row["calibration_id"], row["kappa"], row["benchmark_id"]) == (name, pytest.approx(0.8), found.benchmark_id)

    @pytest.mark.slow
    def test_from_then_on_reports_show_the_corrected_rate(self, run: Any, labelled: Any, tmp_path: Path) -> None:
        run_id = run(passed=6)
        before = figures_in(shown(run_id, tmp_path).reports[0])
        assert before is not None
        assert before.corrected_completion is None
        assert "is not calibrated" in (before.corrected_reason or "")
        labelled(labels(passed=5), run_id=run_id)
        source = shown(run_id, tmp_path)
        after = figures_in(source.reports[0])
        assert after is not None
        assert after.corrected_completion is not None
        assert after.corrected_completion.value == pytest.approx((0.6 - 0.2) / 0.8)
        assert source.reports[0].summary.completion_rate == 0.6, "the raw one stays"
        text = markdown_report.render(source.reports, source.context)
        assert "| Judge-corrected completion | 50.0 % (" in text
        assert "| Sensitivity | Specificity |" in text
        assert " | 1.00 [" in text
        document = json.loads(json_report.render(source.reports, source.context))
        assert document[0]["evaluatorMetadata"]["judge"]["judges"][0]["calibration"]["labels"] == 10

    @pytest.mark.slow
    def test_one_with_fewer_labels_that_began_beside_it_does_not_take_its_place(
        self, run: Any, labelled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run_id, beside, waits = run(), ThreadPoolExecutor(1), Event()
        few = list[Future[CalibrationOutcome]]()

        def landed_while_another_begins(*arguments: Any) -> str:
            if not few:
                few.append(beside.submit(labelled, labels(5)[:5], run_id=run_id))
                few[0].add_done_callback(lambda _: waits.set())
                assert waits.wait(60), "the other one neither waits nor ends"
            return land_rows(*arguments)

        monkeypatch.setattr(f"{once_free.__module__}.sleep", lambda _: waits.set())
        monkeypatch.setattr(f"{calibrate_judge.__module__}.land_rows", landed_while_another_begins)
        [(many, _)] = labelled(labels(5), run_id=run_id).calibrations.items()
        with pytest.raises(UsageError, match=r"nothing was kept: the calibration of openai/one .* has 10 labels"):
            few[0].result(60)
        assert Store(tmp_path / "store").calibrations()["calibration_id"].tolist() == [many]

    @pytest.mark.slow
    def test_one_with_fewer_labels_takes_its_place_only_where_it_is_forced(self, run: Any, labelled: Any, tmp_path: Path) -> None:
        store, run_id = Store(tmp_path / "store"), run(passed=6)
        labelled(labels(passed=5), run_id=run_id)
        with pytest.raises(UsageError, match=r"nothing was kept: .* has 10 labels, and now there are 2; replace it with --force"):
            labelled(labels(passed=5)[4:6], run_id=run_id)
        assert len(store.calibrations()) == 1
        outcome = labelled(labels(passed=5)[4:6], run_id=run_id, force=True)
        assert any(remark.startswith("replaced for reports: ") and "10 labels" in remark for remark in outcome.remarks)
        found = figures_in(shown(run_id, tmp_path).reports[0])
        assert found is not None
        assert found.corrected_completion is None
        assert (found.corrected_reason or "").startswith("too few labels: 1 that say pass and 1 that say fail")

    @pytest.mark.slow
    def test_so_do_the_reports_of_a_run_that_just_ended(
        self, run: Any, labelled: Any, make_plan_of: MakePlan, tasks_file: Path
    ) -> None:
        labelled(labels(passed=5), run_id=(run_id := run(passed=6)))
        [report] = landed_reports(replace(make_plan_of(tasks=str(tasks_file)), run_id=run_id))
        found = figures_in(report)
        assert found is not None
        assert found.corrected_completion is not None
        assert found.corrected_completion.value == pytest.approx(0.5)

    @pytest.mark.slow
    def test_another_model_is_not_calibrated_by_it(self, run: Any, labelled: Any, tmp_path: Path, tasks_file: Path) -> None:
        labelled(labels(passed=5), run_id=run(passed=6))
        tasks_file.write_text(tasks_file.read_text().replace("openai/one", "openai/two"))
        found = figures_in(shown(run(passed=6), tmp_path).reports[0])
        assert found is not None
        assert (found.corrected_completion, found.judges[0].model) == (None, "openai/two")

    @pytest.mark.slow
    def test_what_no_model_judged_is_left_out_and_counted(self, run: Any, labelled: Any) -> None:
        gate = {"reasons": [Reason(code="NOT_JUDGED", message="a gate failed first", where="evaluator", informational=True)]}
        broken = {"status": "error", "passed": False, "score": None, "error_kind": "judge"}
        outcome = labelled(labels(passed=5), run_id=run(t9=gate, t8=broken))
        [found] = outcome.calibrations.values()
        assert (found.labels, found.unjudged) == (8, 2)
        left_out = {"its verdict was known before a model was asked", "it ended in an error"}
        assert {f"1 label left out: {why}" for why in left_out} <= set(outcome.remarks)

    def test_verdicts_of_what_judges_no_more_are_not_those_of_todays_judge(self, run: Any, labelled: Any) -> None:
        outcome = labelled(labels(passed=5), run_id=run(t9={"scoring_digest": "sha256:of-another-version"}))
        [found] = outcome.calibrations.values()
        assert (found.labels, found.unjudged) == (9, 1)
        assert "1 label left out: what judges its task was changed since" in outcome.remarks

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            pytest.param([{"task_id": "t99", "label": 1}], "has no item of task 't99'", id="unknown-task"),
            pytest.param(
                [{"task_id": "t1", "run_index": 3, "label": 1}], "has no such item of task 't1'", id="unknown-run-index"
            ),
            pytest.param([{"task_id": "t1", "label": 1}] * 2, "line 3 labels the same item as line 2", id="twice"),
            pytest.param(
                [{"task_id": "t1", "label": 1, "answer": "x"}], "--run names a run and the labels have answers", id="both"
            ),
        ],
    )
    def test_p40_labels_that_fit_nothing_are_refused(
        self, run: Any, labelled: Any, tmp_path: Path, rows: list[dict[str, Any]], message: str
    ) -> None:
        with pytest.raises(UserError) as caught:
            labelled(rows, run_id=run())
        assert message in str(caught.value)
        assert Store(tmp_path / "store").calibrations().empty

    def test_a_label_that_fits_two_runs_of_a_task_says_what_is_missing(
        self, run: Any, labelled: Any, tmp_path: Path, landed_run: LandedRun
    ) -> None:
        store = Store(tmp_path / "store")
        one = run()
        from eval_skills.core.store import land_items, results_of

        first = results_of(store.item_table(one))
        land_items(store, one, [*first, *(each.model_copy(update={"run_index": 1}) for each in first)])
        with pytest.raises(UserError, match="line 2: it fits 2 items of task 't0'; tell them apart with run_index"):
            labelled([{"task_id": "t0", "label": 1}], run_id=one)

    def test_a_run_that_no_model_judged(self, run: Any, labelled: Any, tasks_file: Path) -> None:
        tasks_file.write_text(json.dumps([{"id": name, "expectedOutput": {"value": "right"}} for name in TASKS]))
        with pytest.raises(UserError, match="about an item with a model's verdict: its task is not judged by a model"):
            labelled(labels(passed=5), run_id=run())


def answers(*said: str) -> list[dict[str, Any]]:
    return [{"task_id": f"t{n}", "label": 1, "answer": each} for n, each in enumerate(said)]


class TestOfAnswersJudgedNow:
    @pytest.fixture
    def now(self, labelled: Any, model: ScriptedModel, tasks_file: Path) -> Callable[..., CalibrationOutcome]:
        llm = {"model": "openai/one", "apiBase": model.url}
        return lambda rows, **options: labelled(rows, **{"tasks": str(tasks_file), "llm": llm, **options})

    @pytest.mark.slow
    def test_they_are_judged_and_compared(self, now: Any, model: ScriptedModel) -> None:
        rows = [{"task_id": "t0", "label": n / 10, "answer": "x" * n} for n in range(1, 11)]
        [found] = now(rows).calibrations.values()
        assert (found.labels, found.tasks, found.table) == (10, 1, [[6, 0], [0, 4]])
        assert found.spearman.value == pytest.approx(1.0)
        assert found.run_id is None
        assert len(model.asked) == 11, "one token first"

    @pytest.mark.parametrize(
        ("rows", "options", "message"),
        [
            pytest.param(
                [{"task_id": "t0", "label": 1}],
                {},
                "the labels have no answers; name the run",
                id="no-answers",
            ),
            pytest.param([{"task_id": "x", "label": 1, "answer": "a"}], {}, "has no task 'x'", id="unknown-task"),
            pytest.param(
                [{"task_id": "t0", "label": 1, "answer": "a"}], {"tasks": None}, "name it with --benchmark", id="no-tasks"
            ),
        ],
    )
    def test_p40_what_cannot_be_judged_is_refused(
        self, now: Any, model: ScriptedModel, rows: list[dict[str, Any]], options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(UserError) as caught:
            now(rows, **options)
        assert message in str(caught.value)
        assert not model.asked

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("anew", "ends"),
        [
            pytest.param(False, "what was judged is in the cache: make the same call again to go on", id="cache"),
            pytest.param(True, "with --no-judge-cache the same call asks about all of them again", id="no-cache"),
        ],
    )
    def test_a_judge_that_fails_some_of_them_is_held_against_the_others(
        self, now: Any, model: ScriptedModel, anew: bool, ends: str
    ) -> None:
        model.otherwise = lambda asked: failure(422, "not this one") if "wrong" in asked.prompt else verdict()
        outcome = now(answers("right", "wrong", "good"), noJudgeCache=anew)
        [found] = outcome.calibrations.values()
        assert (outcome.failed, found.labels, found.unjudged) == (1, 2, 1)
        said = next(each for each in outcome.remarks if each.startswith("judge: "))
        assert said.startswith("judge: 1 of 3 answers could not be judged: ")
        assert said.endswith(f"; {ends}")

    @pytest.mark.slow
    def test_fewer_labels_than_are_in_force_are_refused_before_a_model_is_asked(self, now: Any, model: ScriptedModel) -> None:
        now(answers("right", "wrong", "good"), noJudgeCheck=True)
        with pytest.raises(UsageError, match=r"nothing was kept: .* has 3 labels, and now there are 2; replace it with --force"):
            now(answers("fine", "other"), noJudgeCheck=True)
        assert len(model.asked) == 3
        now(answers("fine", "other"), noJudgeCheck=True, force=True)
        assert len(model.asked) == 5

    @pytest.mark.slow
    def test_each_judge_has_its_own_labels_without_a_verdict(
        self, now: Any, model: ScriptedModel, tasks_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And its own calibration, also where chance gives two ids of one second the same digits."""
        monkeypatch.setattr("eval_skills.core.store.layout.secrets.randbelow", lambda _: 0)
        tasks = json.loads(tasks_file.read_text())
        tasks[1]["evaluator"]["model"] = "openai/two"
        tasks_file.write_text(json.dumps([*tasks, {"id": "plain", "expectedOutput": {"value": "x"}}]))
        model.otherwise = lambda asked: failure(422, "not this one") if "wrong" in asked.prompt else verdict()
        more = [{"task_id": "t1", "label": 0, "answer": "wrong"}, {"task_id": "plain", "label": 1, "answer": "x"}]
        found = now([*answers("right", "fine"), *more]).calibrations
        assert {each.model: (each.labels, each.unjudged) for each in found.values()} == {
            "openai/one": (1, 0),
            "openai/two": (1, 1),
        }

    def test_a_judge_that_fails_all_of_them_keeps_nothing(self, now: Any, model: ScriptedModel, tmp_path: Path) -> None:
        model.otherwise = failure(401, "bad key")
        with pytest.raises(RunError, match=r"judge: 2 of 2 answers could not be judged: .*bad key.*; nothing was kept"):
            now(answers("right", "wrong"), noJudgeCheck=True)
        assert Store(tmp_path / "store").calibrations().empty

    @pytest.mark.parametrize(
        ("second", "message"),
        [
            pytest.param({"label": 1}, "line 3 labels the same answer to task 't0' as line 2; keep one", id="repeated"),
            pytest.param({"label": 0}, "line 3 .* as line 2, with 0 where that says 1; keep the one", id="contradictory"),
            pytest.param({"label": 0, "run_index": 1}, "with 0 where that says 1", id="contradictory-of-another-run"),
        ],
    )
    def test_one_answer_has_one_label(self, now: Any, model: ScriptedModel, second: dict[str, Any], message: str) -> None:
        first = {"task_id": "t0", "label": 1, "answer": "x", "run_index": 0 if "run_index" in second else ""}
        with pytest.raises(UserError, match=message):
            now([first, first | second])
        assert not model.asked

    def test_a_spent_budget_keeps_nothing(self, now: Any, model: ScriptedModel, tmp_path: Path) -> None:
        llm = {"model": "openai/one", "apiBase": model.url, "inputPrice": 0.0, "outputPrice": 1_000.0}
        rows = [{"task_id": "t0", "label": 1, "answer": "x" * n} for n in range(1, 5)]
        with pytest.raises(RunError, match=r"what is left of --max-judge-cost 1\.52 "):
            now(rows, llm=llm, maxJudgeCost=1.52, judgeConcurrency=1)
        assert Store(tmp_path / "store").calibrations().empty

    def test_a_judge_that_cannot_be_asked_stops_it_at_once(self, now: Any, model: ScriptedModel) -> None:
        model.otherwise = failure(401, "bad key")
        with pytest.raises(UserError, match="bad key"):
            now([{"task_id": "t0", "label": 1, "answer": "x"}])


def test_reports_of_runs_without_a_judge_are_as_they_were(tmp_path: Path, landed_run: LandedRun, tasks_file: Path) -> None:
    tasks_file.write_text(json.dumps([{"id": "t", "expectedOutput": {"value": "right"}}]))
    source = shown(landed_run({"t": "right"}), tmp_path)
    assert "judge" not in source.reports[0].evaluator_metadata
    assert "Judge" not in markdown_report.render(source.reports, source.context)


def test_metadata_of_another_shape_are_nobodys_figures(tmp_path: Path, landed_run: LandedRun, tasks_file: Path) -> None:
    tasks_file.write_text(json.dumps([{"id": "t", "expectedOutput": {"value": "right"}}]))
    source = shown(landed_run({"t": "right"}), tmp_path)
    report = source.reports[0].model_copy(update={"evaluator_metadata": {"judge": {"items": "many"}}})
    assert figures_in(report) is None
    assert "Judge" not in markdown_report.render([report], ReportContext(run_id="x", created_at=source.context.created_at))
