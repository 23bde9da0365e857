"""An MCP tool as a skill: what its answers and errors mean, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.adapters.mcp.adapter import McpAdapter
from eval_skills.core.errors import ContractError, InfraError, InputError, ItemError, SkillError, SkillNotStarted, SkillTimeout
from tests.adapters.mcp_probe import Tools, ask, by_hand, failure, mcp_skill, modern
from tests.tables import each_row

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "mimeType": "image/png", "data": "iVBO"}
SHA = "449ba17f2a44989a58050282f82fec8663b84f57a6a443d3750033a0c02f8be9"
NOTE = {"type": "resource", "resource": {"uri": "memo://1", "mimeType": "text/plain", "text": "held"}}


@pytest.mark.slow
@each_row(
    ("tool", "given", "output"),
    [
        pytest.param("structured", {"x": [1, "é"]}, {"x": [1, "é"]}, id="structured-content-comes-first"),
        pytest.param("echo", {"x": 1}, {"x": 1}, id="text-that-is-json"),
        pytest.param("parts", {"parts": [{"type": "text", "text": "plain"}]}, "plain", id="text"),
        pytest.param("parts", {"parts": [{"type": "text", "text": "NaN"}]}, "NaN", id="no-json-number"),
        pytest.param("parts", {"parts": [TEXT, IMAGE, TEXT]}, "a\na", id="text-parts-are-lines"),
        pytest.param(
            "parts", {"parts": [IMAGE]}, [{"type": "image", "mimeType": "image/png", "bytes": 3, "sha256": SHA}], id="image"
        ),
        pytest.param(
            "parts",
            {"parts": [NOTE]},
            [{"type": "resource", "uri": "memo://1", "mimeType": "text/plain", "text": "held"}],
            id="resource",
        ),
        pytest.param("parts", {"parts": []}, None, id="nothing"),
        pytest.param("formatted", {"text": "no uri"}, {"text": "no uri"}, id="a-format-is-a-remark"),
        pytest.param("echo", None, {}, id="no-input-is-no-arguments"),
    ],
)
async def test_the_output_is_what_the_tool_answered(tmp_path: Path, tool: str, given: Any, output: Any) -> None:
    response = await ask(mcp_skill(tmp_path, by_hand(), tool), given)
    assert response.output == output
    assert response.latency_ms is not None
    assert response.metadata["mcp"]["server"] == "by-hand 0.9.0"


async def test_an_envelope_is_read_as_from_every_skill(tmp_path: Path) -> None:
    response = await ask(mcp_skill(tmp_path, by_hand(), "structured"), {"output": 4, "costUsd": 0.5})
    assert (response.output, response.cost_usd) == (4, 0.5)


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_a_server_of_before_2026_is_met_by_its_handshake(tmp_path: Path, protocol: str) -> None:
    response = await ask(mcp_skill(tmp_path, by_hand(), "state", protocol=protocol))
    assert response.output["handshakes"] == 1
    assert response.metadata["mcp"]["protocol"] == "2025-06-18"


@pytest.mark.slow
async def test_a_server_that_ends_at_anything_but_the_handshake_is_started_again_with_it(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand("strict"), "state"))).output["handshakes"] == 1


@pytest.mark.slow
@each_row(
    ("tool", "given", "kind", "message"),
    [
        pytest.param("fail", {"text": "no such\ncity"}, SkillError, "^no such city$", id="p15-is-error"),
        pytest.param("rpc_error", {"text": "busy"}, SkillError, r"error -32050: busy \(.*try less", id="json-rpc-error"),
        pytest.param("broken_schema", {}, ContractError, r"at \$\.number: .*\"not one\"", id="schema-broken"),
        pytest.param("unstructured", {}, ContractError, "did not return structured content", id="schema-ignored"),
        pytest.param("elsewhere", {"text": 1}, ContractError, "cannot be used: .*nothing is fetched", id="schema-elsewhere"),
        pytest.param("invalid", {}, ContractError, "does not follow protocol 2025-06-18: content", id="invalid-for-protocol"),
        pytest.param("big", {"size": 5000}, ContractError, r"more than 1,000 bytes \(maxOutputBytes\)", id="too-large"),
        pytest.param("big", {"size": 500_000}, ContractError, r"more than 1,000 bytes \(maxOutputBytes\)", id="line-too-long"),
        pytest.param(
            "garbled",
            {"line": '{"jsonrpc":"2.0","result":{"content":"' + "x" * 500_000 + '"},"id":ID}'},
            ContractError,
            r"more than 1,000 bytes \(maxOutputBytes\)",
            id="long-line-with-the-id-last",
        ),
        pytest.param(
            "garbled",
            {"line": '{"jsonrpc":"2.0","id":ID,"result":NaN}'},
            ContractError,
            "not a JSON-RPC message",
            id="no-message",
        ),
        pytest.param(
            "garbled",
            {"line": '{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"x":' + "9" * 5000 + "}}}"},
            ContractError,
            r"not a JSON-RPC message \(a whole number of more than 4,300 digits\)",
            id="endless-number",
        ),
        pytest.param(
            "garbled",
            {"line": '{"result":{"content":[],},"jsonrpc":"2.0","id":ID}'},
            ContractError,
            r"not a JSON-RPC message \(not JSON: ",
            id="not-json",
        ),
        pytest.param(
            "garbled",
            {"line": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":NaN}}}'},
            ContractError,
            "unreadable answer",
            id="nan-inside",
        ),
        pytest.param(
            "garbled",
            {"line": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":' + "[" * 300 + "]" * 300 + "}}}"},
            ContractError,
            "deeper than 200|not a JSON-RPC message",
            id="too-deep",
        ),
        pytest.param(
            "sampling",
            {},
            SkillError,
            "requests for sampling/createMessage, which were refused; script them in adapterConfig.client.sampling",
            id="sampling-is-not-offered",
        ),
        pytest.param("die", {"code": 4}, ItemError, r"ended before it answered \(exit code 4\); stderr: going down", id="death"),
        pytest.param(
            "ecko", {}, InfraError, r"no tool 'ecko' \(did you mean 'echo'\?\); it offers .*big, block", id="unknown-tool"
        ),
        pytest.param("echo", [1], InfraError, "arguments are an object, and the task's inputData is a list", id="no-object"),
    ],
)
async def test_what_is_no_answer_is_an_error_of_its_kind(
    tmp_path: Path, tool: str, given: Any, kind: type[ItemError], message: str
) -> None:
    error = await failure(mcp_skill(tmp_path, by_hand(), tool, maxOutputBytes=1000), given)
    with pytest.raises(kind, match=message):
        raise error


async def test_a_line_with_the_id_of_a_question_that_is_no_answer_ends_no_call(tmp_path: Path) -> None:
    lines = (
        '{"jsonrpc":"2.0","id":ID,"method":"roots/list",}',
        '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"b"}]}}',
    )
    assert (await ask(mcp_skill(tmp_path, by_hand(), "garbled"), {"line": "\n".join(lines)})).output == "b"


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["backtracks", "doubles"])
async def test_p08_a_schema_that_its_server_declares_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setattr("eval_skills.adapters.mcp.schemas.LIMIT_S", 0.3)
    async with Tools(mcp_skill(tmp_path, by_hand(), tool)) as tools:
        stuck = asyncio.create_task(tools.use(tool, {"x": 1}))
        assert await tools.use("echo", {"x": 1}) == {"x": 1}
        with pytest.raises(ContractError, match=rf"the output schema of {tool} could not be checked within 0\.3 s"):
            await stuck


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "version"),
    [
        pytest.param("choosy", "2025-06-18", id="the-newest-that-it-names"),
        pytest.param("curt", "2024-11-05", id="the-oldest-where-it-names-none"),
        pytest.param("choosy strict", "2025-06-18", id="that-ends-at-anything-else-too"),
    ],
)
async def test_a_server_that_refuses_the_newest_version_is_offered_an_older_one_once(
    tmp_path: Path, words: str, version: str
) -> None:
    response = await ask(mcp_skill(tmp_path, by_hand(words), "state"))
    assert (response.output["offered"], response.metadata["mcp"]["protocol"]) == (version, version)


@pytest.mark.slow
async def test_a_server_that_refuses_every_version_is_asked_twice_and_quoted(tmp_path: Path) -> None:
    error = await failure(mcp_skill(tmp_path, by_hand("choosy curt"), "state"))
    assert str(error) == "the server refused to connect: error -32602: Invalid params"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entrypoint", "kind", "message"),
    [
        pytest.param("no-such-server", InfraError, "ended at its start .*cannot start 'no-such-server': No such", id="missing"),
        pytest.param(
            by_hand("crash"), SkillNotStarted, r"ended at its start \(exit code 1\); stderr: no configuration", id="crash"
        ),
        pytest.param(by_hand("mute"), InfraError, r"not ready within 0.8 s \(connectTimeoutMs\)", id="mute"),
        pytest.param(by_hand("foreign"), ContractError, "answers in protocol 2023-01-01, and the handshake is for", id="version"),
        pytest.param(by_hand("empty"), InfraError, "offers no tools; 'echo' was asked for", id="no-tools"),
        pytest.param(f"{sys.executable} -c 'print(1)'", SkillNotStarted, "ended at its start", id="no-server"),
    ],
)
async def test_a_server_that_does_not_start_fails_its_items(
    tmp_path: Path, entrypoint: str, kind: type[ItemError], message: str
) -> None:
    limit = {"connectTimeoutMs": 800} if "mute" in entrypoint else {}
    async with McpAdapter(mcp_skill(tmp_path, entrypoint, "echo", **limit)) as adapter:
        for _ in range(2):
            with pytest.raises(kind, match=message) as caught:
                await adapter.call({}, 60)
            assert not caught.value.transient


@pytest.mark.slow
async def test_all_pages_of_the_tools_are_read_up_to_a_limit(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand("pages"), "structured"), {"x": 1})).output == {"x": 1}
    assert "more than 100 pages" in str(await failure(mcp_skill(tmp_path, by_hand("endless"), "echo")))


async def test_pages_that_lead_to_themselves_end_where_they_bring_nothing_new(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand("circle"), "echo"), {"x": 1})).output == {"x": 1}


async def test_a_tool_that_the_server_adds_after_its_start_is_found(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand("late"), "echo"), {"x": 1})).output == {"x": 1}


@pytest.mark.slow
async def test_a_name_of_two_tools_is_refused_and_of_one_that_is_listed_twice_is_not(tmp_path: Path) -> None:
    error = await failure(mcp_skill(tmp_path, by_hand("twice"), "echo"))
    assert isinstance(error, InfraError)
    assert "lists the tool 'echo' more than once, in different ways" in str(error)
    assert (await ask(mcp_skill(tmp_path, by_hand("twice"), "state"))).output["lists"] == 1


@pytest.mark.slow
async def test_a_malformed_tool_costs_no_other_one(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand("malformed"), "echo"), {"x": 1})).output == {"x": 1}
    error = await failure(mcp_skill(tmp_path, by_hand("malformed"), "state"))
    assert isinstance(error, ContractError)
    assert str(error) == "the server lists the tool 'state' against the MCP version that it names: inputSchema: Field required"
    torn = await failure(mcp_skill(tmp_path, by_hand("malformed"), "slow"))
    assert str(torn).endswith("names: half of a surrogate pair in a text")


async def test_a_list_that_changed_is_read_again_and_a_remark_says_which_tool_is_another(tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, by_hand(), "unstructured")) as tools:
        with pytest.raises(ContractError, match="did not return structured content"):
            await tools.use("unstructured")
        assert await tools.use("forget") == "forgotten"
        assert tools.remarks == []
        assert await tools.use("unstructured") == "no structure"
    assert tools.remarks == [
        "probe@1.0.0: the server changed its tool unstructured during the run, so not all answers are of the same tool"
    ]


async def test_noise_is_survived_and_kept_as_logs(tmp_path: Path) -> None:
    response = await ask(mcp_skill(tmp_path, by_hand(), "noisy"))
    assert response.output == "quiet"
    for said in ("a stray print", "a log line that is JSON", "on stderr", "warning: a log message"):
        assert said in response.logs


async def test_progress_is_kept_as_logs(tmp_path: Path) -> None:
    assert (await ask(mcp_skill(tmp_path, by_hand(), "progress"))).logs == "progress 1/2: half way"


async def test_of_reports_without_end_only_the_first_are_kept_and_what_was_called_is_unknown(tmp_path: Path) -> None:
    got = await ask(mcp_skill(tmp_path, by_hand(), "progress", maxOutputBytes=1_000), {"reports": 100})
    names = [call.name for call in got.tool_calls or ()]
    assert 50 < names.count("search") < 70
    assert (names[-1], names.count("")) == ("", 1)


async def test_p71_the_server_sees_the_allow_list_its_folder_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SOME_API_KEY", "PASSED", "USER", "SHELL", "TERM", "LOGNAME"):
        monkeypatch.setenv(name, "ours")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    skill = mcp_skill(tmp_path, by_hand(), "state", env={"MODE": "test"}, passEnv=["PASSED"])
    seen = (await ask(skill)).output
    assert set(seen["env"]) - {"LC_CTYPE"} <= {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "LC_ALL", "MODE", "PASSED"}
    assert {"MODE", "PASSED", "LC_ALL"} <= set(seen["env"])
    assert seen["cwd"] == str(tmp_path.resolve())


async def test_p26_words_are_split_and_nothing_is_expanded(tmp_path: Path) -> None:
    config = {"args": ["$(touch pwned)", "a b"]}
    assert (await ask(mcp_skill(tmp_path, by_hand(), "echo", **config), {"x": 1})).output == {"x": 1}
    assert not (tmp_path / "pwned").exists()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are enforced on Linux only")
async def test_limits_hold_for_the_server(tmp_path: Path) -> None:
    skill = mcp_skill(tmp_path, by_hand(), "big", limits={"memoryMb": 200})
    assert (await ask(skill, {"size": 10})).output == "x" * 10
    assert not isinstance(await failure(skill, {"size": 400_000_000}), SkillTimeout)


@each_row(
    ("entrypoint", "config", "message"),
    [
        pytest.param("http://", {}, "entrypoint: 'http://' is not a URL: it names no host", id="no-host"),
        pytest.param("http://h:port/", {}, "entrypoint: .* is not a URL", id="no-port"),
        pytest.param("http://h/mcp?q={{input.q}}", {}, "entrypoint: the address has a placeholder", id="item-address"),
        pytest.param(
            "http://h/", {"headers": {"X": "{{input.q}}"}}, "headers.X has a placeholder, .* arguments", id="item-header"
        ),
        pytest.param("http://h/", {"query": {"q": "{{input}}"}}, "query.q has a placeholder, .* arguments", id="item-query"),
        pytest.param("python 'x", {}, "entrypoint: .*check its quotes", id="quotes"),
        pytest.param("server", {"headers": {"A": "b"}}, "a program gets its secrets through passEnv", id="headers-for-a-program"),
        pytest.param("server", {"protocol": "2024"}, "adapterConfig.protocol", id="protocol"),
        pytest.param("server", {"connectTimeout": 1}, "did you mean 'connectTimeoutMs'", id="misspelt"),
        pytest.param(
            "http://127.0.0.1/mcp",
            {"authType": "bearer", "authTokenEnvKey": "PROBE_TOKEN_ABSENT"},
            "PROBE_TOKEN_ABSENT is not set",
            id="secret",
        ),
    ],
)
def test_p22_a_wrong_configuration_is_found_before_the_run(
    tmp_path: Path, entrypoint: str, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(mcp_skill(tmp_path, entrypoint, "echo", **config))


@pytest.mark.slow
async def test_a_server_of_the_current_sdk_speaks_the_current_protocol_and_its_reports_and_what_it_masks_are_read(
    tmp_path: Path,
) -> None:
    async with Tools(mcp_skill(tmp_path, modern(), "add")) as tools:
        response = await tools.call({"a": 1, "b": 2}, 60)
        with pytest.raises(SkillError) as caught:
            await tools.use("boom")
    assert response.output == {"result": 3}
    assert response.metadata["mcp"]["server"] == "modern 2.1.0"
    assert response.metadata["mcp"]["protocol"] >= "2026"
    assert str(caught.value) == "Error executing tool boom; stderr: ValueError: the real reason"
    assert caught.value.known is not None
    assert [call.name for call in caught.value.known.tool_calls or []] == ["pay"], "what it reported before"


@pytest.mark.slow
def test_mcp_is_loaded_when_a_skill_opens_and_not_before() -> None:
    heavy = "[name in sys.modules for name in ('mcp', 'httpx2', 'anyio')]"
    source = f"import json, sys, eval_skills.adapters.mcp.adapter; print(json.dumps({heavy}))"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [False, False, False]
