"""What fails when a model is asked, what of it is tried again, and how it is told."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import httpx
import pytest

from eval_skills.core.errors import JudgeError, UsageError
from eval_skills.engine.judging.preflight import check_panels_ready
from eval_skills.scorers.judging.errors import provider_error
from eval_skills.scorers.judging.model import JudgeModel
from tests.scorers.judging.asking import Settings, asked, code_of
from tests.scripted_model import Says, ScriptedModel, failure, verdict
from tests.tables import each_row


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(failure(429, "slow down", Retry_After="0.01"), id="p20-rate-limit"),
        pytest.param(failure(500, Retry_After="0.01"), id="500"),
        pytest.param(failure(502, Retry_After="0"), id="502"),
        pytest.param(failure(503, Retry_After="0.01"), id="503"),
        pytest.param(failure(529, Retry_After="0.01"), id="529"),
        pytest.param(Says(body=b"<html>It works!</html>", content_type="text/html"), id="p21-a-web-page"),
        pytest.param(Says(body=b'{"id": "x"}'), id="no-choices"),
        pytest.param(Says(body=b'{"choices": [{"mess'), id="truncated-body"),
        pytest.param(Says(body=b""), id="no-body"),
    ],
)
async def test_what_may_pass_is_tried_again(
    model: ScriptedModel, settings: Settings, trouble: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    model.script(trouble, trouble, verdict(0.5))
    ruling = await asked(settings().judges)
    assert (ruling.reply.reasoning, ruling.readings, len(model.asked)) == ("as asked", 1, 3)


@pytest.mark.parametrize(
    ("trouble", "code", "said"),
    [
        pytest.param(failure(401, "bad key"), "JUDGE_AUTH", "refused access (HTTP 401: bad key); is its key right?", id="401"),
        pytest.param(failure(403, "not yours"), "JUDGE_AUTH", "HTTP 403: not yours", id="403"),
        pytest.param(failure(404, "no such model"), "JUDGE_MODEL", "there is no model openai/scripted at this address", id="404"),
        pytest.param(failure(402, "pay first"), "JUDGE_QUOTA", "quota of openai/scripted is used up: pay first", id="402"),
        pytest.param(failure(429, "You exceeded your current quota"), "JUDGE_QUOTA", "quota", id="429-for-good"),
        pytest.param(failure(413, "too big"), "JUDGE_CONTEXT", "the prompt is too long", id="413"),
        pytest.param(
            failure(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"),
            "JUDGE_CONTEXT",
            "the prompt is too long for openai/scripted",
            id="context",
        ),
        pytest.param(failure(400, "no", "context_length_exceeded"), "JUDGE_CONTEXT", "is too long for", id="context-by-code"),
        pytest.param(failure(400, "no", "content_policy_violation"), "JUDGE_REFUSED", "refused to reply: no", id="policy"),
        pytest.param(failure(400, "no", "content_filter"), "JUDGE_REFUSED", "refused to reply: no", id="filter"),
        pytest.param(failure(422, "bad field"), "JUDGE_REQUEST", "does not take this request (HTTP 422: bad field)", id="422"),
    ],
)
async def test_p12_what_will_not_pass_is_told_and_not_tried_again(
    model: ScriptedModel, settings: Settings, trouble: Says, code: str, said: str
) -> None:
    model.otherwise = trouble
    with pytest.raises(JudgeError) as caught:
        await asked(settings().judges)
    assert caught.value.code == code
    assert said in str(caught.value)
    assert len(model.asked) == (3 if code == "JUDGE_REQUEST" else 1), "a request may be refused for its form: then a plainer one"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are short."""
    for name, value in {"FIRST_WAIT_S": 0.01, "MAX_WAIT_S": 0.05}.items():
        monkeypatch.setattr(f"eval_skills.scorers.judging.requests.{name}", value)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
async def test_an_outage_is_tried_again_while_there_is_time_and_its_error_counts_every_request_to_the_question(
    model: ScriptedModel, settings: Settings
) -> None:
    model.script(verdict(7))
    model.otherwise = failure(500, "out of order")
    with pytest.raises(JudgeError, match=r"not available \(HTTP 500: .*out of order\)") as caught:
        await asked(settings({"timeout_ms": 1_000}).judges)
    assert len(model.asked) > 5
    said = str(caught.value)
    attempts, seconds = re.search(r"\(after (\d+) attempts in ([\d.]+) s\); llm\.timeoutMs is 1000", said).groups()  # type: ignore[union-attr]
    assert (caught.value.code, int(attempts)) == ("JUDGE_UNAVAILABLE", len(model.asked)), "an unreadable reply is one of them"
    assert float(seconds) >= 0.8


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
async def test_a_model_that_is_down_is_left_alone_for_a_while_and_then_asked_again(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = "eval_skills.scorers.judging.requests"
    for name, value in {"MAX_UNANSWERED": 3, "PAUSE_S": 600.0, "LAST_SHARE": 1.0}.items():
        monkeypatch.setattr(f"{requests}.{name}", value)
    judges = settings().judges
    model.script(failure(500), failure(500), verdict(0.5))
    assert [await code_of(judges), await code_of(judges)] == ["JUDGE_UNAVAILABLE"] * 2
    await asked(judges)
    model.otherwise = failure(500)
    codes = [await code_of(judges, f"answer {number}") for number in range(5)]
    assert (codes, len(model.asked)) == (["JUDGE_UNAVAILABLE"] * 3 + ["JUDGE_NOT_ASKED"] * 2, 3 + 3), "an answer begins anew"
    with pytest.raises(JudgeError, match=r"^not asked, because openai/scripted did not answer before: .*HTTP 500"):
        await asked(judges, "another")
    monkeypatch.setattr(f"{requests}.monotonic", lambda: monotonic() + 601)
    assert (await code_of(judges, "again"), await code_of(judges, "and again")) == ("JUDGE_UNAVAILABLE", "JUDGE_NOT_ASKED")
    assert len(model.asked) == 3 + 3 + 1, "then one failure is enough"
    monkeypatch.setattr(f"{requests}.monotonic", lambda: monotonic() + 1300)
    model.otherwise = verdict(0.5)
    assert (await asked(judges, "now")).reply.reasoning == "as asked"


async def test_where_the_model_asks_to_wait_no_question_is_asked_before(model: ScriptedModel, settings: Settings) -> None:
    judges, turns = settings(judge_concurrency=1).judges, list[float]()

    async def turn(_: str) -> None:
        turns.append(monotonic())

    judges.before_request = turn
    model.script(failure(429, "slow down", Retry_After="0.7"))
    await asyncio.gather(*(asked(judges, str(number)) for number in range(3)))
    assert len(turns) == 4
    assert turns[1] - turns[0] >= 0.7


# LiteLLM makes a coroutine that it does not await where its time is up in between.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:coroutine 'OpenAIChatCompletion.acompletion' was never awaited:RuntimeWarning")
@pytest.mark.usefixtures("hasty")
async def test_nobody_at_the_address(settings: Settings) -> None:
    nobody = {"api_base": "http://127.0.0.1:1/v1", "timeout_ms": 300}
    with pytest.raises(
        JudgeError, match=r"^could not connect to http://127\.0\.0\.1:1/v1 \(llm\.apiBase\): Connection refused"
    ) as caught:
        await asked(settings(nobody).judges)
    assert caught.value.code == "JUDGE_UNAVAILABLE"


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("says", [pytest.param(b"", id="nothing"), pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", id="half")])
async def test_somebody_who_closes_the_connection_is_there_and_may_have_been_paid(settings: Settings, says: bytes) -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(says)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        judges = settings({"api_base": base, "timeout_ms": 300}).judges
        with pytest.raises(JudgeError, match=r"\(llm\.apiBase\) closed the connection before it had answered") as caught:
            await asked(judges)
        await judges.close()
    assert caught.value.code == "JUDGE_DISCONNECTED"
    assert judges.total.asked >= 1
    assert (judges.total.tokens, judges.total.cost_usd) == (None, None)


def completion(content: object, **usage: object) -> Says:
    message = {"role": "assistant", "content": content}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    whole = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": choices}
    return Says(body=json.dumps(whole | {"usage": {"prompt_tokens": 100, "completion_tokens": 20} | usage}).encode())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(completion([{"type": "text", "text": "{}"}]), "answered a completion of another form", id="parts"),
        pytest.param(completion("{}", prompt_tokens=1.5), "answered a completion of another form", id="fraction-of-a-token"),
        pytest.param(completion("{}", prompt_tokens=math.nan), "answered a completion of another form", id="nan-tokens"),
        pytest.param(Says(body=b"data: [DONE]\n\n", content_type="text/event-stream"), "not a chat completion", id="stream"),
        pytest.param(Says(body=b"null"), "not a chat completion", id="null"),
        pytest.param(Says(body=b"<html>", content_type="text/html"), "not a chat completion", id="html"),
        pytest.param(Says(body=b'{"error": {"message": "oops"}}'), "answered with an error: oops", id="error"),
        pytest.param(Says(body=b'{"error": {"message": "oops", "code": "bad"}}'), "answered with an error: oops", id="its-code"),
        pytest.param(Says(body=b'{"error": {"message": "oops", "code": 502}}'), "answered with an error: oops", id="passing"),
    ],
)
async def test_what_was_answered_may_have_been_paid_whatever_is_wrong_with_it(
    model: ScriptedModel, settings: Settings, answer: Says, says: str
) -> None:
    model.otherwise = answer
    judges = settings({"timeout_ms": 1_000}).judges
    with pytest.raises(JudgeError, match=says) as caught:
        await asked(judges)
    assert not re.search("HTTP|Traceback", str(caught.value))
    assert judges.total.asked >= 1
    assert (judges.total.tokens, judges.total.cost_usd) == (None, None)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("answer", [failure(400), failure(500), Says(status=502, body=b"<html>"), failure(429)])
async def test_a_request_that_was_refused_cost_nothing(model: ScriptedModel, settings: Settings, answer: Says) -> None:
    model.otherwise = answer
    judges = settings({"timeout_ms": 1_000}).judges
    with pytest.raises(JudgeError):
        await asked(judges)
    assert (judges.total.tokens, judges.total.cost_usd) == (0, 0.0)


PAGE = b"<!DOCTYPE html>\n<html><title>Blocked\nby ACME</title></html>"


@pytest.mark.usefixtures("hasty")
@each_row("page", [Says(body=PAGE), Says(body=PAGE, content_type="text/html")])
async def test_p21_a_web_page_is_recognised_at_once_unless_the_model_has_answered(
    model: ScriptedModel, settings: Settings, page: Says
) -> None:
    said = (
        r"^openai/scripted answered a web page \(Blocked by ACME\), not a chat completion; is there a proxy or a login in "
        r"between, or does llm.apiBase, .*/v1, end as its server expects, such as in /v1\? \(after 3 attempts in [\d.]+ s\)$"
    )
    model.forget()
    judges, model.otherwise = settings().judges, page
    with pytest.raises(JudgeError, match=said):
        await asked(judges)
    with pytest.raises(UsageError, match="nothing was run: openai/scripted answered a web page"):
        await check_panels_ready(judges, [(None,)])
    model.script(verdict(), *[page] * 5, verdict(0.5, "it is back"))
    await asked(judges, "43")
    assert (await asked(judges, "44")).reply.reasoning == "it is back", "what answered before may soon do so again"


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("body", [b'{"a": 1}', b'{"a": "\xff"}'])
async def test_other_json_is_no_outage_of_the_model(model: ScriptedModel, settings: Settings, body: bytes) -> None:
    model.otherwise = Says(body=body)
    with pytest.raises(JudgeError, match="openai/scripted answered something that is not a chat completion"):
        await asked(settings({"timeout_ms": 1_000}).judges)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
async def test_a_last_attempt_that_time_cuts_off_does_not_hide_what_the_model_said_before(
    model: ScriptedModel, settings: Settings
) -> None:
    gate, began = threading.Event(), monotonic()
    model.otherwise = lambda _: failure(500, "out of order") if monotonic() - began < 1 else Says(hold=gate)
    with pytest.raises(JudgeError, match=r"not available \(HTTP 500: .*out of order\) \(after \d+ attempts in ") as caught:
        await asked(settings({"timeout_ms": 1_500}).judges)
    gate.set()
    assert caught.value.code == "JUDGE_UNAVAILABLE"
    assert monotonic() - began > 1.4


async def test_p20_a_wait_beyond_the_time_limit_is_not_begun(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = failure(429, "later", Retry_After="86400")
    judges = settings().judges
    with pytest.raises(JudgeError, match=r"it asks to wait 86400 s, and 1\d\d s are left of llm\.timeoutMs, 120000"):
        await asked(judges)
    with pytest.raises(JudgeError, match=r"asks to wait 86\d\d\d s more, and llm\.timeoutMs is 120000$") as caught:
        await asked(judges, "43")
    assert caught.value.code == "JUDGE_NOT_ASKED", "another question has to wait as long"
    assert len(model.asked) == 1


@pytest.mark.parametrize("drip", [pytest.param(False, id="silent"), pytest.param(True, id="p16-a-byte-and-no-more")])
async def test_p16_a_model_that_does_not_finish_is_cut_off_and_asked_once_more(
    model: ScriptedModel, settings: Settings, drip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JudgeModel, "attempt_s", 1.0)
    gate = threading.Event()
    model.script(Says({"reasoning": "late", "score": 1}, hold=gate, drip=drip), verdict(0.5, "in time"))
    ruling = await asked(settings().judges)
    gate.set()
    assert ruling.reply.reasoning in ("in time", "as asked"), "on a busy machine the second attempt may be cut off as well"
    assert len(model.asked) >= 2


async def test_p16_the_time_limit_is_that_of_all_attempts_together(model: ScriptedModel, settings: Settings) -> None:
    gate = threading.Event()
    model.otherwise = Says(hold=gate)
    with pytest.raises(JudgeError, match=r"did not answer within .*llm.timeoutMs is 400") as caught:
        await asked(settings({"timeout_ms": 400}).judges)
    gate.set()
    assert caught.value.code == "JUDGE_TIMEOUT"
    assert len(model.asked) < 5


async def test_a_key_that_is_refused_is_not_tried_again_by_the_next_question(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = failure(401)
    judges = settings().judges
    assert [await code_of(judges) for _ in range(3)] == ["JUDGE_AUTH", "JUDGE_NOT_ASKED", "JUDGE_NOT_ASKED"]
    with pytest.raises(JudgeError, match=r"^not asked, because openai/scripted refused access \(HTTP 401"):
        await asked(judges)
    assert len(model.asked) == 1


FIRST = """
import asyncio, os, socket, sys, warnings
def nobody(*_): raise AssertionError("importing tried a network")
network = socket.socket.connect, socket.getaddrinfo
socket.socket.connect = socket.getaddrinfo = nobody
import eval_skills.scorers
assert "litellm" not in sys.modules
from eval_skills.core.config import LlmSettings
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.llm import load
from eval_skills.scorers.judging import Judges, provider
complete = provider.complete
async def noted(call, timeout_s):
    print(*(name in sys.modules for name in ("litellm", "openai.resources.chat.completions")))
    socket.socket.connect, socket.getaddrinfo = network
    warnings.resetwarnings()  # as pytest does before each test
    warnings.simplefilter("error")
    return await complete(call, timeout_s)
provider.complete = noted
llm = LlmSettings(model="openai/scripted", api_base=sys.argv[1], input_price=1.0, output_price=1.0)
asyncio.run(Judges(JudgeOptions(llm=llm)).judge().check_answers())
warnings.simplefilter("ignore")  # of connections that the end of the process closes
assert load().telemetry is False
assert provider.list_price("openai/gpt-4o-mini", 1_000_000, 0) == 0.15
assert provider.list_price("openai/nobody-knows-it", 1, 1) is None
assert "OPENAI_API_KEY" not in os.environ
"""


@pytest.mark.slow
def test_what_the_first_request_imports_is_not_in_the_models_time_nor_are_its_warnings_our_failures_and_it_is_silent(
    model: ScriptedModel, tmp_path: Path
) -> None:
    """Importing the client tries no network, prints nothing, and takes no key from a file that happens to be there."""
    model.script(Says("OK"))
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-a-dot-env\n")
    environ = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, "-c", FIRST, model.url], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n", "")


@pytest.mark.parametrize(
    ("number", "message", "said"),
    [
        pytest.param(
            20,
            "unable to get local issuer certificate",
            "unable to get local issuer certificate; if its authority is yours, name a file of it and the public ones in the"
            " variable SSL_CERT_FILE",
            id="unknown-authority",
        ),
        pytest.param(10, "certificate has expired", "certificate has expired", id="expired"),
    ],
)
def test_a_certificate_that_is_refused_is_told_and_not_asked_again(number: int, message: str, said: str) -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_code, refused.verify_message = number, message
    error = httpx.ConnectError("Connection error.")
    error.__cause__ = refused
    found = provider_error(error, "openai/x", "https://h")
    assert str(found) == f"TLS with https://h (llm.apiBase) failed: its certificate is not trusted: {said}"
    assert (found.code, found.again, found.ends_judging, found.sent) == ("JUDGE_UNAVAILABLE", False, True, False)
