"""Where the benchmark of a stored run is looked up, when the folder has benchmarks of its own today."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.config.options import own_benchmarks
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.definition.benchmark import with_every_task
from eval_skills.engine.definition.request import EvaluateRequest


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.chdir(tmp_path)


def test_a_new_run_searches_the_folder_of_the_project() -> None:
    assert EvaluateRequest().benchmarks_dir == own_benchmarks() == "./benchmarks"


def test_a_stored_run_keeps_its_own() -> None:
    stored = EvaluateRequest.model_validate({"benchmark": "sums", "benchmarksDir": None})
    assert with_every_task(stored).benchmarks_dir is None
    assert with_every_task(stored, benchmark="sums").benchmarks_dir == "./benchmarks"
    assert with_every_task(stored, benchmark="sums", benchmarks_dir="mine").benchmarks_dir == "mine"


def test_what_looks_at_stored_runs_names_no_folder_by_itself() -> None:
    assert BackfillRequest(mode="recompute").benchmarks_dir is None
    assert CompareRequest(run_a="a", run_b="b").benchmarks_dir is None
