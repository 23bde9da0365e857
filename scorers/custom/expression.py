"""A benchmark's own scorer in one line: a Python expression, read without running it and run in a process of its own."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, Reason, SkillResponse
from eval_skills.core.models.base import Rate
from eval_skills.core.text import beside, exact, excerpt, nearest, one_line
from eval_skills.scorers.answer import text_of, unwrapped
from eval_skills.scorers.custom.process import result_of_host
from eval_skills.scorers.custom.scorer import refuse_unless_allowed
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import InvalidScore, Score, as_score
from eval_skills.scorers.settings import ScoringSettings

NAMES = ("output", "text", "expected", "task", "json", "math", "re")
"""What an expression knows beside Python's own names."""

_TOLERANCE = 1e-9


@scorer("python")
@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """What the Python `expression` says of the answer: true is 1 and false 0, a number in [0, 1] is the value itself; passes from
    `threshold` on (1 unless set, equality passes).

    It knows `output`, the answer (unwrapped, unless the expected value is an object), `text`, the decoded values of the unwrapped
    answer as text, `expected`, which is `expectedOutput.value` or None, `task` as its JSON object, and the modules json, math and
    re: ``output["total"] > 3 and "Bern" in text``. An expression that raises, as that one does where the answer has no total,
    makes the item an error; ``output.get("total", 0)`` makes it fail.

    It runs like a custom scorer, in a process of its own with a time limit (``timeoutMs``), in the benchmark's folder, and it
    is not a sandbox, hence ``allow_custom_code``.

    Raises:
        InputError: custom code is not allowed, it is not a Python expression, or it uses a name that there is not.
    """

    expression: str
    threshold: Rate = 1.0
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 5_000
    task: EvalTask
    settings: ScoringSettings

    def __post_init__(self) -> None:
        refuse_unless_allowed(self.settings, _PATH)
        _refuse_unreadable(self.expression)

    async def score(self, response: SkillResponse) -> Score:
        """The value of the expression, with the expression and the answer as the reason.

        Raises:
            ScorerError: the expression raised, ran out of time, or gave something else.
        """
        who = f"the expression {one_line(self.expression, 80)!r}"
        request = self._request(response.output)
        given = as_score(await result_of_host(request, self.settings.benchmark_folder, self.timeout_ms / 1000, who))
        if given is None:
            raise InvalidScore(f"{who} gave None; give true, false or a number")
        passed = given.value >= self.threshold - _TOLERANCE
        gave = f"{one_line(self.expression, 200)} gave {beside(given.value, self.threshold, 6)}"
        message = f"{gave}, expected at least {exact(self.threshold)}, of the answer {excerpt(response.output)}"
        reason = Reason(code="EXPRESSION", message=message, where="output")
        return Score(given.value, passed=passed, reasons=(reason,))

    def _request(self, output: Any) -> dict[str, Any]:
        expected, answer = self.task.expected_value, unwrapped(output)
        return {
            "expression": self.expression.strip(),
            "output": output if isinstance(expected, dict) else answer,
            "text": text_of(answer),
            "expected": expected,
            "task": self.task.to_json(),
        }


_PATH = "expression"


def _refuse_unreadable(expression: str) -> None:
    try:
        table = symtable.symtable(expression.strip(), "expression", "eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"not a Python expression: {error}", path=_PATH) from error
    known = [*NAMES, *dir(builtins), *(each.get_name() for each in table.get_symbols() if each.is_assigned())]
    for name in _used(table):
        if name not in known:
            hint = nearest(name, NAMES)
            raise InputError(f"the name {name!r} is not known{hint}; there are {', '.join(NAMES)}", path=_PATH)


def _used(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that are not bound inside the expression."""
    yield from (each.get_name() for each in table.get_symbols() if each.is_global() and each.is_referenced())
    for inner in table.get_children():
        yield from _used(inner)
