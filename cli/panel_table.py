"""What ``compare-answers`` prints of a panel: each model's verdicts, and how far the panel agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.cli.session import current, printable
from eval_skills.reporting import figures

if TYPE_CHECKING:
    from eval_skills.core.preferences import MemberRates
    from eval_skills.tasks.comparison_summary import ComparisonSummary

_COLUMNS = ("model", "A", "B", "tie", "no verdict", "as the panel", "first place won", "orders agree")


def print_panel(summary: ComparisonSummary) -> None:
    """The table of the models, and the mean agreement; nothing where one vote is the verdict."""
    from rich.table import Table
    from rich.text import Text

    if not summary.members:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "model" else "right")
    for member in summary.members:
        table.add_row(Text(printable(member.model)), *_cells(member))
    current().out().print(table)
    if summary.figures.agreement is not None:
        who = "of the models" if len(summary.members) > 1 else "of its votes"
        share = figures.rate(summary.figures.agreement)
        current().say(f"agreement: of a judged pair {share} {who} say what its verdict is, on average")


def _cells(member: MemberRates) -> list[str]:
    found, bias = member.figures, member.figures.position_bias
    places = (None, None) if bias is None else (bias.first_place_share.value, bias.consistent_share.value)
    counts = (found.wins_a, found.wins_b, found.ties, found.errors)
    return [*(f"{count:,}" for count in counts), *map(figures.rate, (member.agreement, *places))]
