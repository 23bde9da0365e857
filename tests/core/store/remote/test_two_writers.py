"""Two machines that write to one store at once: nothing of either is overwritten unseen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.store import Store, land_rows
from eval_skills.core.store.labels import AnswerLabel, LabelWriter, current_labels
from eval_skills.core.store.rows import results_of
from eval_skills.core.store.scorings import asked_at, note_asked
from tests.object_storage import ObjectStorage

OnMachine = Callable[[str], None]
LandWhole = Callable[..., None]


@pytest.fixture
def two(url: str, on_machine: OnMachine) -> tuple[Store, Store]:
    """The store on two machines."""
    one = Store(url)
    on_machine("other")
    return one, Store(url)


@pytest.mark.slow
def test_the_second_that_publishes_a_run_is_refused(
    two: tuple[Store, Store], url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole
) -> None:
    first, second = two
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


@pytest.mark.slow
def test_of_two_that_publish_a_run_at_the_same_moment_one_is_refused(
    two: tuple[Store, Store], url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole, object_storage: ObjectStorage
) -> None:
    for store, task in zip(two, "ab", strict=True):
        land_whole(store, run_id, task)
    both, problems = threading.Barrier(2, timeout=20), list[str]()

    def meet(method: str, path: str) -> None:
        if method == "PUT" and "/items/" in path and both.wait():
            time.sleep(0.2)  # both have decided; moto looks and then writes, where S3 does that in one step

    def publish(store: Store) -> None:
        try:
            store.publish()
        except RunError as error:
            problems.append(str(error))

    object_storage.before = meet
    writers = [threading.Thread(target=publish, args=(store,)) for store in two]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [f"another machine wrote run {run_id}" in problem for problem in problems] == [True]
    on_machine("third")
    third = Store(url)
    assert len(third.items()) == len(third.reports()) == 1
    assert {tuple(store.items().task_id) for store in (*two, third)} == {tuple(third.items().task_id)}


@pytest.mark.slow
def test_a_landed_run_is_continued_on_another_machine(
    two: tuple[Store, Store], url: str, run_id: str, land_whole: LandWhole
) -> None:
    first, second = two
    land_whole(first, run_id, "a")
    first.publish()
    second.refresh()
    land_whole(second, run_id, "b")
    second.publish()
    first.refresh()
    assert {result.task_id for result in results_of(first.item_table(run_id))} == {"a", "b"}


@pytest.mark.slow
def test_two_that_continue_a_landed_run_do_not_mix(
    two: tuple[Store, Store], url: str, run_id: str, land_whole: LandWhole
) -> None:
    first, second = two
    land_whole(first, run_id, "a")
    first.publish()
    second.refresh()
    land_whole(first, run_id, "b")
    land_whole(second, run_id, "c")
    first.publish()
    with pytest.raises(RunError, match=f"another machine wrote run {run_id} meanwhile"):
        second.publish()
    assert {result.task_id for result in results_of(second.item_table(run_id))} == {"a", "b"}


def label(by: str, comment: str) -> AnswerLabel:
    given: dict[str, Any] = dict.fromkeys(["benchmark_version", "status", "score"])
    place: dict[str, Any] = {
        "run_id": "20261121T233824Z-3f9a",
        "skill_id": "adder",
        "skill_version": "1",
        "benchmark_id": "sums",
        "run_index": 0,
    }
    return AnswerLabel(**given, **place, task_id=by, label="pass", comment=comment, labelled_by=by)


@pytest.mark.slow
def test_what_two_people_say_at_once_is_kept_from_both(two: tuple[Store, Store], url: str) -> None:
    writers = [LabelWriter(store) for store in two]
    for number in range(3):
        for writer, by in zip(writers, ("ann", "bob"), strict=True):
            writer.add(label(by, f"{number}"))
    for store in two:
        store.refresh()
        assert {(row["labelled_by"], row["comment"]) for row in current_labels(store)} == {("ann", "2"), ("bob", "2")}
        assert len(store.labels()) == 6


@pytest.mark.slow
def test_labels_under_the_same_name_are_joined(two: tuple[Store, Store], url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.core.store.labels.new_run_id", lambda: "20261121T233824Z-0001")
    ann, bob = (LabelWriter(store) for store in two)
    ann.add(label("ann", "0"))
    bob.add(label("bob", "0"))
    bob.add(label("bob", "1"))
    ann.add(label("ann", "1"))
    for store in two:
        store.refresh()
        rows = store.labels().sort_values("labelled_at")
        assert list(zip(rows.labelled_by, rows.comment, strict=True)) == [("ann", "0"), ("bob", "0"), ("bob", "1"), ("ann", "1")]
        assert store.tables.sound_files("labels").keys() == {"20261121T233824Z-0001"}


@pytest.mark.slow
def test_a_scoring_that_two_ask_for_again_counts_for_all(
    two: tuple[Store, Store], url: str, run_id: str, on_machine: OnMachine, land_whole: LandWhole
) -> None:
    first, second = two
    land_whole(first, run_id, "a")
    first.publish()
    on_machine("other")
    second.refresh()
    for store in two:
        note_asked(store, run_id)
        store.publish()
    on_machine("third")
    found = Store(url)
    assert asked_at(found.run_folder(run_id)) == asked_at(second.run_folder(run_id))
    assert asked_at(first.run_folder(run_id)) != asked_at(second.run_folder(run_id))


def test_rows_that_are_replaced_as_a_whole_are_those_of_the_last(two: tuple[Store, Store], url: str) -> None:
    for store, skill in zip(two, ("ann", "bob"), strict=True):
        land_rows(store, "nights", "20261121T233824Z-0001", [{"night_id": "20261121T233824Z-0001", "skill_id": skill}])
    two[0].refresh()
    assert list(two[0].nights().skill_id) == ["bob"]


def test_a_position_that_another_machine_moved_is_refused(two: tuple[Store, Store], url: str) -> None:
    for store, text in zip(two, ("{}", "{ }"), strict=True):
        file = store.layout.root / "monitors" / "0a1b" / "position.json"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    two[0].publish()
    with pytest.raises(RunError, match=r"another machine wrote monitors/0a1b/position\.json meanwhile"):
        two[1].publish()
