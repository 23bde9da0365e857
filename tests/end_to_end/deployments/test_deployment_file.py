"""Reading a ``prefect.yaml``: the one that is shipped, and what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.deployments.deployment_file import SHIPPED, deployment_entries, refuse_endless_nights

ENTRY = {"name": "a", "entrypoint": "eval_skills.flows.evaluate.evaluate"}


def write(folder: Path, document: Any) -> Path:
    path = folder / "prefect.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_the_shipped_file_has_the_five_deployments() -> None:
    assert [entry.full_name for entry in deployment_entries()] == [
        "nightly/nightly", "evaluate/evaluate", "pipeline/pipeline", "backfill/backfill", "monitor/monitor",
    ]  # fmt: skip


def test_only_keeps_the_order_of_the_file() -> None:
    assert [entry.name for entry in deployment_entries(SHIPPED, ["pipeline", "nightly"])] == ["nightly", "pipeline"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param({"deployments": []}, "deployments", id="none"),
        pytest.param({}, "deployments", id="missing"),
        pytest.param({"deployments": [ENTRY | {"scheduls": []}]}, "did you mean 'schedules'", id="unknown-key"),
        pytest.param({"deployments": [ENTRY | {"entrypoint": "flows/evaluate.py:evaluate"}]}, "entrypoint", id="a-file"),
        pytest.param({"deployments": [ENTRY | {"concurrency_limit": {"limit": 0}}]}, "concurrency", id="no-run-at-all"),
        pytest.param({"deployments": [ENTRY | {"schedules": [{"cron": ""}]}]}, "cron", id="blank-cron"),
        pytest.param({"deployments": [ENTRY | {"name": "nights/a"}]}, r"name: .*a name without / % & < or >", id="slash"),
        pytest.param({"deployments": [ENTRY, ENTRY]}, "two deployments have the name 'a'", id="twice"),
        pytest.param(["a"], "prefect.yaml", id="a-list"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, document: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        deployment_entries(write(tmp_path, document))


def test_a_name_that_is_not_there_gets_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'nightly'"):
        deployment_entries(SHIPPED, ["nigthly"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        deployment_entries(tmp_path / "none.yaml")


SUITES = {"suites": [{"name": "sums", "skills": ["./skills"], "benchmark": "coding-easy", "via": "evaluate/evaluate"}]}


def test_a_night_that_would_wait_for_its_own_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refuse_endless_nights(deployment_entries(), 1)  # its file of suites is not there
    (tmp_path / "suites.yaml").write_text(json.dumps(SUITES))
    with pytest.raises(UsageError, match=r"--limit 1: nightly/nightly has the only place, .* sums is evaluated via evaluate"):
        refuse_endless_nights(deployment_entries(), 1)
    refuse_endless_nights(deployment_entries(), 2)
    refuse_endless_nights(deployment_entries(SHIPPED, ["nightly"]), 1)  # somebody else evaluates
