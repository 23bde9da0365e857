"""Several scorings of the same items: which one is current."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    from eval_skills.core.store.store import Store

_KEY = ("skill_id", "skill_version", "task_id", "run_index")


def current_items(store: Store, items: ds.Dataset) -> ds.Dataset:
    """The rows of all `items` without those that a later scoring of the same item replaces.

    `rescore` lands its scorings beside the run whose answers it judged. The last one that was made counts; what it left out keeps
    the scoring it had.
    """
    import pyarrow.dataset as ds

    rescored = ds.field("origin") == "rescore"
    found = items.to_table(columns=["run_id"], filter=rescored)["run_id"].unique().to_pylist()
    replaced = [expression for of, scorings in _chains(store, found).items() for expression in _replaced(items, [of, *scorings])]
    return items.filter(~reduce(or_, replaced)) if replaced else items


def _chains(store: Store, rescorings: list[str]) -> dict[str, list[str]]:
    """The scorings of each run, in the order in which they were made; one whose manifest does not name its run is none."""
    manifests = [manifest for run_id in rescorings if (manifest := store.find_manifest(run_id)) is not None]
    chains: dict[str, list[str]] = {}
    for manifest in sorted(manifests, key=lambda manifest: (manifest.created_at, manifest.run_id)):
        if of := manifest.provenance.get("of"):
            chains.setdefault(str(of), []).append(manifest.run_id)
    return chains


def _replaced(items: ds.Dataset, chain: list[str]) -> list[pc.Expression]:
    """For each scoring but the last, the condition of its rows that a later one has, too."""
    import pyarrow.dataset as ds

    table = items.to_table(columns=["run_id", *_KEY], filter=ds.field("run_id").isin(chain))
    keys: dict[str, set[tuple[Any, ...]]] = {run_id: set() for run_id in chain}
    for row in table.to_pylist():
        keys[row["run_id"]].add(tuple(row[name] for name in _KEY))
    conditions, later = [], set[tuple[Any, ...]]()
    for newer, older in zip(chain[:0:-1], chain[-2::-1], strict=True):
        later |= keys[newer]
        condition = ds.field("run_id") == older
        for kept in keys[older] - later:
            condition &= ~reduce(and_, (ds.field(name) == value for name, value in zip(_KEY, kept, strict=True)))
        conditions.append(condition)
    return conditions
