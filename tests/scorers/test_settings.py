"""Settings come as themselves, as a mapping in either spelling, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.scorers import ScoringSettings
from tests.tables import each_row


@pytest.mark.parametrize(
    "mapping",
    [
        {"toolCategories": {"web": ["x"]}, "toolNames": "normalised", "benchmarkFolder": "bench", "allowCustomCode": True},
        {
            "tool_categories": {"web": ["x"]},
            "tool_names": "normalised",
            "benchmark_folder": Path("bench"),
            "allow_custom_code": True,
        },
    ],
    ids=["camel", "snake"],
)
def test_both_spellings(mapping: dict[str, Any]) -> None:
    settings = ScoringSettings.of(mapping)
    assert (settings.tool_categories, settings.tool_names) == ({"web": ["x"]}, "normalised")
    assert (settings.benchmark_folder, settings.allow_custom_code) == (Path("bench"), True)


def test_none_is_the_defaults_and_settings_are_themselves() -> None:
    assert ScoringSettings.of(None) == ScoringSettings()
    settings = ScoringSettings(default_evaluator="contains")
    assert ScoringSettings.of(settings) is settings


@each_row(
    "mapping",
    [
        pytest.param({"toolNames": "loose"}, id="unknown-value"),
        pytest.param({"weight": {}}, id="p60-unknown-key"),
        pytest.param({"weights": {"tool_acuracy": 0.3}}, id="p60-unknown-weight"),
        pytest.param({"weights": {"tool_accuracy": -1}}, id="p61-negative-weight"),
        pytest.param({"weights": {"tool_accuracy": float("nan")}}, id="p61-nan-weight"),
        pytest.param({"allowCustomCode": "yes"}, id="text-for-a-boolean"),
    ],
)
def test_trouble_is_one_line_that_names_the_settings(mapping: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="scoring settings") as caught:
        ScoringSettings.of(mapping)
    assert "\n" not in str(caught.value)
