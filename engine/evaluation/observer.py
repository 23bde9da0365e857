"""What an observer of runs is notified of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from eval_skills.core.models import ItemResult
from eval_skills.core.rate_limits.services import Throttled
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.handover import Observed


class NullObserver:
    """Notified of a run's progress, from any thread, and shows nothing: observers derive from it.

    Each method must return quickly and never raise.
    """

    def recorded(self, flow_run: str) -> None:
        """The run that is planned next is recorded by Prefect, as the flow run of this id."""

    def planned(self, plan: RunPlan) -> None:
        """The run starts or is resumed."""

    def retrying(self, item: str, reason: str) -> None:
        """An item had a transient error and will be tried again."""

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """An item of `skill` waits before its next attempt, as its service asked; reported once per skill and run."""

    def throttled(self, throttled: Throttled) -> None:
        """A service refused a request because there were too many, and is left alone for a while; reported at each refusal."""

    def unbounded(self, warning: str) -> None:
        """A skill does not say what a limit of the run is about; reported once per run, in a sentence."""

    def unbegun(self, warning: str) -> None:
        """What a deployment was asked to evaluate has not begun yet; reported once per suite, in a sentence."""

    def paused(self, in_flight: int, until: datetime | None) -> None:
        """The run is paused in Prefect, and so many items that have begun finish. It ends if it is not resumed by `until`."""

    def resumed(self) -> None:
        """The run is resumed in Prefect: items are handed out again."""

    def finished(self, result: ItemResult) -> None:
        """An item has its final result, and the journal holds it."""

    def landing(self, plan: RunPlan) -> None:
        """Every item is finished; they land in the store now."""

    def computing(self, plan: RunPlan) -> None:
        """They have landed; the figures of every skill are computed now."""

    def reporting(self, formats: Sequence[str]) -> None:
        """The figures are there; reports are written now in these formats."""

    def reported(self, files: Sequence[Path]) -> None:
        """The report files of a whole run are written."""


observed_runs = Observed("run_observer", NullObserver())
