"""tau-bench and tau2-bench: conversations with a simulated user, and the calls and facts that the right ones lead to.

Formats: sierra-research/tau-bench (``tasks_test.py`` and the like), sierra-research/tau2-bench (``tasks.json`` of a domain).
Both compare the state of a database afterwards, which only their environments have. What can be told without: the calls that
change something, the texts that have to be told, and the assertions that a model judges.
"""

from __future__ import annotations

from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source

MAX_TURNS = 30
"""Messages of the user; both benchmarks bound the steps of user, agent and tools together."""

POLICY = "policy.md"

_READS = ("get_", "find_", "list_", "search_", "check_", "calculate", "think", "transfer_to_human")
"""Beginnings of tools that change nothing: the published verdict does not ask for them."""

_NO_DATABASE = (
    "the published verdict compares a database afterwards; here the calls that change something are compared with the published "
    "ones, with all arguments: another way to the same state fails"
)
_NO_POLICY = "the agent needs the tools and the policy of its domain; neither comes with these tasks"
_JUDGED = "a model plays the user of each task, and judges where there are assertions (goal_achieved); name it with --judge-model"
_ENVIRONMENT = "only the environment of the benchmark can tell whether it was solved"


def is_tau_bench(source: Source) -> bool:
    """Whether the entries are tasks of tau-bench or tau2-bench."""
    keys = source.keys
    return {"user_scenario", "evaluation_criteria"} <= keys or {"instruction", "actions", "user_id"} <= keys


def tau_bench_task(row: Row, source: Source) -> Task:
    """A conversation with a user of one instruction, or of a scenario."""
    for remark in (_JUDGED, _NO_DATABASE):
        source.say(remark)
    task = _of_scenario(row) if "user_scenario" in row.data else _of_instruction(row)
    if (source.folder / POLICY).is_file():
        source.attach(POLICY)
        source.say(f"the agent needs the tools of its domain, and its policy, which lies beside the benchmark as {POLICY}")
    else:
        source.say(_NO_POLICY)
    return task


def _of_instruction(row: Row) -> Task:
    calls = _changes(_calls(row, "actions", "kwargs"))
    told = [str(each) for each in (row.listed("outputs") if row.has("outputs") else [])]
    if not calls and not told:
        raise Skip(_ENVIRONMENT)
    return {
        "user": {"goal": row.text("instruction"), "maxTurns": MAX_TURNS},
        "metadata": {"userId": row.data.get("user_id")},
        **_expecting(calls, told, []),
    }


def _of_scenario(row: Row) -> Task:
    scenario, criteria = _inside(row, "user_scenario"), _inside(row, "evaluation_criteria")
    _refuse_unreachable(row, criteria)
    basis = criteria.texts("reward_basis") if criteria.has("reward_basis") else ["DB", "COMMUNICATE"]
    calls = _calls(criteria, "actions", "arguments") if criteria.has("actions") else []
    wanted = calls if "ACTION" in basis else _changes(calls) if "DB" in basis else []
    told = criteria.texts("communicate_info") if criteria.has("communicate_info") and "COMMUNICATE" in basis else []
    asserted = criteria.texts("nl_assertions") if criteria.has("nl_assertions") else []
    if "NL_ASSERTION" not in basis and (wanted or told):
        asserted = []  # not part of the published verdict, and not needed for one
    if not (wanted or told or asserted):
        raise Skip(_ENVIRONMENT)
    about = _inside(row, "description") if isinstance(row.data.get("description"), dict) else None
    return {
        "id": row.text("id"),
        "description": about.text_or_empty("purpose")[:200] if about else row.text_or_empty("description"),
        "user": _user(scenario),
        "metadata": {"rewardBasis": basis},
        **_expecting(wanted, told, asserted),
    }


def _refuse_unreachable(row: Row, criteria: Row) -> None:
    state = row.data.get("initial_state")
    if isinstance(state, dict) and any(state.get(key) for key in ("initialization_data", "initialization_actions")):
        raise Skip("the environment of the benchmark has to be prepared for it")
    if isinstance(state, dict) and state.get("message_history"):
        raise Skip("its conversation has begun already, and the skill was not there")
    actions = criteria.data.get("actions") or []
    if row.has("user_tools") or any(isinstance(each, dict) and each.get("requestor") == "user" for each in actions):
        raise Skip("its user has tools, which only the environment of the benchmark has")


def _user(scenario: Row) -> Task:
    user: Task = {"maxTurns": MAX_TURNS}
    if scenario.has("persona"):
        user["persona"] = scenario.text("persona")
    if not isinstance(scenario.data.get("instructions"), dict):
        return {"goal": scenario.text("instructions"), **user}
    told = _inside(scenario, "instructions")
    parts = [told.text_or_empty(key).strip() for key in ("reason_for_call", "task_instructions")]
    if not any(parts):
        raise told.refusal("expected reason_for_call or task_instructions")
    known = {name: told.text(key) for name, key in (("known", "known_info"), ("unknown", "unknown_info")) if told.has(key)}
    return {"goal": "\n".join(filter(None, parts)), **user, **({"facts": known} if known else {})}


def _calls(row: Row, key: str, arguments: str) -> list[Task]:
    return [
        {"name": call.text("name"), "args": call.mapping(arguments) if call.has(arguments) else {}}
        for call in (_each(row, key, place, value) for place, value in enumerate(row.listed(key)))
    ]


def _changes(calls: list[Task]) -> list[Task]:
    return [call for call in calls if not call["name"].startswith(_READS)]


def _expecting(calls: list[Task], told: list[str], asserted: list[str]) -> Task:
    expected: Task = {}
    evaluators: list[Task] = []
    if calls:
        expected["trajectory"] = [{"role": "assistant", "tool_calls": calls}]
        evaluators.append({"type": "trajectory_match", "mode": "superset"})
    if told:
        expected["output"] = {"contains": list(dict.fromkeys(told))}
    if asserted:
        goal = "All of this holds of the conversation:\n" + "\n".join(f"- {each}" for each in asserted)
        evaluators.append({"type": "goal_achieved", "goal": goal})
    parts: Task = {"expected": expected} if expected else {}
    if len(evaluators) == 1:
        return {**parts, "evaluator": evaluators[0]}
    return {**parts, "evaluators": evaluators} if evaluators else parts


def _inside(row: Row, key: str) -> Row:
    return Row(f"{row.place}: {key}", row.mapping(key))


def _each(row: Row, key: str, place: int, value: Any) -> Row:
    if not isinstance(value, dict):
        raise row.refusal("expected an object with the name of a tool and its arguments", f"{key}[{place}]")
    return Row(f"{row.place}: {key}[{place}]", value)
