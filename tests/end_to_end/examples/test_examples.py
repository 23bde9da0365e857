"""The example skills, called through the real adapters and judged by the real scorers."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters import Adapter, open_adapter
from eval_skills.benchmarks import load_benchmark
from eval_skills.core.config import Config
from eval_skills.core.errors import ItemError
from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.models import Benchmark, EvalTask, Model
from eval_skills.core.selection import SelectStrategy
from eval_skills.core.skills import discover_skills, load_skill
from eval_skills.scorers import score_response

EXAMPLES = Path(__file__).parents[3] / "examples"
SKILLS = EXAMPLES / "skills"
NAMES = sorted(folder.name for folder in SKILLS.iterdir())
SLOPPY = "sloppy_package"
TESTED = [name for name in NAMES if name != SLOPPY]
CONCURRENCY = 4
BUGS = {
    "evaluate-left-to-right": "fail",
    "evaluate-leading-minus": "fail",
    "evaluate-division": "fail",
    "evaluate-nested": "fail",
    "factorial-zero": "fail",
    "reverse-empty": "error",
    "palindrome-phrase": "fail",
}


async def _outcomes(name: str, benchmark: Benchmark) -> dict[str, str]:
    """The status of each task of `benchmark`, asked of the example skill `name`."""
    free = asyncio.Semaphore(CONCURRENCY)
    async with open_adapter(load_skill(SKILLS / name), subject=benchmark.subject) as adapter:
        statuses = await asyncio.gather(*(_status(adapter, task, free) for task in benchmark.tasks))
    return dict(zip((task.id for task in benchmark.tasks), statuses, strict=True))


async def _status(adapter: Adapter, task: EvalTask, free: asyncio.Semaphore) -> str:
    async with free:
        try:
            response = await adapter.call(task.input_data, 10.0)
        except ItemError as error:
            return "error" if error.kind == "skill" else f"error of kind {error.kind}: {error}"
    return (await score_response(task, response)).status


async def _passed(name: str, benchmark_id: str | Path) -> list[str]:
    outcomes = await _outcomes(name, load_benchmark(benchmark_id))
    return [task for task, status in outcomes.items() if status == "pass"]


def test_every_example_is_a_valid_skill_named_like_its_folder() -> None:
    found = discover_skills(SKILLS)
    assert found.invalid == []
    assert [skill.id for skill in found.skills] == NAMES


@pytest.mark.parametrize("name", TESTED)
def test_examples_are_complete(name: str) -> None:
    skill = load_skill(SKILLS / name)
    assert (SKILLS / name / "README.md").read_text().startswith("# ")
    assert skill.tags
    assert skill.input_schema["properties"]
    assert skill.output_schema["properties"]
    assert {"author", "license"} <= skill.metadata.keys()


@pytest.mark.parametrize("name", TESTED)
async def test_an_example_passes_its_own_tests(name: str) -> None:
    benchmark = load_benchmark(SKILLS / name / "tests" / "basic.eval.json")
    assert await _outcomes(name, benchmark) == {task.id: "pass" for task in benchmark.tasks}


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        pytest.param("calculator", {"pass": 20}, id="calculator"),
        pytest.param("calculator_oneshot", {"pass": 20}, id="oneshot"),
        pytest.param("calculator_http", {"pass": 20}, id="http"),
        pytest.param("calculator_slow", {"pass": 20}, id="slow"),
        pytest.param("calculator_buggy", {"pass": 13, "fail": 6, "error": 1}, id="buggy"),
        pytest.param("sloppy_package", {"pass": 7, "fail": 1, "error": 12}, id="sloppy"),
        pytest.param("web_search", {"error": 20}, id="search"),
    ],
)
async def test_p99_coding_easy_tells_right_from_wrong_skills(name: str, statuses: dict[str, int]) -> None:
    outcomes = await _outcomes(name, load_benchmark("coding-easy"))
    assert Counter(outcomes.values()) == statuses
    rate = re.search(rf"^\| {name} \|.*\| (\d\.\d\d) \|$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert rate is not None
    assert float(rate[1]) == statuses.get("pass", 0) / 20


async def test_p99_every_mistake_of_the_buggy_calculator_is_found_where_its_page_says() -> None:
    outcomes = await _outcomes("calculator_buggy", load_benchmark("coding-easy"))
    assert {task: status for task, status in outcomes.items() if status != "pass"} == BUGS
    page = (SKILLS / "calculator_buggy" / "README.md").read_text()
    assert [task for task in BUGS if task not in page] == []


@pytest.mark.parametrize(
    ("name", "passed"),
    [pytest.param("web_search", 8, id="search"), pytest.param("calculator", 0, id="calculator")],
)
async def test_p99_web_search_basic_tells_right_from_wrong_skills(name: str, passed: int) -> None:
    assert len(await _passed(name, "web-search-basic")) == passed


async def test_p99_skill_quality_inspects_the_package() -> None:
    assert len(await _passed("calculator", "skill-quality")) == 5
    assert len(await _passed("web_search", "skill-quality")) == 5
    assert len(await _passed(SLOPPY, "skill-quality")) == 0


def _without(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def _with(**changes: object) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        skill = read_document(folder / "skill.json")
        (folder / "skill.json").write_text(json.dumps({**skill, **changes}))

    return rewrite


@pytest.mark.parametrize(
    ("aspect", "spoil"),
    [
        pytest.param("metadata", _with(tags=[]), id="no-tags"),
        pytest.param("metadata", _with(metadata={"author": "someone"}), id="no-licence"),
        pytest.param("metadata", _with(version="0.0.0"), id="no-version"),
        pytest.param("description", _with(description=""), id="no-description"),
        pytest.param("description", _with(description="TODO: describe what goes in and what comes out"), id="placeholder"),
        pytest.param("description", _with(description="Calculator, a calculator, calculator!"), id="name-only"),
        pytest.param("schemas", _with(outputSchema={}), id="no-output-schema"),
        pytest.param("schemas", _with(inputSchema={"type": "object", "properties": {"n": {}}}), id="property-undescribed"),
        pytest.param("tests", _without("tests/basic.eval.json"), id="no-tests"),
        pytest.param("tests", lambda folder: (folder / "tests/basic.eval.json").write_text("{"), id="tests-broken"),
        pytest.param("structure", _without("README.md"), id="no-readme"),
        pytest.param("structure", _without("skill.py"), id="no-program"),
        pytest.param("structure", lambda folder: (folder / ".env").write_text("KEY=1"), id="a-secret"),
    ],
)
async def test_p99_skill_quality_fails_the_aspect_that_is_poor_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aspect: str, spoil: Callable[[Path], object]
) -> None:
    shutil.copytree(SKILLS / "calculator", tmp_path / "calculator")
    spoil(tmp_path / "calculator")
    monkeypatch.setattr(f"{__name__}.SKILLS", tmp_path)
    outcomes = await _outcomes("calculator", load_benchmark("skill-quality"))
    assert [task for task, status in outcomes.items() if status != "pass"] == [aspect]


async def test_skill_quality_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SKILLS / "calculator", tmp_path / "calculator")
    (tmp_path / "calculator" / "skill.py").write_text("open('ran', 'w')\n")
    monkeypatch.setattr(f"{__name__}.SKILLS", tmp_path)
    assert len(await _passed("calculator", "skill-quality")) == 5
    assert not (tmp_path / "calculator" / "ran").exists()


@pytest.mark.parametrize(("name", "passed"), [("calculator", ["task_001"]), ("web_search", ["task_002"])])
async def test_the_custom_benchmark_runs(name: str, passed: list[str]) -> None:
    assert await _passed(name, EXAMPLES / "benchmark.json") == passed


@pytest.mark.parametrize(("file", "model"), [("strategy.yaml", SelectStrategy), ("eval-skills.config.yaml", Config)])
def test_the_settings_to_copy_are_valid(file: str, model: type[Model]) -> None:
    assert validate(model, read_document(EXAMPLES / file), source=file).model_fields_set


async def test_the_slow_calculator_is_slow_and_the_calculator_is_not() -> None:
    latencies = {name: await _latency_ms(name) for name in ("calculator", "calculator_slow")}
    assert latencies["calculator_slow"] >= 150 > latencies["calculator"]


async def _latency_ms(name: str) -> float:
    async with open_adapter(load_skill(SKILLS / name), subject="call") as adapter:
        calls = [await adapter.call({"expression": "1+1"}, 10.0) for _ in range(3)]
    return min(call.latency_ms or 0.0 for call in calls)


async def test_p47_a_malformed_skill_does_not_hide_the_examples(tmp_path: Path) -> None:
    shutil.copytree(SKILLS, tmp_path / "skills", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skills" / "web_search" / "skill.json").write_text("{")
    found = discover_skills(tmp_path / "skills")
    assert [skill.id for skill in found.skills] == [name for name in NAMES if name != "web_search"]
    assert [bad.path.parent.name for bad in found.invalid] == ["web_search"]
