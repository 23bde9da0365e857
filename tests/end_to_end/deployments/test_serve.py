"""``eval-skills serve``: what the file says is what Prefect shows, runs happen in the folder, and bad files are refused."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.responses import DeploymentResponse

from eval_skills.cli.main import call
from eval_skills.core.errors import InputError, UsageError
from eval_skills.deployments import serving
from eval_skills.deployments.deployment_file import DeploymentEntry
from eval_skills.deployments.serving import pause, prepared
from tests.end_to_end.deployments.conftest import Site, until

PIPELINE = "eval_skills.flows.pipeline.pipeline"


@pytest.fixture
def write(site: Site, request: pytest.FixtureRequest) -> Any:
    """Write a file with one deployment of the pipeline under the test's name."""

    def file(**fields: Any) -> Path:
        path = site.folder / f"{request.node.name}.yaml"
        path.write_text(json.dumps({"deployments": [{"name": "mine", "entrypoint": PIPELINE, **fields}]}), encoding="utf-8")
        return path

    return file


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_served_deployment_is_as_the_file_says_and_runs_in_this_folder(site: Site, write: Any, tmp_path: Path) -> None:
    request = {"skillsDir": "./skills", "format": []}
    file = write(
        tags=["mine"],
        parameters={"request": request},
        schedules=[{"slug": "night", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}],
        concurrency_limit={"limit": 3, "collision_strategy": "CANCEL_NEW"},
    )
    log = tmp_path / "serve.log"
    with site.started("eval-skills", "serve", "--file", str(file), "--metrics-port", "0", log=log) as process:
        until(lambda: site.ask("deployments/filter", deployments={"name": {"any_": ["mine"]}}), what="registration", log=log)
        known = site.deployment("pipeline/mine")
        assert (known["work_pool_name"], known["entrypoint"], known["tags"]) == (None, PIPELINE, ["mine"])
        assert known["parameters"] == {"request": request}
        assert "skillsDir" in known["parameter_openapi_schema"]["definitions"]["PipelineRequest"]["properties"]
        assert known["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"
        assert known["global_concurrency_limit"]["limit"] == 3
        [schedule] = known["schedules"]
        assert (schedule["active"], schedule["schedule"]["cron"], schedule["schedule"]["timezone"]) == (
            True, "0 2 * * *", "Europe/Berlin",
        )  # fmt: skip
        asked = site.begin("pipeline/mine")
        ended = until(lambda: site.ended(asked), what="the end of the flow run", log=log)
        assert ended["type"] == "COMPLETED", ended
        [address] = re.findall(r"metrics (http://127\.0\.0\.1:\S+)", log.read_text())
        assert 'eval_skills_completion_ratio{benchmark="' in httpx.get(address, trust_env=False).text  # of the run's own process
        warning, second = "pipeline/mine: served by another process as well", tmp_path / "second.log"
        with site.started("eval-skills", "serve", "--file", str(file), log=second) as other:
            until(lambda: warning in second.read_text(), what="the warning", log=second)
            other.send_signal(signal.SIGINT)
            other.wait(timeout=120)
        assert warning not in log.read_text()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    assert list(site.folder.glob("eval-store/reports/*/*.parquet"))
    assert site.deployment("pipeline/mine")["paused"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ctrl_c_cancels_the_runs_that_go_on_so_that_none_of_them_holds_a_place(site: Site, write: Any, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "slow"
    skill.mkdir(parents=True)
    named = {"id": "slow", "name": "Slow", "version": "1.0.0", "description": "Takes its time", "adapterType": "custom"}
    (skill / "skill.json").write_text(json.dumps(named | {"entrypoint": "slow.py:answer"}), encoding="utf-8")
    (skill / "slow.py").write_text(
        "from pathlib import Path\nimport time\n\n\n"
        "def answer(task):\n    Path(__file__).with_name('asked').touch()\n    time.sleep(25)\n",
        encoding="utf-8",
    )
    request = {"skillsDir": str(skill.parent), "format": [], "store": str(tmp_path / "store")}
    file = write(name="ended", parameters={"request": request}, concurrency_limit={"limit": 1})
    log = tmp_path / "serve.log"
    with site.started("eval-skills", "serve", "--file", str(file), log=log) as process:
        until(lambda: site.ask("deployments/filter", deployments={"name": {"any_": ["ended"]}}), what="registration", log=log)
        asked = site.begin("pipeline/ended")
        until((skill / "asked").exists, what="the first question", log=log)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    ended = site.ended(asked)
    assert ended is not None, "it goes on in Prefect"
    assert ended["type"] == "CANCELLED"
    assert site.deployment("pipeline/ended")["paused"]
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"schedules": [{"cron": "61 2 * * *"}]}, "schedules: Invalid cron", id="cron"),
        pytest.param({"schedules": [{"cron": "0 2 30 2 *"}]}, "schedules: cron '0 2 30 2 *' never comes", id="never"),
        pytest.param({"schedules": [{"cron": "0 0 2 * * 1"}]}, "schedules: cron '0 0 2 * * 1' has 6 fields", id="seconds"),
        pytest.param({"schedules": [{"cron": "0 2 * * *", "timezone": "Mars"}]}, "schedules: Invalid timezone", id="zone"),
        pytest.param({"parameters": {"request": {"topk": 3}}}, "parameters: Validation failed", id="parameter"),
        pytest.param({"entrypoint": "eval_skills.flows.pipeline.STAGES"}, "is not a flow", id="no-flow"),
        pytest.param({"entrypoint": "eval_skills.flows.nothing.nothing"}, "No module named", id="no-module"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_line(fields: dict[str, Any], said: str) -> None:
    entry = DeploymentEntry.model_validate({"name": "mine", "entrypoint": PIPELINE} | fields)
    with pytest.raises(InputError) as refused:
        prepared([entry], Path("my.yaml"))
    assert str(refused.value).startswith("my.yaml: deployment 'mine': ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_limit_that_would_run_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["serve", "--limit", "0"]) == 2
    assert "--limit 0 would run nothing" in capsys.readouterr().err


def test_without_a_server_that_stays_nothing_is_served(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setenv("PREFECT_SERVER_API_PORT", "1")
    assert call(["serve"]) == 2
    assert "server start" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_url")
def test_one_that_somebody_deleted_keeps_no_other_one_from_being_paused(site: Site) -> None:
    gone, left = (DeploymentEntry.model_validate({"name": name, "entrypoint": PIPELINE}) for name in ("gone", "left"))
    site.ask("deployments/", name="left", flow_id=site.ask("flows/", name="pipeline")["id"], entrypoint=PIPELINE)
    assert not site.deployment("pipeline/left")["paused"]
    pause(prepared([gone, left], Path("my.yaml")))
    assert site.deployment("pipeline/left")["paused"]


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_url")
def test_what_keeps_a_served_deployment_from_starting_is_told_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    schedules = [{"cron": "0 2 * * *"}]
    entries = [
        DeploymentEntry.model_validate({"name": name, "entrypoint": PIPELINE, "schedules": schedules})
        for name in ("watched", "late")
    ]
    flow = site.ask("flows/", name="pipeline")["id"]
    fields = {"flow_id": flow, "entrypoint": PIPELINE, "schedules": [{"schedule": each, "active": True} for each in schedules]}
    watched = UUID(site.ask("deployments/", name="watched", **fields)["id"])
    late = UUID(site.ask("deployments/", name="late", paused=True, **fields)["id"])  # as an earlier call left it
    told, looks, known = list[str](), list[int](), serving._known

    def counted(names: Sequence[str]) -> Iterator[tuple[str, DeploymentResponse]]:
        looks.append(len(names))
        return known(names)

    def is_told(line: str) -> None:
        until(lambda: told and told[-1].startswith(f"pipeline/{line}"), what=line)

    monkeypatch.setattr(serving, "_known", counted)
    deployments = serving.prepared(entries, Path("my.yaml"))
    looks.clear()
    with serving.watched(deployments, told.append, every_s=0.05), get_client(sync_client=True) as client:
        until(lambda: len(looks) > 1, what="a look")
        client.pause_deployment(watched)
        is_told("watched was paused in Prefect: its schedule starts nothing")
        client.resume_deployment(watched)
        is_told("watched was resumed in Prefect: its schedule starts runs again")
        client.delete_deployment(watched)
        is_told("watched was deleted in Prefect: nothing starts it any more")
        client.resume_deployment(late)  # as it is registered
        looks.clear()
        until(lambda: len(looks) > 1, what="a look")
        client.pause_deployment(late)
        is_told("late was paused")
    assert len(told) == 4, told


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_url")
def test_a_deployment_of_a_pool_is_not_taken_from_its_workers(site: Site) -> None:
    site.ask("work_pools/", name="other", type="process")
    flow = site.ask("flows/", name="pipeline")["id"]
    site.ask("deployments/", name="pooled", flow_id=flow, work_pool_name="other", entrypoint=PIPELINE)
    entry = DeploymentEntry.model_validate({"name": "pooled", "entrypoint": PIPELINE})
    with pytest.raises(UsageError, match="work pool 'other'"):
        prepared([entry], Path("my.yaml"))
