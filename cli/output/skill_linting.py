"""What was found in Agent Skills, as the terminal, JSON and other tools show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table
from rich.text import Text

from eval_skills.agent_skills.linting.finding import Finding, Lint, SkillLint
from eval_skills.agent_skills.linting.github import github_commands
from eval_skills.agent_skills.linting.places import shown_path, shown_paths
from eval_skills.agent_skills.linting.rules import SEVERITIES, SOURCES
from eval_skills.agent_skills.linting.sarif import sarif
from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.output.tables import bare_table
from eval_skills.core.text import encodable, plural

STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}
OURS = ("spec", "eval-skills")
TEXT_WIDTH = 100
"""Where a pipe has no width of its own."""


def show_skill_lint(lint: Lint, form: str) -> None:
    """Print the findings in a form: text, json, sarif or github; what was not searched is remarked on stderr."""
    if form == "sarif":
        print_json(sarif(lint))
    elif form == "json":
        print_json(_document(lint))
    elif form == "github":
        for line in github_commands(lint):
            current().say(line)
    else:
        _show(lint)
    for remark in lint.remarks:
        current().remark(remark)


def _document(lint: Lint) -> dict[str, Any]:
    return {
        "profiles": list(lint.profiles),
        "counts": _counts(lint),
        "listing": {"characters": lint.listed, "budget": lint.budget},
        "skills": [_skill(skill) for skill in lint.skills],
        "together": [_finding(finding, None) for finding in lint.together],
        "remarks": lint.remarks,
    }


def _counts(found: Lint | SkillLint) -> dict[str, Any]:
    by_source = {source: {severity: found.count(severity, source) for severity in SEVERITIES} for source in SOURCES}
    total: dict[str, Any] = {severity: found.count(severity) for severity in SEVERITIES}
    return total | {"bySource": {source: counts for source, counts in by_source.items() if any(counts.values())}}


def _skill(skill: SkillLint) -> dict[str, Any]:
    return {
        "name": encodable(skill.name),
        "folder": encodable(str(skill.folder)),
        "score": skill.score,
        "checks": skill.checks,
        "counts": _counts(skill),
        "listedCharacters": skill.listed,
        "findings": [_finding(finding, skill) for finding in skill.findings],
        "notListed": dict(skill.more),
    }


def _finding(finding: Finding, skill: SkillLint | None) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "source": finding.source,
        "message": finding.message,
        "fix": finding.fix,
        "file": shown_path(skill, finding) if skill else None,
        "line": finding.place.line if finding.place else None,
        "column": finding.place.column if finding.place else None,
    } | ({} if skill else {"files": shown_paths(finding)})


def _show(lint: Lint) -> None:
    for skill in lint.skills:
        for path, findings in groupby(skill.findings, key=lambda finding: shown_path(skill, finding)):
            _show_file(path, list(findings))
        for code, number in skill.more.items():
            current().say(f"  and {number:,} more of {code}")
    if lint.together:
        _show_file("all skills together", lint.together)
    _show_sum(lint)


def _show_file(path: str, findings: Sequence[Finding]) -> None:
    """The findings about one file: those of the standard and ours first, then each vendor's below its name."""
    current().say(path, style="bold")
    for source, of_source in _by_source(findings):
        if source:
            current().say(f"  {source}", style="bold dim")
        current().out(pipe_width=TEXT_WIDTH).print(_table(of_source))
    current().say("")


def _by_source(findings: Sequence[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    yield from [("", ours)] if (ours := [each for each in findings if each.source in OURS]) else []
    for source in SOURCES:
        if source not in OURS and (theirs := [each for each in findings if each.source == source]):
            yield source, theirs


def _table(findings: Iterable[Finding]) -> Table:
    table = bare_table(head=False)
    table.add_column(justify="right", no_wrap=True, min_width=8)
    table.add_column(no_wrap=True, min_width=7)
    table.add_column(overflow="fold")
    for each in findings:
        where = f"{each.place.line}:{each.place.column}" if each.place else ""
        about = Text.assemble(printable(each.message), ("  " + each.code, "dim"), ("\n→ " + printable(each.fix), "dim"))
        table.add_row(Text(where), Text(each.severity, style=STYLES[each.severity]), about)
    return table


def _show_sum(lint: Lint) -> None:
    worst = next((severity for severity in SEVERITIES if lint.count(severity)), None)
    skills = plural(len(lint.skills), "skill")
    current().say(f"{skills}: {_worded(lint) or 'nothing found'}", style=STYLES[worst] if worst else "green")
    vendors = [source for source in SOURCES if source not in OURS and any(lint.count(each, source) for each in SEVERITIES)]
    if vendors:
        current().say(f"  of these, {'; '.join(f'{source}: {_worded(lint, source)}' for source in vendors)}")
    if len(lint.skills) == 1:
        skill = lint.skills[0]
        current().say(f"score {skill.score:.3f}: 1 - (errors + warnings / 10) / {skill.checks} rules")
    else:
        current().say(f"listing: {lint.listed:,} of {lint.budget:,} characters")


def _worded(lint: Lint, source: Any = None) -> str:
    return ", ".join(plural(lint.count(each, source), each) for each in SEVERITIES if lint.count(each, source))
