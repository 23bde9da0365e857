"""Experiments with Agent Skills in the viewer: listed with their verdicts, and leading to their reports."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import eval_skills as es
from eval_skills.core.models import Benchmark, EvalTask, ExpectedOutput
from eval_skills.core.store import Store, prune_items
from eval_skills.core.viewer_pages import NoSuchPageError, effect_page, triggers_page
from eval_skills.viewer.export import export_pages
from eval_skills.viewer.site import Site
from tests.viewer.test_site import data_of

AGENT = """
import json, pathlib
skill = pathlib.Path(".agents/skills/swiss-cities/SKILL.md")
if skill.exists():
    print(json.dumps({"type": "skill_loaded", "name": "swiss-cities"}))
print(json.dumps({"type": "answer", "content": "Bern" if skill.exists() else "Zurich"}))
"""


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Store, str]:
    """A store with one experiment."""
    (skill := tmp_path / "swiss-cities").mkdir()
    (skill / "SKILL.md").write_text("---\nname: swiss-cities\ndescription: Names of Swiss cities.\n---\nBern.\n")
    (agent := tmp_path / "agent.py").write_text(AGENT)
    found = es.skill_effect(
        str(skill),
        agent="custom",
        agent_config={"command": f"{sys.executable} {agent}"},
        tasks=[{"id": f"t{number}", "input": f"capital {number}?", "expected": "Bern"} for number in range(3)],
        store=str(tmp_path / "eval-store"),
    )
    return Store(tmp_path / "eval-store"), found.run_id


@pytest.mark.slow
def test_an_effect_is_listed_and_leads_to_its_report(asked: tuple[Store, str], tmp_path: Path) -> None:
    store, run_id = asked
    effects, triggers = data_of(Site(store).page("agent-skills.html"))["tables"]
    titles = [column["title"] for column in effects["columns"]]
    (row,) = [dict(zip(titles, each, strict=True)) for each in effects["rows"]]
    assert (row["Agent Skill"], row["With minus"], row["Difference"], row["Run"]) == ("swiss-cities", "without", 1.0, run_id)
    assert (effects["links"][0][0], triggers["rows"]) == (effect_page(run_id), [])
    assert "with − without" in Site(store).page(effect_page(run_id))
    assert effect_page(run_id) in export_pages(store, [run_id], tmp_path / "site")
    prune_items(store, before=datetime.now(UTC) + timedelta(days=1), keep=())
    assert data_of(Site(store).page("agent-skills.html"))["tables"][0]["links"][0][0] is None
    assert effect_page(run_id) not in export_pages(store, [run_id], tmp_path / "pruned")
    with pytest.raises(NoSuchPageError, match=r"its items were deleted on .*; an effect is computed from items"):
        Site(store).page(effect_page(run_id))


def test_a_run_that_compares_two_descriptions_has_no_page_of_triggers(tmp_path: Path) -> None:
    """It has the figures of two agents, and none of both together."""
    task = EvalTask(id="q1", input_data={"text": "a"}, expected_output=ExpectedOutput(value="a"))
    asked = Benchmark(id="triggers", name="Triggers", version="1.0.0", tasks=[task])
    agents = [{"one": repr}, {"original": repr, "rewritten": repr}]
    alone, _ = [es.evaluate(each, asked, store=str(tmp_path)).run_id for each in agents]
    assert Site(Store(tmp_path)).experiments() == [triggers_page(alone)]


@pytest.mark.slow
def test_a_run_of_another_kind_has_no_such_page(asked: tuple[Store, str]) -> None:
    store, run_id = asked
    with pytest.raises(NoSuchPageError):
        Site(store).page(triggers_page(run_id))
