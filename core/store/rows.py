"""Items, reports, calibrations and preferences as rows of their tables, and back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.errors import InputError
from eval_skills.core.judging.calibration import Calibration
from eval_skills.core.judging.pairs import Choice, Outcome, Preference, Vote, bounds_of
from eval_skills.core.models import (
    Attempt,
    ConfidenceInterval,
    DimensionSummary,
    ItemResult,
    Latency,
    Model,
    Ranking,
    Reason,
    SkillCompletionReport,
    Summary,
    TokenCost,
    ToolCall,
    TurnResult,
)
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED
from eval_skills.core.store.schema import CALIBRATION_SCHEMA, ESTIMATES, ITEM_SCHEMA, REPORT_SCHEMA
from eval_skills.core.text import skill_key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from eval_skills.core.store.store import Store

MAX_OUTPUT_BYTES = 64 * 1024
"""The longest `output` text of a row, in bytes of UTF-8. The journal keeps a longer output whole until it lands."""

_PLAIN = tuple(
    name
    for name in ITEM_SCHEMA.names
    if name in ItemResult.model_fields
    and name
    not in {"started_at", "reasons", "attempts", "output", "messages", "content", "tool_calls", "dimensions", "turns", "files"}
)
_COUNTS = ("prompt_tokens", "completion_tokens", "judge_tokens", "judge_requests", "user_requests", "user_tokens", "steps")
_INT64_MAX = 2**63 - 1
_COUNT_COLUMNS = {"passed": "passed_items", "fail": "failed_items", "error": "error_items", "timeout": "timeout_items"}
_BOUNDS = ("lower", "upper", "method")
_OF_CALIBRATION = tuple(name for name in Calibration.model_fields if name not in ESTIMATES)
_REPORT_PARTS: dict[str, type[Model]] = {"summary": Summary, "latency": Latency, "token_cost": TokenCost}


def row_of(result: ItemResult) -> dict[str, Any]:
    """The row of one result, under the names of `ITEM_SCHEMA`.

    A time without a zone is taken as UTC. A token count beyond 64 bits cannot be right and becomes null.
    An `output` over 64 KiB of JSON text is cut by `capped_json`, and `output_truncated` says so.
    """
    row = {name: getattr(result, name) for name in _PLAIN}
    row |= {name: _count(row[name]) for name in _COUNTS}
    output, truncated = (None, False) if result.output is None else capped_json(result.output)
    row |= {"started_at": _utc(result.started_at), "output": output, "output_truncated": truncated}
    row["dimensions"] = list(result.dimensions.items())
    row |= {name: result.dimensions.get(name) for name in DIMENSIONS}
    row["forbidden_tools_called"] = sum(reason.code == FORBIDDEN_TOOL_CALLED for reason in result.reasons)
    row["reasons"] = [_reason_row(reason) for reason in result.reasons]
    row["attempts"] = [_attempt_row(attempt) for attempt in result.attempts]
    row |= {"messages": _json_or_none(result.messages), "content": _json_or_none(result.content)}
    row["tool_calls"] = _call_rows(result.tool_calls)
    row["files"] = _json_or_none(None if result.files is None else [file.to_json() for file in result.files])
    row["turns"] = None if result.turns is None else [_turn_row(turn) for turn in result.turns]
    row["output_truncated"] |= any(turn["output_truncated"] for turn in row["turns"] or ())
    return row


def table_of(results: Iterable[ItemResult]) -> pa.Table:
    """The results as a table with `ITEM_SCHEMA`, in their order."""
    return pa.Table.from_pylist([row_of(result) for result in results], schema=ITEM_SCHEMA)


def results_of(table: pa.Table) -> list[ItemResult]:
    """The results behind a table with `ITEM_SCHEMA`; the inverse of `table_of`, but for outputs that were cut.

    Raises:
        InputError: a row holds what no result does; the message names its run, its item and the column.
    """
    return [_readable_result(row) for row in table.to_pylist()]


@cache
def _said_by(part: type[Model]) -> tuple[str, ...]:
    """The columns of a report that this part of it has under their own names."""
    return tuple(name for name in REPORT_SCHEMA.names if name in part.model_fields or hasattr(part, name))


def interval_columns(interval: ConfidenceInterval) -> dict[str, Any]:
    """The columns of a row that hold the interval of its completion rate."""
    return {f"ci_{name}": getattr(interval, name) for name in ConfidenceInterval.model_fields}


def interval_of(row: Mapping[str, Any]) -> ConfidenceInterval:
    """The interval behind `interval_columns`."""
    return ConfidenceInterval(**{name: row[f"ci_{name}"] for name in ConfidenceInterval.model_fields})


def report_row(report: SkillCompletionReport, *, run_id: str, benchmark_version: str | None, origin: str) -> dict[str, Any]:
    """The row of one skill's report, under the names of `REPORT_SCHEMA`; its items live in the other table."""
    summary = report.summary
    row: dict[str, Any] = dict.fromkeys(REPORT_SCHEMA.names)
    for part in filter(None, (report, summary, report.latency, report.token_cost, report.ranking)):
        row |= {name: getattr(part, name) for name in _said_by(type(part))}
    row |= interval_columns(summary.confidence_interval)
    if (counts := summary.counts) is not None:
        row |= {column: getattr(counts, name) for name, column in _COUNT_COLUMNS.items()}
    row |= {name: found.mean for name, found in report.dimensions.items() if name in DIMENSIONS}
    row["dimensions"] = [(name, found.model_dump()) for name, found in report.dimensions.items()]
    earlier = report.token_cost.earlier_attempts
    row |= {"earlier_attempts": earlier and earlier.attempts, "earlier_cost_usd": earlier and earlier.estimated_usd}
    return row | {
        "run_id": run_id,
        "timestamp": _utc(report.timestamp),
        "benchmark_version": benchmark_version,
        "origin": origin,
    }


def report_of(row: Mapping[str, Any]) -> SkillCompletionReport:
    """The report behind a row of `report_row`; its items, its figures by tag and its earlier attempts are not in the row."""
    counts = {name: row[column] or 0 for name, column in _COUNT_COLUMNS.items()}
    parts: dict[str, Any] = {
        name: {field: row[field] for field in model.model_fields if field in row} for name, model in _REPORT_PARTS.items()
    }
    parts["summary"] |= {"confidence_interval": interval_of(row), "counts": counts}
    parts["token_cost"] |= {"earlier_attempts": None}  # of these the row has a part
    ranking = {name: row[name] for name in Ranking.model_fields}
    return SkillCompletionReport(
        skill_id=row["skill_id"],
        skill_version=row["skill_version"],
        benchmark_id=row["benchmark_id"],
        timestamp=row["timestamp"],
        dimensions={name: DimensionSummary(**found) for name, found in dict(row["dimensions"] or {}).items()},
        evaluator_metadata={"runId": row["run_id"]},
        ranking=Ranking(**ranking) if ranking["rank"] is not None else None,
        **parts,
    )


def calibration_row(calibration: Calibration, calibration_id: str) -> dict[str, Any]:
    """The row of one calibration, under the names of `CALIBRATION_SCHEMA`."""
    row: dict[str, Any] = {name: getattr(calibration, name) for name in _OF_CALIBRATION}
    for name in ESTIMATES:
        estimate = getattr(calibration, name)
        row |= {name: estimate.value} | {f"{name}_{part}": getattr(estimate, part) for part in _BOUNDS}
    return row | {"calibration_id": calibration_id, "level": calibration.accuracy.level}


def calibration_of(row: Mapping[str, Any]) -> Calibration:
    """The calibration behind a row of `calibration_row`."""
    bounds = {name: {part: row[f"{name}_{part}"] for part in _BOUNDS} for name in ESTIMATES}
    estimates = {name: {"value": row[name], "level": row["level"], **bounds[name]} for name in ESTIMATES}
    return Calibration.model_validate({name: row[name] for name in _OF_CALIBRATION} | estimates)


def last_calibrations(store: Store, benchmark_id: str, version: str) -> dict[tuple[str, str], Calibration]:
    """The last calibration of every judge of a benchmark, by model and prompt: of this version of it, else of any other."""
    return {judge: found[0] for judge, found in all_calibrations(store, benchmark_id, version).items()}


def all_calibrations(store: Store, benchmark_id: str, version: str) -> dict[tuple[str, str], list[Calibration]]:
    """Those of every judge of a benchmark, by model and prompt: of this version of it before all others, the last one first."""
    rows = store.tables.rows("calibrations", CALIBRATION_SCHEMA.names)
    ordered = sorted(rows, key=lambda row: (row["benchmark_version"] == version, row["calibrated_at"], row["calibration_id"]))
    found: dict[tuple[str, str], list[Calibration]] = {}
    for row in reversed(ordered):
        if row["benchmark_id"] == benchmark_id:
            found.setdefault((row["model"], row["prompt"]), []).append(calibration_of(row))
    return found


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
    votes = tuple(Vote(vote["model"], vote["number"], *_choices(vote)) for vote in row.get("votes") or ())
    found = Preference(row["task_id"], *_choices(row), votes=votes)
    return replace(found, between=bounds_of(votes)) if votes else found


def preferences_of(rows: Sequence[Mapping[str, Any]]) -> list[Preference]:
    """The preferences behind rows of `PREFERENCE_SCHEMA`, in their order."""
    return [preference_of(row) for row in rows]


def capped_json(value: Any, cap: int = MAX_OUTPUT_BYTES) -> tuple[str, bool]:
    """The JSON text of a value, and whether it had to be cut to at most `cap` bytes.

    What was cut is still JSON: one string that holds the beginning of the text (of a string: of the string itself).
    """
    encoded = to_json(value, inf_nan_mode="null")
    if len(encoded) <= cap:
        return encoded.decode(), False
    prefix = (value if isinstance(value, str) else encoded.decode())[:cap]
    while (size := len(to_json(prefix))) > cap:
        prefix = prefix[: len(prefix) * cap // size]
    return to_json(prefix).decode(), True


def _json_or_none(value: Any) -> str | None:
    return None if value is None else to_json(value, inf_nan_mode="null").decode()


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _reason_row(reason: Reason) -> dict[str, Any]:
    return {"code": reason.code, "message": reason.message, "where": reason.where, "informational": reason.informational}


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an older version has nulls in the fields that it did not know."""
    return {name: value for name, value in row.items() if value is not None}


def _attempt_row(attempt: Attempt) -> dict[str, Any]:
    plain = {name: getattr(attempt, name) for name in ("latency_ms", "error_kind", "cost_usd")}
    return plain | {"started_at": _utc(attempt.started_at), "tokens": _count(attempt.tokens)}


def _count(value: int | None) -> int | None:
    return None if value is None or abs(value) > _INT64_MAX else value


def _turn_row(turn: TurnResult) -> dict[str, Any]:
    output, truncated = (None, False) if turn.output is None else capped_json(turn.output)
    return {
        **{name: getattr(turn, name) for name in _PLAIN_OF_TURN},
        "input": _json_or_none(turn.input),
        "output": output,
        "output_truncated": truncated,
        "dimensions": list(turn.dimensions.items()),
        "reasons": [_reason_row(reason) for reason in turn.reasons],
        "messages": _json_or_none(turn.messages),
        "content": _json_or_none(turn.content),
        "tool_calls": _call_rows(turn.tool_calls),
        "prompt_tokens": _count(turn.prompt_tokens),
        "completion_tokens": _count(turn.completion_tokens),
    }


_PLAIN_OF_TURN = (
    "turn", "status", "score", "passed", "scorer", "latency_ms", "error_kind", "error_message", "cost_usd",
    "time_to_first_token_ms", "finish_reason",
)  # fmt: skip


def _call_rows(calls: list[ToolCall] | None) -> list[dict[str, Any]] | None:
    return None if calls is None else [_call_row(call) for call in calls]


def _call_row(call: ToolCall) -> dict[str, Any]:
    texts = {"arguments": _json_or_none(call.arguments), "result": _json_or_none(call.result)}
    return {"name": call.name, "id": call.id, "error": call.error, **texts}


def _readable_result(row: dict[str, Any]) -> ItemResult:
    try:
        return _result_of(row)
    except ValidationError as error:
        problem = problems_in(error, row)[0]
        raise _unreadable(row, problem.path, problem.message) from None
    except InputError as error:
        raise _unreadable(row, error.path, error.message) from None


def _unreadable(row: Mapping[str, Any], column: str, problem: str) -> InputError:
    item = f"{skill_key_of(row)}, task {row['task_id']}, run {row['run_index']}"
    run_id = row["run_id"]
    return InputError(
        f"the item of {item} is not as it was written ({problem}); restore the file, or move it away, or read the other items "
        "with eval-skills query",
        source=f"run {run_id}, items/date=*/{run_id}.parquet",
        path=f"column {column}" if column else "",
    )


def _result_of(row: dict[str, Any]) -> ItemResult:
    fields = {name: value for name, value in row.items() if name in ItemResult.model_fields} | _judged_answer(row)
    fields["attempts"] = [Attempt(**attempt) for attempt in row["attempts"] or []]
    if (turns := row.get("turns")) is not None:
        fields["turns"] = [turn_of(turn) for turn in turns]
    fields["files"] = _value_of(row, "files")
    return ItemResult.model_validate(fields)


def turn_of(row: Mapping[str, Any]) -> TurnResult:
    """The turn behind a row of `TURN`."""
    fields = {name: value for name, value in row.items() if name in TurnResult.model_fields}
    return TurnResult.model_validate(fields | _judged_answer(row) | {"input": _value_of(row, "input")})


def _judged_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an item, or of a turn, that a row holds in another form."""
    calls = row["tool_calls"]
    return {
        "dimensions": dict(row["dimensions"] or {}),
        "reasons": [Reason(**_without_nulls(reason)) for reason in row["reasons"] or []],
        **{name: _value_of(row, name) for name in ("output", "messages", "content")},
        "tool_calls": None if calls is None else [_call_of(call) for call in calls],
    }


def _call_of(row: dict[str, Any]) -> ToolCall:
    return ToolCall(**{**row, **{name: _value_of(row, name) for name in ("arguments", "result")}})


def _value_of(row: Mapping[str, Any], column: str) -> Any:
    if (text := row.get(column)) is None:
        return None
    try:
        return from_json(text)  # the standard library would stop at integers of more than 4300 digits
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=column) from None


def _choices(row: Mapping[str, Any]) -> tuple[Outcome, Choice | None, Choice | None]:
    return cast("tuple[Outcome, Choice | None, Choice | None]", tuple(row[name] for name in ("outcome", "a_first", "b_first")))
