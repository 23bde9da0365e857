"""The names of `eval_skills`: lazy, complete, typed, and in step with the request's options."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_type

import pytest

import eval_skills as es
from eval_skills.api.options import INSTEAD, NEEDS_PREFECT, EvaluateOptions, ScoreOptions
from eval_skills.core.config.judging import ScoringOptions
from eval_skills.core.models import Benchmark, Skill, SkillCompletionReport, Verdict
from eval_skills.engine.definition.request import EvaluateRequest

if TYPE_CHECKING:
    import pandas as pd

OF_THE_CALL = {"skills", "tasks", "store"}
NOT_IN_PYTHON = {"trace_skill", "origin", "provenance", "at"}


def test_every_name_is_there() -> None:
    assert {name for name in dir(es) if not name.startswith("__")} | {"__version__"} == set(es.__all__)
    assert all(getattr(es, name) is not None for name in es.__all__)
    assert es.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="module 'eval_skills' has no attribute 'evaluat'"):
        _ = es.evaluat  # type: ignore[attr-defined]


def test_an_import_brings_nothing_along() -> None:
    program = (
        "import sys; before = set(sys.modules); import eval_skills, json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    brought = json.loads(subprocess.check_output([sys.executable, "-c", program], text=True))
    assert [name for name in brought if name.startswith("eval_skills")] == ["eval_skills"]
    assert not {"pydantic", "asyncio", "importlib.metadata"} & set(brought)


@pytest.mark.slow
def test_evaluating_here_brings_no_prefect_and_no_model() -> None:
    program = (
        "import sys, eval_skills as es\n"
        "es.evaluate({'same': lambda value: value}, [{'input': 1, 'expected': 1}])\n"
        "es.score(1, {'expected': 1})\n"
        "print(sorted({'prefect', 'litellm', 'langchain_core', 'cyclopts', 'rich', 'mcp'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.slow
def test_an_import_costs_less_than_50_ms_over_a_bare_interpreter() -> None:
    def seconds(program: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter() - began

    differences = [seconds("import eval_skills") - seconds("pass") for _ in range(7)]
    assert min(differences) < 0.05


def test_the_options_are_those_of_the_request() -> None:
    known = set(EvaluateOptions.__optional_keys__)
    assert known | OF_THE_CALL | NOT_IN_PYTHON | INSTEAD.keys() == EvaluateRequest.model_fields.keys()
    assert not known & (OF_THE_CALL | NOT_IN_PYTHON | INSTEAD.keys())
    assert set(ScoreOptions.__optional_keys__) == ScoringOptions.model_fields.keys()
    assert set(NEEDS_PREFECT) <= known


def types_of_the_names(function: Callable[[str], str], frame: pd.DataFrame, anything: Any) -> None:
    """Never called: mypy reads it."""
    result = es.evaluate([function, "skills/search"], [{"input": "x", "expected": "y"}], runs=3, llm={"model": "gpt-4o"})
    assert_type(result, es.EvaluationResult)
    assert_type(result.completion, float)
    assert_type(result.reports, list[SkillCompletionReport])
    assert_type(result.failures, list[es.EvaluatedItem])
    assert_type(es.evaluate({"name": function}, frame, store=es.Store("store")), es.EvaluationResult)
    assert_type(es.compare(result, "baseline.json"), es.Comparison)
    assert_type(es.score(anything, {"expected": 1}), Verdict)
    assert_type(es.load_skill("skills/search"), Skill)
    assert_type(es.load_benchmark("coding-easy"), Benchmark)
    assert_type(es.__version__, str)
    es.evaluate(function, [], run=3)  # type: ignore[call-arg] # a misspelt option is seen by a type checker
    es.evaluate(function, [], runs="3")  # type: ignore[arg-type] # and so is a wrong type


async def types_of_what_is_awaited(function: Callable[[str], str]) -> None:
    """Never called: mypy reads it."""
    assert_type(await es.aevaluate(function, {"input": "x", "expected": "y"}), es.EvaluationResult)
