"""Row 4: no-op items until the API shows every task run final, beside a bare Prefect map and inspect_ai's no-op samples."""

from __future__ import annotations

from time import perf_counter

from eval_skills.cli.prefect_server.api_server import never_collected
from tests.performance.bar import Bar
from tests.performance.cpu import CpuClock
from tests.performance.isolation import folder_of_row
from tests.performance.rival import Rival, installed_rival
from tests.performance.rounds import Rounds, alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import evaluation, noop_skill, register_noop


def measure(*, quick: bool) -> list[Bar]:
    """Items/s from the call of the flow until the server has recorded all of it, and the ratios to a map without us and to
    inspect_ai's samples/s.
    """
    items, rounds = (200, 2) if quick else (1000, 5)
    folder = folder_of_row()
    rival = installed_rival()
    with warm_server() as server:
        with never_collected():  # as the command line imports its flows; the map beside them gains as much
            from tests.performance.prefect_flows import bare_map, evaluated

        register_noop()
        skill = noop_skill(folder)

        def rate(count: int) -> float:
            began = perf_counter()
            summary, _ = evaluated(evaluation(folder, skill, count))
            settle(server, summary.flow_runs[0], summary.task_runs)
            return count / (perf_counter() - began)

        costs: list[str] = []

        def costed_rate() -> float:
            clock = CpuClock(server)
            measured = rate(items)
            costs.append(clock.per(items))
            return measured

        def bare_rate(count: int) -> float:
            began = perf_counter()
            settle(server, bare_map(count).flow_run, count)
            return count / (perf_counter() - began)

        rate(20)
        bare_rate(20)
        measures = {"ours items/s": costed_rate, "bare map task runs/s": lambda: bare_rate(items)}
        if isinstance(rival, Rival):
            measures["inspect_ai samples/s"] = lambda: rival.samples_per_s(items)
        taken = alternate(measures, rounds)
    return [_own_bar(taken, items, costs[-1]), _bare_bar(taken, items), _rival_bar(taken, items, rival)]


def _own_bar(taken: Rounds, items: int, cost: str) -> Bar:
    return Bar(
        row="recorded",
        what=f"{items} no-op items until the API shows all final",
        measured=taken.median("ours items/s"),
        limit=180,
        at_least=True,
        unit="items/s",
        detail=f"{taken.spread('ours items/s')}, one task run each, 4 at a time; the adapter is a no-op; {cost}",
    )


def _bare_bar(taken: Rounds, items: int) -> Bar:
    return Bar(
        row="recorded",
        what=f"the same over a bare Prefect map of {items}",
        measured=taken.ratio("ours items/s", "bare map task runs/s"),
        limit=0.9,
        at_least=True,
        detail=f"{taken.spread('bare map task runs/s')}: a function that does nothing, in Prefect's pool of 4 threads",
    )


def _rival_bar(taken: Rounds, items: int, rival: Rival | str) -> Bar:
    measured = isinstance(rival, Rival)
    return Bar(
        row="recorded",
        what=f"the same over inspect_ai's samples/s, {items} samples",
        measured=taken.ratio("ours items/s", "inspect_ai samples/s") if measured else None,
        limit=0.9,
        at_least=True,
        detail=f"{taken.spread('inspect_ai samples/s')}; {rival}" if measured else f"not measured: {rival}",
    )
