"""One request to a skill: in our own shape, or in the service's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from eval_skills.adapters.answer.envelope import write_json
from eval_skills.adapters.headers import is_header_value
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.adapters.http.multipart import multipart_body
from eval_skills.adapters.template.placeholder import MISSING, InConversation, Placeholder, filled, text_of
from eval_skills.adapters.template.request import RequestTemplate, filled_path, path_marks
from eval_skills.core.models import Skill

BODILESS = frozenset({"GET", "DELETE"})
"""Methods whose requests have no body unless a template gives one."""

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, but for the secret; a body of None is left out."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


CONVERSATION_HEADER = "X-Conversation-Id"
"""The header that names the conversation of which a request is a turn."""


def request_of(
    skill: Skill, config: HttpConfig, url: str, input_data: Any, conversation: dict[str, Any] | None = None
) -> Request:
    """The request that asks `skill` for `input_data`; `url` is its address, with the marks of its path still in it.

    Without a template the body is ``{"skillId", "version", "input"}``; GET and DELETE send the input's keys as the query.
    What the skill is told of a `conversation` stands in that body as ``conversation``, and its id in a header.

    Raises:
        ValueError: the input cannot be sent; the message is a phrase that names the place.
    """
    method = config.method or "POST"
    template = config.request_template
    if template is None and method in BODILESS:
        template = _query_of_all(input_data, path_marks(url))
    if template is None:
        envelope = {"skillId": skill.id, "version": skill.version, "input": input_data}
        envelope_body = write_json(envelope if conversation is None else envelope | {"conversation": conversation})
        headers = _headers(config, _JSON, {}, conversation)
        return Request(method, _address(url, RequestTemplate(), input_data), headers, envelope_body)
    turn = InConversation(input_data, conversation)
    own = _own_headers(template, turn)
    if template.multipart is not None and (made := multipart_body(template.multipart, turn, skill.folder)) is not None:
        content, kind = made
        own = merged(own, {"Content-Type": kind})  # no other one knows where the parts end
        return Request(method, _address(url, template, turn), _headers(config, None, own, conversation), content)
    body, plain_kind = _body(template, turn)
    return Request(method, _address(url, template, turn), _headers(config, plain_kind, own, conversation), body)


def with_query(url: str, pairs: list[tuple[str, str]]) -> str:
    """`url` with `pairs` after the query that it has."""
    if not pairs:
        return url
    parts = urlsplit(url)
    added = urlencode(pairs, quote_via=quote, safe="")
    return urlunsplit(parts._replace(query=f"{parts.query}&{added}" if parts.query else added))


def _query_of_all(input_data: Any, marks: list[str]) -> RequestTemplate:
    if input_data is None:
        return RequestTemplate()
    if not isinstance(input_data, dict):
        raise ValueError("it is not an object, whose keys could become the query; give an object, or a requestTemplate")
    return RequestTemplate(query={key: str(Placeholder((key,))) for key in input_data if key not in marks})


def _address(url: str, template: RequestTemplate, input_data: Any) -> str:
    if path_marks(url):
        url = filled_path(url, lambda mark: _path_text(mark, template, input_data))
    return with_query(url, list(_pairs("query", filled(template.query, input_data))))


def _path_text(mark: str, template: RequestTemplate, input_data: Any) -> str:
    value = filled(template.path.get(mark, str(Placeholder((mark,)))), input_data)
    if value is MISSING or value is None or value == "":
        raise ValueError(f"{{{mark}}} in the path has no value; the input must hold one")
    return _joined(value)


def _pairs(place: str, values: Any) -> Iterator[tuple[str, str]]:
    """The parameters of a query or a form; null is left out, and a list is one for each item."""
    if values is MISSING or values is None:
        return
    if not isinstance(values, dict):
        raise ValueError(f"{place} is not an object")
    for name, value in values.items():
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                yield name, text_of(item)


def _body(template: RequestTemplate, input_data: Any) -> tuple[bytes | None, str | None]:
    """The body and its content type."""
    if template.form is not None:
        pairs = list(_pairs("form", filled(template.form, input_data)))
        return urlencode(pairs).encode("ascii"), _FORM
    body = filled(template.body, input_data) if template.has_body else MISSING
    return (None, None) if body is MISSING else (write_json(body), _JSON)


def _own_headers(template: RequestTemplate, input_data: Any) -> dict[str, str]:
    values = {name: value for name, value in filled(template.headers, input_data).items() if value is not None}
    headers = {name: _joined(value) for name, value in values.items()}
    for name, text in headers.items():
        if not is_header_value(text):
            raise ValueError(f"the header {name} would hold a line break or other characters that a header may not hold")
    return headers


def _joined(value: Any) -> str:
    return ",".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def _headers(
    config: HttpConfig, content_type: str | None, own: Mapping[str, str], conversation: Mapping[str, Any] | None
) -> dict[str, str]:
    """All headers but the secret's; of two spellings of one name the later counts."""
    kind = {"Content-Type": content_type} if content_type is not None else {}
    kind |= {CONVERSATION_HEADER: conversation["id"]} if conversation is not None else {}
    accept = config.stream.media_type if config.stream is not None else _JSON
    accept = f"{_JSON}, text/event-stream" if config.response_shape is not None else accept
    return merged(merged({**kind, "Accept": accept}, config.headers), own)


def merged(headers: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Both, where `others` replace what has the same name in any case of letters."""
    replaced = {name.lower() for name in others}
    return {**{name: value for name, value in headers.items() if name.lower() not in replaced}, **others}
