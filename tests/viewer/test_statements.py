"""Every table of a report in the viewer has a statement, which the store answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.viewer_pages import comparison_page, run_page
from eval_skills.viewer.site import Site
from eval_skills.viewer.statements import effect_statements, triggers_statements
from tests.viewer.test_site import Runs, data_of


@pytest.mark.slow
def test_each_table_has_a_statement_that_the_store_answers(runs_of: Runs) -> None:
    store, ids = runs_of
    for name in (run_page(ids[1]), comparison_page(*ids)):
        page = Site(store).page(name)
        statements = data_of(page, "sql")
        found = re.findall(r"<table([^>]*)>", page.partition("<main")[2].partition("</main>")[0])
        assert found, name
        for attributes in found:
            known = re.search(r'data-export="([^"]+)"', attributes) or re.search(r'id="([^"]+)"', attributes)
            assert known is not None, attributes
            assert known[1] in statements, name
        for each in statements.values():
            store.query(each)


@pytest.mark.slow
def test_the_statements_give_what_the_pages_show(runs_of: Runs) -> None:
    store, ids = runs_of
    statements = data_of(Site(store).page(run_page(ids[1])), "sql")
    matrix = store.query(statements["matrix-table"])
    assert (len(matrix), matrix["runs"].sum(), matrix["passed"].sum()) == (8, 16, 12)
    assert store.query(statements["failure-table"]).shape[0] == 4
    assert store.query(statements["group-table"])["items"].sum() == 4
    assert store.query(statements["ranking-table"])["completion_rate"].to_list() == [1.0, 0.5]
    compared = data_of(Site(store).page(comparison_page(*ids)), "sql")
    assert len(store.query(compared["flips-1"])) == 0
    assert store.query(compared["statistics-1"])["tasks"].to_list() == [4]


@pytest.mark.slow
def test_the_statement_of_one_version_is_of_no_other(tmp_path: Path) -> None:
    """The versions of one skill did opposite things, and an item has no verdict."""
    skills = []
    for version in ("1.0.0", "2.0.0"):
        (folder := tmp_path / version).mkdir()
        about = {"id": "s", "name": "S", "version": version, "description": "d", "adapterType": "custom", "entrypoint": "s.py:s"}
        (folder / "skill.json").write_text(json.dumps(about))
        skills.append(folder)
    tasks, kept, ids = [{"id": each, "input": each, "expected": each} for each in "ab"], str(tmp_path / "store"), []
    for answers in (("task", "''"), ("''", "task")):
        for folder, answer in zip(skills, answers, strict=True):
            (folder / "s.py").write_text(f"def s(task):\n    return {answer}\n")
        ids.append(es.evaluate(skills=list(map(es.load_skill, skills)), tasks=tasks, store=kept).run_id)
    compared = data_of(Site(store := Store(kept)).page(comparison_page(*ids)), "sql")
    moved = [store.query(compared[f"statistics-{number}"])["mean_difference"].to_list() for number in (1, 2)]
    assert moved == [[-1.0], [1.0]]
    assert len(store.query(compared["flips-1"])) == 2


@pytest.mark.slow
def test_those_of_experiments_are_answered(runs_of: Runs) -> None:
    store, ids = runs_of
    for each in (*effect_statements(ids[0]).values(), *triggers_statements(ids[0]).values()):
        store.query(each)


@pytest.mark.slow
def test_figures_of_some_of_the_tasks_are_in_no_table_and_have_no_statement(tmp_path: Path) -> None:
    tasks, folder = [{"id": each, "input": each, "expected": each.upper()} for each in "ab"], str(tmp_path / "store")
    ids = [es.evaluate(skills=[str.upper], tasks=some, store=folder).run_id for some in (tasks, tasks[:1])]
    compared = data_of(Site(Store(folder)).page(comparison_page(*ids)), "sql")
    assert {"verdict-table", "figures-1", "statistics-1", "flips-1"} & compared.keys() == {"statistics-1", "flips-1"}
