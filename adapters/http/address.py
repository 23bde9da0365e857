"""Where an HTTP skill listens."""

from __future__ import annotations

import socket
from urllib.parse import SplitResult, urlsplit, urlunsplit

from eval_skills.adapters.config import source_of
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.adapters.template.placeholder import has_placeholder
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

PORT_MARK = "{port}"


def address_of(skill: Skill, config: HttpConfig, port: int | None = None) -> str:
    """The skill's URL: its entrypoint, or `baseUrl` and the entrypoint's path below it; ``{port}`` filled in.

    Raises:
        InputError: it is not an http(s) URL with a host, or entrypoint and `baseUrl` are both complete, or ``{port}`` has no
            meaning where it is written.
    """
    written = _joined(skill, config)
    if has_placeholder(written):
        instead = "write {name} in its path, with requestTemplate.path, or use requestTemplate.query"
        raise _refused(skill, f"the address has a placeholder, but is not filled in; {instead}")
    if PORT_MARK in written and config.serve is None:
        raise _refused(skill, f"{PORT_MARK} in {written!r} needs adapterConfig.serve, which the free port is for")
    if PORT_MARK not in written and config.serve is not None and PORT_MARK in config.serve.command:
        raise _refused(skill, f"serve.command has {PORT_MARK} and the address {written!r} has not; write it there too")
    url = written.replace(PORT_MARK, str(port or 1))
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise _refused(skill, f"{written!r} is not a URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _refused(skill, f"{written!r} is not an http:// or https:// URL; write one, or set adapterConfig.baseUrl")
    return url


def needs_port(skill: Skill, config: HttpConfig) -> bool:
    """Whether a free port has to be found for the skill's service."""
    return config.serve is not None and PORT_MARK in _joined(skill, config)


def shown(url: str) -> str:
    """`url` as messages may show it: without a password before the host and without the query."""
    parts = urlsplit(url)
    return urlunsplit(SplitResult(parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def sibling(url: str, path: str) -> str:
    """`path` on the host and port of `url`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{path.lstrip('/')}"


def host_and_port(url: str) -> tuple[str, int]:
    """Where a connection for `url` goes."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def free_port() -> int:
    """A port of 127.0.0.1 that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _joined(skill: Skill, config: HttpConfig) -> str:
    if config.base_url is None:
        return skill.entrypoint
    if "://" in skill.entrypoint:
        raise _refused(
            skill, f"{skill.entrypoint!r} is a whole URL and adapterConfig.baseUrl is set too; keep only the path here"
        )
    return f"{config.base_url.rstrip('/')}/{skill.entrypoint.lstrip('/')}"


def _refused(skill: Skill, message: str) -> InputError:
    return InputError(message, source=source_of(skill), path="entrypoint")
