"""Workers of xdist as forks of the warm process, with `--forked-workers`: what they all import is imported once.

It is for whole test runs: for a few tests, workers that import what these need are there sooner.
"""

from __future__ import annotations

import shlex
import sys

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
