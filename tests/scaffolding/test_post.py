"""The script of the action, against an API on this machine that is scripted like GitHub's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from eval_skills.core.documents.loading import read_document
from eval_skills.scaffolding.project_files import TEMPLATES
from tests.warm_command import WarmCommand

ACTION = TEMPLATES / "action"
ROOT = Path(__file__).parents[2]
MARKER = "<!-- eval-skills-comment: b -->"
COMMENT = {"marker": MARKER, "title": "✔ gate passed", "conclusion": "success", "body": f"{MARKER}\n\nnew ‰\n", "failures": []}
BOT, PERSON = {"type": "Bot"}, {"type": "User"}
COMMENTS, CHECKS = "/repos/o/r/issues/7/comments", "/repos/o/r/check-runs"


class Api:
    """An API with comments and checks. `failures` are replies (status, headers) that a method and path get first, in order."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.failures: dict[tuple[str, str], list[tuple[int, dict[str, str]]]] = {}
        self.asked: list[tuple[str, str]] = []
        self.tokens: set[str | None] = set()
        self.loses_replies = False

    def reply(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any, dict[str, str]]:
        self.asked.append((method, path))
        if self.failures.get((method, path)):
            status, headers = self.failures[method, path].pop(0)
            if self.loses_replies:  # it was done, and nobody hears of it
                self._done(method, path, body)
            return status, {"message": "no\n::error::injected"}, headers
        if method == "GET":
            start = (int(query["page"][0]) - 1) * 100
            if path == COMMENTS:
                return 200, self.comments[start : start + 100], {}
            return 200, {"check_runs": self.checks[start : start + 100]}, {}
        return self._done(method, path, body)

    def _done(self, method: str, path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        kept = self.comments if "comments" in path else self.checks
        if method == "POST":
            kept.append({"id": len(kept), "user": BOT, **body})
            return 201, {}, {}
        wanted = int(path.rpartition("/")[2])
        there = [each for each in kept if each["id"] == wanted]
        for each in there:
            each |= body
        return (200 if there else 404), {}, {}


@pytest.fixture
def api() -> Iterator[tuple[Api, str]]:
    """The API and its address."""
    scripted = Api()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            scripted.tokens.add(self.headers.get("Authorization"))
            status, answer, headers = scripted.reply(
                self.command, parts.path, parse_qs(parts.query), json.loads(text) if text else None
            )
            content = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing on the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield scripted, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def job(folder: Path, url: str, *, fork: bool = False, **more: str) -> dict[str, str]:
    """The variables of a job for pull request 7."""
    head = {"sha": "abc", "repo": {"full_name": "stranger/r" if fork else "o/r"}}
    event = {"pull_request": {"number": 7, "head": head, "base": {"repo": {"full_name": "o/r"}}}}
    (folder / "event.json").write_text(json.dumps(event))
    (folder / "comment.json").write_text(json.dumps(COMMENT))
    return {
        "PATH": os.environ["PATH"], "GITHUB_API_URL": url, "GITHUB_REPOSITORY": "o/r", "GITHUB_TOKEN": "t",
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_SHA": "merge",
        "POST_WAIT_S": "0.001", **more,
    }  # fmt: skip


def post(folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(ACTION / "post.py"), str(folder / "comment.json")]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_the_first_comment_is_created_and_the_next_one_replaces_it(api: tuple[Api, str], tmp_path: Path) -> None:
    scripted, url = api
    environ = job(tmp_path, url, GITHUB_SERVER_URL="https://github.com", GITHUB_RUN_ID="5")
    assert post(tmp_path, environ).stdout.splitlines() == [
        "the comment of pull request 7 was created", "the check eval-skills was created",
    ]  # fmt: skip
    scripted.comments[0]["body"] = f"{MARKER}\nold"
    done = post(tmp_path, environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert [each["body"] for each in scripted.comments] == [COMMENT["body"]]
    [check] = scripted.checks
    assert (check["name"], check["head_sha"], check["conclusion"], check["details_url"]) == (
        "eval-skills", "abc", "success", "https://github.com/o/r/actions/runs/5",
    )  # fmt: skip
    assert scripted.tokens == {"Bearer t"}
    assert not (tmp_path / "summary.md").exists()


def test_only_a_bot_s_own_comment_of_this_key_is_replaced(api: tuple[Api, str], tmp_path: Path) -> None:
    scripted, url = api
    others = [(f"{MARKER}\nby hand", PERSON), (f"quoted: {MARKER}", BOT), ("<!-- eval-skills-comment: c -->", BOT), (None, None)]
    scripted.comments = [{"id": number, "body": body, "user": user} for number, (body, user) in enumerate(others * 30)]
    before = [dict(each) for each in scripted.comments]
    scripted.comments.append({"id": 999, "body": f"{MARKER}\nold", "user": BOT})  # on the second page
    post(tmp_path, job(tmp_path, url))
    assert scripted.comments == [*before, {"id": 999, "body": COMMENT["body"], "user": BOT}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fork", "says"),
    [
        pytest.param(True, "; the token of a pull request from a fork may only read", id="fork"),
        pytest.param(False, "; the job needs `permissions: { pull-requests: write }`", id="permissions"),
    ],
)
def test_without_permission_there_is_a_warning_and_the_job_s_summary(
    api: tuple[Api, str], tmp_path: Path, fork: bool, says: str
) -> None:
    scripted, url = api
    scripted.failures = {("POST", COMMENTS): [(403, {})], ("POST", CHECKS): [(403, {})]}
    done = post(tmp_path, job(tmp_path, url, fork=fork))
    comment, check = done.stdout.splitlines()
    refused = f"POST /issues/7/comments: HTTP 403 (no ::error::injected){says}"
    assert comment == f"::warning title=eval-skills::no comment was posted: {refused}"
    assert check.startswith("::warning title=eval-skills::no check was posted: POST /check-runs: HTTP 403")
    assert (tmp_path / "summary.md").read_text() == f"\n{COMMENT['body']}"
    assert (done.returncode, scripted.comments) == (0, [])


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("failure", [(502, {}), (429, {"Retry-After": "0"}), (403, {"Retry-After": "0"})], ids=str)
def test_what_may_pass_is_tried_again_and_never_posted_twice(
    api: tuple[Api, str], tmp_path: Path, failure: tuple[int, dict[str, str]], lost: bool
) -> None:
    scripted, url = api
    scripted.failures = {("GET", COMMENTS): [failure], ("POST", COMMENTS): [failure]}
    if lost:
        scripted.failures.pop(("GET", COMMENTS))
        scripted.loses_replies = True
    done = post(tmp_path, job(tmp_path, url))
    assert f"the comment of pull request 7 was {'updated' if lost else 'created'}" in done.stdout
    assert [each["body"] for each in scripted.comments] == [COMMENT["body"]]


@pytest.mark.slow
def test_a_comment_that_is_deleted_meanwhile_is_created_anew(api: tuple[Api, str], tmp_path: Path) -> None:
    scripted, url = api
    scripted.comments = [{"id": 3, "body": MARKER, "user": BOT}]
    scripted.failures = {("PATCH", "/repos/o/r/issues/comments/3"): [(404, {})]}
    reply = scripted.reply

    def deleting(method: str, *rest: Any) -> Any:
        answer = reply(method, *rest)
        if method == "PATCH":
            scripted.comments.clear()
        return answer

    scripted.reply = deleting  # type: ignore[assignment, method-assign]
    assert "the comment of pull request 7 was created" in post(tmp_path, job(tmp_path, url)).stdout


@pytest.mark.parametrize("ends", ["down", "elsewhere"])
def test_an_api_that_stays_away_fails_no_job_and_no_token_follows_a_redirect(
    api: tuple[Api, str], tmp_path: Path, ends: str
) -> None:
    scripted, url = api
    if ends == "elsewhere":
        scripted.failures = {("GET", COMMENTS): [(302, {"Location": f"{url}/stolen"})] * 9}
    done = post(tmp_path, job(tmp_path, url if ends == "elsewhere" else "http://127.0.0.1:1", CHECK=""))
    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=eval-skills::no comment was posted: GET /issues/7/comments?")
    assert (tmp_path / "summary.md").exists()
    assert {path for _, path in scripted.asked} <= {COMMENTS}


def test_without_a_pull_request_there_is_a_check_alone(api: tuple[Api, str], tmp_path: Path) -> None:
    scripted, url = api
    environ = job(tmp_path, url)
    (tmp_path / "event.json").write_text("{}")
    assert post(tmp_path, environ).stdout == "the check eval-skills was created\n"
    assert [each["head_sha"] for each in scripted.checks] == ["merge"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"GITHUB_TOKEN": ""}, "GITHUB_TOKEN not set", id="no-token"),
        pytest.param({"GITHUB_API_URL": "file:///etc"}, "is not an http address", id="scheme"),
        pytest.param({"GITHUB_EVENT_PATH": "/nowhere"}, "No such file", id="no-event"),
    ],
)
def test_a_wrong_job_is_refused(tmp_path: Path, change: dict[str, str], says: str) -> None:
    done = post(tmp_path, job(tmp_path, "http://127.0.0.1:1") | change)
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=eval-skills::")
    assert says in done.stdout


@pytest.mark.slow
def test_the_action_writes_the_comment_posts_it_and_fails_with_the_gate(
    api: tuple[Api, str], tmp_path: Path, warm_command: WarmCommand
) -> None:
    scripted, url = api
    document = read_document(ACTION / "action.yaml")
    [step] = document["runs"]["steps"]
    inputs = {name: each["default"] for name, each in document["inputs"].items()}
    assert step["env"].keys() - {"GITHUB_TOKEN"} == {
        name.upper().replace("-", "_") for name in inputs if name not in {"token", "working-directory"}
    }
    reports = [_report("f" * 8), _report("p" * 8)]
    for name, report in zip(("after.json", "before.json"), reports, strict=True):
        (tmp_path / name).write_text(report)
    environ = job(tmp_path, url, GITHUB_ACTION_PATH=str(ROOT / ".github" / "actions" / "eval-skills"), RUNNER_TEMP=str(tmp_path))
    path = f"{warm_command.shim(tmp_path)}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ |= {"PATH": path, "HOME": str(tmp_path), "COMMENT": "true"}
    environ |= {"SOURCE": "after.json", "STORE": "", "KEY": "k", "CHECK": "skills", "FAIL_ON": "worse"}

    def run(baseline: str) -> subprocess.CompletedProcess[str]:
        called = environ | {"BASELINE": baseline}
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=called, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )

    worse = run("before.json")
    assert (worse.returncode, scripted.checks[0]["conclusion"]) == (1, "failure"), worse.stdout + worse.stderr
    assert "**✘ worse**" in scripted.comments[0]["body"]
    first = run("missing.json")
    assert first.returncode == 0, first.stderr
    assert "::warning title=eval-skills::there is no baseline yet (missing.json), so nothing was compared" in first.stdout
    assert (scripted.checks[0]["conclusion"], len(scripted.comments)) == ("neutral", 1)
    nothing = run("")
    assert nothing.returncode == 2, nothing.stdout
    assert "--fail-on is about a comparison; name what the run is compared with: --baseline" in nothing.stderr


def _report(letters: str) -> str:
    from datetime import UTC, datetime

    import pandas as pd

    from eval_skills.core.metrics.reports import skill_reports
    from eval_skills.core.models import Benchmark
    from eval_skills.reporting import ReportContext, render

    rows = [
        {
            "skill_id": "s", "skill_version": "1.0.0", "task_id": f"t{index}", "run_index": 0,
            "status": "pass" if letter == "p" else "fail", "score": float(letter == "p"), "latency_ms": 10.0,
        }
        for index, letter in enumerate(letters)
    ]  # fmt: skip
    benchmark = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})
    context = ReportContext(run_id=f"20261121T233824Z-{ord(letters[0]):04x}", created_at=datetime(2026, 11, 21, tzinfo=UTC))
    return str(render("json", skill_reports(pd.DataFrame(rows), benchmark, 1_000), context))
