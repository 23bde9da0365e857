"""`prefect=True` in a program that does other things: calls that overlap, its environment, logging and random numbers."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

import eval_skills as es
from eval_skills.cli.prefect_server import api_server
from eval_skills.cli.prefect_server.api_server import DRAIN_TIMEOUT_S
from eval_skills.cli.prefect_server.loss import send_what_is_queued
from eval_skills.core.models import EvalTask

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("known_server")]

TASK = {"id": "a", "input": "x", "expected": "X"}


@pytest.fixture
def known_server(prefect_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)


def upper(text: str) -> str:
    return text.upper()


def loggers() -> object:
    others = [logging.root, *map(logging.getLogger, ("uvicorn", "fastapi"))]
    return [(each.level, each.propagate, each.handlers[:]) for each in others], logging.raiseExceptions


def test_calls_that_overlap_have_their_own_results_and_change_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    together, before = threading.Barrier(4, timeout=60), (dict(os.environ), loggers())

    def meets(text: str) -> str:
        together.wait()
        return text.upper()

    def expecting(word: str) -> list[dict[str, str]]:
        return [{"id": word, "input": word, "expected": "X"}]

    async def both() -> list[es.EvaluationResult]:
        return await asyncio.gather(*(es.aevaluate(meets, expecting(word), prefect=True) for word in ("x", "y")))

    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(es.evaluate, meets, expecting(word), prefect=True) for word in ("z", "x")]
        results = [*asyncio.run(both()), *(call.result() for call in calls)]
    assert [(item.task_id, item.output, item.passed) for result in results for item in result.items] == [
        ("x", "X", True),
        ("y", "Y", False),
        ("z", "Z", False),
        ("x", "X", True),
    ]
    assert (dict(os.environ), loggers()) == before
    assert capfd.readouterr() == ("", "")


def test_nothing_of_a_call_stays_once_its_server_has_ended() -> None:
    """As after each call with a private server, which ends what sends Prefect's events to it."""
    send_what_is_queued(DRAIN_TIMEOUT_S)  # others begin in the call
    assert es.evaluate(upper, [TASK | {"id": "kept?"}], prefect=True).completion == 1
    send_what_is_queued(DRAIN_TIMEOUT_S)
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, EvalTask) and each.id == "kept?"]


def test_a_skill_may_evaluate(capfd: pytest.CaptureFixture[str]) -> None:
    def blocking(text: str) -> object:
        return es.evaluate(upper, [TASK], prefect=True).items[0].output

    async def waiting(text: str) -> object:
        return (await es.aevaluate(upper, [TASK], prefect=True)).items[0].output

    assert es.evaluate([blocking, waiting], [TASK], prefect=True).completion == 1
    assert capfd.readouterr() == ("", "")


def test_what_a_skill_does_to_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CHANGED": "1", "REMOVED": "1", "ADDED": ""}.items():
        monkeypatch.setenv(name, value)
    for name in ("ADDED", "DO_NOT_TRACK", "PREFECT_CLIENT_RETRY_EXTRA_CODES", "PREFECT_SERVER_ANALYTICS_ENABLED"):
        monkeypatch.delenv(name, raising=False)
    before = dict(os.environ)

    def skill(text: str) -> str:
        del os.environ["REMOVED"], os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"]
        os.environ.update(ADDED="2", CHANGED="2", DO_NOT_TRACK="0")
        return text.upper()

    assert es.evaluate(skill, [TASK], prefect=True).completion == 1
    del before["REMOVED"]
    assert dict(os.environ) == before | {"ADDED": "2", "CHANGED": "2", "DO_NOT_TRACK": "0"}


def test_random_numbers_are_those_of_the_program_and_its_skills() -> None:
    def drawing(text: str) -> str:
        random.random()
        return text.upper()

    random.seed(1)
    random.random()
    expected = random.getstate()
    random.seed(1)
    assert es.evaluate(drawing, [TASK], prefect=True).completion == 1
    assert random.getstate() == expected


def test_a_server_that_is_not_there_is_asked_for_by_one_call_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_server, "REFUSED_PATIENCE_S", 1.0)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    began = monotonic()
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(es.evaluate, upper, [TASK], prefect=True) for _ in range(4)]
        errors = [str(call.exception()) for call in calls]
    assert set(errors) == {
        "the Prefect API at http://127.0.0.1:9/api does not answer (connection refused); start it, or unset PREFECT_API_URL"
    }
    assert monotonic() - began < 4


@pytest.mark.slow
def test_a_later_call_is_recorded_by_the_server_that_is_named_then(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, new_database: Path
) -> None:
    es.evaluate(upper, [TASK], prefect=True)
    shutil.copy(new_database, tmp_path / "prefect.db")
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL")
    other = api_server.find_or_start()
    try:
        other.wait_until_ready()
        monkeypatch.setenv("PREFECT_API_URL", other.url)
        (item,) = es.evaluate(upper, [TASK], prefect=True).items
        began, place = monotonic(), f"{other.url}/task_runs/{item.task_run_id}"
        while not (answer := httpx.get(place, trust_env=False)).is_success and monotonic() < began + 30:
            sleep(0.1)
        assert answer.is_success, answer.text
    finally:
        other.stop()


SCRIPT = Path(__file__).with_name("prefect_script.py")


@pytest.mark.slow
def test_a_program_whose_calls_share_a_private_server(tmp_path: Path, new_database: Path) -> None:
    """One of three calls is interrupted, one is verbose, and the next server is killed; the program itself checks the rest."""
    shutil.copy(new_database, tmp_path / "prefect.db")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "DO_NOT_TRACK"))}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env=kept | {"PREFECT_HOME": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    interrupted, verbose, quiet, ended, lost = done.stdout.splitlines()
    assert interrupted == "interrupted, and the others go on"
    was_lost = "the private Prefect server was lost in the middle of the evaluation"
    assert ended == f"{was_lost} (its process has ended); evaluate again when the calls that share it are over"
    # The second is where the loss is noticed while a request waits for its next attempt.
    remark, _, run_id = lost.rpartition(" ")
    records = f"Prefect's records of run {run_id} are not complete, its results are not affected"
    assert remark in {f"{was_lost} ({why}): {records}" for why in ("connection refused", "it does not answer any more")}
    assert f"Run {verbose} on tasks" in done.stderr
    assert quiet not in done.stderr
    assert done.stderr.count("Beginning flow run") == 1
    assert (tmp_path / "app.log").read_text() == "before\nafter\n"
