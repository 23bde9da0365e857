"""The examples' own programs: what they refuse, and whether the search really searches."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response_sync

SKILLS = Path(__file__).parents[3] / "examples" / "skills"


def _load(file: Path) -> ModuleType:
    name = f"example_{file.parent.name}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


arithmetic = _load(SKILLS / "calculator" / "arithmetic.py")
web_search = _load(SKILLS / "web_search" / "skill.py")
PAGES: list[dict[str, str]] = json.loads((SKILLS / "web_search" / "corpus.json").read_text())
KEYWORD_TASKS = [task for task in load_benchmark("web-search-basic").tasks if task.evaluator_type == "contains"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        pytest.param("-2**2", -4, id="power-before-minus"),
        pytest.param("2**-1", 0.5, id="negative-power"),
        pytest.param("7//2+7%2", 4, id="whole-division"),
        pytest.param("(7-1)/2", 3, id="whole-quotient"),
        pytest.param("  1_000 + 1e3 ", 2000, id="blanks-and-spellings"),
    ],
)
def test_expressions(expression: str, value: float) -> None:
    answer = arithmetic.answer({"expression": expression})
    assert answer == value
    assert type(answer) is type(value)


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"expression": "__import__('os').getcwd()"}, id="code"),
        pytest.param({"expression": "x+1"}, id="name"),
        pytest.param({"expression": "'a'*9"}, id="text"),
        pytest.param({"expression": "True+1"}, id="boolean"),
        pytest.param({"expression": "2+"}, id="incomplete"),
        pytest.param({"expression": "1\0+1"}, id="null-byte"),
        pytest.param({"expression": "1/0"}, id="division-by-zero"),
        pytest.param({"expression": "9**9**9"}, id="huge-power"),
        pytest.param({"expression": "*".join(["9**999"] * 100)}, id="huge-product"),
        pytest.param({"expression": "1e308*10"}, id="infinite"),
        pytest.param({"expression": "(-8)**0.5"}, id="complex"),
        pytest.param({"expression": "1" + "+1" * 1000}, id="long"),
        pytest.param({"expression": "(" * 400 + "1" + ")" * 400}, id="deep"),
        pytest.param({"operation": "factorial", "n": -1}, id="negative-factorial"),
        pytest.param({"operation": "factorial", "n": 10**9}, id="huge-factorial"),
        pytest.param({"operation": "factorial", "n": True}, id="boolean-factorial"),
        pytest.param({"operation": "factorial", "n": 2.5}, id="fraction-factorial"),
        pytest.param({"operation": "reverse"}, id="no-text"),
        pytest.param({"operation": "sort", "text": "ba"}, id="unknown-operation"),
        pytest.param({"query": "TypeScript"}, id="another-skill's-input"),
        pytest.param(["2+3"], id="no-object"),
    ],
)
def test_the_calculator_refuses_what_it_cannot_answer(params: object) -> None:
    with pytest.raises(arithmetic.BadInput):
        arithmetic.answer(params)


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"expression": "2+3"}, id="no-query"),
        pytest.param({"query": " "}, id="blank"),
        pytest.param({"query": "a", "limit": 0}, id="limit-too-small"),
        pytest.param({"query": "a", "limit": True}, id="limit-no-number"),
        pytest.param(None, id="nothing"),
    ],
)
def test_the_search_refuses_what_it_cannot_answer(params: object) -> None:
    with pytest.raises(web_search.BadInput):
        web_search.answer(web_search.Index(PAGES), params)


def _passes(task: EvalTask, pages: list[dict[str, str]]) -> bool:
    output: Any = web_search.answer(web_search.Index(pages), task.input_data)
    return score_response_sync(task, SkillResponse(output=output)).passed


def _without_the_facts(task: EvalTask) -> list[dict[str, str]]:
    assert task.expected_output is not None
    keywords = [word.casefold() for word in task.expected_output.keywords or []]
    return [page for page in PAGES if not any(word in page["text"].casefold() for word in keywords)]


@pytest.mark.parametrize("task", [pytest.param(task, id=task.id) for task in KEYWORD_TASKS])
@pytest.mark.parametrize(
    ("arrange", "passes"),
    [
        pytest.param(lambda task: PAGES, True, id="whole-corpus"),
        pytest.param(lambda task: PAGES[::-1], True, id="any-order"),
        pytest.param(_without_the_facts, False, id="without-the-facts"),
    ],
)
def test_p99_the_search_finds_facts_in_its_pages_and_nowhere_else(
    task: EvalTask, arrange: Callable[[EvalTask], list[dict[str, str]]], passes: bool
) -> None:
    assert _passes(task, arrange(task)) is passes
