"""The trend of one figure as a PNG, for a slide or a chat. Drawn by matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from eval_skills.core.errors import UsageError
from eval_skills.core.trend.trend import Trend, TrendPoint
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.trend.series import SHARES, Annotations, Series, trend_series, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE_IN, DPI = (10.0, 4.0), 150
MOST_BENCHMARKS = 20
MOST_VERSIONS = 8
LABEL_LENGTH = 60
LABEL_ROWS = (1.02, 1.075)
"""Heights above the axes, which are 1 high."""
LETTER_WIDTH = 0.0075
"""About that of a letter of a mark's label, in widths of the axes."""
COLOURS = ("#0b57b0", "#b3500f", "#176b39", "#7443b8", "#a3246e", "#0f6b75")
SHAPES = ("o", "D", "^", "s")
STROKES = {"version": "#57606c", "benchmark": "#8f4d00", "note": "#b3262d"}
_GAP = float("nan")
"""What the drawing library leaves out; no figure is ever this."""

Shown = Callable[[float | None], str]


def check_drawable() -> None:
    """Refuse to draw where nothing can.

    Raises:
        UsageError: matplotlib is not installed; the message says how to, and what works without it.
    """
    try:
        import matplotlib  # noqa: F401 - asked whether it is there
    except ImportError:
        raise UsageError(
            "a PNG is drawn by matplotlib, which is not installed; pip install 'eval-skills[plot]', or name an .html file"
        ) from None


def render_png(trend: Trend, *, skill: str, metric: str, shown: Shown, annotations: Annotations | None = None) -> bytes:
    """The picture, 10 × 4 in at 150 dpi for each benchmark, with the points, intervals and marks of `trend_page.render`.

    A character that the font does not have is shown as ``\\uXXXX``. The same trend gives the same bytes.

    Raises:
        UsageError: matplotlib is not installed, or there are more than `MOST_BENCHMARKS` benchmarks.
    """
    check_drawable()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    series = trend_series(trend, annotations)
    if len(series) > MOST_BENCHMARKS:
        raise UsageError(
            f"a PNG holds up to {MOST_BENCHMARKS} benchmarks, and {skill} has {len(series)}; choose one with --benchmark"
        )
    figure = Figure(figsize=(SIZE_IN[0], SIZE_IN[1] * max(1, len(series))), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    _draw(figure, series, skill, metric, shown)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=DPI, metadata={"Software": None})
    return picture.getvalue()


def _draw(figure: Figure, series: Sequence[Series], skill: str, metric: str, shown: Shown) -> None:
    if not series:
        figure.text(0.5, 0.5, "No report in this time.", ha="center")
    for number, each in enumerate(series, start=1):
        axes = figure.add_subplot(len(series), 1, number)
        axes.set_title(_label(f"{skill} on {each.benchmark}: {metric}"), loc="left", fontsize=11, pad=32, parse_math=False)
        _draw_series(axes, each)
        _dress(axes, each, metric, shown)
        _draw_marks(axes, each)


def _draw_series(axes: Axes, series: Series) -> None:
    if series.successive and len(series.versions) > 1:
        axes.plot(*_placed(series.points), color="#57606c", alpha=0.5, linewidth=1, linestyle="--", zorder=1)
    for number, version in enumerate(series.versions):
        colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
        points = [point for point in series.points if point.skill_version == version]
        moments, values = _placed(points)
        strokes = axes.plot(moments, values, color=colour, marker=shape, markersize=5, linewidth=1.6, clip_on=False, zorder=3)
        strokes[0].set_label(_label(version))
        lower, upper = _bounds(points)
        axes.fill_between(moments, lower, upper, color=colour, alpha=0.14, linewidth=0, zorder=1)
        axes.vlines(moments, lower, upper, color=colour, alpha=0.5, linewidth=1.2, zorder=2)


def _placed(points: Sequence[TrendPoint]) -> tuple[list[float], list[float]]:
    return _days(points), [_GAP if point.whole_value is None else point.whole_value for point in points]


def _bounds(points: Sequence[TrendPoint]) -> tuple[list[float], list[float]]:
    intervals = [point.interval for point in points]
    return [each.lower if each else _GAP for each in intervals], [each.upper if each else _GAP for each in intervals]


def _days(points: Sequence[TrendPoint]) -> list[float]:
    return [_day(point.timestamp) for point in points]


def _day(moment: datetime) -> float:
    """Days since 1970, which is how the drawing library counts dates."""
    return moment.timestamp() / 86_400


def _draw_marks(axes: Axes, series: Series) -> None:
    """Lines with their labels in two rows; one that would cover another in both is left out, its line is not."""
    low, high = axes.get_xlim()
    free = [low - high] * len(LABEL_ROWS)
    for mark in series.marks:
        at, said = _day(mark.timestamp), _label(mark.label, 28)
        axes.axvline(at, color=STROKES[mark.kind], linestyle="--", linewidth=1, zorder=0)
        half = len(said) * LETTER_WIDTH * (high - low) / 2
        row = next((row for row, end in enumerate(free) if end < at - half), None)
        if row is not None:
            free[row] = at + half
            _write(axes, at, LABEL_ROWS[row], said, STROKES[mark.kind])


def _write(axes: Axes, at: float, height: float, said: str, colour: str) -> None:
    place = axes.get_xaxis_transform()
    axes.text(at, height, said, transform=place, ha="center", fontsize=8, color=colour).set_parse_math(False)


def _dress(axes: Axes, series: Series, metric: str, shown: Shown) -> None:
    """Axes, grid and legend."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter

    locator = AutoDateLocator(tz=UTC, maxticks=9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value).replace("$", r"\$")))
    low, high = min(_days(series.points)), max(_days(series.points))
    room = (high - low) * 0.04 or 1 / 24
    axes.set_xlim(low - room, high + room)
    lowest, highest = axes.get_ylim()
    axes.set_ylim(min(lowest, 0) if unit(metric) == "difference" else 0, 1.02 if metric in SHARES else max(highest, 0))
    axes.grid(color="#dbe0e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("UTC", fontsize=8)
    axes.tick_params(labelsize=9)
    if 1 < len(series.versions) <= MOST_VERSIONS:
        legend = axes.legend(
            title="version", fontsize=8, title_fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def _label(text: str, longest: int = LABEL_LENGTH) -> str:
    """Any text on one line in the letters of the font; what is longer than this is cut."""
    from matplotlib.font_manager import findfont, get_font

    letters = get_font(findfont("DejaVu Sans")).get_charmap()
    shown = "".join(each if ord(each) in letters else f"\\u{ord(each):04x}" for each in visible_line(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
