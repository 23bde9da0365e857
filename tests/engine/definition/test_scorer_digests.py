"""Which code judged a run."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import EvalTask
from eval_skills.engine.definition.scoring import scorer_digests
from eval_skills.scorers import TaskScoring, scorer, scorer_names
from eval_skills.scorers.registry import _entries

Make = Callable[..., TaskScoring]


@pytest.fixture
def make() -> Make:
    def scoring(kind: str, **expected: Any) -> TaskScoring:
        folder = expected.pop("folder", None)
        task = EvalTask.model_validate({"id": "t0", "expectedOutput": {"type": kind, **expected}})
        return TaskScoring(task, {"allowCustomCode": True, "benchmarkFolder": folder})

    return scoring


def test_every_scorer_that_is_used_has_its_own_digest(make: Make) -> None:
    found = scorer_digests([make("exact", value=1), make("exact", value=2), make("contains", keywords=["a"])], None)
    assert list(found) == ["contains", "exact_match"]
    assert len(set(found.values())) == 2
    assert set(found) <= set(scorer_names())


def test_the_digest_is_the_same_from_run_to_run(make: Make) -> None:
    assert scorer_digests([make("exact", value=1)], None) == scorer_digests([make("exact", value=3)], None)


def test_a_scorer_that_is_written_in_no_file_has_a_digest_too(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.scorers.registry._entries", dict(_entries))
    scorer("half")(partial(lambda response: 0.5))
    assert scorer_digests([make("half", value=1)], None)["half"].startswith("sha256:")


@pytest.mark.parametrize("name", ["scorer.py", "solution.py", "tests_host.py", "programs.py", "seccomp.py", "jail.py"])
def test_every_file_that_makes_the_verdict_on_a_program_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scoring = [TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": {"type": "code_tests", "test": "assert f()"}}))]
    first = scorer_digests(scoring, None)
    entry = _entries["code_tests"]
    copy = shutil.copytree(Path(inspect.getfile(entry.target)).parent, tmp_path / "code")
    monkeypatch.setitem(_entries, "code_tests", replace(entry, folder=entry.folder and copy))
    assert scorer_digests(scoring, None) == first
    (copy / name).write_text(f"{(copy / name).read_text()}#\n")
    assert scorer_digests(scoring, None) != first


def test_a_benchmarks_own_code_counts(make: Make, tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("def score(): return 1\n")
    own = [make("custom", customScorerPath="score.py", folder=tmp_path)]
    first = scorer_digests(own, tmp_path)
    (tmp_path / "helper.py").write_text("x = 1\n")
    assert scorer_digests(own, tmp_path) != first


def test_every_scorer_of_several_counts_and_what_combines_them(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("def score(): return 1\n")
    inner = {"evaluators": [{"type": "custom", "customScorerPath": "score.py"}]}
    task = EvalTask.model_validate({"id": "t0", "evaluators": ["exact", inner], "expectedOutput": {"value": 1}})
    scoring = TaskScoring(task, {"allowCustomCode": True, "benchmarkFolder": tmp_path})
    first = scorer_digests([scoring], tmp_path)
    assert set(first) == {"custom", "exact_match", "set"}
    (tmp_path / "score.py").write_text("def score(): return 0\n")
    after = scorer_digests([scoring], tmp_path)
    assert {name for name in first if first[name] != after[name]} == {"custom"}
