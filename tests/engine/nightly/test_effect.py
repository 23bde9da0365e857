"""What an Agent Skill changes, night by night; the agent is a shell script that answers what its Agent Skill says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval_skills.core.store import Store, past_runs
from eval_skills.core.trend.trend import trend
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.nightly.effect import setup_errors
from eval_skills.engine.nightly.evidence import gather
from eval_skills.engine.nightly.execution import (
    Asked,
    Evaluated,
    asked_of,
    concluded,
    confirmed,
    evaluated,
    finish_night_without_prefect,
    record,
    runs_of,
)
from eval_skills.engine.nightly.plan import plan_night
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightEffect, NightSummary
from tests.core.skill_effect.test_effect import LOADED, effect, every, report
from tests.tables import each_row

AGENT = """
skill=.agents/skills/csv/SKILL.md
if [ -f $skill ]; then
  echo '{"type": "skill_loaded", "name": "csv"}'
  while read -r line; do
    case $line in "Say "*) said=${line#Say } ;; esac
  done < $skill
else
  read -r said < BARE
fi
echo "{\\"type\\": \\"answer\\", \\"content\\": \\"$said\\"}"
"""


class Project:
    """A folder with an Agent Skill, five tasks whose answer is "yes", and a file of suites."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "csv" / "evals").mkdir(parents=True)
        evals = [{"prompt": f"Go {number}.", "assertions": ['The answer contains "yes"']} for number in range(5)]
        (folder / "csv" / "evals" / "evals.json").write_text(json.dumps({"skill_name": "csv", "evals": evals}))
        (folder / "agent.sh").write_text(AGENT.replace("BARE", str(folder / "bare")))
        self.suite()

    def suite(self, **more: object) -> None:
        block = {"skills": ["csv"], "agent": "custom", "agentOptions": {"command": f"sh {self.folder / 'agent.sh'}"}, **more}
        (self.folder / "suites.json").write_text(json.dumps({"suites": [{"name": "csv", "skillEffect": block}]}))

    def write(self, skill: str, bare: str) -> None:
        """The Agent Skill has the agent say the one, and an agent without it says the other."""
        (self.folder / "csv" / "SKILL.md").write_text(f"---\nname: csv\ndescription: Reads tables.\n---\nSay {skill}\n")
        (self.folder / "bare").write_text(f"{bare}\n")

    @property
    def request(self) -> NightlyRequest:
        return NightlyRequest(suites=str(self.folder / "suites.json"), store=str(self.folder / "store"), confirm_runs=2)

    def night(self, skill: str, bare: str) -> NightSummary:
        self.write(skill, bare)
        plan = plan_night(self.request)
        evidence = gather(plan.store, plan.night_id, runs_of(plan, evaluate(asked_of(plan))), plan.histories, None)
        fresh, _ = confirmed(plan, evidence, evaluate)
        summary = concluded(plan, evidence, fresh)
        record(plan, summary)
        return summary


def evaluate(asked: Sequence[Asked]) -> list[Evaluated]:
    return [
        Evaluated(problems=[each.problem]) if each.problem else evaluated(evaluate_in_process(make_plan(each.request)))
        for each in asked
    ]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.slow
def test_what_helped_and_then_harms_regresses_and_fails_the_gate_of_the_effect(project: Project) -> None:
    helps = project.night("yes", bare="no")
    assert helps.gate_passed
    (suite,) = helps.suites
    assert [skill.report.skill_id for skill in suite.skills] == ["csv-with"]
    assert suite.effect is not None
    assert [found.diff.verdict for found in suite.effect.effect.comparisons] == ["better"]

    harms = project.night("no", bare="yes")
    (suite,) = harms.suites
    assert [skill.classification.verdict for skill in suite.skills] == ["regressed"]
    assert suite.skills[0].confirm_run_id is not None
    assert harms.effect_failures == {"csv": ["with − without is worse"]}
    assert not harms.gate_passed
    assert "effect in csv: with − without is worse" in harms.line
    assert suite.effect is not None
    assert [(point.night_id, point.difference, point.verdict) for point in suite.effect.past] == [(helps.night_id, 1.0, "better")]

    store = Store(project.folder / "store")
    ids = {row["skill_id"] for row in store.nights().to_dict("records")}
    assert ids == {"csv-with"}, "the other arms are no skills of the suite"
    (points,) = trend(store, "csv-with", metric="effect").values()
    assert [point.value for point in points] == [1.0, -1.0]
    assert points[0].interval is not None
    past = [run.experiment for run in past_runs(store) if run.experiment is not None]
    assert [(each.names, each.arms, each.found[0].verdict) for each in past] == [
        (["csv"], ["with", "without"], "worse"),
        (["csv"], ["with", "without"], "better"),
    ]


@pytest.mark.slow
def test_an_interrupted_night_goes_on_with_the_arms_that_it_began_with(project: Project) -> None:
    whole = project.night("yes", bare="no")
    shutil.rmtree(project.folder / "store" / "nights")
    project.write("no", bare="no")
    resumed = finish_night_without_prefect(project.request, whole.night_id, "connection refused")
    (suite,) = resumed.suites
    assert (resumed.night_id, suite.run_id, suite.failures) == (whole.night_id, whole.suites[0].run_id, [])
    assert suite.effect is not None
    assert [found.diff.verdict for found in suite.effect.effect.comparisons] == ["better"]


def test_an_arm_without_that_loads_the_skill_is_a_failure_of_the_suite() -> None:
    found = effect(with_=report("with", every(9, "pp"), LOADED), without=report("without", every(9, "ff"), LOADED))
    (failure,) = setup_errors(found)
    assert failure.startswith("set-up error: 18 items of the arm without loaded the Agent Skill")
    assert NightEffect(effect=found, fail_on="worse").failures == [], "it is told once, as a failure of the suite"


@pytest.mark.parametrize(
    ("block", "failure"),
    [
        pytest.param({"skills": ["nowhere"]}, "no such folder", id="no-folder"),
        pytest.param({"old": "HEAD~1"}, "not a git repository", id="no-repository"),
    ],
)
def test_an_effect_that_cannot_be_asked_is_a_failure_of_its_suite(
    project: Project, block: dict[str, object], failure: str
) -> None:
    project.suite(**block)
    (suite,) = project.night("yes", bare="no").suites
    assert failure in suite.failures[0]
    assert suite.run_id is None


@each_row(
    ("theirs", "failures"),
    [
        pytest.param(every(9, "ff"), [], id="better"),
        pytest.param(every(9, "ii"), ["with − without could not be compared"], id="an-arm-was-down"),
        pytest.param(every(9, "pp") | every(1, "ii"), ["with − without is worse"], id="the-rest-is-enough"),
        pytest.param(
            every(9, "pp") | every(8, "ii"),
            ["with − without: items without a verdict leave open whether it is worse"],
            id="an-outage-makes-no-verdict",
        ),
    ],
)
def test_the_gate_of_the_night(theirs: dict[str, str], failures: list[str]) -> None:
    ours = every(9, "pp") if theirs["t08"][0] in "fi" else every(9, "ff")
    found = effect(with_=report("with", ours), without=report("without", theirs))
    assert NightEffect(effect=found, fail_on="worse").failures == failures
