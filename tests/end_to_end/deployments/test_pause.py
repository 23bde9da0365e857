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
from eval_skills.core.store.files import is_locked
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
    write_suites(place.folder / "nightly", "a", "b")
    entries = [
        {"name": f"paused-{flow}", "entrypoint": f"eval_skills.flows.{flow}.{flow}", "parameters": {"request": request}}
        for flow, request in REQUESTS.items()
    ]
    entries.append({"name": "paused-evaluate", "entrypoint": "eval_skills.flows.evaluate.evaluate", "parameters": {}})
    file, log = place.folder / "served.yaml", place.folder / "serve.log"
    file.write_text(json.dumps({"deployments": entries}))
    with place.running(EVAL_SKILLS, "serve", "--file", str(file), log=log):
        names = [str(entry["name"]) for entry in entries]
        found = {"name": {"any_": names}}
        until(lambda: len(place.ask("deployments/filter", deployments=found)) == len(names), what="registration", log=log)
        yield place


def write_suites(folder: Path, *names: str, **more: str) -> None:
    """Write the file of a night: one suite for each of the benchmarks, with `more` keys."""
    suites = [{"name": name, "skills": ["./skills"], "benchmark": f"./{name}.json", **more} for name in names]
    (folder / "suites.yaml").write_text(json.dumps({"suites": suites}))


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


def test_a_night_goes_on_with_a_suite_that_a_deployment_evaluates(served: Site) -> None:
    """The suite's process ends with that of the night: Prefect suspends no part of a flow run, and would resume none."""
    folder, log = served.folder / "via", served.folder / "serve.log"
    furnish(folder)
    write_suites(folder, "b", via="evaluate/paused-evaluate")
    night = served.begin(
        "nightly/paused-nightly", suites="./via/suites.yaml", store="./via/eval-store", options={"concurrency": 2}
    )
    until(lambda: calls(folder).total() == BEGUN, what="the calls before the pause", log=log)
    before = len(log.read_text())
    pause_as_the_ui(served, night)
    until(lambda: f"flow run '{night}' is paused" in log.read_text()[before:], what="the end of the night's process", log=log)
    (folder / "gate").touch()
    assert served.ask(f"flow_runs/{night}/resume")["status"] == "ACCEPT"
    ended = until(lambda: served.ended(night), what="the end of the flow run", log=log)
    assert (ended["type"], ended["message"]) == ("COMPLETED", "1 of 1 suite ran, 1 skill: nothing to compare with yet")
    store = Store(folder / "eval-store")
    assert len(store.run_ids()) == 1
    assert Counter(store.items()["task_id"]) == Counter({task: times for task, times in ALL.items() if task.startswith("b")})


def test_a_pipeline_that_is_paused_in_the_ui_goes_on_with_its_run(served: Site) -> None:
    expected = Counter({task: times for task, times in ALL.items() if task.startswith("b")})
    check_paused_and_resumed(served, "pipeline", begun=BEGUN, expected=expected, runs=1)


def test_a_suite_that_is_cancelled_ends_alone_and_the_night_goes_on(served: Site) -> None:
    """Nothing but this process can end it: it is not the flow run of the deployment."""
    folder, night = begun_night(served, "cancelled-suite")
    [suite] = served.ask("flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": [night]}})
    cancel(served, suite["id"], {"type": "CANCELLING"})
    ended = until(lambda: served.ended(night), what="the end of the night", log=served.folder / "serve.log")
    assert (ended["type"], ended["message"]) == ("COMPLETED", "1 of 2 suites ran, 1 skill: run failed in b")
    nights = Store(folder / "eval-store").query("SELECT suite, verdict, explanation FROM nights ORDER BY suite")
    assert list(nights["verdict"]) == ["new", "failed"]
    assert "it was cancelled in Prefect" in nights["explanation"][1]


def test_a_night_whose_state_is_set_to_cancelled_ends(served: Site) -> None:
    """What serves it looks for *Cancelling* alone: the process would wait for ever, in one of its places."""
    folder, night = begun_night(served, "cancelled-night")
    cancel(served, night, {"type": "CANCELLED"})
    store = Store(folder / "eval-store")
    [night_id] = {store.manifest(run_id).provenance["night"] for run_id in store.run_ids()}
    until(
        lambda: not is_locked(store.layout.root / f"night-{night_id}"),
        what="the end of the process",
        log=served.folder / "serve.log",
    )
    assert night_id not in store.tables.files("nights"), "it goes on with nightly --resume"


def begun_night(place: Site, name: str) -> tuple[Path, str]:
    """A night in a folder of its own, whose first suite waits in its fifth task, and its flow run."""
    folder, own = place.folder / name, {"suites": f"./{name}/suites.yaml", "store": f"./{name}/eval-store"}
    furnish(folder)
    write_suites(folder, "b", "a")
    night = place.begin("nightly/paused-nightly", **own, options={"concurrency": 2})
    until(lambda: calls(folder).total() == BEGUN, what="the calls before it is cancelled", log=place.folder / "serve.log")
    return folder, night


def cancel(place: Site, flow_run_id: str, state: dict[str, str]) -> None:
    assert place.ask(f"flow_runs/{flow_run_id}/set_state", state=state, force=True)["status"] == "ACCEPT"


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
