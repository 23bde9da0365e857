"""What a server asks of its client is answered as `adapterConfig.client` scripts it, and kept with the answer."""

from __future__ import annotations

import asyncio
import json
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.adapters.mcp.scripted import ScriptedClient
from eval_skills.adapters.mcp.server import McpConfig
from eval_skills.core.errors import InputError, SkillError
from tests.adapters.mcp_probe import ask, by_hand, failure, mcp_skill, modern

CLIENT = {
    "sampling": [{"contains": "bern", "text": "In Bern.", "model": "m"}, "Nowhere."],
    "elicitation": {"action": "accept", "content": {"sure": True}},
    "roots": ["data", {"path": "file:///srv", "name": "Srv"}],
}
WORDS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Where is BERN?"}}], "maxTokens": 9}
FORM = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}}}


@pytest.mark.parametrize(
    ("method", "params", "answer"),
    [
        pytest.param(
            "sampling/createMessage",
            WORDS,
            {"role": "assistant", "content": {"type": "text", "text": "In Bern."}, "model": "m", "stopReason": "endTurn"},
            id="sampling",
        ),
        pytest.param("elicitation/create", FORM, {"action": "accept", "content": {"sure": True}}, id="elicitation"),
        pytest.param("roots/list", {}, {"roots": [{"uri": "FOLDER/data"}, {"uri": "file:///srv", "name": "Srv"}]}, id="roots"),
    ],
)
async def test_a_server_gets_the_scripted_answer_and_what_it_asked_is_kept(
    tmp_path: Path, method: str, params: dict[str, Any], answer: dict[str, Any]
) -> None:
    expected = json.loads(json.dumps(answer).replace("FOLDER", tmp_path.resolve().as_uri()))
    got = await ask(mcp_skill(tmp_path, by_hand(), "consult", client=CLIENT), {"method": method, "params": params})
    assert got.output == expected
    assert got.content is not None
    kept = got.content[-1]
    assert (kept["type"], kept["method"]) == ("asked", method)
    assert expected.items() <= kept["answer"].items()
    assert kept["params"] is None or params.items() <= kept["params"].items()


async def test_of_what_is_asked_without_end_no_more_is_kept_than_an_answer_may_have(tmp_path: Path) -> None:
    got = await ask(
        mcp_skill(tmp_path, by_hand(), "consult", client=CLIENT, maxOutputBytes=2_000),
        {"method": "sampling/createMessage", "params": WORDS, "times": 30},
    )
    asked = [block for block in got.content or [] if block["type"] == "asked"]
    assert len(json.dumps(asked)) < 2_100
    assert len(asked) > 2
    assert asked[-1] == {"type": "asked", "leftOut": 30 - len(asked[:-1])}


@pytest.mark.slow
async def test_a_server_of_2026_gets_them_too(tmp_path: Path) -> None:
    got = await ask(mcp_skill(tmp_path, modern(), "consult", client=CLIENT), {"city": "Bern"})
    assert got.output["model"]["content"]["text"] == "In Bern."
    assert got.output["user"]["content"] == {"sure": True}
    assert [root["name"] for root in got.output["roots"]["roots"]] == [None, "Srv"]
    asked = [block["method"] for block in got.content or [] if block["type"] == "asked"]
    assert sorted(asked) == ["elicitation/create", "roots/list", "sampling/createMessage"]


@pytest.mark.slow
async def test_only_what_is_scripted_is_declared_and_the_rest_is_refused(tmp_path: Path) -> None:
    for client, declared in (({}, set()), ({"roots": []}, {"roots"}), (CLIENT, {"sampling", "elicitation", "roots"})):
        state = await ask(mcp_skill(tmp_path, by_hand(), "state", client=client))
        assert set(state.output["capabilities"]) == declared
    error = await failure(
        mcp_skill(tmp_path, by_hand(), "consult", client={"roots": []}), {"method": "sampling/createMessage", "params": WORDS}
    )
    assert isinstance(error, SkillError)
    assert "script them in adapterConfig.client.sampling" in str(error)


async def test_a_request_that_no_answer_fits_says_so_to_both(tmp_path: Path) -> None:
    client = {"sampling": [{"contains": "Zurich", "text": "In Zurich."}]}
    error = await failure(
        mcp_skill(tmp_path, by_hand(), "consult", client=client), {"method": "sampling/createMessage", "params": WORDS}
    )
    said = "no answer in adapterConfig.client.sampling fits; it was asked: Where is BERN?"
    assert said in str(error)
    assert error.known is not None
    assert said in (error.known.content or [])[-1]["answer"]["message"]


async def test_what_cannot_be_assigned_to_a_call_is_kept_for_all_that_are_under_way() -> None:
    client = ScriptedClient(McpConfig.model_validate({"client": CLIENT}).client, None)
    listed = client.callbacks["list_roots_callback"]
    with client.asked() as first:
        await asyncio.create_task(listed(None), context=Context())
        with client.asked() as second:
            await asyncio.create_task(listed(None), context=Context())  # as the session's task calls it
            await listed(None)  # as the call itself does, since 2026
    assert [block.get("calls") for block in first] == [None, 2]
    assert [block.get("calls") for block in second] == [2, None]


@pytest.mark.parametrize(
    ("client", "message"),
    [
        pytest.param({"samplings": "x"}, "did you mean 'sampling'", id="misspelt"),
        pytest.param({"sampling": []}, r"client\.sampling", id="empty"),
        pytest.param({"elicitation": {"action": "agree"}}, r"client\.elicitation\[0\]\.action", id="action"),
        pytest.param({"elicitation": {"action": "decline", "content": {}}}, "content is what is accepted", id="content"),
        pytest.param({"roots": [".", {"path": "x"}]}, r"adapterConfig\.client\.roots\[1\]: .*/x does not exist", id="root"),
    ],
)
def test_a_wrong_script_is_found_before_the_run(tmp_path: Path, client: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(mcp_skill(tmp_path, "server", "echo", client=client))


def test_a_root_may_be_what_a_hook_makes_or_the_servers_own(tmp_path: Path) -> None:
    check_skill(mcp_skill(tmp_path, "server", "echo", client={"roots": ["x"]}, setup={"run": "mkdir x"}))
    check_skill(mcp_skill(tmp_path, "server", "echo", client={"roots": [".", "file:///no/such/place"]}))
