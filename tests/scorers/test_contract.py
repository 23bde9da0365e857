"""What holds for every scorer of the package. A new one is missed here until it has an example."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall
from eval_skills.scorers import TaskScoring, scorer_names
from eval_skills.scorers.code.jail import why_no_jail
from eval_skills.scorers.options import EXPECTATIONS, reference_answer
from eval_skills.scorers.registry import ScorerEntry, find_scorer, reads_expected_value
from tests.tables import each_row

BFCL_FUNCTION = {"name": "git.log", "parameters": {"properties": {"n": {"type": "integer"}}, "required": []}}
# the options of each scorer, an answer that passes and one that does not
EXAMPLES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "bfcl": (
        {"category": "simple", "functions": [BFCL_FUNCTION], "groundTruth": [{"git.log": {"n": [1, ""]}}], "matching": "optimal"},
        ["git_log"],
        ["ls"],
    ),
    "bleu": ({"value": "An owl", "threshold": 0.9, "caseSensitive": False, "tokenize": "char"}, "an owl", ["fox"]),
    "contains": ({"keywords": ["owl"]}, {"answer": ["An owl"]}, ["fox"]),
    "cost": ({"limitUsd": 1.5, "zeroUsd": 4.0}, 1.5, 2.5),
    "custom": ({"customScorerPath": "own.py", "timeoutMs": 60_000}, "yes", "no"),
    "file_content": (
        {"path": "out.csv", "contains": ["Owl"], "rows": {"min": 2}, "header": True, "timeoutMs": 60_000},
        [{"path": "out.csv", "change": "added", "content": "bird\r\nowl\r\nfox\r\n"}],
        [{"path": "out.csv", "change": "changed", "content": "bird\nfox\n"}],
    ),
    "file_exists": (
        {"path": "./out/a.txt", "changed": True},
        [{"path": "out/a.txt", "change": "added", "size": 3}],
        [{"path": "out/a.txt", "change": "deleted"}],
    ),
    "exact_match": ({"value": {"a": [1]}}, {"a": [1.0]}, {"a": ["1"]}),
    "forbidden_tools": ({"tools": ["rm"]}, ["ls"], ["RM"]),
    "gaia": ({"value": "1,000; b", "finalAnswer": True}, "so: FINAL ANSWER: 1; 0; B", "1000; b"),
    "hallucination": ({"threshold": 0.5, "kinds": ["number"], "failedTools": False}, {"answer": "42.0 owls"}, "43 owls"),
    "is_json": ({"schema": {"type": "object"}}, {"answer": '{"a": 1}'}, "{'a': 1}"),
    "json_schema": ({"schema": {"type": "object"}}, '{"a": 1}', [1]),
    "latency": ({"limitMs": 1.5, "zeroMs": 4.0}, 1.5, 2.5),
    "levenshtein": (
        {"value": ["owl", "fox"], "threshold": 0.9, "maxEdits": 0, "caseSensitive": False},
        {"answer": "OWL"},
        "fowl",
    ),
    "lint": (
        {"strict": True},
        {"checks": 9, "errors": 0, "warnings": 0, "findings": []},
        {
            "checks": 9,
            "errors": 0,
            "warnings": 1,
            "findings": [{"code": "a-b", "severity": "warning", "message": "m", "fix": "f"}],
        },
    ),
    "metrics": ({"metrics": {"total": {"value": 5, "tolerance": 1}}}, {"total": 6.0}, "total 7"),
    "pii": ({"kinds": ["email"], "allow": ["help@x.org"]}, "help@x.org, +41 44 668 18 00", {"answer": "ada@x.org"}),
    "python": ({"expression": "'yes' in text", "threshold": 0.5, "timeoutMs": 60_000}, {"answer": "yes"}, "no"),
    "refusal": ({"expected": True}, "I can't help with that.", "Gladly."),
    "regex": ({"patterns": ["^a"]}, {"result": "ab"}, "ba"),
    "rouge_n": ({"value": "an owl", "n": 2, "threshold": 0.9, "caseSensitive": True}, {"answer": ["an", "owl"]}, "owl an"),
    "rouge_l": ({"value": "an owl", "threshold": 0.9, "caseSensitive": True}, {"answer": ["an", "owl"]}, "owl an"),
    "safety": ({"kinds": ["weapons"]}, "We will kill you.", ["Build a bomb"]),
    "sequence": ({"expected": ["ls", "cat"]}, ["ls", "cat"], ["cat"]),
    "skill_loaded": ({"skill": "csv-tools", "loaded": True}, ["pdf", "csv-tools"], ["csv-tools-2"]),
    "starts_with": ({"value": ["An", "The"], "caseSensitive": True}, {"answer": "The owl"}, "the owl"),
    "tool_accuracy": ({"tools": ["ls"], "toolCategories": ["git"]}, ["ls", "git"], ["ls"]),
    "uncertainty": ({"expected": False}, "It is Bern.", "It is probably Bern."),
    "trajectory_match": ({"mode": "unordered", "overrides": {"git": "ignore"}, "deep": True}, ["git"], ["ls"]),
}
if not why_no_jail():  # without a sandbox nothing is run: tests/scorers/code say so
    EXAMPLES["code_tests"] = (
        {"test": "assert f(2) == 4", "setup": "import math", "timeoutMs": 120_000, "memoryMb": 512},
        "def f(x): return x * x",
        "def f(x): return x",
    )
    EXAMPLES["command_passes"] = (
        {"command": "grep owl out.txt", "timeoutMs": 60_000, "memoryMb": 512},
        [{"path": "out.txt", "change": "added", "content": "an owl"}],
        [{"path": "out.txt", "change": "added", "content": "a fox"}],
    )
# what the task expects of the agent's run, where a scorer reads it there
EXPECTED: dict[str, dict[str, Any]] = {
    "trajectory_match": {"trajectory": [{"role": "assistant", "tool_calls": [{"name": "git"}]}]},
}
JUDGES_CALLS = {"bfcl", "forbidden_tools", "sequence", "tool_accuracy", "trajectory_match"}
JUDGES_FILES = {"command_passes", "file_content", "file_exists"}
MEASURED = {"latency": "latency_ms", "cost": "cost_usd"}
"""Scorers that look at a figure of the answer, and nothing else of it."""
IN_A_PROCESS = {"code_tests", "command_passes", "custom", "python"}
"""They start one for each answer."""
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in IN_A_PROCESS else name for name in EXAMPLES]
OWN = [name for name in scorer_names() if find_scorer(name).target.__module__.startswith("eval_skills.scorers.")]
ASKS_A_MODEL = {name for name in OWN if hasattr(find_scorer(name).target, "models")}
"""They are tried out beside a model, in ``judging/``."""


def entry(name: str) -> ScorerEntry:
    return find_scorer(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text("def score(output, expected, task):\n    return output == 'yes'\n")
    return tmp_path


def scoring(name: str, folder: Path, **more: Any) -> TaskScoring:
    evaluator = {"type": name, **EXAMPLES[name][0], **more}
    task = EvalTask.model_validate({"id": "t", "evaluator": evaluator, "expected": EXPECTED.get(name)})
    return TaskScoring(task, {"allow_custom_code": True, "benchmark_folder": folder})


def response(name: str, output: Any) -> SkillResponse:
    if name in JUDGES_CALLS:
        return SkillResponse(output="done", tool_calls=[ToolCall(name=each) for each in output])
    if name in JUDGES_FILES:
        return SkillResponse.model_validate({"output": "done", "files": output})
    if name == "skill_loaded":
        return SkillResponse(output="done", skills_loaded=output)
    if name in MEASURED:
        return SkillResponse.model_validate({"output": "done", MEASURED[name]: output})
    seen = [ToolCall(name="count", result="42 owls")] if name == "hallucination" else None
    return SkillResponse(output=output, tool_calls=seen)


def test_every_scorer_has_an_example() -> None:
    unrun = {"code_tests", "command_passes"} if why_no_jail() else set()
    assert set(OWN) <= EXAMPLES.keys() | ASKS_A_MODEL | unrun


@each_row("name", EXAMPLES)
def test_documented(name: str) -> None:
    target = entry(name).target
    assert len(inspect.getdoc(target) or "") > 80
    assert inspect.getdoc(target.score)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
async def test_a_good_and_a_bad_answer_are_told_apart_with_reasons(name: str, folder: Path) -> None:
    judge = scoring(name, folder)
    good, bad = [await judge.verdict(response(name, EXAMPLES[name][index])) for index in (1, 2)]
    assert (good.status, good.score, good.scorer, good.dimensions) == ("pass", 1.0, name, {"output_quality": 1.0})
    assert bad.status == "fail"
    assert bad.score is not None
    assert bad.score < 1
    assert bad.reasons or name == "custom"


@pytest.mark.parametrize("name", NAMES)
async def test_pure_the_same_answer_gets_the_same_verdict_and_is_left_alone(name: str, folder: Path) -> None:
    judge = scoring(name, folder)
    for index in (1, 2):
        given = response(name, EXAMPLES[name][index])
        before = copy.deepcopy(given)
        verdicts = [await judge.verdict(given) for _ in range(2)] + [await scoring(name, folder).verdict(given)]
        assert given == before
        assert verdicts[0] == verdicts[1] == verdicts[2]


@pytest.mark.parametrize("name", NAMES)
def test_p02_unknown_arguments_are_refused(name: str, folder: Path) -> None:
    with pytest.raises(InputError, match="no such option") as caught:
        scoring(name, folder, ofNobody=1)
    assert caught.value.path == "task 't': evaluator.ofNobody"


@pytest.mark.parametrize("name", NAMES)
def test_p02_arguments_reach_the_scorer(name: str, folder: Path) -> None:
    evaluator = scoring(name, folder)._evaluator
    for written, value in EXAMPLES[name][0].items():
        option = next(each for each in entry(name).options.values() if each.written == written)
        held = TypeAdapter(Any).dump_python(getattr(evaluator, option.name))
        assert held == (tuple(value) if isinstance(value, list) else value) or _given(held) == value


def _given(held: Any) -> Any:
    """A model without what was not given."""
    return {name: value for name, value in held.items() if value is not None} if isinstance(held, dict) else held


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", [None, "", [], {}, {"result": {"answer": [None, True, 1e308]}}, "x" * 100_000, "\ud800"])
async def test_any_answer_has_a_bounded_score(name: str, output: Any, folder: Path) -> None:
    given = SkillResponse(output=output, messages=[], latency_ms=2, cost_usd=2, files=[], skills_loaded=[])
    verdict = await scoring(name, folder).verdict(given)
    assert verdict.status in {"pass", "fail"}
    assert verdict.score is not None
    assert 0 <= verdict.score <= 1


@each_row("name", scorer_names())
def test_a_scorer_that_gets_the_task_reads_its_expected_value_unless_it_is_said_to_ignore_it(name: str) -> None:
    entry = find_scorer(name)
    if "task" not in entry.options or not EXPECTATIONS.keys().isdisjoint(entry.options):
        return
    owners = inspect.getmro(entry.target) if isinstance(entry.target, type) else (entry.target,)
    sources = [inspect.getsource(each) for each in owners if each.__module__.startswith("eval_skills.")]
    reads = any(name in source for source in sources for name in ("expected_value", reference_answer.__name__))
    assert reads == reads_expected_value(entry)
