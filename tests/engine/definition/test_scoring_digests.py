"""Whether the same judged two runs."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import EvalTask
from eval_skills.engine.definition.judge_parameters import own_parameters
from eval_skills.engine.definition.scoring import scoring_digests
from eval_skills.scorers import TaskScoring, scorer
from eval_skills.scorers.custom.function import function_scorer
from eval_skills.scorers.registry import _entries, knowing
from tests.tables import each_row


def digest(folder: Path | None = None, settings: dict[str, Any] | None = None, **task: Any) -> str:
    read = EvalTask.model_validate({"id": "t", **task})
    scoring = TaskScoring(read, {"allowCustomCode": True, "benchmarkFolder": folder, **(settings or {})})
    return scoring_digests({"t": scoring})["scoring/t"]


EXACT: dict[str, Any] = {"expectedOutput": {"type": "exact", "value": 1}}
UNNAMED = {"expectedOutput": {"value": "a"}}
TOOLS = {"expected": {"tools": ["a"]}}


@each_row(
    ("task", "settings", "other"),
    [
        pytest.param(UNNAMED, {"defaultEvaluator": "levenshtein"}, True, id="another-evaluator"),
        pytest.param(EXACT, {"defaultEvaluator": "contains"}, False, id="which-the-task-does-not-use"),
        pytest.param(TOOLS, {"weights": {"toolAccuracy": 0.5}}, True, id="weights"),
        pytest.param(TOOLS, {"toolNames": "normalised"}, True, id="tool-names"),
        pytest.param(TOOLS, {"toolCategories": {"x": ["a"]}}, True, id="tool-categories"),
        pytest.param(
            {"evaluator": {"type": "llm_judge", "criteria": "good"}}, {"llm": {"model": "openai/b"}}, True, id="a-judge"
        ),
        pytest.param(
            {"evaluator": {"type": "llm_judge", "criteria": "good"}}, {"maxJudgeCost": 7.0}, False, id="but-not-its-limits"
        ),
    ],
)
def test_what_the_run_says_counts_where_it_judges(task: dict[str, Any], settings: dict[str, Any], other: bool) -> None:
    llm = {"llm": {"model": "openai/a"}}
    assert (digest(settings=llm | settings, **task) != digest(settings=llm, **task)) is other


def test_what_the_task_says_counts_in_its_digest_by() -> None:
    assert digest(**EXACT) == digest(expectedOutput={"type": "exact", "value": 2})
    assert digest(**EXACT) != digest(expectedOutput={"type": "contains", "keywords": ["a"]})


CUSTOM: dict[str, Any] = {"expectedOutput": {"type": "custom", "customScorerPath": "own/score.py"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "own/score.py": "import json\nfrom helper import limit\nimport kit.parts\ndef score(output): return 1\n",
        "own/helper.py": "import deeper\nlimit = 1\n",
        "own/deeper.py": "import score\n",
        "own/kit/__init__.py": "",
        "own/kit/parts.py": "",
        "own/skill.py": "",
        "check.sh": "exit 0\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@each_row(
    ("file", "other"),
    [
        pytest.param("own/score.py", True, id="the-file-itself"),
        pytest.param("own/helper.py", True, id="what-it-imports"),
        pytest.param("own/deeper.py", True, id="and-that-again"),
        pytest.param("own/kit/parts.py", True, id="a-package"),
        pytest.param("own/skill.py", False, id="but-no-neighbour"),
        pytest.param("check.sh", False, id="nor-what-is-elsewhere"),
    ],
)
def test_a_benchmarks_own_scorer_counts_with_what_it_imports(folder: Path, file: str, other: bool) -> None:
    first = digest(folder, **CUSTOM)
    (folder / file).write_text(f"{(folder / file).read_text()}# changed\n")
    assert (digest(folder, **CUSTOM) != first) is other
    (folder / file).write_text((folder / file).read_text().replace("# changed\n", ""))


@pytest.mark.parametrize("command", ["sh $BENCHMARK/check.sh", 'sh "${BENCHMARK}/check.sh" out.txt'])
def test_a_file_that_a_command_names_counts(folder: Path, command: str) -> None:
    task: dict[str, Any] = {"evaluator": {"type": "command_passes", "command": command}}
    first = digest(folder, **task)
    (folder / "check.sh").write_text("exit 1\n")
    assert digest(folder, **task) != first


def test_a_function_of_the_calling_program_counts_by_its_source() -> None:
    def lenient(output: Any) -> bool:
        return output is not None

    def strict(output: Any) -> bool:
        return bool(output == 1)

    found = []
    for function in (lenient, strict, lenient):
        with knowing({"own": function_scorer("own", function)}):
            found.append(digest(expectedOutput={"type": "own", "value": 1}))
    assert found[0] == found[2] != found[1]


def within(tolerance: Any) -> Callable[..., bool]:
    def near(output: Any, expected: Any) -> bool:
        return bool(abs(output - expected) <= tolerance)

    return near


def near(output: Any, expected: Any, tolerance: Any = 1) -> bool:
    return bool(abs(output - expected) <= tolerance)


def by_default(tolerance: Any) -> Callable[..., bool]:
    def own(output: Any, expected: Any, at_most: Any = tolerance) -> bool:
        return bool(abs(output - expected) <= at_most)

    return own


def by_name(tolerance: Any) -> Callable[..., bool]:
    def own(output: Any, expected: Any, *, at_most: Any = tolerance) -> bool:
        return bool(abs(output - expected) <= at_most)

    return own


def wrapped(tolerance: Any) -> Callable[..., bool]:
    inner = within(tolerance)

    @functools.wraps(inner)
    def outer(*given: Any) -> bool:
        return inner(*given)

    return outer


class Near:
    def __init__(self, tolerance: Any) -> None:
        self.tolerance = tolerance

    def __call__(self, output: Any, expected: Any) -> bool:
        return bool(abs(output - expected) <= self.tolerance)

    def judge(self, output: Any, expected: Any) -> bool:
        return self(output, expected)


class Slotted:
    __slots__ = ("tolerance",)

    def __init__(self, tolerance: Any) -> None:
        self.tolerance = tolerance

    def __call__(self, output: Any) -> bool:
        return bool(output == self.tolerance)


@dataclass
class Limit:
    most: float


class Size(Enum):
    SMALL = 1
    LARGE = 2


class Odd(str):
    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError("no")


def digest_by(function: Callable[..., Any]) -> str:
    with knowing({"own": function_scorer("own", function)}):
        return digest(expectedOutput={"type": "own", "value": 1})


@each_row(
    ("made",),
    [
        pytest.param(within, id="closure"),
        pytest.param(lambda tolerance: functools.partial(near, tolerance=tolerance), id="partial"),
        pytest.param(lambda tolerance: functools.partial(functools.partial(within(0)), tolerance), id="partial-by-place"),
        pytest.param(by_default, id="default"),
        pytest.param(by_name, id="default-by-name"),
        pytest.param(wrapped, id="wrapped"),
        pytest.param(Near, id="object"),
        pytest.param(Slotted, id="slots"),
        pytest.param(lambda tolerance: Near(tolerance).judge, id="method"),
    ],
)
@pytest.mark.parametrize(
    ("strict", "lenient"),
    [
        pytest.param(1, 10, id="number"),
        pytest.param([1], [10], id="list"),
        pytest.param({"by": {1.0}}, {"by": {10.0}}, id="inside"),
        pytest.param(Limit(1), Limit(10), id="data-class"),
        pytest.param(datetime(2026, 1, 1, 1), datetime(2026, 1, 1, 2), id="time"),
        pytest.param(Size.SMALL, Size.LARGE, id="enum"),
        pytest.param(Odd("a"), Odd("b"), id="subclass-of-text"),
        pytest.param(("a", object), ("b", object), id="beside-what-is-no-data"),
        pytest.param(range(1), range(2), id="range"),
        pytest.param(re.compile("a" * 300), re.compile("a" * 301), id="pattern"),
        pytest.param(re.compile("a"), re.compile("a", re.IGNORECASE), id="flags"),
    ],
)
def test_what_a_function_was_made_with_counts(made: Callable[[Any], Callable[..., Any]], strict: Any, lenient: Any) -> None:
    digests = [digest_by(made(value)) for value in (strict, deepcopy(strict), lenient)]
    assert digests[0] == digests[1] != digests[2]


def test_what_is_no_plain_data_and_what_holds_itself_do_not_count() -> None:
    rounds: list[Any] = []
    rounds.append(rounds)
    found = {digest_by(within(value)) for value in (object(), threading.Lock(), within(1))}
    assert len(found) == 1
    assert digest_by(within(rounds)) == digest_by(within(deepcopy(rounds)))


def test_values_that_python_cannot_write_whole_have_a_digest() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert digest_by(within(deep)) == digest_by(within([deep]))
    assert digest_by(within(10**5_000)) == digest_by(within(10**5_000)) != digest_by(within(10**5_000 + 1))


def test_a_function_that_was_made_with_nothing_keeps_its_digest() -> None:
    """Results of an earlier version stay comparable."""

    def plain(output: Any) -> bool:
        return output is not None

    assert own_parameters(plain) == []


@each_row(
    ("first", "second", "alike"),
    [
        ("output == 1", "output == 2", False),
        ("output.islower()", "output.isupper()", False),
        ("any(each == 1 for each in output)", "any(each == 2 for each in output)", False),
        ("any(each == 1 for each in output)", "any(each == 1 for each in output)", True),
        ("output in {0, 8}", "output in {8, 0}", True),
    ],
)
def test_a_function_without_a_source_counts_by_its_code(first: str, second: str, alike: bool) -> None:
    found = []
    for rule in (first, second):
        made: dict[str, Any] = {}
        exec(f"def own(output): return {rule}", made)
        found.append(digest_by(made["own"]))
    assert (found[0] == found[1]) == alike


def test_lambdas_that_share_their_lines_count_by_their_code() -> None:
    pair = [lambda output: output == 1, lambda output: output != 1]
    assert digest_by(pair[0]) == digest_by(pair[0]) != digest_by(pair[1])


def test_the_code_of_a_plug_in_counts_and_ours_does_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("eval_skills.scorers.registry._entries", dict(_entries))
    (tmp_path / "rules.txt").write_text("1")

    @scorer("foreign", folder=tmp_path)
    def foreign(response: Any) -> float:
        return 1.0

    first = digest(expectedOutput={"type": "foreign"})
    (tmp_path / "rules.txt").write_text("2")
    assert digest(expectedOutput={"type": "foreign"}) != first


def test_our_own_code_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task: dict[str, Any] = {"evaluator": {"type": "code_tests", "test": "assert f()"}}
    first = digest(**task)
    (tmp_path / "another-version.py").write_text("")
    monkeypatch.setitem(_entries, "code_tests", replace(_entries["code_tests"], folder=tmp_path))
    assert digest(**task) == first
