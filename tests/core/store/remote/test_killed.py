"""A process that is killed while it lands or publishes: the next one of the machine goes on, and others never see a half."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store, land_reports
from eval_skills.core.store.verify import verify
from tests.object_storage import ObjectStorage, kill
from tests.warm_command import WarmCommand

OnMachine = Callable[[str], None]

PROGRAM = """
import os, signal, sys
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import Store, land, land_reports

url, run_id, stop, report = sys.argv[1:]
store = Store(url)
land(store, run_id)
if stop == "landed":
    os.kill(os.getpid(), signal.SIGKILL)
land_reports(store, run_id, None, [SkillCompletionReport.model_validate_json(report)])
if stop == "reported":
    os.kill(os.getpid(), signal.SIGKILL)
print("publishing", flush=True)
store.publish()
"""
"""Lands a run that has been answered, and publishes it; it kills itself where `stop` says."""

OF_A_RUN = 3
"""Objects of a run: items, reports, manifest."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "when", "objects"),
    [
        pytest.param("landed", "", 0, id="between-items-and-reports"),
        pytest.param("reported", "", 0, id="before-publishing"),
        *(pytest.param("", when, number, id=f"{when}-object-{number}") for number in range(1, 4) for when in ("before", "after")),
    ],
)
def test_the_next_process_publishes_what_was_left(
    stop: str,
    when: str,
    objects: int,
    url: str,
    run_id: str,
    on_machine: OnMachine,
    begin: Callable[..., None],
    make_report: Callable[..., SkillCompletionReport],
    object_storage: ObjectStorage,
    warm_command: WarmCommand,
) -> None:
    begin(Store(url), run_id, "a", "b")
    report = json.dumps(make_report().to_json())
    program = warm_command.python(PROGRAM, url, run_id, stop, report)

    def look(method: str, path: str) -> str | None:
        if len(object_storage.of("PUT")) != objects or method != "PUT":
            return None
        kill(program.pid)
        return "503 Service Unavailable"

    if when:
        setattr(object_storage, when, look)
    assert program.output(60)[0] == -9
    object_storage.forget()
    on_machine("other")
    other = Store(url)
    assert other.run_ids() == ([run_id] if when == "after" and objects == OF_A_RUN else [])

    on_machine("machine")
    if stop == "landed":  # what `--resume` does
        land_reports(Store(url), run_id, None, [make_report()])
    again = Store(url)
    assert again.remarks == []
    other.refresh()
    for store in (other, again):
        assert list(store.items().task_id) == ["a", "b"]
        assert store.history() == {"adder@1.0.0": 0.5}
        assert store.manifest(run_id).planned_items == 4
        assert verify(store).findings == []
    object_storage.forget()
    again.publish()
    assert object_storage.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_process_that_is_killed_while_it_pulls_leaves_whole_files(
    number: int,
    url: str,
    run_id: str,
    on_machine: OnMachine,
    land_whole: Callable[..., None],
    object_storage: ObjectStorage,
    warm_command: WarmCommand,
) -> None:
    store = Store(url)
    land_whole(store, run_id, "a")
    store.publish()
    on_machine("other")
    object_storage.forget()
    opens = "import sys; from eval_skills.core.store import Store; Store(sys.argv[1])"
    program = warm_command.python(opens, url)

    def look(method: str, path: str) -> str | None:
        if len(object_storage.of("GET")) < number:
            return None
        kill(program.pid)
        return "503 Service Unavailable"

    object_storage.before = look
    assert program.output(60)[0] == -9
    object_storage.forget()
    other = Store(url)
    assert list(other.items().task_id) == ["a"]
    assert verify(other).findings == []
