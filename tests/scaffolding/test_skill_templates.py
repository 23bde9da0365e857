"""Every template renders to a whole skill, and what it is given stays text."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.benchmarks import load_benchmark
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.skills import load_skill
from eval_skills.scaffolding import skill_templates
from eval_skills.scaffolding.draft import Draft, checked_skill, write_drafts
from eval_skills.scaffolding.names import skill_name
from eval_skills.scaffolding.skill_templates import DESCRIPTION, TEMPLATES, draft_skill, shown_path
from eval_skills.scorers import score_response

HOSTILE = [
    pytest.param('Bob\'s "Tool"', id="quotes"),
    pytest.param("a {{ 7*7 }} {% include 'shared/answer.py.jinja' %} {# b #}", id="template-syntax"),
    pytest.param('x", "entrypoint": "rm -rf', id="json-breaking"),
    pytest.param("<script>alert(1)</script> | `a` ](b) \\ $x$", id="markdown-and-html"),
    pytest.param('""" + str(1) + """', id="python-breaking"),
    pytest.param("Wörter 日本 🎈", id="unicode"),
]
PROGRAMS = {"http_request": "server.py", "python_script": "skill.py", "mcp_tool": "server.py", "langchain": "skill.py",
            "custom": "skill.py"}  # fmt: skip


def written(template: str, parent: Path, name: str = "Weather Lookup", description: str = DESCRIPTION) -> Path:
    draft = draft_skill(skill_name(name), template, parent, description=description)
    write_drafts([draft])
    return draft.folder


def test_the_list_of_templates_is_what_is_there() -> None:
    folders = {path.name for path in skill_templates._ROOT.iterdir() if path.name not in ("shared", "agent_skill")}
    assert folders == set(TEMPLATES) == set(PROGRAMS)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_gives_a_whole_skill(template: str, tmp_path: Path) -> None:
    folder = written(template, tmp_path / "skills")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    program = PROGRAMS[template]
    assert files - {"requirements.txt"} == {"skill.json", "adapter.config.json", "tests/basic.eval.json", "README.md", program}
    skill = load_skill(folder)
    assert (skill.id, skill.name, skill.description, skill.version) == ("weather-lookup", "Weather Lookup", DESCRIPTION, "0.1.0")
    assert folder.name == skill.id
    own = json.loads((folder / "adapter.config.json").read_text())
    assert skill.adapter_config == own != {}
    ast.parse((folder / program).read_text())
    assert all(path.read_text().endswith("\n") and "{%" not in path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("template", TEMPLATES)
def test_its_tests_ask_in_several_ways(template: str, tmp_path: Path) -> None:
    benchmark = load_benchmark(written(template, tmp_path) / "tests" / "basic.eval.json")
    assert benchmark.id == "weather-lookup-basic"
    assert 3 <= len(benchmark.tasks) <= 5
    assert {task.evaluator_type for task in benchmark.tasks} == {"exact_match", "contains", "regex", "json_schema"}


@pytest.mark.parametrize("template", [template for template in TEMPLATES if template != "mcp_tool"])
def test_its_program_says_where_to_go_on(template: str, tmp_path: Path) -> None:
    folder = written(template, tmp_path)
    assert "Put your own" in (folder / PROGRAMS[template]).read_text()
    assert f"`{PROGRAMS[template]}`" in (folder / "README.md").read_text()


@pytest.mark.parametrize("template", TEMPLATES)
async def test_p99_it_is_a_good_package_but_for_what_only_its_author_knows(template: str, tmp_path: Path) -> None:
    missing = {}
    async with open_adapter(load_skill(written(template, tmp_path)), subject="package") as adapter:
        for task in load_benchmark("skill-quality").tasks:
            response = await adapter.call(task.input_data, 60.0)
            if (await score_response(task, response)).status != "pass":
                missing[task.id] = [sentence.split()[0] for sentence in response.output["missing"]]
    assert missing == {"metadata": ["metadata.author", "metadata.license", "metadata.homepage"]}


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_readme_shows_the_command_that_tests_it(template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (written(template, tmp_path / "my skills") / "README.md").read_text()
    command = re.search(r"^```\n(.*)\n```$", readme, re.MULTILINE)
    assert command is not None
    folder = "my skills/weather-lookup"
    assert shlex.split(command[1]) == ["eval-skills", "eval", "--skills", folder, "--tasks", f"{folder}/tests/basic.eval.json"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_name_and_a_description_stay_text(template: str, text: str, tmp_path: Path) -> None:
    name = skill_name(text.replace("/", "").replace("\\", ""))
    draft = draft_skill(name, template, tmp_path, description=text)
    write_drafts([draft])
    skill = load_skill(draft.folder)
    assert (skill.id, skill.name, skill.description) == (name.id, name.name, text)
    plain = load_skill(written(template, tmp_path / "plain"))
    assert (skill.entrypoint, skill.adapter_config) == (plain.entrypoint, plain.adapter_config)
    assert load_benchmark(draft.folder / "tests" / "basic.eval.json").name == f"{name.name}: the basics"
    ast.parse(draft.files[PROGRAMS[template]])
    readme = draft.files["README.md"]
    assert "<script>" not in readme
    assert len(readme.splitlines()) == len((tmp_path / "plain" / plain.id / "README.md").read_text().splitlines())


def test_p64_an_unknown_template_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        draft_skill(skill_name("x"), "python_scrpt", tmp_path)
    says = "--from-template 'python_scrpt' is unknown (did you mean 'python_script'?); valid are http_request, python_script"
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("name", ["..", "../../..", "shared", "http_request/tests", ""])
def test_a_template_is_never_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is unknown"):
        draft_skill(skill_name("x"), name, tmp_path)


def test_a_template_cannot_print_what_no_filter_made_fit() -> None:
    template = skill_templates._environment().from_string("{{ name }}")
    with pytest.raises(TypeError, match="filter json or markdown"):
        template.render(name="<b>")


def test_a_draft_that_could_not_be_read_back_is_refused(tmp_path: Path) -> None:
    good = draft_skill(skill_name("x"), "custom", tmp_path)
    skill = json.loads(good.files["skill.json"])
    with pytest.raises(InputError, match=r"x/skill\.json: version"):
        checked_skill(Draft(good.folder, {**good.files, "skill.json": json.dumps({**skill, "version": "one"})}))
    with pytest.raises(InputError, match=r"basic\.eval\.json: tasks"):
        checked_skill(Draft(good.folder, {**good.files, "tests/basic.eval.json": json.dumps({"id": "b", "name": "B",
                                                                                             "version": "1.0.0"})}))  # fmt: skip


@pytest.mark.parametrize(
    ("below", "shown"),
    [pytest.param("here/skills", "skills", id="below"), pytest.param("here/-x", "./-x", id="like-an-option")],
)
def test_a_path_is_shown_as_one_would_type_it(below: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert shown_path(tmp_path / below) == shown
    assert shown_path(tmp_path / "elsewhere") == str(tmp_path / "elsewhere")
