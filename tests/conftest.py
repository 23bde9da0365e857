"""What tests of several rooms share: one real Prefect server. It takes some seconds to start, so it is asked for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings

from eval_skills.cli.prefect_server.private import prefect_api

pytest_plugins = ["pytester", "tests.engine.evaluations"]  # the tests of our own plugin run pytest

# A busy machine is no failure: how long one example takes says nothing about what is right. The examples are the same in every
# run, so that a change is judged by what it changes; `--hypothesis-profile=exploring` looks for new ones.
settings.register_profile("exploring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("exploring"), derandomize=True)
settings.load_profile("patient")

# What a terminal or the page of a CI job is like is nothing to the tests, which would print for the one and write on the other.
for _name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)

# Tests that a shell starts in the background ignore Ctrl-C, and every process they start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def prefect_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API of a private server with an empty database, known to Prefect in this process.

    Tests that use it carry ``@pytest.mark.xdist_group("prefect")``, so that workers running side by side start it once.
    """
    from prefect.settings import PREFECT_API_URL, PREFECT_HOME, temporary_settings

    home = tmp_path_factory.mktemp("prefect")
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("PREFECT_API_URL", raising=False)
        environment.setenv("PREFECT_HOME", str(home))
        environment.setenv("PREFECT_SERVER_API_PORT", "1")  # never the server that a developer keeps running
        environment.setattr("eval_skills.cli.prefect_server.private.START_TIMEOUT_S", 600.0)
        with prefect_api() as server, temporary_settings({PREFECT_API_URL: server.url, PREFECT_HOME: home}):
            server.wait_until_ready()
            yield server.url


@pytest.fixture
def ask(prefect_url: str) -> Callable[..., Any]:
    """Ask the Prefect API: a path and a JSON body, the JSON answer."""

    def post(path: str, **body: Any) -> Any:
        return httpx.post(f"{prefect_url}/{path}", json=body, timeout=120, trust_env=False).raise_for_status().json()

    return post


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of example skills."""
    return Path(__file__).parents[1] / "examples" / "skills"
