"""What a run prints: its plan before, its ranking after; or one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.ranking import error_summary, not_selected, ranking
from eval_skills.cli.output.tables import NO_LIMIT
from eval_skills.core.text import first_of, plural
from eval_skills.reporting.context import ranked
from eval_skills.reporting.judging import judging_line
from eval_skills.reporting.ranking import ranking_notes, ties_line
from eval_skills.reporting.sections import forbidden_tool_alerts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from eval_skills.core.config.options import FlowOptions
    from eval_skills.core.models import Model
    from eval_skills.core.selection import SelectStrategy
    from eval_skills.engine.evaluation.plan import RunPlan
    from eval_skills.engine.evaluation.summary import RunSummary

SKILLS_JUDGED_SHOWN = 20
SKILLS_NAMED = 20
"""So many skills are named in a line about some of them."""
WHY_A_DRY_RUN_FAILS = "a dry run evaluates nothing, so --exit-on-fail has nothing to pass"
_COUNTED = frozenset({"runs", "skills", "resume", "origin", "provenance", "at"})
"""What a plan says outside its options."""


def show_plan(plan: RunPlan, request: FlowOptions, *, gate: bool, strategy: SelectStrategy | None = None) -> None:
    """What a run of `request` would do."""
    from eval_skills.engine.planning.dry_run import foreseen

    ahead, least = foreseen(plan), plan.request.min_completion
    document = {
        "benchmark": f"{plan.benchmark.id}@{plan.benchmark.version}",
        "tasks": len(plan.benchmark.tasks),
        "runs": plan.request.runs,
        "items": len(plan.items),
        "looks": _looks(plan),
        "finished": plan.finished,
        "skills": list(plan.skills),
        "resume": plan.run_id if request.resume else None,
        "options": _options(plan, request),
        "strategy": strategy.to_json() if strategy else None,
        "gate": {"minCompletion": least, "passed": False, "failures": [WHY_A_DRY_RUN_FAILS]} if gate else None,
        "foreseen": ahead.to_json(),
        "remarks": plan.remarks,
    }
    if current().json:
        print_json(document)
        return
    for name in ("benchmark", "tasks", "runs", "items"):
        current().say(f"{name:<10} {document[name]}")
    current().say(f"skills     {first_of(list(plan.skills), SKILLS_NAMED)}")
    for line in _lines_of_looks(plan):
        current().say(line)
    for line in ahead.lines:
        current().say(line)
    for remark in plan.remarks:
        current().say(remark, style="yellow")
    current().say("dry run: everything is in order; nothing was called or written", style="green")
    if gate:
        current().say(f"gate failed: {WHY_A_DRY_RUN_FAILS}", style="red")


def _looks(plan: RunPlan) -> dict[str, Any] | None:
    if plan.baseline is None:
        return None
    levels = {skill: {str(runs): level for runs, level in of.items()} for skill, of in plan.baseline.levels.items()}
    return {"against": plan.baseline.name, "maxRuns": plan.request.most_runs, "levels": levels}


def _lines_of_looks(plan: RunPlan) -> list[str]:
    if plan.baseline is None:
        return []
    first, most = plan.request.runs, plan.request.most_runs
    lines = [
        f"until      decided against {plan.baseline.name}: {first} to {plural(most, 'run')} of each task, the items above at most"
    ]
    for skill, levels in plan.baseline.levels.items():
        shown = ", ".join(f"{level:.2g}" for level in levels.values())
        lines.append(f"           {skill}: its looks decide at p ≤ {shown}")
    return lines


def _options(plan: RunPlan, request: FlowOptions) -> dict[str, Any]:
    """What was asked now, and for the rest of a resumed run what was asked when it began."""
    now, then = request.to_json(), plan.request.to_json()
    names = [(name, field.alias or name) for name, field in type(plan.request).model_fields.items() if name not in _COUNTED]
    return {alias: (now if name in request.model_fields_set else then)[alias] for name, alias in names}


def print_experiment(found: Model, files: Sequence[Path], failures: Sequence[str] | None, store: str) -> None:
    """What an experiment found, as the one document of a ``--json`` call; `failures` are those of its gate, None without one."""
    gate = None if failures is None else {"passed": not failures, "failures": list(failures)}
    places = {"files": [str(path) for path in files], "store": store, "flowRunPage": current().flow_run_page}
    print_json({**found.to_json(), "gate": gate, **places})


def show_summary(summary: RunSummary, *, gate: bool, command: str = "eval") -> None:
    """The ranking, the files, and the gate's verdict; `command` is the one that continues a run."""
    if current().json:
        print_json(_document(summary, gate=gate, command=command))
        return
    session, out = current(), current().out(pipe_width=NO_LIMIT)
    session.say(f"{summary.benchmark.id}@{summary.benchmark.version}")
    out.print(ranking(summary, out.width, whole=not out.is_terminal))
    for line in ranking_notes(ranked(summary.reports)):
        session.say(line)
    for decision in summary.decisions:
        session.say(decision.line, style={"worse": "red", "better": "green"}.get(decision.verdict, ""))
    _show_alerts(summary)
    for line in error_summary(summary.reports):
        session.say(line)
    session.say(summary.line)
    for line in _judging_by_skill(summary):
        session.say(line)
    for line in summary.judging:
        session.say(line, style="red" if _is_problem(line, summary) else "")
    if summary.selected is not None:
        for line in not_selected(summary.removed, selected=len(summary.selected)):
            session.say(line, style="yellow")
    if summary.tied:
        session.say(ties_line(summary.tied), style="yellow")
    for path in summary.report_files:
        session.say(f"report  {path}")
    session.say_stored(summary.store, f"run {summary.run_id}")
    if summary.is_partial:
        from eval_skills.engine.evaluation.summary import stopped_early

        session.say(stopped_early(summary, command), style="red")
    if gate:
        _show_gate(summary)


def show_stop(summary: RunSummary, command: str) -> None:
    """That items of an experiment are missing: of a part of them it shows no figures."""
    from eval_skills.engine.evaluation.summary import stopped_early

    if current().json:
        whole = {"runId": summary.run_id, "planned": summary.planned, "finished": summary.finished}
        print_json(whole | {"stopped": stop_document(summary, command), "files": [str(path) for path in summary.report_files]})
    for path in summary.report_files:
        current().say(f"report  {path}")
    current().remark(stopped_early(summary, command), style="red")


def stop_document(summary: RunSummary, command: str) -> dict[str, Any] | None:
    """The limit at which the run stopped, for JSON; None where it did not."""
    if summary.stopped is None:
        return None
    return summary.stopped.to_json() | {"said": summary.stop_line, "continue": summary.continue_line(command)}


def _judging_by_skill(summary: RunSummary) -> list[str]:
    """What judging each skill cost, where the line about the whole run does not say it: of several, or by other processes."""
    lines = [line for report in ranked(summary.reports) if (line := judging_line(report)) is not None]
    if len(lines) == 1 and any(line.startswith("judging: ") for line in summary.judging):
        return []
    rest = len(lines) - SKILLS_JUDGED_SHOWN
    more = [f"and of {plural(rest, 'more skill')}, in the reports"] if rest > 0 else []
    return [*lines[:SKILLS_JUDGED_SHOWN], *more]


def _is_problem(line: str, summary: RunSummary) -> bool:
    return line.startswith("judge: ") or (summary.out_of_budget and line == summary.judging[-1])


def _show_alerts(summary: RunSummary) -> None:
    """In red, and in words where red is not shown."""
    for alert in forbidden_tool_alerts(ranked(summary.reports)):
        current().say(f"FORBIDDEN TOOL: {alert.line}", style="bold red")


def _show_gate(summary: RunSummary) -> None:
    from eval_skills.engine.evaluation.summary import gate_lines

    for line in gate_lines(summary):
        current().say(line, style="green" if summary.gate_passed else "red")


def _judging(summary: RunSummary) -> dict[str, Any] | None:
    if not summary.judging:
        return None
    return {
        "lines": summary.judging,
        "outOfBudget": summary.out_of_budget,
        "unjudged": summary.unjudged,
        "unsimulated": summary.unsimulated,
    }


def _gate(summary: RunSummary) -> dict[str, Any]:
    from eval_skills.engine.evaluation.summary import gate_failures

    return {"minCompletion": summary.min_completion, "passed": summary.gate_passed, "failures": gate_failures(summary)}


def _document(summary: RunSummary, *, gate: bool, command: str) -> dict[str, Any]:
    selected = None
    if summary.selected is not None:
        selected = [{"id": choice.skill.id, "version": choice.skill.version, "rank": choice.rank} for choice in summary.selected]
    return {
        "runId": summary.run_id,
        "summary": summary.line,
        "benchmark": f"{summary.benchmark.id}@{summary.benchmark.version}",
        "planned": summary.planned,
        "finished": summary.finished,
        "stopped": stop_document(summary, command),
        "selected": selected,
        "removed": summary.removed,
        "tied": summary.tied,
        "decisions": [decision.to_json() for decision in summary.decisions] or None,
        "gate": _gate(summary) if gate else None,
        "files": [str(path) for path in summary.report_files],
        "store": str(summary.store),
        "flowRunPage": current().flow_run_page,
        "remarks": summary.remarks,
        "judging": _judging(summary),
        "reports": [report.to_json() for report in ranked(summary.reports)],
    }
