"""Options of an http skill that cannot be meant are refused before the run."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import InputError
from tests.adapters.wire import skill
from tests.tables import each_row


@each_row(
    ("config", "message"),
    [
        pytest.param({"method": "get"}, "adapterConfig.method: .*'GET'", id="method"),
        pytest.param({"outputPath": "data"}, "adapterConfig.outputPath", id="pointer"),
        pytest.param(
            {"requestTemplate": {"params": {}}}, "adapterConfig.requestTemplate: unknown key 'params'", id="unknown-part"
        ),
        pytest.param({"requestTemplate": {"query": {"a": "{{a}}"}}}, "'{{a}}' is not a placeholder", id="placeholder"),
        pytest.param({"requestTemplate": {"body": {}, "form": {}}}, "two bodies", id="two-bodies"),
        pytest.param({"requestTemplate": {"headers": {"Content-Length": "1"}}}, "set by the transport", id="framing"),
        pytest.param({"requestTemplate": {"headers": {"X": "a\nb"}}}, "requestTemplate.headers.X", id="line-break"),
        pytest.param({"requestTemplate": {"path": {"idd": "{{input}}"}}}, "has no {idd} .did you mean 'id'", id="lost-mark"),
        pytest.param(
            {"authType": "bearer", "authTokenEnvKey": "T", "authQuery": "k"}, "authQuery is for authType api-key", id="query"
        ),
        pytest.param(
            {"authType": "api-key", "authTokenEnvKey": "T", "authQuery": "k", "authHeader": "X"}, "instead of", id="both"
        ),
        pytest.param({"authQuery": "k"}, "need an authType", id="no-type"),
        pytest.param({"headers": {"X-A": "a {{input.q}}"}}, "headers.X-A .* into requestTemplate.headers", id="item-header"),
        pytest.param({"query": {"q": "{{ conversation.id }}"}}, "query.q .* into requestTemplate.query", id="item-query"),
        pytest.param({"baseUrl": "http://{{input.host}}"}, "the address has a placeholder", id="item-address"),
    ],
)
def test_a_wrong_option_is_refused_before_the_run(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HttpAdapter.check(skill("p/{id}" if "baseUrl" in config else "http://127.0.0.1/p/{id}", **config))
