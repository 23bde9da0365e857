"""What ``compare-answers`` and ``judge calibrate`` print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel
from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.output.tables import bare_table
from eval_skills.core.text import one_line, plural
from eval_skills.reporting import numbers
from eval_skills.reporting.judging import estimate_number, estimate_rate, labels_left, position_line

if TYPE_CHECKING:
    from eval_skills.core.judging.calibration import Calibration
    from eval_skills.core.judging.preferences import MemberRates
    from eval_skills.engine.calibration.calibrate import CalibrationOutcome
    from eval_skills.engine.comparison.summary import ComparisonSummary

DECIDING_SHOWN, REASON_LENGTH = 5, 80

_SHOWN = (
    "task_id", "run_index", "outcome", "a_first", "b_first", "reasoning_a_first", "reasoning_b_first", "error_message",
    "judge_agreement",
)  # fmt: skip


def show_comparison(summary: ComparisonSummary) -> None:
    """The win rates, what the place did, and the verdict; or one JSON document."""
    if current().json:
        print_json(_document(summary))
        return
    found = summary.figures
    say = current().say
    say(f"A       {summary.skill_a}   run {summary.run_a}")
    say(f"B       {summary.skill_b}   run {summary.run_b}")
    say(f"judge   {summary.model} ({summary.prompt}) on {summary.benchmark}")
    _print_rates(summary)
    say(_ties(summary))
    if found.position_bias is not None:
        say(position_line(found.position_bias, summary.noun))
    print_panel(summary)
    for side, count in (("A", found.forfeits_a), ("B", found.forfeits_b)):
        if count:
            say(f"{plural(count, 'pair')} lost by {side} without being judged: it failed to answer", style="yellow")
    if summary.unanswered:
        say(f"{plural(summary.unanswered, 'pair')} open: something else than the skill kept an answer away", style="yellow")
    _print_deciding(summary)
    say(summary.line, style="green" if found.verdict != "undecided" else "")
    if summary.judged_before:
        say(f"{plural(summary.judged_before, 'pair')} judged before: no model was asked; --no-judge-cache asks again")
    for line in summary.judging:
        say(line, style="" if summary.is_complete or line.startswith("judging: ") else "red")
    if summary.has_landed:
        current().say_stored(summary.store, f"comparison {summary.comparison_id}")
    elif summary.is_complete:
        current().say_stored(summary.store, "nothing landed: no pair has two answers to judge")


def _ties(summary: ComparisonSummary) -> str:
    found = summary.figures
    if not found.ties:
        return "no ties"
    kinds = [f"{found.disagreements} where the orders disagree", f"{found.identical} equal answers"]
    kinds += [f"{found.split} without a majority"] if summary.members else []
    return f"{plural(found.ties, 'tie')}: {', '.join(kinds)}"


def _print_rates(summary: ComparisonSummary) -> None:
    found = summary.figures
    table = bare_table()
    for name in ("", "pairs", "share", "95 % interval"):
        table.add_column(name, justify="left" if not name else "right")
    for name, count, rate in (
        ("A is better", found.wins_a, found.win_rate_a),
        ("B is better", found.wins_b, found.win_rate_b),
        ("tie", found.ties, found.tie_rate),
    ):
        table.add_row(name, f"{count:,}", numbers.rate(rate.value), estimate_rate(rate))
    current().out().print(table)


def _print_deciding(summary: ComparisonSummary) -> None:
    """The first tasks that one side won in both orders, with what was said of them."""
    rows = [row for row in summary.rows if row["outcome"] in ("a", "b")]
    if not rows:
        return
    table = bare_table()
    for name in ("task that decided", "better", "because"):
        table.add_column(name)
    for row in rows[:DECIDING_SHOWN]:
        task, why = f"{row['task_id']}#{row['run_index'] + 1}", one_line(row["reasoning_a_first"] or "", REASON_LENGTH)
        table.add_row(Text(printable(task)), row["outcome"].upper(), Text(printable(why)))
    current().out().print(table)
    if len(rows) > DECIDING_SHOWN:
        current().say(f"… and {plural(len(rows) - DECIDING_SHOWN, 'pair')} more; --json has them all")


def _document(summary: ComparisonSummary) -> dict[str, Any]:
    spent = summary.spent
    return {
        "comparisonId": summary.comparison_id,
        "landed": summary.has_landed,
        "a": {"runId": summary.run_a, "skill": summary.skill_a},
        "b": {"runId": summary.run_b, "skill": summary.skill_b},
        "benchmark": summary.benchmark,
        "judge": {"model": summary.model, "prompt": summary.prompt},
        "panel": [each.to_json() for each in summary.members],
        "summary": summary.line,
        "figures": summary.figures.to_json(),
        "unanswered": summary.unanswered,
        "judging": {"requests": spent.asked, "cached": spent.cached, "tokens": spent.tokens, "costUsd": spent.cost_usd},
        "judgedBefore": summary.judged_before,
        "unjudged": summary.figures.errors,
        "pairs": [_pair(row) for row in summary.rows],
        "store": summary.store,
        "flowRunPage": current().flow_run_page,
        "remarks": [*summary.remarks, *summary.judging],
    }


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    votes = [_camel(vote) for vote in row.get("votes") or ()]
    return _camel({name: row.get(name) for name in _SHOWN}) | {"votes": votes}


def _camel(row: dict[str, Any]) -> dict[str, Any]:
    return {to_camel(name): value for name, value in row.items()}


_COLUMNS = ("model", "A", "B", "tie", "no verdict", "as the panel", "first place won", "orders agree")


def print_panel(summary: ComparisonSummary) -> None:
    """The table of the models, and the mean agreement; nothing where one vote is the verdict."""
    if not summary.members:
        return
    table = bare_table()
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "model" else "right")
    for member in summary.members:
        table.add_row(Text(printable(member.model)), *_cells(member))
    current().out().print(table)
    if summary.figures.agreement is not None:
        who = "of the models" if len(summary.members) > 1 else "of its votes"
        share = numbers.rate(summary.figures.agreement)
        current().say(f"agreement: of a judged pair {share} {who} say what its verdict is, on average")


def _cells(member: MemberRates) -> list[str]:
    found, bias = member.figures, member.figures.position_bias
    places = (None, None) if bias is None else (bias.first_place_share.value, bias.consistent_share.value)
    counts = (found.wins_a, found.wins_b, found.ties, found.errors)
    return [*(f"{count:,}" for count in counts), *map(numbers.rate, (member.agreement, *places))]


_FIGURES = {
    "accuracy": "accuracy",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "quadratic-weighted kappa",
    "spearman": "Spearman's rho",
    "sensitivity": "sensitivity (passes what people pass)",
    "specificity": "specificity (fails what people fail)",
}


def show_calibrations(outcome: CalibrationOutcome) -> None:
    """Per judge the figures and the table behind them; or one JSON document."""
    for remark in outcome.remarks:
        current().remark(remark)
    if current().json:
        found = [_calibration(name, calibration) for name, calibration in outcome.calibrations.items()]
        print_json({"calibrations": found, "store": outcome.store, "remarks": outcome.remarks})
        return
    for name, calibration in outcome.calibrations.items():
        _show_calibration(calibration)
        current().say(f"store   {outcome.store}   calibration {name}")


def _show_calibration(calibration: Calibration) -> None:
    say = current().say
    say(f"judge   {calibration.model} ({calibration.prompt}) on {calibration.benchmark_id}@{calibration.benchmark_version}")
    left = f"; {more}" if (more := labels_left(calibration.unjudged)) else ""
    say(f"labels  {calibration.labels:,} of {plural(calibration.tasks, 'task')}{left}")
    _print([(title, estimate_number(getattr(calibration, name))) for name, title in _FIGURES.items()], ("", "95 % interval"))
    (ff, fp), (pf, pp) = calibration.table
    _print([("people: fail", f"{ff:,}", f"{fp:,}"), ("people: pass", f"{pf:,}", f"{pp:,}")], ("", "judge: fail", "judge: pass"))
    if (why := calibration.uncorrectable) is not None:
        say(f"its completion rates are not corrected: {why}", style="yellow")
    else:
        say("reports of this benchmark, model and prompt now show the judge-corrected completion rate, too", style="green")


def _print(rows: list[tuple[str, ...]], names: tuple[str, ...]) -> None:
    table = bare_table()
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        table.add_row(*row)
    current().out().print(table)


def _calibration(calibration_id: str, calibration: Calibration) -> dict[str, Any]:
    correctable = {"correctable": calibration.uncorrectable is None, "uncorrectable": calibration.uncorrectable}
    return {"calibrationId": calibration_id, **calibration.to_json(), **correctable}
