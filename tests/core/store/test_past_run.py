"""Looking back on runs; the command line's tests have the filters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land_reports, past_runs, write_manifest
from eval_skills.core.store.history import is_meant
from tests.tables import each_row


def test_an_empty_store_has_no_past(store: Store) -> None:
    assert past_runs(store) == []


def test_a_limit_below_one_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="1 or more; got 0"):
        past_runs(store, limit=0)


def test_the_best_skill_counts(
    store: Store,
    run_id: str,
    land_run: Callable[..., str],
    make_manifest: Callable[..., Manifest],
    make_report: Callable[..., SkillCompletionReport],
) -> None:
    write_manifest(store.run_folder(run_id), make_manifest())
    land_run(run_id, "t0", "t1")
    land_reports(store, run_id, None, [make_report(0.25), make_report(0.75, skill_version="1.1.0")])
    [run] = past_runs(store)
    assert (run.best_completion, run.items, run.planned_items, run.state) == (0.75, 2, 4, "finished")


def test_items_of_a_landed_run_that_is_run_again_are_counted_once(
    store: Store, run_id: str, land_run: Callable[..., str], make_result: Callable[..., ItemResult]
) -> None:
    land_run(run_id, "t0", "t1")
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result("t1"))
        journal.append(make_result("t2"))
    [run] = past_runs(store)
    assert (run.items, run.planned_items, run.benchmark, run.state) == (3, None, None, "unfinished")


@each_row(
    ("name", "keys", "meant"),
    [
        pytest.param(None, [], True, id="nothing-asked"),
        pytest.param("a", ["a@1.0.0"], True, id="every-version"),
        pytest.param("a@1.0.0", ["b@1.0.0", "a@1.0.0"], True, id="one-of-them"),
        pytest.param("a@1.0.1", ["a@1.0.0"], False, id="p32-another-version-is-another-skill"),
        pytest.param("a", ["ab@1.0.0"], False, id="a-part"),
        pytest.param("a", [None], False, id="unknown"),
    ],
)
def test_what_a_name_means(name: str | None, keys: list[str | None], meant: bool) -> None:
    assert is_meant(name, keys) is meant
