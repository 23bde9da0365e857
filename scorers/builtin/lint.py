"""How good is what a linter found?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eval_skills.agent_skills.linting.finding import score_of
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.text import excerpt
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score


@scorer("lint")
@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """``max(0, 1 - (errors + warnings / 10) / checks)`` of an answer ``{"checks", "errors", "warnings", "findings"}``, as
    benchmarks with the subject `agent-skill` get it; passes without errors, and with ``strict`` without warnings, too.

    Each finding is a reason, the code in capitals; what did not make the answer fail is a remark. Any other answer is wrong: 0.
    """

    strict: bool = False

    def score(self, response: SkillResponse) -> Score:
        """In [0, 1]: 1 where nothing was found."""
        output = response.output
        if (counts := _counts(output)) is None:
            message = f"expected the counts checks, errors and warnings, got {excerpt(output)}"
            return Score(0.0, reasons=(Reason(code="OUTPUT_WITHOUT_COUNTS", message=message, where="output"),))
        checks, errors, warnings = counts
        passed = not errors and not (self.strict and warnings)
        return Score(score_of(errors, warnings, checks), passed=passed, reasons=tuple(self._reasons(output.get("findings"))))

    def _reasons(self, findings: Any) -> Iterator[Reason]:
        for each in findings if isinstance(findings, list) else []:
            if isinstance(each, dict):
                severity = each.get("severity")
                place = ":".join(str(each[name]) for name in ("file", "line", "column") if each.get(name))
                yield Reason(
                    code=str(each.get("code")).upper().replace("-", "_"),
                    message=f"{each.get('message')}; {each.get('fix')}",
                    where=place,
                    informational=not (severity == "error" or (self.strict and severity == "warning")),
                )


def _counts(output: Any) -> tuple[int, int, int] | None:
    found = [output.get(name) for name in ("checks", "errors", "warnings")] if isinstance(output, dict) else []
    counts = [each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0]
    return (counts[0], counts[1], counts[2]) if len(counts) == 3 and counts[0] else None
