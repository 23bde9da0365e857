from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.config import Config
from eval_skills.core.environment import Check
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Store
from eval_skills.engine.doctor import HealthCheckRequest, health_checks


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(output_dir=str(tmp_path / "reports"), store=str(tmp_path / "store"), timeout_ms=60_000)


def skill_file(folder: Path, **more: Any) -> Path:
    folder.mkdir(parents=True)
    data = {"id": folder.name, "name": "S", "version": "1.0.0", "adapterType": "custom", "entrypoint": "skill:run"}
    (folder / "skill.json").write_text(json.dumps(data | more))
    (folder / "skill.py").write_text("def run(value): return value")
    return folder


def of(checks: list[Check], area: str) -> list[Check]:
    return [check for check in checks if check.area == area]


def test_without_skills_none_is_tried_and_nothing_is_written(config: Config, tmp_path: Path) -> None:
    checks = health_checks(HealthCheckRequest(config))
    assert of(checks, "skills") == []
    assert [check.name for check in of(checks, "places")] == ["outputDir", "store", "space", "file clock"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["output_dir", "store"])
def test_a_place_that_cannot_be_written_to_fails(config: Config, tmp_path: Path, key: str) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "below"
    broken = config.model_copy(update={key: place if key == "output_dir" else str(place)})
    failed = [check for check in of(health_checks(HealthCheckRequest(broken)), "places") if check.status == "failed"]
    assert [str(place) in check.found for check in failed] == [True]


def test_a_store_that_is_no_store_is_a_finding_and_not_the_end(config: Config, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    checks = health_checks(HealthCheckRequest(config.model_copy(update={"store": str(tmp_path / "file")})))
    (failed,) = [check for check in checks if check.status == "failed"]
    assert (failed.area, failed.name, failed.remedy) == ("places", "store", "name a folder that can be written to")
    assert "is a file; name a folder" in failed.found


@pytest.mark.slow
def test_a_store_in_object_storage_is_opened(config: Config, url: str, bucket: str) -> None:
    checks = of(health_checks(HealthCheckRequest(config.model_copy(update={"store": url}))), "places")
    assert checks[1].found == f"{url} can be read; its mirror here is {Store(url).layout.root}"
    checks = of(health_checks(HealthCheckRequest(config.model_copy(update={"store": f"s3://not-{bucket}"}))), "places")
    assert (checks[1].status, f"there is no bucket not-{bucket}" in checks[1].found) == ("failed", True)


@pytest.mark.slow
def test_p47_a_malformed_skill_is_a_finding_and_hides_no_neighbour(config: Config, tmp_path: Path) -> None:
    skill_file(tmp_path / "skills" / "good")
    skill_file(tmp_path / "skills" / "bad", version="one")
    for request in (
        HealthCheckRequest(config, skills_dir=tmp_path / "skills"),
        HealthCheckRequest(config, skills=[str(tmp_path / "skills" / "bad"), str(tmp_path / "skills" / "good")]),
    ):
        found = {Path(check.name).name: check.status for check in of(health_checks(request), "skills")}
        assert sorted(found.values()) == ["failed", "ok"]
        assert found["good@1.0.0"] == "ok"


@pytest.mark.slow
def test_a_skill_that_is_named_twice_is_tried_once(config: Config, tmp_path: Path) -> None:
    folder = skill_file(tmp_path / "skills" / "good")
    checks = health_checks(
        HealthCheckRequest(config, skills=[str(folder), str(folder / "skill.json")], skills_dir=tmp_path / "skills")
    )
    assert [check.name for check in of(checks, "skills")] == ["good@1.0.0"]


@pytest.mark.slow
def test_p40_paths_that_hold_no_skill_are_a_usage_error(config: Config, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such skill file or folder"):
        health_checks(HealthCheckRequest(config, skills=[str(tmp_path / "missing")]))
    with pytest.raises(InputError, match="no such folder of skills"):
        health_checks(HealthCheckRequest(config, skills_dir=tmp_path / "missing"))
    with pytest.raises(InputError, match=r"no skill.json in this folder"):
        health_checks(HealthCheckRequest(config, skills_dir=tmp_path))
    for name in ("a", "b"):
        skill_file(tmp_path / "twice" / name, id="same")
    with pytest.raises(UsageError, match="is in two folders"):
        health_checks(HealthCheckRequest(config, skills_dir=tmp_path / "twice"))


def test_secrets_that_are_not_set_are_named(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISSING_KEY", raising=False)
    checks = of(
        health_checks(HealthCheckRequest(config.model_copy(update={"secrets": ["MISSING_KEY", "PATH"]}))), "configuration"
    )
    assert [(check.status, check.found) for check in checks] == [("warning", "named and not set: MISSING_KEY")]


@pytest.mark.slow
def test_p71_what_a_skill_says_is_told_without_its_secret(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_TOKEN", "canary-4711")
    folder = skill_file(tmp_path / "leaky", adapterConfig={"passEnv": ["PROBE_TOKEN"]})
    (folder / "skill.py").write_text("import os\nraise RuntimeError(os.environ['PROBE_TOKEN'])")
    (check,) = of(health_checks(HealthCheckRequest(config, skills=[str(folder)])), "skills")
    assert check.status == "failed"
    assert "[redacted:PROBE_TOKEN]" in check.found
    assert "canary" not in check.found


@pytest.mark.slow
def test_agents_on_path_are_listed_with_their_versions_and_what_they_lack(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {"codex": "echo codex-cli 1.2.3", "opencode": "echo 4.5.6", "gemini": "exit 3"}
    (tmp_path / "bin").mkdir()
    for name, line in programs.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = {check.name: check for check in of(health_checks(HealthCheckRequest(config)), "agents")}
    assert {name: check.status for name, check in found.items()} == {"codex": "ok", "gemini": "warning", "opencode": "warning"}
    assert found["codex"].found == "codex-cli 1.2.3"
    assert found["opencode"].found == (
        "4.5.6; there is no program 'rg' on PATH, which opencode needs: its tool `skill` fails without it; install ripgrep"
    )
    assert "does not say its version" in found["gemini"].found
