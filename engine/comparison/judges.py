"""Who judges a comparison of answers: one model or a panel, as the request names them."""

from __future__ import annotations

from typing import Any

from eval_skills.core.errors import ConfigError, InputError, UsageError
from eval_skills.core.redaction import Redaction
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.panel import Panel
from eval_skills.scorers.judging.preflight import check_name


def panel_of(request: CompareRequest) -> Panel:
    """The models that vote on each pair; their majority decides.

    Raises:
        UsageError: a model is named twice, or too many models or votes are asked for.
    """
    models = tuple(request.panel) or (None,)
    try:
        return Panel(models=models, votes=request.votes, aggregate="majority")
    except InputError as error:
        option = "--votes" if error.path == "votes" else "--panel"
        raise UsageError(f"{option}: {error.message}") from None


def judges_for(request: CompareRequest, panel: Panel) -> Judges:
    """What they are asked with; the secrets of the request are shown to none of them.

    Raises:
        UsageError: no model is named, or what the settings name is not there.
    """
    judges = Judges(request)
    try:
        for model in panel.models:
            judges.judge(model)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    judges.redaction = Redaction.of_variables(request.secrets)
    return judges


def check_names(judges: Judges, panel: Panel) -> None:
    """Refuse a model whose name says no provider; nobody is asked for that.

    Raises:
        UsageError: that is so.
    """
    try:
        for model in panel.models:
            check_name(judges.judge(model))
    except ConfigError as error:
        raise UsageError(str(error)) from None


def judged_by(request: CompareRequest, panel: Panel) -> dict[str, Any]:
    """What the verdicts depend on; in which order the models are named is nothing of it."""
    named = sorted(filter(None, panel.models))
    judge = request.llm.deciding
    if named:
        judge |= {"model": named[0]} if len(named) == 1 else {"model": None, "panel": named}
    return judge | ({"votes": panel.votes} if panel.votes > 1 else {})
