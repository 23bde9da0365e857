"""Prefect's settings as the command line wants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.cli.prefect_server.private import (
    SERVER_SETTINGS,
    apply,
    configured_api_url,
    local_api_url,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_SERVER_API_HOST", "PREFECT_SERVER_API_PORT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_recorder_flushes_in_whole_seconds_for_it_cuts_a_fraction_off() -> None:
    interval = SERVER_SETTINGS["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"]
    assert int(interval) >= 1


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_LOGGING_LEVEL", "ERROR")
    apply({"PREFECT_LOGGING_LEVEL": "DEBUG"})
    import os

    assert os.environ["PREFECT_LOGGING_LEVEL"] == "ERROR"


@pytest.mark.parametrize(
    ("profiles", "url"),
    [
        pytest.param(
            'active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://127.0.0.1:1/api"', "http://127.0.0.1:1/api", id="active"
        ),
        pytest.param('active = "b"\n[profiles.a]\nPREFECT_API_URL = "x"', None, id="another-profile"),
        pytest.param("active = ", None, id="broken"),
        pytest.param(None, None, id="none"),
    ],
)
def test_the_api_of_the_active_profile(home: Path, profiles: str | None, url: str | None) -> None:
    if profiles is not None:
        (home / "profiles.toml").write_text(profiles)
    assert configured_api_url() == url


def test_the_environment_beats_the_profile(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "profiles.toml").write_text('active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://127.0.0.1:1/api"')
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:2/api")
    assert configured_api_url() == "http://127.0.0.1:2/api"


def test_a_local_server_is_looked_for_where_prefect_would_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_api_url() == "http://127.0.0.1:4200/api"
    monkeypatch.setenv("PREFECT_SERVER_API_PORT", "4300")
    assert local_api_url() == "http://127.0.0.1:4300/api"
    assert local_api_url(4400) == "http://127.0.0.1:4400/api"
