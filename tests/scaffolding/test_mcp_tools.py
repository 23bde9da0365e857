"""An MCP server's tools as skills."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.mcp_tools import ToolDescription, ToolServer, draft_tool_skills, tool_skills

SERVER = ToolServer(entrypoint="weather-server --fast", adapter_config={"passEnv": ["KEY"]}, name="weather", version="2.0.1")
INPUT = {"type": "object", "properties": {"city": {"type": "string"}}}


def test_a_skill_holds_the_schemas_and_how_the_server_is_reached(tmp_path: Path) -> None:
    tool = ToolDescription("forecast", "Forecast", "Tells the weather.\n", INPUT, {"type": "object"})
    [draft] = draft_tool_skills(tool_skills([tool], SERVER), tmp_path)
    assert list(draft.files) == ["skill.json"]
    write_drafts([draft])
    skill = load_skill(tmp_path / "forecast")
    assert (skill.key, skill.name, skill.description) == ("forecast@2.0.1", "Forecast", "Tells the weather.")
    assert (skill.input_schema, skill.output_schema) == (INPUT, {"type": "object"})
    assert (skill.adapter_type, skill.entrypoint) == ("mcp", "weather-server --fast")
    assert skill.adapter_config == {"passEnv": ["KEY"]}
    assert json.loads(draft.files["skill.json"])["metadata"] == {"mcpServer": "weather"}


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        pytest.param(["get_time"], ["get_time"], id="an-id-already"),
        pytest.param(["Get.Time", "get-time"], ["get-time", "get-time-2"], id="made-and-equal"),
        pytest.param(["a/b c", "天気", "", "../../etc"], ["a-b-c", "tool", "tool-2", "etc"], id="signs"),
        pytest.param(["x" * 300 + "Y"], ["tool"], id="long"),
    ],
)
def test_every_tool_gets_an_id_of_its_own_and_keeps_its_name(names: list[str], ids: list[str]) -> None:
    skills = tool_skills([ToolDescription(name) for name in names], SERVER)
    assert [skill.id for skill in skills] == ids
    assert [skill.adapter_config.get("tool", skill.id) for skill in skills] == names


@pytest.mark.parametrize(("version", "kept"), [("1.26.0", "1.26.0"), ("2", "1.0.0"), ("", "1.0.0"), ("1.0.0rc1", "1.0.0")])
def test_the_version_is_the_servers_where_it_is_one(version: str, kept: str) -> None:
    [skill] = tool_skills([ToolDescription("a")], ToolServer(entrypoint="x", version=version))
    assert skill.version == kept
