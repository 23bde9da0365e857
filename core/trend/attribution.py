"""What changed from run to run, according to what the runs recorded of themselves.

A fingerprint that only one of two runs recorded shows nothing: it is unrecorded, which is not the same as unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, Literal, get_args

from eval_skills.core.store.store import PART, is_primary

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.core.store import Manifest, PastRun, Store

Kind = Literal["skill", "adapter", "benchmark", "task", "scorer", "judge", "option", "version", "environment", "origin", "commit"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What a run records, in the order in which people look for a cause."""

Fingerprints = Mapping[Kind, Mapping[str, str]]
"""By kind, then name; a kind that the run did not record is missing."""

NOTHING = "no recorded change: look outside (service, model, data)"

_OPTIONS = (
    "evaluator", "weights", "toolCategories", "toolNames", "allowCustomCode", "taskTags",
    "runs", "timeoutMs", "retries", "concurrency",
)  # fmt: skip
"""What of a request can change a result."""

_JUDGE = ("llm", "judge")
_NOT_JUDGING = frozenset({"apiKeyEnv", "timeoutMs", "inputPrice", "outputPrice", "cacheDir"})
"""What of a judge's settings changes no verdict."""

_SETS = frozenset({"task", "scorer"})
"""Kinds whose names are all there are: one that is missing was removed. In the others it was not recorded."""

_SHORTEST_DIGEST, _NAMED = 4, 2


@dataclass(frozen=True, slots=True)
class Change:
    """One fingerprint that differs; None is what was not there on that side: a task that joined, a scorer that left."""

    kind: Kind
    name: str
    before: str | None
    after: str | None

    @property
    def text(self) -> str:
        """For people: ``skill digest 3f2a→9b1c``, ``benchmark 1.0.0→1.1.0``, ``task add-1 removed``."""
        if self.kind in _SETS:
            how = "added" if self.before is None else "removed" if self.after is None else "changed"
            return f"{self.kind} {self.name} {how}"
        before, after = _shortened(self.before or "none", self.after or "none")
        what = self.name if self.kind in ("version", "environment") else self.kind
        plain = self.name in (what, "version", "type")
        return f"{what}{'' if plain else f' {self.name}'} {before}→{after}"

    def to_json(self) -> dict[str, str | None]:
        """Kind, name, before and after."""
        return {"kind": self.kind, "name": self.name, "before": self.before, "after": self.after}


def fingerprints(manifest: Manifest, skill: str, tasks: Mapping[str, str] | None = None) -> Fingerprints:
    """What a run recorded of itself and of one skill (``id@version``); `tasks` are the digests of its tasks by id, if known.

    Manifests of older versions lack the adapter and the scorers.
    """
    found: dict[Kind, dict[str, str | None]] = {kind: {} for kind in KINDS}
    for each in manifest.skills:
        if each.key == skill:
            found["skill"] = {"version": skill.partition("@")[2] or None, "digest": each.digest}
            found["adapter"] = {"type": each.adapter, "configuration": each.adapter_digest}
    found["benchmark"] = {"version": manifest.benchmark.version, "digest": manifest.benchmark.digest}
    found["task"], found["scorer"] = dict(tasks or {}), dict(manifest.scorers or {})
    found["option"] = {name: _text(manifest.request[name]) for name in _OPTIONS if name in manifest.request}
    found["judge"] = dict(_judge(manifest.request))
    versions = dict(manifest.versions)
    found["environment"] = {"python": versions.pop("python", None), "platform": manifest.platform}
    found["version"] = dict(versions)
    found["origin"] = {"origin": manifest.origin}
    found["commit"] = {"commit": manifest.git_commit}
    recorded = {kind: {name: value for name, value in names.items() if value is not None} for kind, names in found.items()}
    return {kind: names for kind, names in recorded.items() if names}


def changes(before: Fingerprints, after: Fingerprints) -> list[Change]:
    """What differs, in the order of `KINDS`, then by name as the runs recorded them."""
    return [change for kind in KINDS if kind in before and kind in after for change in _changes(kind, before[kind], after[kind])]


def unrecorded(before: Fingerprints, after: Fingerprints) -> list[Kind]:
    """The kinds that only one of the two runs recorded, so that it is unknown whether they changed."""
    return [kind for kind in KINDS if (kind in before) != (kind in after)]


def summary(found: Sequence[Change]) -> str:
    """All of it in one line; `NOTHING` if there is nothing.

    The digest of a thing whose version changed is left out, and so are the names of more than two tasks.
    """
    versions = {change.kind for change in found if change.name == "version"}
    shown = [change for change in found if not (change.name == "digest" and change.kind in versions)]
    parts: list[str] = []
    for kind, group in groupby(shown, key=lambda change: change.kind):
        parts += _texts(kind, list(group))
    return ", ".join(parts) or NOTHING


def _changes(kind: Kind, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new and (kind in _SETS or None not in (old, new)):
            yield Change(kind, name, old, new)


def _texts(kind: Kind, found: Sequence[Change]) -> Iterable[str]:
    if kind not in _SETS or len(found) <= _NAMED:
        return [change.text for change in found]
    named = ", ".join(change.name for change in found[:_NAMED])
    return [f"{len(found)} {kind}s ({named} and {len(found) - _NAMED} more)"]


def _judge(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _JUDGE:
        value = request.get(key)
        if isinstance(value, dict):
            said = {name: each for name, each in value.items() if each is not None and name not in _NOT_JUDGING}
            if said:
                said.setdefault("temperature", 0.0)  # what is not set is not unrecorded
            yield from ((name, _text(each)) for name, each in said.items())
        elif value is not None:
            yield key, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _shortened(before: str, after: str) -> tuple[str, str]:
    """Two digests or commits as far as they are needed to tell them apart; other texts as they are."""
    bare = [text.removeprefix("sha256:") for text in (before, after)]
    if not all(len(text) >= 16 and set(text) <= set("0123456789abcdef") for text in bare):
        return before, after
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*bare, strict=False)))
    length = max(_SHORTEST_DIGEST, common + 1)
    return bare[0][:length], bare[1][:length]


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What differs from the run `since`; each with the id of the skill that it is about, None if it is about all."""

    since: str
    found: list[tuple[str | None, Change]]

    @property
    def kinds(self) -> list[str]:
        """The kinds of what differs, each once."""
        return list(dict.fromkeys(change.kind for _, change in self.found))


def run_changes(store: Store, runs: Sequence[PastRun]) -> dict[str, RunChanges]:
    """For each of the runs, what changed since the one before it that asked the same benchmark of one of its skills.

    A run is left out where none came before it, or its own manifest cannot be read. A version of a skill is compared with itself
    where both runs asked it, else with the last named version of the run before.
    """
    manifest = cache(store.find_manifest)
    run_ids = store.run_ids()
    found: dict[str, RunChanges] = {}
    for run in runs:
        after = manifest(run.run_id)
        before = after and _before(after, run_ids[: run_ids.index(run.run_id)], manifest)
        if after and before:
            found[run.run_id] = RunChanges(before.run_id, list(_run_changes(before, after)))
    return found


def _before(after: Manifest, earlier: Sequence[str], manifest: Callable[[str], Manifest | None]) -> Manifest | None:
    candidates = (manifest(run_id) for run_id in reversed(earlier))
    return next((each for each in candidates if each and _is_comparable(each, after)), None)


def _is_comparable(before: Manifest, after: Manifest) -> bool:
    same = before.benchmark.id == after.benchmark.id and not _last_keys(before).keys().isdisjoint(_last_keys(after))
    return same and (_choice(before) == _choice(after) if after.origin == PART else is_primary(before.origin))


def _choice(manifest: Manifest) -> object:
    """Which part of its benchmark a run was asked."""
    return manifest.origin, *(manifest.request.get(name) for name in ("taskIds", "taskTags", "complexity", "filter"))


def _last_keys(manifest: Manifest) -> dict[str, str]:
    """By the id of a skill the last named of its versions (``id@version``)."""
    return {_id(skill.key): skill.key for skill in manifest.skills}


def _id(key: str) -> str:
    return key.partition("@")[0]


def _pairs(before: Manifest, after: Manifest) -> list[tuple[str, str]]:
    """The skills of both runs, as ``id@version`` before and after: versions that ran side by side did not follow each other."""
    asked, last = {skill.key for skill in before.skills}, _last_keys(before)
    return [
        (skill.key if skill.key in asked else last[_id(skill.key)], skill.key) for skill in after.skills if _id(skill.key) in last
    ]


def _run_changes(before: Manifest, after: Manifest) -> Iterator[tuple[str | None, Change]]:
    pairs = _pairs(before, after)
    for number, (old, new) in enumerate(pairs):
        for change in changes(fingerprints(before, old), fingerprints(after, new)):
            if change.kind in ("skill", "adapter"):
                yield _id(new), change
            elif number == len(pairs) - 1:  # what is not about a skill is the same for all of them
                yield None, change
