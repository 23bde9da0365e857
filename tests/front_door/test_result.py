"""What an evaluation and a comparison look like, and one answer scored."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from eval_skills.cli.main import call
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.models import SkillCompletionReport, SkillResponse
from eval_skills.reporting import json_report
from eval_skills.reporting.json_report import read_reports
from tests.tables import each_row

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}\u202e"
TASKS = [{"id": letter, "input": letter, "expected": letter.upper()} for letter in "abcd"]


def upper(text: str) -> str:
    return text.upper()


def partly(text: str) -> str:
    if text == "a":
        raise ValueError(ATTACK)
    return ATTACK if text == "b" else text.upper()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert all(name in {"style", "scope", "rowspan", "min", "max", "value", "aria-hidden"} for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read_html(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


@pytest.fixture(scope="module")
def result() -> es.EvaluationResult:
    return es.evaluate([upper, partly], TASKS, runs=2)


def test_figures(result: es.EvaluationResult) -> None:
    assert result.completion == 0.75
    assert [report.summary.completion_rate for report in result.reports] == [1, 0.5]
    assert len(result.items) == 16
    assert {(item.skill, item.task_id, item.status) for item in result.failures} == {
        ("partly@0.0.0", "a", "error"), ("partly@0.0.0", "b", "fail"),
    }  # fmt: skip


def test_the_completion_of_several_reports_is_a_quotient_of_whole_items(result: es.EvaluationResult) -> None:
    def report(passed: int, items: int) -> SkillCompletionReport:
        summary = result.reports[0].summary.model_copy(update={"completion_rate": passed / items, "items": items})
        return result.reports[0].model_copy(update={"summary": summary})

    assert es.EvaluationResult([report(15, 22)], "", planned=30).completion == 0.5
    assert es.EvaluationResult([report(passed, 107) for passed in (30, 54, 58, 72)], "").completion == 0.5


def test_a_table_of_items(result: es.EvaluationResult) -> None:
    frame = result.to_pandas()
    assert len(frame) == 16
    assert frame.groupby("skill")["passed"].mean().to_dict() == {"partly@0.0.0": 0.5, "upper@0.0.0": 1}
    assert frame["reasons"].str.contains("ValueError").sum() == 2


def test_as_text(result: es.EvaluationResult) -> None:
    assert repr(result) == "<2 skills on tasks: completion 75.0 % of 16 items>"
    assert repr(es.evaluate(upper, TASKS)) == "<upper@0.0.0 on tasks: completion 100.0 % (4 of 4 items), 0 failed, 0 errors>"
    assert "partly@0.0.0 on tasks: completion 50.0 % (4 of 8 items), 2 failed, 2 errors\n  a#1 error (skill)\n" in str(result)
    assert "\u202e" not in str(result)


def test_as_a_table_of_a_notebook_every_text_stays_text(result: es.EvaluationResult) -> None:
    tags = read_html(result._repr_html_())
    assert not tags.tags & {"script", "img", "style", "link", "iframe"}
    assert "<script>alert(1)</script>" in tags.text
    assert "{{ 7 * 7 }}" in tags.text
    assert "\u202e" not in tags.text
    assert "partly@0.0.0" in tags.text


@pytest.mark.slow
def test_a_huge_result_is_a_short_table() -> None:
    many = es.evaluate({"wrong": lambda _: "x" * 100_000}, [{"input": i, "expected": "y"} for i in range(50)])
    html = many._repr_html_()
    assert len(html) < 30_000
    assert "and 40 more" in html
    assert "… and 30 more" in str(many)


def test_a_result_of_figures_alone_says_where_its_items_are(result: es.EvaluationResult) -> None:
    figures = [report.model_copy(update={"task_results": []}) for report in result.reports]
    assert es.EvaluationResult(figures, "run").completion == 0.75
    with pytest.raises(UsageError, match="16 items holds their figures only; read the items from a store"):
        es.EvaluationResult(figures, "run").to_pandas()
    with pytest.raises(UsageError, match=re.escape("es.Store('s').items(run_id='run')")):
        _ = es.EvaluationResult(figures, "run", store="s").failures


def test_it_is_saved_as_a_report(result: es.EvaluationResult, tmp_path: Path) -> None:
    file = result.save(tmp_path / "new" / "baseline.json")
    assert [report.skill_id for report in read_reports(file)] == ["upper", "partly"]
    assert [skill.change for skill in es.compare(es.evaluate([upper, partly], TASKS), file).skills] == ["compared", "compared"]
    with pytest.raises(UsageError, match=r"this is a folder; name another file$"):
        result.save(tmp_path)


@pytest.mark.slow
def test_a_saved_report_of_more_than_64_mib_is_read_again(result: es.EvaluationResult, tmp_path: Path) -> None:
    file = result.save(tmp_path / "large.json")
    with file.open("a") as report:
        report.write(" " * 65 * 1024 * 1024)
    assert [skill.change for skill in es.compare(es.evaluate([upper, partly], TASKS), file).skills] == ["compared", "compared"]


def test_a_report_that_could_not_be_read_again_is_not_written(
    result: es.EvaluationResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_report, "MAX_REPORT_BYTES", 5_000)
    with pytest.raises(
        UsageError, match=r"r\.json: the report has more than the 5,000 bytes that are read of one, and is not written"
    ):
        result.save(tmp_path / "r.json")
    assert not list(tmp_path.iterdir())


def test_a_copy_of_a_saved_result_is_the_same_run_to_a_gate(
    result: es.EvaluationResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(result.save(tmp_path / name)) for name in ("a.json", "b.json")]
    assert call(["report", "diff", *files, "--fail-on", "worse"]) == 2
    assert f"both sides are of run {result.run_id}" in capsys.readouterr().err


OF_ITSELF = [("x.html", "html"), ("x.MD", "markdown"), ("x.csv", "csv"), ("x.xml", "junit"), ("x.parquet", "parquet")]


@pytest.mark.parametrize(("name", "other"), OF_ITSELF)
def test_by_its_ending_a_file_is_what_convert_makes_of_the_json_report(
    result: es.EvaluationResult, tmp_path: Path, name: str, other: str
) -> None:
    saved, converted = result.save(tmp_path / name), tmp_path / "converted"
    report = str(result.save(tmp_path / "report"))
    assert call(["report", "convert", "--input", report, "--format", other, "--output", str(converted)]) == 0
    assert saved.read_bytes() == converted.read_bytes()


def test_what_has_no_ending_of_its_own_is_json_and_another_programs_file_is_refused(
    result: es.EvaluationResult, tmp_path: Path
) -> None:
    assert result.save(tmp_path / "report").read_text() == result.save(tmp_path / "x.JSON").read_text()
    with pytest.raises(UsageError, match=r"report convert --input \S+x.json --format gaia --output \S+x.jsonl$"):
        result.save(tmp_path / "x.jsonl")
    assert not (tmp_path / "x.jsonl").exists()


def test_a_failed_assertion_shows_the_reasons(result: es.EvaluationResult) -> None:
    with pytest.raises(AssertionError, match="OUTPUT_MISMATCH"):
        assert result.completion > 0.9, str(result)


@pytest.mark.slow
def test_compared_with_a_baseline() -> None:
    tasks = [{"id": str(number), "input": "x", "expected": "X"} for number in range(12)]
    before, after = es.evaluate({"skill": lambda text: text}, tasks), es.evaluate({"skill": upper}, tasks)
    diff = es.compare(after, before)
    assert diff.skills[0].verdict == "better"
    assert es.compare(before, after).skills[0].verdict == "worse"
    assert repr(diff) == "<Comparison: skill better>"
    assert str(diff).startswith("skill@0.0.0: ✔ better; ")
    assert "✔ better" in read_html(diff._repr_html_()).text
    assert json.loads(json.dumps(diff.to_json()))["skills"][0]["verdict"] == "better"


@pytest.mark.slow
def test_a_run_that_was_not_finished_says_so_wherever_it_goes(tmp_path: Path) -> None:
    def spending(text: str) -> dict[str, Any]:
        return {"output": text.upper(), "usage": {"promptTokens": 100, "completionTokens": 0}}

    skill = {"skill": spending}
    part = es.evaluate(skill, TASKS, store=tmp_path / "store", max_tokens=150, concurrency=1)
    whole = es.evaluate(skill, TASKS)
    assert part.stopped
    file = part.save(tmp_path / "part.json")
    assert f"{len(part.items)} of 4 items" in part.save(tmp_path / "part.md").read_text()
    remark = f"is of run {part.run_id}, which is unfinished: {len(part.items)} of 4 items"
    for side in (part, part.reports[0], part.reports, file, part.run_id):
        unfinished, left = es.compare(side, whole, store=tmp_path / "store").remarks
        assert (unfinished, left.startswith("2 tasks of the earlier side changed, left or")) == (f"result {remark}", True)
    comparison = es.compare(whole, part)
    assert f"\nbaseline {remark}\n" in str(comparison)
    assert f"baseline {remark}" in read_html(comparison._repr_html_()).text
    assert es.compare(whole, es.evaluate(skill, TASKS)).remarks == []


@pytest.mark.slow
def test_a_run_beside_itself_is_refused(tmp_path: Path) -> None:
    result = es.evaluate({"old": partly, "new": upper}, TASKS, store=tmp_path / "store")
    file = result.save(tmp_path / "result.json")
    said = "beside itself nothing is worse; give two runs, or mapping="
    sides: tuple[Any, ...] = (result, file, result.run_id, "latest")
    for side, other in itertools.product(sides, sides):
        with pytest.raises(UsageError, match=f"both sides are of run {result.run_id}, and {said}"):
            es.compare(side, other, store=tmp_path / "store")
    for side, other in ((result.reports[0], result), (result, result.reports[:1])):
        with pytest.raises(UsageError, match=f"both sides hold the same report, and {said}"):
            es.compare(side, other)
    with pytest.raises(UsageError, match=f"both sides are of run {result.run_id}, and {said}"):
        es.compare(result, result, mapping={"new": "new@0.0.0"})
    with_mapping = es.compare(result.reports[1], result.reports[0], mapping={"old": "new"})
    assert [skill.change for skill in with_mapping.skills] == ["compared"]
    again = es.evaluate({"old": partly, "new": upper}, TASKS)
    assert [skill.change for skill in es.compare(again, result).skills] == ["compared", "compared"]


def test_skills_on_different_benchmarks_are_not_compared_and_it_says_why() -> None:
    given = ({"id": name, "name": name, "version": "1.0.0", "domain": "letters", "tasks": TASKS} for name in ("one", "two"))
    before, after = (es.evaluate({"skill": upper}, each) for each in given)
    [said] = es.compare(after, before).remarks
    assert said == (
        "the sides are of different benchmarks (one before, two after), so nothing was compared; evaluate both on the same one"
    )


@pytest.mark.slow
def test_a_rule_for_missing_items_that_does_not_exist_is_refused() -> None:
    before, after = es.evaluate({"skill": partly}, TASKS), es.evaluate({"skill": upper}, TASKS)
    said = re.escape("missing: input should be 'bounds' or 'ignore'; got \"ignor\" (did you mean 'ignore'?)")
    with pytest.raises(UsageError, match=said):
        es.compare(after, before, missing="ignor")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_comparison_says_of_how_many_tasks_it_says_nothing() -> None:
    tagged: list[dict[str, Any]] = [{**TASKS[0], "tags": ["hard"]}, *TASKS[1:], {"id": "e", "input": "e", "expected": "E"}]
    diff = es.compare(es.evaluate({"skill": partly}, tagged), es.evaluate({"skill": upper}, TASKS))
    said = (
        "1 task of the earlier side changed, left or is judged otherwise, and was not compared; "
        "1 task of the later side is new, and was not compared"
    )
    assert diff.remarks == [said]
    assert str(diff).endswith(f"\n{said}")
    assert repr(diff) == f"<Comparison: skill inconclusive; {said}>"
    assert said in read_html(diff._repr_html_()).text


@pytest.mark.slow
def test_skills_of_other_names_are_paired_by_a_mapping() -> None:
    old, new = es.evaluate({"old": upper}, TASKS), es.evaluate({"new": upper}, TASKS)
    lost = es.compare(new, old)
    assert [skill.change for skill in lost.skills] == ["added", "removed"]
    assert "mapping={'old': 'new'}" in str(lost)
    assert "mapping={'old': 'new'}" in read_html(lost._repr_html_()).text
    assert [skill.change for skill in es.compare(new, old, mapping={"old": "new"}).skills] == ["compared"]


@pytest.mark.parametrize(
    ("side", "message"),
    [
        pytest.param(1, "baseline is an int; give a result of evaluate", id="number"),
        pytest.param([1], "baseline holds an int", id="list-of-numbers"),
        pytest.param(None, "baseline is a NoneType; give a result of evaluate", id="none"),
        pytest.param([], "baseline holds no report", id="empty"),
        pytest.param("nowhere.json", "nowhere.json: no such file", id="missing-file"),
    ],
)
def test_a_side_that_cannot_be_compared(result: es.EvaluationResult, side: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        es.compare(result, side)


class Hostile(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no")


def nested(depth: int) -> list[Any]:
    found: list[Any] = ["exact"]
    for _ in range(depth):
        found = [{"evaluators": found}]
    return found


def test_one_answer_is_scored() -> None:
    async def notebook() -> bool:
        return es.score("Bern", {"expected": "Bern"}).passed

    assert asyncio.run(notebook())
    assert es.score("in Bern", {"expected": "Bern"}, evaluator="contains").score == 1
    assert es.score({"output": 1, "toolCalls": [{"name": "rm"}]}, {"expected": {"forbiddenTools": ["rm"]}}).status == "fail"
    assert es.score(SkillResponse(output=[1, 2]), {"expected": (1, 2)}).passed


def test_one_answer_is_scored_by_several_evaluators() -> None:
    word = {"type": "contains", "keywords": ["capital"], "name": "word"}
    found = es.score(
        "the capital Bern", {"expected": "Bern", "evaluators": ["exact", "contains", word], "combine": {"atLeast": 2}}
    )
    assert (found.passed, found.dimensions["word"]) == (True, 1.0)
    result = es.evaluate(upper, tasks=[{"input": "bern", "expected": "BERN", "evaluators": ["exact", {**word, "not": True}]}])
    assert result.completion == 1


@each_row(
    ("answer", "task", "options", "message"),
    [
        pytest.param("x", {}, {}, "task: nothing is expected", id="nothing-expected"),
        pytest.param("x", "x", {}, "task is a str; give a dict", id="text"),
        pytest.param({1}, {"expected": 1}, {}, "the answer is a set", id="set"),
        pytest.param("\ud83d", {"expected": 1}, {}, "the answer is half of a surrogate pair in a text", id="surrogate"),
        pytest.param(Hostile(), {"expected": 1}, {}, "the answer cannot be read: RuntimeError: no$", id="hostile"),
        pytest.param("x", {"expected": 1}, {"runs": 3}, "unknown option 'runs'", id="option-of-evaluate"),
        pytest.param("x", {"expected": "fine", "evaluator": "llm_judge"}, {}, "no judging model is named", id="no-judge"),
        pytest.param("x", {"expected": 1, "evaluator": "exat"}, {}, "task: evaluator: unknown scorer", id="unknown-scorer"),
        pytest.param("x", {"expected": 1, "evaluators": ["exact", "exat"]}, {}, r"evaluators\[1\]: unknown scorer", id="one-of"),
        pytest.param("x", {"expected": 1, "evaluators": []}, {}, "task: evaluators: give at least 1", id="empty-set"),
        pytest.param("x", {"expected": 1, "evaluators": nested(3_000)}, {}, "task: evaluators: sets lie more", id="too-deep"),
    ],
)
def test_what_cannot_be_scored(answer: Any, task: Any, options: Any, message: str) -> None:
    with pytest.raises((UsageError, InputError), match=message):
        es.score(answer, task, **options)


def test_answers_of_which_the_beginning_alone_is_kept_are_counted() -> None:
    tasks = [{"input": count, "expected": ["a"] * count} for count in (10, 20_000, 30_000)]
    result = es.evaluate({"lister": lambda count: ["a"] * count}, tasks)
    assert result.completion == 1
    assert [type(item.output) for item in result.items] == [list, str, str]
    assert result.remarks == ["of 2 answers only the first 64 KiB are kept, as text; the whole was judged"]


@pytest.mark.parametrize("skills", [1, 2])
def test_what_a_stopped_run_did_not_ask_has_not_passed(skills: int) -> None:
    def costly(number: int) -> dict[str, Any]:
        return {"output": "x", "costUsd": 1}

    tasks = [{"id": f"t{number}", "input": number, "expected": "x"} for number in range(10)]
    result = es.evaluate({f"s{number}": costly for number in range(skills)}, tasks, max_cost=3, concurrency=1)
    assert (len(result.items), result.planned) == (3, 10 * skills)
    assert result.completion == 3 / (10 * skills)
    assert f"of {10 * skills} items" in repr(result)
    assert result.failures == []


def test_a_whole_run_has_no_planned_items_beside_its_own() -> None:
    result = es.evaluate(upper, TASKS)
    assert (result.completion, result.planned) == (1, None)


def test_calls_of_an_earlier_attempt_that_are_unknown_are_a_remark() -> None:
    calls: list[str] = []

    async def hangs_once(text: str) -> dict[str, Any]:
        calls.append(text)
        if len(calls) == 1:
            await asyncio.sleep(60)
        return {"output": "x", "toolCalls": []}

    task = {"input": "q", "expected": {"forbiddenTools": ["pay"]}}
    result = es.evaluate(hangs_once, task, retries=1, timeout_ms=100)
    assert result.completion == 1
    remark = "whether hangs_once@0.0.0 called a forbidden tool is unknown in 1 item"
    assert result.remarks == [remark]
    assert str(result).endswith(remark)


@pytest.mark.parametrize("name", ["x.html", "x.MD", "x.json"])
def test_a_comparison_is_saved_as_report_diff_writes_it(result: es.EvaluationResult, tmp_path: Path, name: str) -> None:
    before = str(result.save(tmp_path / "before.json"))
    after = str(es.evaluate({"upper": partly, "partly": upper}, TASKS).save(tmp_path / "after.json"))
    assert call(["report", "diff", before, after, "--output", str(tmp_path / "of" / name.lower())]) == 0
    saved = es.compare(after, before).save(tmp_path / "saved" / name)
    assert saved.read_bytes() == (tmp_path / "of" / name.lower()).read_bytes()


def test_a_saved_comparison_names_its_sides_and_what_limits_it(result: es.EvaluationResult, tmp_path: Path) -> None:
    other = es.evaluate({"other": upper}, TASKS)
    page = es.compare(other, result.reports).save(tmp_path / "x.md").read_text()
    assert f"{other.run_id}" in page
    assert "no skill is on both sides" in page
    with pytest.raises(UsageError, match=r"no report of a comparison ends like this; valid endings are .md, .json, .html$"):
        es.compare(other, result).save(tmp_path / "x.csv")
