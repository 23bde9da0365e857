"""How an operation authenticates, as far as an adapter can: one secret, in a header or in the query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from eval_skills.adapters.header import FRAMING
from eval_skills.core.errors import InputError
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.operation import Operation

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Auth:
    """Options for `adapterConfig`, and what the variable has to hold; both empty where there is nothing to prove."""

    config: dict[str, str] = field(default_factory=dict)
    holds: str = ""

    @property
    def variable(self) -> str | None:
        """The environment variable that has to be set."""
        return self.config.get("authTokenEnvKey")


def auth_of(document: Document, operation: Operation) -> tuple[Auth, list[str]]:
    """The first of the operation's alternatives that an adapter can follow, and remarks about what it cannot.

    The variable's name starts with ``SKILL_`` whatever the document calls the scheme: a document must not be able to name a
    variable that holds another service's secret.
    """
    needs = operation.node.get("security", document.data.get("security"))
    alternatives = [mapping(each) for each in sequence(needs)]
    remarks: list[str] = []
    for alternative in sorted(alternatives, key=lambda each: (len(each) != 1, len(each))):
        options = [_auth(document, name, remarks) for name in alternative]
        if len(options) == 1 and options[0] is not None:
            return options[0], []
    if not alternatives or {} in alternatives:
        return Auth(), []
    remarks = remarks or [f"it needs {' and '.join(alternatives[0])} at once; one secret can be sent, so set the other by hand"]
    return Auth(), list(dict.fromkeys(remarks))


def _auth(document: Document, name: str, remarks: list[str]) -> Auth | None:
    try:
        scheme = document.object_at(_schemes(document).get(name), f"components.securitySchemes.{name}")
    except InputError as error:
        remarks.append(f"the security scheme {name!r} is not usable: {error.message}")
        return None
    found = next(_found(scheme, variable_name(document, name)), None)
    if found is None:
        kind = " ".join(str(scheme.get(key)) for key in ("type", "scheme", "in") if scheme.get(key))
        remarks.append(f"the security scheme {name!r} ({kind or 'of no type'}) is not supported; requests carry no secret")
    return found


def variable_name(document: Document, scheme: str) -> str:
    """``SKILL_<API>_<SCHEME>``, of capitals, digits and ``_``."""
    parts = (re.sub(r"[^A-Z0-9]+", "_", str(part).upper())[:32].strip("_") for part in (document.info.get("title", ""), scheme))
    return "_".join(filter(None, ("SKILL", *parts)))


def _found(scheme: dict[str, Any], variable: str) -> Iterator[Auth]:
    kind, name = scheme.get("type"), scheme.get("name")
    http = str(scheme.get("scheme", "")).lower() if kind == "http" else ""
    if http == "bearer":
        yield Auth(_bearer(variable), "the bearer token")
    if kind in {"oauth2", "openIdConnect"}:
        yield Auth(_bearer(variable), "a valid access token (none is fetched)")
    if http == "basic":
        yield Auth(_key(variable, authHeader="Authorization"), "Basic, a blank, and user:password in base64")
    if kind != "apiKey" or not isinstance(name, str) or not name.strip() or not name.isprintable():
        return
    if scheme.get("in") == "query":
        yield Auth(_key(variable, authQuery=name), "the API key")
    if scheme.get("in") == "header" and _HEADER.fullmatch(name) and name.lower() not in FRAMING:
        yield Auth(_key(variable, authHeader=name), "the API key")
    if scheme.get("in") == "cookie" and _HEADER.fullmatch(name):
        yield Auth(_key(variable, authHeader="Cookie"), f"{name}= and the API key")


def _bearer(variable: str) -> dict[str, str]:
    return {"authType": "bearer", "authTokenEnvKey": variable}


def _key(variable: str, **place: str) -> dict[str, str]:
    return {"authType": "api-key", "authTokenEnvKey": variable, **place}


def _schemes(document: Document) -> dict[str, Any]:
    return mapping(mapping(document.data.get("components")).get("securitySchemes"))
