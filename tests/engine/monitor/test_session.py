"""A monitor without Prefect: what it samples, keeps, announces, and survives."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.output.monitor import MonitorGate
from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.monitoring import StatusChange, is_sampled
from eval_skills.core.store import Store
from eval_skills.engine.monitor import batches as monitor_batch
from eval_skills.engine.monitor.log.records import LogFields
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from tests.engine.monitor.monitored_log import ids, monitor, record, write
from tests.object_storage import ObjectStorage
from tests.tables import each_row


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.jsonl"


class TestSampling:
    @pytest.mark.slow
    def test_p94_the_same_seed_samples_the_same_ones_whatever_the_chunks_and_restarts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        records = [record(number, "ok" if number % 9 else "no") for number in range(900)]
        whole = write(tmp_path / "whole.jsonl", *records)
        once = Store(tmp_path / "once")
        expected, _ = monitor(whole, once, rate=0.3, seed=5)
        monkeypatch.setattr(monitor_batch, "BATCH_SAMPLES", 7)
        parts, piecewise = tmp_path / "parts.jsonl", Store(tmp_path / "piecewise")
        for start in range(0, 900, 130):
            write(parts, *records[start : start + 130])
            found, _ = monitor(parts, piecewise, rate=0.3, seed=5)
        assert sorted(ids(piecewise)) == sorted(ids(once))
        assert (found.window, found.status, found.announced) == (expected.window, expected.status, expected.announced)
        assert 0.2 < len(ids(once)) / 900 < 0.4

    def test_another_seed_samples_others_and_starts_at_the_beginning(self, log: Path, store: Store) -> None:
        write(log, *map(record, range(300)))
        one, other = monitor(log, store, rate=0.3, seed=1)[0], monitor(log, store, rate=0.3, seed=2)[0]
        drawn = store.samples().groupby("monitor_id")["interaction_id"].agg(set)
        assert drawn[one.monitor_id] != drawn[other.monitor_id]

    @each_row("rate", [0.0, -0.1, 1.1, float("nan")])
    def test_p94_a_rate_that_samples_nobody_or_too_many_is_refused(self, rate: float) -> None:
        with pytest.raises(ValueError, match="rate"):
            MonitorRequest(log="x", rate=rate)

    def test_an_answer_that_was_cut_is_judged_as_it_is_and_the_sample_and_the_call_say_so(self, log: Path, store: Store) -> None:
        messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "ok", "finish_reason": "length"}]
        cut = [record(0, finishReason="length"), record(1, "o", stop_reason="max_tokens"), record(2, messages=messages)]
        write(log, *cut, *cut, record(3, finish_reason="stop"), record(4, finish_reason=7), record(5, finishReason=None))
        found, _ = monitor(log, store)
        assert found.remarks == [
            "the answer was cut in 3 of 6 samples, and judged as it is: see the reason ANSWER_CUT of each in the view samples"
        ]
        rows = store.samples().set_index("interaction_id")
        said = {
            name: [reason["code"] for reason in row["reasons"] if reason["code"] == "ANSWER_CUT"] for name, row in rows.iterrows()
        }
        assert said == {"i0": ["ANSWER_CUT"], "i1": ["ANSWER_CUT"], "i2": ["ANSWER_CUT"], "i3": [], "i4": [], "i5": []}
        assert rows["passed"].to_dict() == {name: name != "i1" for name in rows.index}
        named, _ = monitor(
            write(log.with_name("named.jsonl"), record(9, why="length")), store, fields=LogFields(finish_reason="why")
        )
        assert "the answer was cut in 1 of 1 sample" in named.remarks[0]

    def test_only_the_interactions_of_a_skill(self, log: Path, store: Store) -> None:
        write(log, record(1, skillId="a"), record(2, skillId="b"), record(3))
        summary, _ = monitor(log, store, skill="a")
        assert (ids(store), summary.other, summary.read) == (["i1"], 2, 3)
        assert summary.remarks == []

    def test_a_log_that_does_not_say_whose_its_interactions_are_has_none_of_a_skill_and_it_is_said_why(
        self, log: Path, store: Store
    ) -> None:
        write(log, record(1, skill="a"), record(2, skill="b"))
        summary, _ = monitor(log, store, skill="a")
        assert (summary.sampled, summary.other) == (0, 2)
        assert summary.remarks == [
            "no record says which skill or agent answered (skillId, skill_id, agentId, agent_id), so none counts for --skill; if "
            "another key of the log does, name it: --field skill=KEY"
        ]
        named, _ = monitor(log, store, skill="a", fields=LogFields(skill="skill"))
        assert (named.sampled, named.other, named.remarks) == (1, 1, [])
        misnamed, _ = monitor(log, store, skill="a", fields=LogFields(skill="who"))
        assert misnamed.remarks == ["--field skill=who: no record has this key"]

    def test_an_id_that_the_window_holds_counts_once(self, log: Path, store: Store) -> None:
        write(log, record(1), record(1), record(2))
        summary, _ = monitor(log, store)
        write(log, record(2))
        again, _ = monitor(log, store)
        assert (summary.sampled, summary.repeated, again.sampled, again.repeated) == (2, 1, 0, 1)
        assert ids(store) == ["i1", "i2"]


class TestLanding:
    def test_a_sample_says_everything_about_itself(self, log: Path, store: Store) -> None:
        more = {"skillId": "s", "latencyMs": 12.5, "costUsd": 0.25, "timestamp": "2026-01-31T10:00:00Z"}
        write(log, record(1, "no", **more))
        summary, _ = monitor(log, store, seed=3)
        [row] = store.samples().to_dict("records")
        assert row["reasons"][0]["code"]
        for name in ("sampled_at", "reasons", "dimensions"):
            row.pop(name)
        assert str(row.pop("timestamp")) == "2026-01-31 10:00:00+00:00"
        assert row == {
            "monitor_id": summary.monitor_id, "monitor_run_id": summary.run_id, "interaction_id": "i1", "skill_id": "s",
            "query_preview": "question 1", "output_preview": "no", "status": "fail", "score": 0.0, "passed": False,
            "scorer": "exact_match", "latency_ms": 12.5, "cost_usd": 0.25, "source": f"{log}:1", "rate": 1.0, "seed": 3,
            "origin": "monitor",
        }  # fmt: skip

    @pytest.mark.slow
    def test_the_view_samples_can_be_asked(self, log: Path, store: Store) -> None:
        write(log, *(record(number, "ok" if number else "no") for number in range(4)))
        monitor(log, store)
        assert store.query("SELECT status, count(*) AS n FROM samples GROUP BY 1 ORDER BY 1").to_dict("list") == {
            "status": ["fail", "pass"], "n": [1, 3],
        }  # fmt: skip

    @pytest.mark.parametrize(
        "text",
        [pytest.param("x" * 500, id="ascii"), pytest.param("ü" * 500, id="two-bytes"), pytest.param("🙂" * 500, id="emoji")],
    )
    def test_a_preview_is_200_characters_exactly(self, log: Path, store: Store, text: str) -> None:
        write(log, record(1, text, input=text))
        monitor(log, store)
        [row] = store.samples().to_dict("records")
        assert row["query_preview"] == row["output_preview"] == text[:200]

    def test_no_part_of_a_secret_is_kept_wherever_the_preview_ends(
        self, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("API_KEY", "s3cr3t-0123456789")
        log, places = tmp_path / "app.jsonl", range(0, 220, 3)
        for before in places:
            text = "." * before + "s3cr3t-0123456789"
            answered = record(2 * before, {"text": text}, input=text, skillId=text)
            write(log, answered, record(2 * before + 1, None, error=text), '{"s3cr3t-0123456789')
        summary, _ = monitor(log, store, secrets=["API_KEY"])
        samples = store.samples()
        everything = json.dumps(samples.drop(columns="reasons").to_dict("records"), default=str) + repr(summary)
        errors = [reason["message"] for reasons in samples["reasons"] for reason in reasons]
        assert (len(samples), len(errors) >= len(places)) == (2 * len(places), True)
        assert "s3c" not in everything + repr(errors)

    def test_killed_before_the_position_moved_a_batch_lands_once(self, log: Path, store: Store) -> None:
        write(log, *map(record, range(40)))
        request = MonitorRequest(log=str(log), store=store.path, rate=1.0)

        def die(change: StatusChange) -> None:
            raise KeyboardInterrupt  # landed and announced, and the position not yet written

        with MonitorSession(request) as session:
            [batch] = session.batches()
            with pytest.raises(KeyboardInterrupt):
                session.judge(batch, die)
        assert len(ids(store)) == 40
        write(log, *map(record, range(40, 45)))
        summary, changes = monitor(log, store)
        assert sorted(ids(store)) == sorted(f"i{number}" for number in range(45))
        assert [change.after for change in changes] == ["healthy"]
        assert summary.sampled == 45

    @pytest.mark.slow
    def test_of_two_machines_that_read_a_log_at_once_one_is_refused_before_its_samples_land(
        self, log: Path, url: str, on_machine: Callable[[str], None]
    ) -> None:
        write(log, *map(record, range(40)))
        request = MonitorRequest(log=str(log), store=url, rate=1.0)
        changes: list[StatusChange] = []
        with MonitorSession(request) as first:
            on_machine("other")
            with MonitorSession(request) as second:
                [batch], [theirs] = first.batches(), second.batches()
                first.judge(batch, changes.append)
                with pytest.raises(RunError, match="another machine wrote monitors/"):
                    second.judge(theirs, changes.append)
        assert (len(changes), len(ids(Store(url)))) == (1, 40)
        assert monitor(log, Store(url))[0].read == 0

    @pytest.mark.slow
    def test_where_it_cannot_be_published_how_far_it_has_read_another_machine_reads_it_once(
        self, log: Path, url: str, on_machine: Callable[[str], None], object_storage: ObjectStorage
    ) -> None:
        write(log, *map(record, range(40)))
        object_storage.before = lambda method, path: "403 Forbidden" if method == "PUT" and "position" in path else None
        with pytest.raises(UsageError, match="cannot be written to with these credentials"):
            monitor(log, Store(url))
        object_storage.forget()
        on_machine("other")
        assert monitor(log, Store(url))[0].sampled == len(ids(Store(url))) == 40

    def test_one_call_at_a_time(self, log: Path, store: Store) -> None:
        write(log, record(1))
        with (
            MonitorSession(MonitorRequest(log=str(log), store=store.path)),
            pytest.raises(UsageError, match=f"being written by process {os.getpid()}"),
            MonitorSession(MonitorRequest(log=str(log), store=store.path)),
        ):
            pytest.fail("two at a time")


class TestGoingOn:
    def test_the_next_call_goes_on_with_the_window_and_what_was_announced(self, log: Path, store: Store) -> None:
        write(log, *map(record, range(50)))
        first, changes = monitor(log, store)
        second, none = monitor(log, store)
        assert ([each.after for each in changes], none) == (["healthy"], [])
        assert (second.read, second.sampled, second.window, second.status) == (0, 0, first.window, "healthy")
        write(log, *(record(number, "no") for number in range(50, 100)))
        third, changes = monitor(log, store)
        assert [each.after for each in changes] == ["warning", "critical"]
        assert (third.read, third.window.size, third.status) == (50, 100, "critical")

    def test_other_thresholds_go_on_and_restart_begins_anew(self, log: Path, store: Store) -> None:
        write(log, *(record(number, "ok" if number % 10 else "no") for number in range(100)))
        assert monitor(log, store)[0].status == "healthy"
        again, _ = monitor(log, store, warning=0.95)
        assert (again.read, again.status) == (0, "warning")
        anew, _ = monitor(log, store, restart=True)
        assert (anew.read, anew.sampled, anew.window.size) == (100, 100, 100)

    def test_a_damaged_position_says_how_to_go_on(self, log: Path, store: Store) -> None:
        write(log, record(1))
        summary, _ = monitor(log, store)
        (store.layout.root / "monitors" / summary.monitor_id / "position.json").write_text("{")
        with pytest.raises(InputError, match="--restart"):
            monitor(log, store)
        assert monitor(log, store, restart=True)[0].read == 1

    def test_a_log_that_is_empty_at_every_call_is_read_where_it_was_copied_to(self, log: Path, store: Store) -> None:
        log.touch()
        monitor(log, store)
        write(log, record(1))
        shutil.copy(log, f"{log}.1")
        os.truncate(log, 0)
        assert monitor(log, store)[0].sampled == 1

    @pytest.mark.parametrize("damaged", [False, True])
    def test_a_restart_says_how_samples_that_are_drawn_again_count_once(self, log: Path, store: Store, damaged: bool) -> None:
        write(log, *map(record, range(40)))
        first, _ = monitor(log, store, restart=True)
        assert not any("--restart" in remark for remark in first.remarks)
        if damaged:
            (store.layout.root / "monitors" / first.monitor_id / "position.json").write_text("{", encoding="utf-8")
        again, _ = monitor(log, store, restart=True)
        write(log, record(40))
        assert monitor(log, store)[0].remarks == []
        (said,) = [remark for remark in again.remarks if "--restart" in remark]
        condition = said.partition(" count ")[2]
        counted = store.query(f"SELECT count(*), count(DISTINCT interaction_id) FROM samples {condition}").iloc[0].tolist()
        assert (len(ids(store)), counted) == (81, [41, 41])


class TestBadRecords:
    def test_they_are_counted_and_named_and_hide_nobody(self, log: Path, store: Store) -> None:
        write(log, record(1), "{broken", {"id": "x"}, record(2))
        summary, _ = monitor(log, store)
        assert (summary.read, summary.bad, summary.sampled) == (4, 2, 2)
        assert [remark.partition(": ")[0] for remark in summary.remarks] == [f"{log}:2", f"{log}:3"]

    @pytest.mark.parametrize(
        ("records", "says"),
        [
            pytest.param(
                ["{broken", "[]"], "none of 2 records can be used; the first: .*app.jsonl:1: not valid JSON", id="lines"
            ),
            pytest.param([{"id": "a", "output": 1}], "nothing is expected .*no key 'expected'", id="nothing-expected"),
            pytest.param([record(1, expected={"keywords": ["a"]})], "needs this value", id="other-expectation"),
        ],
    )
    def test_p40_nothing_usable_is_refused_and_the_next_call_reads_it_again(
        self, log: Path, store: Store, records: list[Any], says: str
    ) -> None:
        write(log, *records)
        for _ in range(2):
            with pytest.raises(InputError, match=says):
                monitor(log, store)
        assert not list(Path(store.path).rglob("*.parquet"))

    def test_an_empty_log_is_no_mistake(self, log: Path, store: Store) -> None:
        log.touch()
        summary, _ = monitor(log, store)
        assert (summary.status, summary.read, summary.window.pass_rate) == ("insufficient_data", 0, None)

    def test_a_key_that_no_record_has_is_told(self, log: Path, store: Store) -> None:
        write(log, record(1))
        summary, _ = monitor(log, store, fields=LogFields(latency_ms="took"))
        assert summary.remarks == ["--field latencyMs=took: no record has this key"]

    def test_timestamps_that_cannot_be_read_are_told(self, log: Path, store: Store) -> None:
        write(log, record(1, timestamp="2026/01/31 10:00"), record(2, timestamp=""), record(3, timestamp="yesterday"))
        summary, _ = monitor(log, store)
        assert summary.sampled == 3
        assert [remark.partition(": ")[0] for remark in summary.remarks] == [
            f'the timestamp of 2 records cannot be read, the first at {log}:1 ("2026/01/31 10:00")'
        ]

    def test_p14_errors_of_the_skill_are_samples_that_did_not_pass(self, log: Path, store: Store) -> None:
        write(log, record(1), {"id": "i2", "error": "out of memory"})
        summary, _ = monitor(log, store, min_sample=2)
        assert (summary.window.pass_rate, summary.window.errors, summary.status) == (0.5, 1, "critical")
        assert list(store.samples()["status"]) == ["pass", "error"]
        assert "1 of 2 samples in the window are errors; they count as not passed" in summary.remarks


@pytest.mark.parametrize("unit", [pytest.param(1, id="seconds"), pytest.param(10**9, id="nanoseconds")])
def test_an_agent_that_fails_shows_beside_one_that_does_not_whatever_their_files_are_called(
    tmp_path: Path, store: Store, unit: int
) -> None:
    (folder := tmp_path / "logs").mkdir()
    for name, output in {"a": "no", "b": "ok"}.items():
        rows = (record(number, output, skillId=name, timestamp=(1_800_000_000 + number) * unit) for number in range(300))
        write(folder / f"{name}.jsonl", *rows)
    summary, _ = monitor(folder, store)
    assert (summary.status, summary.window.passed) == ("critical", 100)


class TestTooLittle:
    """A gate that did not pass, since too little could be judged, does not pass until there is more to judge."""

    def test_the_same_call_again_does_not_pass(self, log: Path, store: Store) -> None:
        gate, now = MonitorGate("critical", None), datetime.now(UTC)
        write(log, *map(record, range(40)))
        healthy, _ = monitor(log, store)
        assert gate.why_not(healthy, now) is None
        write(log, *({"id": number} for number in range(3)), record(41))
        crashed, _ = monitor(log, store)
        assert (crashed.status, gate.why_not(crashed, now)) == ("healthy", "too little could be judged")
        for _ in range(2):
            again, _ = monitor(log, store)
            assert (again.status, again.read) == ("healthy", 0)
            assert gate.why_not(again, now) == "too little could be judged when the log last had new records"
        write(log, record(42))
        recovered, _ = monitor(log, store)
        assert gate.why_not(recovered, now) is None

    @pytest.mark.parametrize("settings", [{}, {"follow": True, "interval_s": 0.01, "idle_stop_s": 0.01}], ids=["once", "follow"])
    def test_an_agent_that_breaks_after_much_that_was_good_is_noticed(
        self, log: Path, store: Store, settings: dict[str, Any]
    ) -> None:
        write(log, *map(record, range(200)), *({"id": number} for number in range(26)))
        broken, _ = monitor(log, store, **settings)
        assert (broken.status, broken.read, broken.bad) == ("healthy", 226, 26)
        assert MonitorGate("critical", None).why_not(broken, datetime.now(UTC)) == "too little could be judged"
        write(log, *map(record, range(200, 225)), *({"id": number} for number in range(25)))
        half, _ = monitor(log, store, **settings)
        assert MonitorGate("critical", None).why_not(half, datetime.now(UTC)) is None

    def test_so_is_one_whose_last_answers_cannot_be_judged(self, log: Path, store: Store) -> None:
        broken = {"expected": {"patterns": ["("]}}
        write(log, *map(record, range(200)), *(record(number, **broken) for number in range(200, 226)))
        summary, _ = monitor(log, store, evaluator="regex")
        assert (summary.status, summary.bad) == ("healthy", 26)
        assert MonitorGate("critical", None).why_not(summary, datetime.now(UTC)) == "too little could be judged"

    def test_more_than_half_of_the_sample_is_enough(self, log: Path, store: Store) -> None:
        write(log, *map(record, range(40)))
        assert monitor(log, store, evaluator="regex")[0].status == "healthy"
        drawn = [number for number in range(40, 4000) if is_sampled(f"i{number}", rate=0.01, seed=0)]
        broken = {number: {"expected": {"patterns": ["("]}} for number in drawn[: len(drawn) // 2 + 1]}
        write(log, *(record(number, **broken.get(number, {})) for number in range(40, 4000)))
        summary, _ = monitor(log, store, evaluator="regex", rate=0.01, min_sample=5)
        assert (summary.status, summary.bad) == ("healthy", len(broken))
        assert MonitorGate("critical", None).why_not(summary, datetime.now(UTC)) == "too little could be judged"


class TestSilence:
    """Since when the log has had no new record, over all calls."""

    def test_it_lasts_until_there_is_a_new_record(self, log: Path, store: Store) -> None:
        write(log, record(1), record(2))
        first, _ = monitor(log, store, rate=1e-9)
        assert first.last_record is not None
        assert (first.is_silent, first.silence_s(first.last_record + timedelta(seconds=90))) == (False, 90)
        second, _ = monitor(log, store, rate=1e-9)
        assert (second.is_silent, second.last_record) == (True, first.last_record)
        write(log, record(3))
        third, _ = monitor(log, store, rate=1e-9)
        assert third.last_record is not None
        assert (third.is_silent, third.last_record > first.last_record) == (False, True)

    def test_it_is_that_of_the_skill_in_question(self, log: Path, store: Store) -> None:
        write(log, record(1, skillId="a"))
        first, _ = monitor(log, store, skill="a")
        write(log, record(2, skillId="b"))
        second, _ = monitor(log, store, skill="a")
        assert (second.read, second.is_silent, second.last_record) == (1, True, first.last_record)
        nothing, _ = monitor(log, store, skill="c")
        assert (nothing.is_silent, nothing.last_record, nothing.silence_s(datetime.now(UTC))) == (True, None, None)

    @pytest.mark.parametrize("line", ['{"id": "i2", "input": "", "output": "ok", "expected": "ok"}', "{"], ids=["usable", "bad"])
    def test_a_record_is_as_old_as_the_last_change_of_its_file(self, log: Path, store: Store, line: str) -> None:
        hours_ago = datetime.now(UTC) - timedelta(hours=3)
        for number, hours in enumerate((3, 2), start=1):
            write(log, record(number))
            with log.open("a") as file:
                file.write(f"{line}\n")
            os.utime(log, (0, (moment := hours_ago + timedelta(hours=3 - hours)).timestamp()))
            summary, _ = monitor(log, store)
            assert (summary.read, summary.last_record) == (2, moment)

    def test_a_record_of_another_skill_in_another_file_is_no_sign_of_life(self, tmp_path: Path, store: Store) -> None:
        (folder := tmp_path / "logs").mkdir()
        write(folder / "a.jsonl", record(1, skillId="a"))
        os.utime(folder / "a.jsonl", (0, 86_400))
        write(folder / "b.jsonl", record(1, skillId="b"))
        summary, _ = monitor(folder, store, skill="a")
        assert summary.last_record == datetime(1970, 1, 2, tzinfo=UTC)

    def test_a_clock_that_was_ahead_is_believed_until_the_next_record(self, log: Path, store: Store) -> None:
        write(log, record(1))
        os.utime(log, (0, (datetime.now(UTC) + timedelta(days=365)).timestamp()))
        first, _ = monitor(log, store)
        assert first.last_record is not None
        assert first.last_record <= datetime.now(UTC)
        [state] = Path(store.path).rglob("position.json")
        said = json.loads(state.read_text())
        state.write_text(json.dumps(said | {"lastRecord": "2199-01-01T00:00:00Z"}))
        silent, _ = monitor(log, store)
        assert silent.last_record == datetime(2199, 1, 1, tzinfo=UTC)
        assert MonitorGate(None, 3600).why_not(silent, datetime.now(UTC)) == (
            "since when the log has had no new record is not known: the last was noted for 2199-01-01 00:00 UTC, which is "
            "to come (a clock was ahead)"
        )
        write(log, record(2))
        after, _ = monitor(log, store)
        assert after.last_record is not None
        assert after.last_record <= datetime.now(UTC)
        assert MonitorGate(None, 3600).why_not(after, datetime.now(UTC)) is None

    def test_an_agent_that_writes_what_cannot_be_used_is_not_silent(self, log: Path, store: Store) -> None:
        write(log, record(1))
        first, _ = monitor(log, store)
        with log.open("a") as file:
            file.write("{\n")
        write(log, record(2))
        second, _ = monitor(log, store)
        assert second.bad == 1
        assert second.last_record is not None
        assert first.last_record is not None
        assert second.last_record > first.last_record
