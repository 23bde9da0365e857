"""inspect_ai in an environment of its own, for comparison only: nothing of the project depends on it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.performance.rival_environment import installed

VERSION = "0.3.285"
EVALUATION_LIMIT_S = 120.0
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
    python = installed("inspect_ai", VERSION, "inspect-venv")
    return python if isinstance(python, str) else Rival(python)
