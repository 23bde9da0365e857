"""The command line as people meet it: its own process, its own folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.app import new_invocation
from eval_skills.cli.context import begin
from tests.warm_command import WarmCommand, WarmProcess

NOBODY = "http://127.0.0.1:1/api"
"""An API that no call may reach: what is refused or only planned needs no server."""
CLEARED = ("PREFECT_API_URL", "PREFECT_HOME", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Result:
    """What one call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to call from; `environ` is all that the calls see besides what any process has."""

    folder: Path
    environ: dict[str, str]
    command: WarmCommand

    def call(self, *arguments: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> Result:
        """The result of ``eval-skills ARGUMENTS`` as a process of its own."""
        process = self.command.start(arguments, cwd=cwd or self.folder, environment=self.environ | (environ or {}))
        return Result(*process.output(timeout=300))

    def begin(self, *arguments: str) -> WarmProcess:
        """The same call, while it runs."""
        return self.command.start(arguments, cwd=self.folder, environment=self.environ)

    def write(self, name: str, content: Any) -> Path:
        """Write a file below the folder; what is no text is written as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def files(self) -> set[str]:
        """Every file and folder in it."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


def environment(home: Path) -> dict[str, str]:
    """The environment of a call: this one's, without what a developer may have set."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEARED and not name.startswith("EVAL_SKILLS_")}
    return kept | {"HOME": str(home), "PREFECT_HOME": str(home / "prefect"), "PREFECT_SERVER_API_PORT": "1"}


@pytest.fixture(autouse=True)
def _nothing_was_typed_before() -> None:
    """A command's parts, called by themselves, find the commands as a call does."""
    begin(new_invocation())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a configuration; what a developer has set is not seen."""
    for name in [name for name in os.environ if name.startswith("EVAL_SKILLS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def place(tmp_path: Path, examples: Path, warm_command: WarmCommand) -> Place:
    """A project with the calculator in ``skills/``; nothing in it may run a flow."""
    work = tmp_path / "work"
    copy_skill(examples / "calculator", work / "skills" / "calculator")
    return Place(work, environment(tmp_path / "home") | {"PREFECT_API_URL": NOBODY}, warm_command)


@dataclass(frozen=True, slots=True)
class Here(Place):
    """The same calls inside this process: the checks are the same, and the start-up is paid once."""

    capture: Any = None

    def call(self, *arguments: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> Result:
        """The result of ``eval-skills ARGUMENTS``, with what the test itself has set, and `environ`."""
        from eval_skills.cli.main import call

        with pytest.MonkeyPatch.context() as patch:
            for name, value in (environ or {}).items():
                patch.setenv(name, value)
            patch.chdir(cwd or self.folder)
            code = call(arguments)
        return Result(code, *self.capture.readouterr())


def _here(place: Place, monkeypatch: pytest.MonkeyPatch, capture: Any) -> Here:
    """The place for calls inside this process, which from now on sees nothing but the place's variables."""
    for name in os.environ.keys() - place.environ.keys():
        monkeypatch.delenv(name)
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.folder)
    return Here(place.folder, place.environ, place.command, capture)


@pytest.fixture
def run_here(place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """A call from the project, inside this process."""
    return _here(place, monkeypatch, capfd).call


@pytest.fixture
def served(place: Place, prefect_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Place:
    """The same project, with a server behind its calls, which are made inside this process."""
    return _here(replace(place, environ=place.environ | {"PREFECT_API_URL": prefect_url}), monkeypatch, capfd)


def copy_skill(source: Path, target: Path, **changes: Any) -> Path:
    """A copy of an example skill, with some keys of its skill.json changed."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    file = target / "skill.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes), encoding="utf-8")
    return target


@pytest.fixture(scope="session")
def copy() -> Callable[..., Path]:
    """Copying an example skill; see `copy_skill`."""
    return copy_skill


@pytest.fixture(scope="session")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A store with one run; see `leave_run`. Each is made once, as landing takes longer than what is asked of it."""
    stores: dict[str, Path] = {}

    def make(run_id: str, **how: Any) -> Path:
        key = json.dumps([run_id, how], sort_keys=True)
        if key not in stores:
            stores[key] = tmp_path_factory.mktemp("store")
            leave_run(stores[key], run_id, **how)
        return stores[key]

    return make


@pytest.fixture
def past(place: Place, made_run: Callable[..., Path]) -> Callable[..., str]:
    """Leaves a run of adder on sums in the project's store, as runs leave it: each has files of its own."""

    def leave(run_id: str, **how: Any) -> str:
        shutil.copytree(made_run(run_id, **how), place.folder / "eval-store", dirs_exist_ok=True)
        return run_id

    return leave


def leave_run(
    store_path: Path,
    run_id: str,
    *,
    passed: int = 2,
    landed: bool = True,
    judged: list[dict[str, Any]] | None = None,
    **identity: str,
) -> None:
    """A run of four items, of which `passed` passed; if it has not `landed`, two of them are in its journal.

    `judged` are further fields of its first items, what a judge did.
    """
    from eval_skills.core.metrics.reports import skill_reports
    from eval_skills.core.models import Benchmark, ItemResult
    from eval_skills.core.store import (
        Journal,
        Manifest,
        ManifestBenchmark,
        ManifestSkill,
        Store,
        land,
        land_reports,
        started_at,
        write_manifest,
    )

    names = {"skill_id": "adder", "skill_version": "1.0.0", "benchmark_id": "sums", "benchmark_version": "2.0.0"} | identity
    store, began, tasks = Store(store_path), started_at(run_id), [f"t{number}" for number in range(4)]
    benchmark: dict[str, Any] = {"id": names["benchmark_id"], "version": names["benchmark_version"]}
    manifest = Manifest(
        run_id=run_id,
        created_at=began,
        skills=[ManifestSkill(key=f"{names['skill_id']}@{names['skill_version']}")],
        benchmark=ManifestBenchmark(**benchmark),
        planned_items=len(tasks),
    )
    write_manifest(store.run_folder(run_id), manifest)
    with Journal(store.journal_path(run_id)) as journal:
        for number, task in enumerate(tasks if landed else tasks[:2]):
            verdict: dict[str, Any] = {"status": "pass", "passed": True, "score": 1.0}
            verdict = verdict if number < passed else {"status": "fail", "passed": False, "score": 0.0}
            given: dict[str, Any] = {**names, **verdict, "latency_ms": 10.0 * (number + 1)}
            given |= judged[number] if judged and number < len(judged) else {}
            journal.append(ItemResult(run_id=run_id, started_at=began, task_id=task, run_index=0, **given))
    if landed:
        land(store, run_id)
        asked = [{"id": task, "expectedOutput": {"type": "exact", "value": 1}} for task in tasks]
        of = Benchmark.model_validate({**benchmark, "name": "Sums", "tasks": asked})
        land_reports(store, run_id, None, skill_reports(store.items(run_id=run_id), of, timeout_ms=1000))
