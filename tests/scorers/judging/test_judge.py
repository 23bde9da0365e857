"""Asking a model: what fails, what is tried again, what is kept, what it may cost."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.scorers import ScoringSettings
from eval_skills.scorers.judging import Judges, Material, Question, Ruling
from eval_skills.scorers.judging.grading import Grade, Grading
from eval_skills.scorers.judging.judge_model import JudgeModel
from eval_skills.scorers.judging.provider import WELL_KNOWN, load
from eval_skills.scorers.judging.spending import counted
from tests.scripted_model import Says, ScriptedModel, failure, verdict

pytestmark = pytest.mark.xdist_group("judge")

Settings = Callable[..., ScoringSettings]
PRICED = {"input_price": 0.0, "output_price": 1_000.0}
"""A reply costs 20 tokens × 0.001 = 0.02 USD; one that may have 100 tokens may cost 0.10."""


def question(answer: str = "42", instructions: str = "Be right.", **more: Any) -> Question[Grade]:
    materials = (Material.of("answer", answer),)
    given = {"version": "1", "reply": Grading.of().reply, "max_tokens": 100, "materials": materials, **more}
    return Question(role="You judge.", instructions=instructions, **given)


async def asked(judges: Judges, answer: str = "42", **how: Any) -> Ruling[Grade]:
    return await judges.judge().ask(question(answer), **how)


async def code_of(judges: Judges, answer: str = "42") -> str:
    with pytest.raises(JudgeError) as caught:
        await asked(judges, answer)
    return caught.value.code


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
        pytest.param(failure(401, "bad key"), "JUDGE_AUTH", "refused us (HTTP 401: bad key); is its key right?", id="401"),
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
    for name, value in {"FIRST_WAIT_S": 0.0, "ATTEMPTS": 1, "IN_VAIN": 3, "REST_S": 600.0}.items():
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
    with pytest.raises(JudgeError, match="openai/scripted answered something that is no chat completion"):
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


async def test_a_model_that_does_not_know_schemas_is_asked_in_words_from_then_on(
    model: ScriptedModel, settings: Settings
) -> None:
    model.script(failure(400, "response_format: json_schema is not supported"), failure(400, "nor json_object"))
    judges = settings().judges
    await asked(judges)
    await asked(judges, "43")
    forms = [request.body.get("response_format", {}).get("type") for request in model.asked]
    assert forms == ["json_schema", "json_object", None, None]
    assert '"score"' in model.asked[-1].prompt, "the words say what form the reply has"


async def test_a_key_that_is_refused_is_not_tried_again_by_the_next_question(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = failure(401)
    judges = settings().judges
    assert {await code_of(judges) for _ in range(3)} == {"JUDGE_AUTH"}
    assert len(model.asked) == 1


async def test_p86_a_call_of_a_tool_is_no_verdict(model: ScriptedModel, settings: Settings) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": '{"reasoning": "r", "score": 1}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    model.otherwise = Says(body=json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode())
    assert (await code_of(settings().judges), len(model.asked)) == ("JUDGE_UNREADABLE", 3)


async def test_a_refusal_is_told_in_the_models_words_and_not_asked_for_again(model: ScriptedModel, settings: Settings) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that"}
    model.otherwise = Says(body=json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())
    with pytest.raises(JudgeError, match="refused to judge this: I cannot help with that") as caught:
        await asked(settings().judges)
    assert (caught.value.code, len(model.asked)) == ("JUDGE_REFUSED", 1)


def test_the_well_known_providers_are_known_to_the_client() -> None:
    known = {getattr(each, "value", each) for each in load().provider_list}
    assert known >= WELL_KNOWN


async def test_a_model_without_a_provider_is_told_how_to_be_written(settings: Settings) -> None:
    with pytest.raises(JudgeError, match="write PROVIDER/MODEL, such as openai/nonsense"):
        await settings({"model": "nonsense"}).judges.judge().ask(question())


async def test_p85_the_same_question_is_asked_once_and_costs_once(model: ScriptedModel, settings: Settings) -> None:
    with counted() as first:
        assert not (await asked(settings().judges)).cached
    with counted() as second:
        assert (await asked(settings().judges)).cached
    assert (first.asked, first.tokens) == (1, 120)
    assert (second.asked, second.cached, second.tokens, second.cost_usd) == (0, 1, 0, 0.0)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("llm", "other", "how"),
    [
        pytest.param({"model": "openai/other"}, {}, {}, id="model"),
        pytest.param({"temperature": 0.5}, {}, {}, id="temperature"),
        pytest.param({}, {"instructions": "Be kind."}, {}, id="instructions"),
        pytest.param({}, {"version": "2"}, {}, id="prompt-version"),
        pytest.param({}, {"answer": "43"}, {}, id="answer"),
        pytest.param({}, {"materials": (Material.of("tool result", "42"),)}, {}, id="name-of-material"),
        pytest.param({}, {"reply": Grading.of((0, 10)).reply}, {}, id="scale"),
        pytest.param({}, {"reply": Grading.of(choices={"a": 0, "b": 1}).reply}, {}, id="choices"),
        pytest.param({}, {"max_tokens": 101}, {}, id="max-tokens"),
        pytest.param({}, {}, {"vote": 1}, id="vote"),
    ],
)
def test_p85_whatever_matters_makes_another_question(
    settings: Settings, llm: dict[str, Any], other: dict[str, Any], how: dict[str, Any]
) -> None:
    def key(chosen: ScoringSettings, asking: Question[Grade], vote: int = 0) -> str:
        judge = chosen.judges.judge()
        return judge._key(asking, vote, judge.model.temperature)

    assert key(settings(), question()) == key(settings({"timeout_ms": 5, **PRICED}), question())
    assert key(settings(), question()) != key(settings(llm), question(**other), **how)


def test_p85_what_was_cut_out_of_the_prompt_matters_too(settings: Settings) -> None:
    def key(answer: str) -> str:
        return settings().judges.judge()._key(question(answer, limit=10), 0, 0.0)

    assert key("a" * 50 + "b" + "c" * 50) != key("a" * 50 + "x" + "c" * 50)


async def test_equal_questions_at_the_same_time_are_one(model: ScriptedModel, settings: Settings) -> None:
    judges = settings().judges
    rulings = await asyncio.gather(*(asked(judges) for _ in range(8)))
    assert sorted(ruling.cached for ruling in rulings) == [False] + [True] * 7
    assert len(model.asked) == 1


async def test_without_the_cache_everybody_asks(model: ScriptedModel, settings: Settings, tmp_path: Path) -> None:
    judges = settings(no_judge_cache=True).judges
    await asyncio.gather(*(asked(judges) for _ in range(3)))
    assert len(model.asked) == 3
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"format": 1, "key', id="cut"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"\xff\xfe", id="no-text"),
        pytest.param(b'{"format": 1, "key": "another", "model": "m", "reply": "{}"}', id="of-another-key"),
        pytest.param(None, id="a-verdict-that-does-not-fit"),
    ],
)
async def test_a_broken_entry_is_a_miss_and_is_replaced(
    model: ScriptedModel, settings: Settings, tmp_path: Path, content: bytes | None
) -> None:
    await asked(settings().judges)
    (entry,) = (tmp_path / "cache").rglob("*.json")
    entry.write_bytes(json.dumps(json.loads(entry.read_text()) | {"reply": "7"}).encode() if content is None else content)
    judges = settings().judges
    assert not (await asked(judges)).cached
    assert judges.cache is not None
    assert judges.cache.broken == 1
    assert (await asked(settings().judges)).cached


async def test_a_cache_that_cannot_be_written_costs_no_verdict(model: ScriptedModel, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    judges = settings({"cache_dir": tmp_path / "file"}).judges
    assert not (await asked(judges)).cached
    assert judges.cache is not None
    assert judges.cache.unwritable


async def test_an_unreadable_reply_is_not_kept(model: ScriptedModel, settings: Settings) -> None:
    model.script(*[verdict(7)] * 3)
    assert await code_of(settings().judges) == "JUDGE_UNREADABLE"
    assert not (await asked(settings().judges)).cached


OTHER_PROCESS = """
import asyncio, sys
from tests.scorers.judging.test_judge import asked
from eval_skills.scorers import ScoringSettings
judges = ScoringSettings.of({"llm": {"model": "openai/scripted", "apiBase": sys.argv[1]}}).judges
async def main():
    return [(await asked(judges, str(n))).cached for n in range(20)]
print(sum(asyncio.run(main())))
"""


@pytest.mark.slow
async def test_processes_share_the_cache_while_both_write(model: ScriptedModel, settings: Settings) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", OTHER_PROCESS, model.url]
    others = [
        subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    found = [await asyncio.to_thread(other.communicate) for other in others]
    cached = sum(int(out) for out, _ in found)
    assert len(model.asked) == 40 - cached
    assert 20 <= len(model.asked) <= 40
    assert all([(await asked(settings().judges, str(n))).cached for n in range(20)])


async def test_the_budget_is_never_overdrawn_and_then_nothing_more_is_asked(model: ScriptedModel, settings: Settings) -> None:
    judges = settings(PRICED, max_judge_cost=0.15).judges
    await asked(judges, "a")
    await asked(judges, "b")
    assert judges.budget.spent_usd == pytest.approx(0.04)
    await asked(judges, "c")
    with pytest.raises(JudgeError, match=r"--max-judge-cost 0\.15 does not allow another request \(0\.06 USD spent") as caught:
        await asked(judges, "d")
    assert (caught.value.code, judges.budget.exhausted, len(model.asked)) == ("JUDGE_BUDGET", True, 3)
    assert (await asked(judges, "a")).cached, "what is known costs nothing"


async def test_requests_at_the_same_time_cannot_overdraw_it_together(model: ScriptedModel, settings: Settings) -> None:
    judges = settings(PRICED, max_judge_cost=0.25, judge_concurrency=8).judges
    done = await asyncio.gather(*(asked(judges, str(n)) for n in range(12)), return_exceptions=True)
    codes = [each.code for each in done if isinstance(each, JudgeError)]
    assert set(codes) == {"JUDGE_BUDGET"}
    assert judges.budget.spent_usd == pytest.approx(0.02 * len(model.asked))
    assert judges.budget.spent_usd <= 0.25 < judges.budget.spent_usd + 0.1, "all of it that could be used was"
    assert model.most_busy <= 2


async def test_a_request_that_failed_costs_nothing_and_one_that_was_cut_off_all_that_it_might(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JudgeModel, "attempt_s", 1.0)
    gate = threading.Event()
    judges = settings(PRICED, max_judge_cost=1.0).judges
    model.script(failure(503, Retry_After="0"), Says(hold=gate))
    await asked(judges)
    gate.set()
    cut_off = len(model.asked) - 2
    assert cut_off >= 1
    assert judges.budget.spent_usd == pytest.approx(0.10 * cut_off + 0.02)


async def test_a_limit_without_a_price_judges_nothing(model: ScriptedModel, settings: Settings) -> None:
    assert await code_of(settings(max_judge_cost=1.0).judges) == "JUDGE_BUDGET"
    assert not model.asked


async def test_a_listed_price_is_known_without_asking_the_network(model: ScriptedModel, settings: Settings) -> None:
    with counted() as spending:
        await asked(settings({"model": "openai/gpt-4o-mini"}, max_judge_cost=1.0).judges)
    assert spending.cost_usd == pytest.approx(100 * 0.15e-6 + 20 * 0.6e-6)


async def test_every_request_waits_for_its_turn_at_the_rate_limit(model: ScriptedModel, settings: Settings) -> None:
    waited: list[str] = []

    async def turn(name: str) -> None:
        waited.append(name)

    judges = settings().judges
    judges.before_request = turn
    model.script(verdict(7))
    await asked(judges)
    assert waited == ["openai/scripted"] * 2


IMPORTED = """
import socket, sys
def nobody(*_): raise AssertionError("importing tried a network")
socket.socket.connect = socket.getaddrinfo = nobody
import eval_skills.scorers
assert "litellm" not in sys.modules
from eval_skills.scorers.judging.provider import list_price, load
assert load().telemetry is False
assert list_price("openai/gpt-4o-mini", 1_000_000, 0) == 0.15
assert list_price("openai/nobody-knows-it", 1, 1) is None
"""


@pytest.mark.slow
def test_importing_the_client_tries_no_network_and_prints_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-a-dot-env\n")
    program = IMPORTED + 'import os\nassert "OPENAI_API_KEY" not in os.environ\n'
    environ = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
