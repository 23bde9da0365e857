"""The files of deployments/: the containers' are checked for their structure, since nothing here can run them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_skills.cli.prefect_server.api_server import CLIENT_SETTINGS, SERVER_SETTINGS
from eval_skills.engine.nightly.request import load_suites
from tests.end_to_end.deployments.conftest import ROOT

FOLDER = ROOT / "deployments"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SECRET = re.compile(r"PASSWORD|TOKEN|SECRET|API_KEY")


def instructions(name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in DOCKERFILE if line.startswith(f"{name} ")]


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.yaml")), ids=lambda file: file.name)
def test_every_yaml_file_is_one(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict)


def test_the_example_of_suites_is_one() -> None:
    suites = load_suites(FOLDER / "suites.yaml")
    assert [suite.name for suite in suites] == ["arithmetic", "packaging"]
    assert suites[0].skills == [str(FOLDER / "skills")]


def test_the_services_are_these() -> None:
    assert SERVICES.keys() == {"database", "server", "deploy", "worker"}


def test_every_image_has_an_exact_tag() -> None:
    images = [service["image"] for service in SERVICES.values()] + [line.split()[0] for line in instructions("FROM")]
    assert images
    assert [image for image in images if not re.fullmatch(r"[a-z-]+:\d+\.\d+(\.\d+)?(-[a-z-]+)?", image)] == []


def test_our_image_has_the_version_of_the_package() -> None:
    ours = {service["image"] for name, service in SERVICES.items() if name != "database"}
    assert ours == {f"eval-skills:{PROJECT['project']['version']}"}
    assert f"--tag {ours.pop()} " in (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_is_built_once_from_the_dockerfile() -> None:
    built = {name: service["build"] for name, service in SERVICES.items() if "build" in service}
    assert built.keys() == {"server"}
    assert (FOLDER / built["server"]["context"]).resolve() == ROOT
    assert (ROOT / built["server"]["dockerfile"]).resolve() == FOLDER / "Dockerfile"


@pytest.mark.parametrize("name", ["database", "server", "worker"])
def test_what_stays_up_has_a_health_check_and_comes_back(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"
    assert SERVICES[name]["restart"] == "unless-stopped"


def test_services_start_after_what_they_need() -> None:
    needs = {name: service.get("depends_on", {}) for name, service in SERVICES.items()}
    assert needs == {
        "database": {},
        "server": {"database": {"condition": "service_healthy"}},
        "deploy": {"server": {"condition": "service_healthy"}},
        "worker": {"deploy": {"condition": "service_completed_successfully"}},
    }


def test_the_server_has_the_settings_of_our_other_servers() -> None:
    assert SERVICES["server"]["environment"].items() >= SERVER_SETTINGS.items()


def test_p_flush_interval_is_a_whole_number_of_seconds() -> None:
    interval = SERVICES["server"]["environment"]["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"]
    assert int(interval) >= 1


@pytest.mark.parametrize("name", ["deploy", "worker"])
def test_clients_have_the_settings_of_our_other_clients(name: str) -> None:
    assert SERVICES[name]["environment"].items() >= CLIENT_SETTINGS.items()
    assert SERVICES[name]["environment"]["PREFECT_API_URL"] == "http://server:4200/api"


def test_the_worker_knows_its_folder() -> None:
    [volume] = SERVICES["worker"]["volumes"]
    assert volume.endswith(f":{SERVICES['worker']['environment']['SKILLS_FOLDER']}")


def test_no_secret_is_written_down() -> None:
    given = {key: value for service in SERVICES.values() for key, value in service.get("environment", {}).items()}
    secret = {key: value for key, value in given.items() if SECRET.search(key)}
    assert secret.keys() >= {"POSTGRES_PASSWORD", "OPENAI_API_KEY"}
    assert all(re.fullmatch(r"\$\{\w+(:\?[^}]+|:-)\}", value) for value in secret.values())
    assert re.search(r":\$\{POSTGRES_PASSWORD:\?[^}]+\}@", given["PREFECT_API_DATABASE_CONNECTION_URL"])
    assert not SECRET.search("\n".join(DOCKERFILE))


def test_the_password_is_required_and_the_example_leaves_it_blank() -> None:
    assert SERVICES["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    example = (FOLDER / "compose.env.example").read_text(encoding="utf-8")
    assert re.search(r"^POSTGRES_PASSWORD=$", example, re.MULTILINE)
    needed = set(re.findall(r"\$\{(\w+):\?", (FOLDER / "compose.yaml").read_text(encoding="utf-8")))
    assert needed <= set(re.findall(r"^(\w+)=", example, re.MULTILINE))


@pytest.mark.parametrize("name", ["database", "server"])
def test_what_is_known_of_runs_survives_its_container(name: str) -> None:
    [volume] = SERVICES[name]["volumes"]
    assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_the_server_keeps_who_has_the_places_of_a_deployment_in_its_volume() -> None:
    [volume] = SERVICES["server"]["volumes"]
    folder = SERVICES["server"]["environment"]["PREFECT_HOME"]
    assert volume.endswith(f":{folder}")
    assert any("--owner=skills" in line and folder in line for line in instructions("RUN"))  # a volume begins with this owner


def test_ports_are_published_on_this_machine_only() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"server": ["127.0.0.1:4200:4200"]}


@pytest.mark.parametrize("name", ["server", "deploy", "worker"])
def test_a_container_of_ours_may_write_nothing_but_what_it_is_given(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")


def test_the_image_runs_as_nobody_special() -> None:
    last = [line for line in DOCKERFILE if line.startswith(("FROM ", "USER "))][-1]
    assert last == "USER skills"
    assert any("useradd --uid 10001" in line for line in instructions("RUN"))


def test_the_image_installs_what_is_pinned() -> None:
    installs = [part for line in instructions("RUN") for part in line.split("&&") if "pip install" in part]
    assert installs
    assert [part for part in installs if "--constraint constraints.txt" not in part or "--no-cache-dir" not in part] == []


def test_every_room_reaches_the_image() -> None:
    rules = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    rooms = {path.name for path in (ROOT / "eval_skills").iterdir() if path.is_symlink()} | {"eval_skills"}
    assert "*" in rules
    assert rooms | {"deployments", "constraints.txt", "pyproject.toml", "README.md", "LICENSE"} <= kept
    assert [name for name in kept if not (ROOT / name).exists()] == []


def test_files_that_are_copied_into_the_image_are_there() -> None:
    copied = [source for line in instructions("COPY") if "--from" not in line for source in line.split()[:-1]]
    assert [source for source in copied if not (ROOT / source).exists()] == []


def test_compose_deploys_the_file_of_the_image() -> None:
    file = next(line.split()[1] for line in instructions("COPY") if "prefect.yaml" in line)
    assert f"--prefect-file {file}" in SERVICES["deploy"]["command"][-1]


def test_the_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "images").glob("*.png"))
    assert pictures
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []


def test_every_file_that_the_guide_names_is_there() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    linked = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert linked
    assert [target for target in linked if not (FOLDER / target).exists()] == []
    guide = (ROOT / "docs" / "how-to" / "deployments.md").read_text(encoding="utf-8")
    named = re.findall(r"`(deployments/[\w./-]+)`", guide)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
