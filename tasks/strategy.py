"""Which strategy selects: explicit options over a file over defaults. Plain: no Prefect."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.selection import SelectStrategy, load_strategy

DEFAULT_MIN_COMPLETION = 0.7


def chosen_strategy(
    file: str | None, *, min_completion: float | None = None, top_k: int | None = None, floor: float | None = None
) -> SelectStrategy:
    """The strategy of a file (or the default one), with what was said explicitly put over it.

    `floor` is the completion rate to ask for when neither the call nor the file names one.

    Raises:
        InputError: the file cannot be used.
    """
    strategy = load_strategy(Path(file)) if file else SelectStrategy()
    filters = strategy.filters
    lowest = next((rate for rate in (min_completion, filters.min_completion_rate, floor) if rate is not None), None)
    filters = filters.model_copy(update={"min_completion_rate": lowest})
    return strategy.model_copy(update={"filters": filters, "top_k": top_k if top_k is not None else strategy.top_k})
