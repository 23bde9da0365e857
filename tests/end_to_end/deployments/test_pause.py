"""The Pause and Resume of Prefect's UI, for runs of deployments: the process ends, and another one goes on with the run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eval_skills.core.store import Store
from tests.end_to_end.deployments.conftest import EVAL_SKILLS, Site, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SKILL = """
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent.parent.parent
for line in sys.stdin:
    request = json.loads(line)
    with open(here / "calls.log", "a") as log:
        log.write(request["params"]["task"] + "\\n")
    while request["params"]["waits"] and not (here / "gate").exists() and os.getppid() != 1:
        time.sleep(0.02)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "ok"}), flush=True)
"""
EACH, BEGUN = 10, 6
ALL = Counter(f"{suite}{n}" for suite in ("a", "b") for n in range(EACH))


REQUESTS = {
    "nightly": {"suites": "./nightly/suites.yaml", "store": "./nightly/eval-store", "options": {"concurrency": 2}},
    "pipeline": {
        "skillsDir": "./pipeline/skills",
        "benchmark": "./pipeline/b.json",
        "store": "./pipeline/eval-store",
        "concurrency": 2,
        "format": [],
    },
}


@pytest.fixture(scope="module")
def served(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Both flows, served by one process, each with a folder of its own."""
    place = replace(site, folder=tmp_path_factory.mktemp("paused"))
    for flow in REQUESTS:
        furnish(place.folder / flow)
    suites = [{"name": suite, "skills": ["./skills"], "benchmark": f"./{suite}.json"} for suite in ("a", "b")]
    (place.folder / "nightly" / "suites.yaml").write_text(json.dumps({"suites": suites}))
    entries = [
        {"name": f"paused-{flow}", "entrypoint": f"eval_skills.flows.{flow}.{flow}", "parameters": {"request": request}}
        for flow, request in REQUESTS.items()
    ]
    file, log = place.folder / "served.yaml", place.folder / "serve.log"
    file.write_text(json.dumps({"deployments": entries}))
    with place.running(EVAL_SKILLS, "serve", "--file", str(file), log=log):
        names = [str(entry["name"]) for entry in entries]
        found = {"name": {"any_": names}}
        until(lambda: len(place.ask("deployments/filter", deployments=found)) == len(names), what="registration", log=log)
        yield place


def furnish(folder: Path) -> None:
    """Write a skill and two benchmarks; the second stops at its fifth task until the gate is open."""
    skill = folder / "skills" / "logged"
    skill.mkdir(parents=True)
    described = {"id": "logged", "name": "logged", "version": "1.0.0", "adapterType": "subprocess"}
    config = {"entrypoint": "python3 -ISs skill.py", "adapterConfig": {"persistent": True}}
    (skill / "skill.json").write_text(json.dumps(described | config))
    (skill / "skill.py").write_text(SKILL)
    for suite in ("a", "b"):
        inputs = [{"task": f"{suite}{n}", "waits": suite == "b" and n >= BEGUN - 2} for n in range(EACH)]
        tasks = [{"id": each["task"], "inputData": each, "expectedOutput": {"value": "ok"}} for each in inputs]
        benchmark = {"id": suite, "name": suite, "version": "1.0.0", "domain": "tests", "tasks": tasks}
        (folder / f"{suite}.json").write_text(json.dumps(benchmark))


def test_a_night_that_is_paused_in_the_ui_goes_on_where_it_was(served: Site) -> None:
    check_paused_and_resumed(served, "nightly", begun=EACH + BEGUN, expected=ALL, runs=2)


def test_a_pipeline_that_is_paused_in_the_ui_goes_on_with_its_run(served: Site) -> None:
    expected = Counter({task: times for task, times in ALL.items() if task.startswith("b")})
    check_paused_and_resumed(served, "pipeline", begun=BEGUN, expected=expected, runs=1)


def check_paused_and_resumed(place: Site, flow: str, *, begun: int, expected: Counter[str], runs: int) -> None:
    folder, log = place.folder / flow, place.folder / "serve.log"
    before = len(log.read_text())
    flow_run = place.begin(f"{flow}/paused-{flow}")
    until(lambda: calls(folder).total() == begun, what="the calls before the pause", log=log)
    pause_as_the_ui(place, flow_run)
    until(lambda: "Suspended; 2 items in flight finish" in log.read_text()[before:], what="the pause", log=log)
    (folder / "gate").touch()
    until(lambda: "is paused" in log.read_text()[before:], what="the end of the first process", log=log)
    assert calls(folder).total() == begun
    resumed = place.ask(f"flow_runs/{flow_run}/resume")
    assert resumed["status"] == "ACCEPT", resumed
    ended = until(lambda: place.ended(flow_run), what="the end of the flow run", log=log)
    assert ended["type"] == "COMPLETED", ended
    assert calls(folder) == expected
    store = Store(folder / "eval-store")
    assert len(store.run_ids()) == runs
    assert Counter(store.items()["task_id"]) == expected


def calls(folder: Path) -> Counter[str]:
    log = folder / "calls.log"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def pause_as_the_ui(place: Site, flow_run_id: str) -> None:
    until_when = (datetime.now(UTC) + timedelta(seconds=600)).isoformat()
    state = {"type": "PAUSED", "name": "Suspended", "state_details": {"pause_timeout": until_when, "pause_reschedule": True}}
    assert place.ask(f"flow_runs/{flow_run_id}/set_state", state=state, force=True)["status"] == "ACCEPT"
