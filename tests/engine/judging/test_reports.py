"""What the reports of a judged run say of its judges: made by real runs, against a real model server on loopback."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store, mirror_sqlite, past_runs
from eval_skills.core.trend.trend import trend
from eval_skills.engine.calibration.calibrate import calibrate_judge
from eval_skills.engine.calibration.request import CalibrateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.engine.repair import repair
from eval_skills.engine.report_diff import compared
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.reporting import ReportContext, read_reports, render
from eval_skills.reporting.judging import figures_in, judging_line
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

PANEL = ["openai/one", "openai/two", "openai/three"]
RUBRIC = {"tone": {"weight": 1, "description": "Polite?", "levels": {"polite": 1, "rude": 0}}}
PRICED = {"inputPrice": 0.0, "outputPrice": 1_000.0}
"""A reply of 20 tokens costs 0.02 USD."""

NAMES = ("markdown", "html", "csv", "json", "parquet")
Judged = Callable[..., RunSummary]


@pytest.fixture
def judged(make_plan_of: MakePlan, model: ScriptedModel, tmp_path: Path) -> Judged:
    """Runs the skill, which says the id of its task, on tasks with these evaluators; `llm` adds to the model's settings."""

    def run(tasks: dict[str, dict[str, Any]], *, llm: dict[str, Any] | None = None, **fields: Any) -> RunSummary:
        path = tmp_path / "owls.json"
        path.write_text(json.dumps([{"id": name, "inputData": {"what": name}, **task} for name, task in tasks.items()]))
        settings = {"model": "openai/scripted", "apiBase": model.url, **(llm or {})}
        return evaluate_in_process(make_plan_of(tasks=str(path), llm=settings, no_judge_check=True, **fields))

    return run


def by(**options: Any) -> dict[str, Any]:
    return {"evaluator": {"type": "llm_judge", "criteria": "Be right.", **options}}


def written(reports: list[SkillCompletionReport]) -> dict[str, Any]:
    """The report in every format; of tables their rows."""
    context = ReportContext(run_id="r", created_at=datetime(2026, 11, 22, tzinfo=UTC))
    found: dict[str, Any] = {name: render(name, reports, context) for name in NAMES}
    found["csv"] = list(csv.DictReader(io.StringIO(found["csv"])))
    found["parquet"] = parquet.read_table(io.BytesIO(found["parquet"])).to_pylist()
    found["json"] = json.loads(found["json"])
    return found


def tone(level: str) -> Says:
    return Says({"tone_verdict": {"quotes": [], "reasoning": "r", "level": level}})


def row_of(markdown: str, first: str, heads: str) -> dict[str, str]:
    """The row that begins with `first` of the table whose head begins with `heads`."""
    lines = markdown.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heads}"))
    row = next(line for line in lines[start + 2 :] if line.startswith(f"| {first}"))
    return dict(zip(_cells(lines[start]), _cells(row), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def of_model(asked: Asked) -> Says:
    """A panel of which one member is out of order, and the other two disagree about "short"."""
    name, answer = asked.body["model"], asked.prompt.rpartition("<<<answer")[2]
    if name == "three" or "dead" in answer:
        return failure(422, "out of order")
    return verdict(0.0 if name == "two" and "short" in answer else 1.0)


@pytest.mark.slow
def test_every_report_has_what_judging_came_to_apart_from_the_skills_cost(model: ScriptedModel, judged: Judged) -> None:
    model.otherwise = of_model
    panel = by(models=PANEL, aggregate="mean")  # of the two that vote, also where they disagree
    gated = panel | {"expected": {"output": {"contains": ["never said"]}}}
    tasks = dict.fromkeys(("long enough", "short", "dear", "dead"), panel)
    summary = judged({**tasks, "gated": gated}, llm=PRICED, concurrency=1)
    [report] = summary.reports
    assert (report.token_cost.judge_tokens, report.token_cost.estimated_usd) == (720, 0.5)
    assert report.token_cost.judge_cost_usd == pytest.approx(0.12)
    assert report.summary.unjudged_items == 1
    found = figures_in(report)
    assert found is not None
    assert (found.items, found.unjudged, found.cached) == (3, 1, 0)
    assert found.agreement == pytest.approx((1 + 0.5 + 1) / 3)
    said = written(summary.reports)
    row = row_of(said["markdown"], "moody@1.0.0", "Skill | Judged by")
    expected = {"Judged": "3", "Not judged": "1", "From cache": "0", "Tokens": "720", "Cost": "$0.1200", "Agreement": "83.3 %"}
    assert row.items() >= expected.items()
    assert row["Judged by"] == "openai/one + openai/two + openai/three (mean of 3 models)"
    assert "| Tokens of judging | 720 |\n| Cost of judging | $0.1200 |" in said["markdown"]
    assert "| Cost | at least $0.5000, unknown of 4 of 5 items |" in said["markdown"]
    for shown in ('<h3 id="judging">Judging</h3>', ">720</td>", ">$0.1200</td>", ">83.3 %</td>"):
        assert shown in said["html"]
    [line], [typed] = said["csv"], said["parquet"]
    assert (line["judged_items"], line["unjudged_items"], line["cached_verdicts"], line["judge_tokens"]) == ("3", "1", "0", "720")
    assert float(line["judge_cost_usd"]) == typed["judge_cost_usd"] == pytest.approx(0.12)
    assert typed["judge_agreement"] == pytest.approx(5 / 6)
    assert line["judged_by"] == typed["judged_by"] == row["Judged by"]
    assert said["json"][0]["evaluatorMetadata"]["judge"]["judges"][0]["tokens"] == 720
    assert judging_line(report) == (
        f"judging of moody@1.0.0: 3 items judged, 1 not judged, agreement 83.3 %, {len(model.asked)} requests, tokens 720, "
        "cost $0.1200"
    )
    assert summary.judging[-1] == f"judging: {len(model.asked)} requests, 0 from the cache, 720 tokens, $0.1200"


def test_a_finished_run_says_whether_longer_answers_had_higher_scores(
    model: ScriptedModel, judged: Judged, tmp_path: Path
) -> None:
    model.otherwise = lambda asked: verdict(0.1 * len(asked.prompt.rpartition("<<<answer")[2].split(">>>\n")[1].split()))
    summary = judged({" ".join(["w"] * words): by() for words in range(1, 6)})
    stored = read_source(summary.run_id, str(tmp_path / "store")).reports
    for [report] in (summary.reports, stored):
        found = figures_in(report)
        assert found is not None
        assert (found.length_bias.items, found.length_bias.rating) == (5, "strong")
        assert found.length_bias.spearman == pytest.approx(1.0)


@pytest.mark.slow
def test_the_store_has_it_for_each_run_and_skill(model: ScriptedModel, judged: Judged, tmp_path: Path) -> None:
    model.otherwise = of_model
    run_id = judged({"a": by(), "dead": by()}, llm=PRICED).run_id
    store = Store(tmp_path / "store")
    columns = "judge_requests, judge_tokens, judge_cost_usd, unjudged_items"
    [row] = store.query(f"SELECT skill_id, {columns} FROM reports WHERE run_id = '{run_id}'").to_dict("records")
    cost = {"judge_requests": 4, "judge_tokens": 120, "judge_cost_usd": pytest.approx(0.02)}
    assert row == {"skill_id": "moody", "unjudged_items": 1, **cost}, "a request that is refused is one, too"
    with closing(sqlite3.connect(mirror_sqlite(store, run_id, tmp_path / "mirror.db"))) as connection:
        assert connection.execute(f"SELECT {columns} FROM reports").fetchall() == [(4, 120, pytest.approx(0.02), 1)]
    figures = {"judgeTokens": 120, "judgeUSD": pytest.approx(0.02), "unjudgedItems": 1}
    benchmark = str(store.items(run_id=run_id)["benchmark_id"].iloc[0])
    assert {name: trend(store, "moody", metric=name)[benchmark][0].value for name in figures} == figures
    [past] = past_runs(store)
    assert [(each.skill, each.judge_tokens, each.unjudged_items) for each in past.judging] == [("moody@1.0.0", 120, 1)]
    again = read_source(run_id, str(tmp_path / "store")).reports[0]
    assert (again.token_cost.judge_tokens, again.summary.unjudged_items) == (120, 1)


@pytest.mark.slow
def test_a_price_or_a_count_that_nobody_knows_is_unknown_and_never_zero(model: ScriptedModel, judged: Judged) -> None:
    """p38: the second run has one verdict from the cache, which costs nothing, and one of which nothing is known."""
    tasks = {"a": by(), "b": by()}
    [unpriced] = judged({"a": by()}).reports
    said = written([unpriced])
    assert "| Tokens of judging | 120 |\n| Cost of judging | unknown |" in said["markdown"]
    assert ">unknown</td>" in said["html"]
    assert (said["csv"][0]["judge_cost_usd"], said["parquet"][0]["judge_cost_usd"]) == ("", None)
    model.otherwise = Says({"reasoning": "r", "score": 1.0}, usage=None)
    [uncounted] = judged(tasks).reports
    assert (uncounted.token_cost.judge_tokens, uncounted.token_cost.judge_cost_usd) == (None, None)
    row = row_of(written([uncounted])["markdown"], "moody", "Skill | Judged by")
    assert (row["Judged"], row["From cache"], row["Tokens"], row["Cost"]) == ("2", "1", "unknown", "unknown")


@pytest.mark.slow
def test_p38_that_nothing_failed_is_known_where_no_tokens_are_counted(
    model: ScriptedModel, judged: Judged, tmp_path: Path
) -> None:
    model.otherwise = Says({"reasoning": "r", "score": 1.0}, usage=None)
    summary = judged({"a": by(), "b": by()})
    assert summary.reports[0].summary.unjudged_items == 0
    rows = Store(tmp_path / "store").query(f"SELECT unjudged_items FROM reports WHERE run_id = '{summary.run_id}'")
    assert rows["unjudged_items"].tolist() == [0]


@pytest.mark.slow
def test_p38_what_a_judge_that_was_too_late_cost_is_unknown(
    model: ScriptedModel, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    model.otherwise = lambda asked: failure(504, "slow") if "\nb\n" in asked.prompt else verdict()
    [report] = judged({"a": by(), "b": by()}, llm=PRICED | {"timeoutMs": 2_000}).reports
    assert (report.token_cost.judge_tokens, report.token_cost.judge_cost_usd) == (None, None)
    row = row_of(written([report])["markdown"], "moody", "Skill | Judged by")
    assert (row["Judged"], row["Not judged"], row["Tokens"], row["Cost"]) == ("1", "1", "unknown", "unknown")


@pytest.mark.slow
def test_what_came_from_the_cache_costs_nothing(model: ScriptedModel, judged: Judged) -> None:
    judged({"a": by()}, llm=PRICED)
    [again] = judged({"a": by()}, llm=PRICED).reports
    row = row_of(written([again])["markdown"], "moody", "Skill | Judged by")
    assert (row["Judged"], row["From cache"], row["Tokens"], row["Cost"]) == ("1", "1", "0", "$0.00")


@pytest.mark.slow
def test_p13_where_the_judge_failed_at_everything_the_report_says_so(model: ScriptedModel, judged: Judged) -> None:
    model.otherwise = failure(422, "out of order")
    summary = judged({"a": by(), "b": by()}, llm=PRICED)
    [report] = summary.reports
    row = row_of(written([report])["markdown"], "moody", "Skill | Judged by")
    assert (row["Judged"], row["Not judged"], row["Requests"], row["Tokens"], row["Cost"]) == ("0", "2", "6", "0", "$0.00")
    assert len(model.asked) == 6
    assert "Completion is not corrected for the judge's mistakes: no item was judged." in written([report])["markdown"]


@pytest.mark.slow
def test_only_what_models_judged_is_told_of(model: ScriptedModel, judged: Judged, write_skill: Any, tmp_path: Path) -> None:
    """One skill passes the gate before the judge, the other does not; and a run without a judge says nothing of judging."""
    write_skill("moody")
    write_skill("curt", adapterConfig={"persistent": True})
    (tmp_path / "skills" / "curt" / "skill.py").write_text(
        (tmp_path / "skills" / "moody" / "skill.py").read_text().replace("else what\n", 'else ""\n')
    )
    skills = [str(tmp_path / "skills" / name) for name in ("moody", "curt")]
    said = written(judged({"a": by()}, skills=skills).reports)
    assert said["markdown"].count("### Judges") == 1
    assert "| curt@1.0.0 | openai" not in said["markdown"]
    rows = {row["skill_id"]: row for row in said["csv"]}
    assert (rows["moody"]["judged_items"], rows["curt"]["judged_items"], rows["curt"]["judge_tokens"]) == ("1", "", "")
    plain = written(judged({"a": {"expectedOutput": {"value": "a"}}}).reports)
    assert "judg" not in plain["markdown"].lower()
    assert 'id="judging-table"' not in plain["html"]


@pytest.mark.slow
def test_who_verified_claims_is_named_and_counted_where_nothing_else_was_judged(model: ScriptedModel, judged: Judged) -> None:
    def says(asked: Asked) -> Says:
        if '"claims"' in json.dumps(asked.body["response_format"]):
            texts = [] if "<<<answer" in asked.prompt and "hm" in asked.prompt.rpartition("<<<answer")[2] else ["It is late"]
            return Says({"reasoning": "r", "claims": [{"claim": each, "importance": "major"} for each in texts]})
        return Says({"reasoning": "r", "lookups": [{"number": 1, "verdict": "supported", "evidence": "late"}]})

    model.otherwise = says
    check = {"checks": {"hallucination": {"mode": "judged"}}}
    summary = judged({"late": check, "hm": check, "plain": {"expectedOutput": {"value": "plain"}}}, llm=PRICED)
    said = written(summary.reports)
    row = row_of(said["markdown"], "moody@1.0.0", "Skill | Judged by")
    expected = {"Judged by": "openai/scripted", "Judged": "2", "Not judged": "0", "Tokens": "360", "Cost": "$0.0600"}
    assert row.items() >= expected.items()
    judge = row_of(said["markdown"], "openai/scripted", "Judge | Scorer and prompt")
    assert (judge["Scorer and prompt"], judge["Judged"], judge["Tokens"]) == ("claims 2, prompt 1", "2", "360")
    assert (said["csv"][0]["judged_by"], said["csv"][0]["judged_items"]) == ("openai/scripted", "2")
    assert judging_line(summary.reports[0]) == "judging of moody@1.0.0: 2 items judged, 3 requests, tokens 360, cost $0.0600"


@pytest.mark.slow
def test_the_dimensions_of_a_rubric_are_in_every_report(
    model: ScriptedModel, judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rubric.json").write_text(json.dumps({"dimensions": RUBRIC}))
    model.otherwise = tone("polite")
    rubric = {"evaluator": {"type": "rubric", "rubric": "rubric.json"}}
    said = written(judged({"a": rubric}).reports)
    assert "| Rubric: tone | 1.0000 | 1 |" in said["markdown"]
    assert "Rubric: tone" in said["html"]
    assert json.loads(said["csv"][0]["dimensions"])["rubric.tone"] == {"mean": 1.0, "items": 1}
    assert json.loads(said["parquet"][0]["dimensions"])["rubric.tone"] == {"mean": 1.0, "items": 1}
    assert said["json"][0]["dimensions"]["rubric.tone"] == {"mean": 1.0, "items": 1}
    assert row_of(said["markdown"], "openai", "Judge | Scorer")["Scorer and prompt"].startswith("rubric ")
    monkeypatch.setattr("eval_skills.engine.evaluation.summary.MAX_DETAILED_ITEMS", 0)
    [large] = judged({"a": rubric}).reports
    assert large.dimensions["rubric.tone"].mean == 1.0, "a run too large for its items to be told has its dimensions all the same"
    found = figures_in(large)
    assert found is not None
    assert (found.items, found.length_bias.reason, large.task_results) == (1, "the answers are not available", [])


@pytest.mark.slow
def test_a_run_whose_reports_hold_figures_only_passes_no_gate_unjudged(
    model: ScriptedModel, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.engine.evaluation.summary.MAX_DETAILED_ITEMS", 0)
    model.otherwise = failure(401, "no such key")
    summary = judged({"a": by(), "b": {"expectedOutput": {"value": "ok"}}})
    assert [report.task_results for report in summary.reports] == [[]]
    assert (summary.unjudged, summary.gate_passed) == (1, False)


@pytest.mark.slow
def test_the_agreement_of_a_panel_on_a_rubric_is_told_too(model: ScriptedModel, judged: Judged, tmp_path: Path) -> None:
    (tmp_path / "rubric.json").write_text(json.dumps({"dimensions": RUBRIC}))
    model.otherwise = lambda asked: tone("rude" if asked.body["model"] == "two" else "polite")
    [report] = judged({"a": {"evaluator": {"type": "rubric", "rubric": "rubric.json", "models": PANEL}}}).reports
    found = figures_in(report)
    assert found is not None
    assert found.agreement == pytest.approx(2 / 3)
    assert row_of(written([report])["markdown"], "moody", "Skill | Judged by")["Agreement"] == "66.7 %"


@pytest.mark.slow
def test_p68_names_of_models_are_text_and_huge_ones_are_cut(model: ScriptedModel, judged: Judged, tmp_path: Path) -> None:
    name = "openai/<img src=x onerror=alert(1)>|`*x*` " + "y" * 3_000
    summary = judged({"a": by(model=name)})
    said = written(summary.reports)
    assert "<img" not in said["html"] + said["markdown"]
    assert "openai/&lt;img src=x" in said["markdown"]
    assert "more characters)" in row_of(said["markdown"].replace("\\|", "¦"), "moody", "Skill | Judged by")["Judged by"]
    assert said["csv"][0]["judged_by"] == name
    path = tmp_path / "again.json"
    path.write_text(json.dumps(said["json"]))
    assert figures_in(read_reports(path)[0]) == figures_in(summary.reports[0])


@pytest.mark.slow
def test_what_the_rules_of_a_judged_scorer_decide_is_no_model_s_verdict(model: ScriptedModel, judged: Judged) -> None:
    pii = {"type": "pii", "mode": "both"}
    by_rules = {"ada@example.org": {"evaluator": pii}, "bob@example.org": {"evaluators": [pii]}}
    [report] = judged(by_rules | {"c": {"evaluator": {"type": "trajectory_judge"}}}).reports
    assert (model.asked, figures_in(report), [item.status for item in report.task_results]) == ([], None, ["fail"] * 3)
    [report] = judged({"ada@example.org": {"evaluators": [pii, by()["evaluator"]], "combine": "any"}, "b": by()}).reports
    found = figures_in(report)
    assert found is not None
    assert found.items == len(model.asked) == 2, "another model of a set was asked"


@pytest.mark.slow
def test_two_judges_are_not_compared_and_how_one_judges_both_is_told(judged: Judged, tmp_path: Path) -> None:
    old, new = (judged({"a": by()}, llm={"model": name}) for name in ("openai/one", "openai/two"))
    store = str(next(tmp_path.rglob("runs")).parent)
    found = compared(read_source(old.run_id, store), read_source(new.run_id, store))
    assert found.diff.skills[0].verdict == "inconclusive"
    [remark] = found.remarks
    assert (
        f"eval-skills rescore {old.run_id} scores the earlier answers by today's tasks, and with --judge-model and llm" in remark
    )
    assert remark.endswith("of the later side by its judge, openai/two (llm_judge 1, prompt 1); compare that run")


@pytest.mark.slow
@pytest.mark.parametrize("of_a_run", [True, False], ids=["labels-of-a-run", "labels-with-answers"])
def test_a_calibration_of_other_criteria_corrects_nothing(
    model: ScriptedModel, judged: Judged, tmp_path: Path, of_a_run: bool
) -> None:
    def corrected(llm: dict[str, Any] | None = None, only: str = "", **criteria: Any) -> tuple[bool, str | None]:
        tasks = {f"t{n:02}": by() for n in range(10)} | {name: by(criteria=said) for name, said in criteria.items()}
        summary = judged({name: task for name, task in tasks.items() if name.startswith(only)}, llm=llm)
        figures = figures_in(summary.reports[0])
        assert figures is not None
        return figures.corrected_completion is not None, figures.corrected_reason

    model.otherwise = lambda asked: verdict(0.0 if any(f"t{n:02}" in asked.prompt for n in range(4)) else 1.0)
    corrected()
    store = next(tmp_path.rglob("runs")).parent
    rows = [{"task_id": f"t{n:02}", "label": float(n >= 4), "answer": f"t{n:02}"} for n in range(10)]
    fields = ["task_id", "label"] if of_a_run else ["task_id", "label", "answer"]
    labels = tmp_path / "labels.csv"
    with labels.open("w") as file:
        writer = csv.DictWriter(file, fields, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    source = {"run_id": "latest"} if of_a_run else {"tasks": str(tmp_path / "owls.json"), "no_judge_check": True}
    llm = {"model": "openai/scripted", "apiBase": model.url}
    request = CalibrateRequest.model_validate({"labels": str(labels), "store": str(store), "llm": llm, **source})
    calibrate_judge(request)
    assert corrected() == (True, None)
    what = "task t03" if of_a_run else "this benchmark"
    assert corrected(t03="Be clear.") == (False, f"openai/scripted was calibrated before {what} changed; calibrate it again")
    calibrate_judge(request)
    assert [corrected(t03="Be clear."), corrected()] == [(True, None)] * 2, "the earlier calibration fits the earlier tasks"
    said = corrected(t03="Be brief.")
    assert said == (False, f"openai/scripted was calibrated before {what} changed; calibrate it again")
    said = corrected(only="n", n1="Be brief.", n2="Be brief.")
    assert said == (False, "openai/scripted was calibrated before this benchmark changed; calibrate it again"), (
        "none of its tasks"
    )
    said = corrected(only="t00", t001="Be brief.", t002="Be brief.")
    assert said == (False, "openai/scripted was calibrated before this benchmark changed; calibrate it again"), "most are new"
    said = corrected(llm={"temperature": 1.5}, only="t00")
    hot = "openai/scripted (temperature 1.5) is not calibrated on this benchmark; see eval-skills judge calibrate"
    assert said == (False, hot)


@pytest.mark.slow
def test_a_calibration_of_another_prompt_corrects_nothing_that_was_judged_before(
    model: ScriptedModel, judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = {f"t{n}": by() for n in range(10)}
    model.otherwise = lambda asked: verdict(0.0 if any(f"t{n}" in asked.prompt for n in range(4)) else 1.0)
    run_id = judged(tasks).run_id
    monkeypatch.setattr("eval_skills.scorers.judging.model.PROMPT_VERSION", "2")
    judged(tasks)
    store, labels = next(tmp_path.rglob("runs")).parent, tmp_path / "labels.csv"
    labels.write_text("task_id,label\n" + "".join(f"t{n},{float(n >= 4)}\n" for n in range(10)))
    calibrate_judge(CalibrateRequest(labels=str(labels), store=str(store), run_id="latest"))
    later, earlier = (figures_in(read_source(each, str(store)).reports[0]) for each in ("latest", run_id))
    assert later is not None
    assert later.corrected_completion is not None
    assert earlier is not None
    assert (earlier.corrected_completion, earlier.judges[0].calibration) == (None, None)
    said = "what judges tasks t0, t1, t2 and 7 more changed since these answers were judged; judge them again with eval-skills"
    assert earlier.corrected_reason == f"{said} rescore"


@pytest.mark.slow
def test_reports_that_are_made_anew_have_what_judging_came_to(model: ScriptedModel, judged: Judged) -> None:
    """Where no tokens are counted, only the run's request says that a model judged."""
    model.otherwise = Says({"reasoning": "r", "score": 1.0}, usage=None)
    summary = judged({"a": by(), "b": by()})
    store = Store(summary.store)
    [landed] = store.tables.dataset("reports", [summary.run_id]).to_table().to_pylist()
    assert landed["unjudged_items"] == 0
    Path(store.tables.files("reports")[summary.run_id]).unlink()
    assert "reports made anew from the items" in [each.repaired for each in repair(store).findings]
    [anew] = store.tables.dataset("reports", [summary.run_id]).to_table().to_pylist()
    assert {name: value for name, value in anew.items() if landed[name] != value} == {}
