"""What a run says of limits and sandboxes reaches every skill that it calls, and is checked before any is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.adapters import Confinement
from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.core.errors import UsageError
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest, confinement_asked
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.plan import RunPlan, make_plan

SKILL = """{"id": "probe", "name": "P", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "{python} -S skill.py"}"""
PROGRAM = """
import json, resource, sys
request = json.loads(sys.stdin.read())
try:
    open("written", "w").close()
except OSError:
    pass
held = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": held}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "probe"
    folder.mkdir()
    (folder / "skill.json").write_text(SKILL)
    (folder / "skill.py").write_text(PROGRAM)
    return folder


def plan_of(folder: Path, **options: object) -> RunPlan:
    places = {"store": str(folder.parent / "store"), "output_dir": str(folder.parent / "reports")}
    return make_plan(EvaluateRequest.model_validate({"skills": [str(folder)], **places, **options}))


async def first(plan: RunPlan) -> Outcome:
    async with LocalExecutor(plan) as here:
        return await here.execute(plan.items[0], [])


async def test_p59_a_limit_of_the_run_holds_for_its_skills(folder: Path) -> None:
    assert (await first(plan_of(folder, open_files=77))).result.output == 77


async def test_p59_so_does_the_limit_of_an_answer(folder: Path) -> None:
    result = (await first(plan_of(folder, max_output_bytes=5))).result
    assert (result.status, result.error_kind) == ("error", "contract")
    assert "more than 5 bytes (maxOutputBytes)" in str(result.error_message)


@pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
async def test_p59_so_does_the_sandbox(folder: Path) -> None:
    assert (await first(plan_of(folder, sandbox="bwrap"))).result.status != "error"
    assert not (folder / "written").exists()
    assert (await first(plan_of(folder))).result.status != "error"
    assert (folder / "written").exists()


@pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
def test_a_skill_that_gives_itself_the_network_is_a_remark(folder: Path) -> None:
    (folder / "adapter.config.json").write_text('{"network": true}')
    remark, *_ = plan_of(folder, sandbox="bwrap").remarks
    assert remark.startswith("in the sandbox and yet with the network: probe@1.0.0")


def test_without_a_sandbox_nothing_begins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(UsageError, match="--sandbox bwrap: there is no bwrap on PATH"):
        plan_of(folder, sandbox="bwrap")
    assert sorted(path.name for path in folder.parent.iterdir()) == ["probe"]


def test_the_pipeline_says_the_same_as_its_evaluation() -> None:
    request = PipelineRequest(sandbox="bwrap", sandbox_network="none", memory_mb=9)
    expected = Confinement(sandbox="bwrap", sandbox_network="none", memory_mb=9)
    assert confinement_asked(request) == confinement_asked(request.evaluation(["s"])) == expected
