"""A real browser to open reports in: headless Chromium, driven by the DevTools protocol over a pair of pipes."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.browser.reports import context, three_skills, written

# The first has no windows that it could show, and no extensions, accounts and the like: the same pages for a seventh less work.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
)  # fmt: skip
PATIENCE_S = 120.0
SCREEN = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Tab": 9,
    "End": 35,
    "/": 191,
}

Event = dict[str, Any]


@dataclass(slots=True)
class Chromium:
    """A browser process and its two pipes: commands go in, answers and events come out, each ended by a NUL."""

    process: int
    commands: int
    answers: int
    events: list[Event] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _messages: deque[Event] = field(default_factory=deque)
    _rest: bytes = b""

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """Send a command and return its result; what happens meanwhile is kept in `events`."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _next(self) -> Event:
        while not self._messages:
            readable, _, _ = select.select([self.answers], [], [], PATIENCE_S)
            assert readable, f"the browser said nothing for {PATIENCE_S:g} s"
            read = os.read(self.answers, 1 << 20)
            assert read, "the browser ended"
            *whole, self._rest = (self._rest + read).split(b"\0")
            self._messages.extend(json.loads(text) for text in whole)
        return self._messages.popleft()


@dataclass(frozen=True, slots=True)
class Page:
    """A tab of its own, and what went on in it."""

    chromium: Chromium
    session: str

    def call(self, method: str, **params: Any) -> Any:
        """A command of the protocol to this tab."""
        return self.chromium.call(method, self.session, **params)

    def open(self, file: Path, fragment: str = "") -> Page:
        """Load a file and wait until its script has run, in a tab that has only seen an empty page."""
        self.call("Page.navigate", url=f"{file.as_uri()}{fragment}")
        self.until("document.readyState === 'complete' && performance.getEntriesByName('interactive').length")
        return self

    def leave(self) -> None:
        """Show an empty page, with nothing stored, the mouse in the corner and the record empty."""
        self.value("(() => { try { localStorage.clear(); sessionStorage.clear() } catch { /* an empty page has none */ } })()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
        self.call("Page.navigate", url="about:blank")
        self.value("0")
        self.chromium.events.clear()

    def value(self, expression: str) -> Any:
        """What an expression is worth, as JSON; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, expression: str) -> None:
        """Return when the expression holds: it is looked at again before each frame that the browser draws."""
        self.value(
            f"new Promise(done => {{ const look = () => ({expression}) ? done(true) : requestAnimationFrame(look); look() }})"
        )

    def text(self, selector: str) -> str:
        """The visible text of the first element."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        """The visible texts of all elements."""
        return list(self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(each => each.innerText)"))

    def click(self, selector: str) -> None:
        """A click of the mouse at the middle of the first element, which is scrolled into view."""
        place = self.value(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.scrollIntoView({{block: 'center'}});"
            " const box = it.getBoundingClientRect(); return {x: box.x + box.width / 2, y: box.y + box.height / 2} })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, key: str) -> None:
        """A key goes down and up."""
        fields: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"Enter": "\r", "/": "/"}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **fields, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def write(self, text: str) -> None:
        """Text is typed where the focus is."""
        self.call("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """A value of a list is chosen, as a reader's choice would tell the page."""
        event = "new Event('input', {bubbles: true})"
        self.value(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.value = {json.dumps(value)};"
            f" it.dispatchEvent({event}); it.dispatchEvent(new Event('change', {{bubbles: true}})) }})()"
        )

    def look(self, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        """The size of the window, and whether the system is dark."""
        self.call("Emulation.setDeviceMetricsOverride", **SCREEN | {"width": width, "height": height, "mobile": width < 500})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """A screenshot as PNG, of the whole page or of what the window shows."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def printed(self) -> bytes:
        """The page as PDF on sheets of A4 as a printer gets it: without grounds, and without tags, which double what is read."""
        paper = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": False, "generateTaggedPDF": False}
        made = self.call("Page.printToPDF", **paper)
        return base64.b64decode(made["data"])

    def happened(self, *methods: str) -> list[Event]:
        """The parameters of the events of these kinds so far in this tab."""
        self.value("0")
        mine = (event for event in self.chromium.events if event.get("sessionId") == self.session)
        return [event["params"] for event in mine if event["method"] in methods]

    def complaints(self) -> list[Event]:
        """Everything that the console holds: errors, warnings, violations of the policy, and words of scripts."""
        return self.happened(
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening"
        )

    def requests(self) -> list[str]:
        """The addresses that were asked for, apart from those whose content is in the address itself."""
        addresses = [event["request"]["url"] for event in self.happened("Network.requestWillBeSent")]
        return [address for address in addresses if not address.startswith("data:")]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """The browser, started once, with an empty profile."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is on PATH")
    home = tmp_path_factory.mktemp("chromium")
    browser = _started(program, home)
    yield browser
    os.close(browser.commands)
    os.close(browser.answers)
    os.killpg(browser.process, signal.SIGKILL)
    os.waitpid(browser.process, 0)


@pytest.fixture(scope="session")
def idle_tabs(chromium: Chromium) -> list[Page]:
    """Tabs that show an empty page: a new one is a process of its own, which costs more than what most tests do in it."""
    return []


@pytest.fixture
def page(chromium: Chromium, idle_tabs: list[Page]) -> Iterator[Page]:
    """A tab that keeps a record of its console and of the network; it knows nothing of what was open in it before."""
    tab = idle_tabs.pop() if idle_tabs else _new_tab(chromium)
    tab.look()
    yield tab
    tab.leave()
    idle_tabs.append(tab)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The HTML report of three skills."""
    return written(tmp_path, three_skills(), context())


@pytest.fixture
def pictures(tmp_path: Path) -> Callable[[str], Path]:
    """Where a screenshot of this name goes: REPORT_PICTURES, if that is set, for people to look at."""
    folder = Path(os.environ.get("REPORT_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return lambda name: folder / f"{name}.png"


def _started(program: str, home: Path) -> Chromium:
    theirs_in, ours_out = (_high(end) for end in os.pipe())
    ours_in, theirs_out = (_high(end) for end in os.pipe())
    log = str(home / "log")
    process = os.posix_spawn(
        program,
        [program, *FLAGS, f"--user-data-dir={home / 'profile'}", "about:blank"],
        {**os.environ, "HOME": str(home)},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, theirs_in, 3),
            (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    return Chromium(process, ours_out, ours_in)


def _new_tab(chromium: Chromium) -> Page:
    target = chromium.call("Target.createTarget", url="about:blank")["targetId"]
    tab = Page(chromium, chromium.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
    for domain in ("Page", "Runtime", "Log", "Network"):
        tab.call(f"{domain}.enable")
    return tab


def _high(end: int) -> int:
    """The same end of a pipe under a number that the browser's own 3 and 4 cannot meet; it is not inherited."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved
