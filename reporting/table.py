"""The report as a table, one row per skill: as CSV (numbers unrounded, unknown values empty) and as typed Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext, mean_of, ranked
from eval_skills.reporting.escape import csv_cell, json_text
from eval_skills.reporting.judging import Judging, judging_of

Kind = Literal["text", "float", "int", "bool"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of its values (None is always allowed), and where they come from."""

    name: str
    kind: Kind
    value: Callable[[SkillCompletionReport, ReportContext], Any]


def _figure(name: str, kind: Kind = "float") -> Column:
    return Column(name, kind, lambda report, _: getattr(report.summary, name))


def _ranked(name: str, kind: Kind = "float") -> Column:
    return Column(name, kind, lambda report, _: getattr(report.ranking, name, None))


def _bound(name: str, kind: Kind = "float") -> Column:
    return Column(f"confidence_{name}", kind, lambda report, _: getattr(report.summary.confidence_interval, name))


def _counted(name: str, field: str) -> Column:
    return Column(name, "int", lambda report, _: getattr(report.summary.counts, field, None))


def _latency(name: str) -> Column:
    return Column(f"latency_{name}", "float", lambda report, _: getattr(report.latency, name))


def _dimension(name: str) -> Column:
    return Column(name, "float", lambda report, _: mean_of(report, name))


def _cost(name: str, kind: Kind = "int") -> Column:
    return Column(name, kind, lambda report, _: getattr(report.token_cost, name))


def _earlier(name: str, kind: Kind) -> Column:
    title = "earlier_attempts" if name == "attempts" else f"earlier_{name}"
    return Column(title, kind, lambda report, _: getattr(report.token_cost.earlier_attempts, name, None))


def _judged(name: str, kind: Kind, value: Callable[[Judging], Any]) -> Column:
    return Column(name, kind, lambda report, _: None if (judging := judging_of(report)) is None else value(judging))


def _judges(report: SkillCompletionReport, _: ReportContext) -> str | None:
    judging = judging_of(report)
    return None if judging is None else "; ".join(judge.model for judge in judging.judges) or None


def reason_counts(report: SkillCompletionReport) -> dict[str, int]:
    """How often each reason code stands on an item that did not pass, most frequent first, then in order of appearance."""
    codes = Counter(reason.code for item in report.task_results if not item.passed for reason in item.reasons)
    return dict(codes.most_common())


def _dimensions(report: SkillCompletionReport) -> str | None:
    known = {name: found.to_json() for name, found in report.dimensions.items()}
    return json_text(known) if known else None


COLUMNS: tuple[Column, ...] = (
    Column("skill_id", "text", lambda report, _: report.skill_id),
    Column("skill_version", "text", lambda report, _: report.skill_version),
    Column("benchmark_id", "text", lambda report, _: report.benchmark_id),
    Column("run_id", "text", lambda _, context: context.run_id),
    Column("timestamp", "text", lambda report, _: report.timestamp.isoformat()),
    _figure("completion_rate"),
    _bound("lower"),
    _bound("upper"),
    _bound("level"),
    _bound("method", "text"),
    _figure("partial_score"),
    _figure("error_rate"),
    _figure("consistency_score"),
    _figure("flake_rate"),
    _figure("pass_at_k"),
    _figure("pass_hat_k"),
    _figure("composite_score"),
    _figure("items", "int"),
    _figure("tasks", "int"),
    _figure("missing_items", "int"),
    _figure("judged_completion_rate"),
    _figure("completion_upper_bound"),
    _ranked("last_rank", "int"),
    _ranked("ranked_skills", "int"),
    _ranked("adjusted_p"),
    _ranked("probability_best"),
    _ranked("rank_lower", "int"),
    _ranked("rank_upper", "int"),
    _ranked("shrunk_completion_rate"),
    _ranked("pareto_optimal", "bool"),
    _figure("runs", "int"),
    _counted("passed", "passed"),
    _counted("failed", "fail"),
    _counted("errors", "error"),
    _counted("timeouts", "timeout"),
    _latency("p50_ms"),
    _latency("p95_ms"),
    _latency("p99_ms"),
    _latency("mean_ms"),
    _figure("throughput"),
    _cost("prompt_tokens"),
    _cost("completion_tokens"),
    _cost("total_tokens"),
    _cost("estimated_usd", "float"),
    Column("cost_unknown_items", "int", lambda report, _: report.cost_unknown_items or None),
    Column("tokens_unknown_items", "int", lambda report, _: report.tokens_unknown_items or None),
    _earlier("attempts", "int"),
    _earlier("estimated_usd", "float"),
    _earlier("cost_unknown_attempts", "int"),
    _earlier("total_tokens", "int"),
    _earlier("tokens_unknown_attempts", "int"),
    *(_dimension(name) for name in DIMENSIONS),
    Column("dimensions", "text", lambda report, _: _dimensions(report)),
    _figure("forbidden_items", "int"),
    Column("min_completion", "float", lambda _, context: context.min_completion),
    Column("meets_min_completion", "bool", lambda report, context: context.completes(report)),
    Column("selected_rank", "int", lambda report, context: context.selected_rank(report)),
    Column("judged_by", "text", _judges),
    _judged("judged_items", "int", lambda judging: judging.found and judging.found.items),
    _figure("unjudged_items", "int"),
    _judged("cached_verdicts", "int", lambda judging: judging.found and judging.found.cached),
    _cost("judge_requests"),
    _cost("judge_tokens"),
    _cost("judge_cost_usd", "float"),
    _judged("judge_agreement", "float", lambda judging: judging.found and judging.found.agreement),
    _judged("judge_length_bias", "float", lambda judging: judging.found and judging.found.length_bias.spearman),
    _judged("judge_corrected_completion", "float", lambda judging: judging.corrected and judging.corrected.value),
    _judged("judge_corrected_lower", "float", lambda judging: judging.corrected and judging.corrected.lower),
    _judged("judge_corrected_upper", "float", lambda judging: judging.corrected and judging.corrected.upper),
    Column("reasons", "text", lambda report, _: "; ".join(f"{code} ×{n}" for code, n in reason_counts(report).items())),
)


def skill_rows(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[Row]:
    """The rows, best skill first; `rank` counts from 1, and is the first of those that the skill shares with others."""
    return [
        {
            "rank": report.ranking.rank if report.ranking else place,
            **{column.name: column.value(report, context) for column in COLUMNS},
        }
        for place, report in enumerate(ranked(reports), start=1)
    ]


def render_csv(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The table with a header line; text cannot become a formula of a spreadsheet, numbers are left as they are."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ["rank", *(column.name for column in COLUMNS)], lineterminator="\n")
    writer.writeheader()
    for row in skill_rows(reports, context):
        writer.writerow({name: _csv_value(value) for name, value in row.items()})
    return text.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(encodable(value)) if isinstance(value, str) else value


def render_parquet(reports: Sequence[SkillCompletionReport], context: ReportContext) -> bytes:
    """The table as the bytes of a Parquet file; without skills it has no rows and the same columns."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {"text": pa.string(), "float": pa.float64(), "int": pa.int64(), "bool": pa.bool_()}
    schema = pa.schema([("rank", pa.int64()), *((column.name, types[column.kind]) for column in COLUMNS)])
    rows = [
        {name: encodable(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in skill_rows(reports, context)
    ]
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return sink.getvalue()
