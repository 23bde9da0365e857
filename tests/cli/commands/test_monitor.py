"""``eval-skills monitor``: what is refused, what is printed, the gate."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict
from tests.tables import each_row

Run = Callable[..., Any]
LINE = json.dumps({"id": "a", "output": "ok", "expected": "ok"}) + "\n"


def answers(good: int, bad: int) -> str:
    said = ["your order"] * good + ["no idea"] * bad
    return "".join(json.dumps({"trace": f"t{n}", "reply": {"text": each}}) + "\n" for n, each in enumerate(said))


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["--rate", "0"], "--rate: input should be greater than 0; got 0.0", id="p94-rate-0"),
        pytest.param(["--rate", "1.5"], "--rate: input should be less than or equal to 1", id="rate-above-1"),
        pytest.param(["--rate", "nan"], "--rate: give a number such as 0.5; got 'nan'", id="p40-nan"),
        pytest.param(["--seed", "1.5"], "give a whole number; got '1.5'", id="seed"),
        pytest.param(["--window", "0"], "--window: input should be greater than or equal to 1", id="window"),
        pytest.param(["--window", "20"], "--min-sample 30 exceeds --window 20", id="min-sample"),
        pytest.param(["--critical", "0.9"], "--critical 0.9 lies above --warning 0.85", id="thresholds"),
        pytest.param(["--idle-stop", "5"], "--idle-stop is about waiting for more; give --follow, too", id="idle"),
        pytest.param(["--metrics-port", "0"], "--metrics-port needs --follow", id="metrics-of-nobody"),
        pytest.param(["--follow", "--metrics-port", "65536"], "--metrics-port 65536: give a port from 1", id="port"),
        pytest.param(["--metrics-host", "0.0.0.0"], "--metrics-host 0.0.0.0 is where --metrics-port listens", id="host"),
        pytest.param(
            ["--follow", "--metrics-port", "0", "--metrics-host", "192.0.2.1"],
            "nothing can listen at 192.0.2.1:0",
            id="elsewhere",
        ),
        pytest.param(["--follow", "--interval", "0"], "--interval: input should be greater than 0", id="interval"),
        pytest.param(["--field", "output"], "--field output: give each field once, as NAME=KEY", id="field"),
        pytest.param(["--field", "outptu=a"], "--field: unknown key 'outptu' (did you mean 'output'?)", id="unknown-field"),
        pytest.param(["--expect", "{"], "--expect: not valid JSON", id="expect-json"),
        pytest.param(["--expect", "[1]"], "--expect [1]: give an object", id="expect-list"),
        pytest.param(
            ["--expect", '{"keyword": []}'], "--expect: unknown key 'keyword' (did you mean 'keywords'?)", id="expect-key"
        ),
        pytest.param(["--expect", "{}", "--task", "a:b"], "--task and --expect exclude each other", id="both"),
        pytest.param(["--evaluator", "exakt"], "unknown scorer 'exakt'", id="scorer"),
        pytest.param(["--task", "none.yaml"], "--task none.yaml: no such file", id="task"),
        pytest.param(["--skill", ""], "--skill is blank; give a value", id="blank-skill"),
        pytest.param(["--fail-on", "healthy"], "fail-on", id="fail-on"),
        pytest.param(["--max-silence", "0"], "--max-silence: give a number of seconds above 0; got 0.0", id="silence"),
        pytest.param(["--max-silence", "nan"], "--max-silence: give a number such as 0.5; got 'nan'", id="silence-nan"),
        pytest.param(["--store", "log.jsonl"], "log.jsonl' is a file; name a folder", id="store"),
    ],
)
def test_p40_what_cannot_be_used_is_refused_in_one_line(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    place.write("log.jsonl", LINE)
    before = place.files()
    result = run_here("monitor", "log.jsonl", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
    assert place.files() == before


@pytest.mark.parametrize("log", ["none.jsonl", "none/log.jsonl", ""])
def test_p40_a_log_that_is_not_there_is_refused(run_here: Run, log: str) -> None:
    result = run_here("monitor", log)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


@pytest.mark.slow
def test_it_samples_tells_goes_on_and_gates(served: Any) -> None:
    served.write("log.jsonl", answers(60, 0) + "{broken\n")
    command = [
        "monitor", "log.jsonl", "--rate", "1", "--evaluator", "contains", "--expect", '{"keywords": ["order"]}',
        "--field", "id=trace", "output=reply.text", "--fail-on", "critical",
    ]  # fmt: skip
    first = served.call(*command)
    assert first.code == 0, first.err
    assert "healthy: 100.0 % of 60 samples in the window pass" in first.out
    assert "gate passed: the status is healthy, and --fail-on critical" in first.out
    assert "insufficient_data → healthy" in first.err
    assert "log.jsonl:61: not valid JSON" in first.err
    with Path(served.folder, "log.jsonl").open("a") as file:
        file.write(answers(0, 40).replace('"trace": "t', '"trace": "u'))
    second = served.call(*command, "--json")
    assert second.code == 1, second.err
    document = second.json
    assert (document["status"], document["read"], document["sampled"]) == ("critical", 40, 40)
    assert document["window"]["passRate"] == 0.6
    assert [each["after"] for each in document["changes"]] == ["warning", "critical"]
    assert document["gate"] == {"failOn": "critical", "passed": False, "whyNot": "the status is critical"}
    asked = served.call("query", "SELECT count(*) AS n FROM samples WHERE passed", "--json")
    assert asked.json == [{"n": 60}]
    broken = served.call("monitor", "log.jsonl", "--rate", "1", "--field", "output=replay")
    assert (broken.code, broken.out) == (2, "")
    assert "none of 101 records can be used; the first: log.jsonl:1: no answer: there is no key 'replay'" in broken.err


@pytest.mark.slow
def test_a_log_that_fell_silent_passes_no_gate_that_asks(served: Any) -> None:
    served.write("log.jsonl", answers(40, 0))
    command = ["monitor", "log.jsonl", "--rate", "1", "--evaluator", "contains", "--expect", '{"keywords": ["order"]}']
    command += ["--field", "id=trace", "output=reply.text", "--fail-on", "critical", "--max-silence"]
    first = served.call(*command, "3600")
    assert (first.code, "no new record" in first.out) == (0, False), first.err
    assert "gate passed: the status is healthy, and --fail-on critical and --max-silence 3600\n" in first.out
    silent = served.call(*command, "1e-3")
    assert silent.code == 1, silent.err
    assert re.search(r"no new record since 20\d\d-\d\d-\d\d \d\d:\d\d UTC, [\d.]+ s ago\n", silent.out)
    assert re.search(r"gate failed: the log has had no new record for [\d.]+ s, and --fail-on critical", silent.out)
    document = served.call(*command, "3600", "--json").json
    assert document["gate"] == {"failOn": "critical", "maxSilenceS": 3600, "passed": True}
    assert datetime.fromisoformat(document["lastRecord"]) < datetime.now(UTC)
    unknown = served.call(*command[:-3], "--max-silence", "5", "--skill", "nobody")
    assert (unknown.code, "no new record\n" in unknown.out) == (1, True), unknown.err
    assert "gate failed: since when the log has had no new record is not known, and --max-silence 5" in unknown.out


@pytest.mark.slow
def test_a_line_that_cannot_be_read_is_no_sign_of_life_of_the_skill_in_question(served: Any) -> None:
    for name, hours in (("a", 3), ("b", 0)):
        lines = (json.dumps({"id": f"{name}{n}", "agentId": name, "output": "ok", "expected": "ok"}) for n in range(40))
        log = served.write(f"logs/{name}.jsonl", "".join(f"{line}\n" for line in lines))
        os.utime(log, (0, time.time() - 3600 * hours))
    with log.open("a") as file:
        file.write('{"broken\n')
    command = ["monitor", "logs", "--rate", "1", "--fail-on", "critical", "--max-silence", "3600", "--skill"]
    of_a, of_b = served.call(*command, "a", "--json"), served.call(*command, "b", "--json")
    assert (of_a.code, of_a.json["status"], of_a.json["bad"]) == (1, "healthy", 1), of_a.err
    assert of_a.json["gate"]["whyNot"] == "the log has had no new record for 3 h 0 min"
    assert (of_b.code, of_b.json["gate"]["passed"]) == (0, True), of_b.err


@pytest.mark.slow
def test_a_log_of_which_a_file_cannot_be_read_passes_no_gate(served: Any) -> None:
    served.write("logs/a.jsonl", "".join(LINE.replace('"a"', f'"a{n}"') for n in range(40)))
    damaged = served.write("logs/b.parquet", "PAR1 not yet")
    command = ["monitor", "logs", "--rate", "1", "--fail-on", "critical", "--max-silence", "86400"]
    being_written = served.call(*command)
    assert being_written.code == 0, being_written.err
    os.utime(damaged, (0, time.time() - 7200))
    is_damaged = served.call(*command)
    assert is_damaged.code == 1, is_damaged.err
    assert re.search(r"^no new record that can be read since 20", is_damaged.out, re.MULTILINE)
    assert "gate failed: logs/b.parquet cannot be read, and --fail-on critical and --max-silence 86400\n" in is_damaged.out
    Path(served.folder, "logs/c.jsonl").symlink_to("/proc/self/mem")  # reading it is an error, for root too
    unreadable = served.call(*command, "--json")
    assert unreadable.code == 1, unreadable.err
    assert unreadable.json["status"] == "healthy"
    assert unreadable.json["gate"]["whyNot"] == "logs/b.parquet cannot be read, nor can 1 other file of the log"


@pytest.mark.slow
def test_p40_too_few_samples_pass_no_gate(served: Any) -> None:
    served.write("log.jsonl", LINE)
    result = served.call("monitor", "log.jsonl", "--rate", "1", "--fail-on", "critical")
    assert result.code == 1, result.err
    assert "insufficient_data" in result.out


@pytest.mark.slow
@pytest.mark.parametrize(("without", "code"), [(60, 0), (61, 1)])
def test_an_agent_that_mostly_writes_no_answer_passes_no_gate(served: Any, without: int, code: int) -> None:
    crashed = "".join(f"{json.dumps({'id': f'c{number}', 'note': 'crashed'})}\n" for number in range(without))
    fine = "".join(f"{json.dumps({'id': number, 'output': 'ok', 'expected': 'ok'})}\n" for number in range(60))
    served.write("log.jsonl", crashed + fine)
    result = served.call("monitor", "log.jsonl", "--rate", "1", "--fail-on", "critical")
    assert (result.code, f"records {60 + without}  sampled 60  bad {without}\n" in result.out) == (code, True)
    assert ("gate failed: too little could be judged" in result.out) is (code == 1)


@pytest.mark.slow
def test_two_agents_that_both_count_from_1_pass_no_gate_by_hiding_each_other(served: Any) -> None:
    for name, answer in (("a", "ok"), ("b", "wrong")):
        lines = (json.dumps({"id": number, "agentId": name, "output": answer, "expected": "ok"}) for number in range(1, 61))
        served.write(f"logs/{name}.jsonl", "".join(f"{line}\n" for line in lines))
    result = served.call("monitor", "logs", "--rate", "1", "--fail-on", "critical")
    assert result.code == 1, result.err
    assert "records 120  sampled 120  bad 0\n" in result.out
    assert "60 samples have the id of another interaction, with other content, the first at logs/b.jsonl:1" in result.err
    again = served.call("monitor", "logs", "--rate", "1", "--restart", "--json")
    assert (again.json["sharedIds"], again.json["repeated"]) == (60, 0)


@pytest.mark.slow
def test_p13_a_judge_that_fails_exits_3_and_the_next_call_goes_on(served: Any) -> None:
    log = served.write("log.jsonl", "".join(json.dumps({"id": f"a{n}", "output": f"answer {n}"}) + "\n" for n in range(6)))
    with ScriptedModel() as model:
        served.write("eval-skills.config.yaml", {"llm": {"model": "openai/x", "apiBase": model.url, "cacheDir": "cache"}})
        command = ["monitor", "log.jsonl", "--rate", "1", "--min-sample", "1", "--judge-concurrency", "1", "--no-judge-check"]
        command += ["--evaluator", "llm_judge", "--expect", '{"criteria": "Be right."}', "--fail-on", "critical"]

        def gone(asked: Asked) -> Says:
            return failure(401, "bad key") if len(model.asked) > 2 else verdict()

        model.otherwise = gone
        stopped = served.call(*command)
        assert (stopped.code, stopped.out) == (3, "")
        assert "judge: 4 of 6 samples could not be judged: openai/x refused access" in stopped.err
        assert "nothing of this batch landed, and the status is still insufficient_data: make the same call again" in stopped.err
        model.otherwise, known = verdict(), len(model.asked)
        done = served.call(*command, "--json")
        assert (done.code, done.json["sampled"], done.json["status"]) == (0, 6, "healthy"), done.err
        assert len(model.asked) == known + 4, "what was judged is in the cache"

        with log.open("a") as file:
            file.write("".join(json.dumps({"id": f"b{n}", "output": f"odd {n}"}) + "\n" for n in range(4)))
        model.otherwise = lambda asked: verdict() if "odd 1" in asked.prompt else failure(422, "not this one")
        lost = served.call(*command)
        assert lost.code == 3, lost.err
        assert "judge: 3 of 4 samples could not be judged" in lost.err
        assert "gate failed: too little could be judged, and --fail-on critical" in lost.out
        assert served.call(*command, "--json").json["read"] == 0


@pytest.mark.slow
def test_what_it_follows_is_served_to_prometheus(place: Any, server_url: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place.environ["PREFECT_API_URL"] = server_url
    place.write("log.jsonl", LINE)
    window = ("--rate", "1", "--min-sample", "1", "--window", "1", "--fail-on", "critical")
    words = (*window, "--follow", "--interval", "0.1", "--metrics-port", str(port))
    wanted = re.compile(r'eval_skills_monitor_status\{log="log.jsonl",monitor="\w+",status="healthy"\} 1')
    process, text, end = place.begin("monitor", "log.jsonl", *words), "", time.monotonic() + 120
    try:
        while not wanted.search(text):
            assert process.poll() is None
            assert time.monotonic() < end, text
            with contextlib.suppress(httpx.TransportError):  # it does not listen yet
                text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
            time.sleep(0.05)
    finally:
        process.kill()
        _, _, err = process.output(timeout=60)
    assert "the gate is judged at the end: --follow only comes to one if --idle-stop SECONDS is given, too" in err


class WithoutAccess(BaseHTTPRequestHandler):
    """A Prefect API that is well, and lets nobody in."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200 if self.path in {"/api/health", "/api/ready"} else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET  # noqa: N815 - the name that the server looks for

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.mark.slow
def test_a_server_that_is_lost_before_anything_is_judged_is_named(place: Any) -> None:
    place.write("log.jsonl", LINE)
    with ThreadingHTTPServer(("127.0.0.1", 0), WithoutAccess) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{server.server_port}/api"
        result = place.call("monitor", "log.jsonl")
        server.shutdown()
    assert result.code == 3
    assert result.err.endswith("eval-skills: the Prefect API was lost (HTTP 401); what is done is kept\n")
