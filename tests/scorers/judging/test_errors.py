"""What fails when a model is asked, what of it is tried again, and how it is told."""

from __future__ import annotations

import subprocess
import sys
import threading
from time import monotonic

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.scorers.judging.model import JudgeModel
from tests.scorers.judging.asking import Settings, asked, code_of
from tests.scripted_model import Says, ScriptedModel, failure, verdict


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


async def test_an_outage_ends_as_an_error_that_counts_the_attempts(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    model.otherwise = failure(500, "out of order")
    with pytest.raises(JudgeError, match=r"not available \(HTTP 500: .*out of order\) \(after 5 attempts\)") as caught:
        await asked(settings().judges)
    assert (caught.value.code, len(model.asked)) == ("JUDGE_UNAVAILABLE", 5)


async def test_a_model_that_is_down_is_left_alone_for_a_while_and_then_asked_again(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = "eval_skills.scorers.judging.requests"
    for name, value in {"FIRST_WAIT_S": 0.0, "ATTEMPTS": 1, "MAX_UNANSWERED": 3, "PAUSE_S": 600.0}.items():
        monkeypatch.setattr(f"{requests}.{name}", value)
    judges = settings().judges
    model.script(failure(500), failure(500), verdict(0.5))
    assert [await code_of(judges), await code_of(judges)] == ["JUDGE_UNAVAILABLE"] * 2
    await asked(judges)
    model.otherwise = failure(500)
    codes = [await code_of(judges, f"answer {number}") for number in range(5)]
    assert (codes, len(model.asked)) == (["JUDGE_UNAVAILABLE"] * 5, 3 + 3), "in a row: an answer in between begins anew"
    monkeypatch.setattr(f"{requests}.monotonic", lambda: monotonic() + 601)
    model.otherwise = verdict(0.5)
    assert (await asked(judges, "now")).reply.reasoning == "as asked"


async def test_nobody_at_the_address(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    with pytest.raises(JudgeError, match=r"^could not connect to http://127\.0\.0\.1:1/v1 \(llm\.apiBase\)") as caught:
        await asked(settings({"api_base": "http://127.0.0.1:1/v1"}).judges)
    assert caught.value.code == "JUDGE_UNAVAILABLE"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(Says(body=b"<html>gateway</html>"), id="said-to-be-json"),
        pytest.param(Says(body=b"<html>gateway</html>", content_type="text/html"), id="a-web-page"),
        pytest.param(Says(body=b'{"a": 1}'), id="other-json"),
    ],
)
async def test_p21_a_page_is_no_outage_of_the_model(
    model: ScriptedModel, settings: Settings, page: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    model.otherwise = page
    with pytest.raises(JudgeError, match="openai/scripted answered something that is not a chat completion"):
        await asked(settings().judges)


async def test_p20_a_wait_beyond_the_time_limit_is_not_begun(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = failure(429, "later", Retry_After="86400")
    with pytest.raises(JudgeError, match=r"it asks to wait 86400 s, which is longer than llm\.timeoutMs leaves"):
        await asked(settings().judges)
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
    assert {await code_of(judges) for _ in range(3)} == {"JUDGE_AUTH"}
    assert len(model.asked) == 1


FIRST = """
import asyncio, sys, warnings
from eval_skills.core.config import LlmSettings
from eval_skills.core.config.options import JudgeOptions
from eval_skills.scorers.judging import Judges, requests
complete = requests.complete
async def noted(call, timeout_s):
    print(*(name in sys.modules for name in ("litellm", "openai.resources.chat.completions")))
    warnings.resetwarnings()  # as pytest does before each test
    warnings.simplefilter("error")
    return await complete(call, timeout_s)
requests.complete = noted
llm = LlmSettings(model="openai/scripted", api_base=sys.argv[1], input_price=1.0, output_price=1.0)
asyncio.run(Judges(JudgeOptions(llm=llm)).judge().check_answers())
"""


@pytest.mark.slow
def test_what_the_first_request_imports_is_not_in_the_models_time_nor_are_its_warnings_our_failures(model: ScriptedModel) -> None:
    model.script(Says("OK"))
    done = subprocess.run([sys.executable, "-c", FIRST, model.url], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr
