"""A store in object storage: what one machine lands, others read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, land, land_rows, prune_items
from eval_skills.core.store.remote import mirror
from eval_skills.core.store.remote.names import shared_files, shared_name
from eval_skills.core.store.retention import pruned_words
from eval_skills.engine.repair import repair
from tests.object_storage import ObjectStorage

OnMachine = Callable[[str], None]
LandWhole = Callable[..., None]
Begin = Callable[..., None]


@pytest.mark.slow
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


def test_what_has_landed_is_said_by_its_address(url: str, run_id: str, begin: Begin) -> None:
    store = Store(url)
    begin(store, run_id, "a")
    location = f"{url}/items/date=2026-11-21/{run_id}.parquet"
    assert land(store, run_id) == location
    assert land(store, run_id) == location
    assert Path(store.tables.path_of(location)).is_file()


@pytest.mark.slow
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


@pytest.mark.slow
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
    return list(shared_files(store.layout.root))


def test_a_run_that_is_not_finished_is_of_its_machine(
    url: str,
    run_id: str,
    on_machine: OnMachine,
    begin: Begin,
    object_storage: ObjectStorage,
) -> None:
    store = Store(url)
    begin(store, run_id, "a")
    store.publish()
    Store(url)
    assert object_storage.of("PUT") == []
    on_machine("other")
    with pytest.raises(UsageError, match=f"no run {run_id} in {url}; it holds none; a run that is not finished is only on"):
        Store(url).manifest(run_id)


def test_rows_of_a_table_are_there_when_landing_returns(url: str, on_machine: OnMachine) -> None:
    land_rows(Store(url), "calibrations", "20261122T000000Z-0001", [{"calibration_id": "20261122T000000Z-0001"}])
    on_machine("other")
    assert Store(url).calibrations().calibration_id.tolist() == ["20261122T000000Z-0001"]


def test_a_store_that_was_just_opened_is_not_asked_again(
    url: str, object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "OPEN_S", 60.0)
    Store(url)
    Store(url).refresh()
    assert len(object_storage.requests) == 1


@pytest.mark.slow
def test_a_run_that_is_being_published_is_not_seen_yet(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    seen: list[list[str]] = []

    def look(method: str, path: str) -> None:
        if method == "PUT":
            on_machine("other")
            seen.append(Store(url).run_ids())

    object_storage.after = look
    store.publish()
    assert seen == [[], [], [run_id]]


def test_items_without_a_manifest_are_seen_once_nobody_can_be_publishing_them(
    url: str, run_id: str, on_machine: OnMachine, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(url)
    begin(store, run_id, "a")
    land(store, run_id)
    store.publish()
    on_machine("other")
    assert Store(url).run_ids() == []
    monkeypatch.setattr(mirror, "PUBLISHING_S", 0.0)
    assert Store(url).run_ids() == [run_id]


@pytest.mark.slow
def test_a_file_that_something_else_changed_is_not_published_but_fetched_again(
    url: str, run_id: str, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    for name in _files(store):
        (store.layout.root / name).write_bytes(b"damaged")
    object_storage.forget()
    assert list(Store(url).items().task_id) == ["a"]
    assert Store(url).manifest(run_id).run_id == run_id
    assert object_storage.of("PUT") == []


def test_a_file_that_was_written_again_as_it_was_is_not_sent_again(
    url: str, run_id: str, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    for name in _files(store):
        (store.layout.root / name).write_bytes((store.layout.root / name).read_bytes())
    object_storage.forget()
    store.publish()
    assert object_storage.requests == []


@pytest.mark.slow
def test_a_mirror_without_its_index_downloads_what_differs_only_in_being_known(
    url: str, run_id: str, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    (store.layout.root / ".remote" / "index.json").write_text("[damaged")
    again = Store(url)
    assert again.remarks == []
    assert list(again.items().task_id) == ["a"]
    object_storage.forget()
    again.publish()
    assert object_storage.requests == []


@pytest.mark.slow
def test_what_is_damaged_in_the_bucket_is_left_out_and_named(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole
) -> None:
    store = Store(url)
    for each in (run_id, "20261122T000000Z-0001"):
        land_whole(store, each, "a")
    store.publish()
    file = f"items/date=2026-11-21/{run_id}.parquet"
    content = bytearray((store.layout.root / file).read_bytes())
    content[100] ^= 1  # in its rows, not in the schema behind them
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    damaged = S3Store(bucket, prefix=prefix, client_options={"allow_http": True})
    digest = hashlib.sha256((store.layout.root / file).read_bytes()).hexdigest()
    obstore.put(damaged, file, bytes(content), attributes={"sha256": digest})
    on_machine("other")
    other, told = Store(url), list[str]()
    other.tables.tell = told.append
    assert [row["run_id"] for row in other.tables.rows("items", ["run_id"])] == ["20261122T000000Z-0001"]
    assert told == [f"left out: {url}/{file}: its bytes are not those that were written; see eval-skills store verify"]
    repaired = {finding.kind: finding.repaired for finding in repair(other).findings}
    assert repaired["damaged"] == f"now {run_id}.parquet.broken"
    on_machine("third")
    assert Store(url).tables.files("items").keys() == {"20261122T000000Z-0001"}
    assert f"{file}.broken" in _files(Store(url))


@pytest.mark.parametrize("aside", ["items/date=2026-11-21/{}.parquet.broken.2", "runs/{}/manifest.json.broken.2"])
def test_what_was_put_aside_a_second_time_is_kept_in_the_bucket_too(run_id: str, aside: str) -> None:
    shared = shared_name(aside.format(run_id))
    assert shared is not None
    assert (shared.run_id, shared.is_manifest) == (run_id, False)


def test_a_damaged_mirror_is_repaired_from_the_bucket(url: str, run_id: str, land_whole: LandWhole) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    file = store.layout.root / f"items/date=2026-11-21/{run_id}.parquet"
    state, content = file.stat(), bytearray(file.read_bytes())
    content[100] ^= 1  # in its rows, not in the schema behind them
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))  # as a disk forgets
    (finding,) = repair(store).findings
    assert finding.repaired == "fetched again from the object storage, where it is well"
    assert list(Store(url).items().task_id) == ["a"]


@pytest.mark.slow
def test_pruned_items_are_gone_everywhere_and_it_is_said_why(
    url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole
) -> None:
    on_machine("other")
    other = Store(url)
    on_machine("machine")
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    other.refresh()
    assert prune_items(store, before=datetime(2026, 12, 1, tzinfo=UTC), keep=()).run_ids == [run_id]
    other.refresh()
    assert len(other.items()) == 0
    assert other.history() == {"adder@1.0.0": 0.5}
    assert str(pruned_words(other, run_id)).endswith("(--keep-days); its report remains")
