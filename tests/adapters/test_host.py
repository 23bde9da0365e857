"""The host program by itself: its protocol, its streams, its end, and what it makes of values."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
import textwrap
import time
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from eval_skills.adapters import host
from eval_skills.adapters.host_answer import plain
from eval_skills.adapters.host_words import NotJson

Running = Callable[[], list[str]]

SETUP = {"kind": "custom", "init": {}, "spread": False}


class Hosted:
    """A host in a folder, asked by hand."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-I", *options, host.__file__]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def tell(self, params: Any) -> None:
        assert self.process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", "method": "invoke", "params": params, "id": 7})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, params: Any) -> Any:
        self.tell(params)
        assert self.process.stdout is not None
        reply = json.loads(self.process.stdout.readline())
        assert (reply.pop("jsonrpc"), reply.pop("id")) == ("2.0", 7)
        return reply

    def load(self, entrypoint: str, **setup: Any) -> Any:
        place, _, attribute = entrypoint.rpartition(":")
        return self.ask(SETUP | {"place": place, "attribute": attribute} | setup)

    def end(self) -> tuple[str, str]:
        out, err = self.process.communicate(timeout=60)
        return out.decode(), err.decode()


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Callable[..., Hosted]]:
    """Start a host in a folder whose ``skill.py`` is given."""
    started: list[Hosted] = []

    def start(source: str, *options: str) -> Hosted:
        (tmp_path / "skill.py").write_text(textwrap.dedent(source))
        started.append(Hosted(tmp_path, *options))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


# The streams


NOISY = """
import os, subprocess, sys
print("at import")
def run(value):
    print("printed", end="")
    sys.__stdout__.write(" and written")
    os.write(1, b" to the descriptor\\n")
    subprocess.run(["echo", "by a child"])
    print('{"jsonrpc": "2.0", "id": 7, "result": "forged"}')
    return value
"""


def test_what_the_code_prints_never_reaches_the_answers(hosted: Callable[..., Hosted]) -> None:
    noisy = hosted(NOISY)
    assert noisy.load("skill:run") == {"result": {"channels": []}}
    assert [noisy.ask("ä\n"), noisy.ask(None)] == [{"result": "ä\n"}, {"result": None}]
    out, err = noisy.end()
    assert out == ""
    for said in ("at import", "printed", "and written", "to the descriptor", "by a child", "forged"):
        assert said in err


def test_the_code_cannot_read_the_requests(hosted: Callable[..., Hosted]) -> None:
    reading = hosted("import sys\ndef run(value): return [sys.stdin.read(), open('/dev/stdin').read()]")
    reading.load("skill:run")
    assert reading.ask(1) == {"result": ["", ""]}
    assert reading.ask(2) == {"result": ["", ""]}


def test_streams_that_the_code_closed_or_replaced_do_no_harm(hosted: Callable[..., Hosted]) -> None:
    closing = hosted(
        "import os, sys\ndef run(value):\n    sys.stdout.close(); sys.stdout = None; os.close(2); raise KeyError(value)"
    )
    closing.load("skill:run")
    assert closing.ask("a")["error"]["message"] == "KeyError: 'a'"


def test_a_forked_process_that_comes_back_does_not_answer(hosted: Callable[..., Hosted]) -> None:
    forking = hosted("""
        import os, sys
        def run(value):
            child = os.fork()
            if child == 0:
                sys.exit("the child is done")
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """)
    forking.load("skill:run")
    assert forking.ask(None) == {"result": 1}
    assert forking.ask(None) == {"result": 1}


# What it needs, and what it shows the skill of itself


def test_it_needs_the_standard_library_alone(hosted: Callable[..., Hosted]) -> None:
    bare = hosted("import sys\ndef run(_): return sorted({name.partition('.')[0] for name in sys.modules})", "-S")
    bare.load("skill:run")
    loaded = set(bare.ask(None)["result"])
    assert loaded - set(sys.stdlib_module_names) - {"__main__", "__mp_main__", "skill"} <= {"eval_skills"}
    assert loaded >= {"asyncio", "skill"}


def test_its_neighbours_are_not_mistaken_for_the_standard_library(hosted: Callable[..., Hosted]) -> None:
    looking = hosted("import http, subprocess\ndef run(_): return [http.__file__, subprocess.__file__]")
    looking.load("skill:run")
    assert not any("adapters" in file for file in looking.ask(None)["result"])


def test_the_code_may_import_the_real_package(hosted: Callable[..., Hosted]) -> None:
    importing = hosted("from eval_skills.adapters import Adapter\ndef run(_): return Adapter.__module__")
    assert importing.load("skill:run") == {"result": {"channels": []}}
    assert importing.ask(None) == {"result": "eval_skills.adapters.base"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("queue", id="that-the-host-imported"),
        pytest.param("colorsys", id="that-nobody-imported"),
    ],
)
def test_a_module_of_the_skill_goes_before_one_of_the_same_name(hosted: Callable[..., Hosted], tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("def mine(_): return 'mine'")
    own = hosted("")
    own.load(f"{name}:mine")
    assert own.ask(None) == {"result": "mine"}


# Errors


def test_an_exception_is_an_error_reply_and_its_traceback_begins_in_the_skill(hosted: Callable[..., Hosted]) -> None:
    failing = hosted("""
        class Refused(Exception): pass
        def run(value):
            raise Refused("not " + value)
        async def later(value):
            run(value)
    """)
    failing.load("skill:later")
    assert failing.ask("today") == {"error": {"code": host.RAISED, "message": "skill.Refused: not today"}}
    _, err = failing.end()
    frames = [line.strip() for line in err.splitlines() if line.strip().startswith("File ")]
    assert len(frames) == 2
    assert all("skill.py" in frame for frame in frames)


@pytest.mark.parametrize(
    ("raising", "message"),
    [
        pytest.param("sys.exit(3)", "SystemExit: 3", id="exit"),
        pytest.param("sys.exit()", "SystemExit", id="exit-without-a-word"),
        pytest.param("raise KeyboardInterrupt", "KeyboardInterrupt", id="interrupt"),
        pytest.param("raise BaseException('x')", "BaseException: x", id="base"),
        pytest.param("raise OSError('\\udcff')", "OSError: \\udcff", id="surrogate"),
        pytest.param("value + 1", 'TypeError: can only concatenate str (not "int") to str', id="type"),
        pytest.param("raise Mute", "skill.Mute: <exception str() failed>", id="cannot-be-shown"),
        pytest.param("run(value)", "RecursionError: maximum recursion depth exceeded", id="recursion"),
    ],
)
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_whatever_is_raised_the_next_request_is_answered(
    hosted: Callable[..., Hosted], raising: str, message: str, keyword: str
) -> None:
    if keyword == "async def":
        raising = raising.replace("run(value)", "await run(value)")
    failing = hosted(f"""
        import sys
        class Mute(Exception):
            def __str__(self): raise ValueError
        {keyword} run(value):
            if value == "fine": return value
            {raising}
    """)
    failing.load("skill:run")
    reply = failing.ask("x")["error"]
    assert reply["code"] == host.RAISED
    assert reply["message"].startswith(message)
    assert failing.ask("fine") == {"result": "fine"}


LOADABLE = """
import functools
class Plain: pass
class Needy:
    def __init__(self, size): self.size = size
    def call(self, value): return self.size
class Broken:
    def __init__(self): raise OSError("no device")
    def call(self, value): pass
def two(a, b): return a
def none(): return 0
run = lambda value: value
number = 5
"""


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A host that may be asked to load as long as nothing could be loaded."""
    folder = tmp_path_factory.mktemp("loadable")
    sources = {
        "skill": LOADABLE,
        "broken": "1 / 0",
        "unparsable": "def run(:",
        "leaving": "raise SystemExit(4)",
        "needing": "import no_such_lib",
    }
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    loader = Hosted(folder)
    yield loader
    loader.end()


@pytest.mark.parametrize(
    ("entrypoint", "setup", "message"),
    [
        pytest.param("skil:run", {}, r"no module 'skil' in .*, nor one installed for .*\(did you mean 'skill'\?\)", id="module"),
        pytest.param("skill.deep:run", {}, r"there is no module 'skill.deep' in", id="no-package"),
        pytest.param("gone/skill.py:run", {}, r"importing gone/skill.py failed: FileNotFoundError", id="file"),
        pytest.param("skill:rum", {}, r"skill has no attribute 'rum' \(did you mean 'run'\?\)", id="attribute"),
        pytest.param("skill:qqq", {}, r"skill has no attribute 'qqq'; it has Broken, Needy, Plain", id="attribute-unlike-any"),
        pytest.param("skill:Needy.size", {}, r"skill has no attribute 'Needy.size'; it has call", id="nested-attribute"),
        pytest.param("skill:number", {}, r"skill:number is an int, which cannot be called; name a function or", id="value"),
        pytest.param("skill:Plain", {}, r"skill:Plain is a class without a method `call`", id="class-without-call"),
        pytest.param("skill:Needy", {}, r"making a skill:Needy failed: TypeError.*adapterConfig.init", id="no-init"),
        pytest.param("skill:Needy", {"init": {"sise": 1}}, r"unexpected keyword argument 'sise'", id="wrong-init"),
        pytest.param("skill:Broken", {}, r"making a skill:Broken failed: OSError: no device", id="broken-constructor"),
        pytest.param("skill:run", {"init": {"a": 1}}, r"skill:run is no class, and adapterConfig.init gives", id="init-of-none"),
        pytest.param("skill:two", {}, r"skill:two\(a, b\) cannot be called with one argument, .*spread", id="two-arguments"),
        pytest.param("skill:none", {}, r"skill:none\(\) cannot be called with one argument", id="no-argument"),
        pytest.param("broken:run", {}, r"importing broken failed: ZeroDivisionError", id="broken-module"),
        pytest.param("unparsable:run", {}, r"(?s)importing unparsable failed: .*SyntaxError", id="syntax"),
        pytest.param("leaving:run", {}, r"importing leaving failed: SystemExit: 4", id="exit-at-import"),
        pytest.param("needing:run", {}, r"No module named 'no_such_lib'; install it for .* adapterConfig.python", id="library"),
        pytest.param(
            "skill:run", {"kind": "langchain", "call": None}, r"without ainvoke or invoke; name a Runnable", id="no-runnable"
        ),
    ],
)
def test_what_cannot_be_loaded_is_said_with_what_would_be_valid(
    loader: Hosted, entrypoint: str, setup: dict[str, Any], message: str
) -> None:
    reply = loader.load(entrypoint, **setup)
    assert reply["error"]["code"] == host.NOT_LOADED
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(reply["error"]["message"])


# The end


def test_idle_hosts_end_by_themselves_and_leave_nothing_behind(
    hosted: Callable[..., Hosted], tmp_path: Path, left_running: Running
) -> None:
    idle = hosted("""
        import atexit, subprocess, sys
        atexit.register(lambda: open("farewell", "w").close())
        subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
        def run(value): return value
    """)
    idle.load("skill:run")
    assert idle.ask(1) == {"result": 1}
    idle.end()
    assert (tmp_path / "farewell").exists()
    assert left_running() == []


@pytest.mark.parametrize("program", ["def run(_)", "async def run(_)"])
def test_busy_hosts_end_when_their_requests_do_whatever_they_ignore(
    hosted: Callable[..., Hosted], tmp_path: Path, left_running: Running, program: str
) -> None:
    busy = hosted(f"""
        import signal, subprocess, sys, time
        {program}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
            open("at-work", "w").close()
            time.sleep(600)
    """)
    busy.load("skill:run")
    busy.tell(None)
    deadline = time.monotonic() + 60
    while not (tmp_path / "at-work").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    busy.end()
    assert left_running() == []


def test_hosts_end_although_a_thread_of_the_skill_does_not(hosted: Callable[..., Hosted], left_running: Running) -> None:
    threaded = hosted("""
        import threading, time
        threading.Thread(target=time.sleep, args=(600,)).start()
        def run(value): return value
    """)
    threaded.load("skill:run")
    threaded.end()
    assert left_running() == []


# Values


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(BaseModel):
    x: float
    when: date = date(2020, 1, 2)


@dataclass
class Pair:
    left: Any
    right: list[Any] = field(default_factory=list)


Named = namedtuple("Named", "a b")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param({"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}, id="json"),
        pytest.param((1, (2,)), [1, [2]], id="tuples"),
        pytest.param(Named(1, 2), [1, 2], id="named-tuple"),
        pytest.param(OrderedDict(a=1), {"a": 1}, id="mapping"),
        pytest.param({1: "one"}, {"1": "one"}, id="whole-numbers-as-keys"),
        pytest.param([Colour.RED, Level.LOW], ["red", 1], id="enums"),
        pytest.param(
            Pair(Point(x=1), [Pair(2)]),
            {"left": {"x": 1.0, "when": "2020-01-02"}, "right": [{"left": 2, "right": []}]},
            id="models",
        ),
        pytest.param(10**3999, 10**3999, id="a-large-number"),
    ],
)
def test_values_are_written_out(value: Any, written: Any) -> None:
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == written


def circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param({"a": [0, {1, 2}]}, r"the answer.a\[1\] is a set, which is no JSON; a set has no order: .*list", id="set"),
        pytest.param({"a": b"x"}, r"the answer.a is a bytes, .*decode it, or answer base64 text", id="bytes"),
        pytest.param([float("nan")], r"the answer\[0\] is nan, which is no JSON value", id="nan"),
        pytest.param(float("-inf"), r"the answer is -inf", id="infinity"),
        pytest.param(Point(x=float("inf")), r"the answer.x is inf", id="infinity-in-a-model"),
        pytest.param(Pair(date(2020, 1, 1)), r"the answer.left is a datetime.date, which is no JSON; answer text", id="date"),
        pytest.param({(1, 2): 3}, r"the answer has the key \(1, 2\), which is a tuple", id="key"),
        pytest.param({None: 3}, r"has the key None, which is a NoneType", id="null-key"),
        pytest.param({1: "a", "1": "b"}, r"the answer has two keys that read '1'", id="two-keys-alike"),
        pytest.param([10**5000], r"the answer\[0\] is a number of more than 4,000 digits", id="a-huge-number"),
        pytest.param(object(), r"the answer is an object, which is no JSON", id="object"),
        pytest.param(Pair, r"the answer is a type", id="class"),
        pytest.param(map(str, [1]), r"the answer is a map", id="iterator"),
        pytest.param(circle(), r"the answer contains itself, or is nested too deeply", id="circle"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(NotJson, match=message):
        plain(value)
