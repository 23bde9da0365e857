"""What is reported of the judging models of a run: who judged, the figures on them, failures, requests, tokens, cost, and an
exhausted budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from eval_skills.core.errors import RunError, UserError
from eval_skills.core.judging.rows import NOT_BY_A_MODEL, PERHAPS_PAID
from eval_skills.core.models import Benchmark, ItemResult, Reason, SkillCompletionReport, TaskResult, TokenCost
from eval_skills.core.text import first_of, one_line, plural
from eval_skills.engine.definition.benchmark import build_scorings
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.definition.scoring import judges_by_task, scoring_digests
from eval_skills.reporting import numbers
from eval_skills.reporting.judging import KEY
from eval_skills.reporting.stopping import of_store
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.budget import Spending
from eval_skills.scorers.judging.errors import was_not_asked
from eval_skills.scorers.judging.model import JudgeIdentity

if TYPE_CHECKING:
    import pandas as pd

    from eval_skills.core.judging.calibration import Calibration
    from eval_skills.core.judging.rows import JudgedRows
    from eval_skills.core.store import Manifest, Store


R = TypeVar("R", TaskResult, ItemResult)

_SHOWN = 300


def refuse_half_judged(judges: Judges | None) -> None:
    """Refuse to land stored answers of which some were left unjudged because the cost limit was reached.

    Raises:
        RunError: that is so; nothing is lost as long as there is the cache.
    """
    if judges is not None and judges.budget.exhausted:
        raise RunError(half_judged(judges))


def half_judged(judges: Judges) -> str:
    """The message where the cost limit ended the judging of stored answers, and nothing landed."""
    if judges.cache is None:
        kept = "nothing was kept: the same call with a higher limit begins anew"
    else:
        kept = (
            "what it judged is in its cache and costs nothing again: the same call goes on, and gets further with a higher limit"
        )
    return f"{judges.budget.shortage}, and not everything was judged; nothing landed, {kept}"


def going_on(*, no_judge_cache: bool) -> str:
    """What happens to an interrupted judging of stored answers when it is called again."""
    if no_judge_cache:
        return "with --no-judge-cache nothing of it was kept"
    return "what was judged is in the cache: make the same call again to go on"


def judging_lines(judges: Judges | None, run_id: str, store: str) -> list[str]:
    """Lines on requests, tokens and cost of judging in this process, and how to judge what the cost limit left of the run."""
    lines = list(spending_lines(judges))
    if judges is not None and judges.budget.refused_judging:
        again = "" if judges.cache is not None else ", and with it all that --no-judge-cache did not keep"
        rest = f"judge the rest{again}, {judge_rest(run_id, store)}"
        lines.append(f"{judges.budget.shortage}, and not everything was judged; {rest}")
    return lines


def unjudged(results: Iterable[R]) -> list[R]:
    """The results without a verdict because the judge failed. They are not evidence about the skill."""
    return [each for each in results if each.error_kind == "judge"]


def unjudged_line(results: Sequence[TaskResult]) -> str | None:
    """How many of these results the judge failed on, with its first error; None where it did not fail.

    Items left by an exhausted budget do not count: `judging_lines` reports them.
    """
    missing = [each for each in unjudged(results) if not any(reason.code == "JUDGE_BUDGET" for reason in each.reasons)]
    if not missing:
        return None
    return failed_judging([each.error_message or "" for each in missing], len(results))


def unsimulated(results: Iterable[R]) -> list[R]:
    """The conversations without an end because the model that plays the user failed. They are not evidence, either."""
    return [each for each in results if each.error_kind == "simulator"]


def unsimulated_lines(results: Sequence[TaskResult], run_id: str, store: str) -> list[str]:
    """How many conversations have no end because the model that plays the user failed, and how to have them again."""
    failed = unsimulated(results)
    if not failed:
        return []
    return [f"{failed_users([each.error_message or '' for each in failed], len(results))}; {have_again(run_id, store)}"]


def have_again(run_id: str, store: str) -> str:
    """How the command line has the conversations of a run again that have no end."""
    return f"have them again with: eval-skills eval --resume {run_id} --retry-errors{of_store(store)}"


def judge_rest(run_id: str, store: str) -> str:
    """How the command line judges what the cost limit left."""
    return f"without calling a skill again, with: eval-skills rescore {run_id} --max-judge-cost USD{of_store(store)}"


def failed_users(errors: Sequence[str], total: int) -> str:
    """``simulated users: 1 of 2 items could not be brought to an end: …``, with the first error."""
    first = one_line(errors[0], _SHOWN)
    return f"simulated users: {len(errors):,} of {plural(total, 'item')} could not be brought to an end: {first}"


def failed_judging(errors: Sequence[str], total: int, noun: str = "item") -> str:
    """``judge: 12 of 12 items could not be judged: …; 11 of them were not asked, because of that``, of their `errors`."""
    unasked = [was_not_asked(error) for error in errors]
    first = errors[unasked.index(False)] if False in unasked else errors[0]
    rest = "" if all(unasked) or not any(unasked) else f"; {sum(unasked):,} of them were not asked, because of that"
    return f"{could_not_be_judged(len(errors), total, first, noun)}{rest}"


def could_not_be_judged(count: int, total: int, first: str, noun: str) -> str:
    """``judge: 12 of 12 items could not be judged: …``, with the first error."""
    return f"judge: {count:,} of {plural(total, noun)} could not be judged: {one_line(first, _SHOWN)}"


def spending_lines(judges: Judges | None) -> Iterator[str]:
    """Requests, tokens and cost, those of the check before the run apart, and problems with the cache; none without judges."""
    if judges is None:
        return
    total, checks, cache = judges.total, judges.checks, judges.cache
    if total.happened:
        before = f"; the check before: {plural(checks.asked, 'request')}, {_amounts(checks)}" if checks.happened else ""
        yield f"judging: {plural(total.asked, 'request')}, {total.cached:,} from the cache, {_amounts(total)}{before}"
    if (users := judges.users).happened:
        yield f"simulated users: {plural(users.asked, 'request')}, {users.cached:,} from the cache, {_amounts(users)}"
    if cache is not None and cache.broken:
        yield f"{plural(cache.broken, 'entry')} of the judge's cache could not be read and was asked for again: {cache.folder}"
    if cache is not None and cache.unwritable:
        yield f"verdicts are not kept for the next run: {cache.folder}: {cache.unwritable}"


def _amounts(spent: Spending) -> str:
    price = "cost unknown" if spent.cost_usd is None else numbers.usd(spent.cost_usd)
    return f"{'tokens unknown' if spent.tokens is None else plural(spent.tokens, 'token')}, {price}"


def reported_line(judges: Judges, reports: Iterable[SkillCompletionReport]) -> str | None:
    """What the reports have of it where that is not what this process asked, as after a resumed run; None where it is."""
    costs = [report.token_cost for report in reports if report.token_cost.judge_requests is not None]
    asked = sum(cost.judge_requests or 0 for cost in costs)
    if not costs or asked == judges.total.asked:
        return None
    reported = Spending()
    for cost in costs:
        reported.add(cost.judge_tokens, cost.judge_cost_usd, cost.judge_requests or 0)
    return f"judging in the reports: {plural(asked, 'request')}, {_amounts(reported)}"


def item_with_cost_before(result: ItemResult, before: ItemResult | None) -> ItemResult:
    """The item as judged now, plus what the judge cost when it failed on it `before`; unknown plus known is unknown."""
    if before is None or _paid_nothing(before):
        return result
    cost = Spending(before.judge_tokens, before.judge_cost_usd, before.judge_requests or 0)
    if not _paid_nothing(result):
        cost.add(result.judge_tokens, result.judge_cost_usd, result.judge_requests or 0)
    return result.model_copy(update=cost.fields())


def pair_with_cost_before(row: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of a pair of answers, likewise."""
    if before is None:
        return dict(row)
    cost = Spending(before["judge_tokens"], before["judge_cost_usd"], before["judge_requests"] or 0)
    cost.add(row["judge_tokens"], row["judge_cost_usd"], row["judge_requests"] or 0)
    return dict(row) | cost.fields()


def _paid_nothing(result: ItemResult) -> bool:
    """Whether the judge failed on the item without cost; its tokens are None then, as they are where the cost is unknown."""
    failed = result.error_kind == "judge" and result.judge_tokens is None and not result.judge_requests
    return failed and not any(reason.code in PERHAPS_PAID for reason in result.reasons)


def add_judge_figures(
    reports: Sequence[SkillCompletionReport], items: pd.DataFrame, scorings: Mapping[str, TaskScoring], store: Store
) -> list[SkillCompletionReport]:
    """The reports with the figures of `core.judging.report` in their metadata, under ``judge``; unchanged where no model judged.

    `items` are the rows that the reports are made of; `scorings` name the judge of each task, and of its answers' claims.
    """
    by_task = _named(judges_by_task(scorings))
    claims = _named({name: scoring.claims_judge for name, scoring in scorings.items() if scoring.claims_judge is not None})
    if not by_task and not claims:
        return list(reports)
    from eval_skills.core.judging.report import JudgeKnowledge, judge_figures
    from eval_skills.core.judging.rows import JudgedRows
    from eval_skills.core.store.rows import all_calibrations, judged_pairs

    benchmark_id = str(items["benchmark_id"].iloc[0]) if "benchmark_id" in items else reports[0].benchmark_id
    version = str(reports[0].evaluator_metadata.get("benchmarkVersion", ""))
    known_of = all_calibrations(store, benchmark_id, version)
    chosen = {judge: _fitting(known, _judged_by(judge, by_task, items), store) for judge, known in known_of.items()}
    calibrations = {judge: calibration for judge, (calibration, _) in chosen.items()}
    changed = {
        judge: f"{judge[0]} was calibrated before {what} changed; calibrate it again"
        for judge, (_, what) in chosen.items()
        if what is not None
    }
    if known_of:
        changed |= _judged_otherwise(items, scorings, by_task)
    known = JudgeKnowledge(by_task, calibrations, judged_pairs(store, benchmark_id), claims, changed)
    completed = []
    for report in reports:
        own = items[(items["skill_id"] == report.skill_id) & (items["skill_version"] == report.skill_version)]
        figures = judge_figures(own, known, version)
        if figures is not None:
            metadata = report.evaluator_metadata | {KEY: figures.to_json()}
            cost = _honest(report.token_cost, JudgedRows.of(own, by_task, claims))
            summary = report.summary
            if summary.unjudged_items is None:  # without counted tokens the summary does not know that models were asked
                summary = summary.model_copy(update={"unjudged_items": figures.unjudged})
            report = report.model_copy(update={"evaluator_metadata": metadata, "token_cost": cost, "summary": summary})
        completed.append(report)
    return completed


def _judged_otherwise(
    items: pd.DataFrame, scorings: Mapping[str, TaskScoring], by_task: Mapping[str, tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """By judge, that verdicts among these items are not what it makes today: another version of its prompt made them, say."""
    if "scoring_digest" not in items:
        return {}
    digests, found = scoring_digests(scorings), dict[tuple[str, str], set[str]]()
    for task, digest in sorted({*zip(items["task_id"], items["scoring_digest"].fillna(""), strict=True)}):
        if digest and task in by_task and digest != digests[f"scoring/{task}"]:
            found.setdefault(by_task[task], set()).add(task)
    return {
        judge: f"what judges {'task' if len(tasks) == 1 else 'tasks'} {first_of(sorted(tasks), 3)} changed since these answers "
        "were judged; judge them again with eval-skills rescore"
        for judge, tasks in found.items()
    }


def _judged_by(judge: tuple[str, str], by_task: Mapping[str, tuple[str, str]], items: pd.DataFrame) -> pd.DataFrame:
    return items[items["task_id"].isin([task for task, by in by_task.items() if by == judge])]


def _fitting(known: Sequence[Calibration], items: pd.DataFrame, store: Store) -> tuple[Calibration, str | None]:
    """The last calibration since which these items' benchmark is known not to have changed; else the last, with what has."""
    last, *earlier = known
    what = _changed_since(last, items, store)
    if what is not None:
        for each in earlier:
            if each.benchmark_digest is not None and _changed_since(each, items, store) is None:
                return each, None
    return last, what


def _changed_since(calibration: Calibration, items: pd.DataFrame, store: Store) -> str | None:
    """What of these items' benchmark is not as it was when their judge was calibrated, in words; None: nothing that is known.

    The tasks of the run that the labels are about are compared one by one; where it is gone or had less than half of them, or the
    labels had answers of their own, the benchmark as a whole, too.
    """
    if "task_digest" not in items or items.empty:
        return None
    then = _task_digests(store, calibration.run_id) if calibration.run_id is not None else {}
    pairs = set(zip(items["task_id"], items["task_digest"], strict=True))
    tasks = {task for task, _ in pairs}
    if 2 * len(tasks & then.keys()) < len(tasks):
        digests = set(items["benchmark_digest"].dropna())
        if calibration.benchmark_digest is not None and digests - {calibration.benchmark_digest}:
            return "this benchmark"
    changed = sorted({task for task, digest in pairs if digest is not None and digest not in then.get(task, {digest})})
    return f"{'task' if len(changed) == 1 else 'tasks'} {first_of(changed, 3)}" if changed else None


def _task_digests(store: Store, run_id: str) -> dict[str, set[str]]:
    """The digests of the tasks of a landed run, by their ids; empty where it is gone."""
    with store.tables.readable("items", [run_id]):
        table = store.tables.dataset("items", [run_id]).to_table(columns=["task_id", "task_digest"])
    found: dict[str, set[str]] = {}
    for task, digest in zip(table["task_id"].to_pylist(), table["task_digest"].to_pylist(), strict=True):
        if digest is not None:
            found.setdefault(task, set()).add(digest)
    return found


def _named(judges: Mapping[str, JudgeIdentity]) -> dict[str, tuple[str, str]]:
    return {task: (judge.model, judge.prompt) for task, judge in judges.items()}


def _honest(cost: TokenCost, rows: JudgedRows) -> TokenCost:
    """The cost; unknown where that of a paid row is: the sum of the known ones would count the others as free."""
    if not rows.paid.any():
        return cost
    unknown = {"judge_tokens": rows.tokens(rows.paid) is None, "judge_cost_usd": rows.cost_usd(rows.paid) is None}
    return cost.model_copy(update={name: None for name, is_unknown in unknown.items() if is_unknown})


def scorings_at_the_time(
    request: EvaluateRequest | None, benchmark: Benchmark | None, manifest: Manifest | None
) -> dict[str, TaskScoring]:
    """How each task of a stored run was scored; empty where that is no longer known. The judges' keys need not be set."""
    if request is None or benchmark is None or manifest is None:
        return {}
    folder = Path(manifest.benchmark.path) if manifest.benchmark.path else None
    try:
        return build_scorings(request, benchmark, folder)
    except UserError:
        return {}


QUALITY = "output_quality"
"""The dimension with the evaluator's score."""


def was_judged(status: str, reasons: Iterable[Reason]) -> bool:
    """Whether the item of a task that a model judges has its verdict from that model."""
    return status in ("pass", "fail") and not any(reason.code in NOT_BY_A_MODEL for reason in reasons)
