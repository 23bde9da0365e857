"""The verdicts are those of the official checker, where an interpreter that has it is named."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.importing import Imported, import_tasks
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall
from eval_skills.scorers.bfcl.scorer import Bfcl
from tests.scorers.bfcl.made_answers import Answer, made_answers

VARIABLE = "TEST_BFCL_PYTHON"
PROGRAM = Path(__file__).with_name("official_checker.py")
PINNED = "bfcl-eval==2026.3.23"


def official(*words: str, given: str = "") -> str:
    """What the program prints when the named interpreter runs it; skips where there is none that can."""
    python = os.environ.get(VARIABLE, "")
    how = f"python -m venv .bench/bfcl && .bench/bfcl/bin/pip install --no-deps {PINNED}"
    if not python:
        pytest.skip(f"set {VARIABLE} to a Python that has bfcl-eval: {how}")
    if subprocess.run([python, "-c", "import bfcl_eval"], capture_output=True).returncode:
        pytest.skip(f"{VARIABLE} = {python} cannot import bfcl_eval: {how}")
    done = subprocess.run([python, str(PROGRAM), *words], input=given, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def imported() -> Imported:
    """All data of the package."""
    return import_tasks(official().strip(), "bfcl")


@pytest.fixture(scope="module")
def rows(imported: Imported) -> list[dict[str, Any]]:
    """The official entries with accepted calls, as they are in the files."""
    folder = Path(official().strip())
    known = {task.id for task in imported.benchmark.tasks}
    found = []
    for answers in sorted((folder / "possible_answer").glob("*.json")):
        gold = {each["id"]: each["ground_truth"] for each in map(json.loads, answers.read_text().splitlines())}
        for row in map(json.loads, (folder / answers.name).read_text().splitlines()):
            if row["id"] in known:
                found.append({**row, "ground_truth": gold[row["id"]], "category": row["id"].rsplit("_", 1)[0]})
    return found


def scorer_of(task: EvalTask) -> Bfcl:
    options = task.to_json()["evaluator"]
    return Bfcl(category=options["category"], functions=tuple(options["functions"]), ground_truth=tuple(options["groundTruth"]))


def ours(judge: Bfcl, answer: Answer) -> list[Any]:
    calls = [ToolCall(name=name, arguments=arguments) for call in answer for name, arguments in call.items()]
    score = judge.score(SkillResponse(tool_calls=calls))
    assert score is not None
    return [score.passed, score.metadata.get("errorType")]


@pytest.mark.slow
def test_every_verdict_is_that_of_the_official_checker(imported: Imported, rows: list[dict[str, Any]]) -> None:
    tasks = {task.id: task for task in imported.benchmark.tasks}
    cases = [case for row in rows[::4] for case in _cases(row)]  # of every category: the rows of one stand together
    printed = official("-", given="\n".join(map(json.dumps, cases))).splitlines()
    assert len(printed) == len(cases)
    verdicts: Counter[bool] = Counter()
    raised = 0
    different = []
    for case, line in zip(cases, printed, strict=True):
        judge = scorer_of(tasks[case["id"]])
        for answer, wanted in zip(case["answers"], json.loads(line), strict=True):
            found = ours(judge, answer)
            if wanted is None:  # the official checker raised: there is no verdict to be equal to, and such an answer fails here
                raised += 1
                assert found[0] is False
                continue
            verdicts[wanted[0]] += 1
            if found != wanted:
                different.append((case["id"], answer, wanted, found))
    assert different == []
    assert len(rows) >= 2_000
    assert verdicts.total() >= 4 * len(cases)
    assert min(verdicts.values()) > 1_250, "right and wrong answers are both tried"
    assert raised < 0.01 * verdicts.total()


def _cases(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Made answers to an entry, by a model that is offered names without dots; and with them, where the entry has some."""
    with_dots = list(made_answers(row["ground_truth"], row["id"]))
    without = [[{name.replace(".", "_"): call[name] for name in call} for call in answer] for answer in with_dots]
    case = {"dots": False, "answers": without, **row}
    return [case] if with_dots == without else [case, {**case, "dots": True, "answers": with_dots}]
