"""A suite of a night as Markdown: its ranking with the verdicts, and the trend over its nights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.nightly.evidence import Classification, NightVerdict
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ranked
from eval_skills.reporting.escape import markdown
from eval_skills.reporting.numbers import sparkline
from eval_skills.reporting.ranking import caveats, completion_text, rank_text
from eval_skills.reporting.sections import forbidden_tool_alerts

SIGNS: dict[NightVerdict, str] = {
    "regressed": "🔴",
    "suspect": "🟠",
    "flaky": "🟡",
    "recovered": "🟢",
    "better": "🟢",
    "failed": "⚫",
    "gone": "⚫",
}
NIGHTS_SHOWN = 60


@dataclass(frozen=True, slots=True)
class ClassifiedSkill:
    """A skill's report of tonight, and how the night classified it."""

    report: SkillCompletionReport
    classification: Classification


def ranking_markdown(
    skills: Sequence[ClassifiedSkill],
    failures: Iterable[str],
    link: str | None,
    gone: Mapping[str, str] | None = None,
    remarks: Iterable[str] = (),
) -> str:
    """What failed to run, which skills are gone (by name, with what is known) and which forbidden tools were called, then the
    skills, best first, with their verdicts, and the `remarks` of the run; `link` leads to the flow run.
    """
    classifications = {skill.report.skill_key: skill.classification for skill in skills}
    lines = [f"- ⚫ **did not run**: {markdown(failure)}" for failure in failures]
    lines += [f"- {SIGNS['gone']} **{markdown(name)} is gone**: {markdown(known)}" for name, known in (gone or {}).items()]
    lines += [
        f"- 🚨 **forbidden tools**: {markdown(alert.line)}" for alert in forbidden_tool_alerts([skill.report for skill in skills])
    ]
    if skills:
        lines += ["", "| # | skill | completion | 95 % interval | errors | P95 | verdict |", "|--:|---|--:|--:|--:|--:|---|"]
    for place, report in enumerate(ranked(skill.report for skill in skills), start=1):
        summary, classification = report.summary, classifications[report.skill_key]
        cells = [
            rank_text(report, place),
            markdown(report.skill_key),
            markdown(completion_text(report)),
            numbers.interval(summary.known_interval),
            numbers.rate(summary.error_rate),
            numbers.milliseconds(report.latency.p95_ms),
            f"{SIGNS.get(classification.verdict, '')} {classification.verdict}: {markdown(classification.explanation)}".strip(),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if notes := [*caveats(ranked(skill.report for skill in skills)), *remarks]:
        lines += ["", *(f"- {markdown(note)}" for note in notes)]
    if link:
        lines += ["", f"[The flow run with all its steps]({link})"]
    return "\n".join(lines).strip() + "\n"


def trend_markdown(points: Mapping[str, Sequence[tuple[str, float]]]) -> str:
    """By skill the completion rates of its nights (id, rate), oldest first, as a line of bars from 0 to 100 %."""
    lines = ["| skill | nights | trend of completion | first | last | lowest |", "|---|--:|---|--:|--:|--:|"]
    for skill, nights in sorted(points.items()):
        rates = [rate for _, rate in nights[-NIGHTS_SHOWN:]]
        shown = [numbers.rate(rate) for rate in (rates[0], rates[-1], min(rates))]
        lines.append(f"| {markdown(skill)} | {len(rates)} | {sparkline(rates, top=1.0)} | {' | '.join(shown)} |")
    nights_of_all = sorted({night for nights in points.values() for night, _ in nights[-NIGHTS_SHOWN:]})
    if nights_of_all:
        lines += ["", f"From night `{nights_of_all[0]}` to `{nights_of_all[-1]}`, oldest on the left."]
    return "\n".join(lines) + "\n"
