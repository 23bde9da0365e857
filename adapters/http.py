"""A skill behind an HTTP endpoint: one request per call, JSON in, JSON out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from eval_skills.adapters.address import address_of, free_port, needs_port, shown
from eval_skills.adapters.base import Adapter, Call
from eval_skills.adapters.config import AdapterConfig, HttpConfig, read_config, source_of
from eval_skills.adapters.envelope import read_answer
from eval_skills.adapters.http_answer import own_answer
from eval_skills.adapters.http_secret import auth_headers, auth_query, secret_is_set, unset
from eval_skills.adapters.http_status import status_error
from eval_skills.adapters.json_text import parse_json
from eval_skills.adapters.launch import launch_of
from eval_skills.adapters.path_template import path_marks
from eval_skills.adapters.request import merged, request_of
from eval_skills.adapters.tail import excerpt
from eval_skills.core.errors import ContractError, InfraError, InputError, SkillUnavailable, nearest
from eval_skills.core.models import Skill, SkillResponse

if TYPE_CHECKING:
    from eval_skills.adapters.http_client import HttpClient, HttpReply
    from eval_skills.adapters.request import Request
    from eval_skills.adapters.service import Service


class HttpAdapter(Adapter):
    """POSTs ``{"skillId", "version", "input"}`` to the skill's address, with the service of `serve` around it.

    With `method`, `requestTemplate` or `outputPath` it speaks the service's own shape instead.
    """

    config_model: ClassVar[type[AdapterConfig]] = HttpConfig

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = read_config(HttpConfig, skill)
        self._url = address_of(skill, self._config)
        self._client: HttpClient | None = None
        self._service: Service | None = None

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the address, the folder of a service, and that the secret's variable is set."""
        config = read_config(HttpConfig, skill)
        address_of(skill, config)
        if config.serve is not None:
            launch_of(skill, (), config)
        _refuse_lost_marks(skill, config)
        if not secret_is_set(config):
            raise InputError(unset(config), source=source_of(skill), path="adapterConfig.authTokenEnvKey")

    async def _open(self) -> None:
        from eval_skills.adapters.http_client import HttpClient

        port = free_port() if needs_port(self.skill, self._config) else None
        self._url = address_of(self.skill, self._config, port)
        self._auth_headers, self._auth_query = auth_headers(self._config), auth_query(self._config)
        self._client = HttpClient(secure=self._url.startswith("https:"))
        if self._config.serve is not None:
            self._service = self._new_service(port)
            await self._service.ensure_running(self._client)

    async def _close(self) -> None:
        if self._service is not None:
            await self._service.stop()
        if self._client is not None:
            await self._client.close()

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        assert self._client is not None
        if self._service is not None:
            await self._service.ensure_running(self._client)
        request = self._request(input_data)
        call.start()
        try:
            reply = await self._client.send(request, self._config.max_output_bytes, self._auth_query)
        except SkillUnavailable as error:
            call.stop()
            raise await self._explained(error) from None
        call.stop()
        return self._read(reply, shown(request.url))

    def _request(self, input_data: Any) -> Request:
        try:
            request = request_of(self.skill, self._config, self._url, input_data)
        except ValueError as error:
            raise InfraError(f"the input cannot be sent: {error}") from None
        join = merged if self._config.own_shape else dict.__or__
        return replace(request, headers=join(dict(request.headers), self._auth_headers))

    def _read(self, reply: HttpReply, address: str) -> SkillResponse:
        text = reply.body.decode(errors="replace")
        if (error := status_error(reply.status, reply.headers, text, address)) is not None:
            raise error
        kind = reply.headers.get("content-type", "no content type")
        try:
            if self._config.own_shape:
                return SkillResponse(output=own_answer(reply.body, kind, self._config.output_path))
            return read_answer(parse_json(reply.body))
        except ValueError as problem:
            seen = excerpt(text) or "an empty body"
            raise ContractError(f"HTTP {reply.status} with an unreadable body ({kind}): {problem}; it was: {seen}") from None

    def _new_service(self, port: int | None) -> Service:
        from eval_skills.adapters.service import Service, serve_words

        assert self._config.serve is not None
        extra = {"PORT": str(port)} if port is not None else {}
        launch = launch_of(self.skill, serve_words(self._config.serve, port), self._config, extra=extra)
        return Service(self._config.serve, launch, self._url)

    async def _explained(self, error: SkillUnavailable) -> SkillUnavailable:
        death = await self._service.death() if self._service is not None else ""
        return SkillUnavailable(f"{error}; {death}") if death else error


def _refuse_lost_marks(skill: Skill, config: HttpConfig) -> None:
    marks = path_marks(address_of(skill, config))
    named = config.request_template.path if config.request_template is not None else {}
    if lost := next((name for name in named if name not in marks), None):
        message = f"the address has no {{{lost}}} in its path{nearest(lost, marks)}"
        raise InputError(message, source=source_of(skill), path=f"adapterConfig.requestTemplate.path.{lost}")
