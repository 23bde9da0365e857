"""What changed between two runs, by what they recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from eval_skills.core.store import Manifest, ManifestBenchmark, ManifestSkill
from eval_skills.core.trend.attribution import KINDS, NOTHING, Change, changes, fingerprints, summary, unrecorded
from tests.tables import each_row

OLD, NEW = "sha256:3f2a000011112222", "sha256:9b1c000011112222"
SKILL: dict[str, Any] = {"key": "adder@1.0.0", "digest": OLD, "adapter": "http", "adapter_digest": OLD}
BENCHMARK: dict[str, Any] = {"id": "sums", "version": "1.0.0", "digest": OLD}
FIELDS: dict[str, Any] = {
    "scorers": {"exact_match": OLD},
    "request": {"evaluator": "exact", "retries": 0, "store": "a", "llm": {"model": "one"}},
    "versions": {"python": "3.11.1", "prefect": "3.8.8"},
    "platform": "Linux",
    "git_commit": "a" * 40,
}


def manifest(skill: dict[str, Any] | None = None, benchmark: dict[str, Any] | None = None, **fields: Any) -> Manifest:
    return Manifest(
        run_id="20260101T000000Z-0001",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        skills=[ManifestSkill(**SKILL | (skill or {}))],
        benchmark=ManifestBenchmark(**BENCHMARK | (benchmark or {})),
        planned_items=1,
        **FIELDS | fields,
    )


BEFORE = fingerprints(manifest(), "adder@1.0.0", {"t0": OLD, "t1": OLD})


def after(key: str = "adder@1.0.0", /, *, tasks: dict[str, str] | None = None, **parts: Any) -> list[Change]:
    return changes(BEFORE, fingerprints(manifest(**parts), key, {"t0": OLD, "t1": OLD} if tasks is None else tasks))


@each_row(
    ("found", "says"),
    [
        pytest.param(after(), NOTHING, id="nothing"),
        pytest.param(after(skill={"digest": NEW}), "skill digest 3f2a→9b1c", id="skill"),
        pytest.param(after("adder@1.1.0", skill={"key": "adder@1.1.0", "digest": NEW}), "skill 1.0.0→1.1.0", id="skill-version"),
        pytest.param(after(benchmark={"version": "1.1.0", "digest": NEW}), "benchmark 1.0.0→1.1.0", id="benchmark-version"),
        pytest.param(after(benchmark={"digest": NEW}), "benchmark digest 3f2a→9b1c", id="benchmark-digest"),
        pytest.param(after(skill={"adapter": "mcp"}), "adapter http→mcp", id="adapter"),
        pytest.param(after(skill={"adapter_digest": NEW}), "adapter configuration 3f2a→9b1c", id="adapter-configuration"),
        pytest.param(after(tasks={"t0": NEW, "t1": OLD}), "task t0 changed", id="task"),
        pytest.param(after(tasks={"t0": OLD, "t2": OLD}), "task t1 removed, task t2 added", id="task-set"),
        pytest.param(after(tasks=dict.fromkeys(("t0", "t1", "t2"), NEW)), "3 tasks (t0, t1 and 1 more)", id="many-tasks"),
        pytest.param(after(scorers={"exact_match": NEW}), "scorer exact_match changed", id="scorer"),
        pytest.param(after(request={**FIELDS["request"], "llm": {"model": "two"}}), "judge model one→two", id="judge"),
        pytest.param(
            after(request={**FIELDS["request"], "llm": {"model": "one", "temperature": 0.5}}),
            "judge temperature 0.0→0.5",
            id="hot",
        ),
        pytest.param(after(request={**FIELDS["request"], "retries": 2}), "option retries 0→2", id="option"),
        pytest.param(after(request={**FIELDS["request"], "store": "b"}), NOTHING, id="what-decides-nothing"),
        pytest.param(after(versions={"python": "3.12.0", "prefect": "3.8.8"}), "python 3.11.1→3.12.0", id="python"),
        pytest.param(after(platform="Darwin"), "platform Linux→Darwin", id="platform"),
        pytest.param(after(versions={"python": "3.11.1", "prefect": "3.9.0"}), "prefect 3.8.8→3.9.0", id="version"),
        pytest.param(after(git_commit="b" * 40), "commit aaaa→bbbb", id="commit"),
        pytest.param(after(request={**FIELDS["request"], "origin": "replay"}), "origin run→replay", id="origin"),
        pytest.param(
            after(skill={"digest": NEW}, benchmark={"version": "1.1.0"}),
            "skill digest 3f2a→9b1c, benchmark 1.0.0→1.1.0",
            id="several-in-the-order-of-causes",
        ),
    ],
)
def test_each_fingerprint_is_seen_and_named(found: list[Change], says: str) -> None:
    assert summary(found) == says


def test_the_order_is_that_in_which_people_look() -> None:
    found = after(skill={"digest": NEW, "adapter": "mcp"}, git_commit="b" * 40, platform="Darwin", scorers={"exact_match": NEW})
    places = [KINDS.index(change.kind) for change in found]
    assert places == sorted(places)


def test_what_an_older_manifest_does_not_say_is_unrecorded_and_no_change() -> None:
    old = fingerprints(manifest(skill={"adapter": None, "adapter_digest": None}, scorers=None), "adder@1.0.0")
    assert changes(old, BEFORE) == []
    assert unrecorded(old, BEFORE) == ["adapter", "task", "scorer"]
    assert unrecorded(BEFORE, BEFORE) == []


def test_a_version_that_was_not_recorded_before_is_no_change() -> None:
    assert after(versions={"python": "3.11.1", "prefect": "3.8.8", "pandas": "3.0"}) == []


def test_a_manifest_of_before_is_still_read() -> None:
    data = manifest().to_json()
    del data["scorers"], data["skills"][0]["adapter"], data["skills"][0]["adapterDigest"]
    read = Manifest.model_validate(data)
    assert (read.scorers, read.skills[0].adapter, read.skills[0].adapter_digest) == (None, None, None)


def test_digests_with_a_common_beginning_are_told_apart() -> None:
    change = Change("skill", "digest", "sha256:abcdef0000000000", "sha256:abcdef1000000000")
    assert change.text == "skill digest abcdef0→abcdef1"
