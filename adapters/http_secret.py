"""The secret of an HTTP skill: read from its variable, sent in a header or in the query, shown nowhere."""

from __future__ import annotations

import os

from eval_skills.adapters.config import AuthConfig
from eval_skills.adapters.header import is_header_value
from eval_skills.core.errors import InfraError


def secret_is_set(config: AuthConfig) -> bool:
    """Whether there is nothing to set: no variable is named, or it holds something."""
    return config.auth_token_env_key is None or bool(_secret(config))


def unset(config: AuthConfig) -> str:
    """What to say when the variable is not set."""
    return f"the environment variable {config.auth_token_env_key} is not set; authType {config.auth_type} needs it"


def auth_headers(config: AuthConfig) -> dict[str, str]:
    """The header that carries the secret, if one does.

    Raises:
        InfraError: its variable is not set, or holds what no header may hold.
    """
    if config.auth_type == "none" or config.auth_query is not None:
        return {}
    secret = _held(config)
    if config.auth_type == "bearer":
        return {config.auth_header or "Authorization": f"Bearer {secret}"}
    return {config.auth_header or "X-API-Key": secret}


def auth_query(config: AuthConfig) -> list[tuple[str, str]]:
    """The query parameter that carries the secret, if one does.

    Raises:
        InfraError: its variable is not set, or holds what no header may hold.
    """
    return [(config.auth_query, _held(config))] if config.auth_query is not None else []


def _held(config: AuthConfig) -> str:
    if not (secret := _secret(config)):
        raise InfraError(unset(config))
    if not is_header_value(secret):
        raise InfraError(f"the value of {config.auth_token_env_key} holds characters that no HTTP header may hold")
    return secret


def _secret(config: AuthConfig) -> str:
    return os.environ.get(config.auth_token_env_key or "", "").strip()
