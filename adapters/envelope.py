"""A skill's answer: a bare JSON value, or an envelope around it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from eval_skills.adapters.error_answer import told_in
from eval_skills.adapters.failed_envelope import refuse_failed_envelope
from eval_skills.core.errors import ContractError
from eval_skills.core.models import SkillResponse
from eval_skills.core.validation_words import problems_in

ENVELOPE_KEYS = frozenset({"output", "messages", "toolCalls", "usage", "costUsd", "metadata"})


def is_envelope(answer: Any) -> bool:
    """Whether `answer` is an object that has `output` and otherwise only keys of an envelope.

    ``{"output": 1}`` is an envelope; ``{"output": 1, "confidence": 0.9}`` is a bare value.
    """
    return isinstance(answer, dict) and "output" in answer and answer.keys() <= ENVELOPE_KEYS


def read_answer(answer: Any) -> SkillResponse:
    """`answer` as a response. In an envelope, null stands for "unknown" in every part but `output`.

    Raises:
        ContractError: a part of the envelope is malformed; the message names the part and what was seen there. Or the answer was
            meant as an envelope and is none (`refuse_failed_envelope`).
    """
    if not is_envelope(answer):
        if isinstance(answer, dict):
            refuse_failed_envelope(answer)
        return SkillResponse(output=answer)
    parts = {key: part for key, part in answer.items() if part is not None or key == "output"}
    try:
        return SkillResponse.model_validate(parts)
    except ValidationError as error:
        first = problems_in(error, parts)[0]
        raise ContractError(f"malformed envelope: {first.path}: {first.message}", known=told_in(answer)) from None
