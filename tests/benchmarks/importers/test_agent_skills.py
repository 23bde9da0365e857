"""Evals, queries and graded workspaces of Agent Skills as benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.agent_skills.sentences import check_of
from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse
from eval_skills.scorers import TaskScoring
from tests.agent_skills.workspaces.test_layout import GRADED, HELD, put
from tests.tables import each_row


def exists(path: str, **more: Any) -> dict[str, Any]:
    return {"type": "file_exists", "path": path, **more}


def content(path: str, **more: Any) -> dict[str, Any]:
    return {"type": "file_content", "path": path, **more}


@each_row(
    ("sentence", "check"),
    [
        ("The file `report.md` exists.", exists("report.md")),
        ("A file named out/summary.csv is created", exists("out/summary.csv", changed=True)),
        ("Creates ./report.md", exists("report.md", changed=True)),
        ("tmp.txt does not exist", exists("tmp.txt", exists=False)),
        ("tmp.txt was not created", exists("tmp.txt", exists=False, changed=True)),
        ("output.csv has exactly 1,200 rows (excluding the header)", content("output.csv", rows=1200)),
        ("output.csv contains at least 12 records", content("output.csv", rows={"min": 12})),
        ("output.csv has at most 3 rows", content("output.csv", rows={"max": 3})),
        ('"result.json" is valid JSON', content("result.json", schema=True)),
        ("report.md mentions 'Q3 revenue'", content("report.md", contains=["Q3 revenue"])),
        ("report.md does not contain “TODO”.", content("report.md", notContains=["TODO"])),
        ('The response mentions "42"', {"type": "contains", "keywords": ["42"]}),
        ("The answer is valid JSON", {"type": "is_json"}),
        ("ünï.csv exists", exists("ünï.csv")),
    ],
)
def test_a_clear_sentence_is_checked_by_a_program(sentence: str, check: dict[str, Any]) -> None:
    assert check_of(sentence) == check


@each_row(
    "sentence",
    [
        "output.csv has 12 rows, sorted by date",
        "output.csv has 12 rows including the header",
        "report.csv exists and has a header",
        "report.xlsx has 12 rows",
        "lines.jsonl is valid JSON",
        "The output is valid JSON",
        "report.md mentions revenue",
        'report.md contains the heading "Summary"',
        "The chart file is created",
        "../other.csv exists",
        "`/etc/passwd.txt` exists",
        "summary.csv is created before the chart",
        "Python 3.11 is present",
        "Not report.md exists",
        "a.csv or b.csv exists",
        "a.csv contains \"x\" and 'y'",
        "",
        "x" * 600,
        "the file " * 50 + "a.csv exists",
    ],
)
def test_every_other_sentence_is_a_models_matter(sentence: str) -> None:
    assert check_of(sentence) is None


def skill(folder: Path, evals: list[Any], name: str = "csv-tools") -> Path:
    (folder / name / "evals" / "files").mkdir(parents=True, exist_ok=True)
    (folder / name / "evals" / "files" / "in.csv").write_text("a\n")
    (folder / name / "data.csv").write_text("a\n")
    (folder / name / "evals" / "evals.json").write_text(json.dumps({"skill_name": name, "evals": evals}))
    return folder / name


def test_each_assertion_is_an_evaluator_with_a_name(tmp_path: Path) -> None:
    assertions = ["out.csv is created", "The table is easy to read", {"type": "file_content", "path": "out.csv", "rows": 2}]
    one = {
        "id": 1,
        "prompt": "Sum it",
        "expected_output": "3",
        "files": ["data.csv", "evals/files/in.csv"],
        "assertions": assertions,
    }
    two = {"id": "chart", "prompt": "Draw", "expectations": [{"text": "has axes"}]}
    three = {"prompt": "Say 3", "expected_output": "3"}
    found = import_tasks(skill(tmp_path, [one, two, three, {"id": 9, "prompt": "x"}]))
    assert (found.kind.name, found.benchmark.id, found.read) == ("agent-skills", "csv-tools", 4)
    assert [task.id for task in found.benchmark.tasks] == ["eval-1", "eval-chart", "row-3"]
    first, second, third = found.benchmark.tasks
    assert first.input_data == {"prompt": "Sum it", "files": ["data.csv", "evals/files/in.csv"]}
    assert sorted(found.files) == ["data.csv", "evals/files/in.csv"]
    assert [(each.name, each.type) for each in first.evaluators or []] == [
        ("assertion-1", "file_exists"),
        ("assertion-2", "llm_judge"),
        ("assertion-3", "file_content"),
    ]
    assert first.metadata["assertions"][1] == "The table is easy to read"
    assert [each.type for each in second.evaluators or []] == ["llm_judge"]
    assert third.evaluator_type == "llm_judge"
    assert next(iter(found.skipped)) == "it has neither assertions nor an expected output"
    assert [remark[:26] for remark in found.remarks] == [
        "2 assertions checked by a ",
        "2 assertions judged by a m",
        "1 eval without assertions:",
    ]


async def test_the_score_is_the_share_of_assertions_that_hold(tmp_path: Path) -> None:
    assertions = ["out.csv is created", "out.csv has 2 rows", 'The answer mentions "done"']
    [task] = import_tasks(skill(tmp_path, [{"id": 1, "prompt": "p", "assertions": assertions}])).benchmark.tasks
    made = {"path": "out.csv", "change": "added", "content": "h\n1\n"}
    verdict = await TaskScoring(task).verdict(SkillResponse.model_validate({"output": "Done.", "files": [made]}))
    assert (verdict.status, round(verdict.score or 0, 4)) == ("fail", 0.6667)
    assert verdict.dimensions == {"output_quality": verdict.score, "assertion-1": 1, "assertion-2": 0, "assertion-3": 1}
    unknown = await TaskScoring(task).verdict(SkillResponse(output="Done."))
    assert (unknown.status, unknown.error_kind) == ("error", "scorer")


@each_row(
    ("one", "message"),
    [
        ({"prompt": "p", "assertions": [{"type": "file_exits", "path": "a"}]}, "did you mean 'file_exists'"),
        ({"prompt": "p", "assertions": [{"type": "file_exists", "path": "../a"}]}, "leads out of the folder"),
        ({"prompt": "p", "assertions": [{"type": "file_exists", "file": "a"}]}, "no such option"),
        ({"prompt": "p", "assertions": ["a"], "files": ["missing.csv"]}, "no file 'missing.csv'"),
        ({"prompt": "p", "assertions": ["a"], "files": ["link.csv"]}, "lies outside"),
        ({"prompt": 5, "assertions": ["a"]}, "prompt"),
    ],
)
def test_a_malformed_eval_is_refused_by_its_place(tmp_path: Path, one: Any, message: str) -> None:
    folder = skill(tmp_path, [one])
    (folder / "link.csv").unlink(missing_ok=True)
    (folder / "link.csv").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match=message) as refused:
        import_tasks(folder)
    assert "evals[0]" in str(refused.value)


def queries(folder: Path, listed: list[Any]) -> Path:
    path = skill(folder, []) / "evals" / "eval_queries.json"
    path.write_text(json.dumps(listed))
    return path


async def test_queries_are_judged_by_whether_the_skill_is_loaded(tmp_path: Path) -> None:
    asked = [{"query": "sum my sheet", "should_trigger": True}, {"query": "draw a cat", "should_trigger": False}]
    found = import_tasks(queries(tmp_path, [*asked, asked[0]]))
    assert (found.kind.name, found.benchmark.id) == ("agent-skills-queries", "csv-tools-triggers")
    assert [(task.id, task.tags) for task in found.benchmark.tasks] == [
        ("row-1", ["should-trigger"]),
        ("row-2", ["should-not-trigger"]),
        ("row-3", ["should-trigger"]),
    ]
    verdicts = [
        (await TaskScoring(task).verdict(SkillResponse(output="", skills_loaded=["csv-tools"]))).status
        for task in found.benchmark.tasks
    ]
    assert verdicts == ["pass", "fail", "pass"]


def test_queries_of_one_kind_are_remarked_on(tmp_path: Path) -> None:
    found = import_tasks(queries(tmp_path, [{"query": "q", "should_trigger": True}]))
    assert any("no query should not load it" in remark for remark in found.remarks)


def test_a_workspace_is_tasks_and_recorded_runs(tmp_path: Path) -> None:
    place = tmp_path / "csv-tools-workspace" / "iteration-2" / "eval-top"
    put(place / "with_skill" / "run-1", {"expectations": [HELD, {"text": "b", "passed": True}]}, {"duration_ms": 1500})
    put(place / "with_skill" / "run-3", None, {"total_tokens": 5})
    put(place / "without_skill" / "run-1", GRADED)
    (place / "eval_metadata.json").write_text('{"eval_id": 4, "prompt": "Top months?", "expected_output": "May"}')
    (tmp_path / "csv-tools-workspace" / "iteration-1" / "eval-top" / "old_skill" / "outputs").mkdir(parents=True)
    found = import_tasks(tmp_path / "csv-tools-workspace")
    [task] = found.benchmark.tasks
    assert (found.kind.name, found.benchmark.id, task.id) == ("agent-skills-workspace", "csv-tools", "eval-top")
    assert task.input_data == {"prompt": "Top months?"}
    assert task.expected_output is not None
    assert task.expected_output.value == "May"
    lines = {(run["skill"], run["runIndex"]): run for run in found.runs}
    assert lines[("csv-tools-with", 0)]["latencyMs"] == 1500
    assert lines[("csv-tools-with", 1)]["error"]["message"] == "eval-top/with_skill/run-3 has no verdict"
    assert lines[("csv-tools-without", 0)]["output"]["assertion-2"] == 0
    assert any("iteration-2 was read" in remark for remark in found.remarks)
    assert any("1 run without a verdict" in remark for remark in found.remarks)


@each_row(
    ("gradings", "scores"),
    [
        ([GRADED, {"expectations": [HELD, {"text": "b", "passed": True}]}], [0.5, 1.0]),
        ([GRADED, {"expectations": [{"text": "b", "passed": False}, HELD]}], [0.5, 0.5]),
        ([GRADED, {"expectations": [HELD]}], [0.0, 1.0]),
        ([{"summary": {"pass_rate": 0.5}}, {"summary": {"pass_rate": 1.0}}], [0.0, 1.0]),
    ],
)
async def test_recorded_runs_get_the_graders_verdict(tmp_path: Path, gradings: list[Any], scores: list[float]) -> None:
    for number, grading in enumerate(gradings, 1):
        put(tmp_path / "eval-1" / "with_skill" / f"run-{number}", grading)
    found = import_tasks(tmp_path)
    [task] = found.benchmark.tasks
    verdicts = [await TaskScoring(task).verdict(SkillResponse(output=run["output"])) for run in found.runs]
    assert [verdict.score for verdict in verdicts] == scores


async def test_an_eval_of_which_no_run_was_graded_keeps_its_runs_as_errors(tmp_path: Path) -> None:
    put(tmp_path / "eval-1" / "with_skill", GRADED)
    for number in (1, 2):
        put(tmp_path / "eval-2" / "with_skill" / f"run-{number}", None, {"duration_ms": 1500})
    found = import_tasks(tmp_path)
    assert [task.id for task in found.benchmark.tasks] == ["eval-1", "eval-2"]
    assert [run["error"]["kind"] for run in found.runs if run["taskId"] == "eval-2"] == ["infra", "infra"]
    assert any(remark.startswith("2 runs without a verdict, which count as errors") for remark in found.remarks)
    assert not any("other numbers of assertions" in remark for remark in found.remarks)
    verdict = await TaskScoring(found.benchmark.tasks[1]).verdict(SkillResponse(output={"pass_rate": 1.0}))
    assert verdict.passed, "a run that is graded later can pass"


def test_a_workspace_without_gradings_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "eval-1" / "with_skill", None, {})
    with pytest.raises(InputError, match="the only entry was skipped, because none of its runs was graded"):
        import_tasks(tmp_path)


def test_a_benchmark_file_stands_for_its_runs(tmp_path: Path) -> None:
    def run(configuration: str, **result: Any) -> dict[str, Any]:
        return {"eval_id": 1, "eval_name": "top", "configuration": configuration, "run_number": 1, "result": result}

    runs = [
        {**run("with_skill", pass_rate=1.0, time_seconds=2.5), "expectations": [HELD]},
        {**run("without_skill", pass_rate=0.0), "expectations": [{"text": "a", "passed": False}]},
        run("old_skill", pass_rate=None),
    ]
    content = {"metadata": {"skill_name": "csv"}, "runs": runs, "run_summary": {"delta": {"pass_rate": "+1.00"}}}
    (tmp_path / "benchmark.json").write_text(json.dumps(content))
    found = import_tasks(tmp_path / "benchmark.json")
    assert (found.kind.name, found.benchmark.id, [task.id for task in found.benchmark.tasks]) == (
        "agent-skills-workspace",
        "csv",
        ["eval-top"],
    )
    lines = {line["skill"]: line for line in found.runs}
    assert (lines["csv-with"]["output"]["assertion-1"], lines["csv-with"]["latencyMs"]) == (1, 2500)
    assert lines["csv-without"]["output"]["assertion-1"] == 0
    assert "has no verdict" in lines["csv-old"]["error"]["message"]
    (tmp_path / "benchmark.json").write_text(json.dumps({**content, "runs": runs[:1] * 2}))
    with pytest.raises(InputError, match="run 1 of eval-top under with_skill is in"):
        import_tasks(tmp_path / "benchmark.json")
