"""What an evaluator returns, and its way into LangSmith."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypedDict

from eval_skills.scorers.trajectory.comparison import Comparison
from eval_skills.scorers.trajectory.edits import comment_of


class EvaluatorResult(TypedDict):
    """A score under a `key`. `comment` is None where it matches, else the smallest edit as one line; `metadata` holds the
    figures of `figures.agreement`. LangSmith takes it as it is.
    """

    key: str
    score: bool
    comment: str | None
    metadata: dict[str, Any]


def result_of(key: str, comparison: Comparison) -> EvaluatorResult:
    """The comparison under a key."""
    comment = comment_of(comparison.edits)
    return {"key": key, "score": comparison.matches, "comment": comment, "metadata": comparison.figures}


def recorded(key: str, evaluate: Callable[[], EvaluatorResult]) -> EvaluatorResult:
    """What `evaluate` returns; inside a test under ``@pytest.mark.langsmith`` it is logged there as feedback, too.

    Outside such a test, or where LangSmith is not imported at all, nothing else happens.
    """
    if (testing := _running_test()) is None:
        return evaluate()
    with testing.trace_feedback(name=key):
        result = evaluate()
        testing.log_feedback(key=key, score=result["score"], comment=result["comment"])
    return result


def _running_test() -> Any:
    """The module `langsmith.testing` while one of its tests runs and is traced, else None."""
    # LangSmith has no public way to ask, and its log_feedback raises where no test runs; the test stays noted after its end,
    # when its trace is over
    noted = getattr(sys.modules.get("langsmith.testing._internal"), "_TEST_CASE", None)
    if noted is None or noted.get() is None or sys.modules["langsmith.run_helpers"].get_current_run_tree() is None:
        return None
    return sys.modules.get("langsmith.testing")
