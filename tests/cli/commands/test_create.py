"""`create`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
import shlex
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.commands.create import AGENT_SKILL, Template
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding.skill_templates import DESCRIPTION, TEMPLATES

Run = Callable[..., Any]
FILES = ["README.md", "adapter.config.json", "server.py", "skill.json", "tests/basic.eval.json"]


def refusal(result: Any) -> str:
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("eval-skills: ")
    assert result.err.count("\n") == 1, result.err
    return str(result.err)


def test_the_choices_are_the_templates_there_are() -> None:
    assert typing.get_args(Template) == (*TEMPLATES, AGENT_SKILL)


def test_a_name_alone_is_enough(place: Any, run_here: Run) -> None:
    result = run_here("create", "--name", "my_api_skill")
    folder = "skills/my_api_skill"
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "created my_api_skill",
        *(f"  {folder}/{name}" for name in FILES),
        f"test it   eval-skills eval --skills {folder} --tasks {folder}/tests/basic.eval.json",
    ]
    skill = load_skill(place.folder / folder)
    assert (skill.id, skill.name, skill.description, skill.adapter_type) == (
        "my_api_skill", "my_api_skill", DESCRIPTION, "http",
    )  # fmt: skip


def test_an_id_that_differs_from_the_name_is_said(run_here: Run) -> None:
    assert (
        run_here("create", "--name", "Weather Lookup").out.splitlines()[0] == 'created weather-lookup, the id of "Weather Lookup"'
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_p62_json_is_one_document_that_names_every_file(place: Any, run_here: Run, template: str) -> None:
    options = ["--from-template", template, "--output-dir", "my skills", "--description", "Fetches weather data."]
    document = run_here("create", "--name", "Weather Lookup", *options, "--json").json
    folder = place.folder / "my skills" / "weather-lookup"
    assert (document["id"], document["name"], document["folder"]) == ("weather-lookup", "Weather Lookup", str(folder))
    assert sorted(document["files"]) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    assert shlex.split(document["next"])[3] == "my skills/weather-lookup"
    assert load_skill(folder).description == "Fetches weather data."


def test_what_a_template_needs_is_said(run_here: Run) -> None:
    assert "it needs  langchain-core>=1.0\n" in run_here("create", "--name", "x", "--from-template", "langchain").out


def test_p64_what_exists_is_overwritten_by_force_alone(place: Any, run_here: Run) -> None:
    assert run_here("create", "--name", "x", "--from-template", "custom").code == 0
    mine = place.write("skills/x/skill.py", "mine")
    notes = place.write("skills/x/notes.md", "mine too")
    before = place.files()
    assert "exists; give another name or folder, or --force" in refusal(run_here("create", "--name", "X"))
    assert (mine.read_text(), place.files()) == ("mine", before)
    assert run_here("create", "--name", "x", "--from-template", "custom", "--force").code == 0
    assert "def answer" in mine.read_text()
    assert notes.read_text() == "mine too"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "--name is required", id="no-name"),
        pytest.param(["--name"], "--name requires an argument", id="name-without-value"),
        pytest.param(["--name", " "], "--name is blank; give a value", id="blank-name"),
        pytest.param(["--name", "../x"], "--name '../x' looks like a path", id="path"),
        pytest.param(["--name", "a\nb"], r"--name contains the character '\n'", id="line-break"),
        pytest.param(["--name", "日本"], "has no letter a-z and no digit", id="no-id"),
        pytest.param(["--name", "x", "--description", ""], "--description is blank; give a value", id="blank-description"),
        pytest.param(["--name", "x", "--description", "a\nb"], r"--description contains the character '\n'", id="two-lines"),
        pytest.param(["--name", "x", "--from-template", "mcp"], '"mcp"', id="unknown-template"),
        pytest.param(["--name", "x", "--output-dir", ""], "--output-dir is blank; give a value", id="blank-folder"),
        pytest.param(["--name", "x", "--output-dir", "a\nb"], "--output-dir contains the character", id="folder-of-two-lines"),
        pytest.param(["--name", "x", "--output-dir", "file"], "file is a file; a folder of this name", id="file"),
        pytest.param(["--name", "x", "--output-dir", "file/below"], "file is a file; a folder", id="below-a-file"),
        pytest.param(["--name", "x", "--output-dir", "/proc/nope"], "cannot be written", id="unwritable"),
        pytest.param(["--name", "x", "--output-dir", "y" * 300], "File name too long", id="long-folder"),
        pytest.param(["--name", "calculator", "--force"], "server.py is a folder", id="folder-in-the-way"),
    ],
)
def test_p40_what_cannot_be_created_is_refused_and_nothing_is_written(
    place: Any, run_here: Run, arguments: list[str], says: str
) -> None:
    place.write("file", "x")
    (place.folder / "skills" / "calculator" / "server.py").mkdir()
    before = place.files()
    assert says in refusal(run_here("create", *arguments))
    assert place.files() == before


@pytest.mark.parametrize(
    ("configured", "folder"),
    [
        pytest.param({}, "skills", id="default"),
        pytest.param({"skillsDir": "library"}, "library", id="where-skills-are"),
        pytest.param({"skillsDir": "library", "create": {"outputDir": "drafts"}}, "drafts", id="its-own-key"),
        pytest.param({"outputDir": "reports"}, "skills", id="reports-go-elsewhere"),
    ],
)
def test_p58_the_folder_comes_from_the_configuration(place: Any, run_here: Run, configured: dict[str, Any], folder: str) -> None:
    place.write("eval-skills.config.yaml", json.dumps(configured))
    assert run_here("create", "--name", "x", "--json").json["folder"] == str(place.folder / folder / "x")
    assert run_here("create", "--name", "x", "--output-dir", "here", "--json").json["folder"] == str(place.folder / "here" / "x")


def test_p58_the_template_comes_from_the_configuration(place: Any, run_here: Run) -> None:
    place.write("eval-skills.config.yaml", "create: {fromTemplate: python_script, description: Fetches weather data.}\n")
    folder = Path(run_here("create", "--name", "x", "--json").json["folder"])
    assert (load_skill(folder).adapter_type, load_skill(folder).description) == ("subprocess", "Fetches weather data.")
    assert (
        load_skill(run_here("create", "--name", "y", "--from-template", "custom", "--json").json["folder"]).adapter_type
        == "custom"
    )


def test_p58_a_configured_template_is_for_the_other_kind_of_call(place: Any, run_here: Run) -> None:
    place.write("eval-skills.config.yaml", "create: {fromTemplate: python_script}\n")
    arguments = ["create", "--from-openapi", "nope.yaml"]
    assert "nope.yaml" in refusal(run_here(*arguments))
    assert "cannot stand beside --from-openapi" in refusal(run_here(*arguments, "--from-template", "custom"))


@pytest.mark.slow
@pytest.mark.parametrize("template", ["http_request", "python_script"])
def test_p64_the_command_that_it_prints_passes(served: Any, template: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    created = served.call(
        "create", "--name", "Weather Lookup", "--from-template", template, "--output-dir", "my skills", cwd=elsewhere
    )
    assert (created.code, created.err) == (0, "")
    program, *arguments = shlex.split(created.out.splitlines()[-1].removeprefix("test it"))
    assert program == "eval-skills"
    tested = served.call(*arguments, "--min-completion", "1", "--exit-on-fail", cwd=elsewhere)
    assert tested.code == 0, tested.err
    inside = elsewhere / "my skills" / "weather-lookup"
    from_inside = ["--tasks", "tests/basic.eval.json", "--min-completion", "1", "--exit-on-fail", "--dry-run", "--json"]
    assert served.call("eval", "--skills", ".", *from_inside, cwd=inside).json["items"] == 4


def test_an_agent_skill_is_a_folder_with_its_evals(place: Any, run_here: Run) -> None:
    result = run_here("create", "--name", "csv_totals", "--from-template", "agent_skill")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == "created csv-totals, an Agent Skill"
    assert "lint it   eval-skills lint skills/csv-totals\n" in result.out
    assert "evals     eval-skills benchmarks import agent-skills skills/csv-totals/evals/evals.json --check" in result.out
    assert (place.folder / "skills/csv-totals/SKILL.md").is_file()
    assert "exists" in refusal(run_here("create", "--name", "csv-totals", "--from-template", "agent_skill"))
