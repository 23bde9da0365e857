"""Nights against a real Prefect server, with a skill whose mood a file decides."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Store, sqlite_mirror
from eval_skills.engine.nightly.execution import finish_night_without_prefect
from eval_skills.engine.nightly.plan import NightPlan
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightSummary, NoSuiteRan
from eval_skills.flows import nightly
from eval_skills.flows.lost_api import Result, flow_result
from eval_skills.tasks import nightly as tasks
from tests.engine.nightly.test_effect import Project as EffectProject
from tests.object_storage import ObjectStorage
from tests.prefect_server import QUICK
from tests.warm_command import PROGRAM, WarmCommand

pytestmark = pytest.mark.usefixtures("prefect_url")
Ask = Callable[..., Any]

SKILL = """
import json, pathlib, sys
mood = pathlib.Path("mood.json")
for line in sys.stdin:
    request = json.loads(line)
    what, moods = request["params"]["what"], json.loads(mood.read_text())
    answer = moods.get(what, "ok")
    if answer == "once":
        mood.write_text(json.dumps({**moods, what: "ok"}))
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "ok" if answer == "ok" else "wrong"}), flush=True)
"""


class Project:
    """A folder with a skill, eight tasks and a file of suites; `nights` are its nights so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.skill = self.make_skill("moody")
        tasks = [{"id": f"t{n}", "inputData": {"what": f"t{n}"}, "expectedOutput": {"value": "ok"}} for n in range(8)]
        (folder / "tasks.json").write_text(json.dumps(tasks))
        self.suites([self.suite("moods", "moody")])

    def make_skill(self, name: str, program: str = f"{sys.executable} -ISs skill.py") -> Path:
        path = self.folder / name
        path.mkdir()
        described = {"id": name, "name": name, "version": "1.0.0", "adapterType": "subprocess", "entrypoint": program}
        (path / "skill.json").write_text(json.dumps({**described, "adapterConfig": {"persistent": True}}))
        (path / "skill.py").write_text(SKILL)
        (path / "mood.json").write_text("{}")
        return path

    def suite(self, name: str, *skills: str, **more: Any) -> dict[str, Any]:
        options = {"tasks": "tasks.json", "concurrency": 1, "timeoutMs": 120_000}
        return {"name": name, "skills": list(skills), "benchmark": "coding-easy", "options": options, **more}

    def suites(self, suites: list[dict[str, Any]]) -> None:
        (self.folder / "suites.json").write_text(json.dumps({"suites": suites}))

    def mood(self, **moods: str) -> None:
        (self.skill / "mood.json").write_text(json.dumps(moods))

    @property
    def store(self) -> Store:
        return Store(self.folder / "store")

    def night(self, **options: Any) -> NightSummary:
        where = {"suites": str(self.folder / "suites.json"), "store": str(self.folder / "store")}
        found: NightSummary = nightly(NightlyRequest(**{**where, **options}))
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def verdicts(summary: NightSummary) -> dict[str, str]:
    return {
        f"{suite.name}/{skill.report.skill_id}": skill.classification.verdict
        for suite in summary.suites
        for skill in suite.skills
    }


def state_of(ask: Ask, summary: NightSummary) -> dict[str, Any]:
    [flow_run] = ask("flow_runs/filter", flow_runs={"id": {"any_": [summary.flow_runs[0]]}})
    found: dict[str, Any] = flow_run["state"]
    return found


def test_the_first_night_has_nothing_to_compare_with_and_is_recorded(project: Project, ask: Ask) -> None:
    kept = Result()
    with flow_result.by(kept):
        summary = project.night()
    assert kept.summary == summary, "what a caller shows where Prefect could not record the end"
    assert verdicts(summary) == {"moods/moody": "new"}
    assert summary.line == "1 of 1 suite ran, 1 skill: nothing to compare with yet"
    state = state_of(ask, summary)
    assert (state["type"], state["message"]) == ("COMPLETED", summary.line)
    (row,) = project.store.nights().to_dict("records")
    assert (row["night_id"], row["suite"], row["verdict"], row["good"]) == (summary.night_id, "moods", "new", True)
    provenance = project.store.manifest(row["run_id"]).provenance
    file = provenance.pop("suites")
    assert provenance == {"suite": "moods", "night": summary.night_id, "flowRun": summary.flow_runs[0]}
    assert (Path(file).is_absolute(), Path(file).is_file()) == (True, True)
    for key in ("ranking", "diff", "trend"):
        named = {"key": {"any_": [f"eval-skills-{key}-moods"]}, "flow_run_id": {"any_": summary.flow_runs[:1]}}
        assert len(ask("artifacts/filter", artifacts=named)) == 1


@pytest.mark.slow
def test_a_task_that_breaks_is_confirmed_told_and_stays_until_it_is_back(project: Project, ask: Ask) -> None:
    good = project.night()
    project.mood(t3="wrong")
    bad = project.night()
    assert verdicts(bad) == {"moods/moody": "regressed"}
    assert bad.line == "1 of 1 suite ran, 1 skill: 1 regressed"
    assert not bad.gate_passed
    confirming = bad.suites[0].skills[0].confirm_run_id
    assert confirming is not None
    items = project.store.items(run_id=confirming)
    assert (set(items["task_id"]), len(items), set(items["origin"])) == ({"t3"}, 6, {"confirm"})
    assert project.store.manifest(confirming).provenance["of"] == bad.suites[0].run_id
    project.mood()
    back = project.night()
    assert verdicts(back) == {"moods/moody": "recovered"}
    assert back.suites[0].last_good == good.suites[0].run_id
    assert state_of(ask, bad)["type"] == "COMPLETED"


@pytest.mark.slow
def test_a_night_that_is_stopped_while_it_is_announced_is_announced_by_its_resume(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.night()
    project.mood(t3="wrong")
    announced: list[str] = []

    def stopped(*, event: str, **more: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "emit_event", stopped)
        with pytest.raises(RuntimeError, match="killed"):
            project.night()
    monkeypatch.setattr(tasks, "emit_event", lambda *, event, **more: announced.append(event))
    summary = project.night(resume="latest")
    assert verdicts(summary) == {"moods/moody": "regressed"}
    assert "eval-skills.regression" in announced
    assert project.store.nights()["night_id"].nunique() == 2
    with pytest.raises(UsageError, match="no night"):
        project.night(resume="latest")


@pytest.mark.slow
def test_a_skill_that_was_repaired_before_its_night_is_continued_is_not_called_flaky(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.night()
    project.mood(t3="wrong")

    def killed(*_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(NightPlan, "confirmation", killed)
        with pytest.raises(RuntimeError, match="killed"):
            project.night()
    project.mood()
    summary = project.night(resume="latest")
    (skill,) = summary.suites[0].skills
    assert (skill.classification.verdict, summary.gate_passed, skill.good) == ("suspect", False, False)
    assert skill.classification.explanation == (
        "could not be judged: t3 moved, and fresh runs did not confirm it, but the skill's files changed before them; "
        "later nights are not compared with this one"
    )


@pytest.mark.slow
def test_what_fresh_runs_do_not_confirm_is_flaky_and_no_alarm(project: Project) -> None:
    project.night()
    project.mood(t3="once")
    summary = project.night()
    assert verdicts(summary) == {"moods/moody": "flaky"}
    assert summary.gate_passed
    assert summary.suites[0].good


def test_a_suite_that_cannot_run_stops_no_other(project: Project, ask: Ask) -> None:
    project.make_skill("down", "no-such-interpreter skill.py")
    missing = project.suite("missing", "nowhere")
    project.suites([missing, project.suite("down", "down"), project.suite("moods", "moody")])
    summary = project.night()
    assert verdicts(summary) == {"down/down": "failed", "moods/moody": "new"}
    assert [suite.good for suite in summary.suites] == [False, False, True]
    assert summary.line.startswith("1 of 3 suites ran, 2 skills: run failed in missing, down")
    assert "nowhere" in summary.suites[0].failures[0]
    assert "down@1.0.0 could not be reached" in summary.suites[1].failures[0]
    assert state_of(ask, summary)["type"] == "COMPLETED"
    assert not summary.gate_passed


def test_a_suite_whose_run_could_not_be_published_at_once_is_compared_all_the_same(
    project: Project, url: str, object_storage: ObjectStorage
) -> None:
    refused = iter(["403 Forbidden"])  # as where the rights of a session end, and are renewed
    object_storage.before = lambda method, path: next(refused, None) if method == "PUT" and "/items/" in path else None
    summary = project.night(store=url)
    assert verdicts(summary) == {"moods/moody": "new"}
    [remark] = summary.suites[0].remarks
    assert "cannot be written to" in remark
    assert summary.gate_passed
    object_storage.forget()
    assert list(Store(url).nights()["verdict"]) == ["new"]
    Store(url).publish()
    assert object_storage.of("PUT") == [], "what the night recorded took along what the run had left"


def test_a_suite_whose_run_could_not_be_mirrored_is_compared_all_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_mirror, "_BUSY_TIMEOUT_S", 0.1)
    mirror = project.folder / "results.db"
    with closing(sqlite3.connect(mirror, isolation_level=None)) as somebody:
        somebody.execute("BEGIN EXCLUSIVE")
        summary = project.night(store=str(mirror))
    assert verdicts(summary) == {"moods/moody": "new"}
    [remark] = summary.suites[0].remarks
    assert f"database is locked; end what else uses it, or free disk space, and mirror the run, which is kept in {mirror}" in (
        remark.replace(".store", ".db")
    )
    assert list(Store(mirror).nights()["verdict"]) == ["new"]


def test_p54_the_flow_run_fails_only_if_nothing_ran_at_all(project: Project, ask: Ask) -> None:
    project.suites([project.suite("missing", "nowhere")])
    with pytest.raises(NoSuiteRan, match=r"no suite could run: .*nowhere") as caught:
        project.night()
    state = state_of(ask, caught.value.summary)
    assert (state["type"], state["message"]) == ("FAILED", "0 of 1 suite ran, 0 skills: run failed in missing")
    assert list(project.store.nights()["verdict"]) == ["failed"]


def test_a_wrong_file_of_suites_is_refused(project: Project) -> None:
    project.suites([{"name": "a"}])
    with pytest.raises(InputError, match=r"suites\[0\].skills"):
        project.night()
    assert not (project.folder / "store").exists()


def test_an_effect_has_its_own_artifact_and_its_arms_are_no_skills_of_the_night(
    tmp_path: Path, prefect_url: str, ask: Ask
) -> None:
    effect = EffectProject(tmp_path)
    effect.write("yes", bare="no")
    summary = nightly(effect.request)
    assert verdicts(summary) == {"csv/csv-with": "new"}
    named = {"key": {"any_": ["eval-skills-effect-csv"]}, "flow_run_id": {"any_": summary.flow_runs[:1]}}
    [artifact] = ask("artifacts/filter", artifacts=named)
    assert "## with − without: +100.0 pp, ✔ better" in artifact["data"]
    assert f"| {summary.night_id} | without | +100.0 pp |" in artifact["data"]


SERVE = """
import sys
from prefect import serve
from prefect.context import refresh_global_settings_context
from prefect.types.entrypoint import EntrypointType
from eval_skills.flows import evaluate
refresh_global_settings_context()
sys.executable = sys.argv[1]
serve(evaluate.to_deployment("worker", entrypoint_type=EntrypointType.MODULE_PATH), limit=2)
"""
"""A worker, which begins the processes of its runs with the Python that is named."""


@pytest.mark.slow
def test_a_suite_can_run_on_another_worker_and_its_results_land_in_the_shared_store(
    project: Project, prefect_url: str, ask: Ask, warm_command: WarmCommand, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project.suites([project.suite("there", "moody")])
    project.night()
    project.mood(t1="wrong")
    limited = project.suite("limited", "moody", via="evaluate/worker")
    limited["options"]["maxDurationS"] = 1e-6
    project.suites(
        [project.suite("there", "moody", via="evaluate/worker"), project.suite("nobody", "moody", via="evaluate/none"), limited]
    )
    environ = {**os.environ, **QUICK, "PREFECT_API_URL": prefect_url}
    python = warm_command.python_shim(tmp_path_factory.mktemp("shim"))
    worker = warm_command.start([PROGRAM, SERVE, str(python)], cwd=project.folder, environment=environ)
    try:
        wait_for(lambda: ask("deployments/count", deployments={"name": {"any_": ["worker"]}}) == 1)
        summary = project.night()
    finally:
        os.kill(worker.pid, signal.SIGTERM)
        worker.output(timeout=60)
    assert summary.suites[0].failures == []
    assert "deployment evaluate/none could not be started" in summary.suites[1].failures[0]
    assert "deployment evaluate/worker completed, but its run " in summary.suites[2].failures[0]
    assert " stopped at its time limit; continue with: eval-skills eval --resume " in summary.suites[2].failures[0]
    run_id = summary.suites[0].run_id
    assert run_id is not None
    assert len(project.store.items(run_id=run_id)) == 8
    assert verdicts(summary) == {"there/moody": "regressed"}
    assert summary.suites[0].skills[0].confirm_run_id is not None


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + 120
    while not condition():
        assert monotonic() < deadline, "it did not happen"
        sleep(0.2)


class TestInterruptedNights:
    """What an interrupted night had finished is not asked again, and the rest belongs to the same night."""

    @pytest.fixture
    def interrupted(self, project: Project) -> tuple[Project, str]:
        """A night of two suites that ended before the second began, and its id."""
        project.suites([project.suite("first", "moody"), project.suite("second", "moody")])
        whole = project.night()
        shutil.rmtree(project.folder / "store" / "nights")
        for path in list((project.folder / "store").rglob(f"{whole.suites[1].run_id}*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return project, whole.night_id

    def test_the_rest_is_evaluated_and_the_night_recorded(self, interrupted: tuple[Project, str]) -> None:
        project, night_id = interrupted
        project.mood(t0="wrong")  # it is asked of the second suite alone
        resumed = project.night(resume="latest")
        assert resumed.night_id == night_id
        assert resumed.line == "2 of 2 suites ran, 2 skills: nothing to compare with yet"
        assert [suite.skills[0].report.summary.completion_rate for suite in resumed.suites] == [1.0, 0.875]
        assert resumed.suites[0].remarks == [
            f"moody@1.0.0 changed since run {resumed.suites[0].run_id} began; its older results are kept and its new ones come "
            "from the new files"
        ]
        assert resumed.suites[1].remarks == []
        assert set(project.store.nights()["night_id"]) == {night_id}
        with pytest.raises(UsageError, match="was interrupted; start one"):
            project.night(resume="latest")
        with pytest.raises(UsageError, match="is finished and recorded"):
            project.night(resume=night_id)

    def test_it_is_finished_without_prefect(self, interrupted: tuple[Project, str]) -> None:
        project, night_id = interrupted
        request = NightlyRequest(suites=str(project.folder / "suites.json"), store=str(project.folder / "store"))
        summary = finish_night_without_prefect(request, night_id, "connection refused")
        assert (summary.night_id, summary.failed) == (night_id, [])
        assert set(project.store.nights()["night_id"]) == {night_id}
