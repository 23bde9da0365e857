"""``eval-skills select``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.configuration import Own
from eval_skills.cli.context import current, json_text, print_json
from eval_skills.cli.options import RESULTS, SELECTED, KeepTies, PastResults, StrategyFile, TopK, decimal
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.core.selection import RankedSkill


def select_command(
    *,
    from_: Annotated[
        Path,
        Parameter(group=SELECTED, name="--from", help="Candidates: a folder of skills, or a JSON file with an array of skills"),
    ],
    reports: Annotated[
        list[Path] | None,
        Parameter(
            group=SELECTED,
            consume_multiple=True,
            help="JSON reports with the candidates' figures [default: each one's last in the store]",
        ),
    ] = None,
    strategy: StrategyFile = None,
    min_completion: Annotated[
        float | None,
        Own("beats the strategy's own limit, which the top level's does not"),
        Parameter(group=SELECTED, converter=decimal, help="Lowest completion rate; beats the strategy file"),
    ] = None,
    top_k: TopK = None,
    keep_ties: KeepTies = None,
    output: Annotated[
        Path | None, Parameter(group=RESULTS, help="Write the selection to this JSON file [default: print it]")
    ] = None,
    store: PastResults = None,
) -> int:
    """Filter and rank skills by their evaluation reports.

    Their figures are those of the reports that are named, else the last ones in the store. Nothing is evaluated. What a filter
    removes is named on stderr, with the filter.

    Example: eval-skills select --from ./skills --min-completion 0.8 --top-k 2
    """
    from eval_skills.cli.output.ranking import not_selected
    from eval_skills.core.selection import left_out_ties, removals, select
    from eval_skills.engine.definition.request import check_file
    from eval_skills.engine.stored_runs.candidates import (
        chosen_strategy,
        load_candidates,
        load_reports,
        rank_candidates,
        several_benchmarks,
    )
    from eval_skills.reporting.ranking import ties_line

    flags = {
        "strategy": strategy, "top_k": top_k, "keep_ties": keep_ties, "store": store, "min_completion": min_completion,
    }  # fmt: skip
    config = current().config(flags)
    chosen = chosen_strategy(config.strategy, min_completion=min_completion, top_k=config.top_k, keep_ties=config.keep_ties)
    if output is not None:
        check_file(output, "--output", "the selection")
    candidates = load_candidates(from_)
    known = rank_candidates(candidates.skills, load_reports(reports or [], config.store), config.store)
    ranked = select(candidates.skills, known, chosen)
    remarks = [f"skipped  {bad.reason}" for bad in candidates.invalid] + candidates.remarks
    if mixed := several_benchmarks(known):
        remarks.append(mixed)
    if tied := left_out_ties(candidates.skills, known, chosen):
        remarks.append(ties_line([skill.key for skill in tied]))
    remarks += not_selected(removals(candidates.skills, known, chosen), selected=len(ranked))
    _deliver([_entry(choice) for choice in ranked], output, remarks=remarks)
    return 0


def _entry(choice: RankedSkill) -> dict[str, Any]:
    summary = choice.report.summary
    return {
        "rank": choice.rank,
        "skill": choice.skill.to_json(),
        "path": str(choice.skill.folder) if choice.skill.folder else None,
        "benchmark": choice.report.benchmark_id,
        "runId": choice.report.evaluator_metadata.get("runId"),
        "completionRate": summary.known_completion,
        "compositeScore": summary.known_composite,
        "errorRate": summary.error_rate,
        "p95Ms": choice.report.latency.p95_ms,
        "ranking": choice.report.ranking.to_json() if choice.report.ranking else None,
    }


def _deliver(entries: list[dict[str, Any]], output: Path | None, *, remarks: list[str]) -> None:
    from eval_skills.core.store.files import write_whole

    session = current()
    for remark in remarks:
        session.remark(remark)
    if output is not None:
        write_whole(output, json_text(entries).encode())
        session.remark(f"{plural(len(entries), 'skill')} written to {output}", style="")
    if output is None or session.json:
        print_json(entries)
