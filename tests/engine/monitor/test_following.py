"""A monitor follows a log that grows and rotates, and its memory does not grow with it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.store import Store
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.monitor.state import MonitorState, read_state, state_file, write_state
from tests.engine.monitor.monitored_log import ids, monitor, record, write


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.jsonl"


def appended(log: Path, count: int) -> subprocess.Popen[bytes]:
    """A process of its own that appends to a log, piece by piece, lines cut anywhere, and rotates it once."""
    program = f"""
import json, os, time
path = {str(log)!r}
text = "".join(json.dumps({{"id": f"i{{n}}", "output": "ok 🙂", "expected": "ok 🙂"}}) + "\\n" for n in range({count}))
data = text.encode(); half = text[: len(text) // 2].rindex("\\n") + 1; half = len(text[:half].encode())
for part in (data[:half], data[half:]):
    with open(path, "ab", buffering=0) as file:
        for start in range(0, len(part), 97):
            file.write(part[start : start + 97]); time.sleep(0.001)
    if part == data[:half]:
        os.rename(path, path + ".1")
"""
    return subprocess.Popen([sys.executable, "-c", program])


class TestFollowing:
    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["file", "folder"])
    def test_it_follows_a_process_that_appends_and_rotates(self, tmp_path: Path, store: Store, kind: str) -> None:
        folder = tmp_path / "logs"
        folder.mkdir()
        (folder / "app.jsonl").touch()
        request = MonitorRequest(
            log=str(folder if kind == "folder" else folder / "app.jsonl"),
            store=store.path,
            rate=1.0,
            follow=True,
            interval_s=0.02,
        )
        process = appended(folder / "app.jsonl", 300)
        with MonitorSession(request) as session:
            seen = 0
            for batch in session.batches():
                session.judge(batch, lambda change: None)
                seen += len(batch.interactions)
                if seen >= 300:
                    break
            summary = session.summary()
        assert process.wait(timeout=60) == 0
        assert (summary.bad, summary.window.pass_rate, summary.status) == (0, 1.0, "healthy")
        assert sorted(ids(store)) == sorted(f"i{number}" for number in range(300))

    def test_it_stops_when_nothing_comes(self, log: Path, store: Store) -> None:
        write(log, record(1))
        summary, _ = monitor(log, store, follow=True, interval_s=0.01, idle_stop_s=0.05)
        assert summary.sampled == 1

    def test_what_ends_its_wait_ends_it(self, log: Path, store: Store) -> None:
        """A run that is suspended in Prefect while nothing comes."""

        def suspended(seconds: float) -> None:
            assert seconds == 600.0
            raise KeyboardInterrupt

        write(log, record(1))
        request = MonitorRequest(log=str(log), store=store.path, rate=1.0, follow=True, interval_s=600.0)
        with MonitorSession(request) as session:
            batches = session.batches(wait=suspended)
            session.judge(next(batches), lambda change: None)
            with pytest.raises(KeyboardInterrupt):
                next(batches)
        assert ids(store) == ["i1"]

    def test_records_that_cannot_be_used_leave_the_moment_of_the_last_judgement(self, log: Path, store: Store) -> None:
        """Metrics say it; an agent that crashes before it answers must not look watched."""
        write(log, *map(record, range(3)))
        request = MonitorRequest(log=str(log), store=store.path, rate=1.0, follow=True, interval_s=0.01)
        saved: list[MonitorState] = []

        def looked(_: float) -> None:
            found = read_state(state_file(store, session.monitor_id))
            assert found is not None
            saved.append(found)
            write(log, '{"id": "broken')
            if len(saved) == 2:
                raise KeyboardInterrupt

        with MonitorSession(request) as session:
            batches = session.batches(wait=looked)
            session.judge(next(batches), lambda change: None)
            with pytest.raises(KeyboardInterrupt):
                next(batches)
        first, second = saved
        assert first.files != second.files
        assert first.judged_at is not None
        assert second.judged_at == first.judged_at

    def test_so_do_answers_that_the_scorer_cannot_judge(self, log: Path, store: Store) -> None:
        write(log, record(1, skillId="mine", expected={"patterns": ["ok"]}))
        summary, _ = monitor(log, store, skill="mine", evaluator="regex")
        file = state_file(store, summary.monitor_id)
        first = read_state(file)
        assert first is not None
        assert first.judged_at is not None
        earlier = first.judged_at - timedelta(days=1)
        write_state(file, first.model_copy(update={"judged_at": earlier}))
        write(log, record(2, skillId="mine", expected={"patterns": ["("]}), record(3, skillId="other"))
        with pytest.raises(InputError):
            monitor(log, store, skill="mine", evaluator="regex")
        second = read_state(file)
        assert second is not None
        assert second.judged_at == earlier


MEASURED = """
import json, resource, sys
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
def peak_mb(log, store):
    request = MonitorRequest(log=log, store=store, rate=0.05)
    with MonitorSession(request) as session:
        for batch in session.batches():
            session.judge(batch, lambda change: None)
        return session.summary().read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([peak_mb(log, f"{log}.store") for log in sys.argv[1:]]))
"""


@pytest.mark.slow
def test_p94_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    def log(count: int) -> str:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            file.writelines(json.dumps(record(number, more="." * 1500)) + "\n" for number in range(count))
        return str(path)

    done = subprocess.check_output([sys.executable, "-c", MEASURED, log(4_000), log(25_000)], text=True)
    (some, before), (many, after) = json.loads(done)
    assert (some, many) == (4_000, 25_000)
    assert after < before + 20  # the log is 40 MB; kept as objects it would be more
