"""What a script finds in a process that was forked for it, and how it ends there: what it finds and does without a server."""

from __future__ import annotations

import ast
import importlib
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.process import forkserver
from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill
from tests.adapters.programs import ONE_SHOT, PATIENCE_S, ask, failure
from tests.tables import each_row

MakeSkill = Callable[..., Skill]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it works on Linux only, and is refused elsewhere")

TYPES = "from typing import TYPE_CHECKING\n"
FALLBACK = "try:\n    import a\nexcept ImportError:\n    a = None"


@each_row(
    ("source", "imported"),
    [
        ('"""Doc."""\nimport a, b.c\nfrom d import e as f', "import a, b.c\nfrom d import e as f"),
        ("from __future__ import annotations\nimport a", "from __future__ import annotations\nimport a"),
        ("import a\na.setup()\nimport b", "import a"),
        ("import os\nos.environ['A'] = '1'\nimport b", "import os"),
        ("import a\nif a.x:\n    import b\nimport c", "import a"),
        ("import a\n__version__ = '1'\nimport b", "import a\nimport b"),
        ("import a\nx = a.b\nimport c", "import a"),
        ("import a\na.b = 1\nimport c", "import a"),
        ("import a\ndef run(b=a.c): pass\nimport d", "import a"),
        (f"{TYPES}if TYPE_CHECKING:\n    import a\nimport b", f"{TYPES}import b"),
        (f"{TYPES}if TYPE_CHECKING:\n    import a\nelse:\n    import c\nimport b", TYPES.strip()),
        (f"{FALLBACK}\nimport b", f"{FALLBACK}\nimport b"),
        ("try:\n    import a\n    a.setup()\nexcept ImportError:\n    pass\nimport b", ""),
        ("", ""),
    ],
)
def test_the_imports_that_a_script_begins_with(source: str, imported: str) -> None:
    assert ast.unparse(forkserver.head(source.encode())) == imported


def test_to_import_the_program_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(sys.path), set(sys.modules)
    monkeypatch.delitem(sys.modules, forkserver.__name__)
    importlib.import_module(forkserver.__name__)
    assert (sys.path, set(sys.modules)) == before


FINDS = """
import gc, json, os, resource, signal, sys, warnings
__version__ = "1"
def ways(stream):
    return stream.encoding, stream.errors, stream.line_buffering, stream.isatty(), stream.seekable(), stream.name, stream.mode
def found():
    plain = (str, type(None))
    return {
        "main": {name: value if isinstance(value, plain) else type(value).__name__ for name, value in sorted(vars(main).items())},
        "is it": vars(main) is globals(),
        "words": [sys.argv, sys.orig_argv, sys.executable, repr(sys.flags), sys.warnoptions],
        "modules": [sorted(sys.modules), sys.path, [type(each).__name__ for each in sys.meta_path]],
        "place": [os.getcwd(), dict(os.environ), os.umask(0o22), os.nice(0)],
        "files": sorted(os.listdir("/proc/self/fd")),
        "streams": [ways(each) for each in (sys.stdin, sys.stdout, sys.stderr)],
        "session": os.getsid(0) == os.getpgrp() == os.getpid(),
        "signals": [repr(signal.getsignal(each)) for each in signal.Signals],
        "wakes": signal.set_wakeup_fd(-1),
        "kernel": [line for line in open("/proc/self/status") if line.startswith(("SigB", "SigI", "SigC", "Cap", "Threads"))],
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT")},
        "interpreter": [sys.excepthook is sys.__excepthook__, gc.isenabled(), gc.get_threshold(), repr(warnings.filters)],
        "cpu": sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) < 5,
    }
main = sys.modules["__main__"]
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": found()}))
"""


@pytest.mark.slow
@each_row(
    ("command", "config"),
    [
        ("skill.py a 'b c'", {}),
        ("./package/../skill.py", {"env": {"PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "7", "OWN": "x"}}),
        ("link.py", {"limits": {"memoryMb": 900, "cpuSeconds": 50, "openFiles": 40}}),
        ("skill.py", {"env": {"PYTHONSAFEPATH": "1", "PYTHONPATH": "package", "PYTHONWARNINGS": "error"}}),
        ("-m skill", {}),
        ("-m package x", {}),
        ("-m package.inner", {"env": {"PYTHONDONTWRITEBYTECODE": "1"}}),
    ],
)
async def test_a_script_finds_what_it_finds_without_a_server(
    forked_skill: MakeSkill, tmp_path: Path, command: str, config: dict[str, Any]
) -> None:
    (tmp_path / "package").mkdir(exist_ok=True)
    for name in ("__init__", "__main__", "inner"):
        (tmp_path / "package" / f"{name}.py").write_text("" if name == "__init__" else FINDS)
    if not (tmp_path / "link.py").exists():
        (tmp_path / "link.py").symlink_to("package/inner.py")
    spawned, forked = [
        (await ask(forked_skill(FINDS, f"{{python}} {command}", **config, startMethod=how))).output
        for how in ("spawn", "forkserver")
    ]
    assert forked == spawned


ENDS = {
    "uncaught": "def run(): raise ValueError('no')\nrun()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('x') from error",
    "group": "raise ExceptionGroup('both', [ValueError('a'), TypeError('b')])",
    "exit-code": "sys.exit(3)",
    "exit-message": "sys.exit('went wrong')",
    "interrupted": "raise KeyboardInterrupt",
    "killed": "os.kill(os.getpid(), 9)",
    "terminated": "os.kill(os.getpid(), 15)",
    "aborted": "os.abort()",
    "at-once": "os._exit(7)",
    "own-hook": "sys.excepthook = lambda kind, error, trace: print(kind, error, trace.tb_lineno)\n1 / 0",
    "at-exit": "import atexit\natexit.register(lambda: print('bye'))\natexit.register(lambda: 1 / 0)\nprint('done')\n1 / 0",
    "thread": "import threading\nthreading.Timer(0.05, lambda: print('late', file=sys.stderr)).start()\nprint('main')",
    "thread-fails": "import threading\nthreading.Thread(target=lambda: 1 / 0, name='t').start()",
    "unflushed": "os.close(1)\nprint('x')",
    "binary": "sys.stdout.buffer.write(bytes(range(256)))\nsys.stderr.buffer.write(b'\\xff\\n')",
    "recursion": "def down(): down()\ndown()",
    "warning": "import warnings\nwarnings.warn('mind', stacklevel=1)",
    "finalised": "class A:\n    def __del__(self): print('gone', flush=True)\nkept = A()\ndef function(): pass",
    "pickled": "import pickle\nclass A: pass\nprint(pickle.dumps(A()), pickle.loads(pickle.dumps(A())).__class__ is A)",
    "syntax": "x = = 1",
    "encoding": "# coding: no-such-encoding",
    "missing-import": "import no_such_module",
    "import-that-fails": "import broken",
    "import-that-exits": "import leaving",
    "import-that-prints": "import chatty\nprint('own')",
    "descendants": "import subprocess\nsubprocess.run([sys.executable, '-S', '-c', 'import sys; sys.exit(4)'], check=True)",
}
MODULES = {
    "broken": "import json\n1 / 0",
    "leaving": "import sys\nsys.exit('left')",
    "chatty": "import sys\nprint('hello')\nsys.stderr.write('hm\\n')",
}


DIFFERS = re.compile(r"0x[0-9a-f]+|(?<=Previous line repeated )\d+")
"""Addresses, and how deep a recursion went: the frames of the server's own lie below those of the script."""


async def ending(skill: Skill) -> tuple[type[ItemError], str, str]:
    error = await failure(skill)
    return type(error), DIFFERS.sub("", str(error)), DIFFERS.sub("", error.logs)


@pytest.mark.slow
@each_row("name", ENDS)
async def test_a_script_ends_as_it_does_without_a_server(forked_skill: MakeSkill, tmp_path: Path, name: str) -> None:
    for module, text in MODULES.items():
        (tmp_path / f"{module}.py").write_text(text)
    spawned, forked = [
        await ending(forked_skill(f"import os, sys\n{ENDS[name]}", startMethod=how)) for how in ("spawn", "forkserver")
    ]
    assert forked == spawned


@pytest.mark.slow
@each_row(
    "command", ["missing.py", "sub/../../missing.py", "-m no_such_module", "-m no_such_package.inner", "folder.py", "-m json"]
)
async def test_a_script_that_cannot_be_run_is_the_same_error(forked_skill: MakeSkill, tmp_path: Path, command: str) -> None:
    (tmp_path / "folder.py").mkdir(exist_ok=True)
    spawned, forked = [
        await ending(forked_skill("", f"{{python}} {command}", startMethod=how)) for how in ("spawn", "forkserver")
    ]
    assert forked[0] is spawned[0]
    if command != "folder.py":  # whose `__main__.py` an interpreter looks for
        assert forked == spawned


async def answers(skill: Skill, count: int = 3) -> list[Any]:
    async with SubprocessAdapter(skill) as adapter:
        given = [(await adapter.call(number, PATIENCE_S)).output for number in range(count)]
    assert adapter.remarks == []
    return given


async def test_what_a_process_changes_is_not_seen_by_the_next(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("seen = []\n")
    source = "import state\n" + ONE_SHOT
    source += """
seen = [len(state.seen), os.getcwd() == os.path.dirname(__file__), os.environ.get("LEFT"), hasattr(json, "left"), len(sys.argv)]
print(reply(seen))
state.seen.append(1); os.chdir("/"); os.environ["LEFT"] = "x"; json.left = 1; sys.argv.append("x")
"""
    assert await answers(forked_skill(source)) == [[0, True, None, False, 1]] * 3


async def test_imports_are_done_once_and_before_the_items(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text("import os\nopen('imported', 'a').write(f'{os.getpid()}\\n')\n")
    pids = await answers(forked_skill("import once\n" + ONE_SHOT + "print(reply(os.getpid()))"))
    assert len(set(pids)) == 3
    [server] = (tmp_path / "imported").read_text().split()
    assert int(server) not in pids


async def test_modules_by_the_names_that_the_server_uses_are_the_scripts_own(forked_skill: MakeSkill, tmp_path: Path) -> None:
    for name in ("array", "socket", "ast", "resource", "gc_", "forkserver", "streams", "child"):
        (tmp_path / f"{name}.py").write_text(f"own = {name!r}\n")
    used = ("array", "ast", "child", "forkserver", "resource", "socket", "streams")
    own = [name for name in used if name not in sys.builtin_module_names]  # of those no script can have its own
    source = f"import {', '.join(own)}\n{ONE_SHOT}print(reply([each.own for each in ({', '.join(own)})]))"
    assert await answers(forked_skill(source), 1) == [own]


async def test_what_code_was_loaded_from_may_stay_open(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "loaded.py").write_text("import _ctypes, os\nos.open(_ctypes.__file__, os.O_RDONLY)\n")
    assert await answers(forked_skill("import loaded\n" + ONE_SHOT + "print(reply(1))")) == [1] * 3


@pytest.mark.slow
async def test_random_numbers_are_not_those_of_the_process_before(forked_skill: MakeSkill) -> None:
    source = "import random, secrets, tempfile, uuid\n" + ONE_SHOT
    source += "print(reply([random.random(), str(uuid.uuid4()), secrets.token_hex(), tempfile.mktemp()]))"
    drawn = await answers(forked_skill(source))
    assert [len(set(column)) for column in zip(*drawn, strict=True)] == [3] * 4


@pytest.mark.slow
async def test_numpy_is_shared_and_its_random_numbers_are_not(forked_skill: MakeSkill) -> None:
    source = "import numpy as np\nimport numpy.random\n" + ONE_SHOT
    source += "print(reply([np.random.random(), float((np.ones((300, 300)) @ np.ones((300, 300))).sum())]))"
    drawn = await answers(forked_skill(source))
    assert len({number for number, _ in drawn}) == 3
    assert {product for _, product in drawn} == {300.0**3}


async def test_an_environment_that_the_script_sets_comes_before_the_imports_below(
    forked_skill: MakeSkill, tmp_path: Path
) -> None:
    (tmp_path / "reads.py").write_text("import os\nmode = os.environ.get('MODE')\n")
    source = "import os\nos.environ['MODE'] = 'set'\nimport reads\n" + ONE_SHOT + "print(reply(reads.mode))"
    assert await answers(forked_skill(source), 1) == ["set"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
async def test_a_script_may_use_multiprocessing(forked_skill: MakeSkill, method: str) -> None:
    source = f"""
    import json, multiprocessing, sys
    def double(number):
        return 2 * number
    if __name__ == "__main__":
        request = json.loads(sys.stdin.read())
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": pool.map(double, [1, 2])}}))
    """
    assert await answers(forked_skill(source), 2) == [[2, 4]] * 2


@pytest.mark.slow
async def test_a_script_may_use_threads_and_asyncio(forked_skill: MakeSkill) -> None:
    source = "import asyncio, concurrent.futures, threading\n" + ONE_SHOT
    source += """
async def main():
    return await asyncio.to_thread(lambda: threading.current_thread() is not threading.main_thread())
with concurrent.futures.ThreadPoolExecutor() as pool:
    print(reply([asyncio.run(main()), pool.submit(lambda: 2).result()]))
"""
    assert await answers(forked_skill(source), 2) == [[True, 2]] * 2


SHARED = {
    "thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True, name='waits').start()",
        r"thread running \(waits\)",
    ),
    "socket": ("import socket\nkept = socket.socket()", r"left socket:\[\d+\] open"),
    "file": ("kept = open(__file__)", r"left /.*hazard\.py open"),
    "loop": ("import asyncio\nloop = asyncio.new_event_loop()", "open"),
    "process": ("import subprocess\nkept = subprocess.Popen(['sleep', '600'])", "started a process"),
    "memory": ("import mmap\nkept = mmap.mmap(-1, 4096)", "memory that processes share"),
    "folder": ("import tempfile\nkept = tempfile.TemporaryDirectory()", r"imports made /.*, which the first process to end"),
    "timer": ("import signal\nsignal.alarm(600)", "set a timer"),
    "fork": ("import os\nif not os.path.exists('forked'):\n    open('forked', 'w').close()\n    os.fork()", "started a process"),
    "lock": ("import multiprocessing\nkept = multiprocessing.get_context('fork').Lock()", "memory that processes share"),
}
HARMLESS = """
import os, tempfile, threading
tempfile.NamedTemporaryFile().close()
threading.Thread(target=int).start()
kept = open("/dev/null"), os.open("/dev/urandom", os.O_RDONLY)
"""


@pytest.mark.slow
@each_row("name", SHARED)
async def test_what_processes_would_share_makes_each_start_its_own_interpreter(
    forked_skill: MakeSkill, tmp_path: Path, name: str
) -> None:
    source, reason = SHARED[name]
    (tmp_path / "hazard.py").write_text(source)
    async with SubprocessAdapter(
        forked_skill("import hazard\n" + ONE_SHOT + "print(reply(params))\nsys.stdout.flush()\nos._exit(0)")
    ) as adapter:
        assert [(await adapter.call(number, PATIENCE_S)).output for number in range(2)] == [0, 1]
    [remark] = adapter.remarks
    assert remark.startswith('probe@1.2.3: "startMethod": "forkserver" was given up, and items start an interpreter each: ')
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(remark)


async def test_what_has_no_state_may_stay_open(forked_skill: MakeSkill, tmp_path: Path) -> None:
    (tmp_path / "harmless.py").write_text(HARMLESS)
    assert await answers(forked_skill("import harmless\n" + ONE_SHOT + "print(reply(params))"), 1) == [0]


def test_it_ends_when_the_other_end_is_gone_and_answers_a_request_without_streams(tmp_path: Path) -> None:
    (tmp_path / "skill.py").write_text("")
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        subprocess.Popen([sys.executable, forkserver.__file__, "skill.py"], cwd=tmp_path, stdin=theirs.fileno()) as server,
    ):
        said = ours.makefile()
        assert said.readline() == '{"ready": ""}\n'
        ours.send(b"f")
        assert said.readline() == '{"refused": "Too many open files"}\n'
        ours.shutdown(socket.SHUT_WR)
        assert server.wait(60) == 0
