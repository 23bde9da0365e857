"""A Python expression that judges, run for real in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import TaskScoring
from tests.tables import each_row


def scoring(expression: str, *, allow: bool = True, folder: Path | None = None, **options: Any) -> TaskScoring:
    evaluator = {"type": "python", "expression": expression, "timeoutMs": 60_000, **options}
    task = {"id": "t", "inputData": {"q": 1}, "expectedOutput": {"value": "Bern"}, "evaluator": evaluator}
    return TaskScoring(EvalTask.model_validate(task), {"allowCustomCode": allow, "benchmarkFolder": folder})


async def judged(expression: str, output: Any = "Bern", **options: Any) -> Verdict:
    return await scoring(expression, **options).verdict(SkillResponse(output=output))


@pytest.mark.slow
@each_row(
    ("expression", "output", "status", "score"),
    [
        pytest.param('output["total"] > 3 and "Bern" in text', {"total": 4, "city": "Bern"}, "pass", 1.0, id="true"),
        pytest.param('output["total"] > 3 and "Bern" in text', {"total": 3, "city": "Bern"}, "fail", 0.0, id="false"),
        pytest.param("output == expected", {"answer": "Bern"}, "pass", 1.0, id="unwrapped"),
        pytest.param('task["inputData"]["q"] == 1', "x", "pass", 1.0, id="task"),
        pytest.param('bool(re.fullmatch("B.rn", text)) and math.pi > json.loads("3")', "Bern", "pass", 1.0, id="modules"),
        pytest.param("len(text) / 8", "Bern", "fail", 0.5, id="number"),
        pytest.param(
            "\n  all(each in text for each in ('B', 'n')) and (n := len(text)) > 3 and n < 5\n", "Bern", "pass", 1.0, id="scopes"
        ),
    ],
)
async def test_value(expression: str, output: Any, status: str, score: float) -> None:
    found = await judged(expression, output)
    assert (found.status, found.score, found.scorer) == (status, score, "python")


@pytest.mark.slow
async def test_it_passes_from_the_threshold_on_and_the_reason_shows_both() -> None:
    assert (await judged("len(text) / 8", threshold=0.5)).status == "pass"
    found = await judged("len(text) / 8", threshold=0.6)
    assert found.status == "fail"
    assert found.reasons[0].message == 'len(text) / 8 gave 0.5, expected at least 0.6, of the answer "Bern"'


@pytest.mark.slow
@each_row(
    ("expression", "output", "message"),
    [
        pytest.param('output["total"] > 3', {"sum": 4}, "raised KeyError: 'total'", id="missing-key"),
        pytest.param("re.search('x', text)", "Bern", "wrap it in bool()", id="none"),
        pytest.param("text", "Bern", "wrap it in bool()", id="text"),
        pytest.param("len(text)", "Bern", "between 0 and 1", id="out-of-range"),
        pytest.param("float('nan')", "Bern", "between 0 and 1", id="nan"),
        pytest.param("exit(3)", "Bern", "SystemExit: 3", id="exit"),
        pytest.param("__import__('os')._exit(3)", "Bern", "exit code 3 and without an answer", id="ends-its-process"),
    ],
)
async def test_what_gives_no_score_is_an_error_never_a_verdict(expression: str, output: Any, message: str) -> None:
    found = await judged(expression, output)
    assert (found.status, found.score, found.error_kind) == ("error", None, "scorer")
    assert message in found.reasons[0].message


@pytest.mark.slow
async def test_p11_it_runs_in_another_process_and_opens_no_files_of_others(tmp_path: Path) -> None:
    folder, outside = tmp_path / "bench", tmp_path / "outside.txt"
    folder.mkdir()
    outside.write_text("secret")
    (folder / "beside.txt").write_text("beside")
    assert (await judged(f"__import__('os').getpid() != {os.getpid()}", folder=folder)).status == "pass"
    assert (await judged("open('beside.txt').read() == 'beside'", folder=folder)).status == "pass"
    assert "PermissionError" in (await judged(f"bool(open({str(outside)!r}).read())", folder=folder)).reasons[0].message
    assert "PermissionError" in (await judged(f"bool(open({str(outside)!r}).read())")).reasons[0].message


@pytest.mark.slow
async def test_it_is_ended_after_its_time() -> None:
    found = await judged("all(True for each in iter(int, 1))", timeoutMs=500)
    assert "did not answer within 500 ms" in found.reasons[0].message


@each_row(
    ("expression", "message"),
    [
        pytest.param("x = 1", "not a Python expression", id="statement"),
        pytest.param("import os", "not a Python expression", id="import"),
        pytest.param("", "not a Python expression", id="empty"),
        pytest.param("output[", "not a Python expression", id="syntax"),
        pytest.param("ouput == 1", "did you mean 'output'", id="misspelt"),
        pytest.param("[each for each in answers]", "'answers' is not known", id="unknown-inside"),
        pytest.param("[each for each in text] and each", "'each' is not known", id="bound-elsewhere"),
    ],
)
def test_what_cannot_be_run_is_a_load_error(expression: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        scoring(expression)
    assert caught.value.path == "task 't': evaluator.expression"


def test_it_needs_permission() -> None:
    with pytest.raises(InputError, match="--allow-custom-code") as caught:
        scoring("True", allow=False)
    assert caught.value.path == "task 't': evaluator.expression"


def test_reading_it_runs_nothing(tmp_path: Path) -> None:
    scoring(f"bool(open({str(tmp_path / 'made')!r}, 'w'))")
    assert not (tmp_path / "made").exists()
