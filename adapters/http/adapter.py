"""A skill behind an HTTP endpoint: one request per call, JSON in, JSON out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http.client import TOO_MANY_REQUESTS
from typing import TYPE_CHECKING, Any

from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import read_config, source_of
from eval_skills.adapters.conversation import Conversation
from eval_skills.adapters.http.address import address_of, free_port, needs_port
from eval_skills.adapters.http.auth import auth_headers, auth_query, refuse_unusable_secrets, sent_headers
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.adapters.http.errors import status_error
from eval_skills.adapters.http.request import Request, merged, request_of
from eval_skills.adapters.http.response import HttpAnswer
from eval_skills.adapters.http.tls import tls_warnings, trust_of
from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.process.adapter import ProcessAdapter, hooks_of
from eval_skills.adapters.process.launch import launch_of
from eval_skills.adapters.template.request import path_marks
from eval_skills.adapters.throttling import in_turn
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillCrashed, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.telemetry.spans import trace_headers
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    import ssl

    from eval_skills.adapters.http.client import HttpClient, HttpReply
    from eval_skills.adapters.http.service import Service

_OPEN = ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")
"""Parts of a schema by which its objects may have keys that `properties` does not name."""


_PAGES = frozenset({"text/html", "application/xhtml+xml"})


class HttpAdapter(ProcessAdapter):
    """POSTs ``{"skillId", "version", "input"}`` to the skill's address, with the service of `serve` around it.

    With `method`, `requestTemplate` or `outputPath` it speaks the service's own shape instead; with `stream` the answer comes in
    events. A conversation has cookies of its own, and its id in every request.
    """

    config_model = HttpConfig

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = read_config(HttpConfig, skill)
        self._url = address_of(skill, self._config)
        self.limits = self._config.limits if self._config.serve is not None else self.limits
        self._client: HttpClient | None = None
        self._trust: ssl.SSLContext | None = None
        self._service: Service | None = None

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the address, the folder of a service, the certificates, and that the secrets' variables are set."""
        config = read_config(HttpConfig, skill)
        trust_of(skill, config, address_of(skill, config))
        if config.serve is not None:
            launch_of(skill, (), config, listens=True)
        hooks_of(skill, config)
        _refuse_lost_marks(skill, config)
        _refuse_empty_marks(skill, config)
        refuse_unusable_secrets(skill, config)

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """That a certificate is not checked; and what a service that we start gets as it is written."""
        return super().warnings(skill) + tls_warnings(skill, read_config(HttpConfig, skill))

    async def _open(self) -> None:
        port = free_port() if needs_port(self.skill, self._config) else None
        self._url = address_of(self.skill, self._config, port)
        self._auth_headers, self._auth_query = auth_headers(self._config), auth_query(self._config)
        self._sent = self._config.model_copy(update={"headers": sent_headers(self._config)})
        self._trust = trust_of(self.skill, self._config, self._url)
        self._client = self._new_client(cookies=False)
        if self._config.serve is not None:
            self._service = self._new_service(port)
            await self._service.ensure_running(self._client)

    async def _close(self) -> None:
        if self._service is not None:
            await self._service.stop()
        if self._client is not None:
            await self._client.close()

    async def _probe(self, call: Call) -> ProbeResult:
        """The service is ready, and something speaks HTTP at the address. It gets the headers and the secret of a run, by a
        GET. No request of a task is sent: it may change data."""
        assert self._client is not None
        if self._service is not None:
            await self._service.ensure_running(self._client)
        headers = merged(self._sent.headers, self._auth_headers)
        request = Request(self._config.method or "POST", self._url, headers, None)
        reply, refusal = await self._client.check_redirects(request, self._auth_query)
        ready = "its service is ready; " if self._service is not None else ""
        secret = bool(self._auth_headers or self._auth_query) or self._sent.headers != self._config.headers
        warnings = (refusal,) if refusal else warnings_of_reply(reply, sent=secret)
        return ProbeResult(f"{ready}{reply.address} answers (HTTP {reply.status} to GET)", warnings)

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        assert self._client is not None
        if self._service is not None:
            call.suspend()  # a restart has a limit of its own
            await self._service.ensure_running(self._client)
        call.not_yet_asked()
        request = self._request(input_data, call.conversation_data)
        async with in_turn(self.services.caller(self._url, self.skill.key), call) as turn:
            call.start()
            call.sends()
            answer = HttpAnswer(self._config, call)
            client = self._client if call.conversation is None else call.conversation.state
            try:
                reply = await client.send(request, self._config.max_output_bytes, self._auth_query, answer.takes)
            except SkillUnavailable as error:
                call.stop()
                raise await self._explained(error) from None
            call.stop()
            if reply.status < 500 and reply.status != TOO_MANY_REQUESTS:
                turn.answered(reply.headers)
            return answer.response(reply)

    @asynccontextmanager
    async def _joined(self, conversation: Conversation) -> AsyncIterator[None]:
        """Connections, and with them cookies, of its own."""
        conversation.state = client = self._new_client(cookies=True)
        try:
            yield
        finally:
            await shield_cleanup(client.close())

    def _new_client(self, *, cookies: bool) -> HttpClient:
        from eval_skills.adapters.http.client import HttpClient

        return HttpClient(secure=self._url.startswith("https:"), tls=self._trust, cookies=cookies)

    def _request(self, input_data: Any, conversation: dict[str, Any] | None) -> Request:
        try:
            request = request_of(self.skill, self._sent, self._url, input_data, conversation)
        except ValueError as error:
            raise InfraError(f"the input cannot be sent: {error}") from None
        traced = merged(trace_headers(), request.headers)  # a header that the skill names is its own
        return replace(request, headers=merged(traced, self._auth_headers))

    def _new_service(self, port: int | None) -> Service:
        from eval_skills.adapters.http.service import Service, serve_words

        assert self._config.serve is not None
        extra = {"PORT": str(port)} if port is not None else {}
        launch = launch_of(self.skill, serve_words(self._config.serve, port), self._config, extra=extra, listens=True)
        return Service(self._config.serve, launch, self._url)

    async def _explained(self, error: SkillUnavailable) -> ItemError:
        death = await self._service.describe_end() if self._service is not None else ""
        return SkillCrashed(f"{error}; {death}") if death else error


def warnings_of_reply(reply: HttpReply, *, sent: bool) -> tuple[str, ...]:
    """What is probably wrong with an address that answers a GET so, `sent` with credentials or without; most statuses say
    nothing, for skills are asked by POST."""
    status = reply.status
    if status in {401, 403, 407}:
        return ("it refuses the credentials that a run sends" if sent else "it asks for credentials, and authType is not set",)
    if 300 <= status < 400 and (refused := status_error(status, reply.headers, "", reply.address)) is not None:
        return (str(refused),)
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if 200 <= status < 300 and kind in _PAGES:
        return (f"it answers with a web page ({kind}), perhaps a login page, where a run expects JSON",)
    return (f"it reports an error of its own: HTTP {status}",) if status >= 500 and status != 501 else ()


def _refuse_lost_marks(skill: Skill, config: HttpConfig) -> None:
    marks = path_marks(address_of(skill, config))
    named = config.request_template.path if config.request_template is not None else {}
    if lost := next((name for name in named if name not in marks), None):
        message = f"the path of the address has no {{{lost}}}{nearest(lost, marks)}"
        raise InputError(message, source=source_of(skill), path=f"adapterConfig.requestTemplate.path.{lost}")


def _refuse_empty_marks(skill: Skill, config: HttpConfig) -> None:
    """A mark in the path that neither the template nor an input by the skill's schema can ever fill."""
    named = config.request_template.path if config.request_template is not None else {}
    marks = [mark for mark in path_marks(address_of(skill, config)) if mark not in named]
    if empty := next((mark for mark in marks if not _may_have(skill.input_schema, mark)), None):
        message = f"nothing fills {{{empty}}} in the path; give adapterConfig.requestTemplate.path.{empty}, or declare"
        raise InputError(f"{message} {empty} in inputSchema.properties", source=source_of(skill), path="entrypoint")


def _may_have(schema: dict[str, Any], key: str) -> bool:
    """Whether an object by `schema` may have `key`: one that says nothing at all, or something of other keys, allows it."""
    is_open = any(schema.get(part) not in (None, False) for part in _OPEN)
    named = [schema.get("properties"), schema.get("required")]
    return not schema or is_open or any(isinstance(names, dict | list) and key in names for names in named)
