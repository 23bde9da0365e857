"""What a replay says of limits and sandboxes reaches every revision that it evaluates; without a sandbox nothing is evaluated."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.summary import BackfillSummary
from eval_skills.engine.definition.request import EvaluateRequest, confinement_asked
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.summary import RunSummary
from tests.engine.backfill.backfills import backfill

PROGRAM = """
import json, resource, sys
request = json.loads(sys.stdin.read())
try:
    open("written", "w").close()
    wrote = True
except OSError:
    wrote = False
result = [resource.getrlimit(resource.RLIMIT_NOFILE)[0], wrote]
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))
"""
SKILL = {"id": "probe", "name": "P", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "{python} -S skill.py"}
TASK = {"id": "held", "inputData": {}, "expectedOutput": {"value": "nothing"}}

Replay = Callable[..., BackfillSummary]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One revision of a skill that says how many files it may have open, and whether it can write into its folder."""
    skill = tmp_path / "repository" / "skills" / "probe"
    skill.mkdir(parents=True)
    (skill / "skill.json").write_text(json.dumps(SKILL))
    (skill / "skill.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "-m", "m"]):
        subprocess.run([*git, *words], cwd=tmp_path / "repository", env=kept, check=True)
    return tmp_path / "repository"


@pytest.fixture
def replay(store: Store, tmp_path: Path, repository: Path) -> Replay:
    (tmp_path / "tasks.json").write_text(json.dumps([TASK]))
    common: dict[str, Any] = {
        "skills_repo": str(repository),
        "skills_path": "skills",
        "tasks": str(tmp_path / "tasks.json"),
        "timeout_ms": 120_000,
    }
    return lambda **options: backfill(store, "replay", evaluate=plainly, **common, **options)


def plainly(request: EvaluateRequest) -> RunSummary:
    """What the flow `evaluate` does, without Prefect around it."""
    return evaluate_in_process(make_plan(request))


def said(store: Store) -> list[Any]:
    return [json.loads(output) for output in store.items()["output"]]


@pytest.mark.slow
def test_p59_a_limit_of_the_backfill_holds_for_the_skills_of_a_revision(store: Store, replay: Replay) -> None:
    replay(open_files=77)
    assert said(store) == [[77, True]]
    [run_id] = store.run_ids()
    assert store.manifest(run_id).request["openFiles"] == 77


@pytest.mark.slow
def test_p59_so_does_the_limit_of_an_answer(store: Store, replay: Replay) -> None:
    replay(max_output_bytes=5)
    [message] = store.items()["error_message"]
    assert "more than 5 bytes (maxOutputBytes)" in message


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
def test_p59_so_does_the_sandbox(store: Store, replay: Replay) -> None:
    replay(sandbox="bwrap", open_files=78)
    assert said(store) == [[78, False]]


@pytest.mark.slow
def test_another_limit_is_another_evaluation_and_the_same_one_is_up_to_date(store: Store, replay: Replay) -> None:
    assert replay().done
    assert replay(open_files=77).done
    assert [files == 77 for files, _ in said(store)] in ([True, False], [False, True])
    assert (replay(open_files=77).done, replay().done, len(store.run_ids())) == ([], [], 2)


def test_without_a_sandbox_nothing_is_evaluated_and_no_period_is_done(
    store: Store, replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = subprocess.check_output(["/bin/sh", "-c", "command -v git"], text=True).strip()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(UsageError, match="--sandbox bwrap: there is no bwrap on PATH"):
        replay(sandbox="bwrap")
    assert not (tmp_path / "store").exists()


def test_the_request_of_a_revision_is_held_to_what_the_backfill_is_held_to() -> None:
    limits: dict[str, Any] = {"memory_mb": 64, "cpu_seconds": 2, "open_files": 65, "max_output_bytes": 66}
    sandbox: dict[str, Any] = {"sandbox": "bwrap", "sandbox_network": "none"}
    request = BackfillRequest(mode="replay", skills_repo=".", **limits, **sandbox)
    assert confinement_asked(request.evaluation()) == confinement_asked(EvaluateRequest(**limits, **sandbox))
