"""Which report is compared with which: by skill id, by version where a side holds several, or as a mapping says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.text import nearest


@dataclass(frozen=True, slots=True)
class ReportPair:
    """Two reports of one skill on one benchmark; a side is None where the skill was removed or added."""

    before: SkillCompletionReport | None
    after: SkillCompletionReport | None


def pair_reports(
    before: Sequence[SkillCompletionReport], after: Sequence[SkillCompletionReport], mapping: Mapping[str, str]
) -> list[ReportPair]:
    """Every report once, within its benchmark: the pairs and the added ones in the order of `after`, then the removed ones.

    `mapping` leads from a skill before to the one that took its place, each as ``id`` or ``id@version``; it goes first. Then
    reports of one skill id belong together: one on each side is a pair whatever the versions; where a side holds several, equal
    versions are pairs, and what is alone on its side and has no equal goes with the latest of the other side.

    Raises:
        InputError: a side holds two reports of one ``id@version`` on one benchmark.
        UsageError: `mapping` names a skill that its side does not hold, or leads twice to the same one.
    """
    _refuse_duplicates(before, "before")
    _refuse_duplicates(after, "after")
    _refuse_unknown(mapping, before, after)
    partner: dict[int, SkillCompletionReport] = {}
    for old, new in mapping.items():
        _match([report for report in before if _is(report, old)], [report for report in after if _is(report, new)], partner)
    paired = {id(report) for report in partner.values()}
    free_before = [report for report in before if id(report) not in paired]
    free_after = [report for report in after if id(report) not in partner]
    for skill_id in dict.fromkeys(report.skill_id for report in free_after):
        _match(_of(free_before, skill_id), _of(free_after, skill_id), partner)
    paired = {id(report) for report in partner.values()}
    removed = [ReportPair(report, None) for report in before if id(report) not in paired]
    return [ReportPair(partner.get(id(report)), report) for report in after] + removed


def _match(
    before: list[SkillCompletionReport], after: list[SkillCompletionReport], partner: dict[int, SkillCompletionReport]
) -> None:
    """Enter into `partner`, by the identity of the report after, the report before that it is compared with."""
    for benchmark_id in dict.fromkeys(report.benchmark_id for report in after):
        olds = {report.skill_version: report for report in before if report.benchmark_id == benchmark_id}
        news = {report.skill_version: report for report in after if report.benchmark_id == benchmark_id}
        equal = olds.keys() & news.keys()
        for version in equal:
            partner[id(news[version])] = olds[version]
        if olds and news and not equal and 1 in {len(olds), len(news)}:
            partner[id(news[_latest(news)])] = olds[_latest(olds)]


def _of(reports: Iterable[SkillCompletionReport], skill_id: str) -> list[SkillCompletionReport]:
    return [report for report in reports if report.skill_id == skill_id]


def _is(report: SkillCompletionReport, name: str) -> bool:
    return name in {report.skill_id, report.skill_key}


def _latest(versions: Iterable[str]) -> str:
    return max(versions, key=lambda version: ([int(part) for part in version.split(".") if part.isdecimal()], version))


def _refuse_duplicates(reports: Sequence[SkillCompletionReport], side: str) -> None:
    seen: set[tuple[str, str]] = set()
    for report in reports:
        if (key := (report.skill_key, report.benchmark_id)) in seen:
            raise InputError(
                f"{report.skill_key} has two reports on {report.benchmark_id} {side}; compare the reports of one run on each side"
            )
        seen.add(key)


def _refuse_unknown(
    mapping: Mapping[str, str], before: Sequence[SkillCompletionReport], after: Sequence[SkillCompletionReport]
) -> None:
    for side, names, reports in (("before", mapping.keys(), before), ("after", mapping.values(), after)):
        known = sorted({name for report in reports for name in (report.skill_id, report.skill_key)})
        for name in names:
            if name not in known:
                hint = nearest(name, known) or f"; there are {', '.join(known) or 'none'}"
                raise UsageError(f"the mapping names skill {name!r}, which is not among the reports {side}{hint}")
    if len(set(mapping.values())) < len(mapping):
        raise UsageError("the mapping leads two skills to the same one; each skill after can follow only one before")
