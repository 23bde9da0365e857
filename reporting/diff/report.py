"""A comparison of two evaluations as a document: Markdown and one self-contained HTML file for people, JSON for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.diff.model import DiffRow, Flip, FlipSide, ReportDiff, SkillDiff
from eval_skills.core.differences import answer_difference
from eval_skills.core.errors import UsageError
from eval_skills.core.text import chance_text, encodable, nearest
from eval_skills.reporting import numbers
from eval_skills.reporting.diff import figures as diff_figures
from eval_skills.reporting.diff.figures import flips_shown
from eval_skills.reporting.escape import json_document, script_json, visible
from eval_skills.reporting.html.differences import BUDGET, difference_json
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import html_template, page_assets
from eval_skills.reporting.html.runs import TextTable
from eval_skills.reporting.markdown import template
from eval_skills.reporting.sections import reason_text

FLIPS_SHOWN, EXCERPT_LENGTH = 20, 300
NAMES_IN_MARKDOWN, NAMES_IN_HTML = 10, 50

SCRIPTS = (
    "elements", "printing", "paging", "theme", "sorting", "arrows", "place", "differences", "csv", "exports", "diff_bars",
    "diff_flips", "diff_page",
)  # fmt: skip
STYLES = ("style", "diff")
SHOWN = (
    "shown_row", "points", "verdict_text", "lineage", "statistics_lines", "sensitivity", "names_shown", "tasks_apart",
    "summary_of_skills", "summary_of_tasks",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GateRates:
    """How often a gate on tasks like these fails where nothing changed, and where one skill lost ten points."""

    false_alarms: float
    found_ten_points: float

    def __str__(self) -> str:
        alarms, found = numbers.rate(self.false_alarms), numbers.rate(self.found_ten_points)
        return f"this gate fails in {alarms} of cases where nothing changed, and in {found} where 10 pp are lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDocument:
    """A comparison with what its sides are called.

    `before_made_by` and `after_made_by` name the skills, benchmark, judging models and tools of both sides, with their versions.
    `failures` says why the gate failed, empty where it passed, None where there was none; `gate_words` is what a gate that passed
    shows, `gate_rates` how often such a gate is wrong, where that is known. `remarks` are shown above everything.
    """

    diff: ReportDiff
    before: str
    after: str
    failures: list[str] | None = None
    gate_words: str = "no skill is worse"
    gate_rates: GateRates | None = None
    remarks: list[str] = field(default_factory=list)
    before_made_by: dict[str, str] = field(default_factory=dict)
    after_made_by: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON-ready data, with `labels`, `gate` and `remarks` beside it."""
        gate = None if self.failures is None else {"passed": not self.failures, "failures": self.failures}
        if gate is not None and self.gate_rates is not None:
            gate |= {"falseAlarms": self.gate_rates.false_alarms, "foundTenPoints": self.gate_rates.found_ten_points}
        labels = {"before": self.before, "after": self.after}
        made_by = {"before": self.before_made_by, "after": self.after_made_by}
        return {"labels": labels, "madeBy": made_by, **self.diff.to_json(), "gate": gate, "remarks": self.remarks}


@dataclass(frozen=True, slots=True)
class DiffFormat:
    """A way to write a comparison down: the ending of its file, and the function that renders it."""

    extension: str
    render: Callable[[DiffDocument], str]


def render_json(document: DiffDocument) -> str:
    """All of it, unrounded."""
    return json_document(document.to_json()) + "\n"


def render_markdown(document: DiffDocument) -> str:
    """Verdicts first, then each skill's figures, statistics and flipped tasks; lists are cut, and say by how much."""
    names = (
        *("shown_row", "points", "verdict_text", "lineage", "statistics_lines"),
        *("flips_shown", "side_text", "names_shown", "tasks_apart", "summary_of_skills", "summary_of_tasks"),
    )
    functions = {name: getattr(diff_figures, name) for name in names} | {"chance_text": chance_text}
    skills = diff_figures.worst_first(document.diff.skills)
    limits = {"flips_limit": FLIPS_SHOWN, "names_limit": NAMES_IN_MARKDOWN, "excerpt_length": EXCERPT_LENGTH}
    return encodable(template("diff.md.jinja").render(document=document, skills=skills, **functions, **limits))


@dataclass(frozen=True, slots=True)
class NamedSkill:
    """A skill of the comparison under a name that no other has, and its figures by metric."""

    name: str
    diff: SkillDiff
    rows: dict[str, DiffRow]


def render_html(document: DiffDocument, *, navigation: Navigation | None = None) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name, answer and reason as plain text.

    All flipped tasks are in it. Of a long answer about 2,000 characters are shown, or fewer where there are very many; the page
    says how much is missing, and the JSON form has all of it.
    """
    skills = _named(diff_figures.worst_first(document.diff.skills))
    return html_template("diff.html.jinja").render(
        document=document,
        nav=navigation,
        skills=skills,
        scale=_scale(document.diff.skills, document.diff.equivalence_margin),
        names_limit=NAMES_IN_HTML,
        data=script_json(payload(skills)),
        assets=page_assets(SCRIPTS, STYLES, libraries=()),
        **{name: getattr(diff_figures, name) for name in SHOWN},
    )


DIFF_FORMATS: dict[str, DiffFormat] = {
    "markdown": DiffFormat("md", render_markdown),
    "json": DiffFormat("json", render_json),
    "html": DiffFormat("html", render_html),
}


def diff_format_of(output: str) -> str:
    """The format that the ending of a file asks for: HTML or JSON; Markdown for any other, and for a folder."""
    return {".html": "html", ".htm": "html", ".json": "json"}.get(Path(output).suffix.lower(), "markdown")


def check_diff_formats(names: Iterable[str]) -> None:
    """Refuse an unknown format of a comparison.

    Raises:
        UsageError: the message names the valid ones and the nearest.
    """
    for name in names:
        if name not in DIFF_FORMATS:
            hint = nearest(name, DIFF_FORMATS)
            raise UsageError(f"unknown format {name!r} of a comparison{hint}; valid are {', '.join(DIFF_FORMATS)}")


def payload(skills: Sequence[NamedSkill]) -> dict[str, Any]:
    """What the page's script reads: ``{"texts", "skills"}``; the sides of a flipped task refer to `texts` by index.

    A flip has the `difference` of its answers, as long as all of them together take at most `BUDGET` bytes.
    """
    texts, differences = TextTable(), _Differences()
    found = [
        {
            "name": each.name,
            "verdict": each.diff.verdict or each.diff.change,
            "flips": [_flip(flip, texts, differences) for flip in _in_order(each.diff)],
        }
        for each in skills
    ]
    return {"texts": texts.rows(), "skills": found}


@dataclass(slots=True)
class _Differences:
    left: int = BUDGET

    def of(self, flip: Flip) -> dict[str, Any]:
        """How the later answer differs from the earlier one; where the budget is spent, only that this is not shown."""
        before, after = flip.before.output, flip.after.output
        if before is None or after is None or before == after:
            return {}
        if self.left <= 0:
            return {
                "difference": {"notes": ["not compared: the page has too many differences; eval-skills show has each answer"]}
            }
        difference = answer_difference(before, after)
        if difference.is_empty:
            return {}
        found = difference_json(difference)
        self.left -= len(script_json(found).encode())
        return {"difference": found}


def _named(skills: Sequence[SkillDiff]) -> list[NamedSkill]:
    """``id@version``, and the benchmark and a number only where the name would stand for two."""
    keys = [each.skill_key for each in skills]
    often = Counter(keys)
    seen: Counter[str] = Counter()
    named = []
    for key, each in zip(keys, skills, strict=True):
        name = key if often[key] == 1 else f"{key} on {each.benchmark_id}"
        seen[name] += 1
        unique = visible(name if seen[name] == 1 else f"{name} #{seen[name]}")
        named.append(NamedSkill(unique, each, {row.metric: row for row in each.rows}))
    return named


def _in_order(skill: SkillDiff) -> list[Flip]:
    return flips_shown(skill, len(skill.flips))[0]


def _flip(flip: Flip, texts: TextTable, differences: _Differences) -> dict[str, Any]:
    sides = {"before": _side(flip.before, texts), "after": _side(flip.after, texts)}
    return {"task": visible(flip.task_id), "change": flip.change, **sides, **differences.of(flip)}


def _side(side: FlipSide, texts: TextTable) -> dict[str, Any]:
    said = [texts.add(reason_text(reason)) for reason in side.reasons]
    shown = {"status": side.status, "rate": numbers.rate(side.completion_rate), "run": side.run_index + 1, "reasons": said}
    shown |= {"runs": side.runs} if side.runs else {}
    output = texts.add(side.output)
    return shown if output is None else {**shown, "output": output}


def _scale(skills: Sequence[SkillDiff], margin: float) -> float:
    """Where the bars of all skills end on both sides of 0: the farthest bound of an interval, and at least twice the margin."""
    bounds = [bound for each in skills if (found := each.statistics) for bound in (found.interval.lower, found.interval.upper)]
    return max(2 * margin, *(abs(bound) for bound in bounds), 0.0)
