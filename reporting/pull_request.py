"""An evaluation as a comment of a pull request on GitHub, and as the check beside it.

GitHub makes links and notifications of what a comment says: ``@name`` notifies a person, ``#12`` refers to an issue, and HTML,
images and addresses become what they are. It leaves alone what stands in code. So every text that is not ours (names of skills
and tasks, answers, reasons, sentences that quote them) stands in a code span or in a fenced block, with a fence that it does not
contain, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.diff.gate import forbidden_failures
from eval_skills.core.errors import UsageError
from eval_skills.core.text import chance_text, encodable, natural_order, percents_apart, plural, unusable_skills
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ReportContext, models_failed, ranked
from eval_skills.reporting.diff.figures import (
    counts_of_skills,
    lineage,
    shown_row,
    side_text,
    statistics_lines,
    verdict_text,
    worst_first,
)
from eval_skills.reporting.escape import shortened, visible, visible_line
from eval_skills.reporting.numbers import UNKNOWN
from eval_skills.reporting.sections import reason_text, reasons

if TYPE_CHECKING:
    from eval_skills.core.diff.model import Flip, FlipSide, SkillDiff
    from eval_skills.core.models import SkillCompletionReport
    from eval_skills.reporting.diff.report import DiffDocument

LIMIT = 60_000
"""So long is a comment at most, in UTF-16 units, as GitHub may count them; it takes 65,536 characters."""

SKILLS_SHOWN, FLIPS_SHOWN, ANSWERS_SHOWN, SENTENCES_SHOWN, EXPLAINED = 50, 20, 10, 10, 10
NAME_LENGTH, SENTENCE_LENGTH, ANSWER_LENGTH = 100, 400, 600

Conclusion = Literal["success", "failure", "neutral"]


@dataclass(frozen=True, slots=True)
class Comment:
    """What is posted: the `body` in Markdown, whose first line is the `marker` that no other comment of this key begins with.

    `title` is the result in one plain line without foreign text. `conclusion` is that of a check: ``failure`` where a gate failed
    or could not be evaluated, ``success`` where one passed, ``neutral`` where there was none. `failures` says why, in sentences.
    """

    marker: str
    title: str
    conclusion: Conclusion
    body: str
    failures: list[str]

    def to_json(self) -> dict[str, Any]:
        """As JSON-ready data, which the action that posts it reads."""
        names = ("marker", "title", "conclusion", "body", "failures")
        return {name: getattr(self, name) for name in names}


def comment_of(
    reports: Sequence[SkillCompletionReport],
    context: ReportContext,
    *,
    compared: DiffDocument | None = None,
    key: str | None = None,
    remarks: Sequence[str] = (),
    page: str | None = None,
) -> Comment:
    """The comment on a run with these reports; `compared` is its comparison with a baseline.

    `key` tells the comments of several evaluations apart (default: by the benchmark), `remarks` are shown above everything, and
    `page` is the address of the CI run that keeps the reports.

    Raises:
        UsageError: the key is not one to 64 letters, digits, dots, dashes and underscores.
    """
    marker = f"<!-- eval-skills-comment: {_key(key, reports)} -->"
    failures = [*_of_the_run(reports, context), *((compared.failures or []) if compared is not None else [])]
    failures = list(dict.fromkeys(failures))
    has_gate = context.min_completion is not None or (compared is not None and compared.failures is not None)
    conclusion: Conclusion = "failure" if failures else "success" if has_gate else "neutral"
    title = _title(reports, compared, conclusion)
    blocks = [
        marker,
        f"### {title}",
        *_notes(failures, [*context.skipped, *remarks, *(compared.remarks if compared is not None else ())]),
        *(_comparison(compared) if compared is not None else _figures(reports)),
        _footer(context, page),
    ]
    return Comment(marker, title, conclusion, _fitted(blocks), failures)


def page_of_run(environ: Mapping[str, str]) -> str | None:
    """The address of the GitHub Actions run that this process is part of; None outside of one."""
    server, repository, run = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    page = f"{server}/{repository}/actions/runs/{run}"
    return page if re.fullmatch(r"https?://[\w.:-]+/[\w.-]+/[\w.-]+/actions/runs/[0-9]+", page, re.ASCII) else None


def code(text: object, limit: int = SENTENCE_LENGTH) -> str:
    """Any text as a code span of one line, cut to `limit` characters; of blank text, that it is. `_table` escapes its ``|``: in a
    cell alone it would end something."""
    line = shortened(visible_line(str(text)), limit)
    if not line.strip():
        return "*(blank)*"
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def block(value: object, limit: int = ANSWER_LENGTH) -> str:
    """Any JSON as a fenced block, cut to `limit` characters."""
    text = visible(shortened(value, limit))
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _key(given: str | None, reports: Sequence[SkillCompletionReport]) -> str:
    if given is None:
        given = re.sub(r"[^A-Za-z0-9]+", "-", reports[0].benchmark_id).strip("-")[:64] or "run"
    if not _KEY.fullmatch(given) or "--" in given:
        raise UsageError(
            f"--key {given!r}: give 1 to 64 letters, digits, dots, dashes and underscores, with a letter or digit first"
            " and no two dashes in a row"
        )
    return given


def _of_the_run(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[str]:
    """Why the run's own gate fails; nothing where it had none, but for what is wrong in any case."""
    found = forbidden_failures(reports)
    if context.partial is not None:
        done, planned = context.partial
        found.append(f"the run is unfinished: {done:,} of {plural(planned, 'item')}")
    found += [
        "{} completes {} %, and {} % is the least".format(
            report.skill_key, *percents_apart(report.summary.completion_rate, context.min_completion or 0)
        )
        if report.summary.has_verdict
        else f"{report.skill_key} has no item with a verdict"
        for report in ranked(reports)
        if context.completes(report) is False
    ]
    if context.min_completion is None:
        return found
    if context.skipped:
        found.append(unusable_skills(len(context.skipped)))
    return found + [f"of {each.skill_key} not every item could be judged" for each in ranked(reports) if models_failed(each)]


_SIGNS: dict[Conclusion, str] = {"success": "✔ gate passed", "failure": "✘ gate failed", "neutral": "Evaluated"}


def _title(reports: Sequence[SkillCompletionReport], compared: DiffDocument | None, conclusion: Conclusion) -> str:
    if compared is not None:
        return f"{_SIGNS[conclusion]} · {counts_of_skills(compared.diff.skills)}"
    items = sum(report.summary.items or 0 for report in reports)
    return f"{_SIGNS[conclusion]} · {plural(len(reports), 'skill')}, {plural(items, 'item')}, without a comparison"


def _notes(failures: Sequence[str], remarks: Sequence[str]) -> Iterator[str]:
    for sign, sentences in (("✘ **Gate failed:** ", failures), ("Note: ", list(dict.fromkeys(remarks)))):
        lines = [f"- {sign}{code(sentence)}" for sentence in sentences[:SENTENCES_SHOWN]]
        if more := len(sentences) - len(lines):
            lines.append(f"- … and {more:,} more")
        if lines:
            yield "\n".join(lines)


def _table(columns: str, rows: Sequence[Sequence[str]], more: int, of: str) -> str:
    """A table, and that there are `more` rows; `columns` are separated by ``|``, and one that ends in ``:`` is right-aligned."""
    names = columns.split("|")
    head = [f"| {' | '.join(name.strip().rstrip(':') for name in names)} |"]
    head.append(f"|{'|'.join('--:' if name.strip().endswith(':') else ':--' for name in names)}|")
    cells = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    lines = [*head, *(f"| {' | '.join(row)} |" for row in cells)]
    return "\n".join([*lines, *(["", f"… and {plural(more, f'more {of}')}"] if more > 0 else [])])


def _comparison(document: DiffDocument) -> Iterator[str]:
    skills = worst_first(document.diff.skills)
    yield f"{code(document.after, NAME_LENGTH)} against {code(document.before, NAME_LENGTH)}"
    if not skills:
        yield "There is nothing to compare."
        return
    rows = [_skill_row(skill) for skill in skills[:SKILLS_SHOWN]]
    yield _table("Skill | Verdict | Before: | After: | Change: | Adjusted p:", rows, len(skills) - len(rows), "skill")
    if document.failures == []:
        yield f"✔ Gate passed: {code(document.gate_words)}"
    flips = sorted(
        ((skill, flip) for skill in skills for flip in skill.flips),
        key=lambda each: (each[1].change == "better", -abs(_moved(each[1])), each[0].skill_id, natural_order(each[1].task_id)),
    )
    if flips:
        shown = [_flip_row(skill, flip) for skill, flip in flips[:FLIPS_SHOWN]]
        table = _table("Task that flipped | Skill | | Before | After", shown, len(flips) - len(shown), "task")
        yield f"**Tasks that flipped, worst first**\n\n{table}"
        yield from _details("Answers of the first of them", [_answers(*each) for each in flips[:ANSWERS_SHOWN]])
    yield from _details("Statistics", [text for skill in skills[:EXPLAINED] if (text := _statistics(skill))])
    yield from _details("What was compared", [_made_by(document)])


def _moved(flip: Flip) -> float:
    return flip.after.completion_rate - flip.before.completion_rate


def _skill_row(skill: SkillDiff) -> list[str]:
    row = shown_row(skill.rows[0])
    found = skill.statistics
    change = " ".join(filter(None, (row.delta, row.arrow)))
    p = UNKNOWN if found is None else chance_text(found.adjusted_p, 4)
    return [code(lineage(skill), NAME_LENGTH), f"**{verdict_text(skill)}**", row.before, row.after, change, p]


def _flip_row(skill: SkillDiff, flip: Flip) -> list[str]:
    mark = "✔ better" if flip.change == "better" else "✘ worse"
    key = skill.skill_key
    return [code(flip.task_id, NAME_LENGTH), code(key, NAME_LENGTH), mark, side_text(flip.before), side_text(flip.after)]


def _answers(skill: SkillDiff, flip: Flip) -> str:
    head = f"{code(flip.task_id, NAME_LENGTH)} of {code(skill.skill_key, NAME_LENGTH)}"
    return "\n\n".join([head, _side("Before", flip.before), _side("After", flip.after)])


def _side(name: str, side: FlipSide) -> str:
    said = [code(reason_text(reason)) for reason in side.reasons[:2]]
    why = f": {'; '.join(said)}" if said else ""
    answer = ", no answer" if side.output is None else f"\n\n{block(side.output)}"
    return f"{name}, {side_text(side)}{why}{answer}"


def _statistics(skill: SkillDiff) -> str | None:
    if not skill.explanation and skill.statistics is None:
        return None
    lines = [f"- {code(lineage(skill), NAME_LENGTH)}: {code(skill.explanation)}" if skill.explanation else ""]
    if skill.statistics:
        lines += [f"  - {name}: {code(text)}" for name, text in statistics_lines(skill.statistics, skill.newly_failing)]
    return "\n".join(filter(None, lines))


def _made_by(document: DiffDocument) -> str:
    sides = (("before", document.before_made_by), ("after", document.after_made_by))
    lines = [f"- {side}, {what}: {code(versions)}" for side, made_by in sides for what, versions in made_by.items()]
    return "\n".join(lines)


def _details(summary: str, blocks: Sequence[str]) -> Iterator[str]:
    """A part that is folded away, as one block: cut in its middle it would stay open. `summary` is ours."""
    if any(blocks):
        inside = "\n\n".join(blocks)
        yield f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"


def _figures(reports: Sequence[SkillCompletionReport]) -> Iterator[str]:
    order = ranked(reports)
    yield "No baseline was given, so nothing is said of what changed."
    rows = [_report_row(report) for report in order[:SKILLS_SHOWN]]
    yield _table("Skill | Completion: | 95 % interval: | Errors: | P95:", rows, len(order) - len(rows), "skill")
    failed = [(report, item) for report in order for item in report.task_results if not item.passed]
    if failed:
        lines = [
            f"- {code(item.name, NAME_LENGTH)} of {code(report.skill_key, NAME_LENGTH)}, {item.status}: {code(reasons(item)[0])}"
            for report, item in failed[:FLIPS_SHOWN]
        ]
        if more := len(failed) - len(lines):
            lines.append(f"- … and {more:,} more")
        yield from _details(f"{plural(len(failed), 'item')} that did not pass", ["\n".join(lines)])


def _report_row(report: SkillCompletionReport) -> list[str]:
    found = report.summary
    shown = [numbers.rate(found.known_completion), numbers.interval(found.known_interval), numbers.rate(found.error_rate)]
    return [code(report.skill_key, NAME_LENGTH), *shown, numbers.milliseconds(report.latency.p95_ms)]


def _footer(context: ReportContext, page: str | None) -> str:
    where = f" · [reports of this run]({page})" if page else ""
    return f"run {code(context.run_id, NAME_LENGTH)} · eval-skills {version('eval-skills')}{where}"


_LEFT_OUT = "*More was left out: GitHub takes no longer comment. The reports have all of it.*"


def _fitted(blocks: Sequence[str]) -> str:
    """The blocks, without those that no longer fit; the first two and the last one are short and stay."""
    *shown, last = (encodable(each) for each in blocks)
    left = LIMIT - sum(_units(each) + 2 for each in (last, _LEFT_OUT))
    kept: list[str] = []
    for each in shown:
        if (size := _units(each) + 2) <= left:
            left -= size
            kept.append(each)
    return "\n\n".join([*kept, *([_LEFT_OUT] if len(kept) < len(shown) else []), last]) + "\n"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
