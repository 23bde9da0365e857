"""inspect_ai in an environment of its own, for comparison only: nothing of the project depends on it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.performance.isolation import ROOT

VERSION = "0.3.285"
ENVIRONMENT = ROOT / ".bench" / "inspect-venv"
INSTALL_LIMIT_S, EVALUATION_LIMIT_S = 300.0, 120.0
PROGRAM = Path(__file__).with_name("rival_program.py")


@dataclass(frozen=True, slots=True)
class Rival:
    """An inspect_ai that works, by its Python."""

    python: Path

    def __str__(self) -> str:
        return f"inspect_ai {VERSION}, no-op solver and scorer, 4 samples at a time"

    def samples_per_s(self, samples: int) -> float:
        """The rate of one `eval` of so many no-op samples; imports and one small evaluation come before the clock starts.

        Raises:
            subprocess.CalledProcessError: it failed.
        """
        command = [str(self.python), str(PROGRAM), str(samples)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=EVALUATION_LIMIT_S)
        return float(json.loads(done.stdout.splitlines()[-1])["samplesPerS"])


def installed_rival() -> Rival | str:
    """inspect_ai, installed once and kept; where that fails, the reason in one line."""
    python = ENVIRONMENT / "bin" / "python"
    try:
        if not _has_version(python):
            _run([sys.executable, "-m", "venv", str(ENVIRONMENT)])
            _run([str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", f"inspect_ai=={VERSION}"])
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no message"])[-1]
        return f"inspect_ai {VERSION} could not be installed: {last}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"inspect_ai {VERSION} could not be installed: {error}"
    return Rival(python)


def _has_version(python: Path) -> bool:
    if not python.exists():
        return False
    question = "from importlib.metadata import version; print(version('inspect_ai'))"
    asked = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=False)
    return asked.stdout.strip() == VERSION


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True, timeout=INSTALL_LIMIT_S)
