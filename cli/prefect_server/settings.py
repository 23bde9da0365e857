"""Prefect's settings as this command line wants them: set as environment variables, before Prefect is imported."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

SERVER_SETTINGS = {
    # One task run per transaction is the default and records 43 task runs a second; in batches it is five times that.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    # Whole seconds: the recorder cuts the fraction off, and an interval of 0 spins one core for as long as the server lives.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "500",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
}

PRIVATE_SERVER_SETTINGS = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    # Flow runs, task runs, states and artifacts are recorded; the feed of single events is not, and nothing is triggered by them:
    # together they would be half of what a task run costs, for a server that is not watched while it runs.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}

CLIENT_SETTINGS = {
    "DO_NOT_TRACK": "1",  # Prefect would print a notice about its telemetry into the first call on a terminal
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL": "CRITICAL",
}
"""A line of log per item would double the traffic; an item's state and message say what happened."""

QUIET = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}


def apply(settings: dict[str, str]) -> None:
    """Set what the user has not set."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)


def prefect_home() -> Path:
    """Where Prefect keeps its state."""
    return Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()


def configured_api_url() -> str | None:
    """``PREFECT_API_URL`` from the environment, else from the active Prefect profile; None where neither names one."""
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    try:
        profiles = tomllib.loads((prefect_home() / "profiles.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return None  # Prefect itself reports a broken profile when it is imported
    active = os.environ.get("PREFECT_PROFILE") or profiles.get("active")
    profile: dict[str, Any] = profiles.get("profiles", {}).get(active, {})
    return profile.get("PREFECT_API_URL")


def local_api_url(port: int | None = None) -> str:
    """Where a local server would be: on `port`, else by Prefect's own settings."""
    host = os.environ.get("PREFECT_SERVER_API_HOST") or "127.0.0.1"
    return f"http://{host}:{port or os.environ.get('PREFECT_SERVER_API_PORT') or 4200}/api"


def state_file() -> Path:
    """Where `server start` notes the server that it left running."""
    return prefect_home() / "eval-skills-server.json"


def known_server() -> dict[str, str | int] | None:
    """The `pid` and `url` of the server that `server start` noted, whether it still lives or not."""
    try:
        found: dict[str, str | int] = json.loads(state_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found


def started_url() -> str | None:
    """The API of the server that `server start` noted."""
    known = known_server()
    return str(known["url"]) if known else None
