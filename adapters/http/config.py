"""What `adapterConfig` may hold where a skill is reached over HTTP."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from eval_skills.adapters.config import Command, ProcessConfig, Session
from eval_skills.adapters.headers import HeaderName, HeaderValue
from eval_skills.adapters.secrets import refuse_malformed_references
from eval_skills.adapters.template.placeholder import has_placeholder
from eval_skills.adapters.template.request import RequestTemplate
from eval_skills.core.config.values import VariableName
from eval_skills.core.models import Model
from eval_skills.core.models.base import Text, text_like

JsonPointer = Annotated[str, text_like(r"^(?:/(?:[^~/]|~[01])*)*$", "a JSON pointer such as /data/0")]
"""Empty for the whole value, else ``/`` before every key or index; ``~1`` is a ``/`` inside a key, ``~0`` a ``~``."""


class ServeConfig(Model):
    """A service to run while the skill is evaluated; it is ready when `ready_path` answers 2xx.

    Without `ready_path` it is ready when its port takes connections. ``{port}`` in the command, the entrypoint or
    `baseUrl` becomes a free port, which the service also finds in the variable PORT.
    """

    command: Command
    ready_path: Text | None = None
    ready_timeout_ms: int = Field(default=10_000, gt=0)


class TlsConfig(Model):
    """Files in PEM format, from the skill's folder.

    `ca_file` holds the authorities to trust instead of the public ones. `client_cert` is what we show to a server that asks;
    its key, without a passphrase, is in the same file or in `client_key`. `verify` false checks no certificate at all.
    """

    ca_file: Text | None = None
    client_cert: Text | None = None
    client_key: Text | None = None
    verify: bool = True

    @model_validator(mode="after")
    def _can_be_meant(self) -> TlsConfig:
        if self.client_key is not None and self.client_cert is None:
            raise ValueError("clientKey has no effect without clientCert; give both")
        if self.ca_file is not None and not self.verify:
            raise ValueError("caFile says whom to trust and verify false trusts everyone; keep one of them")
        return self


class AuthConfig(ProcessConfig):
    """What every request over HTTP carries. `auth_token_env_key` names the variable that holds the secret. With the `session`
    ``item`` every item has connections, and a server that we start, of its own.

    ``${NAME}`` in a header or in `query` (parameters of every request) stands for what the environment variable NAME holds, which
    is a secret too. `tls` is for https.
    """

    _instead: ClassVar[str] = "write what holds for every item"

    session: Session = "run"
    auth_type: Literal["none", "bearer", "api-key"] = "none"
    auth_token_env_key: VariableName | None = None
    auth_header: HeaderName | None = None
    auth_query: Text | None = None
    headers: dict[HeaderName, Annotated[HeaderValue, AfterValidator(refuse_malformed_references)]] = Field(default_factory=dict)
    query: dict[Text, Annotated[str, AfterValidator(refuse_malformed_references)]] = Field(default_factory=dict)
    tls: TlsConfig | None = None

    @model_validator(mode="after")
    def _same_for_every_item(self) -> AuthConfig:
        for part, values in (("headers", self.headers), ("query", self.query)):
            for name, value in values.items():
                if has_placeholder(value):  # the value is left out of the message: it may hold a secret
                    raise ValueError(f"{part}.{name} has a placeholder, but is not filled in; {self._instead.format(part=part)}")
        return self

    @model_validator(mode="after")
    def _auth_is_whole(self) -> AuthConfig:
        if self.auth_type != "none" and self.auth_token_env_key is None:
            raise ValueError(f"authType is {self.auth_type} and authTokenEnvKey is missing; name the variable with the secret")
        if self.auth_type == "none" and (self.auth_token_env_key or self.auth_header or self.auth_query):
            raise ValueError("authTokenEnvKey, authHeader and authQuery need an authType: bearer or api-key")
        if self.auth_query is not None and (self.auth_type != "api-key" or self.auth_header is not None):
            raise ValueError("authQuery is for authType api-key, and stands instead of authHeader")
        if self.auth_query is not None and self.auth_query in self.query:
            raise ValueError(f"authQuery and query both give {self.auth_query!r}; keep one of them")
        return self


class UsageHeaders(Model):
    """The headers of a response that count tokens."""

    prompt_tokens: HeaderName | None = None
    completion_tokens: HeaderName | None = None

    @model_validator(mode="after")
    def _names_one(self) -> UsageHeaders:
        if self.prompt_tokens is None and self.completion_tokens is None:
            raise ValueError("names neither header; give promptTokens, completionTokens or both")
        return self


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
ShapeName = Literal["openai-chat", "openai-responses", "anthropic-messages"]

_USAGE_OF_SHAPES = ["/message/usage", "/response/usage", "/usage"]
"""Where the APIs count tokens, in whole answers and in events."""


class HttpConfig(AuthConfig):
    """How an HTTP skill is reached.

    `method`, `request_template` and `output_path` are for a service with a shape of its own: how it is asked, what it is
    sent, and where in its answer (a JSON pointer) the output stands. With any of them the answer is taken as it is, never
    as an envelope, and an empty one is null. With `stream` it comes in events.

    `usage_path` and `cost_path` are where the answer counts its tokens and its USD (of several paths, each that is there counts);
    `usage_headers` and `cost_header` name headers that do. `tool_calls_path` and `messages_path` are where it, or an event of a
    stream, lists what was called and said.

    With a `response_shape` the answer, whole or streamed, is that of an API whose output, messages, calls and tokens are known.
    """

    _instead: ClassVar[str] = "move it into requestTemplate.{part}"

    base_url: Text | None = None
    method: Method | None = None
    request_template: RequestTemplate | None = None
    output_path: JsonPointer | None = None
    stream: StreamConfig | None = None
    usage_path: JsonPointer | list[JsonPointer] | None = None
    usage_headers: UsageHeaders | None = None
    cost_path: JsonPointer | None = None
    cost_header: HeaderName | None = None
    tool_calls_path: JsonPointer | None = None
    messages_path: JsonPointer | None = None
    response_shape: ShapeName | None = None
    serve: ServeConfig | None = None

    @model_validator(mode="after")
    def _one_path_to_the_output(self) -> HttpConfig:
        if self.stream is not None and self.output_path is not None:
            raise ValueError("outputPath is for an answer that comes whole; write the path into stream.path")
        return self

    @model_validator(mode="after")
    def _one_description_of_the_answer(self) -> HttpConfig:
        of_other_shapes = {
            "outputPath": self.output_path,
            "stream": self.stream,
            "toolCallsPath": self.tool_calls_path,
            "messagesPath": self.messages_path,
        }
        twice = [name for name, given in of_other_shapes.items() if given is not None]
        if self.response_shape is not None and twice:
            raise ValueError(f"responseShape {self.response_shape} says where everything is; remove {' and '.join(twice)}")
        return self

    @property
    def usage_paths(self) -> list[JsonPointer]:
        """Where tokens are counted."""
        if self.usage_path is None and self.response_shape is not None:
            return _USAGE_OF_SHAPES
        return self.usage_path if isinstance(self.usage_path, list) else [self.usage_path] if self.usage_path is not None else []

    @property
    def own_shape(self) -> bool:
        """Whether the service speaks in a way of its own, and not in ours."""
        return not (self.method is None and self.request_template is None and self.output_path is None)


class StreamConfig(Model):
    """An answer that comes in events: server-sent ones, or lines of JSON.

    With `mode` ``last`` the output is what stands at `path` (default: the whole JSON) in the last event that has it; with
    ``concat`` it is the texts there, joined. Server-sent events without a `path` are joined as they are, unread. `done` is the
    data, or the name, of the event that ends the stream; where it is given, a stream that ends without it is broken.
    """

    format: Literal["sse", "jsonl"] = "sse"
    mode: Literal["last", "concat"] = "last"
    path: JsonPointer | None = None
    done: Text | None = None

    @property
    def media_type(self) -> str:
        """What is asked for in the header Accept."""
        return "text/event-stream" if self.format == "sse" else "application/x-ndjson"

    @property
    def is_whole(self) -> bool:
        """Whether the last event is the whole answer, which may be our envelope."""
        return self.mode == "last" and self.path is None

    @property
    def unread(self) -> bool:
        """Whether the data of an event are a text and not JSON."""
        return self.format == "sse" and self.mode == "concat" and self.path is None


_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")


def value_at(pointer: str, value: Any) -> Any:
    """What stands at `pointer` in `value`.

    Not by the library jsonpointer: that accepts ``-`` (the element behind the last one), does not say which key is missing,
    and takes four times as long, which matters for every event of a stream.

    Raises:
        LookupError: nothing stands there; the message names the first key or index that is not there.
    """
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.match(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise LookupError(key)
    return value


def found_at(pointer: str, value: Any) -> Any:
    """What stands at `pointer` in `value`; None where nothing does."""
    try:
        return value_at(pointer, value)
    except LookupError:
        return None
