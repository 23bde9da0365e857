"""The mark `eval_skills`: a test case for each task, and one for the completion rate."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from eval_skills.core.llm import load_with_openai
from eval_skills.core.models import report
from eval_skills.engine.evaluation import summary
from eval_skills.engine.stored_runs import reports
from tests.scripted_model import ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project

pytestmark = pytest.mark.slow  # of seconds each, for whole evaluations

NO_TASK = "not wrong and not right and not rogue and not fine"
FORBIDDEN = {"output": "4", "toolCalls": [{"name": "rm", "arguments": {}}]}


def marked(name: str, *options: str, body: str = "...", arguments: str = "") -> str:
    """A test function with the mark."""
    return f"import pytest\n@pytest.mark.eval_skills({', '.join(options)})\ndef {name}({arguments}):\n    {body}\n"


def cases_in(pytester: pytest.Pytester) -> dict[str, Any]:
    """The cases of the JUnit file by name: how each ended, and what is said of it."""
    found: dict[str, Any] = {}
    for case in ElementTree.parse(pytester.path / "j.xml").iter("testcase"):
        ends = [part for part in case if part.tag != "properties"]
        properties = {each.get("name"): each.get("value") for each in case.iter("property")}
        found[case.get("name") or ""] = (
            (ends[0].tag, ends[0].get("message") or "", properties) if ends else ("passed", "", properties)
        )
    return found


def called(pytester: pytest.Pytester) -> list[str]:
    """The tasks that the skill was asked, in their order."""
    return (pytester.path / "skill" / "calls.log").read_text().split()


BUSY = ('skill="skill"', 'benchmark="sums.json"')


def test_each_task_is_a_case_and_so_is_the_completion_rate(project: Project) -> None:
    pytester = project(right="4", wrong="5", broken="cannot")
    pytester.makepyfile(marked("test_sums", *BUSY, "runs=2", "min_completion=0.9"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=1, failed=3)
    cases = cases_in(pytester)
    assert list(cases) == [f"test_sums[{name}]" for name in ("right", "wrong", "broken", "completion")]
    assert cases["test_sums[right]"][0] == "passed"
    assert cases["test_sums[right]"][2] == {
        "skill": "sayer@1.0.0", "benchmark": "sums", "runs": "2", "passed": "2", "status": "pass pass",
    }  # fmt: skip
    tag, message, _ = cases["test_sums[wrong]"]
    assert tag == "failure"
    assert "task wrong: 0 of 2 runs passed" in message
    assert 'wrong#2 failed\n    OUTPUT_MISMATCH: expected "4", got "5" (at output)' in message
    assert "broken#1 error (skill)\n    SKILL_ERROR: " in cases["test_sums[broken]"][1]
    tag, message, properties = cases["test_sums[completion]"]
    assert (tag, properties["min_completion"]) == ("failure", "0.9")
    assert "90.0 % completion is asked for\nsayer@1.0.0 on sums: completion 33.3 % (2 of 6 items), 2 failed, 2 errors" in message
    assert sorted(called(pytester)) == sorted(["right", "wrong", "broken"] * 2), "one evaluation for all cases"


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        pytest.param([], {"passed": 2, "xfailed": 1, "failed": 2}, id="what-failed-is-expected-to-but-for-forbidden-tools"),
        pytest.param(["--runxfail"], {"passed": 2, "failed": 3}, id="runxfail"),
        pytest.param(["-k", NO_TASK], {"failed": 1}, id="the-rate-alone-does-not-pass-over-a-forbidden-tool"),
        pytest.param(["-k", "wrong or right"], {"passed": 1, "failed": 1}, id="without-the-gate-each-task-must-pass"),
    ],
)
def test_while_the_completion_holds_a_task_may_fail(project: Project, arguments: list[str], outcomes: dict[str, int]) -> None:
    pytester = project(right="4", wrong="5", rogue=FORBIDDEN, fine="4")
    pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0.5"))
    pytester.runpytest_inprocess("--junitxml=j.xml", *arguments).assert_outcomes(
        **outcomes, deselected=5 - sum(outcomes.values())
    )
    cases = cases_in(pytester)
    if not arguments:
        assert cases["test_sums[wrong]"][0] == "skipped"
        assert "completion 50.0 % is enough, 50.0 % is asked for" in cases["test_sums[wrong]"][1]
        assert "OUTPUT_MISMATCH" in cases["test_sums[wrong]"][1]
        assert "forbidden tool 'rm' was called 1 time" in cases["test_sums[rogue]"][1]
    if NO_TASK in arguments:
        assert "forbidden tools were called in 1 item" in cases["test_sums[completion]"][1]


def test_no_completion_is_enough_where_no_item_has_a_verdict(project: Project) -> None:
    pytester = project(right="4", wrong="5")
    benchmark = pytester.path / "sums.json"
    benchmark.write_text(benchmark.read_text().replace('"expected": null', '"evaluator": {"type": "cost", "limitUsd": 1}'))
    pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(failed=3)
    assert "sayer@1.0.0 has no item with a verdict" in cases_in(pytester)["test_sums[completion]"][1]


@pytest.fixture(scope="module")
def what_asks_models() -> None:
    """What is imported later than `pytester` begins is forgotten at its end, and neither of these can be imported twice."""
    load_with_openai()
    import_module("importlib_metadata")


@pytest.mark.usefixtures("what_asks_models")
@pytest.mark.parametrize(
    ("lost", "kind", "said"),
    [
        pytest.param({"inputData": {"task": "lost", "say": "4"}}, "judge", "1 item could not be judged", id="judge"),
        pytest.param({"user": {"goal": "lost"}}, "simulator", "the simulated user failed in 1 item", id="user"),
    ],
)
def test_no_completion_is_enough_where_a_model_failed(project: Project, lost: Any, kind: str, said: str) -> None:
    pytester = project(right="4", wrong="5")
    judged = {"evaluator": {"type": "llm_judge", "criteria": "It is right."}}
    benchmark = json.loads((pytester.path / "sums.json").read_text())
    (pytester.path / "sums.json").write_text(
        json.dumps(benchmark | {"tasks": [*benchmark["tasks"], {"id": "lost", **judged, **lost}]})
    )
    with ScriptedModel() as model:
        model.otherwise = lambda asked: failure(422, "not this one") if "lost" in asked.prompt else verdict()
        llm = {"model": "openai/scripted", "apiBase": model.url, "cacheDir": str(pytester.path / "cache")}
        pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0.3", f"llm={llm}"))
        ended = pytester.runpytest_inprocess("--junitxml=j.xml")
    ended.assert_outcomes(passed=1, xfailed=1, failed=2)
    cases = cases_in(pytester)
    assert [name for name, (ended, _, _) in cases.items() if ended == "failure"] == ["test_sums[lost]", "test_sums[completion]"]
    assert f"lost#1 error ({kind})" in cases["test_sums[lost]"][1]
    assert f"30.0 % completion is asked for\n{said}\nsayer@1.0.0" in cases["test_sums[completion]"][1]


@pytest.mark.usefixtures("what_asks_models")
def test_a_judging_model_of_the_mark_is_asked_at_the_address_of_the_configuration(project: Project) -> None:
    pytester = project(right="4")
    benchmark = json.loads((pytester.path / "sums.json").read_text())
    judged = {"evaluator": {"type": "llm_judge", "criteria": "It is right."}, "inputData": {"task": "judged", "say": "4"}}
    (pytester.path / "sums.json").write_text(json.dumps(benchmark | {"tasks": [{"id": "judged", **judged}]}))
    with ScriptedModel() as model:
        model.otherwise = lambda asked: verdict()
        llm = {"model": "openai/configured", "apiBase": model.url, "cacheDir": str(pytester.path / "cache")}
        (pytester.path / "eval-skills.config.yaml").write_text(json.dumps({"llm": llm}))
        pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=1", 'llm={"model": "openai/other"}'))
        ended = pytester.runpytest_inprocess()
    ended.assert_outcomes(passed=2)
    assert {asked.body["model"] for asked in model.asked} == {"other"}


FAILURES = """
def test_failures(eval_skill):
    assert not eval_skill("skill", benchmark="sums.json").failures
"""


def test_a_report_of_figures_alone_lets_nothing_pass(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (summary, reports, report):
        monkeypatch.setattr(room, "MAX_DETAILED_ITEMS", 2)
    pytester = project(right="4", wrong="5", rogue=FORBIDDEN)
    pytester.makepyfile(test_it=marked("test_sums", *BUSY, "min_completion=0.3") + FAILURES)
    pytester.runpytest_inprocess("-k", "sums", "--junitxml=j.xml").assert_outcomes(errors=4, deselected=1)
    said = "3 items are more than the 2 that a report lists one by one, as the cases of tasks need it; ask fewer tasks or runs"
    assert said in cases_in(pytester)["test_sums[right]"][1]
    assert not (pytester.path / "skill" / "calls.log").exists()
    pytester.runpytest_inprocess("-k", "completion or failures", "--junitxml=j.xml").assert_outcomes(failed=2, deselected=3)
    cases = cases_in(pytester)
    assert "forbidden tools were called in 1 item" in cases["test_sums[completion]"][1]
    assert "the report of 3 items holds their figures only" in cases["test_failures"][1]


def test_a_task_that_left_the_benchmark_since_the_cases_were_made_does_not_pass(project: Project) -> None:
    pytester = project(right="4", gone="4")
    pytester.makeconftest("""
        import json, pathlib
        def pytest_collection_finish():
            file = pathlib.Path("sums.json")
            benchmark = json.loads(file.read_text())
            file.write_text(json.dumps({**benchmark, "tasks": benchmark["tasks"][:1]}))
    """)
    pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0.5"))
    pytester.runpytest_inprocess().assert_outcomes(passed=2, failed=1)


def test_a_task_does_not_take_the_name_of_a_case_about_all_tasks(project: Project) -> None:
    pytester = project(completion="5", baseline="5", **{"task-baseline": "4", "right": "4"})
    pytester.makepyfile(test_it=marked("test_sums", *BUSY, "min_completion=0.5"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=3, xfailed=2)
    names = ("task-completion", "task-task-baseline", "task-baseline", "right", "completion")
    assert list(cases_in(pytester)) == [f"test_sums[{name}]" for name in names]
    pytester.runpytest_inprocess("test_it.py::test_sums[completion]").assert_outcomes(passed=1)


def test_p40_an_attempt_that_died_leaves_the_gate_of_forbidden_tools_shut(project: Project) -> None:
    pytester = project(right="4", rogue={"output": "4", "toolCalls": []})
    program = pytester.path / "skill" / "skill.py"
    dies = """
    if asked["task"] == "rogue" and not pathlib.Path("died").exists():
        pathlib.Path("died").touch()
        sys.exit(1)
    reply ="""
    program.write_text(program.read_text().replace("\n    reply =", dies))
    pytester.makepyfile(marked("test_sums", *BUSY, "retries=1", "min_completion=0.5"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=1, failed=2)
    cases = cases_in(pytester)
    assert "1 of 1 run passed" in cases["test_sums[rogue]"][1]
    assert "which ones an earlier attempt called is unknown" in cases["test_sums[rogue]"][1]
    assert "whether a forbidden tool was called is unknown in 1 item" in cases["test_sums[completion]"][1]


def test_what_nobody_asks_for_is_not_evaluated(project: Project) -> None:
    pytester = project(right="4", wrong="5", broken="cannot")
    pytester.makepyfile(marked("test_sums", *BUSY))
    pytester.runpytest_inprocess("-k", "right").assert_outcomes(passed=1, deselected=2)
    assert called(pytester) == ["right"]


def test_marks_that_ask_for_the_same_share_the_evaluation_and_not_the_gate(project: Project) -> None:
    pytester = project(right="4", wrong="5")
    own = marked("test_strict", *BUSY) + marked("test_lenient", *BUSY, "min_completion=0.5")
    pytester.makepyfile(own + marked("test_more", *BUSY, arguments="eval_task", body="assert not eval_task.passed"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=3, failed=3, xfailed=1)
    cases = cases_in(pytester)
    assert cases["test_strict[wrong]"][0] == "failure"
    assert cases["test_lenient[wrong]"][0] == "skipped"
    assert cases["test_more[right]"][0] == "failure", "the body of the test may ask for more"
    assert sorted(called(pytester)) == ["right", "wrong"]


BAD = {
    "no_skill": (('"nowhere"',), "nowhere: no such skill file or folder"),
    "skill_missing": (('benchmark="sums.json"',), "skill is missing"),
    "skill_misspelt": (('skil="skill.json", benchmark="sums.json"',), "skil= was given"),
    "no_benchmark": (('"skill"', 'benchmark="sum"'), "unknown benchmark 'sum'"),
    "no_option": (('"skill"', "min_completon=1"), "unknown option 'min_completon'"),
    "no_rate": (('"skill"', "min_completion=90"), "min_completion must be a number from 0 to 1; got 90"),
    "nan": (('"skill"', 'min_completion=float("nan")'), "min_completion must be a number from 0 to 1; got nan"),
    "no_runs": (('"skill"', "runs=0"), "runs: "),
    "mixed_keys": (('"skill"', 'llm={1: 2, "model": "m"}'), "options are values that JSON can say, whose keys are texts; got"),
    "json_as_path": (('"skill"', f'tasks="{300 * "x"}"'), "too long"),
    "no_path": (('"skill"', r'tasks="a\0b"'), "embedded null "),
    "positional": (('"skill"', '"sums.json"'), "everything but the skill is named"),
}


def test_a_wrong_mark_is_an_error_of_its_test_alone_in_one_line(project: Project) -> None:
    pytester = project(right="4")
    bad = {f"test_{name}": marked(f"test_{name}", *options) for name, (options, _) in BAD.items()}
    pytester.makepyfile(**bad, test_fine="def test_fine(): ...\n")
    result = pytester.runpytest_inprocess("-rE")
    result.assert_outcomes(errors=len(BAD), passed=1)
    lines = result.stdout.lines
    for name, (_, said) in BAD.items():
        assert [line for line in lines if line.startswith(f"ERROR test_{name}.py::test_{name}[mark]")], name
        assert [line for line in lines if line.startswith("mark eval_skills: ") and said in line], name


SEVERAL = """
import pytest
mark = pytest.mark.eval_skills
right, other = mark("skill", benchmark="sums.json"), mark("nowhere")

@other
@right
def test_stacked(): ...

class TestListed:
    pytestmark = [right, other]
    def test_it(self): ...

@other
class TestMarked:
    @right
    def test_it(self): ...

class TestInherits(TestMarked):
    @right
    def test_it(self): ...

@right
@pytest.mark.parametrize("value", [1, pytest.param(2, marks=other)])
def test_parameter(value): ...

@right
def test_one(): ...
"""


def test_several_marks_of_a_test_are_an_error(project: Project) -> None:
    pytester = project(right="4")
    pytester.makepyfile(test_it=SEVERAL)
    result = pytester.runpytest_inprocess("--junitxml=j.xml")
    result.assert_outcomes(errors=5, passed=2)
    assert called(pytester) == ["right"]
    cases = cases_in(pytester)
    assert {name for name, (ended, _, _) in cases.items() if ended == "passed"} == {"test_one[right]", "test_parameter[right-1]"}
    for name, where in (("test_stacked[mark]", "test_stacked"), ("test_parameter[right-2]", "test_parameter")):
        said = (
            f"a test has one mark, and this one has 2: ('skill', benchmark='sums.json') of {where}, ('nowhere') of {where}; write"
        )
        assert said in cases[name][1]
    said = "has 2: ('skill', benchmark='sums.json') of test_it, ('nowhere') of TestMarked; write a function for each"
    assert [line for line in result.stdout.lines if said in line]


def test_the_case_of_the_completion_rate_has_an_outcome_too(project: Project) -> None:
    pytester = project(right="4", wrong="5")
    body = """seen = (eval_task.task_id, len(eval_task.results), eval_task.passed, eval_task.called_a_forbidden_tool)
    if eval_task.task_id is None:
        assert seen == (None, 2, True, False)
        assert (eval_task.completion_rate, eval_task.min_completion) == (0.5, 0.5)
        assert "50.0 % completion is asked for" in eval_task.explanation and "wrong#1 failed" in eval_task.explanation
        assert eval_task.report.skill_id == "sayer"
    """
    pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0.5", body=body, arguments="eval_task"))
    pytester.runpytest_inprocess().assert_outcomes(passed=2, xfailed=1)


def test_the_body_runs_before_a_task_fails_and_its_failure_is_no_expected_one(project: Project) -> None:
    pytester = project(right="4", wrong="5", worse="6", odd="7", even="8")
    body = """print("saw", eval_task.task_id)
    said = {result.output for result in eval_task.results} if eval_task.task_id else set()
    assert "5" not in said, "must never be said"
    if "6" in said:
        pytest.fail("nor this")
    if "7" in said:
        eval_task.results.clear()
    if "8" in said:
        pytest.skip("not of interest")
    """
    pytester.makepyfile(marked("test_sums", *BUSY, "min_completion=0.2", arguments="eval_task", body=body))
    result = pytester.runpytest_inprocess("--junitxml=j.xml", "-s")
    result.assert_outcomes(passed=2, failed=2, xfailed=1, skipped=1)
    assert [line for line in result.stdout.lines if "saw None" in line]
    cases = cases_in(pytester)
    for name, said in (("wrong", "must never be said"), ("worse", "nor this")):
        ended, message, _ = cases[f"test_sums[{name}]"]
        assert (ended, said in message) == ("failure", True)
        assert f"task {name}: 0 of 1 run passed" in message, "why the task did not pass is said, too"


def test_a_mark_that_cannot_make_cases_is_refused(project: Project) -> None:
    pytester = project(right="4")
    pytester.makepyfile("""
        import unittest, pytest
        MARK = pytest.mark.eval_skills("skill")
        class TestSums(unittest.TestCase):
            @MARK
            def test_it(self): ...
            def test_other(self): ...
        @pytest.mark.parametrize("value", [1, pytest.param(2, marks=MARK)])
        def test_parameter(value): ...
        @pytest.fixture
        def late(request):
            request.applymarker(MARK)
        def test_fixture(late): ...
    """)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=2, passed=2, failed=1)
    refused = "*the mark eval_skills made no cases of this test: it works on functions and on methods of plain classes only*"
    result.stdout.fnmatch_lines([refused] * 3)


def test_a_fixture_that_hides_the_plugins_is_named(project: Project) -> None:
    pytester = project(right="4")
    hiding = "@pytest.fixture\ndef eval_task(): ...\n"
    pytester.makepyfile(marked("test_sums", *BUSY) + hiding)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mark eval_skills: a fixture called eval_task takes the place of the plugin's; rename it"])


def test_a_limit_is_spent_once_by_all_cases_together(project: Project) -> None:
    pytester = project(**{name: {"output": "4", "costUsd": 1} for name in ("right", "wrong", "fine", "odd")})
    pytester.makepyfile(test_it=marked("test_sums", *BUSY, *LIMIT))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(errors=5)
    assert len(called(pytester)) == 1
    assert_one_says_that_the_limit_stopped_it(cases_in(pytester))


LIMIT = ("max_cost=1", "concurrency=1", "min_completion=0")


def assert_one_says_that_the_limit_stopped_it(cases: dict[str, Any]) -> None:
    said = {name: message for name, (_, message, _) in cases.items()}
    (first,) = [name for name, text in said.items() if "stopped at max_cost 1: $1.00 spent, 1 of 4 items done; raise the" in text]
    refers = f"not evaluated: the evaluation ended with an error, which test_it.py::{first} shows"
    assert [refers in text for name, text in said.items() if name != first] == [True] * 4


@pytest.mark.slow
def test_workers_of_xdist_share_the_evaluation_a_limit_and_what_a_comparison_leaves_out(project: Project) -> None:
    says = {"right": "4", "wrong": "5", "fine": "4", "odd": "5"}
    pytester = project(**{name: {"output": say, "costUsd": 1} for name, say in says.items()})
    written = pytester.makepyfile(test_it=KEEP)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    (pytester.path / "skill" / "calls.log").unlink()
    said = leave_one_out(pytester)
    shared = marked("test_sums", *BUSY, "min_completion=0.5", 'baseline="main.json"')
    written.write_text(shared + marked("test_limited", *BUSY, *LIMIT))
    pytester.makeconftest(LOADED)
    result = pytester.runpytest_subprocess("-n", "2", "-q", "--junitxml=j.xml", timeout=300)
    result.assert_outcomes(passed=4, xfailed=2, errors=5)
    calls = Counter(called(pytester))
    assert (set(calls), calls.total()) == (set(says), len(says) + 1), "each once, and the one that the limit allowed"
    limited = {name: case for name, case in cases_in(pytester).items() if name.startswith("test_limited")}
    assert_one_says_that_the_limit_stopped_it(limited)
    result.stdout.fnmatch_lines(["*= eval-skills =*", f"test_it.py::test_sums[[]baseline]: {said}"])
    commands = [file.read_text() for file in pytester.path.glob("loaded-*")]
    assert commands == [""] * 3, "reading the configuration imports every command"


LOADED = """
import os, pathlib, sys
def pytest_sessionfinish():
    commands = [name for name in sys.modules if name.startswith("eval_skills.cli.commands.")]
    pathlib.Path(f"loaded-{os.getpid()}").write_text(" ".join(commands))
"""

KEEP = """
import json, pathlib
def test_keep(eval_skill):
    report = eval_skill("skill", benchmark="sums.json", runs=2)
    pathlib.Path("main.json").write_text(json.dumps([report.to_json()]))
"""


def test_a_baseline_is_a_case_that_fails_where_the_skill_is_worse(project: Project) -> None:
    pytester = project(**{f"t{number}": "4" for number in range(8)})
    keep = pytester.makepyfile(test_it=KEEP)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    keep.write_text(marked("test_sums", *BUSY, "runs=2", 'baseline="main.json"', body="assert True"))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=9)
    assert cases_in(pytester)["test_sums[baseline]"][2]["baseline"] == "main.json"
    keep.write_text(marked("test_sums", *BUSY, "runs=2", 'baseline="main.json"', "margin=0.03"))
    pytester.runpytest_inprocess("--junitxml=j.xml", "-k", "baseline").assert_outcomes(failed=1, deselected=8)
    assert "not proven that it lost less than 0.03" in cases_in(pytester)["test_sums[baseline]"][1]
    program = pytester.path / "skill" / "skill.py"
    program.write_text(program.read_text().replace('{"result": asked["say"]}', '{"result": "5"}'))
    keep.write_text(marked("test_sums", *BUSY, "runs=2", 'baseline="main.json"'))
    pytester.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(failed=9)
    message = cases_in(pytester)["test_sums[baseline]"][1]
    assert "compared with main.json" in message
    assert "sayer@1.0.0 is worse: mean difference -1.0000" in message


def test_a_baseline_that_called_a_forbidden_tool_too_is_no_excuse(project: Project) -> None:
    pytester = project(rogue=FORBIDDEN, **{f"t{number}": "4" for number in range(5)})
    keep = pytester.makepyfile(test_it=KEEP)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    keep.write_text(marked("test_sums", *BUSY, "runs=2", 'baseline="main.json"'))
    pytester.runpytest_inprocess("--junitxml=j.xml", "-k", "baseline").assert_outcomes(failed=1, deselected=6)
    assert "sayer@1.0.0 called forbidden tools in 2 items" in cases_in(pytester)["test_sums[baseline]"][1]


def test_a_comparison_says_of_how_many_tasks_it_says_nothing_also_where_it_passes(project: Project) -> None:
    pytester = project(**{f"t{number}": "4" for number in range(6)})
    keep = pytester.makepyfile(test_it=KEEP)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    said = leave_one_out(pytester)
    keep.write_text(marked("test_sums", *BUSY, "runs=2", 'baseline="main.json"'))
    result = pytester.runpytest_inprocess("--junitxml=j.xml", "-rP")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(
        ["*Captured eval-skills call*", said, "*= eval-skills =*", f"test_it.py::test_sums[[]baseline]: {said}"]
    )
    assert cases_in(pytester)["test_sums[baseline]"][2]["not_compared"] == said


def leave_one_out(pytester: pytest.Pytester) -> str:
    """Changes a task, and returns what a comparison with an earlier run then says."""
    benchmark = pytester.path / "sums.json"
    tasks = json.loads(benchmark.read_text())
    tasks["tasks"][0]["tags"] = ["hard"]
    benchmark.write_text(json.dumps(tasks))
    return "1 task of the earlier side changed, left or is judged otherwise, and was not compared"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("margin=0.03",), "margin is the loss that baseline must rule out"),
        (('baseline="main.json"', "margin=3"), "margin must be a number from 0 to 1; got 3"),
        (('baseline="latest"',), "baseline is a JSON report or a run id of the store; got 'latest'"),
        (('baseline="nowhere.json"',), "no such file"),
        (('baseline="20261121T233824Z-3f9a"',), "name the store with eval_skills_store in the ini file"),
    ],
)
def test_a_baseline_that_cannot_be_used_fails_its_case(project: Project, options: tuple[str, ...], says: str) -> None:
    pytester = project(right="4")
    pytester.makepyfile(test_it=marked("test_sums", *BUSY, *options))
    pytester.runpytest_inprocess("--junitxml=j.xml")
    *_, (ended, message, _) = cases_in(pytester).values()
    assert ended in {"failure", "error"}
    assert says in message
