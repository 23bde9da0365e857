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
from eval_skills.viewer.statements import triggers_statements
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


def hangs_up(text: str) -> str:
    if text == "hang up":
        raise RuntimeError("the model is gone")
    return text


def test_runs_that_broke_off_count_neither_as_done_as_they_should_nor_otherwise(tmp_path: Path) -> None:
    answers = {"hang up": "hang up", "right": "right", "wrong": "else"}
    tasks = [EvalTask(id=each, input_data=each, expected_output=ExpectedOutput(value=answers[each])) for each in answers]
    ids = [
        es.evaluate(hangs_up, Benchmark(id="triggers", name="Triggers", version="1.0.0", tasks=asked), store=str(tmp_path)).run_id
        for asked in (tasks, tasks[:1])
    ]
    _, made = data_of(Site(store := Store(tmp_path)).page("agent-skills.html"))["tables"]
    titles = [column["title"] for column in made["columns"]]
    rows = {row[titles.index("Run")]: dict(zip(titles, row, strict=True)) for row in made["rows"]}
    assert [(rows[each]["As it should"], rows[each]["Broke off"]) for each in ids] == [
        ([0.5, None, None], 1), ([None, None, None], 1),
    ]  # fmt: skip
    statements = [triggers_statements(each) for each in ids]
    assert [store.query(each["rates"])["as_they_should"].fillna(-1).to_list() for each in statements] == [[0.5], [-1]]
    queries = store.query(statements[0]["queries"]).set_index("task_id")
    assert queries[["runs", "as_it_should", "broke_off"]].T.to_dict("list") == {
        "hang up": [1, 0, 1], "right": [1, 1, 0], "wrong": [1, 0, 0],
    }  # fmt: skip


@pytest.mark.slow
def test_a_run_of_another_kind_has_no_such_page(asked: tuple[Store, str]) -> None:
    store, run_id = asked
    with pytest.raises(NoSuchPageError):
        Site(store).page(triggers_page(run_id))
