"""Recorded runs instead of calls: the position of each item's answer in a trace file, or in a recording of live runs."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from eval_skills.adapters.recorded import MAX_RUNS, RecordedRun, read_recorded
from eval_skills.core.documents.loading import MAX_DOCUMENT_BYTES
from eval_skills.core.errors import InfraError, InputError, UsageError
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models import Benchmark, EvalTask, Skill
from eval_skills.core.models.result import ItemKey
from eval_skills.core.text import nearest
from eval_skills.engine.definition.benchmark import resolve_benchmark, with_every_task
from eval_skills.engine.definition.request import EvaluateRequest

RECORDED = "recorded"
"""The type of adapter of a skill that is not called."""

UNVERSIONED = "0.0.0"


@dataclass(frozen=True, slots=True)
class Recordings:
    """The runs of a trace file, all of them checked, without their answers: those are read when an item needs them.

    `offsets` are the positions in the file of each item's line; `runs` (by skill) how often it answered, `digests` the digest of
    its lines. `stamp` is the size and time of the file: a file that was changed since is not read.
    """

    file: Path
    stamp: tuple[int, int]
    skills: list[Skill]
    offsets: dict[ItemKey, int]
    runs: dict[str, int]
    digests: dict[str, str]

    def answering(self, skills: Sequence[Skill]) -> Recordings:
        """The same runs as those of `skills`, by ``id@version``; where another version of one was recorded, its runs are taken.

        Raises:
            InputError: there is none of a skill, or there are several other versions of it.
        """
        recorded = {skill.key: self._recorded_of(skill) for skill in skills}
        offsets = {
            (key, task, run): offset
            for key, source in recorded.items()
            for (skill, task, run), offset in self.offsets.items()
            if skill == source
        }
        runs = {key: self.runs[source] for key, source in recorded.items()}
        digests = {key: self.digests[source] for key, source in recorded.items()}
        return replace(self, skills=list(skills), offsets=offsets, runs=runs, digests=digests)

    def _recorded_of(self, skill: Skill) -> str:
        if skill.key in self.runs:
            return skill.key
        versions = [each.key for each in self.skills if each.id == skill.id]
        if len(versions) == 1:
            return versions[0]
        held = ", ".join(sorted(self.runs))
        which = f"several versions of {skill.id}, and not {skill.version}" if versions else f"no run of {skill.key}"
        raise InputError(f"the file has {which}, but {held}; record it anew with --record", source=self.file)

    def check(self) -> None:
        """Refuse a file that is missing or was changed, with an InputError."""
        with self._unchanged():
            pass

    def run_of(self, key: ItemKey) -> RecordedRun | None:
        """The recorded run of an item; None where the file holds none.

        Raises:
            InfraError: the file is gone, or was changed since it was checked.
        """
        if (offset := self.offsets.get(key)) is None:
            return None
        try:
            with self._unchanged() as file:
                file.seek(offset)
                return read_recorded(file.readline(), str(self.file))
        except (InputError, OSError) as error:
            raise InfraError(f"the recorded run cannot be read: {error}") from None

    @contextmanager
    def _unchanged(self) -> Iterator[BinaryIO]:
        with _opened(self.file) as file:
            if _stamp(file) != self.stamp:
                raise InputError("changed while it was being scored", source=self.file)
            yield file

    def of_other_versions(self, source: Recordings) -> list[str]:
        """A remark for each skill whose runs are those of another version, as `answering` took them from `source`."""
        return [
            f"the answers of {skill.key} were recorded from {taken}"
            for skill in self.skills
            if (taken := source._recorded_of(skill)) != skill.key
        ]

    def gaps(self, items: Mapping[ItemKey, str]) -> list[str]:
        """Remarks on `items` (with their names) that have no record, and on records of other tasks."""
        gaps, others = self.missing(items), len(self.offsets) - sum(key in self.offsets for key in items)
        if others:
            gaps.append(f"{others} of {len(self.offsets)} lines are about tasks that are not selected, and are left out")
        return gaps

    def missing(self, items: Mapping[ItemKey, str]) -> list[str]:
        """A remark on those of `items` (with their names) that have no record; empty where all have."""
        names = [name for key, name in items.items() if key not in self.offsets]
        if not names:
            return []
        few = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        return [f"{len(names)} of {len(items)} items have no line in {self.file.name} and end as errors: {few}"]


def request_of_recordings(request: EvaluateRequest, benchmark: Benchmark) -> tuple[EvaluateRequest, Recordings]:
    """The recorded runs of `request.traces`, and the request to score them: as many runs as there are, each in one attempt.

    Raises:
        UsageError: the benchmark inspects folders.
        UserError: the trace file cannot be used; see `read_recordings`.
    """
    if benchmark.subject != "call":
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and recorded runs have none; evaluate the skill")
    every = with_every_task(request)
    everything = benchmark if every == request else resolve_benchmark(every)[0]
    recordings = read_recordings(
        Path(str(request.traces)),
        tasks={task.id for task in everything.tasks},
        benchmark=benchmark.id,
        skill=request.trace_skill,
    )
    about = {"mode": "traces", "file": str(recordings.file), "runs": len(recordings.offsets), "digests": recordings.digests}
    runs, provenance = max(recordings.runs.values()), {**request.provenance, **about}
    asked = {"runs": runs, "retries": 0, "origin": "traces", "provenance": provenance}
    return request.model_copy(update=asked), recordings


def request_of_replay(
    request: EvaluateRequest, benchmark: Benchmark, skills: Sequence[Skill]
) -> tuple[EvaluateRequest, Recordings, list[str]]:
    """The recorded runs of `request.replay` as those of `skills`, the request to judge them, each in one attempt, and remarks.

    Tasks that were recorded and are asked no more do not matter.

    Raises:
        UsageError: the benchmark inspects folders.
        InputError: the file cannot be used (see `read_recordings`), or has no run of a skill.
    """
    if benchmark.subject != "call":
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder and calls nothing; leave --replay out")
    source = read_recordings(Path(str(request.replay)), tasks=None, benchmark=benchmark.id)
    recordings = source.answering(skills)
    about = {"mode": "replay", "file": str(recordings.file), "digests": recordings.digests}
    asked = {"retries": 0, "origin": "traces", "provenance": {**request.provenance, **about}}
    return request.model_copy(update=asked), recordings, recordings.of_other_versions(source)


def asked_digest(task: EvalTask) -> str:
    """The digest of what a task asks a skill: its input, or those of its turns. Expectations do not count."""
    return digest_of_json(task.asked)


def read_recordings(path: Path, *, tasks: Collection[str] | None, benchmark: str, skill: str | None = None) -> Recordings:
    """Check every line of a trace file and remember its position; one line is in memory at a time.

    A line that names no skill belongs to `skill` (``id`` or ``id@version``), by default the file's name. Blank lines count in
    line numbers only. `tasks` are the ids that `benchmark` has; None: lines about any task will do.

    Raises:
        InputError: the file is missing, not a regular file, or holds no run; a line is malformed, is about an unknown task,
            repeats an item, or does not say which of several skills it is about. The message names file and line.
        UsageError: `skill` is given and every line names its own.
    """
    index = _Index(path, tasks, benchmark, skill)
    with _opened(path) as file:
        stamp = _stamp(file)
        for number, offset, line in _lines(file, path):
            index.add(read_recorded(line, f"{path}:{number}"), line, number, offset)
    return index.done(stamp)


@dataclass(slots=True)
class _Index:
    path: Path
    tasks: Collection[str] | None
    benchmark: str
    named: str | None
    offsets: dict[ItemKey, int] = field(default_factory=dict)
    skills: dict[str | None, Skill] = field(default_factory=dict)
    lines: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, Any] = field(default_factory=dict)

    def add(self, run: RecordedRun, line: bytes, number: int, offset: int) -> None:
        place = f"{self.path}:{number}"
        if self.tasks is not None and run.task_id not in self.tasks:
            hint = nearest(run.task_id, self.tasks) or "; name the tasks of these runs with --tasks or --benchmark"
            raise InputError(f"benchmark {self.benchmark!r} has no task {run.task_id!r}{hint}", source=place)
        skill = self._skill(run.skill_key, place).key
        index = self.lines[skill, run.task_id] if run.run_index is None else run.run_index
        if index >= MAX_RUNS:
            raise InputError(f"more than {MAX_RUNS} runs of task {run.task_id!r} by {skill}", source=place)
        key = (skill, run.task_id, index)
        if (before := self.offsets.setdefault(key, offset)) != offset:
            raise InputError(
                f"{skill}/{run.task_id}#{index + 1} is in line {self._line_at(before)} already; "
                "give every line of a task its own runIndex, or give none to any of them",
                source=place,
            )
        self.lines[skill, run.task_id] += 1
        self.runs[skill] = max(self.runs.get(skill, 0), index + 1)
        self.hashes[skill].update(line.strip() + b"\n")

    def done(self, stamp: tuple[int, int]) -> Recordings:
        if not self.offsets:
            raise InputError("the file has no recorded run; write one JSON object per line", source=self.path)
        if self.named is not None and None not in self.skills:
            raise UsageError(f"--trace-skill is for lines that name no skill, and every line of {self.path} names its own")
        skills = {skill.key: skill for skill in self.skills.values()}
        digests = {key: f"sha256:{self.hashes[key].hexdigest()[:16]}" for key in skills}
        return Recordings(self.path.resolve(), stamp, list(skills.values()), self.offsets, self.runs, digests)

    def _skill(self, given: str | None, place: str) -> Skill:
        if given not in self.skills:
            source = "--trace-skill" if given is None and self.named else place
            file_name = re.sub(r"[^a-z0-9_-]+", "-", self.path.stem.lower()).strip("-") or "traces"
            skill = self.skills[given] = recorded_skill(given or self.named or file_name, self.path, source)
            self.hashes.setdefault(skill.key, hashlib.sha256())
            if self.named is None and None in self.skills and len(self.skills) > 1:
                raise InputError(
                    "some lines name a skill and others do not; name it in all of them, or give --trace-skill", source=place
                )
        return self.skills[given]

    def _line_at(self, offset: int) -> int:
        with self.path.open("rb") as file:
            left, number = offset, 1
            while left > 0 and (chunk := file.read(min(left, 1 << 20))):
                left, number = left - len(chunk), number + chunk.count(b"\n")
        return number


def recorded_skill(given: str, file: Path, place: str) -> Skill:
    """The skill (``id`` or ``id@version``, by default version 0.0.0) whose runs were recorded in `file`. It cannot be called.

    Raises:
        InputError: `given` is not such a name; the message starts with `place`.
    """
    name, at, version = given.partition("@")
    identity = {"id": name, "version": version if at else UNVERSIONED}
    try:
        skill = Skill.model_validate({**identity, "name": name, "adapterType": "custom", "entrypoint": file.name})
    except ValidationError:
        message = (
            f"{given!r} does not name a skill; write an id of a-z, 0-9, _ and -, with or without a version: trip-agent@1.2.0"
        )
        raise InputError(message, source=place) from None
    return skill.model_copy(update={"adapter_type": RECORDED})


def _opened(path: Path) -> BinaryIO:
    try:
        if path.exists() and not path.is_file():
            raise InputError("this is a folder; name a file" if path.is_dir() else "not a regular file", source=path)
        return path.open("rb")
    except FileNotFoundError:
        raise InputError("no such file of recorded runs", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _stamp(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status[stat.ST_SIZE], status.st_mtime_ns


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """The lines that are not blank, with number (from 1) and offset."""
    number = offset = 0
    while line := file.readline(MAX_DOCUMENT_BYTES + 1):
        number += 1
        if len(line) > MAX_DOCUMENT_BYTES:
            raise InputError(f"the line is longer than {MAX_DOCUMENT_BYTES:,} bytes", source=f"{path}:{number}")
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            yield number, offset, line
        offset += len(line)
