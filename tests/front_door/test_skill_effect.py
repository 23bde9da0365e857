"""`es.skill_effect`: an agent with an Agent Skill and without, from Python."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, assert_type

import pytest

import eval_skills as es
from eval_skills.core.errors import InputError, RunError, UsageError, UserError
from eval_skills.engine.repair import repair
from eval_skills.engine.skill_effect.experiment import stored_effect
from tests.front_door.test_result import ATTACK, read_html

AGENT = """
import json, os, sys
has_it = os.path.exists(".agents/skills/csv-tools/SKILL.md")
if has_it:
    print(json.dumps({"type": "skill_loaded", "name": "csv-tools"}))
print(json.dumps({"type": "step"}))
prompt = sys.stdin.read()
print(json.dumps({"type": "answer", "content": "yes" if has_it != ("harm" in prompt) else "no"}))
"""
TASKS: list[dict[str, Any]] = [{"id": f"t{n}", "input": f"Question {n}?", "expected": "yes"} for n in range(8)]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The agent's config; an Agent Skill without evals lies in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("csv-tools").mkdir()
    Path("csv-tools/SKILL.md").write_text("---\nname: csv-tools\ndescription: Reads tables.\n---\nSay yes.\n")
    Path("agent.py").write_text(AGENT)
    return {"command": f"{sys.executable} -ISs {tmp_path / 'agent.py'}"}  # which loads no site-packages


@pytest.mark.slow
def test_a_skill_that_helps(agent: dict[str, str]) -> None:
    tasks = [*TASKS, {"id": ATTACK, "input": "harm", "expected": "yes"}]
    effect = es.skill_effect("csv-tools", agent="custom", agent_config=agent, tasks=tasks, runs=2)
    assert_type(effect, es.EffectResult)
    assert effect.verdicts == {"without": "better"}
    assert effect.gains["without"] == pytest.approx(7 / 8)
    assert [task.task_id for task in effect.worse["without"]] == [ATTACK]
    assert (effect.arms["with"].load_rate, effect.arms["without"].load_rate) == (1.0, 0.0)
    assert effect.to_pandas().groupby("arm")["passed"].sum().to_dict() == {"with": 16, "without": 2}
    assert "with − without: +77.8 pp, ✔ better" in str(effect)
    assert repr(effect) == "<EffectResult: csv-tools on custom: better than without>"
    shown = read_html(effect._repr_html_())
    assert "script" not in shown.tags
    assert "alert(1)" in shown.text
    assert json.loads(effect.save("out/effect.json").read_text())["names"] == ["csv-tools"]
    assert {each.name for each in Path().iterdir()} == {"agent.py", "csv-tools", "out"}
    with pytest.raises(UsageError, match=r"effect\.pdf: no report of an effect ends like this; valid endings are \.json, \.md"):
        effect.save("effect.pdf")


@pytest.mark.parametrize("given", [{}, {"prefect": True}])
def test_more_items_than_a_report_lists_are_refused_before_anything_is_asked(agent: dict[str, str], given: Any) -> None:
    tasks = [{"id": f"t{n}", "input": f"Question {n}?", "expected": "yes"} for n in range(51)]
    said = r"^2 skills × 51 tasks × 1,000 runs are 102,000 items, and reports list at most 100,000 one by one, .* or fewer runs$"
    with pytest.raises(UsageError, match=said):
        es.skill_effect("csv-tools", agent="custom", agent_config={"command": "touch asked"}, tasks=tasks, runs=1000, **given)
    assert not Path("asked").exists()


def says_yes(output: str) -> bool:
    return output == "yes"


@pytest.mark.slow
def test_a_function_may_judge(agent: dict[str, str]) -> None:
    tasks = [{"id": task["id"], "input": task["input"]} for task in TASKS]
    effect = es.skill_effect("csv-tools", agent="custom", agent_config=agent, tasks=tasks, evaluator=says_yes)
    assert effect.verdicts == {"without": "better"}
    with pytest.raises(
        UsageError, match="evaluator says_yes is an object of this process, and task_runner dask judges in others"
    ):
        es.skill_effect(
            "csv-tools", agent="custom", agent_config=agent, tasks=tasks, evaluator=says_yes, prefect=True, task_runner="dask"
        )


@pytest.mark.slow
def test_an_experiment_that_stopped_goes_on(agent: dict[str, str]) -> None:
    def effect(**options: Any) -> es.EffectResult:
        return es.skill_effect("csv-tools", agent="custom", agent_config=agent, tasks=TASKS, **{"store": "store", **options})

    stopped = r"stopped at max_duration_s 1e-06: .* of a part of them the effect is not known: "
    with pytest.raises(RunError, match=rf"{stopped}give store=, so that resume= can ask the rest"):
        effect(max_duration_s=1e-6, store=None)
    with pytest.raises(RunError, match=rf'{stopped}resume="\S+" and a higher limit ask the rest') as error:
        effect(max_duration_s=1e-6)
    (run_id,) = es.Store("store").run_ids()
    assert run_id in str(error.value)
    with pytest.raises(UsageError, match="resume goes on with a run of a store"):
        es.skill_effect("csv-tools", agent="custom", agent_config=agent, tasks=TASKS, resume="latest")
    whole = effect(resume="latest", max_duration_s=None)
    assert (whole.verdicts, whole.problems) == ({"without": "better"}, [])
    assert list(es.Store("store").run_ids()) == [whole.run_id]
    assert effect(resume=whole.run_id).verdicts == whole.verdicts
    Path("csv-tools/SKILL.md").write_text("---\nname: csv-tools\ndescription: Reads tables.\n---\nSay no.\n")
    with pytest.raises(UsageError, match="skills decides results and was"):
        effect(resume=whole.run_id)


@pytest.mark.slow
def test_a_kept_run_can_be_read_again(agent: dict[str, str]) -> None:
    async def in_a_notebook() -> es.EffectResult:
        return es.skill_effect(
            ["csv-tools"], agent="custom", agent_config=agent, tasks=TASKS[:2], store="kept", arms=["with", "sham"]
        )

    effect = asyncio.run(in_a_notebook())
    assert list(effect.arms) == ["with", "sham"]
    again, _ = stored_effect("kept", effect.run_id)
    assert again == effect.effect

    store = es.Store("kept")
    columns = ["skill_id", "effect_of", "effect_arm", "effect_against", "effect", "effect_verdict"]
    before, (reports,) = store.tables.rows("reports", columns), store.tables.files("reports").values()
    assert [row["effect_arm"] for row in before] == ["sham", "with"]
    Path(reports).unlink()
    assert [each.repaired for each in repair(store).findings] == ["reports made anew from the items"]
    assert store.tables.rows("reports", columns) == before


@pytest.mark.slow
def test_no_verdict_where_the_agent_does_not_run(agent: dict[str, str]) -> None:
    Path("agent.py").write_text("raise SystemExit(3)")
    effect = es.skill_effect("csv-tools", agent="custom", agent_config=agent, tasks=TASKS[:3])
    assert effect.verdicts == {"without": None}
    assert effect.problems[0].startswith("the agent answered no item of the arm with")
    assert effect.problems[0].endswith("see that the agent runs, then use resume with retry_errors")
    assert "set-up error: the agent answered no item" in str(effect)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        pytest.param({"skills": "nowhere"}, UsageError, "nowhere: no such folder", id="no-folder"),
        pytest.param({"skills": []}, UsageError, "skills is empty", id="no-skill"),
        pytest.param({"arms": ["with", "sham", "wit"]}, UsageError, r"arms: unknown arm 'wit' \(did you mean 'with'", id="arm"),
        pytest.param({"arms": ["with"]}, UsageError, "arms: the arm with is compared with others", id="one-arm"),
        pytest.param({"old": "nowhere"}, UserError, "not a git repository", id="old"),
        pytest.param({"tasks": None}, UsageError, r"there is no csv-tools/evals/evals\.json", id="no-evals"),
        pytest.param({"tasks": "none.json"}, InputError, r"none\.json: no such file", id="no-file"),
        pytest.param({"tasks": [{"input": 1, "expectd": 2}]}, InputError, "unknown key 'expectd'", id="task"),
        pytest.param({"agent": "cursor"}, UserError, "cursor", id="agent"),
        pytest.param({"until": "decided"}, UsageError, "until is not an option of skill_effect", id="until"),
        pytest.param({"fail_fast": True}, UsageError, "fail_fast is about the Prefect task runs", id="needs-prefect"),
        pytest.param({"run": 3}, UsageError, r"unknown option 'run' \(did you mean 'runs'", id="option"),
    ],
)
def test_what_cannot_be_asked(agent: dict[str, str], asked: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        es.skill_effect(**{"skills": "csv-tools", "agent": "custom", "agent_config": agent, "tasks": TASKS, **asked})
    assert {each.name for each in Path().iterdir()} == {"agent.py", "csv-tools"}
