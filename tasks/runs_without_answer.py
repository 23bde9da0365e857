"""What becomes of a run that ended without an answer: in an error, at its deadline, at the user's turn. Plain: no Prefect."""

from __future__ import annotations

from typing import Any

from eval_skills.core.errors import ErrorKind
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.scorers.reasons import remark
from eval_skills.scorers.task_scoring import TaskScoring


def without_answer(kind: ErrorKind, message: str, scoring: TaskScoring, known: SkillResponse | None = None) -> dict[str, Any]:
    """The fields of an `ItemResult` that say how it ended; `known` is what is on record of the run.

    Without an answer there is nothing to score, so it is an error or a timeout. A forbidden call is one whatever came after it:
    then the item has failed with score 0, and the trouble is told as a remark. Its kind and message are kept in both cases.
    """
    is_timeout = kind == "timeout"
    trouble = Reason(code="TIMEOUT" if is_timeout else f"{kind.upper()}_ERROR", message=message)
    fields: dict[str, Any] = {
        "status": "timeout" if is_timeout else "error",
        "score": None,
        "passed": False,
        "scorer": scoring.scorer,
        "reasons": [trouble],
        "error_kind": kind,
        "error_message": message,
    }
    if known is not None and (verdict := scoring.violation(known)) is not None:
        fields |= {"status": verdict.status, "score": verdict.score, "reasons": [*verdict.reasons, remark(trouble)]}
    return fields
