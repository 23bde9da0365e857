"""The gates of `skill-effect` and `triggers`, and what both refuse; whole runs are on the page about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.commands.agent_skills import triggers as triggers_command
from eval_skills.cli.commands.agent_skills.skill_effect import exit_code
from eval_skills.core.skill_effect.gate import FailOn, gate_failures
from tests.core.skill_effect.test_effect import LOADED, NOT_LOADED, broken, effect, every, report
from tests.core.test_triggers import triggers
from tests.tables import each_row

NO_ANSWER = (
    "set-up error: the agent answered no item of the arm with (infra), so the difference says nothing; see that the agent runs, "
    "then use --resume with --retry-errors"
)


@each_row(
    ("ours", "theirs", "fail_on", "failures"),
    [
        pytest.param(every(9, "pp"), every(9, "ff"), "not-better", [], id="better"),
        pytest.param(every(9, "ff"), every(9, "pp"), "worse", ["with − without is worse"], id="worse"),
        pytest.param(every(9, "pp"), every(9, "pp"), "worse", [], id="equal-is-not-worse"),
        pytest.param(every(9, "pf"), every(9, "pf"), "not-better", ["with − without is inconclusive"], id="equal-is-not-better"),
        pytest.param(
            every(3, "ii"), every(3, "pp"), "worse", [NO_ANSWER, "with − without could not be compared"], id="outage-is-no-pass"
        ),
        pytest.param(
            every(9, "pp") | every(5, "ii"),
            every(9, "pp"),
            "worse",
            ["with − without: items without a verdict leave open whether it is worse"],
            id="outages-leave-it-open",
        ),
        pytest.param(every(3, "pp"), every(2, "ff") | {"t02": "ii"}, "worse", [], id="not-where-nothing-can-have-been-lost"),
        pytest.param(
            every(3, "pp"), every(2, "ff") | {"t02": "ii"}, "not-better", ["with − without is inconclusive"], id="nor-proven"
        ),
    ],
)
def test_the_gate_of_an_effect(ours: dict[str, str], theirs: dict[str, str], fail_on: FailOn, failures: list[str]) -> None:
    assert gate_failures(effect(with_=report("with", ours), without=report("without", theirs)), fail_on) == failures


def test_a_gate_knows_a_loss_on_few_tasks() -> None:
    lost = effect(with_=report("with", every(3, "ff")), without=report("without", every(3, "pp")))
    assert gate_failures(lost, "worse") == [
        "with − without lost 100.0 pp: 3 tasks that passed in every run before failed in every run after, t00, t01, t02 "
        "(chance of flaky tasks: 0.00024)"
    ]
    unclear = effect(with_=report("with", every(3, "f")), without=report("without", every(3, "p")))
    (failure,) = gate_failures(unclear, "worse")
    assert failure.startswith("with − without could not be judged: it lost 100.0 pp, and 3 tasks with so few runs")


def test_a_wrong_set_up_fails_every_gate() -> None:
    found = effect(with_=report("with", every(9, "pp"), LOADED), without=report("without", every(9, "ff"), LOADED))
    failures = gate_failures(found, "worse")
    assert [line.partition(":")[0] for line in failures] == ["set-up error"]
    assert [exit_code(found, each) for each in (None, failures)] == [3, 3]


def test_a_gate_does_not_pass_for_errors_of_the_agent() -> None:
    theirs = broken(report("without", every(9, "pp")), *(f"t{task:02}#2" for task in range(9)))
    found = effect(with_=report("with", every(9, "pp")), without=theirs)
    assert gate_failures(found, "worse") == []
    assert gate_failures(found, "not-better") == [
        "with − without is better only as items without an answer count as not passed: of the answered items alone it is "
        "inconclusive"
    ]


def test_errors_of_the_other_arm_hide_no_loss() -> None:
    theirs = broken(report("without", every(9, "pp")), *(f"t{task:02}#2" for task in range(9)))
    found = effect(with_=report("with", every(9, "pf")), without=theirs)
    assert gate_failures(found, "worse") == [
        "with − without is inconclusive only as items without an answer count as not passed: of the answered items alone it is "
        "worse"
    ]


def test_an_unfinished_run_passes_no_gate() -> None:
    found = effect(with_=report("with", every(9, "pp")), without=report("without", every(9, "ff")))
    said = "run R is unfinished: 18 of 36 items; continue it with --resume R"
    assert gate_failures(found.model_copy(update={"unfinished": said}), "worse") == [said]


def test_what_was_never_loaded_is_not_proven_to_help() -> None:
    found = effect(with_=report("with", every(9, "pp"), NOT_LOADED), without=report("without", every(9, "ff"), NOT_LOADED))
    assert gate_failures(found, "worse") == []
    assert gate_failures(found, "not-better") == ["the Agent Skill was never loaded, so no difference is its content's"]


def test_the_gate_of_triggers_fails_for_what_was_not_observed() -> None:
    assert triggers_command.gate_failures(triggers((True, "LL"), (False, "--"))) == []
    unseen = triggers_command.gate_failures(triggers((True, "LL"), (False, "xt")))
    assert unseen == ["1 query without an observed run"]
    left_open = triggers_command.gate_failures(triggers((True, "LL"), (False, "-xx")))
    assert left_open == ["q1 (query 1): 2 missing runs of 3 could turn it"]


AGENT = ("--agent", "custom", "--agent-option", "command=sh")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["skill-effect"], "name the folder of an Agent Skill", id="nothing-named"),
        pytest.param(["skill-effect", "nowhere", *AGENT], "nowhere: no such folder; give that of an Agent Skill", id="no-folder"),
        pytest.param(["skill-effect", "--of-run", "latest", "--runs", "3"], "as it is; leave out --runs", id="shown-runs"),
        pytest.param(
            ["skill-effect", "--of-run", "latest", "--format", "csv"], "--format: an effect is not written as 'csv'", id="format"
        ),
        pytest.param(["skill-effect", "--of-run", "latest", "--dry-run"], "as it is; leave out --dry-run", id="shown-dry"),
        pytest.param(["skill-effect", "--of-run", "latest", "--resume", "latest"], "leave out --resume", id="shown-resumed"),
        pytest.param(
            ["skill-effect", "--of-run", "latest", "--judge-model", "a/b"], "leave out --judge-model", id="shown-judged"
        ),
        pytest.param(["skill-effect", "s", "--of-run", "latest"], "leave out the folder of an Agent Skill", id="shown-folder"),
        pytest.param(["skill-effect", "--resume", "latest", "--arms", "with", "sham"], "leave out --arms", id="resumed-arms"),
        pytest.param(["skill-effect", "--resume", "latest", "--agent", "codex"], "leave out --agent", id="resumed-agent"),
        pytest.param(["skill-effect", "s", "--arms", "wit", "without"], "unknown arm 'wit' (did you mean 'with'?)", id="arm"),
        pytest.param(["skill-effect", "s", "--arms", "without"], "the arm with is compared with others", id="one-arm"),
        pytest.param(["skill-effect", "s", "--agent-option", "maxSteps"], "give KEY=VALUE, as maxSteps=20", id="agent-option"),
        pytest.param(["skill-effect", "--of-run", "latest"], "no experiment to show", id="no-run"),
        pytest.param(["triggers", "s", "--optimize", "9"], "--optimize: give 1 to 5 rounds; got 9", id="rounds"),
        pytest.param(
            ["triggers", "s", "--optimize", "2", "--dry-run"], "and --dry-run is about one; leave it out", id="dry-rounds"
        ),
        pytest.param(["triggers", "s", *AGENT], "there is no s/evals/eval_queries.json", id="no-queries"),
        pytest.param(
            ["triggers", "s", "--of-run", "latest"], "as it is; leave out the folder of an Agent Skill", id="of-run-skill"
        ),
        pytest.param(
            ["triggers", "--of-run", "latest", "--format", "csv"],
            "--format: triggers are not written as 'csv'",
            id="of-run-format",
        ),
        pytest.param(["triggers", "--of-run", "latest", "--optimize", "2"], "leave out --optimize", id="of-run-optimize"),
        pytest.param(["triggers", "--of-run", "latest", "--runs", "2"], "leave out --runs", id="of-run-runs"),
        pytest.param(["triggers", "--of-run", "latest", "--resume", "latest"], "leave out --resume", id="of-run-resume"),
        pytest.param(["triggers", "--of-run", "latest", "--dry-run"], "leave out --dry-run", id="of-run-dry"),
        pytest.param(["triggers", "--resume", "latest", "--neighbours", "n"], "leave out --neighbours", id="resume-beside"),
        pytest.param(["triggers", "--resume", "latest", "--agent", "codex"], "leave out --agent", id="resume-agent"),
    ],
)
def test_what_cannot_be_asked_is_refused(run_here: Callable[..., Any], arguments: list[str], said: str) -> None:
    result = run_here(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not Path("eval-store").exists()


@pytest.fixture
def _skill(run_here: Callable[..., Any]) -> None:
    """The Agent Skill ``csv``, with a task and a query."""
    skill = Path("csv")
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: csv\ndescription: Reads tables.\n---\n")
    (skill / "evals" / "evals.json").write_text('{"evals": [{"prompt": "Go.", "assertions": ["a.txt exists"]}]}')
    (skill / "evals" / "eval_queries.json").write_text('[{"query": "Go.", "should_trigger": true}]')


@pytest.mark.parametrize("command", ["skill-effect", "triggers"])
@pytest.mark.usefixtures("_skill")
def test_a_store_that_cannot_be_written_to_is_refused(run_here: Callable[..., Any], command: str) -> None:
    result = run_here(command, "csv", *AGENT, "--store", "csv/SKILL.md/store")
    assert (result.code, result.out) == (2, "")
    assert "csv/SKILL.md/store/agent-skills: the arms cannot be written here: Not a directory; name another folder" in result.err


@pytest.mark.slow
@pytest.mark.usefixtures("_skill")
def test_a_dry_run_writes_nothing(run_here: Callable[..., Any]) -> None:
    before = sorted(Path().rglob("*"))
    for command in ("skill-effect", "triggers"):
        result = run_here(command, "csv", *AGENT, "--dry-run")
        assert result.code == 0, result.err
        assert "nothing was called or written" in result.out
    assert sorted(Path().rglob("*")) == before


@pytest.mark.slow
def test_a_resume_is_held_to_the_gate_that_its_run_began_with(served: Any) -> None:
    served.write("csv/SKILL.md", "---\nname: csv\ndescription: Reads tables.\n---\n")
    served.write("csv/evals/eval_queries.json", '[{"query": "Go.", "should_trigger": true}]')
    task = {"inputData": {"prompt": "Go."}, "expectedOutput": {"value": "ok"}}
    served.write("tasks.json", [task | {"id": f"t{n}"} for n in range(9)])
    answer = '{"type": "step"}\\n{"type": "answer", "content": "\'$said\'"}\\n'
    agent = served.write("agent.sh", f"said=ok; test -d .agents/skills/csv && said=bad\nprintf '{answer}'\n")
    using = ("--agent", "custom", "--agent-option", f"command=sh {agent}")
    for command, asked, gate, without in (
        ("skill-effect", ("--tasks", "tasks.json", "--runs", "2"), ("--fail-on", "worse"), None),
        ("triggers", (), ("--exit-on-fail",), "--exit-on-fail=false"),
    ):
        stopped = served.call(command, "csv", *using, *asked, *gate, "--max-duration", "1e-9")
        assert (stopped.code, f"eval-skills {command} --resume" in stopped.err + stopped.out) == (3, True), stopped.err
        resume = (command, "--resume", "latest", "--max-duration", "600")
        planned = served.call(*resume, "--dry-run")
        assert planned.code == 1, planned.err
        resumed = served.call(*resume)
        assert (resumed.code, "gate failed" in resumed.out) == (1, True), resumed.err
        assert (without is None) or served.call(*resume, without).code == 0
