"""The benchmarks that ship with the package: complete, honest about what they are, and right about every answer they expect."""

from __future__ import annotations

import json
import math
import re
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from eval_skills.benchmarks import builtin_ids, load_benchmark
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response_sync
from tests.tables import each_row

SIZES = {
    "agent-skill-package": 2,
    "coding-easy": 20,
    "skill-quality": 5,
    "web-search-basic": 8,
    "gaia-v1": 6,
    "toolbench-lite": 5,
}
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
SAMPLES = ("gaia-v1", "toolbench-lite")
TASKS = [
    pytest.param(benchmark_id, task, id=f"{benchmark_id}/{task.id}")
    for benchmark_id in builtin_ids()
    for task in load_benchmark(benchmark_id).tasks
]


def _tasks(benchmark_id: str) -> dict[str, EvalTask]:
    return {task.id: task for task in load_benchmark(benchmark_id).tasks}


def _params(benchmark_id: str) -> list[Any]:
    return [pytest.param(task, id=task.id) for task in load_benchmark(benchmark_id).tasks]


def _passes(task: EvalTask, output: object) -> bool:
    return score_response_sync(task, SkillResponse(output=output)).passed


@each_row(("benchmark_id", "size"), SIZES.items())
def test_the_documented_number_of_tasks(benchmark_id: str, size: int) -> None:
    benchmark = load_benchmark(benchmark_id)
    assert benchmark.id == benchmark_id
    assert len(benchmark.tasks) == size


@each_row(("benchmark_id", "task"), TASKS)
def test_every_task_can_be_filtered_and_read(benchmark_id: str, task: EvalTask) -> None:
    assert task.tags
    assert task.complexity is not None
    assert task.description
    assert task.evaluator_type is not None


@each_row("benchmark_id", builtin_ids())
def test_complexities_spread(benchmark_id: str) -> None:
    assert len({task.complexity for task in load_benchmark(benchmark_id).tasks}) > 1


@pytest.mark.parametrize("benchmark_id", SAMPLES)
def test_p66_a_sample_says_that_it_is_one(benchmark_id: str) -> None:
    benchmark = load_benchmark(benchmark_id)
    assert "sample" in benchmark.name
    assert "sample" in benchmark.description
    assert benchmark.metadata["sample"] is True
    assert all("sample" in task.id for task in benchmark.tasks)


@each_row(("benchmark_id", "task"), TASKS)
def test_p99_an_echo_of_the_question_passes_nowhere(benchmark_id: str, task: EvalTask) -> None:
    assert not _passes(task, {"result": task.input_data})
    assert not _passes(task, json.dumps(task.input_data))


@pytest.mark.slow
@each_row(("benchmark_id", "task"), TASKS)
@each_row("output", [None, {}, "no idea", {"error": "failed"}], ids=repr)
def test_p99_an_answer_without_substance_passes_nowhere(benchmark_id: str, task: EvalTask, output: object) -> None:
    assert not _passes(task, output)


@each_row("task", _params("coding-easy"))
def test_p99_coding_answers_are_recomputed(task: EvalTask) -> None:
    answer = _computed(task.input_data)
    assert task.expected_output is not None
    assert task.expected_output.value == answer
    assert type(task.expected_output.value) is type(answer)
    assert _passes(task, {"result": answer})
    assert _passes(task, answer)


def _computed(given: dict[str, Any]) -> object:
    """The answer by another road than any example skill takes: exact fractions, products, two pointers."""
    match given:
        case {"operation": "evaluate", "expression": str(expression)}:
            exact = re.sub(r"\d+(\.\d+)?", lambda number: f"Fraction('{number.group()}')", expression)
            value: Fraction = eval(exact, {"__builtins__": {}, "Fraction": Fraction})
            return value.numerator if value.denominator == 1 else float(value)
        case {"operation": "factorial", "n": int(n)}:
            return math.prod(range(1, n + 1))
        case {"operation": "reverse", "text": str(text)}:
            return "".join(text[-place] for place in range(1, len(text) + 1))
        case {"operation": "is_palindrome", "text": str(text)}:
            letters = re.sub(r"[^a-z0-9]", "", text.lower())
            return all(letters[place] == letters[-1 - place] for place in range(len(letters) // 2))
    raise AssertionError(f"no rule for {given}")


def test_coding_easy_holds_the_edge_cases_that_it_promises() -> None:
    tasks = _tasks("coding-easy").values()
    assert {task.input_data["operation"] for task in tasks} == {"evaluate", "factorial", "reverse", "is_palindrome"}
    assert any(task.input_data.get("text") == "" for task in tasks)
    assert any(task.input_data.get("n") == 0 for task in tasks)
    assert {True, False} <= {task.expected_output.value for task in tasks if task.expected_output and "palindrome" in task.tags}


@each_row("task", _params("web-search-basic"))
def test_p99_no_expected_word_stands_in_its_own_query(task: EvalTask) -> None:
    assert task.expected_output is not None
    query = task.input_data["query"].casefold()
    assert not [word for word in task.expected_output.keywords or [] if word.casefold() in query]


@each_row("task", _params("web-search-basic"))
def test_p03_expected_words_as_keys_find_nothing(task: EvalTask) -> None:
    assert task.expected_output is not None
    assert not _passes(task, dict.fromkeys(task.expected_output.keywords or [], True))


@each_row(
    ("results", "passes"),
    [
        pytest.param([{"title": "a", "url": "https://pages.example/a", "snippet": "b"}], True, id="one"),
        pytest.param([{"title": "a", "url": "https://pages.example/a", "snippet": "b"}] * 3, False, id="over-the-limit"),
        pytest.param([], False, id="none"),
        pytest.param([{"title": "a", "url": "pages", "snippet": "b"}], False, id="no-url"),
        pytest.param([{"title": "a", "url": "https://pages.example/a"}], False, id="no-snippet"),
    ],
)
def test_structured_results_are_checked_field_by_field(results: list[dict[str, str]], passes: bool) -> None:
    assert _passes(_tasks("web-search-basic")["structured-results"], {"results": results}) is passes


def _primes(low: int, high: int) -> list[int]:
    return [number for number in range(low, high) if all(number % divisor for divisor in range(2, number))]


def _travel(question: str) -> int:
    start, end = (datetime.strptime(time, "%H:%M") for time in re.findall(r"\d\d:\d\d", question))
    return int((end - start).total_seconds() // 60) - 2 * 12


def _acrostic(question: str) -> str:
    quoted = question.split("'")[1]
    return "".join(word[0] for word in quoted.split())


def _rising_cities(question: str) -> str:
    rows = re.findall(r"(\w+), (\d+), (\d+)", question)
    return ", ".join(sorted(city for city, march, april in rows if int(april) > int(march)))


@each_row(
    ("task_id", "answer"),
    [
        ("sample-days", lambda _: str((date(2024, 3, 1) - date(2023, 3, 1)).days)),
        (
            "sample-weekday",
            lambda _: (["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])[
                date(1969, 7, 20).weekday()
            ],
        ),
        ("sample-primes", lambda _: ", ".join(map(str, _primes(20, 40)))),
        ("sample-travel", lambda question: str(_travel(question))),
        ("sample-acrostic", _acrostic),
        ("sample-table", _rising_cities),
    ],
)
def test_p99_gaia_sample_answers_are_recomputed(task_id: str, answer: Any) -> None:
    task = _tasks("gaia-v1")[task_id]
    assert _passes(task, {"answer": answer(task.input_data["question"])})


TOOL_ANSWERS: dict[str, dict[str, Any]] = {
    "sample-only-tool": {"tool": "current_weather", "args": {"city": "Oslo"}},
    "sample-choice": {"tool": "weather_forecast", "args": {"city": "Porto", "days": 3}},
    "sample-arguments": {"tool": "convert_currency", "args": {"amount": 250, "from": "USD", "to": "JPY"}},
    "sample-optional": {"tool": "search_songs", "args": {"query": "Nina Simone", "limit": 5}},
    "sample-no-tool": {"tool": None},
}


@each_row("task", _params("toolbench-lite"))
def test_p99_exactly_the_right_call_passes(task: EvalTask) -> None:
    right = TOOL_ANSWERS[task.id]
    assert [name for name, call in TOOL_ANSWERS.items() if _passes(task, call)] == [task.id]
    assert _passes(task, json.dumps(right))
    for argument in right.get("args", {}):
        assert not _passes(task, {**right, "args": {**right["args"], argument: "something else"}})


@each_row("task", _params("toolbench-lite"))
def test_the_right_call_is_one_that_was_on_offer(task: EvalTask) -> None:
    import jsonschema

    right = TOOL_ANSWERS[task.id]
    offered = {tool["name"]: tool["parameters"] for tool in task.input_data["tools_available"]}
    if right["tool"] is not None:
        jsonschema.validate(right["args"], offered[right["tool"]])
