"""What the viewer keeps of files is not shown once they are other ones, and a file that cannot be read hides no other page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from eval_skills.core.store import Store
from eval_skills.core.store.digests import DIGESTS_FILE
from eval_skills.core.store.layout import TableName
from eval_skills.core.store.schema import SCHEMAS
from eval_skills.core.viewer_pages import run_page
from eval_skills.viewer.server import application
from eval_skills.viewer.site import Site
from tests.viewer.test_site import Runs, data_of


@pytest.fixture
def own(runs_of: Runs, tmp_path: Path) -> tuple[Store, str]:
    """A store to change, without digests, as an older version left it; and its later run."""
    store, ids = runs_of
    copied = Store(shutil.copytree(store.path, tmp_path / "eval-store"))
    Path(copied.path, DIGESTS_FILE).unlink()
    return copied, ids[1]


def rewrite(store: Store, name: TableName, run_id: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    path = store.tables.files(name, [run_id])[run_id]
    rows = change(pq.read_table(path, partitioning=None).to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]), path, compression="zstd", write_page_checksum=True)


def shown(site: Site, run_id: str) -> dict[str, Any]:
    (table,) = data_of(site.page("index.html"))["tables"]
    row = next(row for row in table["rows"] if row[0] == run_id)
    return dict(zip([column["title"] for column in table["columns"]], row, strict=True))


@pytest.mark.slow
def test_a_manifest_items_and_reports_that_changed_are_read_again(own: tuple[Store, str]) -> None:
    store, run_id = own
    site = Site(store)
    assert (shown(site, run_id)["Items"], shown(site, run_id)["Best completion"][0]) == ([16, 16], 1.0)
    manifest = store.run_folder(run_id) / "manifest.json"
    text = manifest.read_text()
    changed = re.sub(r'"plannedItems": 16', '"plannedItems": 17', re.sub(r'\n *"crc32": [^,\n]+,?', "", text))
    manifest.write_text(re.sub(r",(\s*})", r"\1", changed))
    assert shown(site, run_id)["Items"] == [16, 17]
    rewrite(store, "items", run_id, lambda rows: rows[:10])
    assert shown(site, run_id)["Items"] == [10, 17]
    rewrite(store, "reports", run_id, lambda rows: [{**row, "completion_rate": 0.25} for row in rows])
    assert shown(site, run_id)["Best completion"][0] == 0.25
    (store.run_folder(run_id) / "journal.jsonl").touch()
    assert shown(site, run_id)["State"] == "unfinished"


@pytest.mark.slow
def test_a_run_that_lands_is_listed_and_one_that_goes_is_not(own: tuple[Store, str]) -> None:
    store, run_id = own
    site = Site(store)
    shown(site, run_id)
    for name in ("items", "reports"):
        Path(store.tables.files(name, [run_id])[run_id]).unlink()
    shutil.rmtree(store.run_folder(run_id))
    with pytest.raises(StopIteration):
        shown(site, run_id)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("forbidden_unknown", None, id="null"),
        pytest.param("output", '{"cut', id="not-json"),
        pytest.param("messages", '["text"]', id="another-shape"),
        pytest.param("status", "good", id="an-unknown-word"),
    ],
)
def test_an_item_that_is_not_one_is_named_and_other_pages_work(own: tuple[Store, str], column: str, value: Any) -> None:
    store, run_id = own
    client = TestClient(application(store, labelled_by="ann"), base_url="http://127.0.0.1:8000")
    pages = [task["page"] for task in data_of(client.get(f"/{run_page(run_id)}").text)["tasks"]]
    first = store.items(run_id=run_id)["task_id"][0]
    rewrite(
        store, "items", run_id, lambda rows: [{**row, **({column: value} if row["task_id"] == first else {})} for row in rows]
    )
    answers = [client.get(f"/{page}") for page in pages]
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 500]
    (broken,) = [answer.text for answer in answers if answer.status_code == 500]
    for said in (run_id, f"{run_id}.parquet", f"column {column}", "This page cannot be shown"):
        assert said in broken
    assert client.get("/").status_code == 200


def test_an_error_of_ours_is_a_page_as_well(own: tuple[Store, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(site: Site, name: str) -> str:
        raise KeyError("<b>")

    monkeypatch.setattr(Site, "page", broken)
    app = application(own[0], labelled_by="ann")
    client = TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
    answer = client.get("/index.html")
    assert (answer.status_code, "index.html: KeyError" in answer.text, "<b>" in answer.text) == (500, True, False)
    assert answer.headers["x-frame-options"] == "DENY"
