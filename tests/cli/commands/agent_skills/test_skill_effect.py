"""The gates of `skill-effect` and `triggers`, and what both refuse; whole runs are on the page about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.commands.agent_skills import triggers as triggers_command
from eval_skills.cli.commands.agent_skills.skill_effect import exit_code
from eval_skills.core.skill_effect import FailOn, gate_failures
from tests.core.test_skill_effect import LOADED, effect, every, report
from tests.core.test_triggers import triggers


@pytest.mark.parametrize(
    ("ours", "theirs", "fail_on", "failures"),
    [
        pytest.param(every(9, "pp"), every(9, "ff"), "not-better", [], id="better"),
        pytest.param(every(9, "ff"), every(9, "pp"), "worse", ["with − without is worse"], id="worse"),
        pytest.param(every(9, "pp"), every(9, "pp"), "worse", [], id="equal-is-not-worse"),
        pytest.param(every(9, "pf"), every(9, "pf"), "not-better", ["with − without is inconclusive"], id="equal-is-not-better"),
        pytest.param(every(3, "ii"), every(3, "pp"), "worse", ["with − without could not be compared"], id="outage-is-no-pass"),
        pytest.param(
            every(9, "pp") | every(5, "ii"),
            every(9, "pp"),
            "worse",
            ["with − without: items without a verdict leave open whether it is worse"],
            id="outages-leave-it-open",
        ),
    ],
)
def test_the_gate_of_an_effect(ours: dict[str, str], theirs: dict[str, str], fail_on: FailOn, failures: list[str]) -> None:
    assert gate_failures(effect(with_=report("with", ours), without=report("without", theirs)), fail_on) == failures


def test_a_wrong_set_up_fails_every_gate() -> None:
    found = effect(with_=report("with", every(9, "pp"), LOADED), without=report("without", every(9, "ff"), LOADED))
    failures = gate_failures(found, "worse")
    assert [line.partition(":")[0] for line in failures] == ["set-up error"]
    assert [exit_code(found, each) for each in (None, failures)] == [3, 3]


def test_the_gate_of_triggers_fails_for_what_was_not_observed() -> None:
    assert triggers_command.gate_failures(triggers((True, "LL"), (False, "--"))) == []
    unseen = triggers_command.gate_failures(triggers((True, "LL"), (False, "xt")))
    assert unseen == ["1 query without an observed run"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["skill-effect"], "name the folder of an Agent Skill", id="nothing-named"),
        pytest.param(["skill-effect", "nowhere"], "there is no nowhere/evals/evals.json", id="no-evals"),
        pytest.param(["skill-effect", "s", "--arms", "wit", "without"], "unknown arm 'wit' (did you mean 'with'?)", id="arm"),
        pytest.param(["skill-effect", "s", "--arms", "without"], "the arm with is compared with others", id="one-arm"),
        pytest.param(["skill-effect", "s", "--agent-option", "maxSteps"], "give KEY=VALUE, as maxSteps=20", id="agent-option"),
        pytest.param(["skill-effect", "--of-run", "latest"], "no experiment to show", id="no-run"),
        pytest.param(["triggers", "s", "--optimize", "9"], "--optimize: give 1 to 5 rounds; got 9", id="rounds"),
        pytest.param(
            ["triggers", "s", "--optimize", "2", "--dry-run"], "and --dry-run is about one; leave it out", id="dry-rounds"
        ),
        pytest.param(["triggers", "s"], "there is no s/evals/eval_queries.json", id="no-queries"),
    ],
)
def test_what_cannot_be_asked_is_refused(run_here: Callable[..., Any], arguments: list[str], said: str) -> None:
    result = run_here(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not Path("eval-store").exists()


def test_a_dry_run_writes_nothing(run_here: Callable[..., Any]) -> None:
    skill = Path("csv")
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: csv\ndescription: Reads tables.\n---\n")
    (skill / "evals" / "evals.json").write_text('{"evals": [{"prompt": "Go.", "assertions": ["a.txt exists"]}]}')
    (skill / "evals" / "eval_queries.json").write_text('[{"query": "Go.", "should_trigger": true}]')
    before = sorted(Path().rglob("*"))
    agent = ("--agent", "custom", "--agent-option", "command=sh", "--dry-run")
    for command in ("skill-effect", "triggers"):
        result = run_here(command, "csv", *agent)
        assert result.code == 0, result.err
        assert "nothing was called or written" in result.out
    assert sorted(Path().rglob("*")) == before
