"""What the tests of stores in object storage share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, write_manifest

Begin = Callable[..., None]
LandWhole = Callable[..., None]


@pytest.fixture
def begin(make_result: Callable[..., ItemResult], make_manifest: Callable[..., Manifest]) -> Begin:
    """Begins a run, or goes on with it, and answers these tasks."""

    def answer(store: Store, run_id: str, *tasks: str, **fields: Any) -> None:
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id))
        with Journal(store.journal_path(run_id)) as journal:
            for task in tasks:
                journal.append(make_result(task, run_id=run_id, **fields))

    return answer


@pytest.fixture
def land_whole(begin: Begin, make_report: Callable[..., SkillCompletionReport]) -> LandWhole:
    """Lands a run of these tasks, its report and its manifest; all of it is on this machine alone."""

    def land_tasks(store: Store, run_id: str, *tasks: str, **fields: Any) -> None:
        begin(store, run_id, *tasks, **fields)
        land(store, run_id)
        land_reports(store, run_id, None, [make_report()])

    return land_tasks
