"""``eval-skills history``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.numbers import whole
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.store import PastRun, Store

COLUMNS = ("run", "began (UTC)", "benchmark", "skills", "items", "best", "state")
SKILLS_SHOWN = 2


def history_command(
    *,
    limit: Annotated[int | None, Parameter(converter=whole, help="Show at most this many [default: 20]")] = None,
    skill: Annotated[str | None, Parameter(help="Only runs of this skill: its id, or id@version")] = None,
    benchmark: Annotated[str | None, Parameter(help="Only runs of this benchmark: its id, or id@version")] = None,
    store: Annotated[str | None, Parameter(help="Where past results are [default: ./eval-store]")] = None,
) -> int:
    """List past runs, youngest first, with how to go on with the unfinished ones.

    Example: eval-skills history --limit 5 --benchmark coding-easy
    """
    from eval_skills.cli.stored import existing_store
    from eval_skills.cli.tables import print_json
    from eval_skills.core.store import past_runs

    most = current().config({"limit": limit}).limit
    place = existing_store(store)
    runs = past_runs(place, limit=most, skill=skill, benchmark=benchmark)
    if current().json:
        print_json([_entry(run, place) for run in runs])
    else:
        _show(runs, place)
    return 0


def resume_command(run_id: str, store: Store) -> str:
    """What to type to go on with a run."""
    return f"eval-skills eval --resume {run_id} --store {quote(store.path)}"


def _entry(run: PastRun, store: Store) -> dict[str, Any]:
    return {
        "runId": run.run_id,
        "startedAt": run.started_at.isoformat(),
        "benchmark": run.benchmark,
        "skills": run.skills,
        "items": run.items,
        "plannedItems": run.planned_items,
        "bestCompletion": run.best_completion,
        "state": run.state,
        "resume": resume_command(run.run_id, store) if run.state == "unfinished" else None,
    }


def _show(runs: list[PastRun], store: Store) -> None:
    from rich.table import Table
    from rich.text import Text

    if not runs:
        current().say(f"no run in {store.path} matches")
        return
    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(
            name, overflow="fold", no_wrap=name != "skills", justify="right" if name in {"items", "best"} else "left"
        )
    for run in runs:
        table.add_row(*map(Text, _cells(run)))
    current().out().print(table)
    for run in runs:
        if run.state == "unfinished":
            current().say(f"go on with  {resume_command(run.run_id, store)}", style="yellow")


def _cells(run: PastRun) -> list[str]:
    from eval_skills.reporting import figures

    items = f"{figures.count(run.items)}/{figures.count(run.planned_items)}"
    began = run.started_at.strftime("%Y-%m-%d %H:%M")
    rest = len(run.skills) - SKILLS_SHOWN
    skills = ", ".join(run.skills[:SKILLS_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    return [run.run_id, began, run.benchmark or figures.UNKNOWN, skills, items, figures.rate(run.best_completion), run.state]
