"""A flow run as the lists of Prefect's UI show it: its name, and tags that say what it is about and what started it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun

from eval_skills.core.errors import UserError
from eval_skills.engine.handover import Observed
from eval_skills.tasks.pauses import flow_run_here

TAGGED_SKILLS = 10
"""So many skills have a tag each; of more, one tag says how many there are."""

NIGHTLY = "nightly"
"""What starts the runs of a night's suites."""


@dataclass(slots=True)
class Caller:
    """What starts flow runs here: ``cli``, ``python``, or a flow that has others run as its parts (``nightly`` …).

    `flow_run` is the id of the outermost flow run that it has started, once that is named.
    """

    name: str = "python"
    flow_run: str | None = None


called_by = Observed("caller", Caller())


def describe_flow_run(name: str, *, benchmark: str | None = None, skills: Sequence[str] = (), suite: str | None = None) -> None:
    """Give the current flow run a readable name and its tags, beside those that it has; both are known only after planning.

    `skills` are ids. `suite` is that of the night which the flow run is a part of, also where another process began the night.
    """
    if (flow_run := flow_run_here()) is None:
        return
    if flow_run.parent_task_run_id is None:
        called_by.observer.flow_run = str(flow_run.id)
    named = {f"{kind}:{value}" for kind, value in (("benchmark", benchmark), ("suite", suite)) if value}
    started_by = _trigger(flow_run) if suite is None else NIGHTLY
    wanted = {*flow_run.tags, *named, *_skill_tags(skills), f"trigger:{started_by}"}
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=name, tags=sorted(wanted)).raise_for_status()


@contextmanager
def not_planned(about: str, *, benchmark: str | None = None, suite: str | None = None) -> Iterator[None]:
    """Where what is planned inside cannot be, the flow run is named and tagged by what it was asked, to be found among others."""
    try:
        yield
    except UserError:
        with suppress(httpx.HTTPError):  # what was wrong is more worth telling than that it could not be named
            describe_flow_run(f"{about} · not planned", benchmark=benchmark, suite=suite)
        raise


def _skill_tags(skills: Sequence[str]) -> set[str]:
    distinct = sorted(set(skills))
    more = {f"skills:{len(distinct)}"} if len(distinct) > TAGGED_SKILLS else set()
    return {f"skill:{each}" for each in distinct[:TAGGED_SKILLS]} | more


def _trigger(flow_run: FlowRun) -> str:
    """What started it: ``schedule``, ``deployment`` (the UI's form, the API, an automation), or its caller."""
    if flow_run.auto_scheduled:
        return "schedule"
    is_part = flow_run.parent_task_run_id is not None
    return "deployment" if flow_run.deployment_id is not None and not is_part else called_by.observer.name
