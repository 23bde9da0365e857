"""A skill's answer: a bare JSON value, or an envelope around it."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from eval_skills.adapters.tail import excerpt
from eval_skills.core.errors import ContractError
from eval_skills.core.models import SkillResponse

ENVELOPE_KEYS = frozenset({"output", "messages", "toolCalls", "usage", "costUsd", "metadata"})


def is_envelope(answer: Any) -> bool:
    """Whether `answer` is an object that has `output` and otherwise only keys of an envelope.

    ``{"output": 1}`` is an envelope; ``{"output": 1, "confidence": 0.9}`` is a bare value.
    """
    return isinstance(answer, dict) and "output" in answer and answer.keys() <= ENVELOPE_KEYS


def read_answer(answer: Any) -> SkillResponse:
    """`answer` as a response. In an envelope, null stands for "unknown" in every part but `output`.

    Raises:
        ContractError: a part of the envelope is malformed; the message names the part and what was seen there.
    """
    if not is_envelope(answer):
        return SkillResponse(output=answer)
    parts = {key: part for key, part in answer.items() if part is not None or key == "output"}
    try:
        return SkillResponse.model_validate(parts)
    except ValidationError as error:
        raise ContractError(f"malformed envelope: {_first_problem(error)}") from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    seen = excerpt(json.dumps(first["input"], default=str), 80)
    message = first["msg"]
    return f"{path}: {message[0].lower()}{message[1:]}; got {seen}"
