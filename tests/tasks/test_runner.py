"""One event loop for a flow's tasks: bounded, cancellable, shared, and left tidy."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from typing import Any

import httpx
import pytest
from prefect import flow, task
from prefect.client.schemas.objects import State
from prefect.context import AsyncClientContext, FlowRunContext, SyncClientContext
from prefect.settings import PREFECT_API_REQUEST_TIMEOUT, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

from eval_skills.engine.evaluation.retries import give_back_slot, take_slot
from eval_skills.tasks.runner import EventLoopTaskRunner, returned, unwrap
from tests.tasks.gauge import Gauge, results, states, together

pytestmark = pytest.mark.usefixtures("prefect_url")


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency_is_bounded_and_used(concurrency: int) -> None:
    gauge = Gauge(concurrency)

    @task
    async def work(number: int) -> int:
        with gauge:
            await together(gauge)
        return number

    @flow(task_runner=EventLoopTaskRunner(concurrency))
    def works() -> list[int]:
        return results(work.map(range(9)))

    assert works() == list(range(9))
    assert gauge.most == concurrency


def test_the_limit_can_be_set_by_the_flow_before_it_submits() -> None:
    gauge = Gauge(2)

    @task
    async def work(number: int) -> None:
        with gauge:
            await together(gauge)

    @flow(task_runner=EventLoopTaskRunner(1))
    def works() -> None:
        context = FlowRunContext.get()
        assert context is not None
        assert isinstance(context.task_runner, EventLoopTaskRunner)
        context.task_runner.limit(2)
        states(list(work.map(range(4))))

    works()
    assert gauge.most == 2


def test_p20_a_retry_that_waits_holds_no_slot() -> None:
    order: list[str] = []

    async def give_way(_task: Any, _run: Any, _state: Any) -> bool:
        give_back_slot()
        return True

    @task(retries=1, retry_delay_seconds=2, retry_condition_fn=give_way)
    async def work(name: str) -> None:
        await take_slot()
        order.append(name)
        if order == ["first"]:
            raise OSError("not yet")

    @flow(task_runner=EventLoopTaskRunner(1))
    def works() -> list[State[Any]]:
        return states(list(work.map(["first", "second", "third"])))

    assert all(state.is_completed() for state in works())
    assert order[:2] == ["first", "second"]
    assert sorted(order) == ["first", "first", "second", "third"]


def test_sync_tasks_run_side_by_side_in_threads_within_the_limit() -> None:
    gauge, loops = Gauge(2), set()

    @task
    def work(number: int) -> int:
        with gauge:
            loops.add(threading.current_thread().name)
            assert gauge.enough.wait(60)
            time.sleep(0.05)
        return number

    @flow(task_runner=EventLoopTaskRunner(2))
    def works() -> list[int]:
        return results(work.map(range(6)))

    assert works() == list(range(6))
    assert gauge.most == 2
    assert "eval-skills-loop" not in loops


def test_async_tasks_share_one_loop_and_one_client() -> None:
    @task
    async def work(_: int) -> tuple[int, int]:
        return id(asyncio.get_running_loop()), id(AsyncClientContext.get())

    @flow(task_runner=EventLoopTaskRunner(4))
    def works() -> list[tuple[int, int]]:
        return results(work.map(range(8)))

    assert len(set(works())) == 1


def test_a_task_that_is_too_slow_is_cut_at_its_time_limit() -> None:
    @task(timeout_seconds=0.1)
    async def work() -> None:
        await asyncio.sleep(600)

    @flow(task_runner=EventLoopTaskRunner())
    def works() -> str | None:
        return states([work.submit()])[0].name

    began = time.monotonic()
    assert works() == "TimedOut"
    assert time.monotonic() - began < 60


def test_cancel_all_stops_what_runs_and_what_waits() -> None:
    started, stopped = threading.Event(), list[int]()

    @task
    async def work(number: int) -> None:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            stopped.append(number)

    with EventLoopTaskRunner(1) as runner:
        futures = [runner.submit(work, {"number": number}) for number in range(3)]
        assert started.wait(60)
        runner.cancel_all()
        assert all(future._wrapped_future.cancelled() for future in futures)
    assert stopped == [0]


@pytest.mark.parametrize("farewell", [SystemExit, KeyboardInterrupt])
def test_a_task_run_that_wants_to_leave_ends_itself_and_nobody_else(farewell: type[BaseException]) -> None:
    @task(persist_result=False)
    async def leave(number: int) -> int:
        if number == 1:
            raise farewell
        return number

    @flow(task_runner=EventLoopTaskRunner(), persist_result=False)
    def everybody() -> list[str]:
        return [state.name or "" for state in states(leave.map([0, 1, 2]))]

    assert everybody() == ["Completed", "Crashed", "Completed"]


@pytest.mark.parametrize("copy", [lambda runner: runner.duplicate(), lambda runner: pickle.loads(pickle.dumps(runner))])
def test_a_copy_has_the_same_settings_and_its_own_loop(copy: Any) -> None:
    with EventLoopTaskRunner(7) as runner:
        twin = copy(runner)
        assert (type(twin), twin.concurrency, twin._loop) == (EventLoopTaskRunner, 7, None)


def test_outside_its_context_it_says_so() -> None:
    @task
    async def work() -> None: ...

    with pytest.raises(RuntimeError, match="not started"):
        EventLoopTaskRunner().submit(work, {})


def test_the_caller_gets_what_a_flow_returned_although_the_answer_to_its_last_state_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client asks again, and is refused a state that the flow run has already."""
    lost = list[httpx.Response]()

    def send(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = sent(client, request, **options)
        if lost or not request.url.path.endswith("/set_state") or b"COMPLETED" not in request.content:
            return answer
        lost.append(answer)
        return httpx.Response(503, headers={"Retry-After": "0"}, request=request)

    sent = httpx.Client.send
    monkeypatch.setattr(httpx.Client, "send", send)

    @flow(persist_result=False, on_completion=[unwrap])
    def works() -> list[str]:
        return returned("ended", ["the result"])

    assert works() == ["the result"]
    assert lost


@pytest.mark.parametrize(
    ("said", "retries", "waits"),
    [
        pytest.param("30", 5, "30", id="as-long-as-it-says"),
        pytest.param("3600", 5, "60", id="no-longer-than-a-minute"),
        pytest.param("Wed, 21 Oct 2099 07:28:00 GMT", 5, "60", id="until-a-date"),
        pytest.param("3600", 0, "0", id="when-nothing-is-tried-again"),
    ],
)
def test_a_flow_waits_for_its_api_at_most_a_minute_at_a_time(said: str, retries: int, waits: str) -> None:
    answer = httpx.Response(503, headers={"Retry-After": said, "Prefect-Maintenance": "true"})

    @flow(task_runner=EventLoopTaskRunner(), persist_result=False)
    def asks() -> None:
        context = SyncClientContext.get()
        assert context is not None
        with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: retries}):
            for hook in context.client._client.event_hooks["response"]:
                hook(answer)

    asks()
    assert dict(answer.headers) == {"retry-after": waits}


def test_requests_of_a_flow_take_no_longer_than_prefects_setting_says_by_then() -> None:
    """Its clients were opened before; Prefect's take as long as they were told when they were."""
    waits = list[float]()

    @task
    async def asks_too() -> None:
        context = AsyncClientContext.get()
        assert context is not None
        request = (await context.client.hello()).request
        waits.append(request.extensions["timeout"]["read"])

    @flow(task_runner=EventLoopTaskRunner(), persist_result=False)
    def asks() -> None:
        context = SyncClientContext.get()
        assert context is not None
        with temporary_settings({PREFECT_API_REQUEST_TIMEOUT: 33.0}):
            waits.append(context.client.hello().request.extensions["timeout"]["read"])
            results([asks_too.submit()])
        waits.append(context.client.hello().request.extensions["timeout"]["read"])

    asks()
    assert waits == [33.0, 33.0, PREFECT_API_REQUEST_TIMEOUT.value()]
