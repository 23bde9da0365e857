"""A skill from a document, against a service that answers as the document says: its own tests pass as they were written."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter
from eval_skills.benchmarks import load_benchmark, load_tasks
from eval_skills.core.documents.loading import read_document
from eval_skills.core.models import EvalTask, Skill, SkillResponse, Verdict
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.openapi import import_openapi
from eval_skills.scorers import score_response

SPEC = Path(__file__).with_name("pets.yaml")
SKILLS = ("list-pets", "create-pet", "show-pet", "put-pets-pet-id", "delete-pet")
KEY, TOKEN = "k3y/ &=secret", "t0ken-secret"

ANSWERS: dict[tuple[str, str], Any] = {
    ("GET", "/v2/pets?kind=cat&kind=dog&ids=1%2C2&limit=10"): [
        {"id": 1, "name": "Tom", "kind": "cat"},
        {"id": 2, "name": "Rex", "kind": "dog"},
    ],
    ("POST", "/v2/pets"): {"Mia": {"id": 7, "name": "Mia", "kind": "cat"}, "Rex": {"id": 8, "name": "Rex", "kind": "dog"}},
    ("GET", "/v2/pets/a%2Fb%20%C3%BC"): {
        "id": 1, "name": "Tom", "kind": "cat", "mother": {"id": 3, "name": "Ida", "kind": "cat", "mother": None},
    },
    ("PUT", "/v2/pets/a%2Fb%20%C3%BC?notify=true"): {"id": 1, "name": "Tom"},
    ("DELETE", "/v2/pets/a%2Fb%20%C3%BC"): None,
}  # fmt: skip


@dataclass
class Service:
    """The pets API on 127.0.0.1, and what it was sent."""

    url: str
    seen: list[dict[str, Any]] = field(default_factory=list)


class _Pets(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _PetsServer

    def do_any(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        address = self.path.replace("?api_key=k3y%2F%20%26%3Dsecret", "").replace("&api_key=k3y%2F%20%26%3Dsecret", "")
        allowed = headers.get("authorization") == f"Bearer {TOKEN}" if self.command == "DELETE" else address != self.path
        self.server.service.seen.append({"method": self.command, "path": address, "headers": headers, "raw": raw})
        answer = ANSWERS.get((self.command, address), "unknown")
        if self.command == "POST" and answer != "unknown":
            answer = answer.get(json.loads(raw)["name"])
        status = 401 if not allowed else 404 if answer == "unknown" else 204 if self.command == "DELETE" else 200
        self.send_response(status)
        body = b"" if status == 204 else json.dumps(answer).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_any  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _PetsServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pets)
        self.service = Service(f"http://127.0.0.1:{self.server_port}/v2")


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    server = _PetsServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server.service
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def service(running: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    running.seen.clear()
    monkeypatch.setenv("SKILL_PETS_APIKEY", KEY)
    monkeypatch.setenv("SKILL_PETS_BEARER", TOKEN)
    return running


@pytest.fixture(scope="module", params=["yaml", "json"])
def written(request: pytest.FixtureRequest, running: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the five skills, from the document in either spelling."""
    folder = tmp_path_factory.mktemp(request.param)
    source = SPEC
    if request.param == "json":
        source = folder / "pets.json"
        source.write_text(json.dumps(_with_text_keys(read_document(SPEC))), encoding="utf-8")
    imported = import_openapi(source, folder / "skills", base_url=running.url)
    assert imported.remarks == []
    assert imported.variables == ["SKILL_PETS_APIKEY", "SKILL_PETS_BEARER"]
    write_drafts(imported.drafts)
    return folder / "skills"


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(part) for key, part in value.items()}
    return [_with_text_keys(part) for part in value] if isinstance(value, list) else value


async def run_tests(folder: Path) -> list[tuple[SkillResponse, Verdict]]:
    skill = load_skill(folder)
    check_skill(skill)
    results = []
    async with open_adapter(skill) as adapter:
        for task in load_tasks(folder / "tests" / "basic.eval.json").tasks:
            response = await adapter.call(task.input_data, 60)
            results.append((response, await score_response(task, response)))
    return results


@pytest.mark.parametrize("name", SKILLS)
async def test_p64_p67_the_generated_tests_pass_as_generated(written: Path, service: Service, name: str) -> None:
    results = await run_tests(written / name)
    assert len(results) == (2 if name == "create-pet" else 1)
    for response, verdict in results:
        assert verdict.passed, (response.output, verdict.reasons)
        assert verdict.scorer == ("json_schema" if name == "put-pets-pet-id" else "exact_match")


@pytest.mark.parametrize("name", SKILLS)
async def test_the_generated_tests_fail_on_another_answer(
    written: Path, service: Service, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for (method, path), answer in list(ANSWERS.items()):
        wrong: Any = {"Mia": [], "Rex": 1} if method == "POST" else {"id": "one"}
        if answer is not None:
            monkeypatch.setitem(ANSWERS, (method, path), wrong)
    if name != "delete-pet":  # an answer without a body has nothing to be wrong about
        assert not any(verdict.passed for _, verdict in await run_tests(written / name))


async def test_method_parameters_and_body_arrive_in_their_places(written: Path, service: Service) -> None:
    for name in SKILLS:
        await run_tests(written / name)
    assert [(each["method"], each["path"]) for each in service.seen] == [
        ("GET", "/v2/pets?kind=cat&kind=dog&ids=1%2C2&limit=10"),
        ("POST", "/v2/pets"),
        ("POST", "/v2/pets"),
        ("GET", "/v2/pets/a%2Fb%20%C3%BC"),
        ("PUT", "/v2/pets/a%2Fb%20%C3%BC?notify=true"),
        ("DELETE", "/v2/pets/a%2Fb%20%C3%BC"),
    ]
    listed, created, *_, put, deleted = service.seen
    assert listed["headers"]["x-trace"] == "t 1"
    assert (listed["raw"], deleted["raw"]) == (b"", b"")
    assert "content-type" not in listed["headers"]
    assert json.loads(created["raw"]) == {"name": "Mia", "kind": "cat"}
    assert created["headers"]["content-type"] == "application/json"
    assert json.loads(put["raw"]) == {"name": "Tom"}


async def test_optional_input_that_is_absent_is_not_sent(written: Path, service: Service) -> None:
    async with open_adapter(load_skill(written / "list-pets")) as adapter:
        with pytest.raises(Exception, match="HTTP 404"):
            await adapter.call({"cursor": None}, 60)
    assert service.seen[0]["path"] == "/v2/pets"
    assert "x-trace" not in service.seen[0]["headers"]


async def test_p64_the_skills_are_well_kept_packages(written: Path) -> None:
    benchmark = load_benchmark("skill-quality").tasks
    for name in SKILLS:
        skill = load_skill(written / name)
        for task in benchmark:
            assert (await _package_verdict(skill, task)).passed, (name, task.id)


async def _package_verdict(skill: Skill, task: EvalTask) -> Verdict:
    async with open_adapter(skill, "package") as adapter:
        return await score_response(task, await adapter.call(task.input_data, 60))
