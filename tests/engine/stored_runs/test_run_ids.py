"""One way to name a run: its id, the beginning of its id, or ``latest``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, new_run_id
from eval_skills.engine.stored_runs.run_ids import names_run, resolve_run_id

RUNS = (
    "20261120T090000Z-00aa",
    "20261121T100000Z-0b1c",
    "20261121T100000Z-0bcd",
    "20261121T120000Z-ffff",
    "20261121T130000Z-0001",
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that knows of these runs by their folders."""
    for run_id in RUNS:
        (tmp_path / "runs" / run_id).mkdir(parents=True)
    return Store(str(tmp_path))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        pytest.param(RUNS[1], RUNS[1], id="whole"),
        pytest.param("20261120", RUNS[0], id="day"),
        pytest.param("20261121T12", RUNS[3], id="hour"),
        pytest.param("20261121T100000Z-0bc", RUNS[2], id="random-part"),
        pytest.param("latest", RUNS[-1], id="latest"),
    ],
)
def test_the_beginning_of_an_id_that_fits_one_run_is_that_run(store: Store, given: str, meant: str) -> None:
    assert resolve_run_id(store, given, "nothing to do") == meant


def test_the_latest_run_is_not_known_once_a_clock_was_wrong(store: Store) -> None:
    soon, tomorrow = (new_run_id(datetime.now(UTC) + timedelta(seconds=ahead)) for ahead in (30, 86_400))
    store.run_folder(soon).mkdir()
    assert resolve_run_id(store, "latest", "nothing to do") == soon, "clocks of machines differ a little"
    store.run_folder(tomorrow).mkdir()
    with pytest.raises(UsageError, match=f"latest: run {tomorrow} of .* in the future, .* clock .* name it by its id"):
        resolve_run_id(store, "latest", "nothing to do")
    assert resolve_run_id(store, tomorrow, "nothing to do") == tomorrow


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param("20261121T100000Z-0b", f"fits 2 runs in the store .*: {RUNS[2]}, {RUNS[1]}; give more", id="two"),
        pytest.param("2026", f"fits 5 runs in the store .*: {RUNS[4]}, {RUNS[3]}, {RUNS[2]} and 2 more; give more", id="many"),
        pytest.param("2025", f"no run in the store .* begins with 2025; the latest there is {RUNS[4]}", id="none"),
        pytest.param("20261121T10000x", "'20261121T10000x' is not a run id", id="no-beginning"),
        pytest.param("", "'' is not a run id", id="empty"),
        pytest.param("../20261121", "is not a run id", id="path"),
        pytest.param("20250101T000000Z-0000", "no run 20250101T000000Z-0000 in", id="whole-and-unknown"),
    ],
)
def test_anything_else_is_refused_and_says_what_there_is(store: Store, given: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        resolve_run_id(store, given, "nothing to do")


def test_a_file_of_that_name_is_meant_rather_than_the_beginning_of_an_id(tmp_path: Path) -> None:
    assert names_run("2026", tmp_path)
    (tmp_path / "2026").touch()
    assert [names_run(given, tmp_path) for given in ("2026", "20261121", "latest", "main.json")] == [False, True, True, False]
