"""``eval-skills trend``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Own
from eval_skills.cli.context import briefly, current, existing_store, print_json
from eval_skills.cli.options import RESULTS, SHOWN, PastResults, from_moment, to_moment, whole
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eval_skills.core.trend.trend import Trend, TrendPoint
    from eval_skills.reporting.trend.steps import Steps

PAGES = frozenset({".html", ".htm"})
PICTURES = frozenset({".png"})
ROWS_SHOWN = 60
"""Two months of nights: a year of them is too long for a terminal."""


@briefly()
def trend_command(
    *,
    skill: Annotated[
        str | None,
        Parameter(group=SHOWN, help="The skill: its id (every version), or id@version [default: the last value of each]"),
    ] = None,
    metric: Annotated[
        str,
        Parameter(
            group=SHOWN,
            help="completionRate, errorRate, p95Ms, compositeScore, partialScore, flakeRate, estimatedUSD; of judging models: "
            "judgeTokens, judgeUSD or unjudgedItems; of the arms of skill-effect: effect",
        ),
    ] = "completionRate",
    benchmark: Annotated[
        str | None,
        Own("narrows what is shown; the top level's says what is asked of skills"),
        Parameter(group=SHOWN, help="Only this benchmark: its id, or id@version [default: each]"),
    ] = None,
    since: Annotated[
        datetime | None,
        Parameter(group=SHOWN, converter=from_moment, help="Begin with this day (2026-01-01), or this long ago (12h, 30d, 4w)"),
    ] = None,
    until: Annotated[
        datetime | None,
        Parameter(group=SHOWN, converter=to_moment, help="End with this day (2026-01-31), or this long ago (12h, 30d, 4w)"),
    ] = None,
    limit: Annotated[
        int,
        Own("counts the runs of a line; find's counts skills, and history's runs of any kind"),
        Parameter(
            group=SHOWN, converter=whole, help="Show at most this many runs of a benchmark, and those where the level changed"
        ),
    ] = ROWS_SHOWN,
    output: Annotated[
        Path | None, Parameter(group=RESULTS, help="Draw the trend in this file, too: .html, or .png (needs eval-skills[plot])")
    ] = None,
    store: PastResults = None,
) -> int:
    """Show how a figure of a skill moved from run to run.

    Without --skill: the last value of every skill, whether it moved up (↑) or down (↓) since the run before, that of the same
    version where versions ran side by side, and the last lasting change of its level. With one, every run of the skill is
    a point, and there is a line for each benchmark. Where the level of the figure changed, and not just its last value, ▲ or ▼
    marks it and a line says what else changed there: skill, adapter, benchmark, task, scorer, judge, option, version,
    environment, commit. ○ marks a single run outside the band of the others, · a run at which something recorded changed
    although the version stayed. It takes 11 runs to have ▲ or ▼, and a series that is looked at every night has a false one in
    less than one case of ten. All runs count for that, and are in --json and in the drawing, however few --limit lets be shown.

    Example: eval-skills trend --skill calculator --metric p95Ms --since 30d
    """
    from eval_skills.cli.output.trend import show_every
    from eval_skills.core.trend.trend import check_metric, every_trend, trend
    from eval_skills.reporting.trend.steps import Steps

    check_metric(metric)
    _check(limit, output)
    place = existing_store(store)
    if skill is None:
        if output is not None:
            raise UsageError("--output draws the trend of one skill; name it with --skill")
        show_every(place, every_trend(place, metric=metric, benchmark=benchmark, since=since, until=until), metric)
        return 0
    found = trend(place, skill, metric=metric, benchmark=benchmark, since=since, until=until)
    changes = {name: Steps.of(place, skill, points, metric, newest=limit) for name, points in found.items()}
    if output is not None:
        _write(output, found, skill, metric, changes)
    _show(found, skill, metric, output, changes, limit)
    return 0


def _check(limit: int, output: Path | None) -> None:
    if limit < 1:
        raise UsageError(f"--limit {limit}: give at least 1, or leave it out for {ROWS_SHOWN}")
    if output is None:
        return
    from eval_skills.engine.definition.request import check_file
    from eval_skills.reporting.trend.picture import check_drawable

    if (ending := output.suffix.lower()) not in PAGES | PICTURES:
        raise UsageError(f"--output {output}: a trend is drawn as HTML or PNG; give a file that ends in .html or .png")
    if ending in PICTURES:
        check_drawable()
    check_file(output, "--output", "the trend")


def _write(output: Path, found: Trend, skill: str, metric: str, changes: Mapping[str, Steps]) -> None:
    from eval_skills.core.store.files import write_whole
    from eval_skills.reporting.trend import page as trend_page
    from eval_skills.reporting.trend import picture as trend_picture
    from eval_skills.reporting.trend.series import shown

    show = shown(metric)
    notes = {name: steps.annotations() for name, steps in changes.items()}
    if output.suffix.lower() in PICTURES:
        write_whole(output, trend_picture.render_png(found, skill=skill, metric=metric, shown=show, annotations=notes))
    else:
        write_whole(output, trend_page.render(found, skill=skill, metric=metric, shown=show, annotations=notes).encode())


def _show(found: Trend, skill: str, metric: str, output: Path | None, changes: Mapping[str, Steps], limit: int) -> None:
    from eval_skills.cli.output.trend import show_table

    if current().json:
        print_json(_document(found, skill, metric, output, changes))
        return
    for benchmark, points in found.items():
        _show_line(benchmark, points, skill, metric, changes[benchmark])
        show_table(points, metric, changes[benchmark], limit=limit)
    if not found:
        current().say(f"no report of {skill} in this time")
    if output is not None:
        current().say(f"written to {output}")


def _show_line(benchmark: str, points: list[TrendPoint], skill: str, metric: str, steps: Steps) -> None:
    from eval_skills.reporting.numbers import sparkline
    from eval_skills.reporting.trend.series import SHARES, shown, value_text

    show = shown(metric)
    seen = points[-current().out().width :]
    values = [point.whole_value for point in seen]
    if metric == "effect":  # from -1 to 1, so that no effect is in the middle
        values = [None if value is None else (value + 1) / 2 for value in values]
    line = sparkline(values, top=1.0 if metric in SHARES or metric == "effect" else None)
    first, last = value_text(points[0], show), value_text(points[-1], show)
    current().say(f"{skill} on {benchmark}, {metric}: {first} → {last}", style="bold")
    current().say(line)
    for note in steps.lines(seen, show):
        current().say(note)


def _document(found: Trend, skill: str, metric: str, output: Path | None, changes: Mapping[str, Steps]) -> dict[str, Any]:
    series = [
        {"benchmark": benchmark, "points": [_point(point) for point in points], **changes[benchmark].to_json()}
        for benchmark, points in found.items()
    ]
    return {"skill": skill, "metric": metric, "series": series, "file": str(output) if output else None}


def _point(point: TrendPoint) -> dict[str, Any]:
    from eval_skills.reporting.trend.steps import unknown_json

    return {
        "timestamp": point.timestamp.isoformat(),
        "runId": point.run_id,
        "skillVersion": point.skill_version,
        "benchmarkVersion": point.benchmark_version,
        "value": point.value,
        **unknown_json(point),
        "most": point.most,
        "least": point.least,
        "interval": point.interval.to_json() if point.interval else None,
    }
