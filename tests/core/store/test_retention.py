"""What is deleted after some days, and what never is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, mirror_sqlite, prune_items, started_at
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.manifest import read_manifest, write_manifest

OLD, OLDER, YOUNG = "20260110T000000Z-0002", "20260101T000000Z-0001", "20260301T000000Z-0003"
BEFORE = datetime(2026, 2, 1, tzinfo=UTC)
LandRun = Callable[..., str]


@pytest.fixture
def three(
    store: Store,
    land_run: LandRun,
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> Store:
    for run_id in (OLD, OLDER, YOUNG):
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id, created_at=started_at(run_id)))
        land_run(run_id, "a", "b")
        land_reports(store, run_id, None, [make_report()])
    return store


def test_old_items_go_and_reports_and_manifests_stay(three: Store) -> None:
    pruned = prune_items(three, before=BEFORE, keep=set())
    assert pruned.run_ids == [OLDER, OLD]
    assert pruned.size > 0
    assert set(three.tables.files("items")) == {YOUNG}
    assert set(three.tables.files("reports")) == {OLD, OLDER, YOUNG}
    assert [three.manifest(run_id).run_id for run_id in (OLD, OLDER, YOUNG)] == [OLD, OLDER, YOUNG]


def test_what_is_to_be_kept_stays_and_a_second_time_nothing_is_left_to_do(three: Store) -> None:
    assert prune_items(three, before=BEFORE, keep={OLDER}).run_ids == [OLD]
    assert prune_items(three, before=BEFORE, keep={OLDER}).run_ids == []


def test_a_scoring_stays_as_long_as_the_items_that_it_judges(
    three: Store, land_run: LandRun, make_report: Callable[..., SkillCompletionReport]
) -> None:
    scoring = OLDER.replace("-0001", "-0000")
    provenance = {"of": OLDER, "digest": "d"}
    write_manifest(
        three.run_folder(scoring),
        three.manifest(OLDER).model_copy(update={"run_id": scoring, "request": {"origin": "rescore"}, "provenance": provenance}),
    )
    land_run(scoring, "a", "b", origin="rescore")
    land_reports(three, scoring, None, [make_report()], origin="rescore")
    assert prune_items(three, before=BEFORE, keep={OLDER}).run_ids == [OLD]
    assert set(three.query("SELECT run_id FROM items")["run_id"]) == {scoring, YOUNG}
    assert prune_items(three, before=BEFORE, keep=set()).run_ids == [scoring, OLDER]


def test_a_run_without_reports_or_with_a_journal_keeps_its_items(three: Store, land_run: LandRun) -> None:
    land_run("20260102T000000Z-0009", "a")
    with Journal(three.journal_path(OLD)):
        pass
    assert prune_items(three, before=BEFORE, keep=set()).run_ids == [OLDER]


def test_a_run_that_is_taken_up_meanwhile_keeps_its_items(three: Store) -> None:
    with RunLock(three.journal_path(OLD)):  # whoever resumes it has just looked at its items, and has no journal yet
        assert prune_items(three, before=BEFORE, keep=set()).run_ids == [OLDER]
    assert sorted(path.name for path in three.run_folder(OLDER).iterdir()) == ["manifest.json", "pruned"]


def test_at_no_moment_are_items_gone_and_nothing_says_why(three: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = os.unlink

    def killed(path: str) -> None:
        if str(path).endswith(".parquet"):
            raise KeyboardInterrupt(path)
        unlink(path)

    monkeypatch.setattr("os.unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        prune_items(three, before=BEFORE, keep=set())
    assert (three.run_folder(OLDER) / "pruned").exists()
    monkeypatch.undo()
    assert prune_items(three, before=BEFORE, keep=set()).run_ids == [OLDER, OLD]


def test_a_pruned_run_is_finished_and_nobody_is_told_to_resume_it(three: Store) -> None:
    prune_items(three, before=BEFORE, keep=set())
    assert three.unfinished() == []
    assert set(three.run_table()["state"].to_pylist()) == {"finished"}


def test_the_mirror_forgets_the_same_items(
    tmp_path: Path,
    make_report: Callable[..., SkillCompletionReport],
    make_result: Callable[..., ItemResult],
    make_manifest: Callable[..., Manifest],
) -> None:
    store = Store(tmp_path / "x.db")
    for run_id in (OLD, YOUNG):
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id, created_at=started_at(run_id)))
        with Journal(store.journal_path(run_id)) as journal:
            journal.append(make_result(run_id=run_id))
        land(store, run_id)
        land_reports(store, run_id, None, [make_report()])
        mirror_sqlite(store, run_id)
    prune_items(store, before=BEFORE, keep=set())
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("SELECT DISTINCT run_id FROM items").fetchall() == [(YOUNG,)]
        assert connection.execute("SELECT count(*) FROM reports").fetchone() == (2,)


def test_a_run_that_is_dated_back_counts_from_when_it_was_made(three: Store) -> None:
    folder = three.run_folder(OLD)
    manifest = read_manifest(folder).model_copy(update={"created_at": datetime(2026, 2, 20, tzinfo=UTC)})
    write_manifest(folder, manifest)
    assert prune_items(three, before=BEFORE, keep=set()).run_ids == [OLDER]
