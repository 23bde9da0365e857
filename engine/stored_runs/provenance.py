"""Where a stored run comes from, as its manifest says: what it was made of, with which versions, and the command to repeat it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from eval_skills.core.config.options import option_of
from eval_skills.core.store.manifest import Manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.reporting.context import Provenance

_REPEATED = ("task_ids", "task_tags", "tasks_from", "complexity", "filter")
"""Lists of a request that narrow what is asked."""


def provenance_of(manifest: Manifest | None, request: EvaluateRequest | None) -> Provenance | None:
    """What the manifest of a run says of its origin; None without one. `request` is the one in it, as far as it can be read."""
    if manifest is None:
        return None
    benchmark = manifest.benchmark
    facts = {
        "Benchmark": _with_digest(f"{benchmark.id}@{benchmark.version}", benchmark.digest),
        **{f"Skill {skill.key}": _with_digest(skill.adapter or "adapter unknown", skill.digest) for skill in manifest.skills},
        **{f"Scorer {name}": digest for name, digest in (manifest.scorers or {}).items()},
        "Judging model asked for": (request and request.llm.model) or "none",
        "Git commit": manifest.git_commit or "unknown",
        "Versions": ", ".join(f"{name} {number}" for name, number in manifest.versions.items()) or "unknown",
        "Platform": manifest.platform or "unknown",
    }
    words = repeating_words(manifest, request)
    return Provenance(facts, None if words is None else shlex.join(map(_from_here, words)))


def repeating_words(manifest: Manifest, request: EvaluateRequest | None) -> list[str] | None:
    """The words of the command that evaluates the same skills on the same tasks; None where the command line cannot: a skill was
    a function, or the rows are of later work.

    What only a configuration file can say, such as weights, is to be configured as it was.
    """
    if request is None or manifest.origin not in ("run", "part"):
        return None
    if request.traces:
        skill = ["--trace-skill", request.trace_skill] if request.trace_skill else []
        asked = ["--traces", str(request.traces), *skill, *asked_words(request)]
    else:
        paths = [skill.path for skill in manifest.skills if skill.path is not None]
        if not paths or len(paths) < len(manifest.skills):
            return None
        replayed = ["--replay", request.replay] if request.replay else []
        asked = ["--skills", *paths, *asked_words(request), *replayed]
    narrowed = [word for name in _REPEATED for word in _words(name, getattr(request, name))]
    narrowed += [] if request.first is None else ["--first", str(request.first)]
    runs = [] if request.runs == 1 else ["--runs", str(request.runs)]
    return ["eval-skills", "eval", *asked, *narrowed, *runs, *option_words(request)]


def _words(name: str, values: list[str]) -> list[str]:
    return [option_of(name), *map(str, values)] if values else []


def _with_digest(said: str, digest: str | None) -> str:
    return f"{said}, {digest or 'digest unknown'}"


def _from_here(word: str) -> str:
    path = Path(word)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else word


def asked_words(request: EvaluateRequest) -> list[str]:
    """The options that name the tasks of a request."""
    asked = ["--own-tests"] if request.own_tests else ["--tasks", str(request.tasks)] if request.tasks else _benchmark(request)
    return [*asked, *(["--map", *request.map] if request.map else [])]


def _benchmark(request: EvaluateRequest) -> list[str]:
    where = ["--benchmarks-dir", str(request.benchmarks_dir)] if request.benchmarks_dir else []
    return ["--benchmark", request.benchmark, *where]


def option_words(request: EvaluateRequest) -> list[str]:
    """What the call said beside what is asked, as far as it changes what one item gives."""
    usual = EvaluateRequest()
    given: list[tuple[str, Any, Any]] = [
        ("--evaluator", request.evaluator, usual.evaluator),
        ("--timeout", request.timeout_ms, usual.timeout_ms),
        ("--sandbox", request.sandbox, usual.sandbox),
        ("--judge-model", request.llm.model, usual.llm.model),
    ]
    words = [word for option, value, default in given if value != default for word in (option, str(value))]
    return [*words, *(["--allow-custom-code"] if request.allow_custom_code else [])]
