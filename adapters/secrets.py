"""Secrets of a skill: which values its configuration makes secret, and ``${NAME}``, filled in only when a text is sent."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from eval_skills.core.models import Skill

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
"""Names of variables, headers and query parameters whose values must not be shown in a report."""

_SECRET_ARGUMENT = re.compile(r"(?:api_?key|token|secret|password|passwd|credentials?)_?$", re.IGNORECASE)
"""Names of a skill's own arguments that hold a secret; ``sort_key`` and ``keywords`` are none."""

_PASSWORD = re.compile(r"://([^/\s?#@]*):([^/\s?#@]+)@")


def secrets_of(skill: Skill) -> dict[str, str]:
    """The secrets that calling `skill` uses, each by the name of what holds it; for redaction.

    The variables of `authTokenEnvKey` and `apiKeyEnv` are, and so are those that `headers` and `query` refer to. Those of
    `passEnv` and `env`, the headers and the parameters of the address are where their names say so (``…_TOKEN``), a class's
    arguments in `init` where theirs end in such a word. The password in an address (``https://user:password@host``) is one, also
    in a variable, and so is the form in which it is sent.
    """
    config = skill.adapter_config
    found = {name: variable_value(name) for name in _named(config)}
    addresses = [skill.entrypoint, *_texts(config, "baseUrl", "base_url")]
    variables = {name: os.environ.get(name, "") for name in _listed(config, "passEnv", "pass_env")} | _mapping(config, "env")
    if (usual := _usual_key(skill)) is not None:
        found[usual] = variable_value(usual)
    for source in (
        _where(_mapping(config, "env"), _SECRET_NAME),
        _headers(_mapping(config, "headers")),
        _where(_mapping(config, "query"), _SECRET_NAME),
        _where(_arguments(config), _SECRET_ARGUMENT),
        *map(_parameters, addresses),
        *(_passwords("password in the address", address) for address in addresses),
        *(_passwords(f"password in {name}", value) for name, value in variables.items()),
    ):
        for name, value in source:
            found[name if found.get(name) in {None, "", value} else f"{name} (written)"] = value
    return {name: value for name, value in found.items() if value}


def _usual_key(skill: Skill) -> str | None:
    """The variable from which our own agent's model takes its key where none is named: its provider's usual one."""
    config = skill.adapter_config
    if skill.adapter_type != "agent" or any(_texts(config, "apiKeyEnv", "api_key_env", "baseUrl", "base_url")):
        return None
    provider, slash, _ = next(iter(_texts(config, "model")), "").partition("/")
    return f"{provider.upper()}_API_KEY" if slash else None


def _named(config: Mapping[str, Any]) -> Iterator[str]:
    yield from _texts(config, "authTokenEnvKey", "auth_token_env_key", "apiKeyEnv", "api_key_env")
    yield from (name for name in _listed(config, "passEnv", "pass_env") if _SECRET_NAME.search(name))
    for value in (*_mapping(config, "headers").values(), *_mapping(config, "query").values()):
        yield from referenced(value)


def _headers(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A header's value, and the part after its scheme (``Bearer …``), which is what a service may repeat."""
    for name, value in _where(headers, _SECRET_NAME):
        yield name, value
        if len(words := value.split()) > 1:
            yield f"{name} value", words[-1]


def _arguments(config: Mapping[str, Any]) -> dict[str, str]:
    invoked: dict[str, Any] = next(
        (config[key] for key in ("invokeConfig", "invoke_config") if isinstance(config.get(key), dict)), {}
    )
    return _mapping(config, "init") | _mapping(invoked, "configurable")


def _parameters(address: str) -> Iterator[tuple[str, str]]:
    try:
        query = urlsplit(address).query if "://" in address else ""
    except ValueError:
        return
    yield from _where(dict(parse_qsl(query)), _SECRET_NAME)


def _passwords(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The password in an address, and what ``Authorization: Basic`` makes of it, without the padding that may be left out."""
    for user, password in _PASSWORD.findall(text):
        yield name, unquote(password)
        pair = f"{unquote(user)}:{unquote(password)}".encode(errors="surrogateescape")
        yield f"{name} (Basic)", b64encode(pair).decode().rstrip("=")


def _where(values: Mapping[str, str], names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    yield from ((name, value.strip()) for name, value in values.items() if names.search(name))


def _mapping(config: Mapping[str, Any], key: str) -> dict[str, str]:
    given = config.get(key)
    return {str(name): value for name, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}


def _texts(config: Mapping[str, Any], *keys: str) -> list[str]:
    return [config[key] for key in keys if isinstance(config.get(key), str)]


def _listed(config: Mapping[str, Any], *keys: str) -> list[str]:
    return [name for key in keys for name in config.get(key) or () if isinstance(name, str)]


_MARK = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")
"""Two dollars before a brace stand for one that is meant as it is."""


def refuse_malformed_references(text: str) -> str:
    """`text`, if every ``${`` in it begins a reference.

    Raises:
        ValueError: one begins none; the message is a phrase that says what would be valid.
    """
    if any(mark[0] == "${" for mark in _MARK.finditer(text)):
        valid = "write ${NAME}, or $${ for these two characters themselves"
        raise ValueError(
            f"holds a ${{ that is not followed by a variable's name and }}; {valid}; did you paste the secret itself?"
        )
    return text


def referenced(text: str) -> list[str]:
    """The names of the variables that `text` refers to, in order."""
    return [mark[1] for mark in _MARK.finditer(text) if mark[1]]


def variable_value(name: str) -> str:
    """What the variable `name` holds, without blanks around it (a file's last line break gets into many a variable)."""
    return os.environ.get(name, "").strip()


def with_references_filled(text: str) -> str:
    """`text` with every reference replaced by what its variable holds; one that is not set holds nothing."""
    return _MARK.sub(lambda mark: variable_value(mark[1]) if mark[1] else "${", text)
