"""The private Prefect server killed or stopped in the middle of what a flow does: it goes on, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.store import Store
from tests.cli.commands.test_compare_answers import FIRST, SECOND, SUMS, leave, longer
from tests.end_to_end.faults.test_backfill_kill import DAYS, TASKS, commit_days
from tests.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Workplace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
NOISE = ("Traceback", "EventsWorker", "ERROR", "logging to API")


def test_a_replay_goes_on(private_place: Workplace, server_url: str) -> None:
    private_place.furnish(TASKS, free=TASKS - 1)
    commit_days(private_place)
    call = ("backfill", "--mode", "replay", "--skills-repo", "skills", "--tasks", "tasks.json", "--store", "store", "--json")
    process = private_place.call(*call, "--concurrency", "1")
    assert process.wait_until(lambda: len(private_place.journal()) == TASKS - 1), process.err
    [server] = private_place.servers()
    os.kill(server, signal.SIGKILL)
    private_place.open_the_gate()
    assert process.end(within_s=240) == 3, process.err
    assert not [noise for noise in NOISE if noise in process.err], process.err
    found = json.loads(process.out)
    assert (len(found["done"]), found["upToDate"]) == (DAYS, [])
    assert process.last_word.startswith("the backfill is complete; Prefect's records of it are not (")
    assert len(private_place.store.run_ids()) == DAYS
    every = {f"t{n:03d}": DAYS for n in range(TASKS)}
    assert private_place.landed() == private_place.calls() == every
    private_place.use(server_url)
    again = private_place.call(*call)
    assert again.end() == 0, again.err
    assert json.loads(again.out)["summary"].startswith("nothing to do")


def test_a_monitor_goes_on(private_place: Workplace, server_url: str) -> None:
    log = private_place.folder / "log.jsonl"

    def write(first: int, count: int, output: str) -> None:
        with log.open("a") as file:
            for number in range(first, first + count):
                file.write(json.dumps({"id": f"i{number}", "input": {"q": "?"}, "output": output}) + "\n")

    write(0, 40, "right")
    call = ("monitor", str(log), "--rate", "1", "--evaluator", "exact", "--expect", '{"value": "right"}', "--store", "store")
    process = private_place.call(*call, "--follow", "--interval", "0.2", "--idle-stop", "12", "--fail-on", "critical")
    samples = private_place.folder / "store" / "samples"
    assert process.wait_until(lambda: any(path.suffix == ".parquet" for path in samples.rglob("*"))), process.err
    [server] = private_place.servers()
    os.kill(server, signal.SIGKILL)
    write(40, 60, "wrong")
    assert process.end(within_s=240) == 3, process.err
    assert not [noise for noise in NOISE if noise in process.err], process.err
    assert "changes of the status since then raised no event" in process.last_word
    assert "records 100  sampled 100" in process.out, "records before and after the loss, once each"
    table = private_place.store.samples()
    assert Counter(table["interaction_id"]) == {f"i{number}": 1 for number in range(100)}
    assert sorted(set(table["passed"])) == [False, True]
    private_place.use(server_url)
    again = private_place.call(*call, "--fail-on", "critical")
    assert again.end() == 1, "the status is still known"


def test_a_run_whose_server_stands_still_for_a_while_is_recorded_by_it(private_place: Workplace) -> None:
    private_place.furnish(16, free=8)
    process = private_place.evaluate()
    assert process.wait_until(lambda: len(private_place.journal()) >= 4), process.err
    [server] = private_place.servers()
    os.kill(server, signal.SIGSTOP)
    private_place.open_the_gate()
    assert process.wait_until(lambda: "is silent" in process.err), process.err
    time.sleep(2)
    os.kill(server, signal.SIGCONT)
    assert process.end(within_s=180) == 0, process.err
    assert not [noise for noise in NOISE if noise in process.err], process.err
    assert private_place.landed() == private_place.calls() == Counter(f"t{n:03d}" for n in range(16))


def test_a_comparison_of_answers_shows_what_it_paid_for(private_place: Workplace) -> None:
    leave(private_place.folder, FIRST, "a long and thorough answer")
    leave(private_place.folder, SECOND, "short")
    tasks = private_place.folder / "sums.json"
    tasks.write_text(json.dumps(SUMS))
    with ScriptedModel() as model:
        held = threading.Event()
        model.otherwise = lambda asked: longer(asked) if len(model.asked) <= 4 else replace(longer(asked), hold=held)
        private_place.environment |= {"EVAL_SKILLS_LLM__MODEL": "openai/scripted", "EVAL_SKILLS_LLM__API_BASE": model.url}
        process = private_place.call("compare-answers", FIRST, SECOND, "--benchmark", str(tasks), "--no-judge-check")
        model.wait_for_asked(5)
        [server] = private_place.servers()
        os.kill(server, signal.SIGKILL)
        assert process.wait_until(lambda: "is silent" in process.err), process.err
        held.set()
        assert process.end(within_s=240) == 3, process.err
    assert not [noise for noise in NOISE if noise in process.err], process.err
    assert "A is better      6  100.0 %" in process.out, process.err
    assert process.last_word.startswith("the comparison is kept; Prefect's records of it are not complete (")
    assert len(Store(private_place.folder / "eval-store").preferences()) == 6
