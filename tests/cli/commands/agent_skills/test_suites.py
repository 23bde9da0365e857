"""A suite of a night says what the command line says: each option of `skill-effect` about the experiment is a key there."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from eval_skills.cli.agent import AgentOptions
from eval_skills.cli.commands.agent_skills import skill_effect as command
from eval_skills.core.skill_effect.gate import FailOn
from eval_skills.engine.skill_effect.request import SkillEffectSuite


def test_every_option_of_the_agent_is_a_key_with_the_same_meaning() -> None:
    renamed = {"agent_option": "agent_options"}  # KEY=VALUE there, a mapping here
    asked = {field.name: AgentOptions.__annotations__[field.name] for field in fields(AgentOptions)}
    keys = SkillEffectSuite.model_fields
    assert {renamed.get(name, name) for name in asked} | {"skills", "arms", "old", "fail_on", "called"} == keys.keys()
    assert AgentOptions(agent_option=["maxSteps=1"], base_url="http://x/v1", model="m").chosen() == (
        SkillEffectSuite(skills=["s"], agent_options={"maxSteps": 1}, base_url="http://x/v1", model="m").asked_agent
    )


def test_the_gate_has_the_same_words() -> None:
    assert get_args(command.FailOn) == get_args(FailOn)
