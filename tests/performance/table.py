"""Bars as aligned lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from tests.performance.bar import Bar

HEADINGS = ("row", "what", "measured", "bar", "margin", "verdict")


def table_of(bars: Sequence[Bar]) -> str:
    """One line for each bar under a line of headings, the figures to the right; what they were made of is below each."""
    cells = [HEADINGS, *map(_cells, bars)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    lines = [_aligned(HEADINGS, widths)]
    for bar, line in zip(bars, cells[1:], strict=True):
        lines.append(_aligned(line, widths))
        lines += [f"    {bar.detail}"] if bar.detail else []
    return "\n".join(lines)


def figure(value: float | None, unit: str) -> str:
    """A figure with its unit, in three digits or as a whole number; a dash where there is none."""
    if value is None:
        return "-"
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{number}{unit}" if unit == "x" else f"{number} {unit}"


def _cells(bar: Bar) -> tuple[str, ...]:
    limit = f"{'>=' if bar.at_least else '<='} {figure(bar.limit, bar.unit)}"
    margin = "-" if bar.margin is None else f"{bar.margin:.2f}"
    return bar.row, bar.what, figure(bar.measured, bar.unit), limit, margin, bar.verdict


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    left, right = str.ljust, str.rjust
    placed = [
        place(cell, width) for place, cell, width in zip((left, left, right, left, right, left), cells, widths, strict=True)
    ]
    return "  ".join(placed).rstrip()
