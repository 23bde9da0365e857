"""The fixture `eval_skill`: a report to assert on, whose failures explain themselves."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.pytest_plugin.conftest import INI, NAMED, Project

SUITE = """
import pytest

@pytest.fixture(scope="module")
def shared(eval_skill):
    return eval_skill("skill", benchmark="sums.json")

def test_enough(eval_skill, tmp_path):
    report = eval_skill("skill", benchmark="sums.json", task_ids=["right"], runs=3, store=tmp_path / "kept")
    assert report.summary.completion_rate >= .9
    assert (report.summary.runs, len(report.task_results), report.failures) == (3, 3, [])
    assert list((tmp_path / "kept" / "reports").rglob("*.parquet"))

def test_too_little(eval_skill):
    report = eval_skill("skill", benchmark="sums.json")
    assert report.summary.completion_rate >= .9

def test_of_a_wider_fixture(shared):
    assert not shared.failures

async def test_on_a_running_loop(eval_skill):
    assert eval_skill("skill", benchmark="sums.json", task_ids=["right"]).summary.completion_rate == 1

def test_unrelated():
    assert 1 == 2
"""


def test_entries_of_a_foreign_file_that_are_no_tasks_are_a_warning_of_the_test_that_passes(project: Project) -> None:
    pytester = project(right="4")
    (pytester.path / "tests.csv").write_text("q,__expected\na,4\nb,python: True\n")
    pytester.makepyfile("""
import pytest

def test_fixture(eval_skill):
    assert eval_skill("skill", tasks="tests.csv").summary.runs == 1

@pytest.mark.eval_skills(skill="skill", tasks="tests.csv", min_completion=0)
def test_marked(): ...
""")
    result = pytester.runpytest_inprocess("-p", "no:randomly", "-W", "default::pytest.PytestWarning")
    result.assert_outcomes(passed=2, xfailed=1)
    said = "tests: entries that could not be read as tasks are left out: 1 because its assertion python is code"
    assert result.stdout.str().count(said) == 1
    result.stdout.fnmatch_lines(["*::test_fixture", "*::test_marked*", f"*{said}"])


@pytest.mark.slow
def test_a_failed_assertion_is_explained_where_pytest_and_junit_show_it(project: Project) -> None:
    pytester = project(right="4", wrong="5", broken="\x1b[31mno such tool")
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_inprocess("--junitxml=j.xml", "-p", "no:randomly")
    result.assert_outcomes(passed=2, failed=3)
    shown = result.stdout.str()
    assert (
        "where <sayer@1.0.0 on sums: completion 33.3 % (1 of 3 items), 1 failed, 1 error>" not in shown
    )  # pytest's own words vary
    headline = "sayer@1.0.0 on sums: completion 33.3 % (1 of 3 items), 1 failed, 1 error"
    cases = {case.get("name"): case.find("failure") for case in ElementTree.parse(pytester.path / "j.xml").iter("testcase")}
    for name in ("test_too_little", "test_of_a_wider_fixture"):
        failure = cases[name]
        assert failure is not None
        told = failure.text or ""
        assert headline in told
        assert 'wrong#1 failed\n    OUTPUT_MISMATCH: expected "4", got "5"' in told
        assert "broken#1 error (skill)\n    SKILL_ERROR: " in told
    assert "\\u001b[31mno such tool" in shown
    unrelated = cases["test_unrelated"]
    assert unrelated is not None
    assert "sayer" not in (unrelated.text or "")
    assert not (pytester.path / "eval-store").exists()
    assert not (pytester.path / "reports").exists()


BAD = {
    "no_skill": ('eval_skill("nowhere")', "nowhere: no such skill file or folder"),
    "no_benchmark": ('eval_skill("skill", benchmark="sum")', "unknown benchmark 'sum'"),
    "no_option": ('eval_skill("skill", benchmrk="sums.json")', "unknown option 'benchmrk' (did you mean 'benchmark'?)"),
    "no_number": ('eval_skill("skill", benchmark="sums.json", runs="3")', "runs: "),
    "no_task": ('eval_skill("skill", benchmark="sums.json", task_ids=["write"])', "has no task 'write'"),
    "not_a_path": ("eval_skill(7)", "skill must be the path of a skill.json or of its folder; got 7"),
    "function": ("eval_skill(len)", "; functions and other objects are for eval_skills.evaluate(skill, tasks)"),
    "tasks_in_place": ('eval_skill("skill", tasks=[{}])', "tasks must be the path of a file; a list is for eval_skills.ev"),
    "not_a_test": ('eval_skill("skill", resume="latest")', "unknown option 'resume'"),
    "no_case": ("eval_task.passed", "the fixture eval_task is for tests with @pytest.mark.eval_skills(...)"),
}


@pytest.mark.slow
def test_what_cannot_be_evaluated_is_one_clear_line(project: Project) -> None:
    pytester = project(right="4")
    tests = [
        f"def test_{name}({'eval_task' if 'eval_task' in call else 'eval_skill'}):\n    {call}\n"
        for name, (call, _) in BAD.items()
    ]
    pytester.makepyfile("\n".join(tests))
    result = pytester.runpytest_inprocess("--junitxml=j.xml")
    result.assert_outcomes(failed=len(BAD) - 1, errors=1)
    for case in ElementTree.parse(pytester.path / "j.xml").iter("testcase"):
        [trouble] = [*case.findall("failure"), *case.findall("error")]
        name = (case.get("name") or "").removeprefix("test_")
        assert BAD[name][1] in (trouble.get("message") or "")
        assert "Traceback" not in (trouble.text or "")
        assert len((trouble.text or "").splitlines()) == 1


@pytest.mark.slow
def test_the_configuration_of_the_project_counts_and_the_ini_file_names_the_store(project: Project) -> None:
    pytester = project(right="4")
    with (pytester.path / "tox.ini").open("a") as ini:
        ini.write("\neval_skills_store = ~/kept\n")
    (pytester.path / "eval-skills.config.yaml").write_text("runs: 2\nfailFast: true\nstore: elsewhere\nfind:\n  limit: 3\n")
    pytester.makepyfile("""
        def test_it(eval_skill):
            assert eval_skill("skill", benchmark="sums.json").summary.runs == 2
    """)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert list((pytester.path / "kept" / "items").rglob("*.parquet"))
    assert not (pytester.path / "elsewhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize("ini", [pytest.param("", id="kept-shortly"), pytest.param("eval_skills_store = kept", id="kept")])
def test_folders_of_the_project_that_nothing_is_written_to_need_not_be_writable(project: Project, ini: str) -> None:
    pytester = project(right="4")
    for name in ("eval-store", "reports"):
        (pytester.path / name).write_text("a file, below which nothing can be written")
    with (pytester.path / "tox.ini").open("a") as file:
        file.write(f"\n{ini}\n")
    pytester.makepyfile("""
        def test_it(eval_skill, pytestconfig, tmp_path_factory):
            assert eval_skill("skill", benchmark="sums.json").summary.completion_rate == 1
            kept, shortly = pytestconfig.rootpath / "kept", tmp_path_factory.getbasetemp() / "eval-store0"
            assert (kept if pytestconfig.getini("eval_skills_store") else shortly).joinpath("items").is_dir()
    """)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


@pytest.mark.slow
def test_who_does_not_use_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest, eval_skills.pytest_plugin.plugin\n"
        "heavy = ('prefect', 'pandas', 'numpy', 'pydantic', 'pyarrow', 'rich', 'eval_skills.core', 'eval_skills.tasks')\n"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


@pytest.mark.slow
def test_it_is_found_where_it_is_installed_and_can_be_left_out(project: Project) -> None:
    pytester = project()
    pytester.makeini(INI.replace(NAMED, "-p no:langsmith_plugin -p no:anyio"))
    pytester.makepyfile("def test_it(eval_skill): ...")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    result = pytester.runpytest_inprocess("-p", "no:eval_skills")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'eval_skill' not found*"])
