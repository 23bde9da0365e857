from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, check_run_id, is_run_id, new_run_id, start_date, started_at
from eval_skills.core.store.layout import _NewRunIds
from tests.tables import each_row


def test_a_new_run_id_names_the_second_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    run_id = new_run_id(datetime(2026, 11, 22, 8, 38, 24, 999_999, tzinfo=tokyo))
    assert run_id.startswith("20261121T233824Z-")
    assert started_at(run_id) == datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC)
    assert start_date(run_id) == date(2026, 11, 21)


def test_run_ids_sort_by_the_second_of_their_start() -> None:
    moments = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=7 * n) for n in range(50)]
    ids = [new_run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert all(map(is_run_id, ids))


def test_runs_of_one_second_have_different_ids() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert len({new_run_id(now) for _ in range(20)}) > 1


def test_runs_that_begin_within_one_second_sort_by_their_order() -> None:
    ids = [new_run_id() for _ in range(30)]
    assert ids == sorted(set(ids))
    assert len({started_at(each) for each in ids}) <= 2, "nothing waits without need"


def test_so_do_those_of_several_processes_in_one_store(store: Store) -> None:
    programs, ids = [_NewRunIds(), _NewRunIds()], list[str]()
    for number in range(12):
        ids.append(programs[number % 2].next(after=max(ids, default=None)))
    assert ids == sorted(set(ids))
    for run_id in (ids[-1], "29990101T000000Z-0000"):
        (store.layout.root / "runs" / run_id).mkdir(parents=True)
    assert store.new_run_id() > ids[-1]
    assert store.new_run_id(datetime(2026, 1, 1, tzinfo=UTC)).startswith("20260101T000000Z-")


def test_runs_that_are_dated_alike_sort_by_the_order_in_which_they_were_made(store: Store) -> None:
    moment, ids = datetime(2026, 1, 1, tzinfo=UTC), list[str]()
    for _ in range(30):
        ids.append(store.new_run_id(moment))
        (store.layout.root / "runs" / ids[-1]).mkdir(parents=True)
    assert ids == sorted(set(ids))
    (store.layout.root / "runs" / "20260101T000000Z-ffff").mkdir()
    assert store.new_run_id(moment) not in {*ids, "20260101T000000Z-ffff"}, "none is left behind it: any other one"


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        new_run_id(datetime(2026, 1, 1))


@each_row(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("latest", id="word"),
        pytest.param("../20261121T233824Z-3f9a", id="path-in-front"),
        pytest.param("20261121T233824Z-3f9a/../..", id="path-behind"),
        pytest.param("20261121T233824Z-3f9a\n", id="line-end"),
        pytest.param("20261121T233824Z-3F9A", id="upper-case"),
        pytest.param("20261121T233824Z-3f9", id="short"),
        pytest.param("20261131T233824Z-3f9a", id="no-such-day"),
        pytest.param("٢٠٢٦1121T233824Z-3f9a", id="other-digits"),
        pytest.param("20261121T233824Z-3f9a\0", id="nul"),
    ],
)
def test_what_is_not_a_run_id_is_refused(text: str) -> None:
    assert not is_run_id(text)
    with pytest.raises(UsageError, match="not a run id; one looks like"):
        check_run_id(text)
