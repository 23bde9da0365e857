"""Labels that people give in the viewer: kept at once, shown, and read by ``judge calibrate``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from eval_skills.core.judging.labels import read_labels
from eval_skills.core.store import Store
from eval_skills.core.store.labels import current_labels
from eval_skills.core.viewer_pages import key_of
from eval_skills.viewer.server import LARGEST_LABEL, application
from tests.viewer.conftest import TASKS
from tests.viewer.test_site import data_of

Runs = tuple[Store, list[str]]


@pytest.fixture
def asked(runs_of: Runs, tmp_path: Path) -> tuple[Store, TestClient, dict[str, Any]]:
    """A store of its own, the server's client, and a label of one of its answers."""
    store, ids = runs_of
    own = Store(shutil.copytree(store.path, tmp_path / "eval-store"))
    row = own.tables.rows("items", ["skill_id", "skill_version", "benchmark_id", "task_id"], [ids[0]])[0]
    key = key_of(row["benchmark_id"], row["task_id"], f"{row['skill_id']}@{row['skill_version']}", 0)
    given = {"run": ids[0], "answer": key, "label": "fail", "comment": "no"}
    return own, TestClient(application(own, labelled_by="ann"), base_url="http://127.0.0.1:8000"), given


def test_the_last_label_holds_and_can_be_taken_back(asked: tuple[Store, TestClient, dict[str, Any]]) -> None:
    store, client, given = asked
    assert client.post("/labels", json=given).json()["label"] == "fail"
    said = client.post("/labels", json=given | {"label": "pass", "comment": " "}).json()
    assert (said["label"], said["comment"], said["by"]) == ("pass", None, "ann")
    assert [row["label"] for row in current_labels(Store(store.path))] == ["pass"]
    assert len(Store(store.path).labels()) == 2
    client.post("/labels", json=given | {"label": None, "comment": None})
    assert current_labels(Store(store.path)) == []


@pytest.mark.slow
def test_a_label_stands_on_the_pages_of_its_answer(asked: tuple[Store, TestClient, dict[str, Any]]) -> None:
    _, client, given = asked
    client.post("/labels", json=given | {"comment": "\u202eno"})
    page = client.get(f"/item-{given['run']}-{given['answer']}.html").text
    said = data_of(page)["labelling"]["said"]
    assert (said["label"], said["comment"], said["by"]) == ("fail", "\\u202eno", "ann")
    task = re.search(r"task-[-0-9a-zA-Z]+\.html", page)
    assert task is not None
    rows = data_of(client.get(f"/{task[0]}").text)["items"]
    assert [row["labelling"]["said"] is None for row in rows].count(False) == 1


def test_judge_calibrate_reads_them(asked: tuple[Store, TestClient, dict[str, Any]], tmp_path: Path) -> None:
    _, client, given = asked
    client.post("/labels", json=given)
    file = tmp_path / "labels.csv"
    file.write_bytes(client.get(f"/labels-{given['run']}.csv").content)
    (label,) = read_labels(file)
    assert label.task_id in {task["id"] for task in TASKS}
    assert (label.score, label.run_index, label.skill) in [(0.0, 0, "partly@0.0.0"), (0.0, 0, "upper@0.0.0")]


def test_two_viewers_at_once_lose_nothing(asked: tuple[Store, TestClient, dict[str, Any]]) -> None:
    store, client, given = asked
    other = TestClient(application(Store(store.path), labelled_by="bob"), base_url="http://127.0.0.1:8000")
    for number in range(6):
        (client, other)[number % 2].post("/labels", json=given | {"comment": str(number)})
    assert sorted(Store(store.path).labels()["comment"]) == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("wrong", "status", "says"),
    [
        pytest.param({"label": "good"}, 400, "label", id="no-label"),
        pytest.param({"answer": 0}, 400, "answer", id="wrong-type"),
        pytest.param({"more": 1}, 400, "more", id="unknown"),
        pytest.param({"comment": "x" * 5000}, 400, "comment", id="long-comment"),
        pytest.param({"comment": "x" * LARGEST_LABEL}, 413, "64 KiB", id="huge"),
        pytest.param({"answer": "0" * 16}, 404, "no answer to label", id="unknown-answer"),
        pytest.param({"run": "../../etc"}, 404, "no answer to label", id="no-run"),
    ],
)
def test_what_is_refused(asked: tuple[Store, TestClient, dict[str, Any]], wrong: dict[str, Any], status: int, says: str) -> None:
    store, client, given = asked
    answer = client.post("/labels", json=given | wrong)
    assert (answer.status_code, says in answer.text, answer.text.count("\n")) == (status, True, 1)
    assert len(Store(store.path).labels()) == 0


def test_only_json_of_its_own_pages_is_taken(asked: tuple[Store, TestClient, dict[str, Any]]) -> None:
    _, client, given = asked
    assert client.post("/labels", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    for body in (b"{", b"[" * 10_000):
        assert client.post("/labels", content=body, headers={"content-type": "application/json"}).text == "not JSON\n"
    assert client.post("/labels", json=given, headers={"origin": "http://evil.example"}).status_code == 403
