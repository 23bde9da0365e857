"""Checks of an answer against what its agent had seen."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field, field_validator

from eval_skills.core.models.base import Model, Rate, Text
from eval_skills.core.text import excerpt

ClaimKind = Literal["number", "date", "time", "quote", "url", "email", "identifier", "name"]
CLAIM_KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)
"""What counts as a claim that can be looked up."""

HallucinationMode = Literal["deterministic", "judged", "both"]
"""Who looks claims up: rules, a model, or the rules first and then the model."""


class HallucinationCheck(Model):
    """A gate: at least `threshold` of the answer's claims occur in a tool result or in the input. Equality passes.

    `kinds` are the kinds of claims that count for the rules. `failed_tools` says whether a tool that failed, and that the answer
    keeps silent about, counts as one more unsupported claim. `model` is asked in place of the run's judging model.
    """

    mode: HallucinationMode = "deterministic"
    threshold: Rate = 0.8
    kinds: list[ClaimKind] = Field(default_factory=lambda: list(CLAIM_KINDS), min_length=1)
    failed_tools: bool = True
    model: Text | None = None


class Checks(Model):
    """Checks beside the evaluator: ``{"hallucination": {"threshold": 0.9}}``.

    ``true`` stands for the check with its defaults, and ``false`` or null for none: a block that is there switches its check on.
    """

    hallucination: HallucinationCheck | None = None

    @field_validator("hallucination", mode="before")
    @classmethod
    def _switched(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {} if value else None
        if not isinstance(value, dict | HallucinationCheck | None):
            raise ValueError(f"give true, false or an object with mode, threshold, kinds …; got {excerpt(value)}")
        return value

    @property
    def is_empty(self) -> bool:
        """Whether nothing is checked."""
        return self.hallucination is None
