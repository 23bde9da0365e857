"""Where a worker's flow runs happen: the pull step of the deployments in ``prefect.yaml``."""

from __future__ import annotations

import os
from pathlib import Path

from eval_skills.core.errors import UsageError

VARIABLE = "SKILLS_FOLDER"


def enter_skills_folder() -> dict[str, str]:
    """The folder that the worker's environment names, for Prefect to change to.

    It is read when a run starts: a value in ``prefect.yaml`` would be the one of the machine that deploys. Without it, a process
    worker runs a flow in a temporary folder and removes it afterwards, with the results.

    Raises:
        UsageError: the variable is not set, or is not the path of a folder.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        raise UsageError(f"{VARIABLE} is not set in the worker's environment; set it to the folder with skills/ and suites.yaml")
    if not Path(named).is_dir():
        raise UsageError(f"{VARIABLE} is {named}, which is not a folder on the worker's machine; correct the path")
    return {"directory": str(Path(named).resolve())}
