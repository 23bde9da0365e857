"""The pages that people write: every command and example of them is one that the program takes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import CycloptsError

from docs.blocks import FENCE, PAGES, ROOT, Block, blocks_of, lasting, steps_of, written_pages
from docs.generate import commands_of
from eval_skills.cli.app import app, new_invocation
from eval_skills.cli.configuration import configuration_model
from eval_skills.cli.context import begin
from eval_skills.cli.elsewhere import OPTIONS
from eval_skills.core.models import EvalTask, Skill
from tests.tables import each_row

WRITTEN = written_pages()
BLOCKS = [block for page in WRITTEN for block in blocks_of(page)]
LANGUAGES = {"markdown", "bash", "python", "json", "yaml", "text", "hidden", ""}
FOREIGN_OPTIONS = {
    *("--junitxml", "--constraint", "--exclude-editable", "--resolution", "--forked-workers"),
    *("--limit", "--slot-decay-per-second", "--no-prompt", "--param", "--watch", "--prefect-file", "--type"),
    *("--build", "--detach", "--scale", "--block", "--generate", "--username"),
}
"""Options of other programs that the pages name: pytest and pip; prefect; docker compose, ray and PostgreSQL."""


def place(block: Block) -> str:
    return block.place


def commands_in(text: str) -> Iterator[list[str]]:
    """The calls of eval-skills in a shell block, as words after the name."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        for part in re.split(r"&&|\|(?!\|)|;|\$\(|\)", line.partition(" <<")[0].split(" > ")[0]):
            words = _words(part)
            if words and words[0] == "eval-skills":
                yield words[1:]


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part, comments=True)
    except ValueError:  # a quotation that an operator inside it has cut: the call's other words are read by the run
        return []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@each_row("block", BLOCKS, ids=place)
def test_every_block_is_of_a_kind_that_is_checked(block: Block) -> None:
    assert block.language in LANGUAGES
    for mark in ("not run", "shown"):
        assert block.marks.get(mark, "a reason of some words").count(" ") >= 2, f"{block.place}: say why"


@each_row("page", WRITTEN, ids=lambda page: page.stem)
def test_every_output_belongs_to_a_block_that_is_run(page: Path) -> None:
    outputs = {step.output.line for step in steps_of(page) if step.output}
    texts = {
        block.line for block in blocks_of(page) if block.language == "text" and "shown" not in block.marks and not block.title
    }
    assert texts == outputs


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language in ("bash", "hidden")], ids=place)
def test_every_command_can_be_parsed(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for words in commands_in(block.text):
        begin(new_invocation())
        app.parse_args(words, exit_on_error=False, print_error=False)


def test_an_unknown_option_in_a_page_would_be_found() -> None:
    (words,) = commands_in("cd x && eval-skills find --querry calc | head -3")
    begin(new_invocation())
    with pytest.raises(CycloptsError):
        app.parse_args(words, exit_on_error=False, print_error=False)


@each_row("block", [each for each in BLOCKS if each.language == "python"], ids=place)
def test_python_is_python(block: Block) -> None:
    compile(block.text, block.place, "exec", flags=0x2000)  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


@each_row("block", [each for each in BLOCKS if each.language == "json"], ids=place)
def test_json_is_what_the_program_reads(block: Block) -> None:
    for value in _documents(block):
        for each in value if isinstance(value, list) else value.get("tasks", [value]):
            if "inputData" in each:
                EvalTask.model_validate(each)
            elif "adapterType" in each:
                Skill.model_validate(each)


def _documents(block: Block) -> list[Any]:
    if block.title.endswith(".jsonl"):
        return [json.loads(line) for line in block.text.splitlines()]
    return [json.loads(block.text)]


@pytest.mark.slow
@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language == "yaml"], ids=place)
def test_yaml_that_is_a_configuration_has_known_keys(block: Block) -> None:
    document = yaml.safe_load(block.text)
    if block.title == "eval-skills.config.yaml" or "llm" in document:
        configuration_model(app).model_validate(document)


@each_row("page", WRITTEN, ids=lambda page: page.stem)
def test_every_option_that_is_named_exists(page: Path) -> None:
    prose = "".join(re.findall(r"`[^`]*`", _prose(page)))
    known = known_options() | FOREIGN_OPTIONS | (set(OPTIONS) if page.stem == "glossary" else set())
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose)) - known == set()


@cache
def known_options() -> frozenset[str]:
    """The names of all options of all commands; reading every signature takes longer than reading a page."""
    known = {name for _, inner in commands_of(app) for each in inner.assemble_argument_collection() for name in each.names}
    return frozenset(known | {name for each in app.meta.assemble_argument_collection() for name in each.names}) | {
        "--help",
        "--version",
    }


def _prose(page: Path) -> str:
    """The page without its blocks."""
    kept, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


@each_row("page", ["README.md", "CONTRIBUTING.md", "examples/README.md", "deployments/README.md"])
def test_every_file_that_a_page_of_the_repository_names_is_there(page: str) -> None:
    file = ROOT / page
    linked = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", file.read_text(encoding="utf-8")) if "://" not in target]
    assert linked or page.startswith("examples")
    assert [target for target in linked if not (file.parent / target).exists()] == []


def test_the_tour_goes_through_ten_steps_and_every_room_on_the_way() -> None:
    tour = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## The way of one item")[2].partition("\n## ")[0]
    steps = re.findall(r"^\| (\d+) \|.*\]\((\w+)/", tour, re.MULTILINE)
    assert [number for number, _ in steps] == [str(number) for number in range(1, 11)]
    rooms = set(re.findall(r"\]\((\w+)/", tour))
    assert {"cli", "flows", "tasks", "engine", "adapters", "scorers", "core", "reporting"} <= rooms


@each_row("page", WRITTEN, ids=lambda page: page.stem)
def test_no_page_has_a_word_that_stops_a_reader(page: Path) -> None:
    stops = r"\b(mend|whoever|trouble|yardstick|ballots?|opaque|doubts?|is no |came to)\b"
    assert re.findall(stops, _prose(page)) == []


def test_every_page_is_reachable_from_the_navigation() -> None:
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'= "([\w/-]+\.md)"', text))
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert pages <= named
    assert named <= pages


def test_a_fence_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python notest\n1\n```\n", encoding="utf-8")
    assert not FENCE.match("```python notest")
    with pytest.raises(ValueError, match="not a fence"):
        blocks_of(page)


def test_outputs_are_compared_without_times_and_ids() -> None:
    one = "1  a@1  3.5 ms  0.9998  1\n2  b@1  70 ms  0.9960\nstore  run 20261122T033647Z-9167 in 5.5 s"
    other = "1  b@1  9.1 ms  0.9961  1\n2  a@1  8 ms  0.9972\nstore  run 20261123T043647Z-ffff in 4.0 s"
    assert lasting(one) == lasting(other)
    assert lasting(one) != lasting(one.replace("a@1", "c@1"))


@each_row("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_no_page_has_a_link_that_leads_nowhere(page: Path) -> None:
    """Neither on the site nor where the repository is read: what it names lies in `docs/`."""
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", _prose(page)) if "://" not in link]
    assert [link for link in links if not (page.parent / link).resolve().is_relative_to(ROOT / "docs")] == []
    assert [link for link in links if not (page.parent / link).is_file()] == []
