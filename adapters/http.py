"""A skill behind an HTTP endpoint: one POST per call, JSON in, JSON out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from eval_skills.adapters.address import address_of, free_port, needs_port, shown
from eval_skills.adapters.base import Adapter, Call
from eval_skills.adapters.config import AdapterConfig, HttpConfig, read_config, source_of
from eval_skills.adapters.envelope import read_answer
from eval_skills.adapters.http_status import status_error
from eval_skills.adapters.json_text import parse_json, write_json
from eval_skills.adapters.launch import launch_of
from eval_skills.adapters.tail import excerpt
from eval_skills.core.errors import ContractError, InfraError, InputError, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse

if TYPE_CHECKING:
    from eval_skills.adapters.http_client import HttpClient, HttpReply
    from eval_skills.adapters.service import Service


class HttpAdapter(Adapter):
    """POSTs ``{"skillId", "version", "input"}`` to the skill's address, with the service of `serve` around it."""

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
        if config.auth_token_env_key is not None and not _secret(config.auth_token_env_key):
            raise InputError(_unset(config), source=source_of(skill), path="adapterConfig.authTokenEnvKey")

    async def _open(self) -> None:
        from eval_skills.adapters.http_client import HttpClient

        port = free_port() if needs_port(self.skill, self._config) else None
        self._url = address_of(self.skill, self._config, port)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **self._config.headers, **self._auth()}
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
        body = self._body(input_data)
        call.start()
        try:
            reply = await self._client.post(self._url, body, self._headers, self._config.max_output_bytes)
        except SkillUnavailable as error:
            call.stop()
            raise await self._explained(error) from None
        call.stop()
        return self._read(reply)

    def _body(self, input_data: Any) -> bytes:
        try:
            return write_json({"skillId": self.skill.id, "version": self.skill.version, "input": input_data})
        except ValueError as error:
            raise InfraError(f"the input cannot be sent: {error}") from None

    def _read(self, reply: HttpReply) -> SkillResponse:
        text = reply.body.decode(errors="replace")
        if (error := status_error(reply.status, reply.headers, text, shown(self._url))) is not None:
            raise error
        try:
            return read_answer(parse_json(reply.body))
        except ValueError as problem:
            kind = reply.headers.get("content-type", "no content type")
            seen = excerpt(text) or "an empty body"
            raise ContractError(f"HTTP {reply.status} with an unreadable body ({kind}): {problem}; it was: {seen}") from None

    def _auth(self) -> dict[str, str]:
        config = self._config
        if config.auth_type == "none" or config.auth_token_env_key is None:
            return {}
        if not (secret := _secret(config.auth_token_env_key)):
            raise InfraError(_unset(config))
        if not (secret.isascii() and secret.isprintable()):
            raise InfraError(f"the value of {config.auth_token_env_key} holds characters that no HTTP header may hold")
        if config.auth_type == "bearer":
            return {config.auth_header or "Authorization": f"Bearer {secret}"}
        return {config.auth_header or "X-API-Key": secret}

    def _new_service(self, port: int | None) -> Service:
        from eval_skills.adapters.service import Service, serve_words

        assert self._config.serve is not None
        extra = {"PORT": str(port)} if port is not None else {}
        launch = launch_of(self.skill, serve_words(self._config.serve, port), self._config, extra=extra)
        return Service(self._config.serve, launch, self._url)

    async def _explained(self, error: SkillUnavailable) -> SkillUnavailable:
        death = await self._service.death() if self._service is not None else ""
        return SkillUnavailable(f"{error}; {death}") if death else error


def _secret(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _unset(config: HttpConfig) -> str:
    return f"the environment variable {config.auth_token_env_key} is not set; authType {config.auth_type} needs it"
