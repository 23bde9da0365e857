"""One mapped task run per item: its state says what happened, its retries wait as asked, and nobody waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.models import ItemResult, Reason
from eval_skills.core.store import Store
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.plan import Item
from eval_skills.engine.evaluation.retries import current_slot
from eval_skills.engine.evaluation.rounds import ItemBatch
from eval_skills.flows import evaluate
from eval_skills.tasks.evaluation import is_transient, state_of

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest


def outcome(status: Any, *, transient: bool = False, **fields: Any) -> Outcome:
    result = ItemResult(
        run_id="20261121T233824Z-3f9a",
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        skill_id="adder",
        skill_version="1.0.0",
        benchmark_id="sums",
        benchmark_version="1.0.0",
        task_id="t",
        run_index=0,
        status=status,
        passed=status == "pass",
        **fields,
    )
    return Outcome(result, transient=transient)


@pytest.mark.parametrize(
    ("status", "fields", "kind", "name", "message"),
    [
        pytest.param("pass", {"score": 1.0, "latency_ms": 12.3}, "COMPLETED", "Passed", "score 1 · 12 ms", id="pass"),
        pytest.param(
            "fail",
            {"score": 0.25, "latency_ms": 7.0, "reasons": [Reason(code="MISMATCH", message="4 is not 5")]},
            "COMPLETED",
            "Failed check",
            "score 0.25 · 7 ms · 4 is not 5",
            id="a-wrong-answer-is-a-completed-task-run",
        ),
        pytest.param(
            "error",
            {"error_kind": "infra", "reasons": [Reason(code="INFRA_ERROR", message="refused")]},
            "FAILED",
            "Failed",
            "refused",
            id="error",
        ),
        pytest.param("timeout", {"error_kind": "timeout", "latency_ms": 1000.0}, "FAILED", "TimedOut", "1000 ms", id="timeout"),
    ],
)
def test_the_state_says_what_happened(status: str, fields: dict[str, Any], kind: str, name: str, message: str) -> None:
    state = state_of(outcome(status, **fields))
    assert (state.type.value, state.name, state.message) == (kind, name, message)


def test_a_long_list_of_reasons_is_cut_in_the_message() -> None:
    reasons = [Reason(code="X", message="x" * 200) for _ in range(5)]
    assert len(state_of(outcome("fail", reasons=reasons)).message or "") == 300


@pytest.mark.parametrize("transient", [True, False])
async def test_p20_only_transient_trouble_is_tried_again(transient: bool) -> None:
    current_slot.set(None)
    state = state_of(outcome("error", transient=transient))
    assert await is_transient(None, None, state) is transient  # type: ignore[arg-type]


async def test_p20_an_exception_of_our_own_is_not_tried_again() -> None:
    from prefect.states import exception_to_failed_state

    assert not await is_transient(None, None, await exception_to_failed_state(LookupError("a bug")))  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "name"), [(1, "adder@1.0.0/t0#1"), (10, "adder@1.0.0/t0#1 +9")])
def test_a_batch_is_named_after_its_first_item(count: int, name: str) -> None:
    assert str(ItemBatch(tuple(Item("adder@1.0.0", f"t{n}", 0) for n in range(count)))) == name


class Moody(ThreadingHTTPServer):
    """Answers each task's first call with HTTP 429 and what it asks to wait, later ones with "ok"."""

    def __init__(self, retry_after: Callable[[], str]) -> None:
        super().__init__(("127.0.0.1", 0), MoodyHandler)
        self.retry_after = retry_after
        self.calls: list[tuple[str, float]] = []

    def times_of(self, task: str) -> list[float]:
        return [when for name, when in self.calls if name == task]


class MoodyHandler(BaseHTTPRequestHandler):
    server: Moody

    def do_POST(self) -> None:
        what = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]["what"]
        is_first = not self.server.times_of(what)
        self.server.calls.append((what, monotonic()))
        refused = is_first and what == "later"
        body = json.dumps("busy" if refused else "ok").encode()
        self.send_response(429 if refused else 200)
        if refused:
            self.send_header("Retry-After", self.server.retry_after())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[], str]], Moody]]:
    servers: list[Moody] = []

    def start(retry_after: Callable[[], str]) -> Moody:
        servers.append(Moody(retry_after))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def http_date() -> str:
    """Two to three seconds from now: an HTTP date has no fractions."""
    return (datetime.now(UTC) + timedelta(seconds=3)).strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.usefixtures("prefect_url")
class TestRetryAfter:
    @pytest.mark.parametrize(
        ("retry_after", "batch"),
        [
            pytest.param(lambda: "2", 1, id="seconds"),
            pytest.param(http_date, 1, id="date", marks=pytest.mark.slow),
            pytest.param(lambda: "2", 2, id="seconds-in-a-batch", marks=pytest.mark.slow),
        ],
    )
    def test_p20_the_wait_is_what_was_asked_is_no_attempt_and_other_services_are_asked_meanwhile(
        self,
        make_request: MakeRequest,
        write_skill: Callable[..., Path],
        serve: Callable[[Callable[[], str]], Moody],
        retry_after: Callable[[], str],
        batch: int,
    ) -> None:
        server, other = serve(retry_after), serve(retry_after)
        skills = [
            str(write_skill(name, adapterType="http", entrypoint=f"http://127.0.0.1:{of.server_port}/", adapterConfig={}))
            for name, of in (("web", server), ("xeb", other))
        ]
        request = make_request("later", "one", "two", skills=skills, concurrency=1, items_per_task=batch)
        summary = evaluate(request)
        first, second = server.times_of("later")
        assert second - first >= 2  # the delay of our own is 1.25 s at most
        assert [when for _, when in server.calls if first < when < first + 2] == []
        assert [when for _, when in other.calls if first < when < first + 1.9], "not when both are asked again"
        items = Store(request.store).items(run_id=summary.run_id).set_index(["skill_id", "task_id"])
        assert set(items["status"]) == {"pass"}
        assert [attempt["error_kind"] for attempt in items["attempts"]["web", "later"]] == [None]
        assert items["latency_ms"]["web", "later"] < (second - first) * 1000  # the wait is no part of it


@pytest.mark.usefixtures("prefect_url")
class TestLimits:
    def test_p17_the_limit_that_was_in_force_is_in_the_row(
        self, make_request: MakeRequest, write_tasks: Callable[..., str], tmp_path: Path
    ) -> None:
        own = {"id": "own", "inputData": {"what": "hang"}, "expectedOutput": {"value": "ok"}, "timeoutMs": 400}
        path = Path(write_tasks("ok"))
        path.write_text(json.dumps([*json.loads(path.read_text()), own]))
        request = make_request(tasks=str(path), timeout_ms=25_000)
        items = Store(request.store).items(run_id=evaluate(request).run_id).set_index("task_id")
        assert items["timeout_ms"].to_dict() == {"ok": 25_000, "own": 400}
        assert items["status"].to_dict() == {"ok": "pass", "own": "timeout"}

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_p59_concurrency_is_observed(
        self, make_request: MakeRequest, write_skill: Callable[..., Path], concurrency: int
    ) -> None:
        server = Counting(concurrency)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        skill = write_skill("web", adapterType="http", entrypoint=f"http://127.0.0.1:{server.server_port}/", adapterConfig={})
        evaluate(make_request("a", "b", "c", "d", "e", "f", skills=[str(skill)], concurrency=concurrency))
        server.shutdown()
        server.server_close()
        assert server.most == concurrency


class Counting(ThreadingHTTPServer):
    """Knows how many calls it answered at the same time."""

    def __init__(self, should_be: int) -> None:
        super().__init__(("127.0.0.1", 0), CountingHandler)
        self.now = self.most = 0
        self.should_be, self.enough = should_be, threading.Event()
        self.lock = threading.Lock()


class CountingHandler(BaseHTTPRequestHandler):
    server: Counting

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
            if self.server.now >= self.server.should_be:
                self.server.enough.set()
        self.server.enough.wait(60)
        threading.Event().wait(0.1)  # so that more could come
        with self.server.lock:
            self.server.now -= 1
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b'"ok"')

    def log_message(self, *_: Any) -> None:
        """Say nothing."""
