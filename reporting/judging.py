"""How reliable judging models are, in words and figures, and the tables of them that every report for people has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from eval_skills.core.judging.preferences import PositionBias
from eval_skills.core.judging.report import CalibrationFacts, JudgedBy, JudgeFigures, LengthBias
from eval_skills.core.models import SkillCompletionReport, Summary
from eval_skills.core.statistics.agreement import Estimate
from eval_skills.core.text import p_is, plural
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import shortened

KEY = "judge"
"""The key of these figures in a report's `evaluator_metadata`."""

NOT_KNOWN = "unknown"

LENGTH_NOTE = (
    "Length bias is the rank correlation of an answer's length and its score (Spearman's ρ, from −1 to 1): 0 means that length "
    "says nothing about the score, and from 0.4 on, in either direction, it is strong, though longer answers may simply be "
    "better."
)


def estimate_rate(estimate: Estimate) -> str:
    """The bounds of a share as ``62.1 to 96.8 %``."""
    if estimate.lower is None or estimate.upper is None:
        return numbers.UNKNOWN
    lower, upper = (numbers.rate(bound).removesuffix(" %") for bound in (estimate.lower, estimate.upper))
    return f"{lower} to {upper} %"


def estimate_number(estimate: Estimate) -> str:
    """A figure as ``0.70 [0.56, 0.83]``; a dash where it is not defined. Only what is all or nothing is 1.00 or 0.00."""
    if estimate.value is None:
        return numbers.UNKNOWN
    if estimate.lower is None or estimate.upper is None:
        return _hundredths(estimate.value)
    return f"{_hundredths(estimate.value)} [{_hundredths(estimate.lower)}, {_hundredths(estimate.upper)}]"


def _hundredths(value: float) -> str:
    """``0.97``; with up to four decimals where two would be 1.00, 0.00 or -1.00, which it is not but for binary fractions."""
    is_whole = round(value, 9) in (-1, 0, 1)
    return numbers.enough_decimals(value, 2, 4, lambda shown: is_whole or shown not in (-1, 0, 1))


def position_line(bias: PositionBias, noun: str = "pair") -> str:
    """The position bias in a sentence; `noun` is what was judged in both orders."""
    won, agree = bias.first_place_share.value, numbers.rate(bias.consistent_share.value)
    first = "no verdict was for one of them" if won is None else f"the first one won {numbers.rate(won)} of the decided verdicts"
    p_value = f"p {numbers.UNKNOWN}" if bias.p_value is None else p_is(bias.p_value, 3)
    return f"position of the answer: {first}; both orders agree on {agree} of {plural(bias.pairs, noun)}; {p_value}"


def figures_in(report: SkillCompletionReport) -> JudgeFigures | None:
    """The judge figures in the report's metadata; None where there are none, or in an unknown form."""
    try:
        return JudgeFigures.model_validate(report.evaluator_metadata.get(KEY))
    except ValidationError:  # metadata are free: the report may come from another program
        return None


@dataclass(frozen=True, slots=True)
class Judging:
    """The judging of one skill; None is unknown. `found` is None where the judges are not known.

    `tokens` and `cost_usd` are what the models were paid for so many `requests`, apart from what the skill used; `unjudged` items
    are those at which they failed.
    """

    found: JudgeFigures | None
    tokens: int | None
    cost_usd: float | None
    unjudged: int | None
    requests: int | None = None

    @property
    def judges(self) -> list[JudgedBy]:
        """Who judged, or was to."""
        return self.found.judges if self.found is not None else []

    @property
    def corrected(self) -> Estimate | None:
        """The completion rate without the judges' known mistakes."""
        return self.found.corrected_completion if self.found is not None else None

    @property
    def paid(self) -> bool:
        """Whether models answered: what is not known of that is unknown then, and not nothing."""
        return self.tokens is not None or (self.found is not None and self.found.items > 0)


def judging_of(report: SkillCompletionReport) -> Judging | None:
    """The judging of the report's items; None where no model was asked about any."""
    found, cost = figures_in(report), report.token_cost
    if found is None and cost.judge_tokens is None and cost.judge_cost_usd is None:
        return None
    known = None if found is None else found.unjudged
    unjudged = report.summary.unjudged_items if known is None else known
    return Judging(found, cost.judge_tokens, cost.judge_cost_usd, unjudged, cost.judge_requests)


def paid_tokens(tokens: int | None, *, paid: bool) -> str:
    """The tokens of judging; ``unknown`` where they were used and not counted, a dash where none were."""
    return NOT_KNOWN if tokens is None and paid else numbers.count(tokens)


def paid_usd(cost_usd: float | None, *, paid: bool) -> str:
    """The cost of judging, likewise: a price that is not known is never 0."""
    return NOT_KNOWN if cost_usd is None and paid else numbers.usd(cost_usd)


def corrected_rate(estimate: Estimate | None) -> str:
    """``71.4 % (59.9 to 83.0 %)``."""
    return numbers.UNKNOWN if estimate is None else f"{numbers.rate(estimate.value)} ({estimate_rate(estimate)})"


def correlation(rho: float | None) -> str:
    """A figure from −1 to 1 as ``−0.14``."""
    if rho is None:
        return numbers.UNKNOWN
    return f"{rho:z.2f}".replace("-", "−")


def judging_figures(report: SkillCompletionReport) -> list[tuple[str, str]]:
    """What judging and playing users cost, for the figures of a skill; nothing where no model was asked."""
    judging = judging_of(report)
    if judging is None:
        return _simulation_figures(report)
    tokens, cost = paid_tokens(judging.tokens, paid=judging.paid), paid_usd(judging.cost_usd, paid=judging.paid)
    requests = [] if judging.requests is None else [("Requests for judging", numbers.count(judging.requests))]
    return [*requests, ("Tokens of judging", tokens), ("Cost of judging", cost), *_simulation_figures(report)]


def _simulation_figures(report: SkillCompletionReport) -> list[tuple[str, str]]:
    cost = report.token_cost
    if cost.user_requests is None:
        return []
    return [
        ("Requests for simulated users", numbers.count(cost.user_requests)),
        ("Tokens of simulated users", paid_tokens(cost.user_tokens, paid=True)),
        ("Cost of simulated users", paid_usd(cost.user_cost_usd, paid=True)),
    ]


def judging_line(report: SkillCompletionReport) -> str | None:
    """The judging of one skill in a line for a terminal; None where no model was asked."""
    judging = judging_of(report)
    if judging is None:
        return None
    parts = []
    if (found := judging.found) is not None:
        parts.append(f"{plural(found.items, 'item')} judged")
    parts += [f"{judging.unjudged:,} not judged"] if judging.unjudged else []
    if found is not None:
        parts += [f"{found.cached:,} from the cache"] if found.cached else []
        parts += [f"agreement {numbers.rate(found.agreement)}"] if found.agreement is not None else []
    parts += [plural(judging.requests, "request")] if judging.requests is not None else []
    names = ("tokens", "cost")
    amounts = paid_tokens(judging.tokens, paid=judging.paid), paid_usd(judging.cost_usd, paid=judging.paid)
    parts += [f"{name} {amount}" for name, amount in zip(names, amounts, strict=True)]
    return f"judging of {report.skill_key}: {', '.join(parts)}"


def judging_notes(report: SkillCompletionReport) -> list[str]:
    """Further notes on the judges of one skill, one sentence each."""
    found = figures_in(report)
    if found is None:
        return []
    return [
        _corrected(found, report.summary),
        _length(found.length_bias),
        *(f"{position_line(bias.figures).capitalize()} ({bias.model})." for bias in found.position_bias),
    ]


def _corrected(found: JudgeFigures, summary: Summary) -> str:
    if found.corrected_completion is None:
        return f"Completion is not corrected for the judge's mistakes: {found.corrected_reason}."
    rate, raw = corrected_rate(found.corrected_completion), numbers.rate(summary.completion_rate)
    missing = summary.missing_items
    without = f"; {plural(missing, 'item')} without a verdict not passed in both" if missing else ""
    unknown = sum((judge.calibration.unjudged or 0) for judge in found.judges if judge.calibration is not None)
    labels = f"; {plural(unknown, 'label')} of answers that the judge did not judge not counted" if unknown else ""
    return f"Judge-corrected completion: {rate}; the judge's verdicts as given: {raw}{without}{labels}."


def _length(bias: LengthBias) -> str:
    if bias.spearman is None:
        return f"Length bias: unknown ({bias.reason})."
    return f"Length bias: {correlation(bias.spearman)} ({bias.rating}) over {plural(bias.items or 0, 'item')}."


NAME_LENGTH = 200

JUDGED_NOTE = (
    "Judged: items that have a model's verdict, or whose claims it verified. Not judged: items at which the judge failed. "
    "Requests, tokens and cost are those of judging alone, failures included, apart from the skill's own; verifying claims "
    "beside another model's verdict is included in that model's sum."
)
CALIBRATED_NOTE = (
    "Kappa, sensitivity (passes what people pass) and specificity (fails what people fail) compare the judge with labels of "
    "people, with 95 % intervals. Answers that it did not judge say nothing about it."
)

_NOTES = {
    "Agreement": "Agreement is the mean share of a panel's members, or of one model's votes, that decide as the whole does.",
    "Length bias": LENGTH_NOTE,
    "Judge-corrected": (
        "Judge-corrected is the completion rate without the mistakes that the judge is known to make; its interval allows for "
        "how well they are known, and for what items without a verdict may be."
    ),
}
_OPTIONAL = frozenset({"Requests", "Agreement", "Judge-corrected", "Labels", "Kappa", "Sensitivity", "Specificity"})
"""Columns that are left out where no row has a value."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as people read it, with a `detail` in small print, and what it is sorted by; None is unknown.

    A cell of the kind ``text`` holds names, which are foreign text.
    """

    text: str
    value: float | str | None
    kind: Literal["text", "number"] = "number"
    detail: str = ""

    @property
    def line(self) -> str:
        """All of it where there is no small print: ``71.4 % (59.9 to 83.0 %)``."""
        return f"{self.text} ({self.detail})" if self.detail else self.text


@dataclass(frozen=True, slots=True)
class JudgingTable:
    """A table with a name before each row; `notes` say what its columns mean."""

    rows: list[tuple[str, dict[str, Cell]]]
    notes: list[str]

    @property
    def heads(self) -> dict[str, str]:
        """The titles of the columns, and the kind of each; the same in every row."""
        return {title: cell.kind for title, cell in self.rows[0][1].items()}


def skills_table(named: Sequence[tuple[str, SkillCompletionReport]]) -> JudgingTable | None:
    """A row per skill about which models were asked, in the order given; None where they were asked about none."""
    judged = [(name, _of_skill(report, judging)) for name, report in named if (judging := judging_of(report)) is not None]
    if not judged:
        return None
    rows = _without_empty(judged)
    return JudgingTable(rows, [JUDGED_NOTE, *(note for title, note in _NOTES.items() if title in rows[0][1])])


def judges_table(report: SkillCompletionReport) -> JudgingTable | None:
    """A row per judge of one skill; None where none is known."""
    judging = judging_of(report)
    if judging is None or not judging.judges:
        return None
    rows = _without_empty([(shortened(judge.model, NAME_LENGTH), _of_judge(judge)) for judge in judging.judges])
    return JudgingTable(rows, [CALIBRATED_NOTE] if "Kappa" in rows[0][1] else [])


def _without_empty(rows: list[tuple[str, dict[str, Cell]]]) -> list[tuple[str, dict[str, Cell]]]:
    empty = {title for title in _OPTIONAL if all(cells[title].value is None for _, cells in rows if title in cells)}
    return [(name, {title: cell for title, cell in cells.items() if title not in empty}) for name, cells in rows]


def _of_skill(report: SkillCompletionReport, judging: Judging) -> dict[str, Cell]:
    found, rate = judging.found, report.summary.known_completion
    names = "; ".join(dict.fromkeys(shortened(judge.model, NAME_LENGTH) for judge in judging.judges))
    return {
        "Judged by": Cell(names or numbers.UNKNOWN, names or None, "text"),
        **_counts(found, judging.unjudged),
        "Requests": Cell(numbers.count(judging.requests), judging.requests),
        **_paid(judging.tokens, judging.cost_usd, paid=judging.paid),
        **_agreement(found),
        "Length bias": _length_cell(None if found is None else found.length_bias),
        "Completion": Cell(numbers.rate(rate), rate),
        "Judge-corrected": _corrected_cell(judging.corrected),
    }


def _length_cell(bias: LengthBias | None) -> Cell:
    rho = None if bias is None else bias.spearman
    return Cell(correlation(rho), rho, detail=(bias.rating or "") if bias is not None else "")


def _corrected_cell(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(numbers.UNKNOWN, None)
    return Cell(numbers.rate(estimate.value), estimate.value, detail=estimate_rate(estimate))


def _of_judge(judge: JudgedBy) -> dict[str, Cell]:
    prompt = shortened(judge.prompt, NAME_LENGTH)
    facts = judge.calibration
    return {
        "Scorer and prompt": Cell(prompt, prompt, "text"),
        **_counts(judge, judge.unjudged),
        "Requests": Cell(numbers.count(judge.requests), judge.requests),
        **_paid(judge.tokens, judge.cost_usd, paid=judge.items > 0 or judge.tokens is not None),
        **_agreement(judge),
        "Labels": _labels_cell(facts),
        "Kappa": _estimated(facts.kappa if facts else None),
        "Sensitivity": _estimated(facts.sensitivity if facts else None),
        "Specificity": _estimated(facts.specificity if facts else None),
    }


def _labels_cell(facts: CalibrationFacts | None) -> Cell:
    if facts is None:
        return Cell(numbers.UNKNOWN, None)
    return Cell(numbers.count(facts.labels), facts.labels, detail=labels_left(facts.unjudged) or "")


def labels_left(unjudged: int | None) -> str | None:
    """``15 more not judged``: labels of answers that have no verdict of the judge; None where there are none that are known."""
    return f"{unjudged:,} more not judged" if unjudged else None


def _counts(found: JudgeFigures | JudgedBy | None, unjudged: int | None) -> dict[str, Cell]:
    counts = {
        "Judged": None if found is None else found.items,
        "Not judged": unjudged,
        "From cache": None if found is None else found.cached,
    }
    return {title: Cell(numbers.count(count), count) for title, count in counts.items()}


def _paid(tokens: int | None, cost_usd: float | None, *, paid: bool) -> dict[str, Cell]:
    return {"Tokens": Cell(paid_tokens(tokens, paid=paid), tokens), "Cost": Cell(paid_usd(cost_usd, paid=paid), cost_usd)}


def _agreement(found: JudgeFigures | JudgedBy | None) -> dict[str, Cell]:
    agreement = None if found is None else found.agreement
    return {"Agreement": Cell(numbers.rate(agreement), agreement)}


def _estimated(estimate: Estimate | None) -> Cell:
    return Cell(numbers.UNKNOWN if estimate is None else estimate_number(estimate), _value(estimate))


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
