"""Calibrations and preferences as rows of their tables, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from eval_skills.core.judging.calibration import Calibration
from eval_skills.core.judging.pairs import Choice, Outcome, Preference, Vote
from eval_skills.core.store.schema import ESTIMATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eval_skills.core.store.store import Store

_BOUNDS = ("lower", "upper", "method")
_PLAIN = tuple(name for name in Calibration.model_fields if name not in ESTIMATES)


def calibration_row(calibration: Calibration, calibration_id: str) -> dict[str, Any]:
    """The row of one calibration, under the names of `CALIBRATION_SCHEMA`."""
    row: dict[str, Any] = {name: getattr(calibration, name) for name in _PLAIN}
    for name in ESTIMATES:
        estimate = getattr(calibration, name)
        row |= {name: estimate.value} | {f"{name}_{part}": getattr(estimate, part) for part in _BOUNDS}
    return row | {"calibration_id": calibration_id, "level": calibration.accuracy.level}


def calibration_of(row: Mapping[str, Any]) -> Calibration:
    """The calibration behind a row of `calibration_row`."""
    bounds = {name: {part: row[f"{name}_{part}"] for part in _BOUNDS} for name in ESTIMATES}
    estimates = {name: {"value": row[name], "level": row["level"], **bounds[name]} for name in ESTIMATES}
    return Calibration.model_validate({name: row[name] for name in _PLAIN} | estimates)


def last_calibrations(store: Store, benchmark_id: str) -> dict[tuple[str, str], Calibration]:
    """The last calibration of every judge of a benchmark, by model and prompt."""
    from eval_skills.core.store.schema import CALIBRATION_SCHEMA

    rows = store.tables.rows("calibrations", CALIBRATION_SCHEMA.names)
    ordered = sorted(rows, key=lambda row: (row["calibrated_at"], row["calibration_id"]))
    return {(row["model"], row["prompt"]): calibration_of(row) for row in ordered if row["benchmark_id"] == benchmark_id}


def judged_pairs(store: Store, benchmark_id: str) -> dict[str, list[Preference]]:
    """All pairs of answers that were compared on a benchmark, by the model that compared them; each vote of a panel is one."""
    columns = ("benchmark_id", "judge_model", "task_id", "outcome", "a_first", "b_first", "votes")
    found: dict[str, list[Preference]] = {}
    for row in store.tables.rows("preferences", columns):
        if row["benchmark_id"] == benchmark_id:
            each = [(vote["model"], row | vote) for vote in row["votes"] or ()] or [(row["judge_model"], row)]
            for model, said in each:
                found.setdefault(model, []).append(preference_of(said | {"votes": None}))
    return found


def preference_of(row: Mapping[str, Any]) -> Preference:
    """The preference behind a row of `PREFERENCE_SCHEMA`."""
    votes = tuple(Vote(vote["model"], vote["number"], *_said(vote)) for vote in row.get("votes") or ())
    return Preference(row["task_id"], *_said(row), votes=votes)


def preferences_of(rows: Sequence[Mapping[str, Any]]) -> list[Preference]:
    """The preferences behind rows of `PREFERENCE_SCHEMA`, in their order."""
    return [preference_of(row) for row in rows]


def _said(row: Mapping[str, Any]) -> tuple[Outcome, Choice | None, Choice | None]:
    return cast("tuple[Outcome, Choice | None, Choice | None]", tuple(row[name] for name in ("outcome", "a_first", "b_first")))
