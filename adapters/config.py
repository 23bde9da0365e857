"""What `adapterConfig` may hold, adapter by adapter."""

from __future__ import annotations

import shlex
import sys
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from eval_skills.adapters.header import HeaderName, HeaderValue
from eval_skills.adapters.json_pointer import JsonPointer
from eval_skills.adapters.request_template import RequestTemplate
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


class CommandConfig(ProcessConfig):
    """`command` replaces the entrypoint, `args` are added to it as they are."""

    command: Command | None = None
    args: list[str] = Field(default_factory=list)


class SubprocessConfig(CommandConfig):
    """`persistent` keeps workers warm; by default each call has a process of its own."""

    persistent: bool = False


class HostedConfig(ProcessConfig):
    """Options of skills that are Python objects: `python` is the interpreter that loads them (default: ours), a program of
    PATH or a path from the skill's folder; `start_timeout_ms` bounds the loading."""

    python: Text | None = None
    start_timeout_ms: int = Field(default=60_000, gt=0)

    @model_validator(mode="after")
    def _isolated(self) -> HostedConfig:
        for name in ("PYTHONPATH", "PYTHONHOME"):
            if name in self.env or name in self.pass_env:
                message = f"{name} has no effect on the isolated interpreter; put modules into the skill's folder, or name in"
                raise ValueError(f"{message} `python` an interpreter that has them installed")
        return self


class CustomConfig(HostedConfig):
    """`init` holds the arguments of a class; with `spread` the input's keys are the function's keyword arguments."""

    init: dict[str, Any] = Field(default_factory=dict)
    spread: bool = False


class InvokeConfig(Model):
    """What LangChain knows as the config of one call."""

    recursion_limit: int | None = Field(default=None, gt=0)
    max_concurrency: int | None = Field(default=None, gt=0)
    configurable: dict[str, Any] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    run_name: Text | None = None


class LangchainConfig(HostedConfig):
    """`input_key` is the part of a graph's state that takes the input, `output_key` the one that holds the output."""

    call: Literal["ainvoke", "invoke"] | None = None
    input_key: Text | None = None
    output_key: Text | None = None
    invoke_config: InvokeConfig = InvokeConfig()


class ServeConfig(Model):
    """A service to run while the skill is evaluated; it is ready when `ready_path` answers 2xx.

    Without `ready_path` it is ready when its port takes connections. ``{port}`` in the command, the entrypoint or
    `baseUrl` becomes a free port, which the service also finds in the variable PORT.
    """

    command: Command
    ready_path: Text | None = None
    ready_timeout_ms: int = Field(default=10_000, gt=0)


class AuthConfig(ProcessConfig):
    """What every request over HTTP carries. `auth_token_env_key` names the variable that holds the secret."""

    auth_type: Literal["none", "bearer", "api-key"] = "none"
    auth_token_env_key: Text | None = None
    auth_header: HeaderName | None = None
    auth_query: Text | None = None
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _auth_is_whole(self) -> AuthConfig:
        if self.auth_type != "none" and self.auth_token_env_key is None:
            raise ValueError(f"authType is {self.auth_type} and authTokenEnvKey is missing; name the variable with the secret")
        if self.auth_type == "none" and (self.auth_token_env_key or self.auth_header or self.auth_query):
            raise ValueError("authTokenEnvKey, authHeader and authQuery need an authType: bearer or api-key")
        if self.auth_query is not None and (self.auth_type != "api-key" or self.auth_header is not None):
            raise ValueError("authQuery is for authType api-key, and stands instead of authHeader")
        return self


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class HttpConfig(AuthConfig):
    """How an HTTP skill is reached.

    `method`, `request_template` and `output_path` are for a service with a shape of its own: how it is asked, what it is
    sent, and where in its answer (a JSON pointer) the output stands. With any of them the answer is taken as it is, never
    as an envelope, and an empty one is null.
    """

    base_url: Text | None = None
    method: Method | None = None
    request_template: RequestTemplate | None = None
    output_path: JsonPointer | None = None
    serve: ServeConfig | None = None

    @property
    def own_shape(self) -> bool:
        """Whether the service speaks in a way of its own, and not in ours."""
        return not (self.method is None and self.request_template is None and self.output_path is None)


class McpConfig(CommandConfig, AuthConfig):
    """How an MCP server is reached: a command on standard input and output, or a URL with its authentication.

    `tool` is the tool to call, by default the skill's id. `protocol` `legacy` begins with the handshake that servers of before
    2026 expect; `auto` finds out. `connect_timeout_ms` bounds the start, the negotiation and the listing of tools.
    """

    tool: Text | None = None
    protocol: Literal["auto", "legacy"] = "auto"
    connect_timeout_ms: int = Field(default=30_000, gt=0)


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
