"""The findings as SARIF 2.1.0 (OASIS: Static Analysis Results Interchange Format), as code scanning and editors read them."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from eval_skills.agent_skills.linting.finding import Finding, Lint, SkillLint
from eval_skills.agent_skills.linting.places import shown_paths
from eval_skills.agent_skills.linting.rules import RULES
from eval_skills.agent_skills.skill_text import Place

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(lint: Lint) -> dict[str, Any]:
    """One run of one tool: all rules, and a result for each finding. Columns count code points, from 1, as lines do.

    Files below the current folder are named relative to it, others by ``file:`` URIs. Every result has a location, and each its
    line, also where a finding is about a whole file or several skills: GitHub refuses a file of which one result has none.
    """
    codes = list(RULES)
    results = [_result(finding, codes, skill) for skill in lint.skills for finding in skill.findings]
    results += [_result(finding, codes) for finding in lint.together]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "eval-skills",
                        "version": version("eval-skills"),
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    rule = RULES[code]
    return {
        "id": code,
        "shortDescription": {"text": f"{rule.summary[0].upper()}{rule.summary[1:]}."},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.source]},
    }


def _result(finding: Finding, codes: list[str], skill: SkillLint | None = None) -> dict[str, Any]:
    paths = shown_paths(finding, skill)
    identity = "\n".join([finding.code, paths[0] if skill else "", finding.message])
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": f"{finding.message}; {finding.fix}"},
        "partialFingerprints": {"finding/v1": hashlib.sha256(identity.encode(errors="replace")).hexdigest()},
        "locations": [_location(path, finding.place) for path in paths],
    }


def _location(path: str, place: Place | None) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column} if place else {"startLine": 1}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region}}


def _uri(path: str) -> str:
    if Path(path).is_absolute():
        return Path(path).as_uri()
    relative = quote(path, errors="replace")
    return f"./{relative}" if ":" in relative.partition("/")[0] else relative
