"""What `backfill` prints: a row per period and skill, a line of bars per skill, and what there is to know beside."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel
from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.tables import NO_LIMIT
from eval_skills.core.store import COMPARISON_SCHEMA
from eval_skills.core.text import skill_key_of
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.numbers import sparkline

if TYPE_CHECKING:
    from eval_skills.engine.backfill.summary import BackfillSummary

COLUMNS = ("period", "skill", "benchmark", "completion", "change", "p", "verdict")
COLOURS = {"better": "green", "worse": "red"}


def show_backfill(summary: BackfillSummary, output: Path | None) -> None:
    """The comparisons on stdout, as one JSON document in a ``--json`` call; remarks on stderr."""
    for remark in summary.remarks:
        current().remark(visible_line(remark))
    if current().json:
        print_json(_document(summary, output))
        return
    current().out(pipe_width=NO_LIMIT).print(_table(summary.rows))
    for name, points in summary.trend().items():
        bars = sparkline([point.value for point in points][-current().out().width :], top=1.0)
        current().say(f"{visible_line(name)}: {numbers.rate(points[0].value)} → {numbers.rate(points[-1].value)}", style="bold")
        current().say(bars)
    current().say(summary.line, style="" if summary.done else "green")
    if (line := summary.unjudged_line) is not None:
        current().say(visible_line(line), style="red")
    current().say_stored(summary.request.store, "table comparisons")
    if output is not None:
        current().say(f"trend   {output}")


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, overflow="fold", justify="right" if name in {"completion", "change", "p"} else "left")
    for row in rows:
        table.add_row(*(Text(visible_line(cell), style=COLOURS.get(cell, "")) for cell in _cells(row)))
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    if not row.get("skill_id"):
        return [row["period"], numbers.UNKNOWN, "", "", "", "", row.get("explanation") or ""]
    delta = row.get("completion_delta")
    unjudged = row.get("unjudged_items") or 0
    return [
        f"{row['period']} ({unjudged:,} not judged)" if unjudged else row["period"],
        skill_key_of(row),
        row["benchmark_id"],
        numbers.rate(row["completion_rate"]),
        numbers.UNKNOWN if delta is None else numbers.points(delta),
        numbers.p_value(row.get("adjusted_p")),
        row.get("verdict") or "first",
    ]


def _document(summary: BackfillSummary, output: Path | None) -> dict[str, Any]:
    return {
        "mode": summary.request.mode,
        "every": summary.request.every,
        "summary": summary.line,
        "done": summary.done,
        "upToDate": summary.up_to_date,
        "comparisons": [_camel(row) for row in summary.rows],
        "unjudged": summary.unjudged,
        "judging": [line] if (line := summary.unjudged_line) is not None else [],
        "store": summary.request.store,
        "flowRunPage": current().flow_run_page,
        "file": str(output) if output else None,
        "remarks": summary.remarks,
    }


def _camel(row: dict[str, Any]) -> dict[str, Any]:
    return {to_camel(name): _plain(row.get(name)) for name in COMPARISON_SCHEMA.names}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
