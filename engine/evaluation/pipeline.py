"""What a pipeline adds to an evaluation, the selection and the reports; and the rest of a run whose Prefect server is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval_skills.core.documents.loading import validate_known
from eval_skills.core.selection import RankedSkill, SelectStrategy, left_out_ties, load_strategy, removals, select
from eval_skills.core.store import Manifest, Store
from eval_skills.core.store.manifest import SELECTION
from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
from eval_skills.engine.discovery import FoundSkills, matching_skills
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.resume import continuing, resumed_plan
from eval_skills.engine.evaluation.summary import RunSummary, context_of, selected_words, writing_reports
from eval_skills.engine.stored_runs.candidates import DEFAULT_MIN_COMPLETION, adjusted_strategy, chosen_strategy
from eval_skills.reporting.writing import write_reports


def found_skills(request: PipelineRequest) -> FoundSkills:
    """The skills that match; none where a run is resumed, or recordings say which there are: nothing is searched then."""
    return FoundSkills([], []) if request.resume or request.traces else matching_skills(request)


def evaluation_of(request: PipelineRequest, found: FoundSkills) -> EvaluateRequest:
    """The evaluation of the skills that were found; what was found and cannot be used is noted for its manifest, and so is how
    the skills are selected: by the completion rate that it requires the stored run is judged later. Of a resume that names none
    it is as before.

    Raises:
        InputError: the strategy's file cannot be used.
    """
    evaluation = request.evaluation([str(skill.folder) for skill in found.skills], [bad.remark for bad in found.invalid])
    strategy = strategy_of(request)
    lowest = strategy.filters.min_completion_rate
    noted = {} if request.resume else {"provenance": {**evaluation.provenance, SELECTION: strategy.to_json()}}
    required = {} if lowest is None else {"min_completion": lowest}
    return evaluation.model_copy(update={**noted, **required})


def strategy_of(request: PipelineRequest) -> SelectStrategy:
    """How the skills of a pipeline are selected; those below the usual completion are not, unless it or its file says otherwise.

    Of a resume it is what this call says: see `resumed_strategy`.

    Raises:
        InputError: the strategy's file cannot be used.
    """
    return chosen_strategy(
        request.strategy,
        min_completion=request.min_completion,
        top_k=request.top_k,
        keep_ties=request.keep_ties,
        floor=None if request.resume else DEFAULT_MIN_COMPLETION,
    )


def resumed_strategy(request: PipelineRequest, manifest: Manifest, min_completion: float) -> SelectStrategy:
    """How the skills of a resumed run are selected: as when it began, where this call does not say it. `min_completion` is the
    rate that its evaluation is held to by now.

    Raises:
        InputError: the strategy's file, or what the manifest says of the selection, cannot be used.
    """
    if request.strategy:
        strategy = load_strategy(Path(request.strategy))
    else:
        begun = manifest.provenance.get(SELECTION, {})
        strategy, _ = validate_known(SelectStrategy, begun, source=f"manifest of run {manifest.run_id}")
    return adjusted_strategy(strategy, min_completion=min_completion, top_k=request.top_k, keep_ties=request.keep_ties)


def strategy_after(request: PipelineRequest, evaluated: RunSummary) -> SelectStrategy:
    """How the skills of a run are selected that this call began or resumed."""
    if not request.resume:
        return strategy_of(request)
    manifest = Store(evaluated.store).manifest(evaluated.run_id)
    return resumed_strategy(request, manifest, evaluated.min_completion)


def with_selection(
    evaluated: RunSummary, strategy: SelectStrategy, selected: Sequence[RankedSkill], found: FoundSkills
) -> RunSummary:
    """The summary of a pipeline: of an evaluation, what was selected from it, and what was not found usable before.

    The rest of an interrupted run knows the latter from its manifest.
    """
    invalid = [bad.remark for bad in found.invalid if bad.remark not in evaluated.remarks]
    chosen = replace(
        evaluated,
        selected=list(selected),
        removed=removals(evaluated.skills, evaluated.reports, strategy),
        tied=[skill.key for skill in left_out_ties(evaluated.skills, evaluated.reports, strategy)],
        min_completion=strategy.filters.min_completion_rate or 0.0,
        remarks=[*invalid, *found.remarks, *evaluated.remarks],
        skipped=len(invalid) + evaluated.skipped,
    )
    return replace(chosen, line=evaluated.line + selected_words(chosen))


def finish_without_prefect(
    request: EvaluateRequest | PipelineRequest, run_id: str, began: float | None = None, report_files: Sequence[Path] = ()
) -> RunSummary:
    """The rest of a run that has begun: the items that are not in its journal, the landing, the selection and the reports.

    The run's duration counts from when it `began` (`time.monotonic`; None: now). Its `report_files` are not written again.

    Raises:
        RunError: the results cannot be written.
    """
    evaluation = evaluation_of(request, FoundSkills([], [])) if isinstance(request, PipelineRequest) else request
    # an error that this call has had again already would be asked once more
    resumed = continuing(evaluation, run_id).model_copy(update={"retry_errors": False})
    summary = evaluate_in_process(resumed_plan(resumed), began)
    if isinstance(request, PipelineRequest):
        strategy = strategy_after(request, summary)
        selected = select(summary.skills, summary.reports, strategy)
        summary = with_selection(summary, strategy, selected, found_skills(request))
    if report_files:
        return replace(summary, report_files=list(report_files))
    if request.format:
        context, formats = context_of(summary), list(dict.fromkeys(request.format))
        observed_runs.observer.reporting(formats)
        with writing_reports(summary, formats):
            files = write_reports(summary.reports, formats, request.output_dir, context)
        summary = replace(summary, report_files=files)
    return summary
