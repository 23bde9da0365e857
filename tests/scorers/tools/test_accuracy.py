"""Tool accuracy: the share of expected tools and categories."""

from __future__ import annotations

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers import Score, ScoringSettings
from eval_skills.scorers.tools.accuracy import ToolAccuracy
from tests.tables import each_row


def scored(called: str, tools: str = "", categories: tuple[str, ...] = (), settings: ScoringSettings | None = None) -> Score:
    response = SkillResponse(tool_calls=[ToolCall(name=name) for name in called.split()])
    accuracy = ToolAccuracy(tools=tuple(tools.split()), tool_categories=categories, settings=settings or ScoringSettings())
    score = accuracy.score(response)
    assert score is not None
    return score


@each_row(
    ("called", "tools", "categories", "value"),
    [
        pytest.param("a c", "a b", (), 0.5, id="half"),
        pytest.param("b a a x", "a b", (), 1, id="order-repetition-extras-free"),
        pytest.param("a", "a a b", (), 0.5, id="expected-duplicates-collapse"),
        pytest.param("grep", "a", ("search",), 0.5, id="category-beside-tool"),
        pytest.param("grep", "", ("search", "search"), 1, id="category-duplicates-collapse"),
        pytest.param("", "a", (), 0, id="nothing-called"),
        pytest.param("A", "a", (), 0, id="exact-names"),
    ],
)
def test_value(called: str, tools: str, categories: tuple[str, ...], value: float) -> None:
    score = scored(called, tools, categories)
    assert (score.value, score.passed) == (value, value == 1)


def test_normalised_names() -> None:
    settings = ScoringSettings(tool_names="normalised", tool_categories={"database": ["sql_run"]})
    assert scored("getWeather SQL-run", "get_weather", ("database",), settings).value == 1


@pytest.mark.parametrize(
    ("called", "codes"),
    [
        pytest.param("x", ["TOOL_MISSING", "CATEGORY_NOT_SATISFIED", "TOOL_UNEXPECTED"], id="missing"),
        pytest.param("GetWeather ls", ["TOOL_NAME_MISMATCH", "TOOL_UNEXPECTED"], id="spelled-otherwise"),
        pytest.param("get_weather ls", [], id="all"),
    ],
)
def test_codes(called: str, codes: list[str]) -> None:
    assert [each.code for each in scored(called, "get_weather", ("file_list",)).reasons] == codes


def test_p81_missing_and_extra_tools_are_listed_in_a_stable_order() -> None:
    score = scored("z y z k", "d c b a k")
    assert score.metadata == {"missing": ["d", "c", "b", "a"], "unsatisfied": [], "unexpected": {"z": 2, "y": 1}}
    assert score.reasons[-1].message == "called beyond what is expected: z (2), y (1)"


def test_p80_an_unknown_category_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'search'") as caught:
        ToolAccuracy(tool_categories=("web", "serch"))
    assert caught.value.path == "toolCategories[1]"


def test_p05_nothing_expected_is_refused() -> None:
    with pytest.raises(InputError):
        ToolAccuracy()


def test_p77_an_unknown_trace_is_not_judged() -> None:
    assert ToolAccuracy(tools=("a",)).score(SkillResponse(output="x")) is None
