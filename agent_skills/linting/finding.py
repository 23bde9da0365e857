"""What was found in Agent Skills, and what it amounts to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.agent_skills.linting.rules import RULES, SEVERITIES, SOURCES, Severity, Source, checks_of
from eval_skills.agent_skills.skill_text import Place

MAX_OF_A_CODE = 50
"""So many findings of one rule are listed for a skill; more are counted."""

MAX_NAMED = 10
"""So many files are named by a finding about several skills."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of the rule `code`; `fix` says what to do.

    `file` is relative to the skill's folder, in POSIX notation. `place` is None where it is about the file as a whole. A finding
    about several skills has no `file`; `skill_files` are their ``SKILL.md``, of which at most `MAX_NAMED` are named.
    """

    code: str
    message: str
    fix: str
    file: str = ""
    place: Place | None = None
    skill_files: tuple[Path, ...] = ()

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.code].severity

    @property
    def source(self) -> Source:
        """Who set the rule."""
        return RULES[self.code].source


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLint:
    """The findings about one skill, in the order of its files and lines; `checks` is the number of rules.

    `file` is its ``SKILL.md``, `name` what the frontmatter calls it, or else its folder's. `listed` are the characters that it
    takes of the listing that an agent sees. `more` counts findings that are not listed, by code.
    """

    folder: Path
    file: Path
    name: str
    description: str
    listed: int
    checks: int
    findings: tuple[Finding, ...]
    more: Mapping[str, int] = field(default_factory=dict)
    digest: str = ""

    def count(self, severity: Severity, source: Source | None = None) -> int:
        """How many findings are that bad, of one source or of all; those that are not listed count, too."""
        return count(self.findings, severity, source) + sum(
            number
            for code, number in self.more.items()
            if RULES[code].severity == severity and source in {None, RULES[code].source}
        )

    @property
    def score(self) -> float:
        """``max(0, 1 - (errors + warnings / 10) / checks)``, in [0, 1]: 1 without a finding; notes cost nothing."""
        return score_of(self.count("error"), self.count("warning"), self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """The findings about skills: about each, and `together` those about several; `budget` is the listing's size in characters."""

    profiles: tuple[str, ...]
    skills: list[SkillLint]
    together: list[Finding]
    budget: int
    remarks: list[str] = field(default_factory=list)

    @property
    def listed(self) -> int:
        """The characters that all of them take of the listing that an agent sees."""
        return sum(skill.listed for skill in self.skills)

    def count(self, severity: Severity, source: Source | None = None) -> int:
        """How many findings are that bad, of one source or of all."""
        return sum(skill.count(severity, source) for skill in self.skills) + count(self.together, severity, source)


def score_of(errors: int, warnings: int, checks: int) -> float:
    """``max(0, 1 - (errors + warnings / 10) / checks)``: ten warnings weigh as much as one error."""
    return max(0.0, 1 - (errors + warnings / 10) / checks)


def count(findings: Iterable[Finding], severity: Severity, source: Source | None = None) -> int:
    """How many of the findings are that bad, of one source or of all."""
    return sum(each.severity == severity and source in {None, each.source} for each in findings)


def listed_findings(found: Iterable[Finding], skill_file: str) -> tuple[tuple[Finding, ...], dict[str, int]]:
    """At most `MAX_OF_A_CODE` findings of each code, and how many more there are: ``SKILL.md`` first, then by file and line."""
    ordered = sorted(
        dict.fromkeys(found),
        key=lambda each: (each.file != skill_file, each.file, each.place or Place(0, 0), list(RULES).index(each.code)),
    )
    seen: Counter[str] = Counter()
    listed = []
    for each in ordered:
        seen[each.code] += 1
        if seen[each.code] <= MAX_OF_A_CODE:
            listed.append(each)
    return tuple(listed), {code: number - MAX_OF_A_CODE for code, number in seen.items() if number > MAX_OF_A_CODE}


def counted(profiles: Iterable[str]) -> int:
    """The number of rules that one skill is checked against."""
    return checks_of(frozenset(profiles))


__all__ = ["SEVERITIES", "SOURCES", "Finding", "Lint", "SkillLint", "count", "counted", "listed_findings", "score_of"]
