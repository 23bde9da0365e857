"""``eval-skills doctor``: it reports what is wrong, whatever that is, and touches nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_skills.cli.main import call
from eval_skills.cli.prefect_server.checks import prefect_checks
from eval_skills.core.environment import Check

SKILL = {"id": "echo", "name": "E", "version": "1.0.0", "adapterType": "custom", "entrypoint": "skill:run"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a skill, on a machine where nothing is configured."""
    import os

    for name in [name for name in os.environ if name.startswith(("EVAL_SKILLS_", "PREFECT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("PREFECT_SERVER_API_PORT", "1")  # never the server that a developer keeps running
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    (project / "skills" / "echo").mkdir(parents=True)
    (project / "skills" / "echo" / "skill.json").write_text(json.dumps(SKILL))
    (project / "skills" / "echo" / "skill.py").write_text("def run(value): return value")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def doctor(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """The exit code and the document of a call."""

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = call(["doctor", "--json", *arguments])
        return code, json.loads(capsys.readouterr().out)

    return run


def status(document: dict[str, Any], area: str, name: str) -> tuple[str, str]:
    return next((each["status"], each["found"]) for each in document["checks"] if (each["area"], each["name"]) == (area, name))


Doctor = Callable[..., tuple[int, dict[str, Any]]]


@pytest.mark.slow
def test_all_is_well(doctor: Doctor, folder: Path) -> None:
    code, document = doctor("--skills-dir", "skills")
    assert (code, document["healthy"], document["counts"]["failed"]) == (0, True, 0)
    assert status(document, "skills", "echo@1.0.0")[0] == "ok"
    assert status(document, "prefect", "server")[0] == "ok"
    assert {path.name for path in folder.iterdir()} == {"skills"}, "nothing was written"


@pytest.mark.slow
def test_a_skill_that_does_not_load_is_exit_code_1(doctor: Doctor, folder: Path) -> None:
    (folder / "skills" / "echo" / "skill.py").write_text("import no_such_library")
    code, document = doctor("--skills", "skills/echo")
    assert (code, document["healthy"]) == (1, False)
    assert "no_such_library" in status(document, "skills", "echo@1.0.0")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("concurency: 3", "did you mean 'concurrency'?", id="p60-unknown-key"),
        pytest.param("concurrency: [", "not valid YAML", id="no-yaml"),
        pytest.param("doctor: {timeoutMs: none}", "doctor.timeoutMs", id="its-own-key"),
    ],
)
def test_a_broken_configuration_is_reported_and_not_the_end(doctor: Doctor, folder: Path, text: str, message: str) -> None:
    (folder / "eval-skills.config.yaml").write_text(text)
    code, document = doctor("--skills-dir", "skills")
    assert code == 1
    found = status(document, "configuration", "files")
    assert found[0] == "failed"
    assert message in found[1]
    assert status(document, "skills", "echo@1.0.0")[0] == "ok"


@pytest.mark.slow
def test_a_configuration_that_is_missing_is_reported_too(doctor: Doctor) -> None:
    code, document = doctor("-c", "missing.yaml")
    assert (code, status(document, "configuration", "files")[0]) == (1, "failed")


@pytest.mark.slow
def test_the_configuration_is_followed(doctor: Doctor, folder: Path) -> None:
    (folder / "file").write_text("")
    (folder / "eval-skills.config.yaml").write_text("store: file/store\ndoctor: {skillsDir: skills}")
    code, document = doctor()
    assert (code, status(document, "places", "store")[0]) == (1, "failed")
    assert status(document, "skills", "echo@1.0.0")[0] == "ok"
    assert status(document, "configuration", "files") == ("ok", str(folder / "eval-skills.config.yaml"))


@pytest.mark.slow
def test_a_store_that_is_none_is_a_row_that_names_where_it_was_said(doctor: Doctor, folder: Path) -> None:
    (folder / "file").write_text("")
    (folder / "eval-skills.config.yaml").write_text("store: file\noutputDir: /proc/x")
    code, document = doctor("--skills-dir", "skills")
    assert (code, status(document, "configuration", "files")) == (1, ("ok", str(folder / "eval-skills.config.yaml")))
    assert [status(document, "places", name)[0] for name in ("store", "outputDir")] == ["failed", "failed"]
    assert "--output-dir" not in status(document, "places", "outputDir")[1]
    assert "eval-skills.config.yaml" in status(document, "places", "outputDir")[1]
    assert status(document, "skills", "echo@1.0.0")[0] == "ok"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--skills", "missing"], "missing: no such skill file or folder", id="path"),
        pytest.param(["--sandbox", "docker"], "--sandbox", id="choice"),
        pytest.param(["--memory-mb", "0"], "--memory-mb", id="range"),
        pytest.param(["--timeout", "soon"], "--timeout", id="number"),
    ],
)
def test_p40_bad_usage_is_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert call(["doctor", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.slow
def test_the_table_says_what_to_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "skills" / "echo" / "skill.json").write_text("{")
    assert call(["doctor", "--skills-dir", "skills"]) == 1
    said = capsys.readouterr().out
    assert "→ fix the file; runs skip it" in said
    assert "1 failed" in said
    (folder / "skills" / "echo" / "skill.json").unlink()
    assert call(["doctor"]) == 0
    assert "no skill was tried; name some with --skills or --skills-dir" in capsys.readouterr().out


class _Api(BaseHTTPRequestHandler):
    answers: dict[str, tuple[int, str]]

    def do_GET(self) -> None:
        code, text = self.answers.get(self.path, (404, "{}"))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[Callable[[int, str], str]]:
    """The address of a server that answers for its version so."""
    servers = []

    def start(code: int, text: str) -> str:
        handler = type("Api", (_Api,), {"answers": {"/api/admin/version": (code, text)}})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/api"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def server_check() -> Check:
    return next(check for check in prefect_checks() if check.name == "server")


@pytest.mark.parametrize(
    ("code", "text", "status", "found"),
    [
        pytest.param(200, '"OURS"', "ok", "has Prefect OURS, as here", id="same"),
        pytest.param(200, '"2.20.1"', "warning", "has Prefect 2.20.1, and here is OURS", id="another-version"),
        pytest.param(401, "{}", "failed", "refuses the credentials: HTTP 401", id="credentials"),
        pytest.param(404, "{}", "failed", "is not a Prefect API: HTTP 404", id="something-else"),
        pytest.param(200, "<html>", "failed", "is not a Prefect API: HTTP 200", id="a-page"),
    ],
)
def test_which_server_answers_and_whether_it_fits(
    folder: Path,
    api: Callable[[int, str], str],
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    text: str,
    status: str,
    found: str,
) -> None:
    from importlib.metadata import version

    monkeypatch.setenv("PREFECT_API_URL", api(code, text.replace("OURS", version("prefect"))))
    check = server_check()
    assert check.status == status
    assert found.replace("OURS", version("prefect")) in check.found
    assert "(PREFECT_API_URL)" in check.found


def test_a_server_that_is_not_there_fails_and_no_password_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://user:hunter22@127.0.0.1:9/api")
    check = server_check()
    assert (check.status, "hunter22" in check.found) == ("failed", False)
    assert check.found.startswith("http://127.0.0.1:9/api does not answer: ")
    assert "eval-skills server start" in check.remedy


def test_a_broken_profile_fails(folder: Path) -> None:
    (folder.parent / "prefect").mkdir()
    (folder.parent / "prefect" / "profiles.toml").write_text("active = [")
    check = next(check for check in prefect_checks() if check.name == "profile")
    assert (check.status, check.remedy) == ("failed", "fix or remove the file")


@pytest.mark.slow
def test_in_a_project_its_skills_and_suites_are_found_in_the_configuration(doctor: Doctor, folder: Path) -> None:
    assert status(doctor()[1], "skills", "echo@1.0.0")[0] == "ok"
    (folder / "eval-skills.config.yaml").write_text("skillsDir: elsewhere\nnightly: {suites: gone.yaml}\n")
    code, document = doctor()
    assert code == 1
    assert "is not a folder" in status(document, "skills", "skillsDir")[1]
    assert status(document, "suites", str(folder / "gone.yaml"))[0] == "failed"
