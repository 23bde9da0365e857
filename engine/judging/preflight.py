"""Checks of the judging models before anything runs: they can be asked, their cost limit holds, no skill gets their key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from eval_skills.adapters.secrets import referenced
from eval_skills.core.config import LlmSettings
from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.config.values import LOCAL
from eval_skills.core.errors import ConfigError, RunError, UsageError
from eval_skills.core.models import Skill
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.errors import ProviderError
from eval_skills.scorers.judging.model import usual_variables

Members = tuple[str | None, ...]
"""The models that give one verdict together, None being the run's."""

_HANDED_ON = frozenset({"passEnv", "pass_env", "authTokenEnvKey", "auth_token_env_key", "apiKeyEnv", "api_key_env"})
"""Keys of `adapterConfig` that name variables whose values a skill gets."""


def check_one_budget(options: JudgeOptions, task_runner: str) -> None:
    """Refuse a cost limit where items are executed in several processes, each of which would count for itself.

    Raises:
        UsageError: there is a limit, and `task_runner` is not this process.
    """
    if options.max_judge_cost is not None and task_runner != LOCAL:
        raise UsageError(f"--max-judge-cost counts in one process, and --task-runner {task_runner} has several; use one of them")


def check_judges_ready(scorings: Mapping[str, TaskScoring], *, simulators: bool = False) -> list[str]:
    """Ask every judging model of these tasks for one token, before anything else costs money; returns remarks. With `simulators`
    also those that play users.

    With `no_judge_check` they are not asked; a cost limit needs known prices all the same. May be called inside an event loop.

    Raises:
        UsageError: a model refuses the key, or does not exist, or its price is not known and a cost limit needs it.
        RunError: a model cannot be reached now, and too few of its panel are left without it.
    """
    judges = judges_of(scorings, simulators=simulators)
    if judges is None:
        return []
    panels = [panel for scoring in scorings.values() for panel in scoring.panels]
    panels += [(model,) for scoring in scorings.values() for model in scoring.simulators] if simulators else []
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _ready(judges, panels)).result()


async def _ready(judges: Judges, panels: Iterable[Members]) -> list[str]:
    try:
        return await check_panels_ready(judges, panels)
    finally:
        await judges.close()


async def check_panels_ready(judges: Judges, panels: Iterable[Members], nothing: str = "nothing was run") -> list[str]:
    """Ask every member of these panels for one token; see `check_judges_ready`. `nothing` says what a refusal comes before.

    A member that cannot be reached now is a remark where more than half of each of its panels are left.
    """
    remarks, missing = list[str](), dict[str | None, ProviderError]()
    members = list(dict.fromkeys(panels))
    for model in dict.fromkeys(model for panel in members for model in panel):
        error = await _unanswering(judges, model, nothing)
        if error is not None and error.code == "JUDGE_RATE_LIMIT":
            remarks.append(f"the judge answers slowly: {error}")
        elif error is not None:
            missing[model] = error
            name = judges.member(model).model.name
            remarks.append(f"{name} does not answer, and its panel judges without it until it does: {error}")
    for panel in members:
        left = [model for model in panel if model not in missing]
        if 2 * len(left) <= len(panel):
            error = next(missing[model] for model in panel if model in missing)
            raise RunError(f"{nothing}: {error}; try again later, or skip this check with --no-judge-check")
    return remarks


async def _unanswering(judges: Judges, model: str | None, nothing: str) -> ProviderError | None:
    """Why a model cannot be asked now; None: it can.

    Raises:
        UsageError: it cannot be asked at all.
    """
    judge = judges.member(model)
    try:
        if judges.budget.limit_usd is not None:
            await judge.check_price()
        if not judges.options.no_judge_check:
            await judge.check_answers()
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except ProviderError as error:
        if error.ends_judging or (not error.again and error.code != "JUDGE_NOT_ASKED"):
            raise UsageError(f"{nothing}: {error}") from None
        return error
    return None


def check_key_is_ours(llm: LlmSettings, skills: Iterable[Skill], scorings: Mapping[str, TaskScoring]) -> None:
    """Refuse a skill that would get the judge's key: the variable that `llm` names, whether a model judges these tasks or not;
    if it names none, and no address of its own either, the usual one of the provider of each model that judges them.

    Raises:
        UsageError: its configuration names such a variable.
    """
    ours = _key_variables(llm, scorings)
    for skill in skills:
        for name in sorted(set(_handed_on(_seen_by_the_skill(skill)))):
            if name in ours:
                raise UsageError(f"skill {skill.key} asks for the variable {name}, {ours[name]}")


def _key_variables(llm: LlmSettings, scorings: Mapping[str, TaskScoring]) -> dict[str, str]:
    """The variables that hold the key, each with the end of the error message about it."""
    never = "and a skill must not have that key: keep the judge's key in a separate variable"
    if llm.api_key_env is not None:
        return {llm.api_key_env: f"which llm.apiKeyEnv names as the judge's key, {never}"}
    if llm.api_base is not None:
        return {}
    models = {model or llm.model for scoring in scorings.values() for model in (*scoring.models, *scoring.simulators)}
    return {
        name: f"from which the judge {model} takes its key, {never}, and name it with llm.apiKeyEnv"
        for model in sorted(filter(None, models))
        for name in usual_variables(model)
    }


def _seen_by_the_skill(skill: Skill) -> dict[str, Any]:
    """Its configuration, without the key of our own agent's model: that stays in this process."""
    config = skill.adapter_config
    if skill.adapter_type != "agent" or skill.entrypoint != "builtin":
        return config
    return {name: value for name, value in config.items() if name not in ("apiKeyEnv", "api_key_env")}


def _handed_on(config: Any) -> Iterator[str]:
    """The variables that a configuration passes to its skill, also inside headers."""
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
