"""The shipped ``prefect.yaml`` on a real server: deployed without a prompt, scheduled, asked for, run by a process worker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
import yaml

from tests.end_to_end.deployments.conftest import FINAL, PREFECT, ROOT, Site, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SHIPPED = ROOT / "deployments" / "prefect.yaml"
NAMES = ("nightly", "evaluate", "pipeline", "backfill", "monitor")


@pytest.fixture(scope="module")
def deployed(site: Site) -> Site:
    """The site with a pool and every deployment of the shipped file."""
    shutil.copy(ROOT / "deployments" / "suites.yaml", site.folder)
    site.ask("work_pools/", name="skills", type="process")
    code, out, err = site.run(PREFECT, "--no-prompt", "deploy", "--all", "--prefect-file", str(SHIPPED))
    assert code == 0, out + err
    return site


@pytest.fixture(scope="module")
def deployed_again(deployed: Site) -> str:
    """The id that `evaluate` had before it was deployed once more, together with `soon`.

    That begins every 20 s, so that no test need wait for two o'clock; a run that finds the one before still there is cancelled.
    """
    before = deployed.deployment("evaluate/evaluate")["id"]
    document = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    [entry] = [each for each in document["deployments"] if each["name"] == "evaluate"]
    schedules = [{"interval": 20, "slug": "soon"}]
    limit = {"limit": 1, "collision_strategy": "CANCEL_NEW"}
    soon = {"name": "soon", "work_pool": {"name": "skills"}, "concurrency_limit": limit, "schedules": schedules}
    document["deployments"] = [entry, entry | soon]
    file = deployed.folder / "again.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    code, out, err = deployed.run(PREFECT, "--no-prompt", "deploy", "--all", "--prefect-file", str(file))
    assert code == 0, out + err
    return str(before)


@pytest.fixture(scope="module")
def worker(deployed: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A process worker of the pool; its log."""
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    with deployed.running(PREFECT, "worker", "start", "--pool", "skills", "--type", "process", log=log):
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


def test_a_field_that_the_form_does_not_know_is_refused_at_once(deployed: Site) -> None:
    with pytest.raises(httpx.HTTPStatusError) as refused:
        deployed.begin("evaluate/evaluate", skils=["./skills"])
    assert "'skils' was unexpected" in refused.value.response.text


def test_deploying_again_changes_nothing(deployed: Site, deployed_again: str) -> None:
    assert deployed.deployment("evaluate/evaluate")["id"] == deployed_again


@pytest.mark.usefixtures("deployed_again")
def test_a_scheduled_run_is_executed_by_a_worker(deployed: Site, worker: Path) -> None:
    body: dict[str, Any] = {"deployments": {"name": {"any_": ["soon"]}}, "sort": "EXPECTED_START_TIME_ASC", "limit": 1}
    ended = {"state": {"type": {"any_": sorted(FINAL - {"CANCELLED"})}}}
    [run] = until(lambda: deployed.ask("flow_runs/filter", flow_runs=ended, **body), what="a run that ended", log=worker)
    url = f"{deployed.url}/deployments/{deployed.deployment('evaluate/soon')['id']}"
    httpx.delete(url, timeout=60, trust_env=False).raise_for_status()
    assert (run["state_type"], run["auto_scheduled"]) == ("COMPLETED", True), worker.read_text()
    assert "20 passed" in run["state"]["message"]
    assert list(deployed.folder.glob("eval-store/reports/*/*.parquet"))


def test_a_night_runs_when_it_is_asked_for(deployed: Site, worker: Path) -> None:
    asked = deployed.begin("nightly/nightly", suites="./suites.yaml", store="./asked-for", options={"runs": 1})
    ended = until(lambda: deployed.ended(asked), what="the end of the night", log=worker)
    assert ended["type"] == "COMPLETED", ended
    assert (deployed.folder / "asked-for" / "items").is_dir()
