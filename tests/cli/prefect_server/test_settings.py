"""Prefect's settings as the command line wants them."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from eval_skills.cli.prefect_server.api_server import (
    SERVER_SETTINGS,
    apply,
    cause_in,
    check_connections,
    check_home,
    never_collected,
    past_proxies,
)
from eval_skills.cli.prefect_server.checks import prefect_checks
from eval_skills.cli.prefect_server.existing import configured_api_url, local_api_url
from eval_skills.core.errors import UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_SERVER_API_HOST", "PREFECT_SERVER_API_PORT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_recorder_flushes_in_whole_seconds_for_it_cuts_a_fraction_off() -> None:
    interval = SERVER_SETTINGS["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"]
    assert int(interval) >= 1


async def test_which_runs_have_the_places_of_a_deployment_survives_the_server(home: Path) -> None:
    from prefect.server.concurrency.lease_storage import get_concurrency_lease_storage
    from prefect.settings import PREFECT_HOME, PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE, temporary_settings

    module = SERVER_SETTINGS[PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE.name]
    with temporary_settings({PREFECT_HOME: home, PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE: module}):
        taken = await get_concurrency_lease_storage().create_lease([uuid4()], timedelta(minutes=5))
        assert [*(home / "concurrency_leases").glob(f"{taken.id}*")]
        assert await get_concurrency_lease_storage().read_active_lease_ids() == [taken.id]


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


@pytest.mark.parametrize(
    ("given", "url", "meanwhile"),
    [
        ({"HTTP_PROXY": "p"}, "http://127.0.0.1:4200/api", "127.0.0.1"),
        ({"all_proxy": "p", "NO_PROXY": "a.b,c"}, "http://localhost:4200/api", "a.b,c,localhost"),
        ({"https_proxy": "p", "no_proxy": "a.b", "NO_PROXY": "c"}, "http://127.0.0.1:4200/api", "a.b,127.0.0.1"),
        ({"HTTP_PROXY": "p"}, "https://prefect.example/api", None),
        ({}, "http://127.0.0.1:4200/api", None),
    ],
    ids=["of-none", "of-the-upper-case", "of-the-lower-case", "elsewhere", "no-proxy"],
)
def test_no_proxy_stands_before_an_api_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], url: str, meanwhile: str | None
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with past_proxies(url):
        assert os.environ.get("no_proxy") == (meanwhile or given.get("no_proxy"))
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"ALL_PROXY": "socks5://u:p@127.0.0.1:1"},
            "ALL_PROXY names a SOCKS proxy, which .* without the package socksio; install",
        ),
        ({"HTTP_PROXY": "ftp://u:p@h", "https_proxy": "127.0.0.1:1"}, "HTTP_PROXY is not the address of a proxy; write http://"),
        ({"all_proxy": "socks5://127.0.0.1:1", "NO_PROXY": "a.b, *"}, None),
        ({"all_proxy": "", "HTTPS_PROXY": "127.0.0.1:1"}, None),
        ({"SSL_CERT_FILE": "/none.pem"}, "SSL_CERT_FILE is '/none.pem', which cannot be used"),
        ({"SSL_CERT_DIR": "/none"}, None),
    ],
)
def test_variables_that_prefects_client_cannot_be_made_with_are_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str | None
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("SSL_CERT_")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UsageError, match=message) if message else nullcontext():
        check_connections()
    failed = [check.found for check in prefect_checks() if check.status == "failed"]
    assert [found.partition(" ")[0] for found in failed] == ([message.partition(" ")[0]] if message else [])
    assert "u:p" not in str(failed)


def test_a_local_server_is_looked_for_where_prefect_would_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_api_url() == "http://127.0.0.1:4200/api"
    monkeypatch.setenv("PREFECT_SERVER_API_PORT", "4300")
    assert local_api_url() == "http://127.0.0.1:4300/api"
    assert local_api_url(4400) == "http://127.0.0.1:4400/api"


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        pytest.param(
            "Traceback (most recent call last):\nsqlite3.OperationalError: database is locked\n\nTraceback:\n"
            "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked\n(Background on this error)\n"
            "18:58:31.883 | ERROR   | uvicorn.error - Application startup failed. Exiting.\n",
            "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked",
            id="the-exception-is-not-the-last-line",
        ),
        pytest.param("one\ncannot bind\n", "cannot bind", id="no-exception"),
        pytest.param("", "it says nothing", id="empty"),
    ],
)
def test_a_server_that_did_not_start_says_why(home: Path, log: str, cause: str) -> None:
    (home / "server.log").write_text(log)
    said = cause_in(home / "server.log")
    assert said.startswith(f"{cause}; its log is {home / 'server.log'}; end what else uses PREFECT_HOME ({home}), or")


def test_a_server_whose_packages_do_not_fit_asks_for_them_and_not_for_another_home(home: Path) -> None:
    cause = "ModuleNotFoundError: No module named 'sqlalchemy.dialects.postgresql.operators'"
    (home / "server.log").write_text(f"Traceback (most recent call last):\n{cause}\n")
    said = cause_in(home / "server.log")
    assert said.startswith(f"{cause}; its log is {home / 'server.log'}; a package that it needs is missing")
    assert "PREFECT_HOME" not in said


@pytest.mark.parametrize("kind", ["file", "below-a-file", "profiles-folder", "profiles-broken"])
def test_a_prefect_home_that_cannot_be_used_is_refused(home: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").touch()
    if kind == "profiles-folder":
        (home / "profiles.toml").mkdir()
    elif kind == "profiles-broken":
        (home / "profiles.toml").write_text("active = [")
    else:
        monkeypatch.setenv("PREFECT_HOME", str(home / "file" / ("below" if kind == "below-a-file" else "")))
    with pytest.raises(UsageError, match=r"PREFECT_HOME.* cannot be (read|written here): .*; (name|fix)"):
        check_home()


@pytest.mark.slow
def test_the_collector_rests_during_an_import_and_leaves_what_it_made_alone() -> None:
    frozen, made = gc.get_freeze_count(), list[list[int]]()
    try:
        with never_collected():
            rests = not gc.isenabled()
            made.extend([] for _ in range(1000))
        assert (rests, gc.isenabled()) == (True, True)
        assert gc.get_freeze_count() >= frozen + len(made)
    finally:
        gc.unfreeze()


def test_the_collector_works_again_after_an_import_that_failed() -> None:
    try:
        with pytest.raises(ImportError), never_collected():
            raise ImportError
        assert gc.isenabled()
    finally:
        gc.unfreeze()
