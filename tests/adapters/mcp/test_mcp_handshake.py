"""How a session with a server behind a URL begins, and what it says when that fails."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.errors import InfraError
from tests.adapters.mcp_by_hand import Told
from tests.adapters.mcp_probe import ask, failure, mcp_skill


async def test_a_server_that_refuses_to_be_asked_for_its_protocol_gets_the_handshake(
    raw_url: str, told: Told, tmp_path: Path
) -> None:
    response = await ask(mcp_skill(tmp_path, f"{raw_url}/strict", "answer"), {"x": 1})
    assert response.output == {"x": 1}
    assert response.metadata["mcp"]["protocol"] == "2025-06-18"
    assert told.methods[:3] == ["server/discover", "initialize", "notifications/initialized"]


async def test_what_the_handshake_is_refused_with_is_said_and_not_the_first_refusal(raw_url: str, tmp_path: Path) -> None:
    error = await failure(mcp_skill(tmp_path, f"{raw_url}/old", "answer"))
    assert isinstance(error, InfraError)
    assert str(error) == "the server refused to connect: error -32602: Unsupported protocol version; supported: 2024-11-05"


async def test_a_refusal_to_connect_says_the_status(raw_url: str, tmp_path: Path) -> None:
    error = await failure(mcp_skill(tmp_path, f"{raw_url}/closed", "answer"))
    assert type(error) is InfraError
    assert "HTTP 401 from" in str(error)
    assert "who are you" in str(error)


async def test_a_server_that_refuses_the_newest_version_is_offered_the_one_it_names(
    raw_url: str, told: Told, tmp_path: Path
) -> None:
    response = await ask(mcp_skill(tmp_path, f"{raw_url}/elder", "answer"), {"x": 1})
    assert (response.output, response.metadata["mcp"]["protocol"]) == ({"x": 1}, "2025-06-18")
    assert told.methods.count("initialize") == 2
