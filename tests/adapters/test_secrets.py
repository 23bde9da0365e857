"""Which values of a skill's environment are secrets, so that nothing writes them down."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters import secrets_of
from eval_skills.core.models import Skill


@pytest.mark.parametrize(
    ("config", "secrets"),
    [
        pytest.param({"authTokenEnvKey": "MINE", "authType": "bearer"}, {"MINE": "from-outside"}, id="auth"),
        pytest.param({"passEnv": ["API_KEY", "MODE"]}, {"API_KEY": "from-outside"}, id="passed-and-named-like-one"),
        pytest.param({"env": {"DB_PASSWORD": "written", "MODE": "fast"}}, {"DB_PASSWORD": "written"}, id="written-in-the-file"),
        pytest.param({"passEnv": ["UNSET_TOKEN"], "env": {}}, {}, id="unset"),
        pytest.param(
            {"headers": {"X-Api-Key": "written", "Accept": "text/html"}}, {"X-Api-Key": "written"}, id="header-named-like-one"
        ),
        pytest.param(
            {"headers": {"Authorization": "Basic dXNlcg=="}},
            {"Authorization": "Basic dXNlcg==", "Authorization value": "dXNlcg=="},
            id="header-with-a-scheme",
        ),
        pytest.param({"headers": {"X-Team": "v1 ${MINE}"}}, {"MINE": "from-outside"}, id="header-that-refers-to-one"),
        pytest.param(
            {"init": {"api_key": "written", "sort_key": "title", "keywords": "a b", "size": 3}}, {"api_key": "written"}, id="init"
        ),
        pytest.param({"invokeConfig": {"configurable": {"userToken": "written"}}}, {"userToken": "written"}, id="configurable"),
        pytest.param(
            {"baseUrl": "https://me:p%40ss@h/?q=1"},
            {"password in the address": "p@ss", "password in the address (Basic)": "bWU6cEBzcw"},
            id="password-in-the-address",
        ),
        pytest.param({"baseUrl": "https://h/?api_key=written&q=1"}, {"api_key": "written"}, id="parameter-of-the-address"),
        pytest.param(
            {"env": {"DATABASE": "postgres://me:written@h/db"}},
            {"password in DATABASE": "written", "password in DATABASE (Basic)": "bWU6d3JpdHRlbg"},
            id="password-in-a-variable",
        ),
        pytest.param({"headers": "none", "init": [1], "env": None, "passEnv": None}, {}, id="shapes-that-are-refused-elsewhere"),
    ],
)
def test_secrets_are_known_by_the_names_of_their_variables(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], secrets: dict[str, str]
) -> None:
    for name in ("MINE", "API_KEY", "MODE"):
        monkeypatch.setenv(name, "from-outside")
    skill = Skill.model_validate(
        {
            "id": "s",
            "name": "s",
            "version": "1.0.0",
            "adapterType": "http",
            "entrypoint": "http://127.0.0.1:9",
            "adapterConfig": config,
        }
    )
    assert secrets_of(skill) == secrets
