"""The Prefect API behind a call: the configured one, a local one that is alive, or a private one for this call alone.

Prefect's settings are set as environment variables, before Prefect is imported.
"""

from __future__ import annotations

import gc
import logging
import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from eval_skills.cli.prefect_server.existing import configured_api_url, existing_api, prefect_home
from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store.files import PRIVATE, create, make_folder

if TYPE_CHECKING:
    import httpx

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
    # Which runs hold a deployment's concurrency slots is kept below PREFECT_HOME. By default Prefect keeps it in memory: when
    # a server dies during a run, that run's slot is never freed, and every later night is cancelled.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
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
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500",
}
"""A line of log per item would double the traffic; an item's state and message say what happened."""

WITHOUT_TLS = {"PREFECT_API_SSL_CERT_FILE": str(Path(__file__).with_name("no_tls.pem"))}
"""For an API that is spoken to in plain HTTP. Each of a run's eight clients reads whom to trust, usually some 150 authorities in
16 ms; here it is one, of which nobody has the key."""

QUIET = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL", "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL"}


def apply(settings: dict[str, str]) -> None:
    """Set what the user has not set."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)


@contextmanager
def never_collected() -> Iterator[None]:
    """For an import of Prefect: the garbage collector does not look through what it makes, neither while it lasts nor afterwards.

    All of it stays, and looking through it again and again is a quarter of the time that the server takes to import.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def check_home() -> None:
    """Refuse a ``PREFECT_HOME`` that cannot be written to, or whose profiles cannot be read: Prefect would fail with a traceback.

    Raises:
        UsageError: with the reason, and what to do.
    """
    from eval_skills.engine.definition.request import check_folder

    check_folder(prefect_home(), "PREFECT_HOME", "Prefect's state")
    profiles = prefect_home() / "profiles.toml"
    try:
        tomllib.loads(profiles.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UsageError(f"PREFECT_HOME: {profiles} cannot be read: {error}; fix it, or move it away") from None


_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})


def check_connections() -> None:
    """Refuse variables about connections that the client of Prefect fails at with a traceback, wherever it connects to.

    Raises:
        UsageError: the variable, and what to do.
    """
    check_authorities()
    if problem := proxy_problem():
        raise UsageError("; ".join(problem))


def check_authorities() -> None:
    """Refuse an ``SSL_CERT_FILE`` that cannot be read: Prefect reads it when it is imported.

    Raises:
        UsageError: the variable, and what to do.
    """
    if not (path := os.environ.get("SSL_CERT_FILE")):
        return
    if _holds_certificates(Path(path)):  # to parse all of them takes tens of ms at every start
        return
    from eval_skills.adapters.http.tls import trust_of_environment

    try:
        trust_of_environment()
    except ValueError as error:
        raise UsageError(str(error)) from None


def _holds_certificates(file: Path) -> bool:
    try:
        return b"-----BEGIN" in file.read_bytes()
    except OSError:
        return False


def proxy_problem() -> tuple[str, str] | None:
    """Which proxy of the environment httpx cannot be made with, and what to do; None: with all of them it can."""
    if not _PROXIES.intersection(map(str.lower, os.environ)):
        return None
    import ssl
    from urllib.request import getproxies

    import httpx

    proxies = getproxies()
    if "*" in proxies.get("no", "").replace(" ", "").split(","):
        return None
    for kind in ("http", "https", "all"):
        address = proxies.get(kind, "")
        name = next(
            (each for each in os.environ if each.lower() == f"{kind}_proxy" and os.environ[each] == address), f"{kind}_proxy"
        )
        try:
            if address:
                url = address if "://" in address else f"http://{address}"
                httpx.HTTPTransport(proxy=url, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)).close()
        except ImportError:
            found = f"{name} names a SOCKS proxy, which the client of Prefect (httpx) cannot use without the package socksio"
            return found, f"install httpx[socks] beside eval-skills, or unset {name} for this call"
        except (ValueError, httpx.InvalidURL):
            return f"{name} is not the address of a proxy", "write http://HOST:PORT, or unset it for this call"
    return None


START_TIMEOUT_S, DRAIN_TIMEOUT_S = 300.0, 5.0
PATIENCE_S, REFUSED_PATIENCE_S = 60.0, 15.0
"""How long a server that should be there may be slow, and how long nobody may listen at its address (it may be restarting)."""

_FINAL_STATES = ["COMPLETED", "FAILED", "CANCELLED", "CRASHED"]


@dataclass(slots=True)
class ApiServer:
    """A Prefect API that this call talks to; `process` is set where it is private.

    `named` is whether a variable or a profile says that it must be this one.
    """

    url: str
    named: bool = False
    process: subprocess.Popen[bytes] | None = None
    log: Path | None = None
    answered: bool = False

    @property
    def place(self) -> str:
        """Where the runs of this call are recorded, in words."""
        return "by a private server" if self.process else f"at {self.url.removesuffix('/api')}"

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        return "the private Prefect server" if self.process else f"the Prefect server at {self.url.removesuffix('/api')}"

    @property
    def has_ended(self) -> bool:
        """Whether it is private, and its process has ended."""
        return self.process is not None and self.process.poll() is not None

    def wait_until_ready(self, tell: Callable[[str], object] = lambda line: None) -> None:
        """Return when the API answers. One that should be there is asked again for a while, and `tell` is told so once; if it was
        not named, a private one then takes its place.

        Raises:
            RunError: the server ended, or did not answer in time; the message says which, and what to do.
        """
        if self.process is None and (problem := self._problem(tell)):
            if self.named:
                raise RunError(f"the Prefect API at {self.url} does not answer ({problem}); start it, or unset PREFECT_API_URL")
            tell(f"{self.name} is gone ({problem}); a private one takes its place")
            private = _start_private()
            if os.environ.get("PREFECT_API_URL") == self.url:
                os.environ["PREFECT_API_URL"] = private.url
            self.url, self.process, self.log = private.url, private.process, private.log
        if self.process is not None:
            self._wait_for_private(self.process)
        self.answered = True

    def _problem(self, tell: Callable[[str], object]) -> str | None:
        """Why a server that should be there does not answer, after asking again; None: it does."""
        began, pause, told = monotonic(), 0.2, False
        with open_client(self.url, timeout_s=10.0) as client:
            while (problem := why_silent(client, self.url)) is not None:
                patience = REFUSED_PATIENCE_S if "refused" in problem else PATIENCE_S
                if monotonic() - began > patience:
                    return problem
                if not told:
                    tell(f"{self.name} does not answer ({problem}); asking again for {patience:.0f} s")
                told = True
                sleep(pause)
                pause = min(2 * pause, 5.0)
        return None

    def _wait_for_private(self, process: subprocess.Popen[bytes]) -> None:
        deadline = monotonic() + START_TIMEOUT_S
        with open_client(self.url) as client:
            while not _answers(client, self.url):
                if process.poll() is not None or monotonic() > deadline:
                    raise RunError(f"the private Prefect server did not start: {cause_in(self.log)}")
                sleep(0.05)

    def wait_until_recorded(self, flow_runs: Sequence[str], task_runs: int) -> bool:
        """Wait, within bounds, until the server we are about to stop shows these task runs as final; False: it gave up."""
        if self.process is None:
            return True
        deadline = monotonic() + 10 + task_runs / 50
        with open_client(self.url) as client:
            while (recorded := _count_final(client, self.url, flow_runs)) < task_runs:
                if monotonic() > deadline or self.process.poll() is not None:
                    return False
                sleep(0.05 if task_runs - recorded < 100 else 0.2)
        return True

    def stop(self) -> None:
        """Stop the server if it is private; kill it if it does not leave within five seconds. The log of one that worked goes.

        One that stays gets what is still to be sent to it at the exit of the interpreter, unless it is gone.
        """
        if "prefect" in sys.modules and (self.process is not None or not is_alive(self.url)):
            from eval_skills.cli.prefect_server.loss import send_what_is_queued

            send_what_is_queued(0.0 if self.has_ended else DRAIN_TIMEOUT_S)
        if self.process is None or self.process.stdin is None:
            return
        self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.log is not None and self.answered:
            self.log.unlink(missing_ok=True)


@contextmanager
def prefect_api(*, verbose: bool = False) -> Iterator[ApiServer]:
    """The API for this call, known to Prefect through ``PREFECT_API_URL``. A private server starts at once, in the background."""
    apply(CLIENT_SETTINGS if verbose else CLIENT_SETTINGS | QUIET)
    logging.raiseExceptions = verbose  # else Prefect prints every record that it cannot send
    server = find_or_start()
    before = os.environ.get("PREFECT_API_URL")
    os.environ["PREFECT_API_URL"] = server.url
    try:
        with past_proxies(server.url):
            yield server
    finally:
        server.stop()
        if before is None:
            del os.environ["PREFECT_API_URL"]


_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})


@contextmanager
def past_proxies(url: str) -> Iterator[None]:
    """Nothing that goes to an API on this machine goes through a proxy of the environment, which would look for it on its own.

    The lower-case variable beats the other for all that reads them (`urllib.request.getproxies`).
    """
    host = urlsplit(url).hostname or ""
    if host not in _THIS_MACHINE or not any(name.lower() in _PROXIES for name in os.environ):
        yield
        return
    before = os.environ.get("no_proxy")
    known = before if before is not None else os.environ.get("NO_PROXY", "")
    os.environ["no_proxy"] = ours = ",".join(filter(None, [known, host]))
    try:
        yield
    finally:
        if os.environ.get("no_proxy") == ours:  # else somebody, such as a skill, has set it since
            del os.environ["no_proxy"]
            os.environ.update({} if before is None else {"no_proxy": before})


def find_or_start() -> ApiServer:
    """The API that outlives this call, else a private one, which starts in the background; `ApiServer.stop` belongs to its end.

    Raises:
        UsageError: ``PREFECT_HOME``, or a variable about connections, cannot be used.
    """
    check_home()
    check_connections()
    url = existing_api()
    return ApiServer(url, named=configured_api_url() is not None) if url else _start_private()


def is_alive(url: str) -> bool:
    """Whether a Prefect API answers at `url`."""
    with open_client(url) as client:
        return _answers(client, url)


def open_client(url: str, timeout_s: float = 2.0) -> httpx.Client:
    """A client to ask the API at `url` again and again; whom TLS trusts, read where it is spoken, costs more than an answer."""
    import httpx

    return httpx.Client(timeout=timeout_s, trust_env=False, verify=url.startswith("https:"))


def _answers(client: httpx.Client, url: str) -> bool:
    return why_silent(client, url) is None


def why_silent(client: httpx.Client, url: str) -> str | None:
    """Why the API does not answer as it should; None where it does. Without its database it is healthy, and not ready."""
    import httpx

    try:
        answer = client.get(f"{url}/health")
        if answer.status_code == httpx.codes.OK and client.get(f"{url}/ready").status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return "its database does not answer"
    except httpx.TimeoutException:
        return f"no answer within {client.timeout.read:.0f} s"
    except httpx.HTTPError as error:
        said = str(error) or type(error).__name__
        return "connection refused" if "refused" in said else said
    return None if answer.status_code == httpx.codes.OK else f"HTTP {answer.status_code}"


def _start_private() -> ApiServer:
    port = _free_port()
    log = prefect_home() / f"eval-skills-server-{port}.log"
    make_folder(log.parent, PRIVATE)
    create(log, PRIVATE)
    # its log is a file of ours, which says why it did not start
    environment = {
        **SERVER_SETTINGS,
        **PRIVATE_SERVER_SETTINGS,
        **os.environ,
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
    }
    environment.pop("PREFECT_API_URL", None)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "eval_skills.cli.prefect_server.process", str(port)],
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,  # Ctrl-C is ours alone: the server must live until it has recorded what happened
        )
    return ApiServer(f"http://127.0.0.1:{port}/api", process=process, log=log)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _count_final(client: httpx.Client, url: str, flow_runs: Sequence[str]) -> int:
    import httpx

    body = {
        "flow_runs": {"id": {"any_": list(flow_runs)}},
        "task_runs": {"state": {"type": {"any_": _FINAL_STATES}}},
    }
    try:
        answer = client.post(f"{url}/task_runs/count", json=body, timeout=10.0)
        return int(answer.raise_for_status().json())
    except httpx.HTTPError:
        return 0  # busy digesting: ask again


_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): .+", re.MULTILINE)


def cause_in(log: Path | None) -> str:
    """Why a server did not start, by its log, and what to do: the last exception there, else the last line."""
    text = log.read_text(encoding="utf-8", errors="replace").strip() if log and log.exists() else ""
    cause = (_ERROR.findall(text) or text.splitlines() or ["it says nothing"])[-1]
    if cause.startswith(("ImportError: ", "ModuleNotFoundError: ")):
        remedy = "a package that it needs is missing, or of another version than it expects; install eval-skills again"
    else:
        remedy = f"end what else uses PREFECT_HOME ({prefect_home()}), or set it to another folder, and try again"
    return f"{cause}; its log is {log}; {remedy}"
