"""``eval-skills history``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Own
from eval_skills.cli.context import briefly, current, existing_store, print_json, printable
from eval_skills.cli.options import SHOWN, PastResults, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eval_skills.cli.output.tables import Column
    from eval_skills.core.store import PastRun, Store
    from eval_skills.core.store.history import PastJudging
    from eval_skills.core.trend.attribution import RunChanges

CHANGED, ORIGIN, JUDGING, EFFECT = "changed", "origin", "judging", "effect"
SKILLS_SHOWN = 2


@briefly()
def history_command(
    *,
    limit: Annotated[int | None, option("limit", SHOWN)] = None,
    skill: Annotated[str | None, Parameter(group=SHOWN, help="Only runs of this skill: its id, or id@version")] = None,
    benchmark: Annotated[
        str | None,
        Own("narrows what is shown; the top level's says what is asked of skills"),
        Parameter(group=SHOWN, help="Only runs of this benchmark: its id, or id@version"),
    ] = None,
    all_: Annotated[
        bool,
        Parameter(group=SHOWN, name="--all", help="Also what was scored again, confirmed or monitored", show_default=False),
    ] = False,
    store: PastResults = None,
) -> int:
    """List past runs, newest first, and how to continue the unfinished ones.

    A run is unfinished when it was interrupted, and stopped when it reached one of its limits; what it had finished is kept.
    One whose items have landed and whose reports are missing is listed with "no reports", and the command that makes them anew.
    One of a night that was interrupted goes on with that night, also where the night ended between two runs. Behind the items of
    a run that was asked only some of its benchmark's tasks stands (part). Where there is room, a column says what changed since
    the run before it of the same benchmark and skill: skill, adapter, benchmark, scorer, judge, option, version, environment,
    commit.

    A run of skill-effect is named by its Agent Skill and its arms, and a column has the
    verdict against the first of them.

    Example: eval-skills history --limit 5 --benchmark coding-easy
    """
    from eval_skills.core.store import past_runs
    from eval_skills.core.trend.attribution import run_changes

    most = current().config({"limit": limit}).limit
    place = existing_store(store)
    runs = past_runs(place, limit=most, skill=skill, benchmark=benchmark, every_origin=all_)
    changes = run_changes(place, runs)
    if current().json:
        print_json([_entry(run, place, changes.get(run.run_id)) for run in runs])
    else:
        _show(runs, place, changes, every_origin=all_)
        if not runs and not all_ and past_runs(place, limit=1, skill=skill, benchmark=benchmark, every_origin=True):
            current().say("there are runs from traces, or later work on other runs; --all shows them")
    return 0


def _entry(run: PastRun, store: Store, changes: RunChanges | None) -> dict[str, Any]:
    from eval_skills.engine.stored_runs.continuation import continued_by, worked_at

    unfinished = run.state == "unfinished"
    return {
        "runId": run.run_id,
        "startedAt": run.started_at.isoformat(),
        "benchmark": run.benchmark,
        "skills": run.skills,
        "items": run.items,
        "plannedItems": run.planned_items,
        "bestCompletion": run.best_completion,
        "state": run.state,
        "stopped": run.stopped,
        "lacksReports": run.lacks_reports,
        "origin": run.origin,
        "judging": [_judged(each) for each in run.judging] or None,
        "effect": _effect_document(run),
        "changes": changes and _changes(changes),
        "beingEvaluated": worked_at(store, run.run_id, is_unfinished=unfinished),
        "resume": continued_by(store, run.run_id, is_unfinished=unfinished),
    }


def _effect_document(run: PastRun) -> dict[str, Any] | None:
    if run.experiment is None:
        return None
    left_out = {"night", "run"}
    found = [{name: said for name, said in each.to_json().items() if name not in left_out} for each in run.experiment.found]
    return {"names": run.experiment.names, "arms": run.experiment.arms, "comparisons": found}


def _judged(judging: PastJudging) -> dict[str, Any]:
    return {
        "skill": judging.skill,
        "judgeTokens": judging.judge_tokens,
        "judgeUSD": judging.judge_cost_usd,
        "unjudgedItems": judging.unjudged_items,
    }


def _changes(changes: RunChanges) -> dict[str, Any]:
    return {"since": changes.since, "changed": [change.to_json() | {"skill": skill} for skill, change in changes.found]}


def _show(runs: list[PastRun], store: Store, changes: Mapping[str, RunChanges], *, every_origin: bool) -> None:
    from eval_skills.cli.output.tables import print_table
    from eval_skills.engine.stored_runs.continuation import continued_by, why_not_continued, worked_at

    if not runs:
        current().say(f"no run in {store.path} {'matches' if store.run_ids() else 'yet'}")
        return
    shown = {
        JUDGING: any(run.judging for run in runs),
        EFFECT: any(run.experiment for run in runs),
        ORIGIN: every_origin,
    }
    columns = [column for column in _columns() if shown.get(column.name, True)]
    cells = [_cells(run) | _further(run, changes) for run in runs]
    print_table(columns, [[printable(row[column.name]) for column in columns] for row in cells])
    interrupted = dict[str, bool]()  # by command; several runs are of one night
    unfinished = {run.run_id: run.state == "unfinished" for run in runs}
    busy = {run_id: worked_at(store, run_id, is_unfinished=each) for run_id, each in unfinished.items()}
    for found in dict.fromkeys(filter(None, busy.values())):
        current().say(f"{found} is being evaluated just now")
    for run_id, is_unfinished in unfinished.items():
        if (command := continued_by(store, run_id, is_unfinished=is_unfinished)) is not None:
            interrupted[command] = interrupted.get(command, False) or is_unfinished
        elif is_unfinished and busy[run_id] is None:
            current().say(f"{run_id} {why_not_continued(store, run_id)}", style="yellow")
    if without := [run.run_id for run in runs if run.lacks_reports]:
        said = f"{without[0]} has" if len(without) == 1 else f"{without[0]} and {len(without) - 1} more have"
        again = f"eval-skills store verify --repair --store {quote(store.path)}"
        current().say(f"{said} no reports, so no figures; make them anew from the items with  {again}", style="yellow")
    for command, is_interrupted in interrupted.items():  # between two of its runs, a night that goes on looks like one that ended
        head = "continue with" if is_interrupted else "a night has no verdicts; unless it still goes on, continue with"
        current().say(f"{head}  {command}", style="yellow")


def _columns() -> list[Column]:
    """The run, its items, its best completion and its state are always there."""
    from eval_skills.cli.output.tables import Column

    return [
        Column("run"),
        Column("began (UTC)", drop=4),
        Column("benchmark", least=12, drop=1),
        Column("skills", least=12, drop=2),
        Column("items", right=True),
        Column("best", right=True),
        Column("state"),
        Column(JUDGING, right=True, drop=3),
        Column(EFFECT, drop=5),
        Column(ORIGIN, drop=5),
        Column(CHANGED, least=12, drop=6),
    ]


def _further(run: PastRun, changes: Mapping[str, RunChanges]) -> dict[str, str]:
    changed = _changed(changes.get(run.run_id))
    return {JUDGING: _judging(run), EFFECT: _effect(run), ORIGIN: run.origin, CHANGED: changed}


def _judging(run: PastRun) -> str:
    """What all its verdicts cost, and how many items have none because of the judge."""
    from eval_skills.reporting import numbers

    if not run.judging:
        return numbers.UNKNOWN
    from eval_skills.reporting.judging import paid_usd

    costs = [each.judge_cost_usd for each in run.judging]
    paid = any(each.judge_tokens is not None for each in run.judging)
    known = [cost for cost in costs if cost is not None]
    said = paid_usd(sum(known) if len(known) == len(costs) else None, paid=paid)
    unjudged = sum(each.unjudged_items or 0 for each in run.judging)
    return f"{said}, {unjudged:,} not judged" if unjudged else said


def _effect(run: PastRun) -> str:
    """What was found against the first arm: ``+78.6 pp better``; the others are in --json."""
    from eval_skills.reporting import numbers

    if run.experiment is None or not run.experiment.found:
        return numbers.UNKNOWN
    first = run.experiment.found[0]
    against = "" if first.against == "without" else f"{first.against}: "
    return f"{against}{numbers.points(first.difference)} {first.verdict}"


def _changed(changes: RunChanges | None) -> str:
    from eval_skills.reporting import numbers

    return numbers.UNKNOWN if changes is None else ", ".join(changes.kinds) or "nothing"


def _state(run: PastRun) -> str:
    if run.lacks_reports:
        return "no reports"
    return run.state if run.stopped is None else f"stopped: {run.stopped}"


def _cells(run: PastRun) -> dict[str, str]:
    from eval_skills.reporting import numbers

    items = f"{numbers.count(run.items)}/{numbers.count(run.planned_items)}"
    began = run.started_at.strftime("%Y-%m-%d %H:%M")
    rest = len(run.skills) - SKILLS_SHOWN
    skills = ", ".join(run.skills[:SKILLS_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    if run.experiment is not None:
        skills = f"{', '.join(run.experiment.names)}: {' '.join(run.experiment.arms)}"
    return {
        "run": run.run_id,
        "began (UTC)": began,
        "benchmark": run.benchmark or numbers.UNKNOWN,
        "skills": skills,
        "items": items if run.origin != "part" else f"{items} (part)",
        "best": numbers.rate(run.best_completion),
        "state": _state(run),
    }
