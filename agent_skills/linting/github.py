"""The findings as workflow commands of GitHub Actions, which shows each beside its line in a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from eval_skills.agent_skills.linting.finding import Finding, Lint, SkillLint
from eval_skills.agent_skills.linting.places import shown_paths

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def github_commands(lint: Lint) -> Iterator[str]:
    """A line for each finding; nothing of a skill's own text can end the line or become a property."""
    for skill in lint.skills:
        yield from (_command(finding, skill) for finding in skill.findings)
    yield from (_command(finding) for finding in lint.together)


def _command(finding: Finding, skill: SkillLint | None = None) -> str:
    paths = shown_paths(finding, skill)
    properties = {"file": paths[0]} if paths else {}
    if finding.place:
        properties |= {"line": str(finding.place.line), "col": str(finding.place.column)}
    properties["title"] = f"{finding.code} ({finding.source})"
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {written}::{_data(f'{finding.message}; {finding.fix}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
