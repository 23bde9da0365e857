"""Every adapter keeps one session over the turns of a conversation, and two conversations at a time never share one."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import Adapter, check_skill, open_adapter
from eval_skills.adapters.conversation import MAX_HISTORY_BYTES, Conversation
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.adapters.python.object_skill import ObjectSkill
from eval_skills.core.errors import ContractError, ItemError, SkillCrashed, SkillError, SkillTimeout, UsageError
from eval_skills.core.models import Skill, SkillResponse
from tests.adapters.mcp_probe import by_hand, mcp_skill
from tests.adapters.programs import PATIENCE_S
from tests.adapters.skills import make_skill
from tests.limited_service import limited_service

MakeSkill = Callable[..., Skill]


async def talk(adapter: Adapter, *inputs: Any, together: asyncio.Barrier | None = None) -> list[SkillResponse]:
    """The answers of one conversation; with `together` no turn begins before the others' turn is over."""
    answers = []
    async with adapter.conversation() as session:
        for each in inputs:
            answers.append(await session.call(each, PATIENCE_S))
            if together is not None:
                await together.wait()
    return answers


async def outputs(adapter: Adapter, *inputs: Any, together: asyncio.Barrier | None = None) -> list[Any]:
    return [answer.output for answer in await talk(adapter, *inputs, together=together)]


async def two_at_a_time(skill: Skill) -> tuple[list[Any], list[Any]]:
    barrier = asyncio.Barrier(2)
    async with open_adapter(skill) as adapter:
        told = (outputs(adapter, *names, together=barrier) for names in (("a", "b", "c"), ("x", "y", "z")))
        first, second = await asyncio.gather(*told)
    return first, second


HEARD = (["a", "a b", "a b c"], ["x", "x y", "x y z"])
"""What a skill that says all that it was told says in two conversations."""

REMEMBERING_PROGRAM = """
import json, sys
heard = []
for line in sys.stdin:
    request = json.loads(line)
    heard.append(request["params"])
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": " ".join(heard)}), flush=True)
"""

READING_PROGRAM = """
import json, sys
request = json.loads(sys.stdin.readline())
heard = [said["input"] for said in request["conversation"]["history"]] + [request["params"]]
assert request["conversation"]["turn"] == len(heard)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": " ".join(heard)}))
"""

REMEMBERING_FUNCTION = """
heard = []
def run(value):
    heard.append(value)
    return " ".join(heard)
"""

TOLD_FUNCTION = """
async def run(value, conversation):
    return " ".join([said["input"] for said in conversation["history"]] + [value])
"""


@pytest.mark.slow
@pytest.mark.parametrize("persistent", [True, False], ids=["a-warm-process", "fresh-processes-with-the-history"])
async def test_programs(program_skill: MakeSkill, persistent: bool) -> None:
    source = REMEMBERING_PROGRAM if persistent else READING_PROGRAM
    assert await two_at_a_time(program_skill(source, persistent=persistent)) == HEARD


@pytest.mark.slow
@pytest.mark.parametrize("source", [REMEMBERING_FUNCTION, TOLD_FUNCTION], ids=["that-remember", "that-are-told"])
async def test_python_functions(python_skill: MakeSkill, source: str) -> None:
    assert await two_at_a_time(python_skill(source)) == HEARD


@pytest.mark.slow
async def test_a_spread_input_and_a_conversation(python_skill: MakeSkill) -> None:
    skill = python_skill("def run(city, conversation): return [city, (conversation or {}).get('turn')]", spread=True)
    async with open_adapter(skill) as adapter:
        assert await outputs(adapter, {"city": "Bern"}, {"city": "Basel"}) == [["Bern", 1], ["Basel", 2]]
        assert (await adapter.call({"city": "Chur"}, PATIENCE_S)).output == ["Chur", None]
        assert (await adapter.call({"city": "Chur", "conversation": {"turn": 7}}, PATIENCE_S)).output == ["Chur", 7]


def told_in_process(value: str, conversation: dict[str, Any]) -> str:
    heard = [said["input"] for said in conversation["history"]]
    conversation["history"].clear()  # its own copy
    return " ".join([*heard, value])


async def told_as_it_waits(value: str, *, conversation: dict[str, Any] | None = None) -> str:
    return " ".join([*(said["input"] for said in (conversation or {"history": []})["history"]), value])


@pytest.mark.parametrize("function", [told_in_process, told_as_it_waits])
async def test_functions_of_this_process(function: Callable[..., Any]) -> None:
    assert await two_at_a_time(ObjectSkill.of(function)) == HEARD


async def test_without_turns_a_function_is_called_as_before() -> None:
    def both(query: str, conversation: Any) -> Any:
        return [query, conversation]

    def defaulting(query: str, conversation: Any = "mine") -> Any:
        return [query, conversation]

    def only(conversation: Any) -> Any:
        return conversation

    async def called(function: Any, value: Any) -> Any:
        async with open_adapter(ObjectSkill.of(function)) as adapter:
            return (await adapter.call(value, PATIENCE_S)).output

    assert await called(both, {"query": 1, "conversation": 2}) == [1, 2]
    assert await called(both, "hello") == ["hello", None]
    assert await called(defaulting, "hello") == ["hello", "mine"]
    assert await called(only, ["hello"]) == ["hello"]


GRAPH = """
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph

def say(state):
    heard = [message.content for message in state["messages"] if message.type == "human"]
    calls = [{"name": "listen", "args": {}, "id": f"c{len(heard)}"}]
    return {"messages": [AIMessage(" ".join(heard), tool_calls=calls)]}

builder = StateGraph(MessagesState)
builder.add_node("say", say)
builder.add_edge(START, "say")
graph = builder.compile(checkpointer=MemorySaver())
"""


class TestLangchain:
    @pytest.fixture
    def skill(self, python_skill: MakeSkill) -> Skill:
        return python_skill(GRAPH, "skill:graph", "langchain", startTimeoutMs=120_000)

    @pytest.mark.slow
    async def test_every_conversation_is_a_thread_and_a_turn_has_the_messages_and_calls_of_its_own_alone(
        self, skill: Skill
    ) -> None:
        barrier = asyncio.Barrier(2)
        async with open_adapter(skill) as adapter:
            talks = await asyncio.gather(*(talk(adapter, *names, together=barrier) for names in ("abc", "xyz")))
        assert tuple([answer.output for answer in answers] for answers in talks) == HEARD
        for first, second, _ in talks:
            assert [message["role"] for message in second.messages or []] == ["user", "assistant"]
            assert [call.id for call in first.tool_calls or []] == ["c1"]
            assert [call.id for call in second.tool_calls or []] == ["c2"]

    async def test_in_this_process(self, tmp_path: Path) -> None:
        scope: dict[str, Any] = {}
        exec(GRAPH, scope)
        assert await two_at_a_time(ObjectSkill.of(scope["graph"], "graph")) == HEARD


@pytest.mark.slow
async def test_an_mcp_server_of_its_own(tmp_path: Path) -> None:
    async with open_adapter(mcp_skill(tmp_path, by_hand(), "state")) as adapter:
        shared = [(await adapter.call({}, PATIENCE_S)).output["pid"] for _ in range(2)]
        talks = await asyncio.gather(*(outputs(adapter, {}, {}) for _ in range(2)))
    pids = [{answer["pid"] for answer in talk} for talk in talks]
    assert [len(each) for each in pids] == [1, 1]
    assert len(pids[0] | pids[1] | set(shared)) == 3


COOKIES = """
import http.server, itertools, json, sys
ids, heard = itertools.count(1), {}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cookie = self.headers["Cookie"] or f"session={next(ids)}"
        heard.setdefault(cookie, []).append(body["input"])
        answer = json.dumps(" ".join(heard[cookie])).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class TestHttp:
    @pytest.mark.slow
    async def test_cookies_belong_to_one_conversation(self, tmp_path: Path) -> None:
        (tmp_path / "service.py").write_text(textwrap.dedent(COOKIES))
        serve = {"command": "{python} -S -E service.py {port}", "readyTimeoutMs": 60_000}
        skill = make_skill("http", "http://127.0.0.1:{port}/run", {"serve": serve}, tmp_path)
        assert await two_at_a_time(skill) == HEARD
        async with open_adapter(skill) as adapter:
            assert [(await adapter.call("a", PATIENCE_S)).output for _ in range(2)] == ["a", "a"]

    async def test_our_own_shape_tells_what_was_said(self, http_skill: MakeSkill, server: Any) -> None:
        async with HttpAdapter(http_skill("/echo")) as adapter:
            await outputs(adapter, "a", "b")
            await adapter.call("c", PATIENCE_S)
        first, second, alone = server.requests
        told = second["body"]["conversation"]
        assert told == {"id": told["id"], "turn": 2, "history": [{"input": "a", "output": "a"}]}
        assert first["headers"]["x-conversation-id"] == second["headers"]["x-conversation-id"] == told["id"]
        assert alone["body"].keys() == {"skillId", "version", "input"}
        assert "x-conversation-id" not in alone["headers"]

    async def test_a_template_places_it(self, http_skill: MakeSkill, server: Any) -> None:
        template = {
            "body": {"messages": "{{conversation.messages}}", "thread": "{{conversation.id}}"},
            "headers": {"X-Turn": "{{conversation.turn}}"},
        }
        async with HttpAdapter(http_skill("/api/whole", requestTemplate=template, outputPath="/thread")) as adapter:
            first, second = await outputs(adapter, {"query": "hello"}, {"query": "more", "n": 2})
            alone = (await adapter.call({"query": "alone"}, PATIENCE_S)).output
        assert first == second != alone
        assert [request["headers"]["x-turn"] for request in server.requests] == ["1", "2", "1"]
        assert server.requests[1]["body"]["messages"] == [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": first},
            {"role": "user", "content": '{"query":"more","n":2}'},
        ]
        assert server.requests[2]["body"]["messages"] == [{"role": "user", "content": "alone"}]


def test_a_misspelt_place_of_a_conversation_is_refused(http_skill: MakeSkill) -> None:
    with pytest.raises(Exception, match="is not a placeholder"):
        check_skill(http_skill("/echo", requestTemplate={"body": {"id": "{{conversations.id}}"}}))


NOTES = """
import json, os, sys
with open("notes", "a") as file:
    print(sys.argv[1], file=file)
"""


@pytest.mark.slow
async def test_what_surrounds_an_item_surrounds_the_whole_conversation_once(program_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "note.py").write_text(NOTES)
    around = {name: {"item": f"{{python}} -S -E note.py {name}"} for name in ("setup", "teardown")}
    async with open_adapter(program_skill(REMEMBERING_PROGRAM, persistent=True, **around)) as adapter:
        await outputs(adapter, "a", "b")
        await outputs(adapter, "c")
    assert (tmp_path / "notes").read_text().split() == ["setup", "teardown"] * 2


async def test_a_setup_that_fails_ends_the_conversation_before_it_begins(program_skill: MakeSkill) -> None:
    async with open_adapter(program_skill(REMEMBERING_PROGRAM, setup={"item": "{python} -c 'raise SystemExit(3)'"})) as adapter:
        with pytest.raises(ItemError, match=r"adapterConfig.setup.item failed") as caught:
            await outputs(adapter, "a")
    assert caught.value.known is not None
    assert caught.value.known.tool_calls == []


ENDS = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["params"] == "die": os._exit(9)
    if request["params"] == "hang": time.sleep(600)
    reply = {"error": {"code": 1, "message": "no"}} if request["params"] == "refuse" else {"result": "ok"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""


@pytest.mark.parametrize(("what", "error"), [("die", SkillCrashed), ("refuse", SkillError), ("hang", SkillTimeout)])
async def test_an_end_in_the_middle_is_the_turns_and_leaves_nothing_running(
    program_skill: MakeSkill, left_running: Callable[[], list[str]], what: str, error: type[ItemError]
) -> None:
    async with open_adapter(program_skill(ENDS, persistent=True)) as adapter:
        async with adapter.conversation() as session:
            assert (await session.call("fine", PATIENCE_S)).output == "ok"
            with pytest.raises(error) as caught:
                await session.call(what, 1.0 if what == "hang" else PATIENCE_S)
        assert caught.value.latency_ms is not None
        assert left_running() == []
        assert await outputs(adapter, "fine", "fine") == ["ok", "ok"]


async def test_each_turn_has_its_own_time(program_skill: MakeSkill) -> None:
    slow = REMEMBERING_PROGRAM.replace("heard.append", "__import__('time').sleep(0.2); heard.append")
    async with open_adapter(program_skill(slow, persistent=True)) as adapter:
        answers = await talk(adapter, *"abc")
    assert all(200 <= (answer.latency_ms or 0) < 20_000 for answer in answers)


@pytest.mark.slow
async def test_a_closed_adapter_and_one_that_did_not_open_say_so(python_skill: MakeSkill) -> None:
    adapter = open_adapter(python_skill("raise ValueError('not today')"))
    with pytest.raises(UsageError, match="not open"):
        await outputs(adapter, "a")
    async with adapter:
        with pytest.raises(SkillError, match="not today"):
            await outputs(adapter, "a")


@pytest.mark.slow
async def test_a_worker_that_was_taken_is_given_back(python_skill: MakeSkill) -> None:
    pids = "import os\nfrom langchain_core.runnables import RunnableLambda\nrun = RunnableLambda(lambda value: os.getpid())\n"
    async with open_adapter(python_skill(pids, adapter_type="langchain", startTimeoutMs=120_000)) as adapter:
        seen = {*await outputs(adapter, "a", "b"), *await outputs(adapter, "c"), (await adapter.call("d", PATIENCE_S)).output}
    assert len(seen) == 1


def test_of_a_huge_history_the_oldest_turns_are_left_out_and_counted() -> None:
    conversation = Conversation()
    for number in range(4):
        conversation.begin_turn()
        conversation.note(number, "x" * (MAX_HISTORY_BYTES // 3))
    told = conversation.data
    assert ([said["input"] for said in told["history"]], told["leftOut"], told["turn"]) == ([2, 3], 2, 4)
    assert len(json.dumps(told)) < MAX_HISTORY_BYTES + 1_000


def test_messages_that_are_repeated_belong_to_the_turn_in_which_they_came() -> None:
    conversation = Conversation()
    said = [{"role": "user", "content": str(number)} for number in range(4)]
    assert conversation.own(SkillResponse(messages=said[:2])).messages == said[:2]
    assert conversation.own(SkillResponse(messages=said)).messages == said[2:]
    assert conversation.own(SkillResponse(messages=said)).messages == said, "the same again is a turn of its own"


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda clock: {"role": "system", "content": f"It is {clock}."}, id="openai"),
        pytest.param(lambda clock: {"role": "developer", "content": f"It is {clock}."}, id="developer"),
        pytest.param(lambda clock: {"type": "system", "data": {"content": f"It is {clock}."}}, id="langchain"),
    ],
)
def test_messages_are_repeated_below_other_instructions_too(told: Callable[[str], dict[str, Any]]) -> None:
    conversation = Conversation()
    said = [{"role": "user", "content": str(number)} for number in range(4)]
    assert conversation.own(SkillResponse(messages=[told("9"), *said[:2]])).messages == [told("9"), *said[:2]]
    assert conversation.own(SkillResponse(messages=[told("10"), *said])).messages == [told("10"), *said[2:]], "they are new"
    assert conversation.own(SkillResponse(messages=[told("10"), *said, *said])).messages == said
    assert conversation.own(SkillResponse(messages=[told("10"), *said[1:]])).messages == [told("10"), *said[1:]]


@pytest.mark.slow
async def test_a_conversation_of_a_thousand_turns(python_skill: MakeSkill) -> None:
    async with open_adapter(python_skill("def run(value, conversation): return len(conversation['history'])")) as adapter:
        assert await outputs(adapter, *[1] * 1000) == list(range(1000))


async def test_a_turn_that_the_service_refuses_is_said_again_in_the_same_conversation(tmp_path: Path) -> None:
    with limited_service(2, burst=2) as service:
        skill = make_skill("http", service.url, {}, tmp_path)
        async with open_adapter(skill) as adapter:
            answers = await talk(adapter, "a", "b", "c")
    assert [answer.output for answer in answers] == ["ok", "ok", "ok"]
    assert len(service.bucket.answered) == 3
    assert service.bucket.refused
    assert max(answer.latency_ms or 0 for answer in answers) < 900, "the service asked for a second"


def test_a_contract_error_needs_a_new_message_of_the_model() -> None:
    from eval_skills.adapters.python.langchain import response_of, without_earlier

    conversation, rest = Conversation(), {"usages": [], "given": 0}
    first = [{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}]
    assert response_of(without_earlier({"messages": first, "ids": ["1", "2"], **rest}, conversation)).output == "b"
    again = [*first, {"type": "human", "content": "c"}]
    with pytest.raises(ContractError, match="no message of the model"):
        response_of(without_earlier({"messages": again, "ids": ["1", "2", "3"], **rest}, conversation))
