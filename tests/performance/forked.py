"""Row 3a: what a server that has done the imports gains over an interpreter for every item."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path
from time import perf_counter

from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.models import Skill
from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import alternate

ANSWERS = """\
import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "done"}))
"""

SCRIPTS = {
    "that imports json": ANSWERS,
    "that imports httpx": f"import re\nfrom pathlib import Path\nimport httpx\n{ANSWERS}",
    "that imports pandas": f"import pandas\n{ANSWERS}",
}
"""One-shot scripts by what they are, from hardly anything to import to a lot of it."""


def measure(*, quick: bool) -> list[Bar]:
    """Items/s with ``"startMethod": "forkserver"`` against interpreters, one item at a time, script by script."""
    rounds = 2 if quick else 3
    return [_bar(folder_of_row() / f"forked-{number}", number, 30 if quick else 200, rounds) for number in range(len(SCRIPTS))]


def _bar(folder: Path, number: int, items: int, rounds: int) -> Bar:
    what, source = list(SCRIPTS.items())[number]
    folder.mkdir()
    (folder / "skill.py").write_text(source, encoding="utf-8")
    cpu: dict[str, list[float]] = {"spawn": [], "forkserver": []}

    def rate(method: str, count: int) -> float:
        began, used = perf_counter(), _cpu_s()
        asyncio.run(_evaluate(folder, method, count))
        cpu[method].append(1000 * (_cpu_s() - used) / count)
        return count / (perf_counter() - began)

    rate("spawn", 2), rate("forkserver", 2)  # the first of each pays for bytecode and caches
    taken = alternate({f"{method} items/s": lambda method=method: rate(method, items) for method in cpu}, rounds)  # type: ignore[misc]
    used = ", ".join(f"{method} {sorted(each[1:])[rounds // 2]:.3g}" for method, each in cpu.items())
    return Bar(
        row="forked",
        what=f"items/s of a forked script {what}, over spawned, {items} items",
        measured=taken.ratio("forkserver items/s", "spawn items/s"),
        limit=2.0,
        at_least=True,
        detail=", ".join(taken.spread(name) for name in taken.figures) + f"; CPU ms per item: {used}",
    )


async def _evaluate(folder: Path, method: str, count: int) -> None:
    data = {"id": "forked", "name": "Forked", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "{python} skill.py"}
    skill = Skill.model_validate(data | {"adapterConfig": {"startMethod": method}}).located_in(folder)
    async with SubprocessAdapter(skill) as adapter:
        for number in range(count):
            assert (await adapter.call({"n": number}, 60.0)).output == "done"
    assert adapter.remarks == []


def _cpu_s() -> float:
    """User and system time of this process and of all that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
