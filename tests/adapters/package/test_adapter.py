from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters.package.adapter import ASPECTS, PackageAdapter
from eval_skills.core.errors import InfraError, SkillError
from eval_skills.core.models import Skill
from eval_skills.core.skills import load_skill
from tests.tables import each_row

PROPERTY = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to turn round."}},
    "required": ["text"],
}
GOOD = {
    "id": "reverser",
    "name": "Reverser",
    "version": "1.0.0",
    "description": "Turns a text round: gets a text, answers with its letters from last to first.",
    "tags": ["text"],
    "inputSchema": PROPERTY,
    "outputSchema": {"type": "string", "description": "The letters from last to first."},
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
    "metadata": {"author": "A. Author", "license": "MIT", "homepage": "https://example.org/reverser"},
}
TEST = {
    "id": "basic",
    "name": "Basic",
    "version": "1.0.0",
    "tasks": [{"id": "one", "inputData": {}, "expectedOutput": {"value": 1}}],
}


def package(folder: Path, **changes: Any) -> Skill:
    """A skill's folder in which all is well, but for `changes` of its skill file."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "skill.json").write_text(json.dumps({**GOOD, **changes}))
    (folder / "skill.py").write_text("raise SystemExit('this must never run')")
    (folder / "README.md").write_text("# Reverser")
    (folder / "tests" / "basic.eval.json").write_text(json.dumps(TEST))
    return load_skill(folder)


async def ask(skill: Skill, aspect: Any) -> dict[str, Any]:
    async with PackageAdapter(skill) as adapter:
        output: dict[str, Any] = (await adapter.call({"aspect": aspect}, 60)).output
    return output


@pytest.mark.parametrize("aspect", ASPECTS)
async def test_a_good_package_misses_nothing_and_a_bare_one_nearly_everything(tmp_path: Path, aspect: str) -> None:
    good = await ask(package(tmp_path), aspect)
    assert good["missing"] == []
    bare = Skill.model_validate(
        {"id": "bare", "name": "Bare", "version": "0.0.0", "adapterType": "subprocess", "entrypoint": "python3 lost.py"}
    )
    (tmp_path / "bare").mkdir()
    assert len((await ask(bare.located_in(tmp_path / "bare"), aspect))["missing"]) >= len(good["result"]) / 2


@pytest.mark.parametrize("aspect", ASPECTS)
async def test_a_search_for_codes_finds_only_what_is_there(tmp_path: Path, aspect: str) -> None:
    everything = (await ask(package(tmp_path), aspect))["result"]
    assert all(a == b or a not in b for a in everything for b in everything)
    (tmp_path / "empty").mkdir()
    bare = package(tmp_path, description="", inputSchema={}, metadata={}, tags=[], version="0.0.0").located_in(tmp_path / "empty")
    answer = await ask(bare, aspect)
    met = set(answer["result"])
    assert len(met) + len(answer["missing"]) == len(everything)
    assert not any(code in sentence for code in everything for sentence in [*answer["missing"], answer["aspect"]])


@each_row(
    ("changes", "aspect", "lost"),
    [
        pytest.param({"metadata": {"author": " "}}, "metadata", "has-author", id="blank-author"),
        pytest.param({"metadata": {"license": "All rights reserved, maybe"}}, "metadata", "has-license", id="license-prose"),
        pytest.param({"metadata": {"homepage": "example.org"}}, "metadata", "has-homepage", id="homepage-no-url"),
        pytest.param({"tags": []}, "metadata", "has-tags", id="no-tags"),
        pytest.param({"version": "0.0.0"}, "metadata", "has-version", id="unreleased"),
        pytest.param({"description": ""}, "description", "has-description", id="no-description"),
        pytest.param({"description": "Turns text round"}, "description", "long-enough", id="too-short"),
        pytest.param({"description": "TODO write down what this skill does"}, "description", "no-placeholder", id="todo"),
        pytest.param(
            {"description": "Does something useful with a text, surely"}, "description", "no-placeholder", id="template"
        ),
        pytest.param(
            {"description": "Reverser reverser the reverser: a reverser."}, "description", "more-than-name", id="name-only"
        ),
        pytest.param({"inputSchema": {}}, "schemas", "input-schema-valid", id="no-schema"),
        pytest.param({"inputSchema": {"type": "objekt"}}, "schemas", "input-schema-valid", id="no-such-type"),
        pytest.param({"inputSchema": {"$schema": 5}}, "schemas", "input-schema-valid", id="no-such-draft"),
        pytest.param({"inputSchema": {"properties": {"a": {}}}}, "schemas", "input-schema-typed", id="no-type"),
        pytest.param({"inputSchema": {"type": "object"}}, "schemas", "input-schema-properties", id="no-properties"),
        pytest.param(
            {"outputSchema": {"type": "object", "properties": {"a": {}}}}, "schemas", "output-schema-described", id="mute"
        ),
        pytest.param({"entrypoint": "python3 lost.py"}, "structure", "has-entrypoint", id="lost-program"),
        pytest.param({"entrypoint": "python3 'skill.py"}, "structure", "has-entrypoint", id="open-quote"),
        pytest.param({"adapterType": "custom", "entrypoint": "lost:run"}, "structure", "has-entrypoint", id="lost-module"),
        pytest.param({"adapterType": "custom", "entrypoint": "lost.py:run"}, "structure", "has-entrypoint", id="lost-file"),
        pytest.param({"adapterType": "custom", "entrypoint": "skill"}, "structure", "has-entrypoint", id="no-attribute"),
        pytest.param(
            {"adapterType": "http", "entrypoint": "http://x/", "adapterConfig": {"serve": {"command": "node lost.js"}}},
            "structure",
            "has-entrypoint",
            id="lost-service",
        ),
    ],
)
async def test_what_is_wrong_in_the_skill_file_is_missed(tmp_path: Path, changes: dict[str, Any], aspect: str, lost: str) -> None:
    assert lost in (await ask(package(tmp_path), aspect))["result"]
    assert lost not in (await ask(package(tmp_path, **changes), aspect))["result"]


@pytest.mark.parametrize(
    "description",
    ["Keeps a to-do list: adds a todo, lists todos, ticks them off.", "Converts <b> and <i> marks of HTML into Markdown stars."],
)
async def test_a_description_of_todos_or_tags_is_no_placeholder(tmp_path: Path, description: str) -> None:
    assert "no-placeholder" in (await ask(package(tmp_path, description=description), "description"))["result"]


@each_row(
    "changes",
    [
        pytest.param({"entrypoint": "python3 -m pkg.mod --level=2"}, id="a-module"),
        pytest.param({"entrypoint": "/usr/bin/env python3 skill.py"}, id="an-absolute-program"),
        pytest.param({"adapterType": "http", "entrypoint": "https://example.org/run"}, id="a-remote-address"),
        pytest.param({"adapterType": "custom", "entrypoint": "skill:run"}, id="a-function"),
        pytest.param({"adapterType": "langchain", "entrypoint": "skill.py:graph"}, id="an-object-of-a-file"),
        pytest.param(
            {"adapterConfig": {"command": "python3 skill.py"}, "entrypoint": "python3 lost.py"}, id="an-overriding-command"
        ),
    ],
)
async def test_an_entrypoint_that_names_no_lost_file_is_there(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert "has-entrypoint" in (await ask(package(tmp_path, **changes), "structure"))["result"]


async def test_p72_a_neighbour_whose_name_begins_alike_is_outside(tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill-evil").mkdir()
    (tmp_path / "skill-evil" / "run.py").write_text("")
    answer = await ask(package(tmp_path / "skill", entrypoint="python3 ../skill-evil/run.py"), "structure")
    assert "has-entrypoint" not in answer["result"]
    assert any("../skill-evil/run.py" in sentence for sentence in answer["missing"])


@each_row("name", [".env", ".env.local", "server.pem", "id_rsa", "credentials.json", "deep/er/secrets.yaml"])
async def test_a_file_that_looks_like_a_secret_is_named(tmp_path: Path, name: str) -> None:
    skill = package(tmp_path)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    answer = await ask(skill, "structure")
    assert "no-secret-files" not in answer["result"]
    assert any(name in sentence for sentence in answer["missing"])


@pytest.mark.parametrize("name", [".env.example", "tokens.py", "keyboard.md", "node_modules/x/.env"])
async def test_a_harmless_file_is_not(tmp_path: Path, name: str) -> None:
    skill = package(tmp_path)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    assert "no-secret-files" in (await ask(skill, "structure"))["result"]


@pytest.mark.parametrize(("size", "fine"), [(1_000_000, True), (1_000_001, False)])
async def test_a_large_file_is_named(tmp_path: Path, size: int, fine: bool) -> None:
    skill = package(tmp_path)
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(size)
    answer = await ask(skill, "structure")
    assert ("no-large-files" in answer["result"]) is fine
    assert any("data.bin" in sentence for sentence in answer["missing"]) is not fine


async def test_a_folder_of_too_many_files_is_read_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.adapters.package.files.MAX_FILES", 20)
    skill = package(tmp_path)
    (tmp_path / "many").mkdir()
    for number in range(30):
        (tmp_path / "many" / f"{number}.txt").write_text("")
    assert any("more than 20 files" in sentence for sentence in (await ask(skill, "structure"))["missing"])


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        pytest.param("{not json", {"tests-readable", "tests-with-tasks"}, id="not-json"),
        pytest.param(json.dumps({**TEST, "tasks": []}), {"tests-with-tasks"}, id="no-task"),
        pytest.param(json.dumps({**TEST, "tusks": []}), {"tests-readable", "tests-with-tasks"}, id="unknown-key"),
    ],
)
async def test_a_test_file_that_tests_nothing_is_missed(tmp_path: Path, text: str, lost: set[str]) -> None:
    skill = package(tmp_path)
    (tmp_path / "tests" / "basic.eval.json").write_text(text)
    assert {"has-tests", "tests-readable", "tests-with-tasks"} - set((await ask(skill, "tests"))["result"]) == lost


@pytest.mark.parametrize("aspect", ["metadatas", None, 3, ["metadata"], ""])
async def test_an_unknown_aspect_is_a_skill_error_that_names_the_known(tmp_path: Path, aspect: Any) -> None:
    with pytest.raises(SkillError, match=r"unknown aspect .*metadata, description, schemas, tests, structure"):
        await ask(package(tmp_path), aspect)


async def test_an_input_that_is_no_object_is_a_skill_error(tmp_path: Path) -> None:
    async with PackageAdapter(package(tmp_path)) as adapter:
        with pytest.raises(SkillError, match="unknown aspect None"):
            await adapter.call("metadata", 60)


async def test_a_folder_that_is_gone_is_an_infra_error(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="no folder to inspect"):
        await ask(package(tmp_path).located_in(tmp_path / "gone"), "metadata")
