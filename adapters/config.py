"""What `adapterConfig` may hold, adapter by adapter."""

from __future__ import annotations

import shlex
import sys
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from eval_skills.core.errors import InputError
from eval_skills.core.loading import validate
from eval_skills.core.models import Model, Skill
from eval_skills.core.models.base import Text, known_keys

C = TypeVar("C", bound="AdapterConfig")

_SIMILAR = 0.8
"""From this likeness on, an unknown key counts as a misspelt known one (``persistant`` and ``persistent``: 0.9)."""


def _splittable(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words ({str(error).lower()}); check its quotes") from None
    if not words:
        raise ValueError("holds no word")
    return command


Command = Annotated[Text, AfterValidator(_splittable)]
"""Words as a shell would split them; no shell ever sees them."""

HeaderName = Annotated[str, StringConstraints(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
"""A token of RFC 9110, section 5.1."""

HeaderValue = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]*$")]
"""Printable ASCII: no line breaks, so that no header can carry another one."""


class AdapterConfig(Model):
    """The options of one adapter. Keys of one's own are free, unless they look like a misspelt option."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _refuse_misspelt_keys(cls, data: Any) -> Any:
        spellings = {spelling.lower(): spelling for spelling in sorted(known_keys(cls))}
        for key in data if isinstance(data, dict) else ():
            if key not in known_keys(cls) and (near := get_close_matches(key.lower(), spellings, n=1, cutoff=_SIMILAR)):
                hint = f"(did you mean {spellings[near[0]]!r}?)"
                raise PydanticCustomError("unknown_key", "unknown key {key} {hint}", {"key": repr(key), "hint": hint})
        return data


class Limits(Model):
    """Limits of each process: `memory_mb` of data (MiB; reserved address space is free), `cpu_seconds` of computing."""

    memory_mb: int | None = Field(default=None, gt=0)
    cpu_seconds: int | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _enforceable(self) -> Limits:
        if (self.memory_mb or self.cpu_seconds) and not sys.platform.startswith("linux"):
            raise ValueError("limits are enforced on Linux only; remove them on this system")
        return self


class ProcessConfig(AdapterConfig):
    """Options of every adapter that starts processes.

    `env` is added to the child's allow-listed environment, as are our variables named in `pass_env`, where they are set.
    `max_output_bytes` bounds one answer.
    """

    env: dict[str, str] = Field(default_factory=dict)
    pass_env: list[Text] = Field(default_factory=list)
    limits: Limits = Limits()
    max_output_bytes: int = Field(default=5_000_000, gt=0)


class SubprocessConfig(ProcessConfig):
    """`command` replaces the entrypoint, `args` are added to it as they are; `persistent` keeps workers warm."""

    persistent: bool = False
    command: Command | None = None
    args: list[str] = Field(default_factory=list)


class ServeConfig(Model):
    """A service to run while the skill is evaluated; it is ready when `ready_path` answers 2xx.

    Without `ready_path` it is ready when its port takes connections. ``{port}`` in the command, the entrypoint or
    `baseUrl` becomes a free port, which the service also finds in the variable PORT.
    """

    command: Command
    ready_path: Text | None = None
    ready_timeout_ms: int = Field(default=10_000, gt=0)


class HttpConfig(ProcessConfig):
    """How an HTTP skill is reached. `auth_token_env_key` names the variable that holds the secret."""

    base_url: Text | None = None
    auth_type: Literal["none", "bearer", "api-key"] = "none"
    auth_token_env_key: Text | None = None
    auth_header: HeaderName | None = None
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    serve: ServeConfig | None = None

    @model_validator(mode="after")
    def _auth_is_whole(self) -> HttpConfig:
        if self.auth_type != "none" and self.auth_token_env_key is None:
            raise ValueError(f"authType is {self.auth_type} and authTokenEnvKey is missing; name the variable with the secret")
        if self.auth_type == "none" and (self.auth_token_env_key or self.auth_header):
            raise ValueError("authTokenEnvKey and authHeader need an authType: bearer or api-key")
        return self


def read_config(model: type[C], skill: Skill) -> C:
    """The skill's `adapterConfig` as a `model`.

    Raises:
        InputError: with the skill's folder (or its key), the path inside the skill, and what is wrong there.
    """
    try:
        return validate(model, skill.adapter_config, source=source_of(skill))
    except InputError as error:
        path = f"adapterConfig.{error.path}" if error.path else "adapterConfig"
        raise InputError(error.message, source=error.source, path=path) from None


def source_of(skill: Skill) -> str:
    """What an error names as the place of `skill`: its folder, or its key when it was built in memory."""
    return str(skill.folder) if skill.folder is not None else skill.key
