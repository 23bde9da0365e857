"""`benchmarks review`, in a terminal and without one."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.warm_command import WarmProcess

Run = Callable[..., Any]
MARK = {"generated": {"by": "schema", "seed": 1}, "reviewed": False}
PROMPT, DEADLINE_S, AGAIN_S = "q quit: ", 60.0, 5.0


def drafts(*tasks: dict[str, Any]) -> dict[str, Any]:
    named = [{"id": f"t{n}", "inputData": {"n": n}, "metadata": MARK, **task} for n, task in enumerate(tasks)]
    return {"id": "d", "name": "D", "version": "1.0.0", "tasks": named}


KNOWN: dict[str, Any] = {"expectedOutput": {"value": 1}}


class Terminal:
    """A call in a pseudo-terminal of 80 columns."""

    def __init__(self, place: Any, *arguments: str, editor: str = "false") -> None:
        self.shown = ""
        self._fd, other = pty.openpty()
        with os.fdopen(other, "r+b", buffering=0) as stream:
            environ = {name: value for name, value in os.environ.items() if name != "VISUAL"}
            environ |= {"COLUMNS": "80", "EDITOR": editor, "NO_COLOR": "1", "HOME": str(place.folder)}
            self._process: WarmProcess = place.command.start(arguments, cwd=place.folder, environment=environ, terminal=stream)

    def until(self, text: str) -> str:
        """What is shown until this text, which it is waited for."""
        begin = len(self.shown)
        while text not in self.shown[begin:]:
            if not (more := self._read()):
                raise AssertionError(f"{text!r} was never shown; there was {self.shown!r}")
            self.shown += more
        return self.shown[begin:]

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, and once more: Python, stopped between its prompt and its reading, sees the first only after the next line."""
        self.type("\x03")
        patience = time.monotonic() + AGAIN_S
        while time.monotonic() < patience:
            if self._process.poll() is not None:
                return
            time.sleep(0.02)
        self.type("\x03")

    def code(self) -> int:
        while more := self._read():
            self.shown += more
        return self._process.wait(DEADLINE_S)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(DEADLINE_S)
        os.close(self._fd)

    def _read(self) -> str:
        if not select.select([self._fd], [], [], DEADLINE_S)[0]:
            raise AssertionError(f"nothing more was shown for {DEADLINE_S:g} s; there was {self.shown!r}")
        try:
            return os.read(self._fd, 65_536).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return ""


@pytest.fixture
def begin(place: Any) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str, editor: str = "false") -> Terminal:
        opened.append(Terminal(place, "benchmarks", "review", *arguments, editor=editor))
        return opened[-1]

    yield start
    for each in opened:
        each.stop()


def tasks(place: Any) -> dict[str, Any]:
    return {task["id"]: task for task in json.loads((place.folder / "d.json").read_text("utf-8"))["tasks"]}


def reviewed(place: Any) -> list[str]:
    return [name for name, task in tasks(place).items() if task["metadata"]["reviewed"]]


@pytest.mark.slow
def test_each_decision_is_saved_before_the_next_question(place: Any, begin: Callable[..., Terminal]) -> None:
    place.write("d.json", drafts(KNOWN, {}, KNOWN, KNOWN, KNOWN))
    terminal = begin("d.json")
    terminal.until(PROMPT)
    terminal.type("a\n")
    assert "2 of 5  t1" in terminal.until(PROMPT)
    assert reviewed(place) == ["t0"]
    terminal.type("a\n")
    assert "not saved: task 't1' expects nothing yet" in " ".join(terminal.until(PROMPT).split())
    terminal.type("x\n")
    terminal.until("nothing): ")
    terminal.type("żółć\n")
    terminal.until(PROMPT)
    assert tasks(place)["t1"]["expectedOutput"] == {"type": "exact_match", "value": "żółć"}
    terminal.type("d\n")
    terminal.until(PROMPT)
    assert "t2" not in tasks(place)
    terminal.type("s\n")
    terminal.until(PROMPT)
    terminal.type("q\n")
    assert terminal.code() == 0
    assert "d.json: 2 accepted, 1 deleted, 2 not reviewed" in terminal.shown


@pytest.mark.slow
def test_half_an_object_is_not_expected_as_text(place: Any, begin: Callable[..., Terminal]) -> None:
    place.write("d.json", drafts({}, KNOWN))
    terminal = begin("d.json")
    terminal.until(PROMPT)
    terminal.type("x\n")
    terminal.until("nothing): ")
    terminal.type('{"total": 5\n')
    shown = " ".join(terminal.until(PROMPT).split())
    assert "not saved: it begins like JSON, and is not valid: " in shown
    assert r'to expect it as text, type "{\"total\": 5"' in shown
    assert reviewed(place) == []
    terminal.type("x\n")
    terminal.until("nothing): ")
    terminal.type(r'"{\"total\": 5"' + "\n")
    terminal.until(PROMPT)
    assert tasks(place)["t0"]["expectedOutput"] == {"type": "exact_match", "value": '{"total": 5'}


@pytest.mark.slow
def test_a_review_goes_on_where_it_was_left(place: Any, begin: Callable[..., Terminal]) -> None:
    place.write("d.json", drafts(KNOWN, KNOWN))
    first = begin("d.json")
    first.until(PROMPT)
    first.type("a\n")
    first.until(PROMPT)
    first.type("\x04")
    assert first.code() == 0
    assert "1 of 1  t1" in begin("d.json").until(PROMPT)


@pytest.mark.slow
def test_ctrl_c_is_130_and_loses_nothing(place: Any, begin: Callable[..., Terminal]) -> None:
    place.write("d.json", drafts(KNOWN, KNOWN))
    terminal = begin("d.json")
    terminal.until(PROMPT)
    terminal.type("a\n")
    terminal.until(PROMPT)
    terminal.interrupt()
    assert terminal.code() == 130
    assert "\neval-skills: interrupted; what was decided is saved" in terminal.shown.replace("\r", "")
    assert reviewed(place) == ["t0"]


@pytest.mark.slow
def test_an_editor_changes_the_whole_task_and_a_slip_costs_nothing(place: Any, begin: Callable[..., Terminal]) -> None:
    place.write("d.json", drafts(KNOWN))
    place.write("broken.py", "import sys; open(sys.argv[1], 'a').write('oops')")
    terminal = begin("d.json", editor=f"{sys.executable} broken.py")
    terminal.until(PROMPT)
    terminal.type("e\n")
    assert "not saved: not valid JSON" in terminal.until(PROMPT)
    place.write(
        "broken.py",
        "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.replace('oops', '').replace('t0', 'new'))",
    )
    terminal.type("e\n")
    assert terminal.code() == 0
    assert reviewed(place) == ["new"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("editor", "says"),
    [
        ("false", "exit code 1"),
        ("no-such-editor", "set EDITOR"),
        ("true", "nothing was changed"),
        ("rm", "rm left no file that can be read as UTF-8"),
        (f"{sys.executable} bytes.py", "left no file that can be read as UTF-8"),
        (f"{sys.executable} nan.py", "NaN is not JSON; e opens it again"),
        ("vi 'x", "EDITOR cannot be read as a command"),
    ],
    ids=["fails", "unknown", "changes-nothing", "deletes-the-file", "no-text", "no-json", "no-command"],
)
def test_an_editor_that_does_nothing_decides_nothing(place: Any, begin: Callable[..., Terminal], editor: str, says: str) -> None:
    place.write("d.json", drafts({**KNOWN, "inputData": {"q": "half a pair: \ud800"}}))
    place.write("bytes.py", "import sys; open(sys.argv[1], 'wb').write(bytes([255]))")
    place.write("nan.py", 'import sys; open(sys.argv[1], \'w\').write(\'{"id": "t0", "inputData": NaN}\')')
    terminal = begin("d.json", editor=editor)
    terminal.until(PROMPT)
    terminal.type("e\n")
    assert says in " ".join(terminal.until(PROMPT).split())
    assert reviewed(place) == []


@pytest.mark.slow
def test_no_line_is_wider_than_80_columns(place: Any, begin: Callable[..., Terminal]) -> None:
    long = {"inputData": {"q": "long " * 100, "\x1b[31m": "ü" * 200}, **KNOWN}
    place.write("d.json", drafts(long))
    shown = begin("d.json").until(PROMPT)
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b[31m" not in shown


def test_without_a_terminal_the_options_decide(place: Any, run_here: Run) -> None:
    place.write("d.json", drafts(KNOWN, {}, KNOWN, KNOWN))
    refused = run_here("benchmarks", "review", "d.json")
    assert (refused.code, "--accept-all" in refused.err) == (2, True)
    result = run_here("benchmarks", "review", "d.json", "--accept", "t0", "--drop", "t2", "--json")
    assert result.json == {"file": "d.json", "accepted": ["t0"], "dropped": ["t2"], "unreviewed": ["t1", "t3"]}
    everything = run_here("benchmarks", "review", "d.json", "--accept-all")
    assert "1 accepted, 0 deleted, 1 not reviewed" in everything.out
    assert "1 task left, which expect nothing yet: t1" in everything.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["d.json", "--accept", "t9"], "has no task 't9'", id="unknown"),
        pytest.param(["d.json", "--accept", "t0", "--drop", "t0"], "both name 't0'", id="both"),
        pytest.param(["nowhere.json", "--accept-all"], "no such file", id="no-file"),
        pytest.param(["d.json", "--accept", "t1"], "expects nothing yet", id="no-expectation"),
    ],
)
def test_what_cannot_be_decided_is_refused(place: Any, run_here: Run, arguments: list[str], says: str) -> None:
    file = place.write("d.json", drafts(KNOWN, {}))
    before = file.read_bytes()
    result = run_here("benchmarks", "review", *arguments)
    assert (result.code, says in result.err, result.err.count("\n")) == (2, True, 1)
    assert file.read_bytes() == before
