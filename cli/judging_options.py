"""Judging options that were typed and have nothing to do: nobody should think that a model judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from eval_skills.cli.context import current
from eval_skills.cli.options import JudgeFlags

if TYPE_CHECKING:
    from eval_skills.scorers import TaskScoring

_HOW = (
    "a task is judged by one where its evaluator is llm_judge, rubric, trajectory_judge or hallucination, and where its "
    "checks.hallucination has the mode judged or both"
)


def idle_judging(judging: JudgeFlags, scorings: Mapping[str, TaskScoring]) -> list[str]:
    """What is to be said of the judging options that were typed, where no task asks a model, or none asks the one that was named.

    What the configuration says holds for many calls, and for some of them in vain: nothing is said of that.
    """
    options = typed_options(judging)
    asked = {model: None for scoring in scorings.values() for model in scoring.models}
    if options and not asked:
        do = "does" if len(options) == 1 else "do"
        return [f"{listed(options)} {do} nothing here: no task is judged by a model; {_HOW}"]
    if "--judge-model" in options and None not in asked:
        names = ", ".join(str(model) for model in asked)
        return [
            f"--judge-model {judging.judge_model} is asked about nothing: every task that a model judges names its own ({names})"
        ]
    return []


def listed(options: list[str]) -> str:
    """``--a``, ``--a and --b``, ``--a, --b and --c``."""
    *first, last = options
    return f"{', '.join(first)} and {last}" if first else last


def typed_options(judging: JudgeFlags) -> list[str]:
    """The judging options that the command line named, in the order of the help."""
    named = {f"--{field.name.replace('_', '-')}": getattr(judging, field.name) for field in fields(judging)}
    return [option for option, value in named.items() if value is not None and option not in current().configured]
