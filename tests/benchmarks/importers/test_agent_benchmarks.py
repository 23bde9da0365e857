"""ToolBench, MCP-Bench, tau-bench and tau2-bench: what is asked, what is expected, and what only their environments can tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks.importers.importing import Imported, import_tasks
from eval_skills.benchmarks.importers.toolbench import function_name
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse, ToolCall, TurnResponse
from eval_skills.scorers import score_response
from tests.tables import each_row

WEATHER = {
    "category_name": "Weather", "tool_name": "Open Weather!", "api_name": "Daily (7 days)", "api_description": " ",
    "required_parameters": [{"name": "city", "type": "STRING", "description": "where", "default": ""}],
    "optional_parameters": [{"name": "days", "type": "NUMBER", "default": 7}, {"name": "raw", "type": "Boolean"}],
    "method": "GET",
}  # fmt: skip
LIST = {**WEATHER, "api_name": "List", "required_parameters": [], "optional_parameters": []}
QUERY: dict[str, Any] = {
    "query": "Will it rain in Bern?",
    "query_id": 7,
    "api_list": [WEATHER, LIST],
    "relevant APIs": [["Open Weather!", "List"]],
}

SCENARIO: dict[str, Any] = {
    "id": "0",
    "description": {"purpose": "refuses", "notes": None},
    "user_scenario": {
        "persona": None,
        "instructions": {
            "domain": "airline", "reason_for_call": "You want to cancel ABC.", "task_instructions": "Insist.",
            "known_info": "You are Emma.", "unknown_info": None,
        },
    },
    "initial_state": None,
    "evaluation_criteria": {
        "actions": [
            {"action_id": "0", "name": "get_user_details", "arguments": {"user_id": "emma"}},
            {"action_id": "1", "name": "cancel_reservation", "arguments": {"reservation_id": "ABC"}},
        ],
        "communicate_info": ["327"], "nl_assertions": ["The agent is polite."], "reward_basis": ["DB", "COMMUNICATE"],
    },
}  # fmt: skip


def imported(folder: Path, *rows: Any, name: str = "G1_instruction.json") -> Imported:
    (folder / name).write_text(json.dumps(list(rows)))
    return import_tasks(folder / name)


def scenario(**criteria: Any) -> dict[str, Any]:
    return {**SCENARIO, "evaluation_criteria": {**SCENARIO["evaluation_criteria"], **criteria}}


@each_row(
    ("tool", "api", "name"),
    [
        pytest.param("Open Weather!", "Daily (7 days)", "daily_7_days_for_open_weather", id="signs-become-one-underscore"),
        pytest.param("7Timer", "from", "is_from_for_get_7timer", id="digits-and-reserved-words"),
        pytest.param("t" * 70, "a", "t" * 64, id="the-last-64-characters"),
        pytest.param("天气", "Now", "now_for_天气", id="cjk-stays"),
    ],
)
def test_an_endpoint_has_the_name_that_toolbench_gives_it(tool: str, api: str, name: str) -> None:
    assert function_name(tool, api) == name


async def test_toolbench_expects_its_relevant_endpoints(tmp_path: Path) -> None:
    found = imported(tmp_path, QUERY)
    [task] = found.benchmark.tasks
    assert (found.kind.name, task.id, task.tags) == ("toolbench", "G1_instruction-7", ["G1_instruction", "Weather"])
    daily = task.input_data["tools_available"][0]
    assert daily["parameters"]["properties"]["days"] == {"type": "integer"}
    assert (daily["name"], daily["parameters"]["required"]) == ("daily_7_days_for_open_weather", ["city"])
    called = [ToolCall(name="list_for_open_weather", arguments={})]
    assert (await score_response(task, SkillResponse(output="", tool_calls=called))).passed
    assert not (await score_response(task, SkillResponse(output="", tool_calls=[]))).passed


def test_toolbench_skips_what_names_nothing_or_one_name_twice(tmp_path: Path) -> None:
    twice = {**QUERY, "query_id": 8, "api_list": [LIST, {**LIST, "api_name": "list!"}]}
    silent = {key: value for key, value in QUERY.items() if key != "relevant APIs"} | {"query_id": 9}
    found = imported(tmp_path, QUERY, twice, silent)
    assert (found.read, len(found.benchmark.tasks)) == (3, 1)
    assert sorted(skip["reason"][:34] for skip in found.skips()) == [
        "it does not say which endpoints ar", "two of its endpoints have the same",
    ]  # fmt: skip


def test_toolbench_refuses_a_relevant_endpoint_that_is_not_offered(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"G1_instruction.json: \[0\]: relevant APIs: the endpoint 'Other' of 'Open Weather!'"):
        imported(tmp_path, {**QUERY, "relevant APIs": [["Open Weather!", "Other"]]})


def test_mcp_bench_asks_as_people_do_and_judges_by_the_precise_task(tmp_path: Path) -> None:
    task = {
        "task_id": "w_0",
        "task_description": "Call A, then B.",
        "fuzzy_description": "I wonder …",
        "distraction_servers": ["X"],
    }
    document = {"server_tasks": [{"server_name": "Weather", "tasks": [task]}]}
    (tmp_path / "tasks.json").write_text(json.dumps(document))
    found = import_tasks(tmp_path / "tasks.json")
    [made] = found.benchmark.tasks
    assert (found.kind.name, made.id, made.tags) == ("mcp-bench", "w_0", ["Weather"])
    assert made.input_data == {"instruction": "I wonder …", "servers": ["Weather", "X"]}
    assert made.expected_output is not None
    assert "Call A, then B." in str(made.expected_output.criteria)


class TestTauBench:
    def test_a_scenario_is_a_conversation_with_a_simulated_user(self, tmp_path: Path) -> None:
        (tmp_path / "policy.md").write_text("Never cancel.")
        found = imported(tmp_path, SCENARIO, name="tasks.json")
        [task] = found.benchmark.tasks
        assert task.user is not None
        assert (found.kind.name, task.user.goal) == ("tau-bench", "You want to cancel ABC.\nInsist.")
        assert task.user.facts == {"known": "You are Emma."}
        assert list(found.files) == ["policy.md"]

    @pytest.mark.parametrize(
        ("calls", "said", "passes"),
        [
            pytest.param([("cancel_reservation", "ABC")], "It costs 327.", True, id="right"),
            pytest.param([("cancel_reservation", "XYZ")], "It costs 327.", False, id="wrong-argument"),
            pytest.param([("cancel_reservation", "ABC")], "It is done.", False, id="not-told"),
            pytest.param([], "It costs 327.", False, id="nothing-done"),
        ],
    )
    async def test_changes_and_facts_are_expected_and_reads_are_not(
        self, tmp_path: Path, calls: list[tuple[str, str]], said: str, passes: bool
    ) -> None:
        [task] = imported(tmp_path, SCENARIO, name="tasks.json").benchmark.tasks
        made = [ToolCall(name=name, arguments={"reservation_id": argument}) for name, argument in calls]
        turn = TurnResponse(input="cancel", output=said, tool_calls=made)
        assert (await score_response(task, SkillResponse.of_turns([turn]))).passed is passes

    def test_assertions_count_where_the_published_verdict_has_them_or_nothing_else_is_told(self, tmp_path: Path) -> None:
        bare: dict[str, Any] = {"actions": [], "communicate_info": []}
        rows = [
            SCENARIO | {"id": "a"},
            scenario(reward_basis=["DB", "NL_ASSERTION"]) | {"id": "b"},
            scenario(**bare) | {"id": "c"},
            scenario(**bare, nl_assertions=None) | {"id": "d"},
        ]
        found = imported(tmp_path, *rows, name="tasks.json")
        assert [placed.type for task in found.benchmark.tasks for placed in task.named_scorers] == [
            "trajectory_match", "trajectory_match", "goal_achieved", "goal_achieved",
        ]  # fmt: skip
        assert [skip["reason"] for skip in found.skips()] == [
            "only the environment of the benchmark can tell whether it was solved"
        ]

    @pytest.mark.parametrize(
        "more",
        [
            pytest.param({"initial_state": {"initialization_actions": [{}]}}, id="prepared-environment"),
            pytest.param({"initial_state": {"message_history": [{}]}}, id="begun"),
            pytest.param({"user_tools": ["toggle"]}, id="tools-of-the-user"),
        ],
    )
    def test_what_needs_the_environment_is_skipped(self, tmp_path: Path, more: dict[str, Any]) -> None:
        found = imported(tmp_path, SCENARIO, {**SCENARIO, "id": "1", **more}, name="tasks.json")
        assert (len(found.benchmark.tasks), found.skips()[0]["count"]) == (1, 1)

    def test_python_files_are_read_and_not_executed(self, tmp_path: Path) -> None:
        (tmp_path / "tasks_test.py").write_text(
            "from tau_bench.types import Action, Task\n(open(__file__ + '.ran', 'w'))\nTASKS = [\n"
            "  Task(annotator='0', user_id='mia', instruction='Book ' 'it.', outputs=['5'],\n"
            "       actions=[Action(name='book', kwargs={'n': 1, 'x': [True, None]})]),\n"
            "  Task(annotator='0', user_id='li', instruction='Ask.', actions=[], outputs=[]),\n]\n"
        )
        found = import_tasks(tmp_path / "tasks_test.py")
        assert not list(tmp_path.glob("*.ran"))
        [task] = found.benchmark.tasks
        assert task.user is not None
        assert task.expected is not None
        assert (found.kind.name, found.read, task.user.goal) == ("tau-bench", 2, "Book it.")
        assert task.expected.trajectory == [
            {"role": "assistant", "tool_calls": [{"name": "book", "args": {"n": 1, "x": [True, None]}}]}
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            pytest.param("TASKS = [Task(a=1)", "is not Python", id="syntax"),
            pytest.param("x = 1", "it assigns no list of objects", id="no-list"),
            pytest.param("TASKS = [Task(a=open('x'))]", "tasks.py:1: expected a literal", id="code"),
            pytest.param("TASKS = [Task(**x)]", "tasks.py:1: expected a literal", id="unpacked"),
            pytest.param("TASKS = [Task(a=1), 5]", "tasks.py:1: expected an object", id="mixed"),
        ],
    )
    def test_a_python_file_of_something_else_is_refused(self, tmp_path: Path, text: str, said: str) -> None:
        (tmp_path / "tasks.py").write_text(text)
        with pytest.raises(InputError, match=said):
            import_tasks(tmp_path / "tasks.py")
