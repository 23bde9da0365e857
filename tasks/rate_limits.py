"""Rate limits of services and of judging models: Prefect's global concurrency limits, where the server has some for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

import httpx
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from eval_skills.core.rate_limits.services import Services
from eval_skills.engine.definition.scoring import Scorings, judges_of
from eval_skills.scorers.judging import Judges

PREFIX = "eval-skills-judge-"
SERVICE_PREFIX = "eval-skills-service-"
_PAGE = 200
"""So many limits the server lists at a time, at most."""


def limit_of(model: str) -> str:
    """The name of a model's limit in Prefect: ``eval-skills-judge-openai-gpt-4o`` for ``openai/gpt-4o``."""
    return PREFIX + re.sub(r"[^\w.-]+", "-", model)


def apply_rate_limits(scorings: Scorings) -> None:
    """Let every request to a model that has a limit on the server wait for its turn there.

    A limit is made with ``prefect gcl create eval-skills-judge-openai-gpt-4o --limit 60 --slot-decay-per-second 1``: sixty
    requests at once, then one a second, over all runs of this server. It is looked up when a run starts.
    """
    if (judges := judges_of(scorings, simulators=True)) is not None:
        limit_judges(judges, {model for each in scorings.values() for model in (*each.models, *each.simulators)})


def limit_of_service(service: str) -> str:
    """The name of a service's limit in Prefect: ``eval-skills-service-api.example.com`` for ``api.example.com``."""
    return SERVICE_PREFIX + re.sub(r"[^\w.-]+", "-", service)


def limit_services(services: Services) -> None:
    """Let every request to a service that has a limit on the server wait for its turn there, too, over all runs and machines.

    A limit is made with ``prefect gcl create eval-skills-service-api.example.com --limit 10 --slot-decay-per-second 1``. Which
    there are is looked up when a run starts; one without a slot decay is not a rate, and does not count.
    """
    if limited := _service_limits():

        async def wait_for_turn(service: str) -> None:
            from prefect.concurrency.asyncio import rate_limit

            if (name := limit_of_service(service)) in limited:
                await rate_limit(name)

        services.before_request = wait_for_turn


def limit_judges(judges: Judges, models: Iterable[str | None]) -> None:
    """The same for these models of `judges`; None is the run's."""
    names = {model or judges.options.llm.model for model in models}
    limited = _limited(name for name in names if name is not None)

    async def wait_for_turn(model: str) -> None:
        from prefect.concurrency.asyncio import rate_limit

        if model in limited:
            await rate_limit(limit_of(model))

    if limited:
        judges.before_request = wait_for_turn
    limit_services(judges.services)


def _limited(models: Iterable[str]) -> set[str]:
    """Those of the models that the server has a limit for; a server that does not answer has none."""
    found: set[str] = set()
    with get_client(sync_client=True) as client:
        for model in models:
            try:
                client.read_global_concurrency_limit_by_name(limit_of(model))
            except (ObjectNotFound, httpx.HTTPError):
                continue
            found.add(model)
    return found


def _service_limits() -> set[str]:
    """The names of the rate limits of services on the server; a server that does not answer has none."""
    found: set[str] = set()
    with get_client(sync_client=True) as client:
        try:
            for start in count(0, _PAGE):
                page = client.read_global_concurrency_limits(limit=_PAGE, offset=start)
                rates = (limit for limit in page if limit.active and limit.slot_decay_per_second)
                found.update(limit.name for limit in rates if limit.name.startswith(SERVICE_PREFIX))
                if len(page) < _PAGE:
                    break
        except httpx.HTTPError:
            return set()
    return found
