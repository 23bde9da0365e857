"""One answer judged, from Python."""

from __future__ import annotations

from typing import Any, Unpack

from eval_skills.adapters.answer.envelope import parse_json, read_answer, write_json
from eval_skills.adapters.python.host.answer import plain
from eval_skills.adapters.python.host.errors import NotJson, described
from eval_skills.api.evaluators import OwnEvaluators
from eval_skills.api.inputs import TaskLike, read_task
from eval_skills.api.options import ScoreOptions, python_words, scoring_options
from eval_skills.core.errors import ContractError, InputError
from eval_skills.core.models import SkillResponse, Verdict
from eval_skills.core.text import one_line


def score(answer: Any, task: TaskLike, **options: Unpack[ScoreOptions]) -> Verdict:
    """The verdict on one `answer` to `task`, which needs no input and no id.

    The answer is a value that JSON can say, an envelope (``{"output": …, "toolCalls": […]}``), or a `SkillResponse`. Where an
    event loop runs already, as in a notebook, it is blocked meanwhile.

    Raises:
        UsageError: an option or the task cannot be used.
        InputError: something in the task or the answer cannot be used. What a scorer does wrong is in the verdict.
    """
    from eval_skills.engine.definition.benchmark import check_judges, scoring_settings
    from eval_skills.scorers import TaskScoring, score_response_sync

    own = OwnEvaluators()
    asked = scoring_options(own.in_options(options))
    with own.known(), python_words():
        read = read_task({"id": "task", **task} if isinstance(task, dict) else task, asked.evaluator, own)
        settings = scoring_settings(asked, None)
        check_judges({read.id: TaskScoring(read, settings)})
        return score_response_sync(read, _response(answer), settings)


def _response(answer: Any) -> SkillResponse:
    if isinstance(answer, SkillResponse):
        return answer
    try:
        written = write_json(plain(answer))
    except NotJson as error:
        raise InputError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the attributes of an object may be computed, by any code
        raise InputError(f"the answer cannot be read: {one_line(described(error))}") from None
    try:
        return read_answer(parse_json(written))
    except ContractError as error:
        raise InputError(str(error)) from None
    except ValueError as error:
        raise InputError(f"the answer is {error}") from None
