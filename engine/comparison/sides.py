"""The two sides of a comparison: a skill of a run each, with its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import ItemResult
from eval_skills.core.models.report import MISSING_KINDS
from eval_skills.core.models.result import ItemKey
from eval_skills.core.store import Store, results_of
from eval_skills.core.store.retention import pruned_words
from eval_skills.core.text import nearest
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.rescoring.plan import has_answer
from eval_skills.engine.stored_runs.run_ids import resolve_run_id


@dataclass(frozen=True, slots=True)
class Side:
    """One skill of one run, with its items that have a whole answer, no answer, or one that was cut when it landed.

    `without` says of each that has none whether the skill failed to give it, or something else kept it away.
    """

    run_id: str
    skill: str
    benchmark: str
    answers: dict[tuple[str, int], ItemResult]
    without: dict[tuple[str, int], bool]
    cut: set[tuple[str, int]]

    @property
    def keys(self) -> set[tuple[str, int]]:
        """Every task and run index of its items."""
        return self.answers.keys() | self.without.keys() | self.cut


def sides_of(store: Store, request: CompareRequest) -> tuple[Side, Side]:
    """Both sides of a comparison. Raises UserError: a run or skill does not exist, or it is ambiguous which one is meant."""
    of_a, of_b = (_items(store, given) for given in (request.run_a, request.run_b))
    keys_a, keys_b = (sorted({each.skill_key for each in items}) for _, items, _ in (of_a, of_b))
    skill_a, skill_b = _chosen(keys_a, request.skill_a, "--skill-a"), _chosen(keys_b, request.skill_b, "--skill-b")
    skill_a, skill_b = _matched(skill_a, skill_b, keys_a, keys_b)
    return _side(*of_a, skill_a), _side(*of_b, skill_b)


def _items(store: Store, given: str) -> tuple[str, list[ItemResult], set[ItemKey]]:
    """The run's id, its items, and the keys of those whose answer was cut when it landed."""
    run_id = resolve_run_id(store, given, "nothing to compare")
    table = store.item_table(run_id)
    if not table.num_rows:
        unfinished = f"run {run_id} has no finished item yet; continue with --resume {run_id}"
        why = f"{pruned}: no answers to compare" if (pruned := pruned_words(store, run_id)) else unfinished
        raise InputError(why, source=store.path)
    results = results_of(table)
    cut = {each.key for each, was_cut in zip(results, table["output_truncated"].to_pylist(), strict=True) if was_cut}
    return run_id, results, cut


def _chosen(keys: Sequence[str], named: str | None, option: str) -> str | None:
    if named is None:
        return keys[0] if len(keys) == 1 else None
    found = [key for key in keys if named in (key, key.rpartition("@")[0])]
    if not found:
        ids = [key.rpartition("@")[0] for key in keys]
        raise UsageError(f"{option} {named!r} is not in that run{nearest(named, [*ids, *keys])}; it has {', '.join(keys)}")
    if len(found) > 1:
        raise UsageError(f"{option} {named!r} is ambiguous; name one of {', '.join(found)}")
    return found[0]


def _matched(a: str | None, b: str | None, keys_a: Sequence[str], keys_b: Sequence[str]) -> tuple[str, str]:
    """The skills of both sides: where one is not named and there are several, the one like the other side's."""
    if a is None and b is None:
        both = sorted(set(keys_a) & set(keys_b))
        if len(both) != 1:
            raise UsageError(
                f"both runs have several skills; name one of each with --skill-a ({', '.join(keys_a)}) and --skill-b "
                f"({', '.join(keys_b)})"
            )
        return both[0], both[0]
    return a or _like(str(b), keys_a, "--skill-a"), b or _like(str(a), keys_b, "--skill-b")


def _like(other: str, keys: Sequence[str], option: str) -> str:
    same_id = [key for key in keys if key.rpartition("@")[0] == other.rpartition("@")[0]]
    if other in keys or len(same_id) == 1:
        return other if other in keys else same_id[0]
    raise UsageError(f"that run has several skills; name one with {option}: {', '.join(keys)}")


def _side(run_id: str, items: Iterable[ItemResult], cut: set[ItemKey], skill: str) -> Side:
    own = {(item.task_id, item.run_index): item for item in items if item.skill_key == skill}
    without = {key: item.error_kind not in MISSING_KINDS for key, item in own.items() if not has_answer(item)}
    shortened = {key for key, item in own.items() if item.key in cut and key not in without}
    answers = {key: item for key, item in own.items() if key not in without.keys() | shortened}
    return Side(run_id, skill, next(iter(own.values())).benchmark_id, answers, without, shortened)
