"""A page of every kind that there is, each with more rows than its screen shows at first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.models import ConfidenceInterval, SkillCompletionReport
from eval_skills.core.trend.trend import TrendPoint
from eval_skills.reporting.diff.report import DiffDocument
from eval_skills.reporting.diff.report import render_html as diff_page
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.skill_effect.document import render_html as effect_page
from eval_skills.reporting.trend.page import render as trend_page
from eval_skills.reporting.trend.series import shown
from eval_skills.reporting.triggers.document import render_html as triggers_page
from eval_skills.viewer.page import PLACES, TablesPage
from eval_skills.viewer.pages.runs import COLUMNS
from tests.core.skill_effect.test_effect import LOADED, NOT_LOADED, effect, report
from tests.core.test_triggers import triggers
from tests.end_to_end.browser.reports import context, item, skill, written

START = datetime(2026, 11, 1, 10, tzinfo=UTC)
WHY = [{"code": "NOT_EQUAL", "message": "4 is not 5"}]


def one_skill(folder: Path) -> Path:
    """One skill that failed 25 tasks, and passed one."""
    items = [item(f"t{number:02d}", status="fail", reasons=WHY, output="4", tags=["sums"]) for number in range(25)]
    return written(folder, [skill("alone", [*items, item("passed")])], context(min_completion=None))


def many_skills(folder: Path) -> Path:
    """Ten skills: one of 210 tasks with every outcome, the others of three tasks, and the last with a long name."""
    outcomes = ("pass", "fail", "error", "timeout")
    long = [
        item(
            f"task-{number:03d}", run, outcomes[(number + run) % 4], **({"errorKind": "infra"} if (number + run) % 4 == 2 else {})
        )
        for number in range(210)
        for run in range(2)
    ]
    few = [
        [item(f"task-{number:03d}", status="pass" if number < which % 3 else "fail") for number in range(3)] for which in range(9)
    ]
    names = [f"skill_{which}" for which in range(8)] + ["a_skill_with_a_name_" + "that_is_much_too_long_" * 3]
    skills = [skill("busy", long), *(skill(name, items) for name, items in zip(names, few, strict=True))]
    return written(folder, skills, context(ranks={f"{name}@1.0.0": 1 for name in names}))


def _side(letters: str) -> SkillCompletionReport:
    items = [
        item(f"t{number:02d}", status="pass" if letter == "p" else "fail", output=f"said {letter} {number}", reasons=WHY)
        for number, letter in enumerate(letters)
    ]
    return skill("loser", items)


def comparison(folder: Path) -> Path:
    """One skill that lost 45 tasks and won one."""
    document = DiffDocument(diff=diff_reports([_side("p" * 45 + "f")], [_side("f" * 45 + "p")]), before="main", after="branch")
    return _file(folder, "diff", diff_page(document))


def trend(folder: Path) -> Path:
    """60 runs of two versions."""
    points = [
        TrendPoint(
            timestamp=START + timedelta(days=day), run_id=f"run-{day}", skill_version=f"1.{day // 30}.0",
            benchmark_version="1.0.0", value=(value := 0.5 + day % 5 / 10),
            interval=ConfidenceInterval(lower=value / 2, upper=(1 + value) / 2, method="wilson"),
        )
        for day in range(60)
    ]  # fmt: skip
    metric = "completionRate"
    return _file(folder, "trend", trend_page({"sums": points}, skill="adder", metric=metric, shown=shown(metric)))


def trigger_rates(folder: Path) -> Path:
    """40 queries, right, wrong and unknown."""
    outcomes = ((True, "LLL"), (True, "-o-"), (False, "---"), (False, "LLL"), (False, "sxt"))
    return _file(folder, "triggers", triggers_page(triggers(*outcomes * 8)))


def skill_effect(folder: Path) -> Path:
    """60 tasks on two arms, of which some lost."""
    ours = {f"t{number:02d}": "pp" if number % 3 else "ff" for number in range(60)}
    theirs = {f"t{number:02d}": "ff" if number % 3 else "pp" for number in range(60)}
    return _file(
        folder, "effect", effect_page(effect(with_=report("with", ours, LOADED), without=report("without", theirs, NOT_LOADED)))
    )


def viewer_table(folder: Path) -> Path:
    """A page of the viewer with 130 rows, of which a screen shows 100."""
    titles: dict[str, str] = {
        "Run": "text",
        "State": "state",
        "Completion": "interval",
        "Tags": "names",
        "Cost": "usd",
        "Note": "text",
    }
    rows = [
        [f"run-{number:03d}", "passed" if number % 2 else "failed", [0.5, 0.25, 0.75], ["a", "b"], number / 7, f"note {number}"]
        for number in range(130)
    ]
    columns = [
        {"title": title, "kind": kind, "facet": title == "State", "wide": title == "Note"} for title, kind in titles.items()
    ]
    table = {
        "name": "runs", "title": "Runs", "sql": "SELECT 1", "sort": "Run", "selects": None, "note": "", "columns": columns,
        "rows": rows, "links": [[None] * len(titles)] * len(rows),
    }  # fmt: skip
    navigation = Navigation(places=PLACES, here="Runs", is_live=False)
    return _file(folder, "runs", TablesPage(title="Runs", tables=[table], facts={"Store": "eval-store"}).render(navigation))


def list_of_runs(folder: Path, skills: Sequence[str] = ("ticket-triage@1.4.0", "refund-assistant-with-tools@2.0.0")) -> Path:
    """The viewer's list of runs with long names and every column filled; those of names are as wide as people read them."""
    values = {
        "Run": "20261121T233824Z-3f9a", "State": "stopped: cost limit", "Began (UTC)": START.timestamp() * 1000,
        "Benchmark": "customer-support-conversations@10.2.31", "Best completion": [0.5, 0.25, 0.75, None],
        "Items": [11_000, 12_000], "Skills": list(skills), "Cost": [1234.5, 3, 12_000],
        "Labels": 120, "Origin": "confirm", "Forbidden tools": "called",
    }  # fmt: skip
    columns = [each.described([]) for each in COLUMNS]
    rows = [[values[each.title] for each in COLUMNS]] * 30
    links = [[None if each.kind == "names" else "run.html" for each in COLUMNS]] * len(rows)
    table = {
        "name": "runs", "title": "Runs", "sql": "SELECT 1", "sort": None, "selects": "comparison", "note": "", "columns": columns,
        "rows": rows, "links": links,
    }  # fmt: skip
    navigation = Navigation(places=PLACES, here="Runs", is_live=False)
    page = TablesPage(title="Runs", tables=[table], facts={"Store": "eval-store"}, script="runs_page")
    return _file(folder, "list-of-runs", page.render(navigation))


def _file(folder: Path, name: str, page: str) -> Path:
    file = folder / f"{name}.html"
    file.write_bytes(page.encode())
    return file


KINDS: dict[str, Callable[[Path], Path]] = {
    each.__name__: each
    for each in (one_skill, many_skills, comparison, trend, trigger_rates, skill_effect, viewer_table, list_of_runs)
}
