"""Pages of a store in object storage show what other machines publish, and what is here where that cannot be reached."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

import eval_skills as es
from eval_skills.core.store import Store
from eval_skills.core.store.remote import bucket
from eval_skills.viewer.server import application
from tests.object_storage import ObjectStorage


def same(text: str) -> str:
    return text


TASK = [{"id": "a", "input": "a", "expected": "a"}]


@pytest.mark.slow
def test_a_page_shows_what_another_machine_published_since(url: str, on_machine: Callable[[str], None]) -> None:
    store = Store(url)
    client = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000")
    assert client.get("/index.html").status_code == 200
    on_machine("other")
    run_id = es.evaluate(same, TASK, store=url).run_id
    assert run_id in client.get("/index.html").text
    assert client.get(f"/run-{run_id}.html").status_code == 200


@pytest.mark.slow
def test_a_page_shows_what_is_here_where_the_service_is_gone_and_says_so_once(
    url: str, object_storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bucket._RETRIES, "max_retries", 0)
    run_id = es.evaluate(same, TASK, store=url).run_id
    store, told = Store(url), list[str]()
    store.tables.tell = told.append
    client = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000")
    object_storage.before = lambda method, path: "503 Slow Down"
    for _ in range(2):
        assert run_id in client.get("/index.html").text
    assert [f"the store {url} cannot be read" in line and "at the last look" in line for line in told] == [True]
