"""Prefect servers that are dead, private, shared or killed, and skills whose own server is down."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Workplace

pytestmark = pytest.mark.timeout(900)

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": "ok"}), flush=True)
"""


class TestDeadServer:
    def test_a_dead_address_is_asked_again_for_a_while_and_then_one_line_and_exit_3(self, private_place: Workplace) -> None:
        private_place.furnish(1)
        private_place.environment = private_place.environment | {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
        process = private_place.evaluate()
        assert process.end(within_s=60) == 3  # Prefect's own client would try for minutes
        assert process.err.splitlines()[0] == (
            "the Prefect server at http://127.0.0.1:9 does not answer (connection refused); asking again for 15 s"
        )
        assert process.err.count("\n") == 2
        assert process.last_word == (
            "eval-skills: the Prefect API at http://127.0.0.1:9/api does not answer (connection refused); "
            "start it, or unset PREFECT_API_URL"
        )
        assert process.out == ""
        assert not private_place.has_begun()


class TestPrivateServer:
    @pytest.mark.slow
    def test_two_calls_at_once_share_a_brand_new_home_and_leave_no_process_and_no_log(self, private_place: Workplace) -> None:
        private_place.furnish(3, free=0)
        (private_place.prefect_home / "prefect.db").unlink()
        both = [private_place.evaluate("--output-dir", "reports") for _ in range(2)]
        assert both[0].wait_until(lambda: len(private_place.servers()) == 2), both[0].err
        private_place.open_the_gate()
        assert [process.end() for process in both] == [0, 0], [process.err for process in both]
        assert set(private_place.landed().values()) == {2}
        assert private_place.servers() == []
        assert list(private_place.prefect_home.glob("*.log")) == []

    @pytest.mark.slow
    def test_it_leaves_when_its_client_is_killed(self, private_place: Workplace) -> None:
        private_place.furnish(20, free=4)
        process = private_place.evaluate()
        assert process.wait_until(lambda: len(private_place.journal()) >= 1), process.err
        process.kill()
        assert private_place.is_deserted()

    @pytest.mark.slow
    def test_it_leaves_when_its_client_is_killed_before_it_serves(self, private_place: Workplace) -> None:
        private_place.furnish(1)
        process = private_place.evaluate()
        assert process.wait_until(lambda: len(private_place.servers()) == 1), process.err
        process.kill()
        assert private_place.is_deserted()

    @pytest.mark.slow
    def test_one_that_cannot_start_names_its_log(self, private_place: Workplace) -> None:
        private_place.furnish(1)
        (private_place.prefect_home / "prefect.db").unlink()
        (private_place.prefect_home / "prefect.db").mkdir()
        process = private_place.evaluate()
        assert process.end() == 3
        [log] = private_place.prefect_home.glob("*.log")
        assert "the private Prefect server did not start: " in process.last_word
        assert f"; its log is {log}; " in process.last_word
        assert "Fatal Python error" not in log.read_text()


@pytest.mark.slow  # Prefect's client tries for minutes to reach a server that it has reached before
@pytest.mark.timeout(1800)
def test_a_server_that_dies_in_the_middle_loses_no_item(private_place: Workplace, server_url: str) -> None:
    private_place.furnish(20, free=10)
    process = private_place.evaluate("--output-dir", "reports")
    assert process.wait_until(lambda: len(private_place.journal()) >= 4), process.err
    [server] = private_place.servers()
    os.kill(server, signal.SIGKILL)
    private_place.open_the_gate()
    every = Counter(f"t{n:03d}" for n in range(20))
    assert process.end(within_s=120) == 3, process.err  # Prefect's own client and farewell would try for several minutes
    assert private_place.landed() == private_place.calls() == every
    assert "the private Prefect server is silent (its process has ended); the work goes on" in process.err
    assert process.last_word.endswith("; its results are not affected")
    assert len(list((private_place.folder / "reports").glob("*.json"))) == 1
    assert " in 0.0 s" not in process.out
    for noise in ("Traceback", "EventsWorker", "ERROR", "logging to API"):
        assert noise not in process.err, process.err
    private_place.use(server_url)
    resumed = private_place.resume("--output-dir", "reports")
    assert resumed.end() == 0, resumed.err
    assert private_place.landed() == private_place.calls() == every


@pytest.mark.slow
def test_an_interruption_after_the_servers_death_is_130_soon(private_place: Workplace) -> None:
    private_place.furnish(20, free=10)
    process = private_place.evaluate("--output-dir", "reports")
    assert process.wait_until(lambda: len(private_place.journal()) >= 4), process.err
    [server] = private_place.servers()
    os.kill(server, signal.SIGKILL)
    assert process.wait_until(lambda: "is silent" in process.err)
    process.send(signal.SIGINT)
    assert process.end(within_s=45) == 130, process.err
    assert "Traceback" not in process.err
    assert "eval-skills eval --resume" in process.err


@pytest.mark.slow
def test_whoever_writes_at_the_same_time_waits_and_nobody_is_refused(server_url: str) -> None:
    def codes(client: httpx.Client, name: str, flow: str) -> set[int]:
        return {client.post("flow_runs/", json={"name": name, "flow_id": flow}).status_code for _ in range(5)}

    with httpx.Client(base_url=server_url, trust_env=False, timeout=120) as client, ThreadPoolExecutor() as threads:
        flow = client.post("flows/", json={"name": "written at the same time"}).json()["id"]
        answers = [threads.submit(codes, client, f"writer-{number}", flow) for number in range(4)]
        assert set().union(*(answer.result() for answer in answers)) == {201}


class TestSkillServers:
    @pytest.mark.slow
    def test_p19_a_server_that_is_down_is_infra_and_one_that_dies_is_the_skills(self, workplace: Workplace) -> None:
        workplace.add_skill("echo", ECHO, entrypoint=f"{sys.executable} -ISs skill.py")
        workplace.add_skill("down", "", adapterType="http", entrypoint="http://127.0.0.1:9/")
        never = {"serve": {"command": f"{sys.executable} -ISs -c 'import time; time.sleep(600)'", "readyTimeoutMs": 300}}
        workplace.add_skill("mute", "", adapterType="http", entrypoint="http://127.0.0.1:{port}/", adapterConfig=never)
        dies = {"serve": {"command": f"{sys.executable} -ISs -c 'raise SystemExit(7)'"}}
        workplace.add_skill("dead", "", adapterType="http", entrypoint="http://127.0.0.1:{port}/", adapterConfig=dies)
        workplace.write_tasks(*({"task": f"t{n}"} for n in range(3)))
        process = workplace.evaluate("--output-dir", "reports")
        assert process.end() == 0, process.err
        items = workplace.store.items()
        assert Counter(zip(items["skill_id"], items["status"], items["error_kind"].fillna(""), strict=True)) == {
            ("echo", "pass", ""): 3,
            ("down", "error", "infra"): 3,
            ("mute", "error", "infra"): 3,
            ("dead", "error", "skill"): 3,
        }
        message = items.set_index("skill_id")["error_message"].groupby(level=0).first()
        assert "refused" in message["down"]
        assert "was not ready within 0.3 s" in message["mute"]
        assert "exit code 7" in message["dead"]
