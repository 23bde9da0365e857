"""The options that name an agent: what each value means, and what is said of a wrong one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.cli.agent import AgentOptions
from eval_skills.core.errors import UsageError
from tests.tables import each_row


def chosen(*options: str, agent: str = "custom", **more: Any) -> dict[str, Any]:
    """What the options make of the configuration of an agent."""
    return AgentOptions(agent=agent, agent_option=list(options), **more).chosen().config


@each_row(
    ("options", "config"),
    [
        pytest.param(["command=true"], {"command": "true"}, id="a-text-that-would-be-a-boolean"),
        pytest.param(["command=12"], {"command": "12"}, id="a-text-that-would-be-a-number"),
        pytest.param(['command=sh -c "a=b"'], {"command": 'sh -c "a=b"'}, id="text-with-quotes-and-equals"),
        pytest.param(["command=sh", "model=null"], {"command": "sh", "model": "null"}, id="text-or-none"),
        pytest.param(["command=sh", "apiKeyEnv=PATH"], {"command": "sh", "apiKeyEnv": "PATH"}, id="constrained-text"),
        pytest.param(["command=sh", "maxSteps=20"], {"command": "sh", "maxSteps": 20}, id="number"),
        pytest.param(["command=sh", "max_steps=20"], {"command": "sh", "maxSteps": 20}, id="other-spelling"),
        pytest.param(["command=sh", "network=true"], {"command": "sh", "network": True}, id="boolean"),
        pytest.param(["command=sh", "sandbox=none"], {"command": "sh", "sandbox": "none"}, id="word-for-an-object"),
        pytest.param(["command=sh", 'limits={"diskMb": 9}'], {"command": "sh", "limits": {"diskMb": 9}}, id="object"),
        pytest.param(["command=sh", 'passEnv=["A"]'], {"command": "sh", "passEnv": ["A"]}, id="list"),
    ],
)
def test_a_value_is_read_by_the_type_of_its_option(options: list[str], config: dict[str, Any]) -> None:
    assert chosen(*options) == config


@each_row(
    ("options", "said"),
    [
        pytest.param(["maxSteps"], "--agent-option: give KEY=VALUE, as maxSteps=20; got 'maxSteps'", id="no-value"),
        pytest.param(["nonsense=1"], "--agent-option nonsense: agents have no such option; valid are allow", id="unknown"),
        pytest.param(["maxStep=1"], "--agent-option maxStep: agents have no such option (did you mean 'maxSteps'?)", id="near"),
        pytest.param(["maxSteps=abc"], '--agent-option maxSteps: give a whole number; got "abc"', id="wrong-type"),
        pytest.param([f"maxSteps={'[' * 100_000}"], "--agent-option maxSteps: give a whole number; got", id="too-deep"),
        pytest.param(["maxSteps=0"], "--agent-option maxSteps: ", id="out-of-range"),
        pytest.param(['limits={"diskMb": 0}'], "--agent-option limits.diskMb: ", id="inside-an-object"),
        pytest.param(["skills=[]"], "--agent-option skills: this command decides it; leave it out", id="of-the-command"),
        pytest.param(["command=a", "command=b"], "--agent-option command: it is given twice", id="twice"),
        pytest.param(
            [], "--agent custom: the runtime custom has no program of its own; name one in --agent-option comm", id="none"
        ),
    ],
)
def test_a_wrong_value_of_agent_option_is_named_as_it_is_typed(options: list[str], said: str) -> None:
    assert said in refusal(agent_option=options)


@each_row(
    ("options", "said"),
    [
        pytest.param({"agent": "builtin"}, "such as openai/gpt-4o-mini, in --model", id="builtin-without-model"),
        pytest.param({"agent": "opencode"}, "--agent opencode: opencode needs a model; name one in --model", id="no-model"),
        pytest.param(
            {"agent": "codex"}, "--agent codex: codex needs a key; name the variable that holds it in --api-k", id="no-key"
        ),
        pytest.param({"agent": "codx"}, "--agent codx: 'codx' is not a runtime of agents (did you mean 'codex'?)", id="runtime"),
        pytest.param({"model": " "}, "--model: ", id="blank-model"),
        pytest.param({"model": "a", "agent_option": ["model=b"]}, "--agent-option model: --model is given, too", id="twice"),
        pytest.param({"api_key_env": "sk-live-12"}, "--api-key-env: this is not the name of a variable", id="a-key"),
        pytest.param(
            {"api_key_env": "NO_SUCH", "agent_option": ["command=sh"]},
            "--api-key-env: the environment variable NO_SUCH is not set",
            id="no-variable",
        ),
    ],
)
def test_another_wrong_option_is_named_as_it_is_typed(options: dict[str, Any], said: str) -> None:
    assert said in refusal(**options)


def refusal(agent: str = "custom", **options: Any) -> str:
    with pytest.raises(UsageError) as raised:
        AgentOptions(agent=agent, **options).chosen()
    assert "adapterConfig" not in str(raised.value)
    return str(raised.value)


def test_what_the_command_decides_cannot_be_set_and_is_added() -> None:
    options = AgentOptions(agent="custom", agent_option=["command=sh"])
    assert options.chosen(stopWhenSkillLoaded=True).config == {"command": "sh", "stopWhenSkillLoaded": True}
    refused = AgentOptions(agent="custom", agent_option=["command=sh", f"stopWhenSkillLoaded={json.dumps(False)}"])
    with pytest.raises(UsageError, match="stopWhenSkillLoaded: this command decides it"):
        refused.chosen(stopWhenSkillLoaded=True)


def test_whether_an_agent_in_a_sandbox_has_the_network_is_left_to_the_run() -> None:
    chosen("sandbox=bwrap", agent="opencode", model="a/b")
