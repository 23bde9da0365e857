"""The deployments in a ``prefect.yaml``, as far as this package uses them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from eval_skills.core.documents.loading import read_document, validate
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text, text_like
from eval_skills.core.text import nearest
from eval_skills.engine.nightly.request import Suite, load_suites

SHIPPED = Path(__file__).with_name("prefect.yaml")
"""The deployments that come with the package."""

NIGHTLY = "eval_skills.flows.nightly.nightly"

ModulePath = Annotated[
    str, text_like(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$", "the path of a function, such as package.module.function")
]
"""``package.module.function``: what does not depend on the current folder."""

DeploymentName = Annotated[str, text_like(r"^[^/%&<>]*[^/%&<>\s][^/%&<>]*$", "a name without / % & < or >")]
"""What Prefect takes: ``FLOW/NAME`` is how a deployment is named to it."""


class CronSchedule(Model):
    """When runs start by themselves, in the wall-clock time of `timezone`."""

    cron: Text
    timezone: Text = "UTC"
    slug: Text | None = None
    active: bool = True


class ConcurrencyLimit(Model):
    """How many runs of a deployment may run at a time, and whether a further one waits or is cancelled."""

    limit: int = Field(ge=1)
    collision_strategy: Literal["ENQUEUE", "CANCEL_NEW"] = "ENQUEUE"


class DeploymentEntry(Model):
    """One deployment. `work_pool` is for ``prefect deploy`` alone."""

    name: DeploymentName
    entrypoint: ModulePath
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    parameters: dict[str, Any] = Field(default_factory=dict)
    schedules: list[CronSchedule] = Field(default_factory=list)
    concurrency_limit: ConcurrencyLimit | None = None
    work_pool: dict[str, Any] = Field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """As ``prefect deployment run`` takes it: ``nightly/nightly``."""
        return f"{self.entrypoint.rpartition('.')[2].replace('_', '-')}/{self.name}"


class DeploymentFile(Model):
    """The whole file; how code is pulled, and what YAML anchors refer to, is for ``prefect deploy`` alone."""

    name: str | None = None
    prefect_version: str | None = Field(default=None, alias="prefect-version")
    pull: list[dict[str, Any]] = Field(default_factory=list)
    definitions: dict[str, Any] = Field(default_factory=dict)
    deployments: list[DeploymentEntry] = Field(min_length=1)


def refuse_endless_nights(entries: Sequence[DeploymentEntry], limit: int) -> None:
    """Refuse a limit at which a night waits for ever: it has the only place that the deployment of one of its suites needs.

    Raises:
        UsageError: it is 1, and a suite of a night is evaluated via another of these deployments.
    """
    served = {entry.full_name for entry in entries} if limit == 1 else set[str]()
    for entry in entries:
        for suite in _suites_of(entry) if served else ():
            if suite.via in served:
                raise UsageError(
                    f"--limit 1: {entry.full_name} has the only place, and its suite {suite.name} is evaluated via {suite.via}, "
                    "which would wait for ever for one; give 2 or more"
                )


def _suites_of(entry: DeploymentEntry) -> list[Suite]:
    """The suites of the file that a night names, as far as it is there and can be read."""
    request = entry.parameters.get("request")
    if entry.entrypoint != NIGHTLY or not isinstance(request, dict) or not request.get("suites"):
        return []
    try:
        return load_suites(Path(str(request["suites"])))
    except (UserError, OSError):  # told when the night runs, if it is still so
        return []


def deployment_entries(file: Path = SHIPPED, names: Sequence[str] = ()) -> list[DeploymentEntry]:
    """The deployments of `file` in its order; with `names`, only those.

    Raises:
        InputError: the file cannot be read, or is malformed.
        UsageError: a name is not in it; the message has the nearest one.
    """
    entries = validate(DeploymentFile, read_document(file), source=file).deployments
    known = [entry.name for entry in entries]
    if repeated := next((name for name in known if known.count(name) > 1), None):
        raise UsageError(f"{file}: two deployments have the name {repeated!r}; give each its own")
    if unknown := next((name for name in names if name not in known), None):
        hint = nearest(unknown, known) or f"; it has {', '.join(known)}"
        raise UsageError(f"{file} has no deployment {unknown!r}{hint}")
    return [entry for entry in entries if not names or entry.name in names]
