from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import Adapter, Call, adapter_types, check_skill, open_adapter, register_adapter, registry, secrets_of
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.adapters.package.adapter import PackageAdapter
from eval_skills.adapters.process.adapter import SubprocessAdapter
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Skill, SkillResponse

MakeSkill = Callable[..., Skill]


class Constant(Adapter):
    """Answers 42."""

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        return SkillResponse(output=42)


@pytest.fixture(autouse=True)
def untouched_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_ADAPTERS", dict(registry._ADAPTERS))
    registry._plugins.cache_clear()
    yield
    registry._plugins.cache_clear()


def plug_in(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else ())


def of_type(skill: Skill, adapter_type: str) -> Skill:
    return skill.model_copy(update={"adapter_type": adapter_type})


def test_the_adapter_follows_from_type_and_subject(http_skill: MakeSkill, program_skill: MakeSkill) -> None:
    assert isinstance(open_adapter(http_skill("/echo")), HttpAdapter)
    assert isinstance(open_adapter(program_skill("")), SubprocessAdapter)
    assert isinstance(open_adapter(of_type(program_skill(""), "mcp"), "package"), PackageAdapter)


def test_every_available_adapter_is_documented_and_checks(tmp_path: Path) -> None:
    entrypoints = {
        "http": "http://127.0.0.1/x",
        "subprocess": "python3 skill.py",
        "mcp": "python3 server.py",
        "custom": "skill:run",
        "langchain": "skill:graph",
        "agent": "custom",
    }
    for adapter_type in set(adapter_types()) & set(entrypoints):
        data = {"id": "a", "name": "A", "version": "1.0.0", "adapterType": adapter_type, "entrypoint": entrypoints[adapter_type]}
        config = {"command": "python3"} if adapter_type == "agent" else {}
        skill = Skill.model_validate(data | {"adapterConfig": config}).located_in(tmp_path)
        check_skill(skill)
        assert type(open_adapter(skill)).__doc__
        with pytest.raises(InputError, match="did you mean 'maxOutputBytes'"):
            check_skill(Skill.model_validate(data | {"adapterConfig": {"maxOutputByte": 1}}).located_in(tmp_path))


def test_a_type_without_an_adapter_is_a_usage_error_that_names_those_there_are(
    program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_ADAPTERS", {"http": HttpAdapter, "subprocess": SubprocessAdapter})
    plug_in(monkeypatch)
    for probe in (check_skill, open_adapter):
        with pytest.raises(UsageError, match="adapter type 'mcp' is not available; available are http, subprocess"):
            probe(of_type(program_skill(""), "mcp"))


def test_registering_twice_raises() -> None:
    register_adapter("constant", Constant)
    with pytest.raises(UsageError, match=r"'constant' is registered already, by .*Constant"):
        register_adapter("constant", Constant)
    with pytest.raises(UsageError, match="'http' is registered already"):
        register_adapter("http", Constant)


async def test_a_plug_in_is_found_by_its_entry_point(program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_ADAPTERS", {"http": HttpAdapter})
    plug_in(monkeypatch, EntryPoint("mcp", f"{__name__}:Constant", registry.GROUP))
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or type(sys)(__name__))
    monkeypatch.setattr(sys.modules[__name__], "Constant", Constant, raising=False)
    assert adapter_types() == ("http", "mcp")
    async with open_adapter(of_type(program_skill(""), "mcp")) as adapter:
        assert (await adapter.call({}, 60)).output == 42


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param("no_such_module:X", "does not load: ModuleNotFoundError", id="not-there"),
        pytest.param("json:JSONDecoder", "is not a subclass of eval_skills.adapters.base.Adapter", id="something-else"),
    ],
)
def test_a_broken_plug_in_is_named(program_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch, value: str, message: str) -> None:
    monkeypatch.setattr(registry, "_ADAPTERS", {})
    plug_in(monkeypatch, EntryPoint("mcp", value, registry.GROUP))
    with pytest.raises(InputError, match=f"plug-in mcp = {value} {message}"):
        check_skill(of_type(program_skill(""), "mcp"))


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([("mcp", "a:A"), ("mcp", "b:B")], id="two-plug-ins"),
        pytest.param([("http", "a:A")], id="a-plug-in-and-ours"),
    ],
)
def test_two_adapters_of_one_type_are_refused(monkeypatch: pytest.MonkeyPatch, points: list[tuple[str, str]]) -> None:
    plug_in(monkeypatch, *(EntryPoint(name, value, registry.GROUP) for name, value in points))
    with pytest.raises(UsageError, match="uninstall one"):
        adapter_types()


def test_the_secrets_are_those_of_the_auth_variable(http_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_TOKEN", "s3cret")
    assert secrets_of(http_skill("/x", authType="bearer", authTokenEnvKey="PROBE_TOKEN")) == {"PROBE_TOKEN": "s3cret"}
    assert secrets_of(http_skill("/x", authType="bearer", authTokenEnvKey="PROBE_TOKEN_ABSENT")) == {}
    assert secrets_of(http_skill("/x")) == {}


def test_a_package_needs_a_folder_that_is_there(program_skill: MakeSkill, tmp_path: Path) -> None:
    check_skill(program_skill(""), "package")
    with pytest.raises(InputError, match="no folder to inspect"):
        check_skill(program_skill("").located_in(tmp_path / "gone"), "package")


@pytest.mark.slow
def test_the_package_imports_neither_prefect_nor_pandas_nor_litellm() -> None:
    heavy = {"prefect", "pandas", "litellm", "httpx", "jsonschema"}
    source = f"import sys, eval_skills.adapters; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
