"""The house keeps its own rules: the direction of imports, no word about one machine, and errors drawn as they are."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from eval_skills.core import errors

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
TEXT = {".py", ".md", ".toml", ".json", ".yaml", ".yml", ".jinja", ".txt", ".cfg", ".ini", ".sh", ""}
BUILT = {".git", ".venv", ".bench", "build", "dist", "reports", "eval-store", "node_modules", "__pycache__"}


def settings() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return found


def lint(config: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINT_IMPORTS), "--config", str(config), "--no-cache"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_every_room_has_its_link_and_its_layer() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"eval_skills"}
    links = {path.name: path for path in (ROOT / "eval_skills").iterdir() if path.is_symlink()}
    assert links.keys() == rooms
    assert all(str(path.readlink()) == f"../{name}" for name, path in links.items())
    layers = settings()["contracts"][0]["layers"]  # type: ignore[index]
    assert {room for layer in layers for room in re.split(r" [:|] ", layer)} == rooms


@pytest.mark.parametrize(
    "contract",
    [
        pytest.param('type = "layers"\nlayers = ["eval_skills.core", "eval_skills.adapters"]', id="core-above-adapters"),
        pytest.param(
            'type = "forbidden"\nsource_modules = ["eval_skills.flows"]\nforbidden_modules = ["prefect"]', id="prefect-in-flows"
        ),
    ],
)
@pytest.mark.slow
def test_the_linter_sees_what_would_break(tmp_path: Path, contract: str) -> None:
    config = tmp_path / "pyproject.toml"
    head = '[tool.importlinter]\nroot_package = "eval_skills"\ninclude_external_packages = true\n'
    config.write_text(f'{head}[[tool.importlinter.contracts]]\nname = "upside down"\n{contract}\n', encoding="utf-8")
    done = lint(config)
    assert done.returncode != 0
    assert "upside down BROKEN" in done.stdout


def test_make_imports_runs_the_linter() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nimports:")[2].partition("\n\n")[0]
    assert "/lint-imports" in recipe


def kept_files() -> list[Path]:
    """Every file that is kept: what git knows, or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 else [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    paths = [ROOT / name for name in names if name and not BUILT & set(Path(name).parts)]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


@pytest.mark.slow
def test_no_file_that_a_program_made_is_kept() -> None:
    """Wheels, archives and databases do not belong in the repository; only pictures are no text."""
    kept = kept_files()
    assert len(kept) > 100
    binary = {path.relative_to(ROOT) for path in kept if b"\0" in path.read_bytes()}
    assert {path for path in binary if path.suffix != ".png"} == set()


MACHINE = {
    "a home or workplace of one machine": re.compile(r"(?<![\w.~-])/(?:work|root|home/\w+|Users/\w+)/\w"),
    "a package index": re.compile(r"(?i)--(?:extra-)?index-url|\bpypi\.org\b|files\.pythonhosted|\bPIP_INDEX|\bartifactory\b"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MACHINE)
def test_no_file_names(what: str) -> None:
    files = [path for path in kept_files() if path.suffix in TEXT and path != Path(__file__)]
    assert len(files) > 100
    named = {
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in files
        if (found := MACHINE[what].search(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert named == set()


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawing = (errors.__doc__ or "").partition("::")[2]
    parents: list[tuple[int, str]] = []
    drawn: set[tuple[str, str]] = set()
    for line in filter(str.strip, drawing.splitlines()):
        match = re.match(r"[\s│├└─]*", line)
        depth, name = len(match.group() if match else ""), line.lstrip(" │├└─").split()[0]
        parents = [parent for parent in parents if parent[0] < depth]
        drawn.add((name, parents[-1][1] if parents else "Exception"))
        parents.append((depth, name))
    classes = [found for _, found in inspect.getmembers(errors, inspect.isclass) if found.__module__ == errors.__name__]
    real = {(found.__name__, found.__bases__[0].__name__) for found in classes if not issubclass(found, Warning)}
    assert drawn == real


def test_every_error_says_in_a_line_what_it_means() -> None:
    classes = [found for _, found in inspect.getmembers(errors, inspect.isclass) if found.__module__ == errors.__name__]
    assert all((found.__doc__ or "").splitlines()[0].endswith(".") or ":" in (found.__doc__ or "") for found in classes)


@pytest.mark.slow
def test_the_pinned_versions_install_on_the_oldest_python_that_is_promised() -> None:
    """A Linux distribution keeps the first releases of a Python for years: Debian 12 has 3.11.2."""
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    oldest = promised.removeprefix(">=") + ".0"
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line)
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    installed = {canonicalize_name(each.metadata["Name"]): each for each in distributions()}
    compared = {name for name, version in pinned.items() if name in installed and installed[name].version == version}
    assert len(compared) > len(pinned) / 2
    wants = {name: installed[name].metadata.json.get("requires_python", "") for name in compared}
    assert [f"{name} wants Python {wanted}" for name, wanted in wants.items() if oldest not in SpecifierSet(str(wanted))] == []
