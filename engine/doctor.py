"""Checks of everything that a run depends on. Nothing is written."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.adapters import Confinement, secrets_of
from eval_skills.adapters.agent.found import agent_checks
from eval_skills.adapters.health import AREA as SKILLS
from eval_skills.adapters.health import skill_checks
from eval_skills.adapters.sandbox.bubblewrap import why_no_sandbox
from eval_skills.core.config import Config
from eval_skills.core.environment import Check, environment_checks, file_clock_check, space_check
from eval_skills.core.errors import EvalSkillsError, InputError, UserError
from eval_skills.core.redaction import Redaction, values_of_variables
from eval_skills.core.skills import Discovery, InvalidSkill, discover_skills, load_skills, refuse_duplicates, why_none
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import check_file, check_folder

PATHS = "places"
_REMEDY = "name a folder that can be written to"


@dataclass(frozen=True, slots=True)
class HealthCheckRequest:
    """What a run would get: its configuration, and the skills that it would call (there may be none)."""

    config: Config
    skills: list[str] = field(default_factory=list)
    skills_dir: Path | None = None
    confinement: Confinement = field(default_factory=Confinement)


def health_checks(request: HealthCheckRequest) -> list[Check]:
    """The checks of the machine, of the folders that a run writes to, and of the skills; secrets are redacted.

    Raises:
        UserError: a path of skills does not exist.
    """
    config = request.config
    checks = [*environment_checks(config.task_runner), _sandbox(request.confinement), *_places(config), *_variables(config)]
    found = _skills(request)
    checks += [Check(SKILLS, str(bad.path), "failed", bad.reason, "fix the file; runs skip it") for bad in found.invalid]
    checks += [Check(SKILLS, "folders", "warning", remark) for remark in found.remarks]
    checks += asyncio.run(agent_checks())
    checks += asyncio.run(skill_checks(found.skills, config.timeout_ms / 1000, request.confinement))
    secrets = {name: value for skill in found.skills for name, value in secrets_of(skill).items()}
    redaction = Redaction(values_of_variables(config.secrets) | secrets)
    return [check.without_secrets(redaction) for check in checks]


def _sandbox(confinement: Confinement) -> Check:
    problem = why_no_sandbox()
    if not problem:
        return Check("environment", "sandbox", "ok", "bubblewrap works; --sandbox bwrap uses it")
    if confinement.sandbox == "none":
        return Check("environment", "sandbox", "ok", f"not available, and not requested: {problem}")
    return Check("environment", "sandbox", "failed", problem, "until it is fixed, runs that need the sandbox are refused")


def _places(config: Config) -> list[Check]:
    checks = [_writable("outputDir", Path(config.output_dir), "--output-dir", "reports")]
    try:
        layout = Store(config.store).layout
    except EvalSkillsError as error:
        remedy = _REMEDY if "://" not in config.store else "until it is fixed, no command that needs the store works"
        return [*checks, Check(PATHS, "store", "failed", str(error), remedy)]
    if layout.address is not None:
        found = f"{layout.address.url} can be read; its mirror here is {layout.root}"
        return [*checks, Check(PATHS, "store", "ok", found), space_check(PATHS, layout.root)]
    store = _writable("store", layout.root, "--store", "results", layout.sqlite)
    more = [space_check(PATHS, layout.root), file_clock_check(PATHS, layout.root)] if store.status == "ok" else []
    return [*checks, store, *more]


def _writable(name: str, folder: Path, option: str, what: str, file: Path | None = None) -> Check:
    try:
        check_folder(folder, option, what)
        if file is not None:
            check_file(file, option, what)
    except UserError as error:
        return Check(PATHS, name, "failed", str(error), _REMEDY)
    return Check(PATHS, name, "ok", f"{folder} {'can be written to' if folder.exists() else 'will be created'}")


def _variables(config: Config) -> list[Check]:
    """A warning about secrets of the configuration whose variables are not set: nothing is redacted, no key is sent."""
    named = [*config.secrets, *filter(None, [config.llm.api_key_env])]
    unset = sorted({name for name in named if not os.environ.get(name)})
    if not unset:
        return []
    remedy = "set them, or remove them from secrets and llm.apiKeyEnv"
    return [Check("configuration", "secrets", "warning", f"named and not set: {', '.join(unset)}", remedy)]


def _skills(request: HealthCheckRequest) -> Discovery:
    found = Discovery()
    for path in request.skills:
        _add(found, _named(path))
    if request.skills_dir is not None:
        _add(found, discover_skills(request.skills_dir))
        if not found.skills and not found.invalid:
            raise InputError(why_none(found), source=request.skills_dir)
    refuse_duplicates(found.skills)
    return found


def _named(path: str) -> Discovery:
    """The skills at a path of the request; a malformed one is a failed check, not an error."""
    try:
        return load_skills([path])
    except InputError as error:
        if not Path(path).exists():
            raise
        return Discovery([], [InvalidSkill(Path(path), str(error))])


def _add(found: Discovery, more: Discovery) -> None:
    known = {skill.folder for skill in found.skills}
    found.skills.extend(skill for skill in more.skills if skill.folder not in known)
    found.invalid.extend(more.invalid)
    found.remarks.extend(more.remarks)
