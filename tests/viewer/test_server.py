"""The viewer's server answers a browser on this machine, and nobody who was sent by another site."""

from __future__ import annotations

import shutil
import socket
import threading
from pathlib import Path
from time import sleep

import pytest
from starlette.testclient import TestClient

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.viewer.first_page import prepared
from eval_skills.viewer.guard import HEADERS
from eval_skills.viewer.server import application, listen

Runs = tuple[Store, list[str]]
TOKEN = "a-token-of-a-test"


def asking(store: Store, **options: object) -> TestClient:
    return TestClient(application(store, labelled_by="ann", **options), base_url="http://127.0.0.1:8000", follow_redirects=False)  # type: ignore[arg-type]


@pytest.mark.slow
def test_it_answers_with_pages_and_their_policy(runs_of: Runs) -> None:
    store, ids = runs_of
    client = asking(store)
    for path in ("/", "/index.html", f"/run-{ids[0]}.html"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert client.get("/nothing.html").status_code == 404
    assert client.get("/..%2f..%2fetc%2fpasswd").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/%00", id="nul"),
        pytest.param("/run-%00.html", id="nul-in-a-name"),
        pytest.param("/%2e%2e%2fetc%2fpasswd", id="encoded-way-up"),
        pytest.param("/a/../../etc/passwd", id="way-up"),
        pytest.param("/%ff%fe", id="not-utf-8"),
        pytest.param("/" + "x" * 60_000, id="long"),
        pytest.param("/compare-1-2.html", id="wrong-ids"),
        pytest.param("/task-20260101T000000Z-0000-ABCDEF0123456789.html", id="wrong-key"),
        pytest.param("/labels-../x.csv", id="way-up-in-a-name"),
        pytest.param("/run-20261399T999999Z-0000.html", id="no-moment"),
    ],
)
def test_what_is_no_page_is_said(runs_of: Runs, path: str) -> None:
    answer = asking(runs_of[0]).get(path)
    assert (answer.status_code, "This page cannot be shown" in answer.text, "x" * 100 in answer.text) == (404, True, False)


@pytest.mark.slow
def test_a_run_that_is_a_link_out_of_the_store_shows_nothing_of_it(runs_of: Runs, tmp_path: Path) -> None:
    store, _ = runs_of
    own = Store(shutil.copytree(store.path, tmp_path / "eval-store"))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "manifest.json").write_text('{"secret": "hidden-value"}')
    said: list[object] = []
    own.tables.tell = said.append
    run_id = "20260101T000000Z-0000"
    own.run_folder(run_id).symlink_to(tmp_path / "secret")
    client = asking(own)
    for path in ("/", f"/run-{run_id}.html", f"/labels-{run_id}.csv"):
        answer = client.get(path)
        assert "hidden-value" not in answer.text
    assert "manifest.json" in str(said)
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"host": "localhost:8000"}, 200, id="another-name-of-this-machine"),
        pytest.param({"host": "[::1]:8000"}, 200, id="ipv6"),
        pytest.param({"host": "evil.example"}, 403, id="a-name-rebound-to-this-machine"),
        pytest.param({"host": "127.0.0.1.evil.example:8000"}, 403, id="a-name-that-begins-so"),
        pytest.param({"host": ""}, 403, id="no-name"),
        pytest.param({"origin": "http://127.0.0.1:8000"}, 200, id="its-own-page"),
        pytest.param({"origin": "http://127.0.0.1:9"}, 403, id="a-page-of-another-port"),
        pytest.param({"origin": "null"}, 403, id="a-file"),
        pytest.param({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403, id="part-of-another-site"),
        pytest.param({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200, id="a-link-of-another-site"),
    ],
)
def test_who_is_answered(runs_of: Runs, headers: dict[str, str], status: int) -> None:
    assert asking(runs_of[0]).get("/", headers=headers).status_code == status


def test_with_a_token_only_who_knows_it_is_answered(runs_of: Runs) -> None:
    client = asking(runs_of[0], token=TOKEN)
    assert client.get("/").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    answer = client.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    elsewhere = asking(runs_of[0], token=TOKEN).get(f"http://127.0.0.1:8000//evil.example/?token={TOKEN}")
    assert elsewhere.headers["location"] == "/evil.example/"
    assert client.get("/").status_code == 200
    assert client.get("/", headers={b"cookie": b'eval-skills-token="\xfc; ='}).status_code == 401


def test_a_port_that_is_taken_is_said() -> None:
    first = listen("127.0.0.1", 0)
    port = int(first.address.rsplit(":", 1)[1].rstrip("/"))
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):  # though nobody has accepted it yet
            pass
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1 port {port}"):
            listen("127.0.0.1", port)
    finally:
        first.socket.close()
    for host, wrong in (("127.0.0.1", 70000), ("no.such.host.invalid", 0)):
        with pytest.raises(UsageError, match="cannot listen"):
            listen(host, wrong)


def test_what_ends_at_once_waits_for_what_reads_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the port is taken: a process that ends within native code is aborted."""
    monkeypatch.setattr("eval_skills.viewer.site.Site.page", lambda *_: sleep(0.05))
    with pytest.raises(UsageError), prepared(Store(tmp_path)) as thread:
        raise UsageError("the port is taken")
    assert not thread.is_alive()
    assert "eval-skills-view-load" not in {each.name for each in threading.enumerate()}
