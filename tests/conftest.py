"""What tests of all rooms share."""

from __future__ import annotations

import atexit
import gc
import os
import re
import signal
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from eval_skills.cli.context import Invocation, begin
from eval_skills.core.rate_limits import services
from tests.ending import end
from tests.kept_options import keep_options

gc.disable()  # until all tests are collected: what is imported stays, and looking through it takes an eighth of the time

pytest_plugins = [
    "pytester",
    "tests.prefect_server",
    "tests.warm_command",
    "tests.forked_workers",
    "tests.engine.evaluations",
    "tests.otlp_receiver",
    "tests.object_storage",
]  # the tests of our own plugin run pytest

# A busy machine is no failure: how long one example takes says nothing about what is right. The examples are the same in every
# run, so that a change is judged by what it changes; `--hypothesis-profile=exploring` looks for new ones.
settings.register_profile("exploring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("exploring"), derandomize=True, max_examples=40)
settings.register_profile("quick", settings.get_profile("patient"), max_examples=20)  # what `make test` tries
settings.load_profile("patient")
# Nor do the examples change with the constants in our code, for which each worker would parse all of it.
providers._get_local_constants = Constants

# What a terminal or the page of a CI job is like is nothing to the tests, which would print for the one and write on the other.
_OF_A_JOB = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "TRACEPARENT")
for _name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES", *_OF_A_JOB):
    os.environ.pop(_name, None)
for _name in [name for name in os.environ if name.startswith("OTEL_")]:
    del os.environ[_name]

# `python3`, with which tests start their skills, is the Python that runs them, as in an environment that is active: a shim that a
# version manager has on the PATH starts a shell first, to look which Python is meant, and takes ten times as long.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# Tests that a shell starts in the background ignore Ctrl-C, and every process they start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _fsync(fd: object) -> None:
    """No power is cut here. The tests of power cuts count the calls, which are made all the same."""


os.fsync = _fsync

keep_options()


# Where tests take long: for servers, browsers and whole runs.
_LONG = ("end_to_end", "flows", "tasks", "docs")


@pytest.hookimpl(trylast=True)  # once it is known which tests are run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of each folder begin evenly over the whole time, long ones a while before its end.

    Tests of some folders wait and those of others compute: workers that take one after the other keep the cores busy.
    """
    folders: dict[Path, list[Path]] = {}
    for file in dict.fromkeys(item.path for item in items):
        folders.setdefault(file.parent, []).append(file)
    long = [Path(__file__).with_name(name) for name in _LONG]
    begins: dict[Path, float] = {}
    for folder, files in folders.items():
        last = 0.85 if any(folder.is_relative_to(room) for room in long) else 1.0
        begins |= {file: last * (number + 0.5) / len(files) for number, file in enumerate(files)}
    items.sort(key=lambda item: begins[item.path])


def pytest_collection_finish() -> None:
    """Garbage is collected among what tests make: what was imported and collected stays, and is not looked through again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    atexit.register(gc.unfreeze)  # duckdb reports what is left of its own at the end


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """A worker of xdist has told all it found, and the session waits for its end."""
    if hasattr(config, "workerinput"):
        end(0)


_numbers = count()


@pytest.fixture(autouse=True)
def _nothing_was_typed_before() -> None:
    """What a test prints does not depend on the options with which another of the same process called a command."""
    begin(Invocation())


@pytest.fixture(autouse=True)
def _nothing_was_learnt_before(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test waits for what a service said to another one, nor for what the machine's other programs learnt."""
    folder = tmp_path_factory.getbasetemp() / f"rates-{next(_numbers)}"
    monkeypatch.setattr(services, "cache_folder", lambda _: folder)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own: pytest's would look through those of all tests before, for a number that is free."""
    name = re.sub(r"\W", "_", request.node.name)[:25]
    return tmp_path_factory.mktemp(f"{name}-{next(_numbers)}", numbered=False)


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of example skills."""
    return Path(__file__).parents[1] / "examples" / "skills"
