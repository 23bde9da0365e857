"""What pytest loads at every start of every suite that has eval-skills installed: names and hooks, and nothing heavy.

Whatever evaluates is imported when the first test asks for it. ``-p no:eval_skills`` leaves all of it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from eval_skills.pytest_plugin import MARK, NOT_COMPARED, STORE

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.pytest_plugin.outcomes import BaselineOutcome, CompletionOutcome, SkillReport, TaskOutcome


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one setting: where results are kept for ever."""
    parser.addini(
        STORE, "the eval-skills store that evaluations of tests are kept in (a path below the rootdir, or a URL); empty: none"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(skill, benchmark='coding-easy', min_completion=None, baseline=None, margin=None, runs=1, **options): one test "
        "case for each task of the benchmark; with min_completion also one for the completion rate, and while that holds a "
        "failed task is an xfail; with baseline one that fails where the skill is worse than there, or with margin, where it "
        "is not proven to have lost less",
    )


@pytest.fixture(scope="session")
def eval_skill(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., SkillReport]:
    """Evaluate a skill and return its report: ``eval_skill("skills/echo", benchmark="coding-easy", runs=3)``.

    A relative path starts at pytest's rootdir. Options are those of ``eval-skills eval`` under their Python names; others
    come from the configuration of the rootdir.
    """
    from eval_skills.pytest_plugin.evaluation import Evaluator

    return Evaluator(pytestconfig, tmp_path_factory).evaluate


@pytest.fixture
def eval_task(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TaskOutcome | CompletionOutcome | BaselineOutcome:
    """What a test with the mark `eval_skills` is about: the results of its task, or of all tasks where it is about the completion
    rate or a comparison. All have `task_id` (None of all), `results`, `passed`, `explanation`, `called_a_forbidden_tool` and
    `report`.
    """
    from eval_skills.pytest_plugin.cases import outcome_of

    return outcome_of(request, tmp_path_factory)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the mark becomes one for each task."""
    if (mark := metafunc.definition.get_closest_marker(MARK)) is not None:
        from eval_skills.pytest_plugin.cases import parametrize

        parametrize(metafunc, mark, _several_marks(metafunc.definition))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a mark that made no cases (of a unittest.TestCase, say, or beside another): its test would pass without any
    evaluation.
    """
    _refuse_without_cases(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Refuse it also where a fixture added it."""
    _refuse_without_cases(item)


def _refuse_without_cases(item: pytest.Item) -> None:
    if MARK not in item.keywords or not item.get_closest_marker(MARK):
        return
    if "eval_task" not in getattr(item, "fixturenames", ()):
        pytest.fail(f"the mark {MARK} made no cases of this test: {_VALID}", pytrace=False)
    if several := _several_marks(item):
        pytest.fail(several, pytrace=False)


_VALID = (
    "it works on functions and on methods of plain classes only, and is written above them, on their class or in their module; "
    "what a parameter, a fixture or a hook of pytest adds comes too late"
)


def _several_marks(node: pytest.Item) -> str | None:
    """Why the marks of a test cannot be used together, where it, its class, its module or a parameter has several; else None."""
    found = [
        f"({', '.join([*map(repr, mark.args), *(f'{name}={value!r}' for name, value in mark.kwargs.items())])}) "
        f"of {getattr(where, 'originalname', where.name)}"
        for where, mark in node.iter_markers_with_node(MARK)
    ]
    if len(found) < 2:
        return None
    several = f"a test has one mark, and this one has {len(found)}: {', '.join(found)}"
    return f"mark {MARK}: {several}; write a function for each, and leave none to a class or module that they share"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of comparisons how many tasks they are not about: a test that passes shows nothing else."""
    said = {
        each.nodeid: dict(each.user_properties).get(NOT_COMPARED)
        for reports in terminalreporter.stats.values()
        for each in reports
        if isinstance(each, pytest.TestReport) and each.when == "call"
    }
    if lines := [f"{node}: {remark}" for node, remark in said.items() if remark]:
        terminalreporter.section("eval-skills")
        for line in lines:
            terminalreporter.line(line)
