"""Processes that answer JSON-RPC requests on their standard input and output: one, and a pool of warm ones."""

from __future__ import annotations

import asyncio
import string
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from eval_skills.adapters.call import CALLED_NOTHING, Call, Progress, shield_cleanup
from eval_skills.adapters.process.child import Child, Receipt, describe_exit
from eval_skills.adapters.process.jsonrpc import OF_ANOTHER, Reply, read_progress, read_reply, request_line, why_not_reply
from eval_skills.adapters.process.launch import Launch, spawn
from eval_skills.adapters.process.streams import LineSplitter, LineTooLong, OutputTail, last_lines
from eval_skills.adapters.sandbox.bubblewrap import sandbox_found_no_program
from eval_skills.adapters.sandbox.limits import limit_reached, limits_in_force, too_long
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillCrashed, SkillUnavailable
from eval_skills.core.text import plural

Start = Callable[[Launch, Callable[[bytes], None]], Awaitable[Child]]
"""How a process is started, as `spawn` does it."""

LOOK_EVERY_S = 0.001
"""How often a worker that is starting is looked at: has it read its first request?"""


class EndedUnasked(SkillCrashed):
    """A process that had answered before ended without having read this request: it says nothing of it."""


class Worker:
    """A process with one request in flight at most.

    Standard output is read line by line: the reply ends the wait, a notification of progress is noted in the `progress` of the
    request, and every other line is a log. `duplicate_keys` are the keys that objects in both give twice. `answered_at` is the
    `time.perf_counter()` at which the last reply was read, `unread_until` the last one at which the process was seen not to have
    read its first request yet (0: never seen so). `late_reports` counts the reports that came when their request was answered.
    """

    def __init__(self, launch: Launch, max_line_bytes: int, start: Start = spawn) -> None:
        self._launch, self._max_line_bytes, self._start = launch, max_line_bytes, start
        self._lines, self._stdout = LineSplitter(max_line_bytes), OutputTail()
        self._pending: asyncio.Future[Reply] | None = None
        self._progress: Progress | None = None
        self._progress_bytes = 0
        self._request_id = 0
        self._requests = self._calls = 0
        self._last = self._names_requests = False
        self._whole, self._early = bytearray(), bytearray()
        self.answered_at = self.unread_until = 0.0
        self.duplicate_keys: list[str] = []
        self.late_reports = 0
        self._waits = False
        self._receipt: Receipt | None = None

    async def start(self) -> None:
        """Start the process.

        Raises:
            InfraError: it cannot be started.
        """
        self._child = await self._start(self._launch, self._on_stdout)
        self._child.ended.add_done_callback(self._on_end)

    @property
    def alive(self) -> bool:
        """Whether the process runs, as far as is known."""
        return not self._child.exited.done()

    @property
    def listens(self) -> bool:
        """Whether the process runs and can be asked: one that has closed its input would keep an item waiting to its limit."""
        pipe = self._child.standard_input
        return self.alive and pipe is not None and not pipe.is_closing()

    async def ask(
        self,
        request_id: int,
        params: Any,
        *,
        last: bool = False,
        progress: Progress | None = None,
        conversation: dict[str, Any] | None = None,
    ) -> Reply:
        """Send one request and wait for its reply. After the `last` one standard input is closed, and a reply that
        fills the whole output over several lines is understood too. A reply with the id null is one as long as the process has
        named no request: of one that does, it may be late, or a second one. `progress` gets what is reported meanwhile.

        Raises:
            ContractError: the reply is unreadable, a line is too long, or (after the last request) there was none.
            SkillCrashed: the process ended without a reply; EndedUnasked where another one has to be asked.
            InfraError: the program turned out to be missing.
        """
        request = request_line(request_id, params, conversation)
        self._stdout.add(self._lines.flush())
        self._request_id, self._requests = request_id, self._requests + 1
        self._calls += request_id > 0  # 0 is the request that loads
        self._last = last
        self._progress, self._progress_bytes = progress, 0
        self.duplicate_keys = []
        self._pending = asyncio.get_running_loop().create_future()
        self._waits = True
        try:
            self._read_what_came_early()
            if not self._pending.done():
                self._receipt = None if last else Receipt(self._child.standard_input)  # it would keep the input open
                self._child.write(request)
                if self._receipt is not None:
                    self._receipt.note_written()
                if last:
                    self._child.close_stdin()
                elif self._requests == 1:
                    self._look_whether_read()
            return await self._pending
        finally:
            if self._receipt is not None:
                self._receipt.close()
            self._waits = last  # what a process says until it has ended is of its last request

    def _read_what_came_early(self) -> None:
        """A program that does not read its input may answer, and even end, before the request is sent."""
        early, self._early = bytes(self._early), bytearray()
        if early:
            self._on_stdout(early)
        if self._child.ended.done():
            self._on_end(self._child.ended)

    def _look_whether_read(self) -> None:
        """Until a new process reads its first request its interpreter is starting; only the pipe shows when it is ready."""
        if self._pending is not None and not self._pending.done() and not self._child.has_read_its_input():
            self.unread_until = time.perf_counter()
            asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look_whether_read)

    async def finish(self, within_s: float) -> str:
        """Let the process end by itself, or end it; a remark if that is worth one, else an empty text."""
        self._child.remember_family()
        self._child.close_stdin()
        await asyncio.wait([self._child.ended], timeout=within_s)
        if self.alive:
            await self.stop()
            return f"still running {within_s:g} s after its answer; stopped"
        code = self._child.exited.result()
        return f"{describe_exit(code)} after the answer" if code else ""

    async def stop(self) -> None:
        """End the process and everything it started, now."""
        await self._child.stop()

    @property
    def exit_code(self) -> int | None:
        """The exit code (negative: a signal), None while it runs."""
        return self._child.exited.result() if self._child.exited.done() else None

    def take_logs(self) -> str:
        """What it printed beside its replies since this was last asked: standard output, then standard error."""
        self._stdout.add(self._lines.flush())
        return "\n".join(text.rstrip("\n") for text in (self._stdout.take(), self._child.stderr.take()) if text.strip())

    def seen(self) -> str:
        """What came instead of a reply, as a phrase."""
        lines = (self._stdout.text() + self._lines.peek()).split("\n")
        last = next((line for line in reversed(lines) if line.strip("\0" + string.whitespace)), None)
        if last is not None:
            why = why_not_reply(last, self._request_id, or_null=not self._names_requests)
            return f"the last line on stdout is not an answer: {why}"
        return "nothing on stdout"

    def _on_stdout(self, data: bytes) -> None:
        if not self._requests:
            self._early += data
            return
        if self._last and len(self._whole) <= self._max_line_bytes:
            self._whole += data
        try:
            for line in self._lines.feed(data):
                self._on_line(line)
        except LineTooLong:
            self._fail(too_long("one line of output", self._max_line_bytes))
            self._child.mute()

    def _on_line(self, line: bytes) -> None:
        if not self._is_answer(line) and not self._is_progress(line):
            self._stdout.add(line + b"\n")

    def _is_progress(self, line: bytes) -> bool:
        twice: list[str] = []
        if self._progress is None or (report := read_progress(line, self._request_id, twice.append)) is None:
            return False
        self.duplicate_keys += twice
        if report is OF_ANOTHER or not self._waits:
            self.late_reports += 1
        self._progress.add(report)
        if self._last and len(self._whole) <= self._max_line_bytes:
            self._whole = self._whole.replace(line + b"\n", b"")  # the rest of the output may be one answer
        self._progress_bytes += len(line)
        if self._progress_bytes > self._max_line_bytes:
            self._fail(too_long("what it reported while it worked", self._max_line_bytes))
            self._child.mute()
        return True

    def _is_answer(self, text: bytes) -> bool:
        twice: list[str] = []
        if self._pending is None or self._pending.done():
            if not (self._last or self._names_requests):
                with suppress(ContractError):
                    self._read(text, twice)  # a second answer to the last request shows, too, that requests are named
            return False
        try:
            reply = self._read(text, twice)
        except ContractError as error:
            self._fail(error)
            return True
        if reply is not None:
            self.duplicate_keys += twice
            self.answered_at = time.perf_counter()
            if self._last:  # it may end at any moment from here on
                self._child.remember_family()
            self._pending.set_result(reply)
        return reply is not None

    def _read(self, text: bytes, twice: list[str]) -> Reply | None:
        reply = read_reply(text, self._request_id, twice.append)
        if reply is not None:
            self._names_requests = True
        elif not self._names_requests:
            reply = read_reply(text, self._request_id, twice.append, or_null=True)
        return reply

    def _on_end(self, _: asyncio.Future[None]) -> None:
        if rest := self._lines.flush():
            self._on_line(rest)
        if 0 < len(self._whole) <= self._max_line_bytes and self._is_answer(bytes(self._whole)):
            self._stdout.take()  # its lines were the answer, not logs
        if self._pending is not None and not self._pending.done():
            self._fail(self._end_without_reply())

    def _fail(self, error: ItemError) -> None:
        if self._pending is not None and not self._pending.done():
            self._pending.set_exception(error)

    def _end_without_reply(self) -> ItemError:
        code, limits = self._child.exited.result(), self._launch.limits
        how = self._child.how_it_ended()
        said = last_lines(self._child.stderr.text())
        said = self._launch.hidden_cause(f"; stderr: {said}") if said else ""
        if self._child.was_stopped:
            return closed_during_the_call()
        if self._child.lost:
            return SkillUnavailable(f"its process was ended without an answer: {self._child.lost}")
        was_read = None if self._receipt is None else not self._receipt.is_unread
        has_begun = was_read or self._progress_bytes or self._calls > 1  # a missing program does not read, report or answer
        if (self._child.was_not_found and not has_begun) or (code and sandbox_found_no_program(said)):
            why = self._launch.why_not_started()
            return InfraError(f"the program could not be started ({how}){why and ': ' + why}{said}", known=CALLED_NOTHING)
        if code == 0 and self._last:
            return ContractError(f"it ended without an answer to id {self._request_id} ({how}); {self.seen()}{said}")
        in_force = limits_in_force(limits)
        limit = f"; {in_force}" if code and in_force and not limit_reached(limits, f"({how}) {said}") else ""
        served = f" after {self._calls - 1} answered request{'s' if self._calls > 2 else ''}" if self._calls > 1 else ""
        kind = EndedUnasked if was_read is False and self._calls > 1 else SkillCrashed
        return kind(f"the process ended without an answer ({how}){served}{limit}{said}")


def closed_during_the_call() -> InfraError:
    """What becomes of a call whose adapter was closed."""
    return InfraError("the adapter was closed during the call")


EXIT_WAIT_S = 0.3
"""How long an idle worker may take to end by itself when its standard input closes."""


class WorkerPool:
    """Grows when every worker is busy; hands out the one used last, so that the others stay cold under a light load.

    A new worker is handed out once `prepare` is through with it.
    """

    _late_reports = 0

    def __init__(self, launch: Launch, max_line_bytes: int, prepare: Callable[[Worker], Awaitable[None]] | None = None) -> None:
        self._launch, self._max_line_bytes, self._prepare = launch, max_line_bytes, prepare
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self.closed = False

    async def take(self) -> Worker:
        """A worker for one call: an idle one that listens, else a new one.

        Raises:
            InfraError: a new one cannot be started or prepared, or the pool is closed.
        """
        while self._idle:
            worker = self._idle.pop()
            if worker.listens:
                return worker
            await shield_cleanup(self.discard(worker))
        worker = Worker(self._launch, self._max_line_bytes)
        await worker.start()
        self._all.add(worker)
        if self.closed:  # while it started
            await self.discard(worker)
            raise closed_during_the_call()
        if self._prepare is not None:
            try:
                await self._prepare(worker)
            except BaseException:
                await shield_cleanup(self.discard(worker))
                raise
        return worker

    async def answer(self, request_id: int, params: Any, call: Call, conversation: dict[str, Any] | None = None) -> Reply:
        """The reply of a worker. One that had ended after an answer and has not read the request is replaced by another: many
        a program ends itself after so many answers, and whether that is noticed before it is asked again is a matter of luck.

        Raises:
            ItemError: as `take` and `ask` do.
        """
        while True:
            worker = await self.take()
            try:
                reply = await self.ask(worker, request_id, params, call, conversation)
            except EndedUnasked:  # not for ever: a new one has answered nothing before
                call.suspend()
                continue
            self.give_back(worker)
            return reply

    async def ask(
        self, worker: Worker, request_id: int, params: Any, call: Call, conversation: dict[str, Any] | None = None
    ) -> Reply:
        """The reply of a worker that was taken, timed and with its logs by `call`; a worker that gave none is ended.

        Raises:
            ItemError: as `Worker.ask` does.
        """
        call.start()
        call.sends()
        try:
            reply = await worker.ask(request_id, params, progress=call.progress, conversation=conversation)
        except BaseException:
            call.stop()
            call.seen, call.logs = worker.seen(), worker.take_logs()
            call.keys_twice(worker.duplicate_keys)
            await shield_cleanup(self.discard(worker))
            raise
        call.start(not_before=worker.unread_until)
        call.stop(worker.answered_at)
        call.logs = worker.take_logs()
        call.keys_twice(worker.duplicate_keys)
        return reply

    def give_back(self, worker: Worker) -> None:
        """Return a worker that has answered."""
        self._idle.append(worker)

    async def discard(self, worker: Worker) -> None:
        """End a worker that cannot be trusted any more; the next `take` starts a new one if it needs one."""
        self._leave(worker)
        await worker.stop()

    async def close(self) -> None:
        """End all workers; the idle ones may end by themselves first."""
        self.closed = True
        await asyncio.gather(*(worker.finish(EXIT_WAIT_S) for worker in self._all))
        self._idle.clear()
        for worker in list(self._all):
            self._leave(worker)

    @property
    def remark(self) -> str:
        """That workers reported calls too late, which no item has; read when the pool is closed."""
        if not self._late_reports:
            return ""
        return (
            f"{plural(self._late_reports, 'report')} came after the answer to its request, so an item may have called more than "
            "is known of it; report calls before the answer"
        )

    def _leave(self, worker: Worker) -> None:
        if worker in self._all:
            self._all.discard(worker)
            self._late_reports += worker.late_reports
