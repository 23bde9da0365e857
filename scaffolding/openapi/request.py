"""What an operation is sent and answers, as far as an adapter can: JSON, forms and plain text, and one secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from eval_skills.adapters.headers import FRAMING
from eval_skills.core.errors import InputError
from eval_skills.scaffolding.openapi.document import Document, mapping, sequence
from eval_skills.scaffolding.openapi.operation import Operation

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class Content:
    """One kind of content: its media type (empty: there is no content), and the part that describes it."""

    media_type: str = ""
    node: dict[str, Any] = field(default_factory=dict)
    required: bool = False
    description: Any = None

    @property
    def schema(self) -> Any:
        """Its schema as the document has it."""
        return self.node.get("schema", {})


def request_body(document: Document, operation: Operation) -> tuple[Content | None, list[str]]:
    """The body to send, as JSON or a form; None for none, with a remark when an optional one cannot be sent.

    Raises:
        InputError: a body is required, and it is of no such kind.
    """
    where = f"{operation.where}.requestBody"
    if operation.node.get("requestBody") is None:
        return None, []
    node = document.object_at(operation.node["requestBody"], where)
    content, required = mapping(node.get("content")), node.get("required") is True
    for is_it in (_is_json, _is_form):
        for name, part in content.items():
            if is_it(name):
                described = document.object_at(part, where)
                return Content(_bare(name), described, required, node.get("description")), []
    kinds = ", ".join(content) or "nothing"
    if required:
        raise document.error(f"the body is {kinds}; JSON and forms can be sent", where)
    return None, [f"left out the body: it is {kinds}, and JSON and forms can be sent"]


def answer(document: Document, operation: Operation) -> Content:
    """The successful answer: of the lowest 2xx status, else of ``2XX``, else of ``default``.

    Raises:
        InputError: it is of a kind that cannot be read.
    """
    where = f"{operation.where}.responses"
    responses = mapping(operation.node.get("responses"))
    statuses = sorted(status for status in responses if len(status) == 3 and status.startswith("2"))
    status = next(iter([*statuses, *(name for name in ("default",) if name in responses)]), None)
    if status is None:
        return Content(JSON)
    node = document.object_at(responses[status], f"{where}.{status}")
    content = mapping(node.get("content"))
    for is_it in (_is_json, _is_text):
        for name, part in content.items():
            if is_it(name):
                return Content(_bare(name), document.object_at(part, f"{where}.{status}"), description=node.get("description"))
    if content:
        raise document.error(f"the answer is {', '.join(content)}; JSON and plain text can be read", f"{where}.{status}")
    return Content("" if status in {"204", "205"} else JSON, description=node.get("description"))


def is_form(content: Content) -> bool:
    """Whether it is sent as a form."""
    return content.media_type == FORM


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _is_json(media_type: str) -> bool:
    bare = _bare(media_type)
    return bare in {JSON, "*/*", "application/*"} or (bare.startswith("application/") and bare.endswith("+json"))


def _is_form(media_type: str) -> bool:
    return _bare(media_type) == FORM


def _is_text(media_type: str) -> bool:
    return _bare(media_type) == TEXT


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Auth:
    """Options for `adapterConfig`, and what the variable has to hold; both empty without authentication."""

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
