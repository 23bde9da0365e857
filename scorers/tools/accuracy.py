"""Did the agent call the expected tools?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse, ToolCall
from eval_skills.core.text import excerpt, nearest, normalise_tool_name
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score, remark
from eval_skills.scorers.settings import ScoringSettings
from eval_skills.scorers.tools.calls import known_calls
from eval_skills.scorers.tools.categories import category_table, does, programs_of


@scorer("tool_accuracy")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAccuracy:
    """Share of the expected tools and categories that the calls satisfy.

    The value is ``(expected tools called + categories satisfied) / (expected tools + categories)``, in [0, 1], each name
    counted once. Order, repetition, arguments and extra calls do not matter; extra calls give a remark. A category is
    satisfied by any call of a tool in its list. With ``shellNeedsCommand`` the call of a shell satisfies, beside `shell`, only
    the categories of the programs that its command starts (``cat``: `file_read`). An answer that does not say what it called is
    not judged, never 0.

    Raises:
        InputError: nothing is expected, or a category is unknown.
    """

    tools: tuple[str, ...] = ()
    tool_categories: tuple[str, ...] = ()
    shell_needs_command: bool = False
    settings: ScoringSettings = field(default_factory=ScoringSettings)
    _table: dict[str, frozenset[str]] = field(init=False, repr=False, compare=False)
    _shells: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.tools and not self.tool_categories:
            raise InputError("neither tools nor categories are expected; name at least one", path="tools")
        table = category_table(self.settings.tool_categories)
        for index, name in enumerate(self.tool_categories):
            if name not in table:
                raise InputError(
                    f"unknown category {name!r}{nearest(name, table)}; known: {', '.join(table)}", path=f"toolCategories[{index}]"
                )
        satisfying = {name: frozenset(map(self._spelled, table[name])) for name in self.tool_categories}
        object.__setattr__(self, "_table", satisfying)
        shells = frozenset(map(self._spelled, table["shell"])) if self.shell_needs_command else frozenset()
        object.__setattr__(self, "_shells", shells)

    def score(self, response: SkillResponse) -> Score | None:
        """The share, with one reason per missing tool or category in the order expected; None when the calls are unknown."""
        calls = known_calls(response)
        if calls is None:
            return None
        names = [call.name for call in calls]
        called = {self._spelled(name) for name in names}
        expected = list(dict.fromkeys(self.tools))
        missing = [name for name in expected if self._spelled(name) not in called]
        unmet = [name for name in self._table if not any(self._satisfies(call, name) for call in calls)]
        total = len(expected) + len(self._table)
        share = (total - len(missing) - len(unmet)) / total
        reasons = [_missing(name, names) for name in missing] + [_unmet(name, names) for name in unmet]
        extra = self._extra(names)
        metadata = {"missing": missing, "unsatisfied": unmet, "unexpected": dict(extra)}
        return Score(share, reasons=(*reasons, *_remarks(extra)), metadata=metadata)

    def _extra(self, names: Sequence[str]) -> Counter[str]:
        wanted = {self._spelled(name) for name in self.tools}.union(*self._table.values())
        return Counter(name for name in names if self._spelled(name) not in wanted)

    def _satisfies(self, call: ToolCall, category: str) -> bool:
        name = self._spelled(call.name)
        if category == "shell" or name not in self._shells:
            return name in self._table[category]
        programs = programs_of(call.arguments)
        return does(programs, category) or not self._table[category].isdisjoint(map(self._spelled, programs))

    def _spelled(self, name: str) -> str:
        return self.settings.spelled(name)


def _missing(name: str, called: Sequence[str]) -> Reason:
    wanted = normalise_tool_name(name)
    other = next((each for each in called if normalise_tool_name(each) == wanted), None)
    if other is not None:
        message = f"expected a call of {name!r}, got {other!r}: another spelling; fix the name or set toolNames to normalised"
        return Reason(code="TOOL_NAME_MISMATCH", message=message, where="expected.tools")
    return Reason(
        code="TOOL_MISSING", message=f"expected a call of {name!r}, got {excerpt(list(called))}", where="expected.tools"
    )


def _unmet(name: str, called: Sequence[str]) -> Reason:
    message = f"expected a call that satisfies category {name!r}, got {excerpt(list(called))}"
    return Reason(code="CATEGORY_NOT_SATISFIED", message=message, where="expected.toolCategories")


def _remarks(extra: Counter[str]) -> list[Reason]:
    if not extra:
        return []
    listed = ", ".join(f"{name} ({count})" for name, count in list(extra.items())[:20])
    return [remark("TOOL_UNEXPECTED", f"called beyond what is expected: {listed}", "toolCalls")]
