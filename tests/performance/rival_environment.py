"""A rival in an environment of its own, for comparison only: nothing of the project depends on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.performance.isolation import ROOT

INSTALL_LIMIT_S = 300.0


def installed(package: str, version: str, folder: str) -> Path | str:
    """The Python that has the package in this version, installed once and kept; where that fails, the reason in one line."""
    environment = ROOT / ".bench" / folder
    python = environment / "bin" / "python"
    try:
        if not _has_version(python, package, version):
            _run([sys.executable, "-m", "venv", str(environment)])
            _run([str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", f"{package}=={version}"])
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no message"])[-1]
        return f"{package} {version} could not be installed: {last}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{package} {version} could not be installed: {error}"
    return python


def _has_version(python: Path, package: str, version: str) -> bool:
    if not python.exists():
        return False
    question = f"from importlib.metadata import version; print(version({package!r}))"
    asked = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=False)
    return asked.stdout.strip() == version


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True, timeout=INSTALL_LIMIT_S)
