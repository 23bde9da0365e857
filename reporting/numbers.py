"""How figures are shown to people, alone and as a sparkline. None is unknown, shown as a dash and never as zero.

What is shown as 0 has no sign, also where it is a little less: that is the ``z`` of the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from eval_skills.core.text import chance_text, percents_apart, plural

if TYPE_CHECKING:
    from eval_skills.core.diff.model import DifferenceInterval
    from eval_skills.core.models import ConfidenceInterval

UNKNOWN = "–"


def rate(value: float | None) -> str:
    """A share as ``85.0 %``; up to four decimals where fewer would call a rate 0 or 100 that is not."""
    return UNKNOWN if value is None else f"{_percent(value)} %"


def rate_beside(value: float | None, limit: float | None) -> str:
    """A rate with as many decimals as show that it is not what was asked for: ``69.97 %`` where that is 70.0 %."""
    return rate(value) if value is None or limit is None else f"{percents_apart(value, limit)[0]} %"


def whole_rate(value: float) -> str:
    """A share in whole percent, ``87 %``; likewise, with up to four decimals where it would be called 0, 100 or -100 and is not.

    What binary fractions add to 0 or 1 does not count.
    """
    return f"{_percent(round(value, 9), 0)} %"


def interval(value: ConfidenceInterval | DifferenceInterval | None) -> str:
    """The bounds as ``62.1 to 96.8 %``; those of a difference as ``-12.5 to +3.0 pp``."""
    from eval_skills.core.diff.model import DifferenceInterval

    if isinstance(value, DifferenceInterval):
        return f"{_signed_percent(value.lower)} to {points(value.upper)}"
    return UNKNOWN if value is None else f"{_percent(value.lower)} to {_percent(value.upper)} %"


METHODS = {
    "wilson": "Wilson's interval",
    "wilson_widened": "Wilson's interval, widened where it would be too narrow",
    "wilson_effective": "Wilson's interval for the number of independent trials that the items are worth",
    "wilson_tasks": "Wilson's interval, with tasks as trials",
    "cluster_bootstrap": "tasks drawn again and again (bootstrap)",
    "t": "Student's t",
    "constant": "all tasks moved alike",
}
"""What the names of methods that our reports have mean in words; see ``docs/explanation/statistics.md``."""


def methods(intervals: Iterable[ConfidenceInterval | DifferenceInterval]) -> list[str]:
    """How intervals were made, each way once: ``95 %, Wilson's interval``; a method of another program by its own name."""
    named = ((each.level, each.method or "method not recorded") for each in intervals)
    return list(dict.fromkeys(f"{level * 100:g} %, {METHODS.get(method, method)}" for level, method in named))


def score(value: float | None) -> str:
    """A score with four decimals: ``0.8125``."""
    return UNKNOWN if value is None else f"{value:z.4f}"


def p_value(value: float | None) -> str:
    """A p value with three significant digits, ``0.0312`` or ``2.4e-07``: no decimals are enough for one that is small."""
    return UNKNOWN if value is None else chance_text(value)


def milliseconds(value: float | None) -> str:
    """A time in ms: ``3.2 ms`` below 100, ``1,234 ms`` above."""
    if value is None:
        return UNKNOWN
    return f"{value:z.1f} ms" if value < 100 else f"{value:,.0f} ms"


def times(*values: float | None) -> str:
    """Times in ms as ``3.2 ms, 12.0 ms``; one dash where none is known."""
    return UNKNOWN if all(value is None for value in values) else ", ".join(map(milliseconds, values))


def duration(seconds: float) -> str:
    """A time as ``4.2 s``, ``2 min 5 s`` or ``1 h 2 min``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def usd(value: float | None) -> str:
    """An amount as ``$1.23``; with four significant digits below one dollar: ``$0.0001234``."""
    if value is None:
        return UNKNOWN
    if value >= 1 or value == 0:
        return f"${value:z,.2f}"
    if value < 1e-11:
        return f"${value:.1e}"
    text = f"{value:.12f}" if value < 1e-4 else f"{value:.4f}"
    return "$" + text.rstrip("0") if value < 1e-4 else "$" + text


def at_least(shown: str, unknown: int, of: int, noun: str = "item") -> str:
    """A sum of which a part is unknown: ``at least $0.0500, unknown of 7 of 8 items``; as it is where nothing of it is."""
    return f"at least {shown}, unknown of {unknown:,} of {plural(of, noun)}" if unknown else shown


def count(value: float | None) -> str:
    """A number of things: ``1,234``."""
    return UNKNOWN if value is None else f"{value:z,.0f}"


MOST_DECIMALS = 6
"""With so many decimals a difference that is still shown as 0 is one: what is left of it comes from adding binary fractions."""


FIGURES = (rate, interval, score, milliseconds, usd, count)
"""What the templates of pages and of Markdown write figures with, by these names."""


def signed(value: float, decimals: int, most: int = MOST_DECIMALS) -> str:
    """A difference with its sign, and with as many further decimals as show that it is not 0, `most` at most.

    What is 0 then has no sign: ``0.0``.
    """
    return _signed(value, decimals, most, lambda number: number != 0)


def points(difference: float | None) -> str:
    """A difference of rates as percentage points: ``-12.5 pp``; with further decimals where it would be 100, and is not."""
    return UNKNOWN if difference is None else f"{_signed_percent(difference)} pp"


_EXTREME = 1e5


def is_extreme(ratio: float) -> bool:
    """Whether only the order of magnitude of a ratio says something."""
    return ratio >= _EXTREME or 0 < ratio <= 1 / _EXTREME


def change(ratio: float) -> str:
    """What a ratio is in percent, ``-12.5 %``: -100.0 % is nothing afterwards; an extreme one as a factor, ``× 2.5e+17``."""
    return f"× {ratio:.2g}" if is_extreme(ratio) else f"{_signed_percent(ratio - 1)} %"


def _signed_percent(share: float) -> str:
    value = share * 100
    is_whole = abs(abs(value) - 100) < 10**-MOST_DECIMALS
    return _signed(value, 1, MOST_DECIMALS, lambda number: number != 0 and (is_whole or abs(number) != 100))


def _signed(value: float, decimals: int, most: int, is_enough: Callable[[float], bool]) -> str:
    text = enough_decimals(abs(value), decimals, most, is_enough)
    size = float(text.replace(",", ""))
    return f"{0:.{decimals}f}" if size == 0 else f"{'-' if value < 0 else '+'}{text}"


def _percent(value: float, fewest: int = 1) -> str:
    is_whole = value in (-1, 0, 1)
    return enough_decimals(value * 100, fewest, 4, lambda shown: is_whole or shown not in (-100, 0, 100))


def enough_decimals(value: float, fewest: int, most: int, is_enough: Callable[[float], bool]) -> str:
    """The number with `fewest` decimals, or with as many more, `most` at most, until what is shown of it `is_enough`."""
    for decimals in range(fewest, most + 1):
        text = f"{value:z,.{decimals}f}"
        if is_enough(float(text.replace(",", ""))):
            break
    return text


BARS = "▁▂▃▄▅▆▇█"
GAP = "·"


def sparkline(values: Sequence[float | None], *, top: float | None = None) -> str:
    """One bar per value, from 0 to `top` (None: the highest value). What lies outside is drawn at the edge; None is ``·``."""
    highest = max((value for value in values if value is not None), default=0.0) if top is None else top
    return "".join(GAP if value is None else _bar(value / highest if highest > 0 else 0.0) for value in values)


def _bar(share: float) -> str:
    return BARS[round(min(max(share, 0.0), 1.0) * (len(BARS) - 1))]
