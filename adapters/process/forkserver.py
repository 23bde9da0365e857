"""A program that imports what a Python script begins with, and then forks a fresh process for each run of that script.

Started in place of ``python SCRIPT ARGS`` or ``python -m MODULE ARGS``, as ``python forkserver.py SCRIPT ARGS``, by the same
interpreter in the same folder, environment and limits. Its standard input is a socket. Each byte that comes there brings three
descriptors, the standard input, output and error of a new process, and asks for it; lines of JSON go back:

- ``{"ready": REASON}`` once, after the imports; a REASON that is not empty says why they cannot be shared with other processes,
- ``{"started": PID}`` or ``{"refused": REASON}`` for each request,
- ``{"ended": PID, "code": N}`` for each process, a negative N for a signal,
- ``{"worn": true}`` once, when half of the CPU time that was left after the imports is used, for that of a process is limited.

What a process of it finds is what the script finds that an interpreter was started for: ``__main__``, ``sys.argv``, ``sys.path``,
modules by the names of its folder, a session of its own. Standard library only.
"""

# ruff: noqa: E402 - what was loaded before our own imports is to be known
import sys

_OF_EVERY_INTERPRETER = frozenset(sys.modules)
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # our own folder, where no script looks for modules

import array
import ast
import errno
import fcntl
import gc
import io
import json
import os
import resource
import select
import signal
import socket
import stat
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Any, NamedTuple

MODULE = "-m"

SAFE_THREADS = frozenset({"jemalloc_bg_thd"})
"""Threads that a fork does no harm to, by the names that the system has for them: jemalloc starts its own anew in the child."""

_TEMPORARY = frozenset({"tempfile.mkdtemp", "tempfile.mkstemp"})
"""What Python says, before it does so, that it makes a folder or a file of a name that nobody else has."""

_STREAMS = 3
_NO_SUCH_SCRIPT = 2
"""The exit code of an interpreter that cannot open its script."""


class Program(NamedTuple):
    """What is run: ``python SCRIPT ARGS`` or ``python -m MODULE ARGS``, in the current folder."""

    words: tuple[str, ...]

    @property
    def is_module(self) -> bool:
        return self.words[0] == MODULE

    @property
    def file(self) -> str:
        """The path of the script, as ``__main__.__file__`` has it."""
        script = self.words[0]
        return script if os.path.isabs(script) else f"{os.getcwd()}/{script}"

    def pose(self) -> None:
        """Let the interpreter look as if it had been started with the program."""
        sys.orig_argv = [sys.executable, *self.words]
        sys.argv = [MODULE, *self.words[2:]] if self.is_module else list(self.words)
        if not sys.flags.safe_path:
            sys.path.insert(0, os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.file)))
        main = ModuleType("__main__")
        main.__dict__.update(__builtins__=sys.modules["builtins"])
        if sys.version_info < (3, 14):  # later ones make them when they are asked for (PEP 649)
            main.__dict__.update(__annotations__={})
        if not self.is_module:
            main.__dict__.update(__file__=self.file, __cached__=None, __loader__=SourceFileLoader("__main__", self.file))
        sys.modules["__main__"] = main

    def import_head(self) -> None:
        """Do the imports that the program begins with, in their order; what is wrong with one is left for the program to meet."""
        try:
            package, path = self._found_module() if self.is_module else (None, self.file)
            names = {"__name__": "__main__", "__package__": package}
            exec(compile(head(_read(path)), path, "exec", dont_inherit=True), names)  # noqa: S102 - the skill's own imports
        except BaseException:  # noqa: BLE001 - an import may raise anything, even SystemExit
            return

    def _found_module(self) -> tuple[str, str]:
        """The package of the module and its file; the packages around it are imported for that."""
        name = self.words[1]
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
        if spec is None or spec.origin is None:
            raise ImportError(name)
        return spec.parent or "", spec.origin

    def run(self) -> None:
        """Be the program, to the end of its last statement; the interpreter's own end is that of the program."""
        _renew_main()
        try:
            if self.is_module:
                from runpy import _run_module_as_main  # type: ignore[attr-defined]  # what ``python -m`` itself calls

                _run_module_as_main(self.words[1])
            else:
                exec(_compiled(self.file), sys.modules["__main__"].__dict__)  # noqa: S102 - the skill's own script
        except SystemExit:
            raise
        except BaseException as error:
            shown = _without_our_frames(error.__traceback__)
            sys.excepthook(type(error), error.with_traceback(shown), shown)
            sys.excepthook = lambda *_: None  # it is shown; what remains is the exit code, or the signal, that it means
            raise


def head(source: bytes) -> ast.Module:
    """The imports before the first statement of a script that does anything else, as a program of their own.

    A script may set a variable of the environment, or a path, that later imports depend on: those are its own to do. Constants
    and ``if TYPE_CHECKING:`` do nothing, and ``try`` belongs to the imports where there is nothing else in it.
    """
    found: list[ast.stmt] = []
    for statement in ast.parse(source).body:
        if _only_imports(statement):
            found.append(statement)
        elif not _does_nothing(statement):
            break
    return ast.Module(found, [])


def _only_imports(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Try):
        handlers = [each for handler in statement.handlers for each in handler.body]
        inner = [*statement.body, *handlers, *statement.orelse, *statement.finalbody]
        return all(_only_imports(each) or _does_nothing(each) for each in inner)
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        test = statement.test
        named = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
        return named == "TYPE_CHECKING" and not statement.orelse
    if isinstance(statement, ast.Assign):
        return isinstance(statement.value, ast.Constant) and all(isinstance(each, ast.Name) for each in statement.targets)
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _read(path: str) -> bytes:
    with io.open_code(path) as file:
        return file.read()


def _compiled(path: str) -> Any:
    try:
        source = _read(path)
    except OSError as error:
        print(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(_NO_SUCH_SCRIPT)
    return compile(source, path, "exec", dont_inherit=True)


def _renew_main() -> None:
    """Take a module for the script that the collector looks at: what was there when the server froze is never collected.

    What is in its names would not be finalised at the end. A module that an import holds on to stays.
    """
    if _references(sys.modules) <= _references({"__main__": ModuleType("__main__")}):
        renewed = ModuleType("__main__")
        renewed.__dict__.update(vars(sys.modules["__main__"]))
        sys.modules["__main__"] = renewed


def _references(modules: dict[str, ModuleType]) -> int:
    """To ``__main__``, with those of this function, whose number differs between versions of Python."""
    main = modules["__main__"]
    return sys.getrefcount(main)


def _without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _forget_our_imports() -> None:
    """A script may have modules by the same names in its folder, and finds no more loaded than in any other interpreter."""
    for name in set(sys.modules) - _OF_EVERY_INTERPRETER - {"warnings"}:  # of which the interpreter itself has only one
        del sys.modules[name]


class Traces:
    """What is there before the imports, and what they leave that forked processes would share, or would miss."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._open = frozenset(number for number, _ in _descriptors())
        self._temporary: list[str] = []
        self._watching = True
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._watching and event in _TEMPORARY:
            self._temporary.append(arguments[0])

    def left(self) -> str:
        """What was left, as a phrase; "" if there is nothing."""
        self._watching = False
        while os.getpid() != self._pid:  # a copy of this program that an import made: it serves nobody
            signal.pause()
        if kept := [path for path in self._temporary if os.path.exists(path)]:
            return f"its imports made {kept[0]}, which the first process to end might remove"
        if any(signal.getitimer(which)[0] for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)):
            return "its imports set a timer, which no forked process has"
        return _why_not_shared(self._open)


def _why_not_shared(before: frozenset[str]) -> str:
    """What is shared by forked processes, or missing in them.

    `before` are the open descriptors from before the imports. Libraries that can be forked end their threads for it, and start
    them anew when they need them (OpenBLAS, and so NumPy): so it is after a fork that threads are counted.
    """
    opened = [(number, what) for number, what in _descriptors() if number not in before and not _is_for_all(number)]
    if left := [what for number, what in opened if not (_is_read_only(number) and what in _code())]:
        return f"its imports left {left[0]} open"
    if _started():
        return "its imports started a process that still runs"
    if shared := _shared_memory():
        return f"its imports made memory that processes share ({shared})"
    if not (pid := _fork()):
        os._exit(0)
    os.waitpid(pid, 0)
    if threads := sorted(_threads() - SAFE_THREADS):
        return f"its imports left a thread running ({threads[0]})"
    return ""


def _descriptors() -> Iterator[tuple[str, str]]:
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that listed them
            yield number, os.readlink(f"/proc/self/fd/{number}")


def _is_for_all(number: str) -> bool:
    """Whether it is /dev/null, /dev/urandom or the like, which have no state that processes could share."""
    return stat.S_ISCHR((found := os.fstat(int(number))).st_mode) and os.major(found.st_rdev) == 1


def _is_read_only(number: str) -> bool:
    return fcntl.fcntl(int(number), fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


def _code() -> set[str]:
    """The files that code was loaded from. libffi, and so `ctypes` and NumPy, keeps its own open on some systems, to map it."""
    return {path for access, path in _maps() if "x" in access}


def _maps() -> Iterator[tuple[str, str]]:
    with open("/proc/self/maps") as maps:
        for line in maps:
            _, access, _, _, _, *path = line.split(maxsplit=5)
            yield access, "".join(path).strip()


def _started() -> str:
    lists = []
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{thread}/children") as listed:
            lists.append(listed.read())
    return "".join(lists).strip()


def _shared_memory() -> str:
    shared = (path or "without a name" for access, path in _maps() if access.startswith("rw") and access.endswith("s"))
    return next(shared, "")


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which are looked at here
        return os.fork()


def _threads() -> set[str]:
    """The other threads: their names in Python, else those that the system has for them."""
    python = getattr(sys.modules.get("threading"), "enumerate", list)
    names = {each.native_id: each.name for each in python()}
    found = set()
    for thread in set(os.listdir("/proc/self/task")) - {str(os.getpid())}:
        with suppress(OSError), open(f"/proc/self/task/{thread}/comm") as named:
            found.add(names.get(int(thread)) or named.read().strip())
    return found


class Server:
    """Forks on request, and reports what becomes of the processes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._running: set[int] = set()
        self._wakes, self._woken_by = os.pipe()
        for end in (self._wakes, self._woken_by):
            os.set_blocking(end, False)
        self._worn_at = _half_of_what_is_left()

    def serve(self) -> None:
        """Serve until the other end is gone, which ends this process; a forked process returns from here."""
        self._before = signal.signal(signal.SIGCHLD, lambda *_: None), signal.set_wakeup_fd(self._woken_by)
        watch = select.poll()
        watch.register(self._control, select.POLLIN)
        watch.register(self._wakes, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in watch.poll()]
            if self._wakes in ready:
                self._bury()
            if self._control.fileno() in ready and self._forked():
                return

    def say(self, **message: Any) -> None:
        """Send one message."""
        self._control.sendall(json.dumps(message).encode() + b"\n")

    def _bury(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._wakes, 4096):
                pass
        for pid in list(self._running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._running.discard(pid)
                self.say(ended=pid, code=os.waitstatus_to_exitcode(status))

    def _forked(self) -> bool:
        """Answer one request; whether this is the new process."""
        byte, streams = self._asked()
        if not byte:
            sys.exit()
        try:
            if len(streams) < _STREAMS:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            pid = _fork()
        except OSError as error:
            self.say(refused=error.strerror)
            pid = 0
        else:
            if not pid:
                self._become(streams)
                return True
            self._running.add(pid)
        for stream in streams:
            os.close(stream)
        self._say_if_worn()
        return False

    def _asked(self) -> tuple[bytes, list[int]]:
        """The next byte, and the descriptors with it. As `socket.recv_fds`, which from Python 3.14 on imports while it receives:
        what it finds by then is the script's."""
        streams = array.array("i")
        byte, parts, _, _ = self._control.recvmsg(1, socket.CMSG_LEN(_STREAMS * streams.itemsize))
        for level, kind, data in parts:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                streams.frombytes(data[: len(data) - len(data) % streams.itemsize])
        return byte, list(streams)

    def _become(self, streams: list[int]) -> None:
        """Be a process of one's own, with these streams and nothing of the server's."""
        os.setsid()
        signal.set_wakeup_fd(self._before[1])
        signal.signal(signal.SIGCHLD, self._before[0] or signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.close(self._wakes)
        os.close(self._woken_by)
        if seed := getattr(sys.modules.get("numpy.random"), "seed", None):  # Python itself seeds `random` anew
            seed()
        self.say(started=os.getpid())
        self._control.close()

    def _say_if_worn(self) -> None:
        if self._worn_at is not None and time.process_time() > self._worn_at:
            self._worn_at = None
            self.say(worn=True)


def _half_of_what_is_left() -> float | None:
    limit_s, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return None if limit_s == resource.RLIM_INFINITY else (time.process_time() + limit_s) / 2


def _control() -> socket.socket:
    """The socket that standard input is, which imports then find empty."""
    control = socket.socket(fileno=os.dup(0))
    empty, other = os.pipe()
    os.dup2(empty, 0)
    os.close(empty)
    os.close(other)
    return control


def main(program: Program) -> None:
    """Import and serve; returns in each forked process, which then is to run the program."""
    control = _control()
    traces = Traces()
    _forget_our_imports()
    program.pose()
    program.import_head()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):  # an import may have put anything in its place
            stream.flush()
    problem = traces.left()
    gc.collect()
    gc.freeze()  # what was imported is looked at, and so copied, by no process's collector
    server = Server(control)
    server.say(ready=problem)
    server.serve()


if __name__ == "__main__":
    running = Program(tuple(sys.argv[1:]))
    main(running)
    running.run()
