"""A failed test shows why the skills that it evaluated did not complete: below the assertion, and in JUnit's failure."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from eval_skills.pytest_plugin.outcomes import SkillReport

NAME = "eval_skills_explaining"


def explain(config: pytest.Config, report: SkillReport) -> None:
    """Let the test that runs now explain itself with `report`, should it fail."""
    explaining = config.pluginmanager.get_plugin(NAME)
    if explaining is None:
        explaining = Explaining()
        config.pluginmanager.register(explaining, NAME)
    explaining.made.append(report)


class Explaining:
    """The reports that the running test made; one that a fixture of a wider scope made is known by the test's arguments."""

    def __init__(self) -> None:
        self.made: list[SkillReport] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add a section for each report with failures to what is shown of a failed test."""
        outcome = yield
        add = getattr(outcome.longrepr, "addsection", None)
        if outcome.failed and add is not None:
            for report in self._reports(item):
                if report.summary.completion_rate < 1:
                    add(f"eval-skills: {report.skill_key} on {report.benchmark_id}", report.explanation)
        if call.when == "teardown":
            self.made.clear()
        return outcome

    def _reports(self, item: pytest.Item) -> list[SkillReport]:
        from eval_skills.pytest_plugin.outcomes import SkillReport

        given = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, SkillReport)]
        return list({id(report): report for report in [*given, *self.made]}.values())
