"""Checks of this machine and its Python before money is spent: everything that can be known without a network."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Literal

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from eval_skills.core.redaction import Redaction

Status = Literal["ok", "warning", "failed"]
STATUSES: tuple[Status, ...] = ("ok", "warning", "failed")


@dataclass(frozen=True, slots=True)
class Check:
    """What was found of one thing. `failed`: a run would fail or mislead; `warning`: it may. `remedy` is what to do then."""

    area: str
    name: str
    status: Status
    found: str
    remedy: str = ""

    def without_secrets(self, redaction: Redaction) -> Check:
        """The same with secrets redacted."""
        return replace(self, found=redaction.text(self.found), remedy=redaction.text(self.remedy))


def counted(checks: Iterable[Check]) -> dict[str, int]:
    """How many checks ended in each status."""
    found = [check.status for check in checks]
    return {status: found.count(status) for status in STATUSES}


def document(checks: list[Check]) -> dict[str, Any]:
    """The checks as one JSON document."""
    listed = [{**asdict(each), "remedy": each.remedy or None} for each in checks]
    counts = counted(checks)
    return {"healthy": not counts["failed"], "counts": counts, "checks": listed}


PACKAGE = "eval-skills"
AREA = "environment"
_EXTRAS = {
    "dask": "--task-runner dask",
    "langsmith": "evaluators in LangSmith, and data sets from there",
    "otel": "traces and metrics by OpenTelemetry",
    "plot": "trend --output FILE.png",
    "ray": "--task-runner ray",
}
"""What each optional extra is for."""

_CLOCK_S = 2.0
_EARLIEST = 1_767_225_600.0
"""The clock of a machine is wrong before 2026: this package did not exist."""

_SCARCE_BYTES = 500_000_000
_ANSWER_S = 20.0


def environment_checks(task_runner: str = "local") -> list[Check]:
    """Python, the platform, what is installed, the clock, and programs that some commands need."""
    needed = {name for name in ("dask", "ray") if task_runner.startswith(name)}
    return [_python(), _platform(), _requirements(), *(_extra(name, name in needed) for name in _EXTRAS), _clock(), _git()]


def space_check(area: str, folder: Path) -> Check:
    """How much disk space there is where `folder` is, or will be."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    if free < _SCARCE_BYTES:
        return Check(area, "space", "warning", f"{free / 1e6:,.0f} MB free at {there}", "free disk space: a full disk ends a run")
    return Check(area, "space", "ok", f"{free / 1e9:,.1f} GB free at {there}")


def file_clock_check(area: str, folder: Path) -> Check:
    """Whether the clock of the file system agrees with that of this machine: the order of runs depends on it."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    before = time.time()
    with NamedTemporaryFile(dir=there) as file:
        behind = before - os.stat(file.name).st_mtime
    if abs(behind) > _CLOCK_S:
        word = "behind" if behind > 0 else "ahead of"
        remedy = "set both clocks; the order of runs follows them"
        return Check(area, "file clock", "warning", f"files are dated {abs(behind):.0f} s {word} this machine's clock", remedy)
    return Check(area, "file clock", "ok", "agrees with this machine's clock")


def _python() -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036 - says so instead of a syntax error somewhere
        return Check(AREA, "python", "failed", found, "use Python 3.11 or later")
    return Check(AREA, "python", "ok", f"{found}, {PACKAGE} {version(PACKAGE)}")


def _platform() -> Check:
    found = platform.platform(terse=True)
    if sys.platform.startswith("linux"):
        return Check(AREA, "platform", "ok", found)
    return Check(AREA, "platform", "warning", found, "limits and the sandbox are enforced on Linux only")


def _requirements() -> Check:
    wrong = _missing("")
    if wrong:
        return Check(AREA, "requirements", "failed", "; ".join(wrong), f"reinstall: pip install --upgrade {PACKAGE}")
    return Check(AREA, "requirements", "ok", f"all are installed; Prefect {version('prefect')}")


def _extra(name: str, needed: bool) -> Check:
    wrong, use = _missing(name), _EXTRAS[name]
    if not wrong:
        return Check(AREA, f"extra {name}", "ok", f"installed, for {use}")
    remedy = f"pip install '{PACKAGE}[{name}]'"
    if needed:
        return Check(AREA, f"extra {name}", "failed", f"{'; '.join(wrong)}; the configured task runner needs it", remedy)
    return Check(AREA, f"extra {name}", "ok", f"not installed; {use} needs it: {remedy}")


def _missing(extra: str) -> list[str]:
    """What is not installed, or in another version, of the package's requirements of this extra ("": the plain ones)."""
    found = [Requirement(text) for text in requires(PACKAGE) or ()]
    asked = [each for each in found if _applies(each, extra)]
    return [problem for each in asked if (problem := _problem(each))]


def _applies(requirement: Requirement, extra: str) -> bool:
    if requirement.marker is None:
        return not extra
    return requirement.marker.evaluate({"extra": extra}) and (not extra or not requirement.marker.evaluate({"extra": ""}))


def _problem(requirement: Requirement) -> str:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    fits = requirement.specifier.contains(installed, prereleases=True)
    return "" if fits else f"{requirement.name} is {installed} and should be {requirement.specifier}"


def _clock() -> Check:
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < _EARLIEST:
        return Check(AREA, "clock", "failed", shown, "set the clock: runs are ordered by it")
    return Check(AREA, "clock", "ok", shown)


def _git() -> Check:
    program = shutil.which("git")
    remedy = "install git: backfill --mode replay needs it, and runs record the commit"
    if program is None:
        return Check(AREA, "git", "warning", "git is not on PATH", remedy)
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_ANSWER_S, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return Check(AREA, "git", "warning", f"{program} does not work: {error}", remedy)
    return Check(AREA, "git", "ok", done.stdout.strip())
