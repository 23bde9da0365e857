"""Calibrations as they land: what each replaces, and that a better one is not lost to a worse. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from eval_skills.core.calibration import ENOUGH_LABELS, Calibration
from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, land_calibration
from eval_skills.core.store.judge_rows import calibration_row, last_calibrations
from eval_skills.reporting.figures import plural


@dataclass(frozen=True, slots=True)
class CalibrationOutcome:
    """One calibration for each judge that the labels meet, as they landed; `failed` answers it could not judge now."""

    calibrations: dict[str, Calibration]
    store: str
    remarks: list[str] = field(default_factory=list)
    failed: int = 0


def land_calibrations(store: Store, found: Mapping[str, Calibration], *, force: bool) -> list[str]:
    """Land all of them, by their ids; from then on they hold for their judges. Returns what is to be said of it.

    Raises:
        UsageError: one that holds for the same judge and version of the benchmark has more labels, and nothing forces it; nothing
            has landed then.
    """
    holding = {name: _holding(store, calibration) for name, calibration in found.items()}
    for name, held in holding.items():
        if held is not None and held.labels > found[name].labels and not force:
            raise UsageError(f"nothing was kept: {_named(held)}, and now there are {found[name].labels}; replace it with --force")
    for name, calibration in found.items():
        land_calibration(store, name, calibration_row(calibration, name))
    return [remark for name, calibration in found.items() for remark in _remarks(calibration, holding[name])]


def _holding(store: Store, calibration: Calibration) -> Calibration | None:
    held = last_calibrations(store, calibration.benchmark_id).get((calibration.model, calibration.prompt))
    return held if held and held.benchmark_version == calibration.benchmark_version else None


def _remarks(calibration: Calibration, replaced: Calibration | None) -> Iterator[str]:
    if replaced is not None:
        yield f"replaced for reports: {_named(replaced)}"
    if calibration.labels < ENOUGH_LABELS:
        yield f"{plural(calibration.labels, 'label')} of {calibration.model}: at least {ENOUGH_LABELS} tell more"


def _named(calibration: Calibration) -> str:
    moment = f"{calibration.calibrated_at:%Y-%m-%d %H:%M}"
    return f"the calibration of {calibration.model} of {moment} has {plural(calibration.labels, 'label')}"
