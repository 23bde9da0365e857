from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from eval_skills.adapters.agent.loads import loads_in
from eval_skills.adapters.agent.transcript import Transcript
from tests.tables import each_row

HERE = "/w/1"


@each_row(
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
    assert loads_in(tool, arguments, {"csv", "pdf"}, HERE).names == tuple(loaded)


@each_row(
    ("call", "error", "loaded"),
    [
        pytest.param(("skill", {"name": "csv-tools"}), None, ["csv-tools"], id="loaded-from-elsewhere"),
        pytest.param(("skill", {"name": "csv-tools"}), "no such skill", [], id="asked-for-in-vain"),
        pytest.param(("read", {"path": "/opt/x/.agents/skills/csv-tools/SKILL.md"}), None, ["csv-tools"], id="file-elsewhere"),
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


@pytest.mark.parametrize(
    ("tool", "arguments", "loaded"),
    [
        pytest.param("skill", {"skill": "csv"}, [], id="tool-of-skills"),
        pytest.param("bash", {"command": "cat .agents/skills/csv/SKILL.md && false"}, ["csv"], id="command-that-had-read-it"),
    ],
)
def test_what_the_tool_of_skills_refused_was_not_loaded(tool: str, arguments: dict[str, str], loaded: list[str]) -> None:
    transcript = Transcript(["csv"], HERE)
    transcript.tool_call("1", tool, arguments)
    assert transcript.skills_loaded == ["csv"], "nothing refused it so far"
    transcript.tool_result("1", None, "name is missing")
    assert transcript.response().skills_loaded == loaded


def test_a_refused_load_takes_no_other_back() -> None:
    transcript = Transcript(["csv", "pdf"], HERE)
    transcript.loaded("pdf")
    for number, (name, error) in enumerate([("csv", None), ("csv", "is loaded already"), ("pdf", "is loaded already")]):
        transcript.tool_call(str(number), "skill", {"name": name})
        transcript.tool_result(str(number), None, error)
    assert transcript.response().skills_loaded == ["pdf", "csv"]


@each_row(
    ("command", "loaded"),
    [
        pytest.param("grep -r '' .agents/skills", ["csv", "pdf"], id="search-below"),
        pytest.param("grep -rn rows .agents/skills/csv", ["csv"], id="search-below-one"),
        pytest.param("rg . .agents/skills", ["csv", "pdf"], id="search-that-goes-into-folders"),
        pytest.param("grep -rl rows .agents/skills", [], id="search-for-names"),
        pytest.param("rg --files .agents/skills", [], id="names-of-files"),
        pytest.param("grep -rl rows .agents/skills | xargs cat", ["csv", "pdf"], id="names-of-a-search-opened"),
        pytest.param("grep -rn 'skills/csv/SKILL.md' README.md", [], id="searched-for-in-another-file"),
        pytest.param("grep -e rows .agents/skills/csv/SKILL.md", ["csv"], id="searched-in"),
        pytest.param("rg rows", [], id="search-without-hidden-folders"),
        pytest.param("cat a.csv | grep rows", [], id="search-in-a-pipe"),
        pytest.param("find .agents/skills -name SKILL.md | xargs cat", ["csv", "pdf"], id="xargs"),
        pytest.param("find .agents/skills -name '*.md' -exec cat {} +", ["csv", "pdf"], id="exec"),
        pytest.param("find .agents/skills/pdf -type f -exec head -5 {} \\;", ["pdf"], id="exec-below-one"),
        pytest.param("find .agents/skills -name '*.py' -exec cat {} +", [], id="exec-of-other-files"),
        pytest.param("find .agents/skills -name SKILL.md -exec ls -l {} +", [], id="exec-that-lists"),
        pytest.param("find .agents/skills -name SKILL.md | xargs grep -l rows", [], id="xargs-that-names"),
        pytest.param('D=.agents/skills/csv; cat "$D/SKILL.md"', ["csv"], id="variable"),
        pytest.param('for f in .agents/skills/*/SKILL.md; do cat "$f"; done', ["csv", "pdf"], id="loop"),
        pytest.param('for f in .agents/skills/*/SKILL.md; do echo "$f"; done', [], id="loop-that-lists"),
        pytest.param("pushd .agents/skills/csv; cat SKILL.md", ["csv"], id="pushd"),
        pytest.param("cd .agents/skills/csv && text=$(cat SKILL.md)", ["csv"], id="command-in-a-command"),
        pytest.param("cat $(ls .agents/skills/csv/*.md)", ["csv"], id="files-named-by-a-command"),
        pytest.param("cat .agents/skills/csv/*", ["csv"], id="all-files"),
        pytest.param("cat .agents/skills/**/SKILL.md", ["csv", "pdf"], id="any-depth"),
        pytest.param("bash -c 'cat .agents/skills/csv/SKILL.md'", ["csv"], id="shell-in-a-shell"),
        pytest.param("cd $HOME && cat .agents/skills/csv/SKILL.md", ["csv"], id="unknown-folder-and-known-end"),
        pytest.param(
            "python3 - <<'E'\nprint(open('.agents/skills/csv/SKILL.md').read())\nE", ["csv"], id="program-that-opens-it"
        ),
        pytest.param("python3 .agents/skills/csv/scripts/rows.py a.csv", [], id="script-of-a-skill"),
        pytest.param("git commit -m 'fix .agents/skills/csv/SKILL.md'", [], id="message"),
        pytest.param("cat > a.md <<E\nsee .agents/skills/csv/SKILL.md\nE", [], id="written-text"),
        pytest.param("cat a.csv # not .agents/skills/csv/SKILL.md", [], id="comment"),
        pytest.param("if [ -f .agents/skills/csv/SKILL.md ]; then echo yes; fi", [], id="asked-for"),
    ],
)
def test_what_a_command_opens_is_known_where_it_is_understood(command: str, loaded: list[str]) -> None:
    found = loads_in("bash", {"command": command}, {"csv", "pdf"}, HERE)
    assert (found.names, found.possible) == (tuple(loaded), frozenset())


@each_row(
    ("command", "possible"),
    [
        pytest.param("cat .agents/skills/$name/SKILL.md", {"csv", "pdf"}, id="unknown-variable"),
        pytest.param('find .agents/skills -type f | while read f; do cat "$f"; done', {"csv", "pdf"}, id="loop-over-lines"),
        pytest.param("cat $(find .agents/skills -name SKILL.md)", {"csv", "pdf"}, id="found-by-a-command"),
        pytest.param(
            "python3 - <<'E'\nfor f in glob('.agents/skills/*/SKILL.md'): print(f.read())\nE", {"csv", "pdf"}, id="program"
        ),
        pytest.param("node -e \"x('.agents/skills/csv/SKILL.md')\"", {"csv"}, id="program-that-names-one"),
        pytest.param("cp -r .agents/skills/csv /tmp/x", {"csv"}, id="folder-copied"),
        pytest.param("tar cf - .agents/skills", {"csv", "pdf"}, id="folder-given-to-a-program"),
        pytest.param("grep -rn rows .", {"csv", "pdf"}, id="search-from-above"),
        pytest.param("find . -name SKILL.md -exec cat {} +", {"csv", "pdf"}, id="found-from-above"),
        pytest.param(" " * 30_000 + "cat .agents/skills/csv/SKILL.md", {"csv"}, id="longer-than-is-read"),
    ],
)
def test_what_may_have_opened_it_leaves_unknown_what_was_loaded(command: str, possible: set[str]) -> None:
    found = loads_in("bash", {"command": command}, {"csv", "pdf"}, HERE)
    assert (list(found.names), set(found.possible)) == ([], possible)

    transcript = Transcript(["csv", "pdf"], HERE)
    transcript.tool_call("1", "bash", {"command": command})
    assert transcript.response().skills_loaded is None
    for name in sorted(possible):
        transcript.tool_call(None, "skill", {"name": name})
    assert transcript.response().skills_loaded == sorted(possible)


@each_row(
    "command",
    [
        "cat .agents/skills/*/SKILL.md",
        'for f in .agents/skills/*/SKILL.md; do cat "$f"; done',
        "grep -r '' .agents/skills",
        "find .agents/skills -name SKILL.md | xargs cat",
        "grep -rn rows .",
        "cat .agents/skills/$name/SKILL.md",
    ],
)
def test_where_nothing_is_installed_a_pattern_loads_nothing(command: str) -> None:
    transcript = Transcript(workspace="/w", watched=["csv"])
    transcript.tool_call("1", "bash", {"command": command})
    transcript.tool_result("1", "[exit code 1]")
    assert transcript.response().skills_loaded == []


@pytest.mark.parametrize(
    ("command", "result", "loaded"),
    [
        pytest.param("cat /opt/x/skills/*/SKILL.md", "Count rows.", None, id="pattern-elsewhere"),
        pytest.param("cat /opt/x/skills/csv/SKILL.md", "Count rows.", ["csv"], id="named"),
        pytest.param("cat /opt/x/skills/csv/SKILL.md", "cat: No such file or directory", None, id="named-in-vain"),
    ],
)
def test_of_a_skill_that_is_not_installed_only_its_name_is_a_load(command: str, result: str, loaded: list[str] | None) -> None:
    transcript = Transcript(workspace="/w", watched=["csv"])
    transcript.tool_call("1", "bash", {"command": command})
    transcript.tool_result("1", result)
    assert transcript.response().skills_loaded == loaded


@each_row(
    ("tool", "arguments"),
    [
        pytest.param(
            "str_replace_based_edit_tool", {"command": "view", "path": ".agents/skills/csv/SKILL.md"}, id="editor-that-views"
        ),
        pytest.param("read", '{"path": ".agents/skills/csv/SKILL.md"}', id="arguments-as-a-text"),
        pytest.param("skill", '{"name": "csv"}', id="name-in-a-text"),
        pytest.param("read_many_files", {"paths": [".agents/skills/csv"]}, id="many-files"),
        pytest.param("run", {"code": "print(open('.agents/skills/csv/SKILL.md').read())"}, id="code"),
    ],
)
def test_other_tools_load_what_they_open(tool: str, arguments: Any) -> None:
    assert loads_in(tool, arguments, {"csv", "pdf"}, HERE).names == ("csv",)


@pytest.mark.parametrize(
    ("result", "loaded"),
    [
        pytest.param("a.csv:1:rows", [], id="elsewhere"),
        pytest.param("Found 1 file\n.agents/skills/csv/SKILL.md", [], id="named-alone"),
        pytest.param("./.agents/skills/csv/SKILL.md:3:Count rows.", ["csv"], id="line-shown"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "arguments"), [("Grep", {"pattern": "rows"}), ("bash", {"command": "grep -rn rows ."})], ids=["tool", "command"]
)
def test_a_search_from_above_loads_what_its_result_shows(tool: str, arguments: Any, result: str, loaded: list[str]) -> None:
    transcript = Transcript(["csv", "pdf"], HERE)
    transcript.tool_call("1", tool, arguments)
    assert transcript.response().skills_loaded is None
    transcript.tool_result("1", result)
    assert transcript.response().skills_loaded == loaded


@pytest.mark.parametrize(
    ("second", "error", "loaded"),
    [
        pytest.param("cat SKILL.md", None, None, id="unknown-where-it-ran"),
        pytest.param("cat SKILL.md", "no such file", [], id="not-there"),
        pytest.param("cat a.csv", None, [], id="another-file"),
    ],
)
def test_a_folder_that_an_earlier_command_entered_may_be_that_of_the_next(
    second: str, error: str | None, loaded: list[str] | None
) -> None:
    transcript = Transcript(["csv"], HERE)
    for number, (command, failed) in enumerate([("cd .agents/skills/csv", None), (second, error)]):
        transcript.tool_call(str(number), "bash", {"command": command})
        transcript.tool_result(str(number), "", failed)
    assert transcript.response().skills_loaded == loaded


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("x " + "# " * 200_000 + "'", id="comments"),
        pytest.param("cat <<" + "a" * 200_000, id="a-word"),
        pytest.param("cat " + "<<a " * 50_000, id="words"),
        pytest.param("cat <<A\n" * 50_000, id="documents"),
        pytest.param("grep -" + "l" * 19_000 + "! x .agents/skills", id="names"),
        pytest.param("grep -" + "r" * 19_000 + "! x .agents/skills", id="recursive"),
        pytest.param("rg -" + "u" * 19_000 + "! x .agents/skills", id="hidden"),
        pytest.param(
            f"for a in {'name ' * 60}; do " * 20 + "cat $a/skills/$a/SKILL.md; " * 200,
            id="loops",
        ),
    ],
)
def test_a_command_takes_little_time_however_it_is_made(command: str) -> None:
    began = process_time()
    loads_in("bash", {"command": command}, {"csv", "pdf"}, HERE, elsewhere={"md"}, entered={f"{HERE}/.agents/skills"}, result="")
    assert process_time() - began < 1.5


def test_more_paths_than_are_read_leave_the_rest_unknown() -> None:
    many = "cat notes/a.txt; " * 600 + "cat .agents/skills/csv/SKILL.md"
    found = loads_in("bash", {"command": many}, {"csv", "pdf"}, HERE)
    assert found.names == ()
    assert found.possible == {"csv"}
