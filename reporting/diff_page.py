"""A comparison as one HTML file that opens without a network: verdicts first, then each skill's figures and flipped tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_skills.core.report_diff import DiffRow, Flip, FlipSide, SkillDiff
from eval_skills.reporting import diff_figures, figures
from eval_skills.reporting.diff_figures import flips_shown
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html_assets import page_assets
from eval_skills.reporting.html_template import html_template
from eval_skills.reporting.html_texts import TextTable
from eval_skills.reporting.sections import reason_text

if TYPE_CHECKING:
    from eval_skills.reporting.diff_report import DiffDocument

SCRIPTS = ("elements", "theme", "sorting", "arrows", "diff_bars", "diff_flips", "diff_page")
STYLES = ("style", "diff")
NAMES_SHOWN = 50
SHOWN = ("shown_row", "points", "verdict_text", "lineage", "statistics_lines", "sensitivity", "names_shown")


@dataclass(frozen=True, slots=True)
class NamedSkill:
    """A skill of the comparison under a name that no other has, and its figures by metric."""

    name: str
    diff: SkillDiff
    rows: dict[str, DiffRow]


def render(document: DiffDocument) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name, answer and reason as plain text.

    All flipped tasks are in it. Of a long answer about 2,000 characters are shown, or fewer where there are very many; the page
    says how much is missing, and the JSON form has all of it.
    """
    skills = _named(document.diff.skills)
    return html_template("diff.html.jinja").render(
        document=document,
        skills=skills,
        verdicts=Counter(diff_figures.verdict_text(each) for each in document.diff.skills),
        scale=_scale(document.diff.skills, document.diff.equivalence_margin),
        names_limit=NAMES_SHOWN,
        data=script_json(payload(skills)),
        assets=page_assets(SCRIPTS, STYLES, charts=False),
        **{name: getattr(diff_figures, name) for name in SHOWN},
    )


def payload(skills: Sequence[NamedSkill]) -> dict[str, Any]:
    """What the page's script reads: ``{"texts", "skills"}``; the sides of a flipped task refer to `texts` by index."""
    texts = TextTable()
    found = [{"name": each.name, "flips": [_flip(flip, texts) for flip in _in_order(each.diff)]} for each in skills]
    return {"texts": texts.rows(), "skills": found}


def _named(skills: Sequence[SkillDiff]) -> list[NamedSkill]:
    """``id@version``, and the benchmark and a number only where the name would stand for two."""
    keys = [f"{each.skill_id}@{each.skill_version}" for each in skills]
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


def _flip(flip: Flip, texts: TextTable) -> dict[str, Any]:
    sides = {"before": _side(flip.before, texts), "after": _side(flip.after, texts)}
    return {"task": visible(flip.task_id), "change": flip.change, **sides}


def _side(side: FlipSide, texts: TextTable) -> dict[str, Any]:
    said = [texts.add(reason_text(reason)) for reason in side.reasons]
    shown = {"status": side.status, "rate": figures.rate(side.completion_rate), "run": side.run_index + 1, "reasons": said}
    output = texts.add(side.output)
    return shown if output is None else {**shown, "output": output}


def _scale(skills: Sequence[SkillDiff], margin: float) -> float:
    """Where the bars of all skills end on both sides of 0: the farthest bound of an interval, and at least twice the margin."""
    bounds = [bound for each in skills if (found := each.statistics) for bound in (found.interval.lower, found.interval.upper)]
    return max(2 * margin, *(abs(bound) for bound in bounds), 0.0)
