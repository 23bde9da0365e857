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
