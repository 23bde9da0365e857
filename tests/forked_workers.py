"""Workers of xdist as forks of the warm process, with `--forked-workers`: what they all import is imported once.

It is for whole test runs: for a few tests, workers that import what these need are there sooner.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from tests.prefect_server import FOLDER
from tests.warm_command import WarmCommand

IMPORTED = (
    "distributed",
    "langchain_core.language_models.fake_chat_models",
    "langgraph.prebuilt",
    "langsmith.testing",
    "sacrebleu.metrics.bleu",
    "sqlalchemy.ext.asyncio",
)
"""What collecting the tests imports beside the product, and takes long."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forked-workers", action="store_true", help="begin the workers of -n as forks of one process")


@pytest.hookimpl(trylast=True)  # once the session has its folder
def pytest_configure(config: pytest.Config) -> None:
    workers = config.getoption("tx", default=None) or []
    if config.getoption("--forked-workers") and not hasattr(config, "workerinput") and set(workers) == {"popen"}:
        folder = config.stash[FOLDER]
        shim = WarmCommand(folder, IMPORTED).worker_shim(folder)
        command = shlex.join([sys.executable, "-ISs", str(shim)])  # a #! line holds neither spaces nor a long path
        config.option.tx = [f"popen//python={command}"] * len(workers)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a new clone, each worker imports the files in their order from one of its own: where one has rewritten the assertions of
    a file, which is half of what collecting takes, the others need not."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or not session.config.getoption("--forked-workers"):
        return
    ignored = [session.config.invocation_params.dir / each for each in session.config.getoption("ignore") or []]
    files = [file for file in sorted(Path(__file__).parent.rglob("test_*.py")) if not _is_rewritten(file)]
    files = [file for file in files if not any(file.is_relative_to(each) for each in ignored)]
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in [*files[first:], *files[:first]]:
        with suppress(Exception, pytest.skip.Exception):  # collecting imports it again, and says what is wrong with it
            import_module(".".join(file.relative_to(Path(__file__).parents[1]).with_suffix("").parts))


def _is_rewritten(file: Path) -> bool:
    return any((file.parent / "__pycache__").glob(f"{file.stem}.*-pytest-*.pyc"))
