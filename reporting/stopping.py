"""That a run stopped at one of its limits, and how it goes on, in words."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from eval_skills.core.config.options import option_of
from eval_skills.core.store.layout import DEFAULT_ROOT
from eval_skills.core.text import plural
from eval_skills.reporting import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eval_skills.core.store import ReachedLimit

FIELDS = {"cost": "max_cost", "tokens": "max_tokens", "duration": "max_duration_s"}
"""The option of each limit, by its field's name."""


def stop_words(reached: ReachedLimit, finished: int, planned: int) -> str:
    """``stopped at --max-cost 1: 1.0234 USD spent, 12 of 40 items done``."""
    spent = {
        "cost": f"{numbers.usd(reached.spent)} spent",
        "tokens": f"{reached.spent:,.0f} tokens used",
        "duration": f"{reached.spent:.3g} s passed" if reached.spent < 1 else f"{reached.spent:,.1f} s passed",
    }
    done = f"{finished:,} of {plural(planned, 'item')} done"
    return f"stopped at {option_of(FIELDS[reached.limit])} {_shown(reached.allowed)}: {spent[reached.limit]}, {done}"


_RAISED = {"cost limit": " --max-cost USD", "token limit": " --max-tokens N"}
"""What must be said to go on with a run that stopped at a limit of its whole life; it is written to be filled in."""


def of_store(store: str) -> str:
    """`` --store PATH``, for a command about what is in it; empty where that is the store of every command."""
    return "" if store == DEFAULT_ROOT else f" --store {quote(store)}"


def resume_words(run_id: str, store: str, stopped: str | None = None, command: str = "eval") -> str:
    """What to type to continue a run; `stopped` is the name of the limit that it reached, if it did."""
    return f"eval-skills {command} --resume {run_id} --store {quote(store)}{_RAISED.get(stopped or '', '')}"


_ASKED_BY = {"skillEffect": "skill-effect", "triggers": "triggers", "selection": "run"}
"""The commands whose runs `eval` would go on with as if they were ordinary ones, by what their provenance has."""


def asked_by(provenance: Mapping[str, Any]) -> str:
    """The command that goes on with a run of this provenance, and shows at its end what was asked for."""
    return next((command for key, command in _ASKED_BY.items() if key in provenance), "eval")


def resume_night_words(night: str, suites: str | None, store: str) -> str:
    """What to type to continue a night; its file of `suites` is written to be filled in where it is not known."""
    return f"eval-skills nightly --suites {quote(suites) if suites else 'FILE'} --resume {night} --store {quote(store)}"


def going_on_words(run_id: str, store: str, provenance: Mapping[str, Any], *, whole_night: bool) -> str:
    """How to go on with a run of this provenance, or with the `whole_night` that ended with it.

    Of a night's run it is a whole command: `--resume` of the night's own would mean the night.
    """
    if "night" not in provenance:
        return f"continue with --resume {run_id}"
    night = resume_night_words(provenance["night"], provenance.get("suites"), store)
    return f"continue with: {night if whole_night else resume_words(run_id, store, command=asked_by(provenance))}"


NOT_CONTINUED = (
    "cannot be continued by a command: its skills or tasks are objects of a Python program; "
    "call es.evaluate there again, with the same store and resume"
)
"""Said of a run that is not finished and whose manifest `is_of_a_program`."""


def replay_words(provenance: Mapping[str, Any]) -> str:
    """How a replay is finished: its skills are checked out by a backfill, and only while that runs."""
    period = provenance.get("period", "of a commit")
    return f"is the period {period} of a backfill: make the same call of eval-skills backfill again, which continues it"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.10g}"
