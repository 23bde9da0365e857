"""The shipped ``prefect.yaml`` on a real server: deployed without a prompt, scheduled, asked for, run by a process worker."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from tests.end_to_end.deployments.conftest import ROOT, Site, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SHIPPED = ROOT / "deployments" / "prefect.yaml"
NAMES = ("nightly", "evaluate", "pipeline", "backfill", "monitor")
FINAL = {"COMPLETED", "FAILED", "CRASHED"}


@pytest.fixture(scope="module")
def deployed(site: Site) -> Site:
    """The site with a pool and every deployment of the shipped file."""
    shutil.copy(ROOT / "deployments" / "suites.yaml", site.folder)
    pool = site.run("prefect", "--no-prompt", "work-pool", "create", "skills", "--type", "process", "--overwrite")
    assert pool.returncode == 0, pool.stderr
    done = site.run("prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(SHIPPED))
    assert done.returncode == 0, done.stdout + done.stderr
    return site


@pytest.fixture(scope="module")
def worker(deployed: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A process worker of the pool; its log."""
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    with deployed.running("prefect", "worker", "start", "--pool", "skills", "--type", "process", log=log):
        yield log


@pytest.mark.parametrize("name", NAMES)
def test_a_deployment_is_as_the_file_says(deployed: Site, name: str) -> None:
    [said] = [each for each in yaml.safe_load(SHIPPED.read_text())["deployments"] if each["name"] == name]
    known = deployed.deployment(f"{name}/{name}")
    assert known["work_pool_name"] == "skills"
    assert known["entrypoint"] == f"eval_skills.flows.{name}.{name}"
    assert (known["tags"], known["description"].strip()) == (said["tags"], said["description"].strip())
    assert known["parameters"] == said["parameters"]
    assert known["global_concurrency_limit"]["limit"] == said["concurrency_limit"]["limit"]
    assert known["concurrency_options"]["collision_strategy"] == said["concurrency_limit"]["collision_strategy"]
    assert known["pull_steps"] == [{"eval_skills.flows.skills_folder.enter_skills_folder": {}}]


@pytest.mark.parametrize("name", NAMES)
def test_a_form_has_a_description_for_every_field(deployed: Site, name: str) -> None:
    schema = deployed.deployment(f"{name}/{name}")["parameter_openapi_schema"]
    [form] = [schema["definitions"][schema["properties"]["request"]["$ref"].rpartition("/")[2]]]
    assert form["properties"]
    assert [field for field, said in form["properties"].items() if not said.get("description")] == []
    assert form["additionalProperties"] is False


def test_the_night_is_scheduled_at_two_by_the_clock_in_berlin(deployed: Site) -> None:
    body: dict[str, Any] = {
        "deployments": {"name": {"any_": ["nightly"]}},
        "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
    }
    found = until(lambda: deployed.ask("flow_runs/filter", **body), what="scheduled nights")
    times = [datetime.fromisoformat(run["expected_start_time"]).astimezone(ZoneInfo("Europe/Berlin")) for run in found]
    usual = [time for time in times if time.replace(hour=0).utcoffset() == time.replace(hour=23).utcoffset()]
    assert {(time.hour, time.minute) for time in usual} == {(2, 0)}  # in the night in which the clocks change it may not be two


def test_deploying_again_changes_nothing(deployed: Site) -> None:
    before = deployed.deployment("evaluate/evaluate")["id"]
    done = deployed.run("prefect", "--no-prompt", "deploy", "--name", "evaluate", "--prefect-file", str(SHIPPED))
    assert done.returncode == 0, done.stdout + done.stderr
    assert deployed.deployment("evaluate/evaluate")["id"] == before


def test_a_field_that_the_form_does_not_know_is_refused_at_once(deployed: Site) -> None:
    done = deployed.run("prefect", "deployment", "run", "evaluate/evaluate", "--param", 'request={"skils": ["./skills"]}')
    assert done.returncode != 0
    assert "'skils' was unexpected" in done.stdout + done.stderr


def test_a_scheduled_run_is_executed_by_a_worker(deployed: Site, worker: Path) -> None:
    # Every 20 s, so that the test need not wait for two o'clock; a run that finds the one before it still there is cancelled.
    schedules = [{"interval": 20, "slug": "soon"}]
    run = _scheduled(deployed, schedules, worker)
    assert (run["state_type"], run["auto_scheduled"]) == ("COMPLETED", True), worker.read_text()
    assert "20 passed" in run["state"]["message"]
    assert list(deployed.folder.glob("eval-store/reports/*/*.parquet"))


def test_a_night_runs_when_it_is_asked_for(deployed: Site, worker: Path) -> None:
    request = {"suites": "./suites.yaml", "store": "./asked-for", "options": {"runs": 1}}
    done = deployed.run("prefect", "deployment", "run", "nightly/nightly", "--param", f"request={json.dumps(request)}", "--watch")
    assert done.returncode == 0, done.stdout + done.stderr + worker.read_text()
    assert (deployed.folder / "asked-for" / "items").is_dir()


def _scheduled(site: Site, schedules: list[dict[str, Any]], log: Path) -> Any:
    """The first run that a deployment with these schedules began by itself, once it has ended."""
    file = _variant(site.folder, "soon", schedules=schedules)
    done = site.run("prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    body: dict[str, Any] = {"deployments": {"name": {"any_": ["soon"]}}, "sort": "EXPECTED_START_TIME_ASC", "limit": 1}
    ended = {"type": {"any_": sorted(FINAL)}}
    [run] = until(lambda: site.ask("flow_runs/filter", flow_runs={"state": ended}, **body), what="a run that ended", log=log)
    site.run("prefect", "deployment", "delete", "evaluate/soon")
    return run


def _variant(folder: Path, name: str, **fields: Any) -> Path:
    """The shipped file with `evaluate` alone, under another name."""
    document = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    [entry] = [each for each in document["deployments"] if each["name"] == "evaluate"]
    limit = {"limit": 1, "collision_strategy": "CANCEL_NEW"}
    document["deployments"] = [entry | {"name": name, "work_pool": {"name": "skills"}, "concurrency_limit": limit} | fields]
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file
