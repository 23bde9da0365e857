from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.agent.loads import loads_in
from eval_skills.adapters.agent.transcript import Transcript

HERE = "/w/1"


@pytest.mark.parametrize(
    ("tool", "arguments", "loaded"),
    [
        pytest.param("skill", {"name": "csv"}, ["csv"], id="tool"),
        pytest.param("Skill", {"command": "csv"}, ["csv"], id="tool-of-another-agent"),
        pytest.param("activate_skill", {"name": "csv"}, ["csv"], id="activate"),
        pytest.param("skill", {"name": "csv-to-json"}, [], id="not-installed"),
        pytest.param("read", {"filePath": f"{HERE}/.agents/skills/csv/SKILL.md"}, ["csv"], id="read"),
        pytest.param("read_file", {"path": ".claude/skills/csv/SKILL.md"}, ["csv"], id="read-relative"),
        pytest.param("read_file", {"path": ".claude/skills/csv/../pdf/SKILL.md"}, ["pdf"], id="normalised"),
        pytest.param("read", {"path": "docs/csv/SKILL.md"}, [], id="no-folder-of-skills"),
        pytest.param("read", {"path": ".agents/skills/csv-to-json/SKILL.md"}, [], id="longer-name"),
        pytest.param("read", {"path": ".agents/skills/csv/scripts/SKILL.md"}, [], id="deeper"),
        pytest.param("read", {"path": ".agents/skills/csv/reference.md"}, [], id="another-file"),
        pytest.param("bash", {"command": "cat .agents/skills/csv/SKILL.md"}, ["csv"], id="command"),
        pytest.param("bash", {"command": "sed -n 1,80p '.agents/skills/csv/SKILL.md' | head"}, ["csv"], id="quoted"),
        pytest.param("bash", {"command": "cd .agents/skills/csv && cat SKILL.md"}, ["csv"], id="cd"),
        pytest.param("bash", {"command": "cat SKILL.md", "workdir": f"{HERE}/.agents/skills/csv"}, ["csv"], id="workdir"),
        pytest.param("shell", {"command": ["bash", "-lc", "cat .agents/skills/csv/SKILL.md"]}, ["csv"], id="list-of-words"),
        pytest.param("bash", {"command": "cat .agents/skills/*/SKILL.md"}, ["csv", "pdf"], id="all"),
        pytest.param("bash", {"command": "cat .agents/skills/{csv,pdf}/SKILL.md"}, ["csv", "pdf"], id="braces"),
        pytest.param("bash", {"command": "cat < .agents/skills/csv/SKILL.md"}, ["csv"], id="redirected"),
        pytest.param("bash", {"command": "ls .agents/skills/csv/SKILL.md"}, [], id="listed"),
        pytest.param("bash", {"command": "find . -name SKILL.md"}, [], id="found"),
        pytest.param("bash", {"command": "echo x > .agents/skills/csv/SKILL.md"}, [], id="written-by-a-command"),
        pytest.param("glob", {"pattern": ".agents/skills/*/SKILL.md"}, [], id="named-by-a-pattern"),
        pytest.param("bash", {"command": "cat " + "{a,b}" * 30 + "/SKILL.md"}, [], id="braces-without-end"),
        pytest.param("write", {"path": ".agents/skills/csv/SKILL.md", "content": "x"}, [], id="written"),
        pytest.param("bash", {"command": "echo 'the skill csv'"}, [], id="name-in-a-text"),
        pytest.param("read", ["a", 1, None, {"b": 2}], [], id="other-arguments"),
        pytest.param("bash", {"command": "cat 'unclosed .agents/skills/csv/SKILL.md"}, ["csv"], id="unclosed-quote"),
    ],
)
def test_a_load_is_told_by_the_skill_tool_or_the_path(tool: str, arguments: Any, loaded: list[str]) -> None:
    assert loads_in(tool, arguments, {"csv", "pdf"}, HERE) == loaded


@pytest.mark.parametrize(
    ("call", "error", "loaded"),
    [
        pytest.param(("skill", {"name": "csv-tools"}), None, ["csv-tools"], id="loaded-from-elsewhere"),
        pytest.param(("skill", {"name": "csv-tools"}), "no such skill", [], id="asked-for-in-vain"),
        pytest.param(("read", {"path": "/home/x/.agents/skills/csv-tools/SKILL.md"}), None, ["csv-tools"], id="file-elsewhere"),
        pytest.param(("skill", {"name": "other"}), None, [], id="not-watched"),
    ],
)
def test_a_skill_that_is_not_installed_is_seen_where_it_is_watched(
    call: tuple[str, dict[str, str]], error: str | None, loaded: list[str]
) -> None:
    transcript = Transcript(workspace="/w", watched=["csv-tools"])
    transcript.tool_call("1", *call)
    assert transcript.skills_loaded == []
    transcript.tool_result("1", "text", error)
    assert transcript.response().skills_loaded == loaded
