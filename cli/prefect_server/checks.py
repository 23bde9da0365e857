"""Whether runs will find a Prefect server, which one, and whether it fits."""

from __future__ import annotations

import base64
import os
import tomllib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from eval_skills.cli.prefect_server.api_server import check_authorities, proxy_problem
from eval_skills.cli.prefect_server.existing import configured_api_url, existing_api, prefect_home
from eval_skills.core.environment import Check
from eval_skills.core.errors import UserError

if TYPE_CHECKING:
    import httpx

AREA = "prefect"
_SKEW_S = 5.0
_ANSWER_S = 10.0


def prefect_checks() -> list[Check]:
    """Prefect's settings, and the server that a run would talk to now."""
    return [_home(), _profiles(), *_connections(), *server_checks()]


def _home() -> Check:
    from eval_skills.engine.definition.request import check_folder

    names = sorted(name for name in os.environ if name.startswith("PREFECT_"))
    said = f"; set here: {', '.join(names)}" if names else ""
    try:
        check_folder(prefect_home(), "PREFECT_HOME", "Prefect's state")
    except UserError as error:
        return Check(AREA, "home", "failed", str(error), "set PREFECT_HOME to a folder that may be written to")
    return Check(AREA, "home", "ok", f"{prefect_home()}{said}")


def _profiles() -> Check:
    file = prefect_home() / "profiles.toml"
    try:
        active = tomllib.loads(file.read_text(encoding="utf-8")).get("active")
    except FileNotFoundError:
        return Check(AREA, "profile", "ok", "none; settings are Prefect's own and those of variables")
    except (OSError, ValueError) as error:
        return Check(AREA, "profile", "failed", f"{file} cannot be read: {error}", "fix or remove the file")
    return Check(AREA, "profile", "ok", f"{os.environ.get('PREFECT_PROFILE') or active} of {file}")


def _connections() -> list[Check]:
    """What keeps Prefect's client from being made; nothing where nothing does."""
    found = [Check(AREA, "proxy", "failed", *problem)] if (problem := proxy_problem()) else []
    try:
        check_authorities()
    except UserError as error:
        found.append(Check(AREA, "authorities", "failed", str(error)))
    return found


def server_checks() -> list[Check]:
    """The server, first, and its clock where it answers; no server at all is as it should be."""
    import httpx

    url = existing_api()
    if url is None:
        return [
            Check(AREA, "server", "ok", "none is running; each run starts a private one (eval-skills server start keeps one)")
        ]
    try:
        answer = httpx.get(f"{url.rstrip('/')}/admin/version", timeout=_ANSWER_S, trust_env=False, headers=_credentials())
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        remedy = "start it (eval-skills server start), or unset PREFECT_API_URL for a private server in each run"
        return [Check(AREA, "server", "failed", f"{_shown(url)} does not answer: {error or type(error).__name__}", remedy)]
    return [_version(url, answer), *_clock(answer)]


def _version(url: str, answer: httpx.Response) -> Check:
    ours, where = version("prefect"), f"{_shown(url)} ({_source()})"
    if answer.status_code in {401, 403}:
        remedy = "set PREFECT_API_KEY or PREFECT_API_AUTH_STRING"
        return Check(AREA, "server", "failed", f"{where} refuses the credentials: HTTP {answer.status_code}", remedy)
    theirs = _text(answer)
    if not answer.is_success or theirs is None:
        remedy = "its address ends in /api; see eval-skills server status"
        return Check(AREA, "server", "failed", f"{where} is not a Prefect API: HTTP {answer.status_code}", remedy)
    if theirs.split(".")[:2] != ours.split(".")[:2]:
        remedy = "install the same minor version on both sides"
        return Check(AREA, "server", "warning", f"{where} has Prefect {theirs}, and here is {ours}", remedy)
    return Check(AREA, "server", "ok", f"{where} has Prefect {theirs}, as here")


def _clock(answer: httpx.Response) -> list[Check]:
    try:
        theirs = parsedate_to_datetime(answer.headers["Date"])
    except (KeyError, ValueError):
        return []
    behind = (datetime.now(UTC) - theirs).total_seconds()
    if abs(behind) > _SKEW_S:
        found = f"the server's clock differs from ours by {abs(behind):.0f} s"
        return [Check(AREA, "clock", "warning", found, "set both: schedules and the order of states follow them")]
    return [Check(AREA, "clock", "ok", "the server's clock agrees with ours")]


def _credentials() -> dict[str, str]:
    if key := os.environ.get("PREFECT_API_KEY"):
        return {"Authorization": f"Bearer {key}"}
    if basic := os.environ.get("PREFECT_API_AUTH_STRING"):
        return {"Authorization": f"Basic {base64.b64encode(basic.encode()).decode()}"}
    return {}


def _source() -> str:
    if os.environ.get("PREFECT_API_URL"):
        return "PREFECT_API_URL"
    return "the active Prefect profile" if configured_api_url() else "a server of this machine"


def _shown(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def _text(answer: httpx.Response) -> str | None:
    try:
        found = answer.json()
    except ValueError:
        return None
    return found if isinstance(found, str) else None
