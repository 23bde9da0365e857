"""Which interactions are the same: those with the same id and the same content; without an id, the same place and content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.store import Store
from eval_skills.engine.monitor.summary import MonitorSummary
from tests.engine.monitor.monitored_log import ids, monitor, record, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def state_of(store: Store, summary: MonitorSummary) -> Path:
    return store.layout.root / "monitors" / summary.monitor_id / "position.json"


def changed_state(store: Store, summary: MonitorSummary, **parts: Any) -> None:
    file = state_of(store, summary)
    file.write_text(json.dumps(json.loads(file.read_text()) | parts))


class TestIdsThatNameSeveral:
    def test_two_agents_that_count_from_1_hide_nothing_of_each_other(self, folder: Path, store: Store) -> None:
        write(folder / "a.jsonl", *(record(number, agentId="a") for number in range(1, 151)))
        write(folder / "b.jsonl", *(record(number, "wrong", agentId="b") for number in range(1, 151)))
        summary, changes = monitor(folder, store, window=300)
        assert (summary.sampled, summary.repeated, summary.shared_ids, summary.status) == (300, 0, 150, "critical")
        assert [change.after for change in changes] == ["healthy", "warning", "critical"]
        assert [remark for remark in summary.remarks if "id of another" in remark] == [
            f"150 samples have the id of another interaction, with other content, the first at {folder}/b.jsonl:1: each counts; "
            "if another key of the log is unique, name it: --field id=KEY"
        ]

    def test_two_writers_of_one_file(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *(record(n, out, host=out) for n in range(40) for out in ("ok", "no")))
        assert monitor(log, store)[0].window.pass_rate == 0.5

    def test_an_id_that_is_the_same_everywhere(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *({"id": "n/a", "output": f"answer {n}", "expected": "ok"} for n in range(50)))
        summary, _ = monitor(log, store)
        assert (summary.sampled, summary.shared_ids, summary.status) == (50, 49, "critical")

    @pytest.mark.parametrize(
        "more",
        [
            pytest.param({"output": "no"}, id="output"),
            pytest.param({"input": "another question"}, id="input"),
            pytest.param({"expected": "another"}, id="expected"),
            pytest.param({"error": "broke"}, id="error"),
            pytest.param({"messages": [{"role": "assistant", "content": "ok"}]}, id="messages"),
            pytest.param({"toolCalls": [{"name": "search"}]}, id="tool-calls"),
            pytest.param({"toolCalls": [{"name": "search", "arguments": {"q": 1}}]}, id="arguments"),
            pytest.param({"latencyMs": 5000}, id="latency"),
            pytest.param({"costUsd": 1}, id="cost"),
            pytest.param({"skillId": "b"}, id="skill"),
            pytest.param({"timestamp": "2026-11-27T10:00:00Z"}, id="time"),
        ],
    )
    def test_it_is_another_one_where_anything_that_is_read_of_it_differs(
        self, folder: Path, store: Store, more: dict[str, Any]
    ) -> None:
        log = write(folder / "app.jsonl", record(1), record(1) | more)
        summary, _ = monitor(log, store)
        assert (summary.sampled, summary.shared_ids, summary.repeated) == (2, 1, 0)

    def test_the_next_call_knows_what_this_one_has_seen(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", record(1))
        monitor(log, store)
        write(log, record(1), record(1, "no"), record(2))
        summary, _ = monitor(log, store)
        assert (summary.sampled, summary.repeated, summary.shared_ids, ids(store)) == (2, 1, 1, ["i1", "i1", "i2"])
        assert summary.remarks == [
            f"1 sample has the id of another interaction, with other content, the first at {log}:3: each counts; if another key "
            "of the log is unique, name it: --field id=KEY"
        ]

    def test_a_secret_in_the_name_of_the_log_is_not_said(
        self, folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("API_KEY", "s3cr3t-0123456789")
        log = write(folder / "s3cr3t-0123456789.jsonl", record(1), record(1, "no"))
        [remark] = monitor(log, store, secrets=["API_KEY"])[0].remarks
        assert "s3cr3t" not in remark


class TestTheSameOneAgain:
    def test_logged_by_two_files_it_counts_once(self, folder: Path, store: Store) -> None:
        """Whatever the order of its keys, what else stands beside them, and the format."""
        records = [record(number, timestamp=1_700_000_000 + number) for number in range(3)]
        write(folder / "a.jsonl", *records)
        write(folder / "b.jsonl", *(dict(reversed(each.items())) | {"host": "b"} for each in records))
        pq.write_table(pa.Table.from_pylist(records), folder / "c.parquet")
        summary, _ = monitor(folder, store)
        assert (summary.sampled, summary.repeated, summary.shared_ids, summary.remarks) == (3, 6, 0, [])

    def test_beyond_the_window_it_counts_again(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *(record(number) for number in (1, 2, 1, 3, 4, 1)))
        summary, _ = monitor(log, store, window=2, min_sample=1)
        assert (ids(store), summary.repeated, summary.shared_ids) == (["i1", "i2", "i3", "i4", "i1"], 1, 0)


class TestWithoutAnId:
    @pytest.mark.parametrize("nothing", ["", "  ", None, [], {}])
    def test_each_counts_though_they_say_the_same(self, folder: Path, store: Store, nothing: Any) -> None:
        log = write(folder / "app.jsonl", record(1), *({**record(2, "no"), "id": nothing} for _ in range(39)))
        summary, _ = monitor(log, store)
        assert (summary.sampled, summary.repeated, summary.shared_ids, summary.status) == (40, 0, 0, "critical")

    def test_what_is_read_again_does_not(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *({**record(1), "id": ""} for _ in range(40)))
        first, _ = monitor(log, store)
        changed_state(store, first, files=[])
        summary, _ = monitor(log, store)
        assert (summary.sampled, summary.repeated, len(ids(store))) == (0, 40, 40)


class TestTheStateOfAnEarlierVersion:
    """It kept the ids of its window and nothing about contents."""

    def earlier(self, log: Path, store: Store) -> None:
        first, _ = monitor(log, store)
        window = json.loads(state_of(store, first).read_text())["window"]
        changed_state(store, first, window=[{name: part for name, part in each.items() if name != "content"} for each in window])

    def test_its_window_goes_on_and_hides_nothing(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *map(record, range(40)))
        self.earlier(log, store)
        write(log, *(record(number, "no") for number in range(40)))
        summary, _ = monitor(log, store)
        assert (summary.window.size, summary.window.pass_rate, summary.shared_ids) == (80, 0.5, 0)

    def test_records_without_an_id_are_known(self, folder: Path, store: Store) -> None:
        log = write(folder / "app.jsonl", *({"output": "ok", "expected": "ok"} for _ in range(40)))
        self.earlier(log, store)
        file = state_of(store, monitor(log, store)[0])
        file.write_text(json.dumps(json.loads(file.read_text()) | {"files": []}))
        assert monitor(log, store)[0].repeated == 40
