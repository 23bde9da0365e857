"""How a skill behind https:// is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.adapters.config import source_of
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.config import AuthConfig
from eval_skills.adapters.http.tls import tls_context
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill

if TYPE_CHECKING:
    import ssl


def trust_of(skill: Skill, config: AuthConfig, url: str) -> ssl.SSLContext | None:
    """How to speak TLS with `skill` at `url`; None where its configuration says nothing about it.

    Raises:
        InputError: a file of `tls` cannot be used, or there is no TLS at `url`.
    """
    if config.tls is None:
        return None
    if not url.lower().startswith("https:"):
        message = f"tls is for https:// addresses, and this one is {shown(url)}"
        raise InputError(message, source=source_of(skill), path="adapterConfig.tls")
    try:
        return tls_context(config.tls, skill.folder)
    except ValueError as error:
        option, problem = error.args
        raise InputError(problem, source=source_of(skill), path=f"adapterConfig.tls.{option}") from None


def trust_doubts(skill: Skill, config: AuthConfig) -> list[str]:
    """What a person should know of a trust that checks nothing."""
    if config.tls is None or config.tls.verify:
        return []
    return [
        f"{skill.key}: its certificate is not checked (adapterConfig.tls.verify is false), so whoever stands in between can "
        "read and change what is sent, secrets included"
    ]
