"""What ``judge calibrate`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current
from eval_skills.core.text import plural
from eval_skills.reporting.judging.figures import estimate_number

if TYPE_CHECKING:
    from eval_skills.core.judging.calibration import Calibration
    from eval_skills.engine.calibration.calibrate import CalibrationOutcome

_FIGURES = {
    "accuracy": "accuracy",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "quadratic-weighted kappa",
    "spearman": "Spearman's rho",
    "sensitivity": "sensitivity (passes what people pass)",
    "specificity": "specificity (fails what people fail)",
}


def show_calibrations(outcome: CalibrationOutcome) -> None:
    """Per judge the figures and the table behind them; or one JSON document."""
    from eval_skills.cli.output.run import print_json

    for remark in outcome.remarks:
        current().remark(remark)
    if current().json:
        found = [_document(name, calibration) for name, calibration in outcome.calibrations.items()]
        print_json({"calibrations": found, "store": outcome.store, "remarks": outcome.remarks})
        return
    for name, calibration in outcome.calibrations.items():
        _show(calibration)
        current().say(f"store   {outcome.store}   calibration {name}")


def _show(calibration: Calibration) -> None:
    say = current().say
    say(f"judge   {calibration.model} ({calibration.prompt}) on {calibration.benchmark_id}@{calibration.benchmark_version}")
    say(f"labels  {calibration.labels:,} of {plural(calibration.tasks, 'task')}")
    _print([(title, estimate_number(getattr(calibration, name))) for name, title in _FIGURES.items()], ("", "95 % interval"))
    (ff, fp), (pf, pp) = calibration.table
    _print([("people: fail", f"{ff:,}", f"{fp:,}"), ("people: pass", f"{pf:,}", f"{pp:,}")], ("", "judge: fail", "judge: pass"))
    if (why := calibration.uncorrectable) is not None:
        say(f"its completion rates are not corrected: {why}", style="yellow")
    else:
        say("reports of this benchmark, model and prompt now show the judge-corrected completion rate, too", style="green")


def _print(rows: list[tuple[str, ...]], names: tuple[str, ...]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        table.add_row(*row)
    current().out().print(table)


def _document(calibration_id: str, calibration: Calibration) -> dict[str, Any]:
    correctable = {"correctable": calibration.uncorrectable is None, "uncorrectable": calibration.uncorrectable}
    return {"calibrationId": calibration_id, **calibration.to_json(), **correctable}
