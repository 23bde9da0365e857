"""The automations: each file is one that Prefect takes, and an event of ours ends as a message at a webhook."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_skills.deployments.deployment_file import deployment_entries
from tests.end_to_end.deployments.conftest import ROOT, Site, until

FOLDER = ROOT / "deployments" / "automations"
FILES = sorted(FOLDER.glob("*.yaml"))
OURS = {"regression", "forbidden-tool", "recovered", "flaky", "not-judged", "run-failed", "skill-effect", "monitor-status"}

RESOURCE = {
    "prefect.resource.id": "eval-skills.skill.arithmetic.calculator",
    "prefect.resource.name": "calculator@1.0.0 in arithmetic",
}

EMIT = """
import json, sys
from prefect.events import emit_event
name, resource, payload = sys.argv[1:]
emit_event(name, resource=json.loads(resource), payload=json.loads(payload))
"""


@pytest.fixture
def posted() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A webhook: its address, and what was posted to it."""
    texts: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", texts
        server.shutdown()


def test_there_is_one_for_every_event_of_ours() -> None:
    expected = {event for file in FILES for event in yaml.safe_load(file.read_text())["trigger"]["expect"]}
    assert {f"eval-skills.{name}" for name in OURS} <= expected


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_prefect_takes_the_file(file: Path) -> None:
    from prefect.server.events.schemas.automations import AutomationCore

    said = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert [action["type"] for action in said["actions"]] == ["send-notification"]
    said["actions"][0]["block_document_id"] = "00000000-0000-0000-0000-000000000000"
    automation = AutomationCore.model_validate(said)  # the server's own model: it compiles the templates, too
    assert automation.name == f"eval-skills {file.stem}"
    assert automation.description
    assert automation.enabled


@pytest.fixture
def automated(site: Site) -> Iterator[Site]:
    """The site, which forgets its automations: left behind, they would act on what every later test does."""
    yield site
    for automation in site.ask("automations/filter"):
        site.forget(f"automations/{automation['id']}")


def test_a_night_that_comes_when_its_schedule_says_is_not_missed() -> None:
    from prefect.server.schemas.schedules import CronSchedule

    (planned,) = next(entry for entry in deployment_entries() if entry.name == "nightly").schedules
    schedule = CronSchedule(cron=planned.cron, timezone=planned.timezone)
    nights = [each.timestamp() for each in asyncio.run(schedule.get_dates(365, start=datetime(2027, 1, 1, tzinfo=UTC)))]
    hours = {(later - earlier) / 3600 for earlier, later in pairwise(nights)}
    assert hours == {23, 24, 25}, "as the guide on deployments says"
    missed = yaml.safe_load((ROOT / "deployments" / "automations" / "missed-night.yaml").read_text())
    assert missed["trigger"]["within"] >= 3600 * (max(hours) + 1), "a night may take longer than the one before"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_event_becomes_a_message(automated: Site, posted: tuple[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    site, (url, texts) = automated, posted
    for done in ("created", "updated"):
        _, out, err = site.run(FOLDER / "apply.py", NOTIFY_URL=url)
        assert out.splitlines() == [f"{done}: {file.stem}" for file in FILES], err
    emit = tmp_path / "emit.py"
    emit.write_text(EMIT)
    payload = json.dumps({"suite": "arithmetic", "explanation": "92 % → 71 %"})
    code, _, err = site.run(emit, "eval-skills.regression", json.dumps(RESOURCE), payload)
    assert code == 0, err
    # Other tests have nights with regressions, too, at the same server.
    [message] = until(lambda: [each for each in texts if "calculator@1.0.0 in arithmetic" in each["text"]], what="a message")
    assert message["text"].startswith("eval-skills: regression of calculator@1.0.0 in arithmetic\n")
    assert "explanation: 92 % → 71 %" in message["text"]


@pytest.mark.slow
def test_without_a_block_nothing_is_created(site: Site) -> None:
    code, out, err = site.run(FOLDER / "apply.py", "--block", "slack-webhook/none")
    assert (code, out) == (1, "")
    assert "there is no block slack-webhook/none" in err
