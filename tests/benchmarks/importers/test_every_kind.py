"""Whatever a file holds, every kind imports it or refuses it in one line: nothing else is raised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.benchmarks.importers.kinds import KINDS
from eval_skills.core.errors import UserError

KEYS = (
    "id", "task_id", "question_id", "question", "Question", "Level", "Final answer", "file_name", "context", "answers", "answer",
    "answerKey", "choices", "options", "label", "ctx", "endings", "input", "target", "ideal", "inputs", "outputs", "metadata",
    "user_input", "reference", "expected_output", "expected_tools", "turns", "category", "prompt", "entry_point", "test", "text",
    "test_list", "test_imports", "vars", "assert", "threshold", "__expected", "evals", "skill_name", "files", "assertions",
    "tests", "query", "api_list", "server_tasks", "instruction", "actions", "user_id", "user_scenario", "evaluation_criteria",
    "function", "ground_truth",
    "should_trigger", "expectations",
    "prompts", "defaultTest", "data", "eval", "samples", "scores", "epoch", "messages", "output", "error",
)  # fmt: skip
VALUES: tuple[Any, ...] = (None, "", "x", 0, -1, 1.5, True, [], [None], ["x"], [{}], {}, {"x": [1]}, {"text": 5, "label": ["a"]})
CALLS: tuple[Any, ...] = (5, [5], [{"f": 5}], [{"f": {"a": 5}}], [{"f": {"a": [5]}}], [{"g": {}}])
DOCUMENTS: tuple[Any, ...] = (
    {}, [{}], {"data": [{"paragraphs": 5}]}, {"data": [5]}, {"evals": {}}, {"tests": {}}, {"tests": [{"assert": {}}]},
    {"evals": [{"prompt": "p", "assertions": [{"type": 5}]}]}, {"evals": [{"prompt": "p", "files": ["../x"]}]},
    {"eval": 5, "samples": [{}]}, {"eval": {"model": "m"}, "samples": [{"id": 1, "scores": {"a": {}}}]},
    *({"id": "simple_python_0", "question": [[{"content": ""}]], "function": [{"name": "f", "parameters": {}}],
       "ground_truth": calls} for calls in CALLS),
)  # fmt: skip


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_nothing_but_a_refusal_is_raised(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data.json"
    rows = [[dict.fromkeys(KEYS, value)] for value in VALUES]
    for document in (*rows, *(row[0] for row in rows), *DOCUMENTS):
        path.write_text(json.dumps(document))
        said = _outcome(path, kind)
        assert said is None or ("data.json" in said and "\n" not in said), said


def _outcome(path: Path, kind: str) -> str | None:
    """What the import is refused with; None where it is not."""
    try:
        import_tasks(path, kind)
    except UserError as refused:
        return str(refused)
    return None
