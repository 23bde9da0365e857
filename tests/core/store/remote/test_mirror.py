"""A store in object storage: what one machine lands, others read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, land_rows, write_manifest
from tests.object_storage import ObjectStorage

OnMachine = Callable[[str], None]
LandWhole = Callable[..., None]


@pytest.fixture
def land_whole(
    make_result: Callable[..., ItemResult],
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
) -> LandWhole:
    """Lands a run of these tasks, its report and its manifest; all of it is on this machine alone."""

    def land_tasks(store: Store, run_id: str, *tasks: str, **fields: object) -> None:
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id))
        with Journal(store.journal_path(run_id)) as journal:
            for task in tasks:
                journal.append(make_result(task, run_id=run_id, **fields))
        land(store, run_id)
        land_reports(store, run_id, None, [make_report()])

    return land_tasks


def test_another_machine_reads_what_was_published(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a", "b")
    assert object_storage.of("PUT") == []
    store.publish()
    names = [
        f"items/date=2026-11-21/{run_id}.parquet",
        f"reports/date=2026-11-21/{run_id}.parquet",
        f"runs/{run_id}/manifest.json",
    ]
    assert object_storage.of("PUT") == [f"team/evals/{name}" for name in names]
    on_machine("other")
    other = Store(f"{url}/")
    assert other.layout.root != store.layout.root
    assert list(other.items().task_id) == ["a", "b"]
    assert other.history() == {"adder@1.0.0": 0.5}
    assert other.manifest(run_id) == store.manifest(run_id)
    assert other.runs().state.tolist() == ["finished"]
    answer = other.query("SELECT date, count(*) AS n FROM items GROUP BY 1")
    assert answer.n.tolist() == [2]
    assert other.tables.known_digests().keys() == store.tables.known_digests().keys()


def test_what_has_landed_is_said_by_its_address(url: str, run_id: str, make_result: Callable[..., ItemResult]) -> None:
    store = Store(url)
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result())
    location = f"{url}/items/date=2026-11-21/{run_id}.parquet"
    assert land(store, run_id) == location
    assert land(store, run_id) == location
    assert Path(store.tables.path_of(location)).is_file()


def test_only_what_is_new_is_downloaded(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    on_machine("other")
    other = Store(url)
    assert len(object_storage.of("GET")) == 1 + 1 + 3
    object_storage.forget()
    other.refresh()
    assert len(object_storage.of("GET")) == 1
    on_machine("machine")
    land_whole(store, "20261122T000000Z-0001", "a")
    store.publish()
    object_storage.forget()
    other.refresh()
    assert len(object_storage.of("GET")) == 1 + 3
    assert other.run_ids() == [run_id, "20261122T000000Z-0001"]


def test_what_is_gone_in_the_bucket_is_gone_here(url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    on_machine("other")
    other = Store(url)
    assert other.mirror is not None
    other.mirror.remove(_files(other))
    on_machine("machine")
    store.refresh()
    assert store.run_ids() == []
    assert _files(store) == []


def _files(store: Store) -> list[str]:
    from eval_skills.core.store.remote.names import shared_files

    return list(shared_files(store.layout.root))


def test_a_run_that_is_not_finished_is_of_its_machine(
    url: str,
    run_id: str,
    on_machine: OnMachine,
    make_result: Callable[..., ItemResult],
    make_manifest: Callable[..., Manifest],
    object_storage: ObjectStorage,
) -> None:
    store = Store(url)
    write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id))
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result())
    store.publish()
    Store(url)
    assert object_storage.of("PUT") == []
    on_machine("other")
    with pytest.raises(Exception, match=f"no run {run_id} in {url}; it holds none; a run that is not finished is only on"):
        Store(url).manifest(run_id)


def test_rows_of_a_table_are_there_when_landing_returns(url: str, on_machine: OnMachine) -> None:
    land_rows(Store(url), "calibrations", "20261122T000000Z-0001", [{"calibration_id": "20261122T000000Z-0001"}])
    on_machine("other")
    assert Store(url).calibrations().calibration_id.tolist() == ["20261122T000000Z-0001"]


def test_the_second_of_two_machines_that_write_a_run_is_refused(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole
) -> None:
    first = Store(url)
    on_machine("other")
    second = Store(url)
    land_whole(first, run_id, "a")
    land_whole(second, run_id, "b")
    first.publish()
    with pytest.raises(RunError, match=rf"another machine wrote run {run_id} meanwhile: {url}/items/.*nothing there was over"):
        second.publish()
    assert list(second.items().task_id) == ["a"]
    kept = sorted(path.name for path in (second.layout.root / ".remote" / "refused").rglob("*") if path.is_file())
    assert kept == [f"{run_id}.parquet", f"{run_id}.parquet", "manifest.json"]
    second.publish()
    on_machine("third")
    assert list(Store(url).items().task_id) == ["a"]
