"""Whole rounds of rewriting; the agent is a shell script that loads the skill where its description has a word of the prompt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eval_skills.agent_skills.folder import read_agent_skill
from eval_skills.core.errors import InputError, JudgeError
from eval_skills.core.skills import load_skill
from eval_skills.core.store import Store, prune_items
from eval_skills.core.triggers import Query
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.skill_effect.arms import Agent
from eval_skills.engine.skill_effect.experiment import arms_folder
from eval_skills.engine.stored_runs.reports import NoItemsError
from eval_skills.engine.triggers.experiment import (
    PreparedTriggers,
    as_evaluation,
    prepare_triggers,
    read_queries,
    stored_triggers,
    trigger_experiment_of,
    triggers_of_reports,
)
from eval_skills.engine.triggers.optimizing import Candidate, Halves, Measured, Optimized, Setting, halves, keep, optimize

AGENT = """
read -r prompt
while read -r line; do
  case "$line" in description:*) said=${line#description:} ;; esac
done <.agents/skills/csv/SKILL.md
echo '{"type": "step"}'
case "$prompt $said" in *columns*OUTAGE*) exit 3 ;; esac
IFS=' .,'
for word in $prompt; do
  for known in $said; do
    if [ "$word" = "$known" ]; then
      echo '{"type": "skill_loaded", "name": "csv"}'
      break 2
    fi
  done
done
echo '{"type": "answer", "content": "done"}'
"""
"""It starts no program: it is called some hundred times."""
GOOD = "Adds up columns."


def asked(setting: Setting, columns: int, paint: int = 2) -> Setting:
    """The same skill with so many queries that should load it, and so many near-misses."""
    queries = [{"query": f"columns {number}", "should_trigger": True} for number in range(columns)]
    queries += [{"query": f"paint {number}", "should_trigger": False} for number in range(paint)]
    file = setting.source / "evals" / "eval_queries.json"
    file.write_text(json.dumps(queries))
    return replace(setting, halves=halves(read_queries(file)))


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """Seven queries and a near-miss to train, five and one held out: as few as can prove anything."""
    source = tmp_path / "csv"
    (source / "evals").mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: csv\ndescription: Does things.\nlicense: MIT\n---\n# Body\n")
    (tmp_path / "agent.sh").write_text(AGENT)
    agent = Agent(runtime="custom", config={"command": f"sh {tmp_path / 'agent.sh'}"})
    return asked(Setting(source, [], agent, tmp_path / "root", Halves([], [])), 12)


@pytest.fixture
def small(setting: Setting) -> Setting:
    """Three queries to train and three held out, where nothing is to be proven."""
    return asked(setting, 4)


def rounds(setting: Setting, descriptions: Sequence[str | JudgeError], told: list[Candidate] | None = None) -> Optimized:
    """As many rounds as there are descriptions to propose; an error in place of one is what the model's reply leads to."""

    def measure(prepared: Sequence[PreparedTriggers]) -> Measured:
        request = EvaluateRequest(store=str(setting.root / "store"), concurrency=8)
        summary = evaluate_in_process(make_plan(as_evaluation(request, prepared)))
        by_id = {report.skill_id: report for report in summary.reports}
        reports = [by_id[load_skill(each.folder).id] for each in prepared]
        pairs = zip(prepared, reports, strict=True)
        figures = [triggers_of_reports(each.experiment, [report], summary.run_id) for each, report in pairs]
        return Measured(summary.run_id, figures, reports)

    def ask(tried: Sequence[Candidate]) -> str:
        given = descriptions[len(tried) - 1]
        if isinstance(given, JudgeError):
            raise given
        return given

    return optimize(setting, len(descriptions), ask, measure, (told if told is not None else []).append)


@pytest.mark.slow
def test_what_is_proven_on_held_out_queries_is_better_and_can_be_kept(setting: Setting) -> None:
    found = rounds(setting, ["Mows lawns.", GOOD])
    assert [each.share for each in found.tried] == [pytest.approx(1 / 8), pytest.approx(1 / 8), 1.0]
    assert found.best is not None
    assert found.is_proven
    assert found.rewritten is not None
    assert len(found.rewritten.queries) == 6
    assert found.rewritten.recall.rate == 1.0
    keep(setting.source, found.tried[0].description, found.best.description)
    kept = read_agent_skill(setting.source)
    assert (kept.description, kept.text("license"), kept.body) == (GOOD, "MIT", "# Body\n")


@pytest.mark.slow
def test_a_description_that_does_no_better_in_training_is_not_compared(small: Setting) -> None:
    found = rounds(small, ["Mows lawns."])
    assert (found.best, found.is_proven, len(found.runs)) == (None, False, 2)
    assert read_agent_skill(small.source).description == "Does things."


@pytest.mark.slow
def test_outages_of_the_original_prove_nothing(setting: Setting) -> None:
    skill = setting.source / "SKILL.md"
    skill.write_text(skill.read_text().replace("Does things.", "OUTAGE"))
    found = rounds(setting, [GOOD])
    assert (found.tried[0].share, found.tried[0].unobserved) == (1.0, 7)  # near-misses alone were observed
    assert (found.best, found.is_proven) == (None, False)


@pytest.mark.slow
def test_a_description_that_is_always_loaded_is_not_kept(setting: Setting) -> None:
    """The larger half of the queries improves, so the comparison over all of them says better."""
    found = rounds(asked(setting, 17), ["All columns, and paint."])
    assert found.difference is not None
    assert found.difference.verdict == "better"
    assert (found.is_proven, found.harm) == (False, "near-misses did worse with it, or could have in missing runs")


@pytest.mark.slow
def test_a_round_without_a_description_loses_no_earlier_one(small: Setting) -> None:
    told: list[Candidate] = []
    found = rounds(small, ["Adds columns to lawns, paint 1.", JudgeError("no reply", code="JUDGE_TIMEOUT")], told)
    assert found.ended == "round 2 gave no description: no reply"
    assert [each.description for each in told] == ["Does things.", "Adds columns to lawns, paint 1."]
    assert found.best is told[1]
    with pytest.raises(JudgeError, match="no reply"):
        rounds(small, [JudgeError("no reply", code="JUDGE_TIMEOUT")])


@pytest.mark.slow
def test_a_description_that_comes_again_ends_the_rounds(small: Setting) -> None:
    found = rounds(small, ["Does things.", GOOD])
    assert (len(found.tried), found.ended) == (1, "round 1 gave a description again that was tried before")


def test_a_description_that_has_changed_meanwhile_is_not_replaced(setting: Setting) -> None:
    before = (setting.source / "SKILL.md").read_bytes()
    with pytest.raises(InputError, match="its description has changed since the run began, so it was left as it is"):
        keep(setting.source, "Did things.", GOOD)
    assert (setting.source / "SKILL.md").read_bytes() == before


def test_queries_that_take_more_than_prefect_has_for_parameters_are_asked_and_shown(small: Setting) -> None:
    queries = [
        Query(id="q001", query="columns", should_trigger=True),
        Query(id="q002", query="paint " + "x" * 600_000, should_trigger=False),
    ]
    store = Store(small.root / "store")
    with arms_folder(store.path) as root:
        prepared = prepare_triggers(small.source, [], queries, small.agent, root)
    request = as_evaluation(EvaluateRequest(store=store.path), [prepared], exit_on_fail=True)
    assert len(json.dumps(request.model_dump(mode="json"))) < 524_288
    summary = evaluate_in_process(make_plan(request))
    assert trigger_experiment_of(store, summary.run_id) == prepared.experiment.model_copy(update={"exit_on_fail": True})
    shown, _ = stored_triggers(store.path, summary.run_id)
    assert [(each.query, each.should_trigger, each.observed) for each in shown.queries] == [
        (each.query, each.should_trigger, 1) for each in queries
    ]


def test_of_a_run_whose_items_were_deleted_that_is_said_and_not_that_it_was_not_made(small: Setting) -> None:
    (run_id,) = rounds(small, []).runs
    store = Store(small.root / "store")
    assert stored_triggers(store.path, run_id)[0].queries
    prune_items(store, before=datetime.now(UTC) + timedelta(days=1), keep=())
    with pytest.raises(NoItemsError, match=r"its items were deleted on .*; what was loaded is computed from items"):
        stored_triggers(store.path, run_id)
