"""Prefect's records in PostgreSQL: two runs at once in batches, and the database gone and back in the middle of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.faults.conftest import Workplace, clean_environment
from tests.end_to_end.faults.postgres import MISSING, Postgres, postgres, programs
from tests.prefect_server import LIGHT, free_port
from tests.warm_command import WarmCommand

pytestmark = [pytest.mark.slow, pytest.mark.skipif(programs() is None, reason=MISSING)]

TASKS, FREE = 1000, 200


@pytest.fixture
def database() -> Iterator[Postgres]:
    folder = programs()
    assert folder is not None
    with postgres(folder) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, warm_command: WarmCommand, database: Postgres) -> Iterator[Workplace]:
    """A workplace whose calls use a server on that database."""
    environment = clean_environment(tmp_path / "home") | LIGHT | {"PREFECT_API_DATABASE_CONNECTION_URL": database.url}
    server = (sys.executable, "-m", "eval_skills.cli", "server")
    port = str(free_port())
    subprocess.run([*server, "start", "--port", port], env=environment, cwd=tmp_path, check=True, capture_output=True)
    workplace = Workplace(tmp_path, environment, warm_command)
    workplace.use(f"http://127.0.0.1:{port}/api")
    yield workplace
    workplace.stop_everything()
    subprocess.run([*server, "stop"], env=environment, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.timeout(90, func_only=True)
def test_a_database_that_goes_and_comes_back_costs_two_runs_no_item(place: Workplace, database: Postgres) -> None:
    place.furnish(TASKS, seconds=0, free=FREE)
    both = [place.evaluate("--items-per-task", "20", "--output-dir", f"reports-{number}") for number in range(2)]

    def recorded() -> list[int]:
        return [path.read_bytes().count(b"\n") for path in (place.folder / "store").glob("runs/*/journal.jsonl")]

    assert both[0].wait_until(lambda: recorded() == [FREE, FREE]), both[0].err
    database.stop()
    place.open_the_gate()
    assert both[0].wait_until(lambda: min(recorded()) >= 2 * FREE), both[0].err
    database.start()
    assert [process.end() for process in both] == [0, 0], [process.err for process in both]
    assert "Traceback" not in both[0].err + both[1].err
    assert place.landed() == place.calls() == Counter({f"t{n:03d}": 2 for n in range(TASKS)})
    assert database.ask("SELECT state_type, count(*) FROM flow_run GROUP BY 1") == "COMPLETED|2"
