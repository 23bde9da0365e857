"""Who judges: what a calibration holds for, and what it does not hold for any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_skills.scorers.judging.prompt import PROMPT_VERSION

if TYPE_CHECKING:
    from eval_skills.scorers.settings import ScoringSettings


@dataclass(frozen=True, slots=True, order=True)
class JudgeIdentity:
    """A judge: its model (all of a panel's, and how they vote), and the version of its prompts."""

    model: str
    prompt: str

    def __str__(self) -> str:
        return f"{self.model} ({self.prompt})"


def identity_of(evaluator: Any, scorer: str | None, settings: ScoringSettings) -> JudgeIdentity | None:
    """The identity of an evaluator that asks models; None for one that asks none.

    An evaluator may tell its `version` (of its prompts) and its `panel`; else its name and its models alone count.
    """
    models = getattr(evaluator, "models", ())
    if not models:
        return None
    names = [model or settings.llm.model or "no model" for model in models]
    panel = getattr(evaluator, "panel", None)
    voting = "" if panel is None or panel.is_single else f" ({panel.described})"
    return JudgeIdentity(f"{' + '.join(names)}{voting}", prompt_version(str(getattr(evaluator, "version", scorer))))


def prompt_version(version: str) -> str:
    """The version of one question's words, with that of the words around all of them."""
    return f"{version}, prompt {PROMPT_VERSION}"
