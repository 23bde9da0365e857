"""The plan of a comparison: which stored answers are compared, by which models, and under which id it lands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval_skills.core.errors import ConfigError, InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.judging.pairs import Choice, Preference
from eval_skills.core.models import Benchmark, EvalTask, ExpectedOutput, ItemResult
from eval_skills.core.redaction import Redaction
from eval_skills.core.store import Store, derived_run_id
from eval_skills.core.text import plural
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.comparison.sides import Side, sides_of
from eval_skills.engine.definition.benchmark import digests_of_the_same, resolve_benchmark, with_every_task
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.reports import recorded_request
from eval_skills.scorers.judging import Judges
from eval_skills.scorers.judging.comparison import VERSION, Comparing
from eval_skills.scorers.judging.judge import Judge
from eval_skills.scorers.judging.model import named_judge, prompt_version
from eval_skills.scorers.judging.panel import Panel

_CRITERIA_OF = frozenset({"llm_judge", "llm-judge"})


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Two answers to one task, in one run."""

    a: ItemResult
    b: ItemResult
    comparing: Comparing

    def __str__(self) -> str:
        return f"{self.a.task_id}#{self.a.run_index + 1}"


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """A comparison, checked and ready.

    `forfeits` are the pairs in which a side failed to answer, with their outcome; `unanswered` those whose answer something else
    kept away (error kind infra), which stay open.
    """

    store: Store
    request: CompareRequest
    comparison_id: str
    digest: str
    a: Side
    b: Side
    benchmark: Benchmark
    pairs: list[AnswerPair]
    judges: Judges
    panel: Panel = field(default_factory=Panel)
    forfeits: list[Preference] = field(default_factory=list)
    unanswered: list[Preference] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        """The model that judges; for a panel, all of them, and how they vote; with a temperature above 0."""
        return named_judge(self.models, self.panel, self.request.llm)

    @property
    def models(self) -> list[str]:
        """Every model that judges."""
        return [self.judges.judge(model).model.name for model in self.panel.models]

    @property
    def prompt(self) -> str:
        """The version of the judge's prompt."""
        return prompt_version(VERSION)

    def as_it_stands(self) -> ComparisonPlan:
        """The same comparison under its current id: another call may have landed it since this one was planned."""
        landed, anew = landed_comparisons(self.store), self.request.no_judge_cache
        taken = self.comparison_id in landed if anew else self.digest in landed.values()
        return replace(self, comparison_id=comparison_id_of(landed, self.digest, anew=anew)) if taken else self


def plan_comparison(request: CompareRequest) -> ComparisonPlan:
    """A checked plan; nothing is written and no model is asked.

    Raises:
        UserError: there is no such run or skill, the runs are of different benchmarks, nothing compares, or no model is named.
    """
    store, panel = Store(request.store), _panel(request)
    judges = Judges(request)
    judges.redaction = Redaction.of_variables(request.secrets)
    _check_each(judges, panel, bool)  # that each has a model
    a, b = sides_of(store, request)
    if (a.run_id, a.skill) == (b.run_id, b.skill):
        raise UsageError(f"both sides are {a.skill} of run {a.run_id}; name another run, or --skill-a and --skill-b")
    if a.benchmark != b.benchmark:
        raise InputError(f"run {a.run_id} was asked {a.benchmark} and run {b.run_id} {b.benchmark}; their answers do not compare")
    benchmark, folder = _benchmark(store, request, a, b)
    pairs, remarks = _pairs(a, b, benchmark, folder, request.criteria)
    without = _without_answers(a, b, {task.id for task in benchmark.tasks})
    forfeits, unanswered = ([each for each in without if each.forfeit is forfeit] for forfeit in (True, False))
    if not pairs and not forfeits:
        why = [*remarks, *([f"{plural(len(unanswered), 'pair')} without both answers"] if unanswered else [])]
        raise InputError(f"nothing of run {a.run_id} and run {b.run_id} can be compared: {'; '.join(why)}", source=store.path)
    _check_each(judges, panel, Judge.check_name)
    digest = _digest(pairs, request, panel)
    return ComparisonPlan(
        store=store,
        request=request,
        comparison_id=comparison_id_of(landed_comparisons(store), digest, anew=request.no_judge_cache),
        digest=digest,
        a=a,
        b=b,
        benchmark=benchmark,
        pairs=pairs,
        judges=judges,
        panel=panel,
        forfeits=forfeits,
        unanswered=unanswered,
        remarks=remarks,
    )


def _benchmark(store: Store, request: CompareRequest, a: Side, b: Side) -> tuple[Benchmark, Path | None]:
    then = next(filter(None, (recorded_request(store.find_manifest(side.run_id)) for side in (a, b))), None)
    if then is None and not (request.tasks or request.benchmark):
        raise InputError(f"the runs' manifests cannot be read; name their benchmark, as with --benchmark {a.benchmark}")
    return resolve_benchmark(with_every_task(then or EvaluateRequest(), request.benchmark, request.tasks, request.benchmarks_dir))


def _panel(request: CompareRequest) -> Panel:
    """The models that vote on each pair; their majority decides."""
    try:
        return Panel(models=tuple(request.panel) or (None,), votes=request.votes, aggregate="majority")
    except InputError as error:
        option = "--votes" if error.path == "votes" else "--panel"
        raise UsageError(f"{option}: {error.message}") from None


def _check_each(judges: Judges, panel: Panel, check: Callable[[Judge], object]) -> None:
    try:
        for model in panel.models:
            check(judges.judge(model))
    except ConfigError as error:
        raise UsageError(str(error)) from None


def _pairs(
    a: Side, b: Side, benchmark: Benchmark, folder: Path | None, criteria: str | None
) -> tuple[list[AnswerPair], list[str]]:
    """The comparable pairs in the order of the benchmark, and what was left out, and why."""
    tasks = {task.id: task for task in benchmark.tasks}
    same = digests_of_the_same(benchmark, folder)
    both = {key: (a.answers[key], b.answers[key]) for key in a.answers.keys() & b.answers.keys()}
    gone = {key for key in both if key[0] not in tasks}
    changed = {
        key
        for key, items in both.items()
        if key not in gone and {item.task_digest for item in items} - {*same[f"task/{key[0]}"], None}
    }
    places = {name: place for place, name in enumerate(tasks)}
    kept = sorted(both.keys() - gone - changed, key=lambda key: (places[key[0]], key[1]))
    pairs = [AnswerPair(*both[key], Comparing(tasks[key[0]], criteria or _criteria(tasks[key[0]]))) for key in kept]
    left_out = {
        "item": {"only one of the runs has them": len(a.keys ^ b.keys)},
        "pair": {
            "an answer was cut to 64 KiB when it landed": len(a.keys & b.keys & (a.cut | b.cut)),
            f"{benchmark.id}@{benchmark.version} does not have {_named(gone)}": len(gone),
            f"the task was changed since one of the runs: {_named(changed)}": len(changed),
        },
    }
    remarks = [
        f"{plural(count, what)} left out: {why}" for what, whys in left_out.items() for why, count in whys.items() if count
    ]
    return pairs, remarks


def _without_answers(a: Side, b: Side, tasks: set[str]) -> list[Preference]:
    """The pairs that lack an answer: a side that failed to answer loses; where something else kept it away, the pair is open."""
    keys = (key for key in (a.keys & b.keys) & (a.without.keys() | b.without.keys()) if key[0] in tasks)
    return [_without_answer(key[0], a.without.get(key), b.without.get(key)) for key in sorted(keys)]


def _without_answer(task: str, a_failed: bool | None, b_failed: bool | None) -> Preference:
    """`a_failed` and `b_failed` say whether it was the skill that failed to answer (False: another cause; None: it answered)."""
    worst = _decided(a_failed is not None, bool(b_failed), "b")
    best = _decided(bool(a_failed), b_failed is not None, "a")
    return Preference(task, worst, forfeit=True) if worst == best else Preference(task, "error", between=(worst, best))


def _decided(a_failed: bool, b_failed: bool, else_to: Choice) -> Choice:
    if a_failed and b_failed:
        return "tie"
    return "b" if a_failed else "a" if b_failed else else_to


def _named(keys: Iterable[tuple[str, int]]) -> str:
    names = sorted({task for task, _ in keys})
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _criteria(task: EvalTask) -> str | None:
    """The criteria of the task's own judges, where it has any; what is not wanted of an answer is not a criterion."""
    judges = [each for each in task.named_scorers if each.type in _CRITERIA_OF and not each.negated]
    found = [criteria for each in judges if (criteria := _criteria_in(each.options, task.expected_output)) is not None]
    return "\n".join(dict.fromkeys(found)) or None


def _criteria_in(options: Mapping[str, Any], expected: ExpectedOutput | None) -> str | None:
    for name, written in (("criteria", "criteria"), ("judge_prompt", "judgePrompt")):
        found = options.get(written, options.get(name)) or (getattr(expected, name) if expected else None)
        if found:
            return found if isinstance(found, str) else "\n".join(f"{number}. {each}" for number, each in enumerate(found, 1))
    return None


def _digest(pairs: Sequence[AnswerPair], request: CompareRequest, panel: Panel) -> str:
    """The digest of the comparison: answers, tasks, criteria, models (in any order) and prompt."""
    compared = [
        {
            "items": [[item.run_id, *item.key, item.output] for item in (pair.a, pair.b)],
            "task": pair.comparing.task.to_json(),
            "criteria": pair.comparing.criteria,
        }
        for pair in pairs
    ]
    named = sorted(filter(None, panel.models))
    judge = request.llm.deciding
    if named:
        judge |= {"model": named[0]} if len(named) == 1 else {"model": None, "panel": named}
    if panel.votes > 1:
        judge |= {"votes": panel.votes}
    return digest_of_json({"pairs": compared, "judge": judge, "prompt": prompt_version(VERSION)})


def comparison_id_of(landed: Mapping[str, str], digest: str, *, anew: bool) -> str:
    """The last id under which the comparison of this `digest` has `landed`; a new id if it has not, or is judged `anew`."""
    same = [comparison_id for comparison_id, its in landed.items() if its == digest]
    return max(same) if same and not anew else derived_run_id(datetime.now(UTC), digest, landed)


def landed_comparisons(store: Store) -> dict[str, str]:
    """The digests of all comparisons of answers in the store, by their ids."""
    return {row["comparison_id"]: row["digest"] for row in store.tables.rows("preferences", ["comparison_id", "digest"])}
