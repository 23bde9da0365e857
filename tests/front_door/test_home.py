"""A leading ``~`` of a path is the user's home in every door, as it is in a shell and in the configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import eval_skills as es
from eval_skills.core.errors import InputError

TASKS = [{"id": "a", "input": "a", "expected": "A"}]
SKILL = {
    "id": "shout",
    "name": "S",
    "version": "1.0.0",
    "description": "",
    "adapterType": "custom",
    "entrypoint": "shout.py:shout",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def test_a_store_a_record_and_a_saved_result_lie_in_the_home(home: Path) -> None:
    result = es.evaluate(str.upper, TASKS, store="~/store", record="~/answers.jsonl")
    assert result.store == str(home / "store")
    assert es.Store("~/store").latest_run() == es.Store(home / "store").latest_run() == result.run_id
    assert es.evaluate(str.upper, TASKS, replay="~/answers.jsonl").completion == 1
    other = es.evaluate(str.upper, TASKS)
    other.save("~/other.json")
    assert es.compare(result, "~/other.json").skills[0].change == "compared"
    assert sorted(each.name for each in home.iterdir()) == ["answers.jsonl", "other.json", "store"]
    assert not list(Path.cwd().iterdir())


def test_tasks_and_skills_are_read_from_there(home: Path) -> None:
    (home / "tasks.json").write_text(json.dumps([{"id": "a", "inputData": "a", "expectedOutput": {"value": "A"}}]))
    (home / "skill.json").write_text(json.dumps(SKILL))
    assert es.evaluate(str.upper, "~/tasks.json").completion == 1
    assert es.load_skill("~/skill.json").folder == es.load_skill("~").folder == home
    with pytest.raises(InputError, match=str(home / "none.json")):
        es.load_benchmark("~/none.json")


def test_what_only_begins_so_is_a_name(home: Path) -> None:
    result = es.evaluate(str.upper, TASKS, store="./~/store")
    assert result.store == str(Path.cwd() / "~" / "store")
    assert not list(home.iterdir())
