"""Rubrics, and what the scripted model says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eval_skills.core.models import EvalTask, SkillResponse, Verdict
from eval_skills.scorers import ScoringSettings, score_response
from tests.scripted_model import Asked, Says

Settings = Callable[..., ScoringSettings]
NAMES = ("factual_accuracy", "completeness", "citation_accuracy", "source_quality", "tool_efficiency")
LEVELS = ("excellent", "good", "poor", "acceptable", "good")
"""By the weights of the default rubric: 0.785."""

POLITE = {"polite": {"score": 1, "description": "says please"}, "rude": 0}
OWN = {
    "dimensions": {
        "tone": {
            "weight": 3,
            "description": "Is it polite?",
            "levels": POLITE,
        },
        "depth": {"weight": 1, "description": "Is it deep?", "levels": {"deep": 1, "flat": 0.5, "none": 0}, "floor": 0.5},
    }
}


def levels(*chosen: str, names: tuple[str, ...] = NAMES, quotes: tuple[str, ...] = ()) -> Says:
    return Says(
        {
            f"{name}_verdict": {"quotes": list(quotes), "reasoning": f"why {name}", "level": level}
            for name, level in zip(names, chosen, strict=True)
        }
    )


def task(evaluator: dict[str, Any] | None = None, **more: Any) -> EvalTask:
    return EvalTask.model_validate(
        {"id": "t", "inputData": {"q": "Why owls?"}, "evaluator": {"type": "rubric", **(evaluator or {})}, **more}
    )


async def judged(
    settings: ScoringSettings, evaluator: dict[str, Any] | None = None, answer: Any = "Owls see.", **response: Any
) -> Verdict:
    return await score_response(task(evaluator), SkillResponse(output=answer, **response), settings)


def codes(verdict: Verdict) -> list[str]:
    return [each.code for each in verdict.reasons]


def claims_model(*verdicts: str, importance: tuple[str, ...] = (), evidence: str = "owl") -> Callable[[Asked], Says]:
    """Replies to whatever is asked: claims are listed and looked up, dimensions get the level `good`."""

    def reply(asked: Asked) -> Says:
        names = list(asked.body["response_format"]["json_schema"]["schema"]["properties"])
        if "claims" in names:
            weights = importance or ("major",) * len(verdicts)
            listed = [{"claim": f"claim {number}", "importance": each} for number, each in enumerate(weights, 1)]
            return Says({"reasoning": "r", "claims": listed})
        if "lookups" in names:
            found = [{"number": number, "evidence": evidence, "verdict": each} for number, each in enumerate(verdicts, 1)]
            return Says({"lookups": found})
        return levels(*["good"] * len(names), names=tuple(name.removesuffix("_verdict") for name in names))

    return reply
