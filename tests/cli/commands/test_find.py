"""`find`: what it shows, in which order, and what it says of skills that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

Run = Callable[..., Any]


@pytest.fixture
def library(place: Any) -> Any:
    """Three skills and a malformed one."""
    skill = json.loads((place.folder / "skills/calculator/skill.json").read_text())
    for number, name in enumerate(("abacus", "weather")):
        changes = {"id": name, "name": name.title(), "description": "Counts.", "tags": ["t", f"t{number}"]}
        place.write(f"skills/{name}/skill.json", skill | changes)
    place.write("skills/broken/skill.json", {**skill, "version": "one"})
    return place


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        pytest.param([], ["abacus", "calculator", "weather"], id="all"),
        pytest.param(["-q", "ABAC"], ["abacus"], id="query"),
        pytest.param(["--query", "t0"], ["abacus"], id="query-in-tags"),
        pytest.param(["-t", "t"], ["abacus", "weather"], id="tag"),
        pytest.param(["--tag", "t", "t1"], ["weather"], id="all-of-the-tags"),
        pytest.param(["-a", "http"], [], id="adapter"),
        pytest.param(["--limit", "1"], ["abacus"], id="limit"),
        pytest.param(["--skills-dir", "skills/weather"], ["weather"], id="skills-dir"),
        pytest.param(["--min-completion", "0.1"], [], id="nothing-is-known-yet"),
    ],
)
def test_p59_each_option_narrows(library: Any, run_here: Run, arguments: list[str], ids: list[str]) -> None:
    result = run_here("find", *arguments, "--json")
    assert result.code == 0
    assert [skill["id"] for skill in result.json["skills"]] == ids


def test_p47_a_malformed_skill_is_listed_with_file_path_and_reason(library: Any, run_here: Run) -> None:
    [bad] = run_here("find", "--json").json["invalid"]
    assert bad["path"].endswith("skills/broken/skill.json")
    assert "version" in bad["reason"]
    spoken = run_here("find")
    assert spoken.code == 0
    [line] = [line for line in spoken.out.splitlines() if line.startswith("invalid")]
    assert line == f"invalid  {bad['reason']}"


def test_a_folder_of_malformed_skills_only_is_listed_too(library: Any, run_here: Run) -> None:
    result = run_here("find", "--skills-dir", "skills/broken")
    assert result.code == 0
    assert result.out.startswith("no skill matches\ninvalid  ")


@pytest.mark.parametrize("arguments", [["--json", "find"], ["find", "--json"]], ids=["before", "after"])
def test_p62_json_is_one_document_wherever_it_is_asked_for(library: Any, run_here: Run, arguments: list[str]) -> None:
    result = run_here(*arguments)
    assert set(result.json) == {"skills", "invalid"}
    assert result.err == ""


def test_a_skills_name_is_never_broken_in_two(library: Any, run_here: Run) -> None:
    name = "a_rather_long_skill_name_that_people_write_all_the_same"
    skill = json.loads((library.folder / "skills/calculator/skill.json").read_text())
    library.write(f"skills/{name}/skill.json", skill | {"id": name})
    assert f"{name}@1.0.0 " in run_here("find").out


def test_p46_a_rate_that_no_run_ever_measured_is_said_to_be_unknown(library: Any, run_here: Run) -> None:
    result = run_here("find", "--min-completion", "0.1")
    assert (result.code, result.out.splitlines()[0]) == (0, "no skill matches")
    assert "eval-store holds no results yet" in result.err


def test_a_long_description_is_cut_in_a_table_of_80_columns_and_whole_in_json(
    library: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Fetches a page. " * 60
    name = "fetch_the_page_of_an_address_and_return_what_it_says_as_markdown"
    skill = json.loads((library.folder / "skills/calculator/skill.json").read_text())
    library.write(f"skills/{name}/skill.json", skill | {"id": name, "description": said, "tags": ["mcp"]})
    assert run_here("find", "-q", "fetch", "--json").json["skills"][0]["description"] == said
    monkeypatch.setattr("eval_skills.cli.context.Invocation.out", lambda self, **_: Console(width=80))
    lines = [line for line in run_here("find", "-q", "fetch").out.splitlines() if not line.startswith("invalid")]
    assert {len(line) for line in lines} == {80}
    assert lines[0].split() == ["skill", "adapter", "passed", "last", "run", "tags", "description"]
    width = lines[0].index("adapter")
    assert "".join(line[:width].strip() for line in lines[1:5]) == f"{name}@1.0.0", "folded, not cut"
    assert "…" in lines[-1], "where it was cut, it says so"
    assert len(lines) < 12


def test_a_narrow_terminal_has_names_whole_and_says_what_is_left_out(
    library: Any, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.cli.context.Invocation.out", lambda self, **_: Console(width=40))
    lines = run_here("find", "-q", "calc").out.splitlines()
    assert lines[0].split() == ["skill", "passed", "description"]
    assert lines[1].startswith("calculator@1.0.0  ")
    assert "left out for lack of room: tags, last run, adapter; in a wider terminal and with --json they are shown" in lines


def test_agent_skills_are_found_beside_skills(place: Any, run_here: Any) -> None:
    text = "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\n"
    place.write("mixed/one/.agents/pdf/SKILL.md", text)
    place.write("mixed/two/pdf/SKILL.md", text)
    place.write("mixed/dead/SKILL.md", "nothing")
    result = run_here("find", "--skills-dir", "mixed", "--json")
    assert [(entry["kind"], entry["id"], entry["adapterType"]) for entry in result.json["skills"]] == [
        ("agent-skill", "pdf", None),
        ("agent-skill", "pdf", None),
    ]
    assert "no frontmatter" in result.json["invalid"][0]["reason"]
    assert "pdf is in two folders" in result.err
    shown = run_here("find", "--skills-dir", "mixed", "-q", "pdf")
    assert (shown.code, shown.out.count("SKILL.md ")) == (0, 2)


@pytest.mark.slow
def test_a_last_run_without_a_verdict_is_unknown_and_comes_last(library: Any, run_here: Run, past: Callable[..., str]) -> None:
    down = [{"status": "error", "error_kind": "infra", "passed": False, "score": None}] * 4
    past("20260101T100000Z-0001", skill_id="abacus", passed=4)
    past("20260102T100000Z-0002", skill_id="abacus", judged=down)
    past("20260103T100000Z-0003", skill_id="weather", passed=0)
    found = run_here("find", "--json").json["skills"]
    assert [(each["id"], each["lastCompletion"]) for each in found] == [("weather", 0.0), ("abacus", None), ("calculator", None)]
    assert found[1]["lastEvaluated"].startswith("2026-01-02")
    (line,) = [line for line in run_here("find").out.splitlines() if line.startswith("abacus")]
    assert line.split()[2:4] == ["–", "2026-01-02"]
    assert [each["id"] for each in run_here("find", "--min-completion", "0", "--json").json["skills"]] == ["weather"]
