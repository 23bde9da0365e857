"""The arms of an experiment as folders: an agent each, with the Agent Skills that it has in that arm.

::

    <root>/<digest>/<arm>/skill.json                  the agent, called by the adapter `agent`
    <root>/<digest>/<arm>/skills/<name>/SKILL.md …    what is installed: a snapshot, without ``evals/``
    <root>/<digest>/<arm>/fixtures/…                  the files that tasks name

They are named by what they hold and never change: a run that is resumed later has the same arms, whatever became of the sources.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eval_skills.adapters.agent.workspace import install_skills
from eval_skills.agent_skills.fixtures import files_of
from eval_skills.agent_skills.folder import AgentSkill, read_agent_skill
from eval_skills.core.errors import InfraError, InputError, UsageError
from eval_skills.core.fingerprint import digest_of_folder
from eval_skills.core.models import Benchmark
from eval_skills.core.models.base import Model
from eval_skills.core.skill_effect.model import Arm, chosen_arms
from eval_skills.core.store.files import PRIVATE, make_folder
from eval_skills.engine.definition.request import check_folder
from eval_skills.engine.definition.revisions import Repository
from eval_skills.engine.skill_effect.sham import sham_of

MAX_BYTES = 500_000_000
"""So much the fixtures of all tasks may hold."""

SKILLS, FIXTURES = "skills", "fixtures"
ARM_VERSION = "1.0.0"
_NOT_IN_IDS = re.compile(r"[^a-z0-9_-]+")


class Agent(Model):
    """The agent of all arms: its `runtime`, its `model`, and what else its `adapterConfig` says."""

    runtime: str
    model: str | None = None
    config: dict[str, Any] = {}  # noqa: RUF012 - a frozen model


@dataclass(frozen=True, slots=True)
class Arms:
    """The folders of the arms below `folder`, the ids of their skills, and the names of the Agent Skills that they are about.

    `sources` are the folders that those were installed from.
    """

    folder: Path
    arms: Mapping[Arm, Path]
    keys: Mapping[Arm, str]
    names: list[str]
    remarks: list[str]
    sources: list[str] = field(default_factory=list)


def arms_asked(named: Sequence[str] | None, old: str | None, *, option: str) -> list[Arm]:
    """The arms that were `named`, in their order, and ``old`` where there is an earlier version; by default with and without.

    Raises:
        UsageError: one does not exist, or there is nothing to compare with; the message begins with `option`.
    """
    try:
        return chosen_arms(named, old)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def make_arms(
    sources: Sequence[Path],
    arms: Sequence[Arm],
    agent: Agent,
    benchmark: Benchmark,
    *,
    files_in: Sequence[Path],
    root: Path,
    old: str | None = None,
    called: str | None = None,
) -> Arms:
    """Write the arms, unless they are there; `files_in` are the folders in which the tasks' files are looked for, in this order.

    `old` is the earlier version: a folder, or a git revision of the Agent Skills. `called` is what the ids of the arms' skills
    begin with, in place of the name of the first Agent Skill.

    Raises:
        InputError: a source is not an Agent Skill, two have one name, or a file that a task names is not there.
        UsageError: the arm ``old`` has no earlier version, or that does not hold the Agent Skills; `root` cannot be written to.
    """
    if ("old" in arms) != (old is not None):
        raise UsageError(
            "the arm old needs an earlier version, and only it does: give --old with a git revision such as HEAD~1, or a folder"
        )
    skills = [read_agent_skill(source) for source in sources]
    names = _distinct_names(skills)
    ident = _id_of(names if called is None else [called])
    check_folder(root, "--store", "the arms")
    make_folder(root, PRIVATE)
    with tempfile.TemporaryDirectory(dir=root, prefix=".new-") as made:
        new = Path(made) / "arms"
        for arm in arms:
            with _sources_of(arm, skills, old, root) as installed:
                _write_arm(new / arm, f"{ident}-{arm}", arm, installed, agent, names)
            _copy_fixtures(new / arm / FIXTURES, _files_of(benchmark), files_in)
        remarks = _same_as_now(new, arms)
        folder = _put(new, root)
    keys: dict[Arm, str] = {arm: f"{ident}-{arm}@{ARM_VERSION}" for arm in arms}
    return Arms(
        folder, {arm: folder / arm for arm in arms}, keys, names, remarks, [str(skill.folder.resolve()) for skill in skills]
    )


def _distinct_names(skills: Sequence[AgentSkill]) -> list[str]:
    names = [skill.name for skill in skills]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two of the Agent Skills are called {twice!r}; an agent would see only one of them")
    return names


def _id_of(names: Sequence[str]) -> str:
    first = _NOT_IN_IDS.sub("-", names[0].lower()).strip("-") or "agent-skill"
    return first if len(names) == 1 else f"{first}-and-{len(names) - 1}-more"


@contextmanager
def _sources_of(arm: Arm, skills: Sequence[AgentSkill], old: str | None, root: Path) -> Iterator[list[Path]]:
    """The folders to install; those of an old revision are there as long as they are needed."""
    if arm != "old" or old is None:
        yield [] if arm == "without" else [skill.folder for skill in skills]
        return
    if Path(old).is_dir():
        yield [_earlier(Path(old), skills)]
        return
    repository = Repository(skills[0].folder)
    commit = repository.commit_of(old)
    with repository.checked_out(commit, root / ".revisions") as tree:
        yield [_within(tree, skill, repository, old) for skill in skills]


def _earlier(folder: Path, skills: Sequence[AgentSkill]) -> Path:
    """An earlier version that lies in a folder of its own."""
    if len(skills) > 1:
        raise UsageError(f"--old {folder}: a folder is an earlier version of one Agent Skill; give a revision for several")
    return read_agent_skill(folder).folder


def _within(tree: Path, skill: AgentSkill, repository: Repository, old: str) -> Path:
    there = tree / Repository(skill.folder).place
    if not (there / "SKILL.md").is_file():
        raise UsageError(f"--old {old}: revision {old} of {repository.path} has no Agent Skill {skill.name}; name a later one")
    return there


def _write_arm(place: Path, skill_id: str, arm: Arm, sources: Sequence[Path], agent: Agent, names: Sequence[str]) -> None:
    place.mkdir(parents=True)
    installed = [replace(read_agent_skill(source), name=name) for source, name in zip(sources, names, strict=False)]
    try:
        install_skills(installed, place / SKILLS)
    except InfraError as error:
        raise InputError(f"{error}; leave out what the agent does not need") from None
    for name in names if arm == "sham" else ():
        sham_of(place / SKILLS / name)
    config = {
        **agent.config,
        **({"model": agent.model} if agent.model else {}),
        "skills": [f"{SKILLS}/{name}" for name in names] if sources else [],
        "fixtures": FIXTURES,
        **({} if sources else {"watchedSkills": list(names)}),  # one that it loads all the same, it finds elsewhere
    }
    skill = {
        "id": skill_id,
        "name": f"{agent.runtime}, {arm} {', '.join(names)}",
        "version": ARM_VERSION,
        "description": f"The agent {agent.runtime} in the arm {arm} of an experiment with the Agent Skill {', '.join(names)}.",
        "adapterType": "agent",
        "entrypoint": agent.runtime,
        "adapterConfig": config,
    }
    (place / "skill.json").write_text(json.dumps(skill, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _files_of(benchmark: Benchmark) -> list[str]:
    """The names of the files that tasks are given, each once."""
    return list(dict.fromkeys(name for task in benchmark.tasks for name in files_of(task.input_data)))


def _copy_fixtures(place: Path, names: Iterable[str], folders: Sequence[Path]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    size = 0
    for name in names:
        file = _found(name, folders)
        size += file.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"the files that tasks name hold more than {MAX_BYTES:,} bytes; use smaller ones", source=file)
        copy = place / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)


def _found(name: str, folders: Sequence[Path]) -> Path:
    for folder in folders:
        file = (folder / name).resolve()
        if file.is_relative_to(folder.resolve()) and file.is_file():
            return file
    looked = " or ".join(str(folder) for folder in dict.fromkeys(folders))
    raise InputError(f"a task names the file {name!r}, and it is not in {looked}")


def _same_as_now(new: Path, arms: Sequence[Arm]) -> list[str]:
    """Remarks on arms that hold the same as the arm ``with``."""
    same = {
        "old": "the Agent Skill is the same in both revisions: the arms old and with differ by chance alone",
        "sham": "the Agent Skill has no text below its description: the arms sham and with differ by chance alone",
    }
    digests = {arm: digest_of_folder(new / arm / SKILLS) for arm in arms if arm != "without"}
    return [said for arm, said in same.items() if arm in digests and digests.get("with") == digests[arm]]


def _put(new: Path, root: Path) -> Path:
    """Move the arms to the place that is named after what they hold; where they are already, nothing changes."""
    place = root / digest_of_folder(new).partition(":")[2]
    try:
        os.rename(new, place)
    except OSError:
        if not place.is_dir():
            raise
    return place
