"""Data sets of LangSmith are fetched by its client, here from a scripted API of this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.core.errors import InputError, UsageError, UserError
from tests.tables import each_row

pytest.importorskip("langsmith", reason="the extra langsmith is not installed: pip install 'eval-skills[langsmith]'")

KEY = "lsv2_pt_secret"
DATASET = "5b8f6b1c-0000-4000-8000-000000000000"


def example(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"e{number:03}", "dataset_id": DATASET, "created_at": f"2026-01-01T00:{number // 60:02}:{number % 60:02}",
        "inputs": {"q": f"Question {number}?"}, "outputs": {"a": f"Answer {number}"},
        "metadata": {"dataset_split": ["odd" if number % 2 else "even"]},
        "attachment_urls": {"attachment.picture": {"presigned_url": "http://127.0.0.1:1/picture"}}, **more,
    }  # fmt: skip


@dataclass
class Api:
    """What is served, and what was asked for; `status` and `body` take the place of every answer."""

    examples: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, list[str]], str | None]] = field(default_factory=list)
    status: int = 200
    body: Any = None

    def answer(self, path: str, given: dict[str, list[str]]) -> Any:
        if self.body is not None:
            return self.body
        if path == "/datasets":
            return [{"id": DATASET, "name": "Support questions"}] if given["name"] == ["Support questions"] else []
        chosen = [each for each in self.examples if each["metadata"]["dataset_split"][0] in given.get("splits", ["odd", "even"])]
        start, limit = int(given["offset"][0]), int(given["limit"][0])
        return chosen[start : start + limit] if path == "/examples" and given["dataset"] == [DATASET] else {"detail": "?"}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Api]:
    """A scripted LangSmith, whose address and key are in the environment."""
    script = Api([example(number) for number in reversed(range(120))])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            script.asked.append((url.path, parse_qs(url.query), self.headers.get("x-api-key")))
            body = json.dumps(script.answer(url.path, parse_qs(url.query))).encode()
            self.send_response(script.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    yield script
    server.shutdown()
    server.server_close()


def fetched(path: str = "dataset:Support questions", **more: Any) -> Any:
    return import_tasks(path, "langsmith", **more)


def test_every_example_is_a_task_in_the_order_of_its_making(api: Api) -> None:
    api.examples[5]["outputs"] = None
    found = fetched()
    assert (found.read, len(found.benchmark.tasks), found.licence) == (120, 119, None)
    first = found.benchmark.tasks[0]
    assert (first.id, first.input_data, first.expected_value, first.tags) == ("e000", {"q": "Question 0?"}, "Answer 0", ["even"])
    [skip] = found.skips()
    assert (skip["reason"], skip["places"]) == ("it has no reference outputs", ["dataset:Support questions: example e114"])
    assert found.benchmark.id == "support-questions"
    assert found.benchmark.metadata["files"] == ["dataset:Support questions"]
    assert found.remarks[0] == "120 examples fetched from 127.0.0.1"


@pytest.mark.slow
def test_the_digest_and_the_version_change_with_the_examples_and_not_with_their_order(api: Api) -> None:
    before = fetched()
    api.examples.reverse()
    assert (fetched().digest, fetched().benchmark.version) == (before.digest, before.benchmark.version)
    api.examples[0]["outputs"] = {"a": "another"}
    after = fetched()
    assert (after.digest != before.digest, after.benchmark.version != before.benchmark.version) == (True, True)


def test_nothing_else_is_asked_for_and_the_key_goes_along(api: Api) -> None:
    fetched()
    assert [path for path, _, _ in api.asked] == ["/datasets", "/examples", "/examples"]
    assert {key for _, _, key in api.asked} == {KEY}


def test_a_split_is_one_of_the_data_set(api: Api) -> None:
    assert [task.id for task in fetched(split="odd").benchmark.tasks[:2]] == ["e001", "e003"]
    api.examples = []
    with pytest.raises(InputError, match="dataset:Support questions: it has no examples in the split 'even'"):
        fetched(split="even")


@pytest.mark.slow
@each_row(
    ("status", "body", "kind", "message"),
    [
        pytest.param(200, [], InputError, "dataset:Support questions: LangSmith has no data set of this name", id="unknown"),
        pytest.param(401, {}, UsageError, "LangSmith refuses the key in LANGSMITH_API_KEY", id="refused"),
        pytest.param(403, {"error": f"no {KEY}"}, InputError, "LangSmith answers with an error: .*403", id="forbidden"),
        pytest.param(500, {}, InputError, "LangSmith answers with an error: .*500", id="broken"),
        pytest.param(200, "?", InputError, "LangSmith has no data set of this name", id="another-api"),
        pytest.param(
            200, [{"id": 1}, 5], InputError, "LangSmith answers with an error: expected a list of examples", id="malformed"
        ),
    ],
)
def test_what_langsmith_refuses_is_one_line_without_the_key(
    api: Api, status: int, body: Any, kind: type[UserError], message: str
) -> None:
    api.status, api.body = status, body
    with pytest.raises(kind, match=message) as caught:
        fetched()
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_an_address_where_nobody_listens_is_named(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(
        InputError, match=r"LangSmith cannot be reached at 127\.0\.0\.1; check the network and LANGSMITH_ENDPOINT"
    ):
        fetched()


def test_without_being_asked_nothing_is_fetched(api: Api, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a data set of a LangSmith account, .* fetch it once with"):
        import_tasks("dataset:Support questions")
    (tmp_path / "dataset:Support questions").write_text("")
    with pytest.raises(InputError):
        fetched()
    assert api.asked == []
