"""The backfill flow against a real Prefect server and a real git repository: one subflow per period, named by it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.summary import BackfillSummary
from eval_skills.flows import backfill

pytestmark = pytest.mark.usefixtures("prefect_url")
Ask = Callable[..., Any]

SKILL = """
import json, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": %s}))
"""
HOSTILE_TAG = "v2;touch${IFS}pwned{period}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A skill that was wrong on 1 March, right on 3 March and broken on 4 March, beside another that was never readable; and its
    folder as it is now, dirty.
    """
    folder = tmp_path / "repository"
    for name in ("echo", "unreadable"):
        (folder / "skills" / name).mkdir(parents=True)
    (folder / "skills" / "unreadable" / "skill.json").write_text("{")
    git(folder, "init", "--quiet")
    described = {"id": "echo", "name": "Echo", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "python3 skill.py"}
    revisions = [(1, '"wrong"', "v1"), (3, 'request["params"]["text"]', HOSTILE_TAG), (4, '""', "broken")]
    for day, answer, tag in revisions:
        (folder / "skills" / "echo" / "skill.json").write_text("{" if tag == "broken" else json.dumps(described))
        (folder / "skills" / "echo" / "skill.py").write_text(SKILL % answer)
        git(folder, "add", "-A")
        git(folder, "commit", "--quiet", "-m", tag, at=f"2026-03-0{day}T12:00:00Z")
        git(folder, "tag", "--", tag)
    (folder / "skills" / "echo" / "skill.py").write_text("dirty")
    return folder


def git(folder: Path, *arguments: str, at: str = "") -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    environment = kept | ({"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at} if at else {})
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def replay(tmp_path: Path, repository: Path) -> Callable[..., BackfillSummary]:
    tasks = [{"id": f"t{n}", "inputData": {"text": f"x{n}"}, "expectedOutput": {"value": f"x{n}"}} for n in range(6)]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    common = {
        "mode": "replay", "skills_repo": str(repository), "skills_path": "skills", "tasks": str(tmp_path / "tasks.json"),
        "store": str(tmp_path / "store"), "output_dir": str(tmp_path / "reports"), "timeout_ms": 120_000,
    }  # fmt: skip
    return lambda **options: backfill(BackfillRequest.model_validate({**common, **options}))


Replay = Callable[..., BackfillSummary]


def from_now_on() -> dict[str, Any]:
    """The flow runs that begin now or later: other tests share the server, whatever they call their runs."""
    return {"start_time": {"after_": datetime.now(UTC).isoformat()}}


@pytest.mark.slow
def test_every_revision_lands_under_its_own_date_and_the_second_call_does_nothing(
    replay: Replay, repository: Path, tmp_path: Path, ask: Ask
) -> None:
    before, ours = (git(repository, "status", "--porcelain"), git(repository, "worktree", "list")), from_now_on()
    summary = replay()
    assert [(row["period"], row.get("completion_rate"), row.get("verdict")) for row in summary.rows] == [
        ("2026-03-01", 0.0, None), ("2026-03-03", 1.0, "better"), ("2026-03-04", None, None),
    ]  # fmt: skip
    assert "skill.json" in summary.rows[2]["explanation"]
    assert str(tmp_path / "store") not in summary.rows[2]["explanation"]
    store = Store(tmp_path / "store")
    items = store.items()
    assert {moment.date().isoformat() for moment in items["started_at"]} == {"2026-03-01", "2026-03-03"}
    assert set(items["origin"]) == set(store.reports()["origin"]) == {"replay"}
    assert all(attempt["started_at"] > datetime(2026, 3, 5, tzinfo=UTC) for each in items["attempts"] for attempt in each)
    commits = git(repository, "log", "--reverse", "--format=%H").split()
    assert [remark.partition(": not valid JSON")[0] for remark in summary.remarks[:2]] == [
        f"{day}: skipped {repository}@{commit[:12]}/skills/unreadable/skill.json"
        for day, commit in zip(("2026-03-01", "2026-03-03"), commits[:2], strict=True)
    ]
    assert [store.manifest(run_id).provenance["commit"] for run_id in store.run_ids()] == commits[:2]
    assert (git(repository, "status", "--porcelain"), git(repository, "worktree", "list")) == before
    again = replay()
    assert (again.done, len(again.up_to_date), len(store.run_ids())) == ([], 3, 2)
    begun = ask("flow_runs/filter", flow_runs=ours, limit=200)
    calls = [each for each in begun if str(tmp_path) in json.dumps(each["parameters"]) and each["name"].startswith("backfill")]
    assert [each["name"] for each in calls] == ["backfill replay · 3 periods"] * 2
    periods = ask("flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": [each["id"] for each in calls]}})
    assert sorted(each["name"] for each in periods) == ["2026-03-01", "2026-03-03", "2026-03-04"]
    messages = [each["state"]["message"] for each in periods if each["name"] == "2026-03-03"]
    assert messages == ["echo 100.0 % better"]


def test_p40_a_path_that_no_revision_has_is_refused(replay: Replay) -> None:
    with pytest.raises(UsageError, match=r"--skills-path zz: no revision of .*repository from this time has it"):
        replay(skills_path="zz")


@pytest.mark.slow
def test_p40_a_time_of_broken_revisions_alone_comes_to_nothing_and_says_so(replay: Replay) -> None:
    assert replay(since=datetime(2026, 3, 4, tzinfo=UTC)).is_empty
    assert not replay().is_empty


@pytest.mark.slow
def test_p70_a_tag_is_a_period_whatever_it_is_called_and_shares_the_run_of_its_commit(
    replay: Replay, tmp_path: Path, ask: Ask
) -> None:
    until, ours = datetime(2026, 3, 4, tzinfo=UTC), from_now_on()
    replay(until=until)
    store = Store(tmp_path / "store")
    runs = store.run_ids()
    summary = replay(every="tag", until=until)
    assert summary.done == ["v1", HOSTILE_TAG]
    assert [row["verdict"] for row in summary.rows] == [None, "better"]
    assert store.run_ids() == runs
    assert HOSTILE_TAG in [each["name"] for each in ask("flow_runs/filter", flow_runs=ours, limit=200)]
    assert not list(tmp_path.rglob("pwned*"))
