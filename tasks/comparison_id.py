"""The id under which a comparison of answers lands. Plain: no Prefect."""

from __future__ import annotations

from datetime import UTC, datetime

from eval_skills.core.store import Store, derived_run_id


def comparison_id_of(store: Store, digest: str, *, anew: bool) -> str:
    """That of the same comparison where it has landed before, the last of several; one that is to be judged anew has its own."""
    landed = landed_comparisons(store)
    same = [comparison_id for comparison_id, its in landed.items() if its == digest]
    return max(same) if same and not anew else derived_run_id(datetime.now(UTC), digest, landed)


def landed_comparisons(store: Store) -> dict[str, str]:
    """The digests of all comparisons of answers in the store, by their ids."""
    return {row["comparison_id"]: row["digest"] for row in store.tables.rows("preferences", ["comparison_id", "digest"])}
