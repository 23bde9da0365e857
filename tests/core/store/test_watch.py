"""What anything but eval-skills does to finished runs is seen; what other runs, pruning and repairing do is not reported."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land_items, land_reports, prune_items, started_at, write_manifest
from eval_skills.core.store.verify import put_aside, verify
from eval_skills.core.store.watch import foreign_changes, snapshot

OLD, YOUNG, NEW = "20260110T000000Z-0002", "20260301T000000Z-0003", "20260302T000000Z-0004"
ITEMS = f"items/date=2026-03-01/{YOUNG}.parquet"
MANIFEST = f"runs/{YOUNG}/manifest.json"


@pytest.fixture
def land_whole(
    store: Store,
    make_result: Callable[..., ItemResult],
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> Callable[[str], None]:
    def land(run_id: str) -> None:
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id, created_at=started_at(run_id)))
        land_items(store, run_id, [make_result(run_id=run_id)])
        land_reports(store, run_id, None, [make_report()])

    return land


@pytest.fixture
def two(store: Store, land_whole: Callable[[str], None]) -> Store:
    for run_id in (OLD, YOUNG):
        land_whole(run_id)
    return store


def rewrite(path: Path) -> None:
    path.write_bytes(path.read_bytes()[::-1])


def swap(path: Path) -> None:
    """Another file under the name, of the same length and time."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes()[::-1])
    path.rename(path.with_name("away"))
    other.rename(path)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        pytest.param(lambda root: rewrite(root / ITEMS), [f"{ITEMS} was rewritten"], id="items"),
        pytest.param(lambda root: swap(root / ITEMS), [f"{ITEMS} was rewritten"], id="swapped"),
        pytest.param(lambda root: rewrite(root / MANIFEST), [f"{MANIFEST} was rewritten"], id="manifest"),
        pytest.param(lambda root: (root / MANIFEST).unlink(), [f"{MANIFEST} is gone"], id="no-manifest"),
        pytest.param(
            lambda root: (root / ITEMS.replace("items", "reports")).unlink(),
            [f"{ITEMS.replace('items', 'reports')} is gone"],
            id="reports-are-never-pruned",
        ),
        pytest.param(
            lambda root: rewrite(root / "digests.jsonl"),
            ["digests.jsonl, to which lines are only ever added, was rewritten"],
            id="digests",
        ),
    ],
)
def test_what_others_do_is_named(two: Store, harm: Callable[[Path], object], said: list[str]) -> None:
    before = snapshot(two.layout)
    assert foreign_changes(before, two.layout) == []
    harm(two.layout.root)
    assert foreign_changes(before, two.layout) == said


def test_items_that_go_without_a_note_of_pruning_are_named(two: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.core.store.watch._NOTE_S", 0.0)
    before = snapshot(two.layout)
    (two.layout.root / ITEMS).unlink()
    assert foreign_changes(before, two.layout) == [f"{ITEMS} is gone"]


def test_a_touched_file_excuses_no_other(two: Store) -> None:
    before = snapshot(two.layout)
    (two.layout.root / ITEMS).touch()
    rewrite(two.layout.root / MANIFEST)
    rewrite(two.layout.root / ITEMS.replace("items", "reports"))
    assert foreign_changes(before, two.layout) == [
        f"{ITEMS.replace('items', 'reports')} was rewritten",
        f"{MANIFEST} was rewritten",
    ]


def test_of_many_the_first_are_named(two: Store, land_whole: Callable[[str], None]) -> None:
    land_whole(NEW)
    before = snapshot(two.layout)
    for file in two.layout.root.rglob("*.parquet"):
        rewrite(file)
    changed = foreign_changes(before, two.layout)
    assert len(changed) == 4
    assert changed[-1] == "3 more"


def test_what_eval_skills_does_meanwhile_is_not_reported(
    two: Store, land_whole: Callable[[str], None], make_result: Callable[..., ItemResult], make_manifest: Callable[..., Manifest]
) -> None:
    before = snapshot(two.layout)
    land_whole(NEW)
    assert prune_items(two, before=datetime(2026, 2, 1, tzinfo=UTC), keep=set()).run_ids == [OLD]
    land_items(two, YOUNG, [make_result(run_id=YOUNG), make_result("other", run_id=YOUNG)])
    write_manifest(two.run_folder(YOUNG), make_manifest(run_id=YOUNG, planned_items=7))
    assert foreign_changes(before, two.layout) == []


def test_a_run_that_is_resumed_and_one_that_is_put_aside_are_not_reported(
    two: Store, make_result: Callable[..., ItemResult], make_manifest: Callable[..., Manifest]
) -> None:
    before = snapshot(two.layout)
    write_manifest(two.run_folder(YOUNG), make_manifest(run_id=YOUNG, planned_items=7))
    with Journal(two.journal_path(YOUNG)) as journal:
        journal.append(make_result(run_id=YOUNG))
        assert foreign_changes(before, two.layout) == []
    broken = two.layout.root / f"reports/date=2026-01-10/{OLD}.parquet"
    broken.write_bytes(b"x")
    damaged = snapshot(two.layout)
    [finding] = [each for each in verify(two).findings if each.kind == "damaged"]
    put_aside(two, finding)
    assert foreign_changes(damaged, two.layout) == []


def test_a_touched_file_is_the_same_file(two: Store) -> None:
    before = snapshot(two.layout)
    (two.layout.root / ITEMS).touch()
    assert foreign_changes(before, two.layout) == []


def test_there_need_not_be_a_store(store: Store) -> None:
    before = snapshot(store.layout)
    assert (before.files, foreign_changes(before, store.layout)) == ({}, [])


@pytest.mark.slow
def test_five_thousand_files_cost_little(store: Store) -> None:
    root = store.layout.root
    for number in range(2_000):
        day, run_id = f"date=2026-01-{number % 28 + 1:02}", f"202601{number % 28 + 1:02}T000000Z-{number:04x}"
        for table in ("items", "reports"):
            (root / table / day).mkdir(parents=True, exist_ok=True)
            (root / table / day / f"{run_id}.parquet").touch()
        (root / "runs" / run_id).mkdir(parents=True)
        (root / "runs" / run_id / "manifest.json").touch()
    before, began = snapshot(store.layout), process_time()
    assert foreign_changes(before, store.layout) == []
    assert len(before.files) == 6_000
    assert process_time() - began < 1, "milliseconds on a machine that has time"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        pytest.param(lambda path: None, "", id="nothing"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"{}\n"), "bytes where this run wrote", id="appended"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b'"pass"', b'"fail"')),
            "does not hold what this run wrote",
            id="changed-in-place",
        ),
        pytest.param(lambda path: path.unlink(), "is gone", id="gone"),
    ],
)
def test_a_journal_knows_what_it_wrote(
    store: Store, run_id: str, make_result: Callable[..., ItemResult], harm: Callable[[Path], object], said: str
) -> None:
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result("a"))
    journal = Journal(store.journal_path(run_id))  # what a run that is resumed finds is not foreign
    journal.append(make_result("b"))
    harm(journal.path)
    assert said in journal.foreign_change()
    assert bool(said) is bool(journal.foreign_change())
    with nullcontext() if journal.path.exists() else pytest.raises(RunError, match="moved or deleted"):
        journal.close()
