"""The judge's key is nobody else's: no skill is given the variable that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eval_skills.adapters.secrets import referenced
from eval_skills.core.config import LlmSettings
from eval_skills.core.errors import UsageError
from eval_skills.core.models import Skill
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging.model import usual_variables

_HANDED_ON = frozenset({"passEnv", "pass_env", "authTokenEnvKey", "auth_token_env_key"})
"""Keys of `adapterConfig` that name variables whose values a skill gets."""


def check_key_is_ours(llm: LlmSettings, skills: Iterable[Skill], scorings: Mapping[str, TaskScoring]) -> None:
    """Refuse a skill that would be given the judge's key: the variable that `llm` names, whether a model judges these tasks or
    not; where it names none, and no address of its own either, the usual one of the provider of each model that judges them.

    Raises:
        UsageError: its configuration names such a variable.
    """
    ours = _key_variables(llm, scorings)
    for skill in skills:
        for name in sorted(set(_handed_on(skill.adapter_config))):
            if name in ours:
                raise UsageError(f"skill {skill.key} asks for the variable {name}, {ours[name]}")


def _key_variables(llm: LlmSettings, scorings: Mapping[str, TaskScoring]) -> dict[str, str]:
    """What holds the key, each with the rest of the sentence about it."""
    never = "a skill never gets that one: keep the judge's key in a variable of its own"
    if llm.api_key_env is not None:
        return {llm.api_key_env: f"which llm.apiKeyEnv names as the judge's key; {never}"}
    if llm.api_base is not None:
        return {}
    models = {model or llm.model for scoring in scorings.values() for model in scoring.models}
    return {
        name: f"from which the judge {model} takes its key; {never}, and name that with llm.apiKeyEnv"
        for model in sorted(filter(None, models))
        for name in usual_variables(model)
    }


def _handed_on(config: Any) -> Iterator[str]:
    """The variables that a configuration names, also in the texts of its headers."""
    if isinstance(config, list):
        for each in config:
            yield from _handed_on(each)
    for key, value in config.items() if isinstance(config, dict) else ():
        if key in _HANDED_ON:
            yield from [value] if isinstance(value, str) else (each for each in value or () if isinstance(each, str))
        elif key == "headers" and isinstance(value, dict):
            for text in value.values():
                yield from referenced(text) if isinstance(text, str) else ()
        else:
            yield from _handed_on(value)
