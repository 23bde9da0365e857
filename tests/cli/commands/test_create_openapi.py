"""`create --from-openapi`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.skills import load_skill

Run = Callable[..., Any]
PETS = Path(__file__).parents[2] / "scaffolding" / "pets.yaml"
OUTSIDE = (
    "the tests call https://pets.example.com/v2, which needs an outside network, and expect the form of its answers only; for the"
    " document's own answers, name a test server with --base-url"
)
CHANGES = (
    "every run of the tests of create-pet, put-pets-pet-id, delete-pet changes data at https://pets.example.com/v2; use a test"
    " server (--base-url)"
)
NEW = {"list-pets", "create-pet", "show-pet", "put-pets-pet-id", "delete-pet"}


@pytest.fixture
def pets(place: Any) -> Path:
    shutil.copy(PETS, place.folder / "pets.yaml")
    return Path(place.folder)


def test_a_skill_for_every_operation(pets: Path, run_here: Run) -> None:
    result = run_here("create", "--from-openapi", "pets.yaml", "--output-dir", "api")
    assert (result.code, result.err) == (0, f"{OUTSIDE}\n{CHANGES}\n")
    assert result.out.splitlines() == [
        "created list-pets  api/list-pets",
        "created create-pet  api/create-pet",
        "created show-pet  api/show-pet",
        "created put-pets-pet-id  api/put-pets-pet-id",
        "created delete-pet  api/delete-pet",
        "set first  SKILL_PETS_APIKEY, SKILL_PETS_BEARER",
        "test it    eval-skills eval --own-tests --skills api",
    ]
    assert {path.name for path in (pets / "api").iterdir()} == NEW


def test_one_operation_has_the_name_that_is_given(pets: Path, run_here: Run) -> None:
    result = run_here(
        *("create", "--from-openapi", "pets.yaml", "--operation", "showPet", "--name", "Pet Shower"),
        *("--base-url", "http://127.0.0.1:8080", "--json"),
    )
    assert result.code == 0, result.err
    [skill] = result.json["skills"]
    assert (skill["id"], result.json["variables"], result.json["remarks"]) == ("pet-shower", ["SKILL_PETS_APIKEY"], [])
    loaded = load_skill(pets / "skills" / "pet-shower")
    assert (loaded.name, loaded.adapter_config["baseUrl"]) == ("Pet Shower", "http://127.0.0.1:8080")


def test_the_name_goes_before_those_of_several(pets: Path, run_here: Run) -> None:
    assert run_here("create", "--from-openapi", "pets.yaml", "--name", "shop").code == 0
    assert {f"shop-{name}" for name in NEW} < {path.name for path in (pets / "skills").iterdir()}


def test_p67_what_is_left_out_is_said(pets: Path, run_here: Run) -> None:
    text = PETS.read_text(encoding="utf-8").replace("    delete:", "    options: {}\n    delete:")
    (pets / "pets.yaml").write_text(text, encoding="utf-8")
    result = run_here("create", "--from-openapi", "pets.yaml", "--json")
    assert result.json["remarks"] == [
        "left out OPTIONS /pets/{petId}: OPTIONS has no answer for a skill to return",
        OUTSIDE,
        CHANGES,
    ]
    assert "left out OPTIONS /pets/{petId}" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--from-openapi", "absent.yaml"], "absent.yaml: no such file", id="no-file"),
        pytest.param(["--from-openapi", "old.json"], "this is Swagger '2.0'; only OpenAPI 3.0 and 3.1 can be read", id="swagger"),
        pytest.param(["--from-openapi", "pets.yaml", "--operation", "showPt"], "did you mean 'showPet'?", id="operation"),
        pytest.param(["--from-openapi", "pets.yaml", "--base-url", "h"], "--base-url 'h' is not an http://", id="base-url"),
        pytest.param(["--from-openapi", "pets.yaml", "--name", "a/b"], "looks like a path", id="name"),
        pytest.param(["--from-openapi", "pets.yaml", "--from-template", "custom"], "cannot stand beside", id="template"),
        pytest.param(["--operation", "x", "--name", "y"], "name it with --from-openapi", id="no-document"),
    ],
)
def test_what_is_refused_writes_nothing(pets: Path, run_here: Run, place: Any, arguments: list[str], message: str) -> None:
    place.write("old.json", {"swagger": "2.0", "paths": {}})
    before = place.files()
    result = run_here("create", *arguments)
    assert (result.code, result.out, place.files()) == (2, "", before)
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.slow
def test_p64_nothing_is_overwritten_unless_asked(pets: Path, run_here: Run) -> None:
    assert run_here("create", "--from-openapi", "pets.yaml", "--operation", "deletePet").code == 0
    again = run_here("create", "--from-openapi", "pets.yaml")
    assert again.code == 2
    assert "skills/delete-pet/skill.json exists; give another name or folder, or --force" in again.err
    assert not (pets / "skills" / "list-pets").exists()
    assert run_here("create", "--from-openapi", "pets.yaml", "--force").code == 0


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        pytest.param(["--limit", "2"], {"list-pets", "create-pet"}, id="limit"),
        pytest.param(["--path", "/pets/{petId}"], {"show-pet", "put-pets-pet-id", "delete-pet"}, id="path"),
        pytest.param(["--path", "/pets", "--limit", "3"], {"list-pets", "create-pet", "show-pet"}, id="both"),
    ],
)
def test_some_operations_are_chosen(pets: Path, run_here: Run, options: list[str], ids: set[str]) -> None:
    result = run_here("create", "--from-openapi", "pets.yaml", *options, "--base-url", "http://127.0.0.1:1", "--json")
    assert ({skill["id"] for skill in result.json["skills"]}, result.err) == (ids, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tag", "nope"], "--tag nope: no operation has it"),
        (["--path", "/pet"], "--path '/pet': no operation is there (did you mean '/pets'?)"),
        (["--limit", "0"], "--limit is 0; give a number of operations from 1"),
        (["--limit", "1", "--operation", "showPet"], "--operation names one operation"),
    ],
)
def test_a_choice_of_nothing_is_refused(pets: Path, run_here: Run, options: list[str], message: str) -> None:
    result = run_here("create", "--from-openapi", "pets.yaml", *options)
    assert result.code == 2
    assert message in result.err
