"""Services that do their worst over real sockets, below Prefect: each costs its own item, says why, and leaves nothing behind."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from eval_skills.core.models import ItemResult
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation import session
from eval_skills.engine.evaluation.plan import RunPlan, make_plan
from tests.end_to_end.faults.below_prefect import Traces, run

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at processes and files in /proc, which only Linux has"
)

SERVER = Path(__file__).with_name("hostile_server.py")
PATIENCE_S = 60.0
STRUCK_S = 0.3
"""The deadline of those that hang: it has to pass, and nothing has to be fast."""
TASKS = [
    {"id": "attack", "inputData": {"do": "attack"}, "expectedOutput": {"value": "ok"}},
    {"id": "behave", "inputData": {"do": "behave"}, "expectedOutput": {"value": "ok"}},
]
STREAM = {"stream": {"done": "[DONE]"}}
TWICE, ONCE = ("infra", "infra"), ("infra",)


@dataclass(frozen=True, slots=True)
class Service:
    """A service, and what must become of its item: the status, the error kind, words of the reason, the kinds of its tries.

    `at` is its address, where it is not the route of its own name; `misbehaves_always` where it has no other item.
    """

    id: str
    status: str = "error"
    kind: str | None = "infra"
    reason: str = ""
    attempts: tuple[str | None, ...] = ()
    at: str = "http://127.0.0.1:{plain}/{id}"
    config: dict[str, Any] = field(default_factory=dict)
    misbehaves_always: bool = False


def passes(name: str, **more: Any) -> Service:
    return Service(name, "pass", None, **({"attempts": (None,)} | more))


def unreadable(name: str, reason: str, **more: Any) -> Service:
    return Service(name, "error", "contract", reason, ("contract",), **more)


def fails(name: str, reason: str) -> Service:
    return Service(name, "error", "skill", reason, ("skill", "skill"))


def hangs(name: str, **more: Any) -> Service:
    return Service(name, "timeout", "timeout", "no answer within 0.3 s", ("timeout", "timeout"), **more)


SERVICES = (
    passes("healthy"),
    passes("byte-by-byte"),
    passes("two-answers"),
    passes("longer-than-it-says"),
    passes("too-many-at-first", attempts=("infra", None)),
    passes("stream-stays-open", config=STREAM),
    Service("closes-at-once", reason="disconnected without sending a response", attempts=TWICE),
    Service("resets", reason="Connection reset by peer", attempts=TWICE),
    Service("closes-in-the-body", reason="peer closed connection without sending complete", attempts=TWICE),
    Service("no-http", reason="illegal status line", attempts=TWICE),
    Service("too-many", reason="HTTP 429 from .*/too-many: slow down", attempts=TWICE),
    fails("broken", "HTTP 500 from .*: Traceback"),
    Service("overloaded", reason="HTTP 503 from .*: <html>busy", attempts=TWICE),
    Service("not-there", reason="HTTP 404 from .*: <html>no such page", attempts=ONCE),
    Service("circle", reason="redirected in a circle: .*/circle → .*/circle", attempts=ONCE),
    Service("ever-further", reason="redirected more than 10 times, last: .*/ever-further", attempts=ONCE),
    Service("elsewhere", reason="redirected to http://127.0.0.1:1/collect.*, which is not followed", attempts=ONCE),
    unreadable("huge-headers", "the headers of .*/huge-headers never end, or are longer than the 100 kB"),
    unreadable("many-headers", "the headers of .*/many-headers never end, or are longer than the 100 kB"),
    unreadable("half-a-json", r"HTTP 200 .*not JSON: .*it was: \{\"answer\": \[1, 2"),
    unreadable("invalid-utf-8", r"not UTF-8 \(byte 1\)"),
    unreadable("body-of-50-mb", r"the body has more than 1,000,000 bytes \(maxOutputBytes\)"),
    fails("error-of-50-mb", "HTTP 500 from .*: xxx"),
    unreadable("deep-json", "nested deeper than 200 levels"),
    unreadable("huge-number", "digits"),
    unreadable("stream-ends-early", r"the stream ended without '\[DONE\]'", config=STREAM),
    Service("stream-is-overloaded", reason='the stream reported an error: {"type": "overload', attempts=TWICE, config=STREAM),
    unreadable("stream-reports-an-error", 'the stream reported an error: {"type": "invalid_request"}', config=STREAM),
    unreadable("stream-never-ends", "more than 1,000,000 bytes", config=STREAM),
    unreadable("stream-without-lines", "more than 1,000,000 bytes", config=STREAM),
    Service("stream-breaks-off", reason="peer closed connection", attempts=TWICE, config=STREAM),
    Service("port-closed", reason="Connection refused", attempts=TWICE, at="http://127.0.0.1:{closed}/", misbehaves_always=True),
    Service("no-such-host", reason="nowhere.invalid/ failed: its host is not found", at="http://nowhere.invalid/",
            misbehaves_always=True),
    Service("tls-untrusted", reason="its certificate is not trusted: .*; if that authority is yours, name its file in",
            attempts=ONCE, at="https://127.0.0.1:{secure}/healthy", misbehaves_always=True),
    Service("tls-other-name", reason="its certificate is not valid for .localhost., but for 127.0.0.1", attempts=ONCE,
            at="https://localhost:{secure}/healthy", config={"tls": {"caFile": "ca.pem"}}, misbehaves_always=True),
    Service("tls-not-spoken", reason="does not seem to speak TLS", attempts=ONCE, at="https://127.0.0.1:{plain}/healthy",
            misbehaves_always=True),
    passes("tls-trusted", at="https://127.0.0.1:{secure}/healthy", config={"tls": {"caFile": "ca.pem"}}),
    passes("tls-unchecked", at="https://localhost:{secure}/healthy", config={"tls": {"verify": False}}),
)  # fmt: skip

HANGING = (
    hangs("never-answers"),
    hangs("drips-for-ever"),
    hangs("promises-more"),
    hangs("stream-falls-silent", config=STREAM),
    hangs("tls-mute", at="https://127.0.0.1:{mute}/"),
)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ports(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    certificate = tmp_path_factory.mktemp("tls") / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
    with (
        subprocess.Popen(
            [sys.executable, "-ISs", str(SERVER), str(certificate)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server,
        socket.socket() as unused,
    ):
        unused.bind(("127.0.0.1", 0))
        assert server.stdout is not None
        numbers = json.loads(server.stdout.readline())
        yield dict(zip(("plain", "secure", "mute"), numbers, strict=True)) | {"closed": unused.getsockname()[1]}
        server.kill()


def planned(folder: Path, services: tuple[Service, ...], ports: dict[str, int], ca: trustme.CA, timeout_s: float) -> RunPlan:
    for each in services:
        skill = folder / "skills" / each.id
        skill.mkdir(parents=True)
        ca.cert_pem.write_to_path(str(skill / "ca.pem"))
        described = {"id": each.id, "name": each.id, "version": "1.0.0", "adapterType": "http"}
        config = {"maxOutputBytes": 1_000_000, **each.config}
        entrypoint = {"entrypoint": each.at.format(id=each.id, **ports), "adapterConfig": config}
        (skill / "skill.json").write_text(json.dumps(described | entrypoint))
    (folder / "tasks.json").write_text(json.dumps(TASKS))
    request = EvaluateRequest(
        skills=[str(folder / "skills")], tasks=str(folder / "tasks.json"), timeout_ms=int(timeout_s * 1000),
        store=str(folder / "store"),
    )  # fmt: skip
    return make_plan(request)


def objection(service: Service, result: ItemResult) -> str:
    """What is wrong with the result; nothing where it is as it must be."""
    said = "; ".join(reason.message for reason in result.reasons)
    attempts = tuple(attempt.error_kind for attempt in result.attempts)
    right = (
        (result.status, result.error_kind) == (service.status, service.kind)
        and (re.search(service.reason, said) if service.reason else not said)
        and (attempts == service.attempts or not service.attempts)
        and result.latency_ms is not None
    )
    return "" if right else f"{result.status} of kind {result.error_kind}, {attempts}: {said[:400]}"


@pytest.mark.usefixtures("mark")
def test_every_service_gets_the_status_and_the_reason_that_it_deserves_and_costs_no_other_item(
    tmp_path: Path, ports: dict[str, int], authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_THROTTLED_S", -1.0)  # a task that is always refused while others are answered
    plan = planned(tmp_path, SERVICES, ports, authority, PATIENCE_S)
    run(plan.narrowed([item for item in plan.items if item.skill == "tls-trusted@1.0.0"]))  # what a process loads once is no leak
    assert [remark.partition(":")[0] for remark in plan.remarks] == ["tls-unchecked@1.0.0"]
    before = Traces.now()
    results, left = run(plan)
    assert {each.id: said for each in SERVICES if (said := objection(each, results[each.id, "attack"]))} == {}
    misbehaving = {each.id for each in SERVICES if each.misbehaves_always}
    broken = {key[0]: result.error_message for key, result in results.items() if key[1] == "behave" and not result.passed}
    assert broken.keys() == misbehaving, broken
    assert results["stream-stays-open", "attack"].time_to_first_token_ms is not None
    assert results["healthy", "attack"].time_to_first_token_ms is None
    assert left == []
    assert before.more() == []


@pytest.mark.usefixtures("mark")
def test_what_hangs_is_cut_at_the_deadline_and_leaves_nothing(
    tmp_path: Path, ports: dict[str, int], authority: trustme.CA
) -> None:
    whole = planned(tmp_path, HANGING, ports, authority, STRUCK_S)
    plan = whole.narrowed([item for item in whole.items if item.task == "attack"])
    run(plan, retries=0)  # what a process loads once is no leak
    before = Traces.now()
    results, left = run(plan)
    assert {each.id: said for each in HANGING if (said := objection(each, results[each.id, "attack"]))} == {}
    assert left == []
    assert before.more() == []
