from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.config import AdapterConfig, SubprocessConfig, read_config
from eval_skills.adapters.http.config import HttpConfig
from eval_skills.adapters.mcp.server import McpConfig
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill
from tests.tables import each_row

MODELS = [pytest.param(HttpConfig, id="http"), pytest.param(SubprocessConfig, id="subprocess"), pytest.param(McpConfig, id="mcp")]


def skill(config: dict[str, Any]) -> Skill:
    data = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": "http", "entrypoint": "http://127.0.0.1"}
    return Skill.model_validate(data | {"adapterConfig": config})


@pytest.mark.parametrize("model", MODELS)
def test_every_option_is_known_under_both_spellings_and_documented_by_its_model(model: type[AdapterConfig]) -> None:
    assert model.__doc__
    defaults = model()
    for name, info in model.model_fields.items():
        value = getattr(defaults, name)
        for spelling in (name, info.alias):
            assert spelling is not None
            assert getattr(read_config(model, skill({spelling: value} if value is not None else {})), name) == value


@each_row(
    ("model", "config", "message"),
    [
        pytest.param(
            SubprocessConfig, {"persistant": True}, r"unknown key 'persistant' \(did you mean 'persistent'\?\)", id="typo"
        ),
        pytest.param(SubprocessConfig, {"pass_Env": []}, r"'pass_Env' \(did you mean 'pass_env'\?\)", id="case"),
        pytest.param(HttpConfig, {"baseURL": "http://x"}, r"'baseURL' \(did you mean 'baseUrl'\?\)", id="capitals"),
        pytest.param(
            HttpConfig, {"serve": {"command": "x", "ready": "/"}}, r"adapterConfig.serve: unknown key 'ready'", id="nested"
        ),
        pytest.param(SubprocessConfig, {"limits": {"memory": 1}}, r"adapterConfig.limits: unknown key 'memory'", id="limits"),
    ],
)
def test_p60_a_misspelt_key_is_refused_with_the_nearest(model: type[AdapterConfig], config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_config(model, skill(config))


@each_row("model", MODELS)
@each_row("key", ["owner", "team", "x-internal", "model", "notes"])
def test_keys_of_ones_own_are_free(model: type[AdapterConfig], key: str) -> None:
    read_config(model, skill({key: {"any": ["thing"]}}))


@each_row(
    ("model", "config", "message"),
    [
        pytest.param(
            SubprocessConfig,
            {"persistent": "yes"},
            r"adapterConfig.persistent: give true or false; got \"yes\"",
            id="text-for-bool",
        ),
        pytest.param(SubprocessConfig, {"env": {"A": 1}}, r"adapterConfig.env.A", id="number-in-env"),
        pytest.param(SubprocessConfig, {"command": "python 'x"}, r"adapterConfig.command: .*check its quotes", id="open-quote"),
        pytest.param(SubprocessConfig, {"command": "''#"}, None, id="an-odd-word-is-a-word"),
        pytest.param(SubprocessConfig, {"command": " "}, r"adapterConfig.command", id="blank-command"),
        pytest.param(SubprocessConfig, {"maxOutputBytes": 0}, r"adapterConfig.maxOutputBytes", id="no-bytes"),
        pytest.param(SubprocessConfig, {"limits": {"cpuSeconds": 0}}, r"adapterConfig.limits.cpuSeconds", id="no-cpu"),
        pytest.param(HttpConfig, {"authType": "basic"}, r"adapterConfig.authType: .*'bearer'", id="unknown-auth"),
        pytest.param(HttpConfig, {"authType": "bearer"}, r"authTokenEnvKey is missing", id="auth-without-variable"),
        pytest.param(HttpConfig, {"authTokenEnvKey": "T"}, r"need an authType", id="variable-without-auth"),
        pytest.param(HttpConfig, {"headers": {"A": "x\r\nB: y"}}, r"adapterConfig.headers.A", id="header-injection"),
        pytest.param(HttpConfig, {"headers": {"A B": "x"}}, r"adapterConfig.headers", id="header-name-with-blank"),
        pytest.param(
            HttpConfig, {"serve": {"readyPath": "/"}}, r"adapterConfig.serve.command: .*required", id="serve-without-command"
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(model: type[AdapterConfig], config: dict[str, Any], message: str | None) -> None:
    if message is None:
        read_config(model, skill(config))
        return
    with pytest.raises(InputError, match=message):
        read_config(model, skill(config))
