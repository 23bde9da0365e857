"""An MCP server's tools as skills."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark
from eval_skills.core.models import SkillResponse
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.draft import write_drafts
from eval_skills.scaffolding.mcp import (
    ToolDescription,
    ToolServer,
    draft_tool_skills,
    shortened_names,
    starter_benchmark,
    tool_skills,
    why_no_starter,
)
from eval_skills.scorers import score_response_sync
from tests.tables import each_row

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


REQUIRED = {"type": "object", "required": ["city"]}


@pytest.mark.parametrize(
    ("schema", "inputs"),
    [
        pytest.param({"examples": [{"city": "Bern"}, {"city": "Rom"}]}, [{"city": "Bern"}, {"city": "Rom"}], id="whole"),
        pytest.param({**REQUIRED, "properties": {"city": {"examples": ["Bern"]}}}, [{"city": "Bern"}], id="of-its-parts"),
        pytest.param({**REQUIRED, "properties": {"city": {"enum": ["Bern", "Rom"]}}}, [{"city": "Bern"}], id="choice"),
        pytest.param(
            {**REQUIRED, "properties": {"city": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"default": "Bern"}}},
            [{"city": "Bern"}],
            id="reference",
        ),
        pytest.param({"properties": {"unit": {"default": "C"}, "day": {}}}, [{"unit": "C"}], id="only-defaults"),
        pytest.param(
            {"properties": {"duration": {"default": 10}, "delay_ms": {"default": 9000}, "steps": {"default": 5}}},
            [{"duration": 2, "delay_ms": 2000, "steps": 5}],
            id="a-duration-well-below-the-time-limit",
        ),
        pytest.param(
            {"properties": {"unit": {"$ref": "#/$defs/u"}}, "$defs": {"u": {"default": "C"}}}, [{"unit": "C"}], id="its-reference"
        ),
        pytest.param({**REQUIRED, "properties": {"city": {"type": "string"}}}, None, id="nothing-given"),
        pytest.param({"properties": {"city": {"type": "string"}}}, None, id="nothing-required-or-given"),
        pytest.param({**REQUIRED, "properties": {"city": {"$ref": "http://127.0.0.1:9/"}}}, None, id="reference-to-elsewhere"),
        pytest.param({**REQUIRED, "properties": {"city": {"$ref": "#"}}}, None, id="reference-in-a-circle"),
        pytest.param({"type": "object"}, None, id="no-arguments"),
    ],
)
def test_p64_there_are_tests_where_the_schema_gives_examples(
    tmp_path: Path, schema: dict[str, Any], inputs: list[dict[str, Any]] | None
) -> None:
    tool = ToolDescription("forecast", "Forecast", "", schema, {"type": "object", "required": ["sky"]})
    [draft] = draft_tool_skills(tool_skills([tool], SERVER), tmp_path)
    if inputs is None:
        assert list(draft.files) == ["skill.json"]
        return
    write_drafts([draft])
    tasks = load_benchmark(tmp_path / "forecast" / "tests" / "basic.eval.json").tasks
    assert [task.input_data for task in tasks] == inputs
    assert score_response_sync(tasks[0], SkillResponse(output={"sky": "blue"})).status == "pass"
    assert score_response_sync(tasks[0], SkillResponse(output={})).status == "fail"


@each_row(
    ("schema", "lack"),
    [
        pytest.param({"properties": {"unit": {"default": "C"}}}, "", id="none"),
        pytest.param({"type": "object"}, "it takes no arguments", id="no-arguments"),
        pytest.param(
            {"required": ["a", "b"], "properties": {"a": {"default": 1}, "b": {"type": "string"}}}, "choice for b", id="one-part"
        ),
        pytest.param({"required": ["b"], "properties": {"a": {"default": 1}}}, "choice for b", id="unknown-part"),
        pytest.param({"properties": {"a": {"type": "string"}}}, "default for any argument", id="nothing-given"),
        pytest.param({"required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}, "refers to what is not in it", id="lost"),
        pytest.param({"properties": 3, "examples": "x"}, "it takes no arguments", id="malformed"),
    ],
)
def test_a_tool_without_tests_says_what_its_schema_lacks(schema: dict[str, Any], lack: str) -> None:
    [skill] = tool_skills([ToolDescription("forecast", "Forecast", "", schema)], SERVER)
    assert lack in why_no_starter(skill)
    assert bool(why_no_starter(skill)) is bool(lack) is (starter_benchmark(skill) is None)


@each_row(
    ("given", "output", "inputs", "lack"),
    [
        pytest.param([{"n": float("nan")}], {}, None, "breaks the schema: NaN and Infinity are not JSON", id="no-json"),
        pytest.param([{"n": "no"}, {"n": 2}], {}, [{"n": 2}], "", id="one-that-fits"),
        pytest.param([{"n": "no"}], {}, None, "breaks the schema: ", id="none-that-fits"),
        pytest.param(
            [{"n": 2}], {"properties": {"a": {"type": "wat"}}}, None, "every answer is an error: schema.prop", id="output"
        ),
        pytest.param([{"n": 2}], {"$ref": "http://127.0.0.1:9/"}, None, "nothing is fetched", id="output-elsewhere"),
    ],
)
def test_no_test_is_written_that_cannot_be_read_or_pass(given: list[Any], output: Any, inputs: Any, lack: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "examples": given}
    [skill] = tool_skills([ToolDescription("sum", "Sum", "", schema, output)], SERVER)
    benchmark = starter_benchmark(skill)
    assert lack in why_no_starter(skill)
    assert (None if benchmark is None else [task["inputData"] for task in benchmark["tasks"]]) == inputs


URLS: dict[str, Any] = {"examples": [{"url": "https://example.com/"}, {"url": "http://127.0.0.1:9/"}]}
OUTSIDE: dict[str, Any] = {"required": ["url"], "properties": {"url": {"default": "https://example.com/a"}}}
INSIDE: dict[str, Any] = {"required": ["city"], "properties": {"city": {"default": "Bern"}}}


@each_row(
    ("schema", "open_world", "inputs", "lack"),
    [
        pytest.param(OUTSIDE, None, None, "need an outside network, to reach https://example.com/a; write a test", id="address"),
        pytest.param(URLS, None, [{"url": "http://127.0.0.1:9/"}], "", id="one-is-inside"),
        pytest.param(OUTSIDE, False, [{"url": "https://example.com/a"}], "", id="it-says-that-it-stays-inside"),
        pytest.param(INSIDE, True, None, "deals with things outside (openWorldHint); write a test", id="it-says-so"),
        pytest.param(INSIDE, None, [{"city": "Bern"}], "", id="nothing-is-said"),
        pytest.param({"type": "object"}, True, None, "it takes no arguments", id="nothing-is-given"),
    ],
)
def test_no_test_expects_what_only_an_outside_network_gives(
    schema: dict[str, Any], open_world: bool | None, inputs: Any, lack: str
) -> None:
    [skill] = tool_skills([ToolDescription("fetch", "Fetch", "", schema, open_world=open_world)], SERVER)
    benchmark = starter_benchmark(skill)
    assert lack in why_no_starter(skill)
    assert (None if benchmark is None else [task["inputData"] for task in benchmark["tasks"]]) == inputs


def test_no_test_calls_what_may_destroy_something() -> None:
    [skill] = tool_skills([ToolDescription("wipe", "Wipe", "", INSIDE, may_destroy=True)], SERVER)
    assert starter_benchmark(skill) is None
    assert "may destroy something (destructiveHint, readOnlyHint); write a test against a server" in why_no_starter(skill)


@each_row(
    ("names", "ids"),
    [
        pytest.param(["get_time"], ["get_time"], id="an-id-already"),
        pytest.param(["Get.Time", "get-time"], ["get-time", "get-time-2"], id="made-and-equal"),
        pytest.param(["a/b c", "天気", "", "../../etc"], ["a-b-c", "tool", "tool-2", "etc"], id="signs"),
        pytest.param(["x" * 128], ["x" * 128], id="as-long-as-mcp-allows"),
        pytest.param(["A.b" * 40], ["a-b" * 20], id="made-of-a-long-one"),
        pytest.param(["x" * 300, "x" * 300 + "Y"], ["x" * 60, "x" * 60 + "-2"], id="longer"),
    ],
)
def test_every_tool_gets_an_id_of_its_own_and_keeps_its_name(names: list[str], ids: list[str]) -> None:
    skills = tool_skills([ToolDescription(name) for name in names], SERVER)
    assert [skill.id for skill in skills] == ids
    assert [skill.adapter_config.get("tool", skill.id) for skill in skills] == names


def test_a_skill_whose_id_is_a_part_of_its_tools_name_is_remarked() -> None:
    skills = tool_skills([ToolDescription(name) for name in ("ok", "x" * 300)], SERVER)
    assert shortened_names(skills) == [f"the name of the tool {'x' * 40}… has 300 characters, so its skill is called {'x' * 60}"]


@each_row(("version", "kept"), [("1.26.0", "1.26.0"), ("2", "1.0.0"), ("", "1.0.0"), ("1.0.0rc1", "1.0.0")])
def test_the_version_is_the_servers_where_it_is_one(version: str, kept: str) -> None:
    [skill] = tool_skills([ToolDescription("a")], ToolServer(entrypoint="x", version=version))
    assert skill.version == kept
