"""The secrets of a skill over HTTP: read from their variables, sent in headers or in the query, shown nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterator

from eval_skills.adapters.config import source_of
from eval_skills.adapters.headers import is_header_value
from eval_skills.adapters.http.config import AuthConfig
from eval_skills.adapters.secrets import referenced, variable_value, with_references_filled
from eval_skills.core.config.values import absence
from eval_skills.core.errors import InfraError, InputError
from eval_skills.core.models import Skill


def refuse_unusable_secrets(skill: Skill, config: AuthConfig) -> None:
    """Find out before a run that a variable is not set or empty, or holds what cannot be sent; its value is in no message.

    Raises:
        InputError: with the place inside the skill that names the variable.
    """
    for path, problem in _problems(config):
        raise InputError(problem, source=source_of(skill), path=f"adapterConfig.{path}")


def sent_headers(config: AuthConfig) -> dict[str, str]:
    """The configured headers, with what their references stand for.

    Raises:
        InfraError: a variable is not set, or holds what a header may not hold.
    """
    for _, problem in _problems(config):
        raise InfraError(problem)
    return {name: with_references_filled(text) for name, text in config.headers.items()}


def auth_headers(config: AuthConfig) -> dict[str, str]:
    """The header that carries the secret, if one does; it raises as `sent_headers`."""
    if config.auth_type == "none" or config.auth_query is not None:
        return {}
    secret = _secret(config)
    if config.auth_type == "bearer":
        return {config.auth_header or "Authorization": f"Bearer {secret}"}
    return {config.auth_header or "X-API-Key": secret}


def auth_query(config: AuthConfig) -> list[tuple[str, str]]:
    """The query parameters of every request, with their secrets; it raises as `sent_headers`."""
    for _, problem in _problems(config):
        raise InfraError(problem)
    own = [(config.auth_query, _secret(config))] if config.auth_query is not None else []
    return [*own, *((name, with_references_filled(text)) for name, text in config.query.items())]


def _secret(config: AuthConfig) -> str:
    for _, problem in _problems(config):
        raise InfraError(problem)
    return variable_value(config.auth_token_env_key or "")


def _problems(config: AuthConfig) -> Iterator[tuple[str, str]]:
    """What is wrong with the variables, and the path in the configuration that names each."""
    if (name := config.auth_token_env_key) is not None:
        yield from _problem("authTokenEnvKey", name, f"authType {config.auth_type} needs it")
    for header, text in config.headers.items():
        for name in referenced(text):
            yield from _problem(f"headers.{header}", name, "the header needs it")
    for parameter, text in config.query.items():
        for name in referenced(text):
            yield from _problem(f"query.{parameter}", name, "the query needs it")


def _problem(path: str, name: str, need: str) -> Iterator[tuple[str, str]]:
    if not variable_value(name):
        yield path, f"{absence(name, os.environ)}; {need}"
    elif not is_header_value(variable_value(name)):
        yield path, f"the value of {name} holds characters that an HTTP header may not hold"
