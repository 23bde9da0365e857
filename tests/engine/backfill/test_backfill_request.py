"""What a backfill is asked to do, and what it refuses."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Journal, Store
from eval_skills.engine.backfill.request import BackfillRequest
from tests.engine.backfill.backfills import DAY, RIGHT, START, WRONG, Days, backfill, content
from tests.tables import each_row


@each_row(
    ("options", "message"),
    [
        pytest.param({"mode": "replay"}, "--skills-repo and --mode replay belong together", id="replay-of-nothing"),
        pytest.param({"mode": "rescore", "skills_repo": "."}, "belong together", id="a-repository-for-nothing"),
        pytest.param({"mode": "rescore", "skills_path": "x"}, "--skills-path is for --mode replay", id="a-path-for-nothing"),
        pytest.param({"mode": "rescore", "every": "tag"}, "--every tag is for --mode replay", id="tags-of-runs"),
        pytest.param({"mode": "replay", "skills_repo": ".", "every": "run"}, "--every run is for stored", id="runs-of-commits"),
        pytest.param({"since": START, "until": START}, "--until is not after --since", id="no-time"),
        pytest.param({"since": datetime(2026, 1, 1)}, "timezone", id="no-time-zone"),
        pytest.param({"resume": "latest"}, "goes on by itself", id="resume"),
        pytest.param({"skills_path": "../x"}, "leads out of the repository", id="outside"),
        pytest.param({"skills_path": "/x"}, "leads out of the repository", id="absolute"),
        pytest.param({"mode": "redo"}, "recompute", id="unknown-mode"),
    ],
)
def test_p40_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        BackfillRequest.model_validate({"mode": "recompute", **options})


def test_p40_a_time_without_a_run_is_refused_and_leaves_no_trace(store: Store, days: Days, tmp_path: Path) -> None:
    days(RIGHT)
    before = content(tmp_path / "store")
    with pytest.raises(UsageError, match=r"no run of the store .* it holds 1 run from 2026-03-01 to 2026-03-01"):
        backfill(store, since=START + DAY)
    assert content(tmp_path / "store") == before


@pytest.mark.slow
def test_an_unfinished_run_is_left_out_with_a_remark(store: Store, days: Days) -> None:
    _, second = days(RIGHT, WRONG)
    with Journal(store.journal_path(second)):
        pass
    summary = backfill(store)
    assert summary.done == ["2026-03-01"]
    assert summary.remarks == [f"1 run left out: unfinished; the last is {second}"]


def test_p40_where_no_run_can_be_used_it_says_why(store: Store, days: Days, tmp_path: Path) -> None:
    days(RIGHT)
    (tmp_path / "tasks.json").unlink()
    with pytest.raises(InputError, match=r"none of the 1 run in this time can be used: run .* is left out: .*no such file"):
        backfill(store, "rescore")


@pytest.mark.slow
def test_runs_of_other_benchmarks_are_left_out_where_one_is_named(store: Store, days: Days) -> None:
    days(RIGHT, WRONG)
    said = "none of the 2 runs in this time can be used: runs of other benchmarks than coding-easy are left out"
    with pytest.raises(InputError, match=f"{said}$"):
        backfill(store, "rescore", benchmark="coding-easy")


def test_where_every_run_is_unfinished_it_says_so(store: Store, days: Days) -> None:
    (only,) = days(RIGHT)
    with Journal(store.journal_path(only)):
        pass
    with pytest.raises(
        InputError, match=f"none of the 1 run in this time can be used: 1 run left out: unfinished; the last is {only}"
    ):
        backfill(store)


def test_the_request_survives_json() -> None:
    request = BackfillRequest(mode="replay", skills_repo=".", since=START, every="tag", runs=3)
    assert BackfillRequest.model_validate(json.loads(request.model_dump_json(by_alias=True))) == request


def test_a_replay_says_what_it_was_told_and_nothing_else() -> None:
    request = BackfillRequest(mode="replay", skills_repo=".", runs=3, format=["html"], min_completion=0.9, evaluator=None)
    assert request.evaluation(skills=["s"]).model_fields_set == {"runs", "format", "skills"}
    assert request.evaluation().format == []
