"""What people install: the wheel is whole, owns nothing outside its namespace, and works from any folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[2]
CODE = tuple(sorted(path.name for path in (ROOT / "eval_skills").iterdir() if path.is_symlink()))
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".bench", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "build", "dist", "reports",
    "eval-store", "node_modules",
)  # fmt: skip


def not_shipped(folder: str, names: list[str]) -> set[str]:
    """What a build does not need, by folder: our own tests at the top, not those of a template."""
    return NOT_COPIED(folder, names) | ({"tests"} if Path(folder) == ROOT else set())


@dataclass(frozen=True, slots=True)
class Built:
    """The two distributions, and what the build said."""

    wheel: Path
    sdist: Path
    log: str

    def wheel_names(self) -> set[str]:
        """The files in the wheel."""
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def sdist_names(self) -> set[str]:
        """The files in the sdist, relative to its one folder."""
        with tarfile.open(self.sdist) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment with the wheel alone; its dependencies are read from the one that runs the tests."""

    python: Path

    def run(self, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A command of the environment, by its name."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PREFECT", "EVAL_SKILLS"))}
        environment = kept | {"HOME": str(cwd), "PREFECT_HOME": str(cwd / "prefect"), "PREFECT_SERVER_API_PORT": "1"}
        name, *arguments = command
        program = [str(self.python.with_name(name)), *arguments]
        return subprocess.run(program, cwd=cwd, env=environment, capture_output=True, text=True, timeout=6000)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Sdist, and the wheel made from it, in a copy of the tree."""
    folder = tmp_path_factory.mktemp("build")
    tree = shutil.copytree(ROOT, folder / "tree", ignore=not_shipped, symlinks=True)
    command = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=6000)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel], [sdist] = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return Built(wheel, sdist, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an empty environment outside the tree."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=600)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--no-compile", str(built.wheel)], check=True, timeout=600, capture_output=True)
    [site] = folder.glob("lib/python*/site-packages")
    # A path only: the editable install over there has a start-up hook of its own, which a plain line does not run.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return Installed(python)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages_in_the_tree() -> dict[str, str]:
    """Every folder of code that holds Python files, by its import name."""
    folders = {file.parent.relative_to(ROOT) for room in CODE for file in (ROOT / room).rglob("*.py")}
    return {f"eval_skills.{'.'.join(folder.parts)}": folder.as_posix() for folder in folders if folder.name != "__pycache__"}


def test_every_package_has_its_start_file() -> None:
    missing = [folder for folder in packages_in_the_tree().values() if not (ROOT / folder / "__init__.py").is_file()]
    assert missing == []


@pytest.mark.parametrize("which", ["wheel", "sdist"])
def test_every_module_and_data_file_is_in(built: Built, which: str) -> None:
    wanted = {
        str(file.relative_to(ROOT))
        for room in CODE
        for pattern in ("**/*.py", "**/*.json", "**/*.jinja", "**/*.yaml", "**/*.js", "**/*.css", "**/*.txt")
        for file in (ROOT / room).glob(pattern)
        if "__pycache__" not in file.parts
    }
    assert {"benchmarks/coding-easy/benchmark.json", "reporting/templates/report.md.jinja"} <= wanted
    assert {"reporting/templates/html/style.css", "reporting/templates/vendor/chart.js.LICENSE.txt"} <= wanted
    names = built.sdist_names() if which == "sdist" else built.wheel_names()
    assert {f"eval_skills/{name}" for name in wanted} | {"eval_skills/__init__.py", "eval_skills/py.typed"} <= names


def test_p63_the_wheel_holds_every_benchmark_and_template(built: Built) -> None:
    benchmarks = {f"eval_skills/{file.relative_to(ROOT)}" for file in ROOT.glob("benchmarks/*/benchmark.json")}
    templates = {f"eval_skills/{file.relative_to(ROOT)}" for file in ROOT.glob("reporting/templates/**/*") if file.is_file()}
    assert len(benchmarks) >= 5
    assert templates
    assert benchmarks | templates <= built.wheel_names()


def test_the_wheel_owns_its_namespace_and_nothing_else(built: Built) -> None:
    distribution = built.wheel.name.rsplit("-", 3)[0]
    tops = {name.partition("/")[0] for name in built.wheel_names()}
    assert tops == {"eval_skills", f"{distribution}.dist-info"}
    assert not [name for name in built.wheel_names() if name.startswith("eval_skills/tests/") or "__pycache__" in name]


def test_the_build_warns_of_nothing_that_a_later_setuptools_refuses(built: Built) -> None:
    assert "is absent from the `packages` configuration" not in built.log
    assert "SetuptoolsDeprecationWarning" not in built.log


def test_the_installed_code_is_the_wheels(installed: Installed, tmp_path: Path) -> None:
    done = installed.run("python", "-c", "import eval_skills.core as core; print(core.__file__)", cwd=tmp_path)
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(installed.python.parents[1])


@pytest.mark.parametrize("module", ["tasks", "flows", "core", "cli", "tests"])
def test_no_room_is_a_top_level_module(installed: Installed, tmp_path: Path, module: str) -> None:
    program = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is not None)"
    assert installed.run("python", "-c", program, cwd=tmp_path).returncode == 0


def test_p63_benchmarks_load_from_any_folder(installed: Installed, tmp_path: Path) -> None:
    program = (
        "import json\nfrom eval_skills.benchmarks import load_benchmark\n"
        "from eval_skills.benchmarks.locations import builtin_ids\n"
        "print(json.dumps({name: len(load_benchmark(name).tasks) for name in builtin_ids()}))"
    )
    done = installed.run("python", "-c", program, cwd=tmp_path)
    sizes = json.loads(done.stdout)
    assert sizes.keys() == {file.parent.name for file in ROOT.glob("benchmarks/*/benchmark.json")}
    assert all(sizes.values())


def test_p63_the_installed_command_plans_from_any_folder(installed: Installed, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "skills" / "calculator", tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    done = installed.run(
        "eval-skills", "eval", "--skills", "mine", "--benchmark", "coding-easy", "--dry-run", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"] == 20
    assert {path.name for path in tmp_path.iterdir()} == {"mine"}


def test_the_installed_package_renders_the_html_report(installed: Installed, tmp_path: Path) -> None:
    program = (
        "from datetime import UTC, datetime\nfrom eval_skills.reporting import ReportContext, render\n"
        "print(render('html', [], ReportContext(run_id='r', created_at=datetime.now(UTC))))"
    )
    done = installed.run("python", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Chart.js v" in done.stdout


def test_the_version_is_one(installed: Installed, tmp_path: Path) -> None:
    done = installed.run("eval-skills", "--version", cwd=tmp_path)
    assert done.stdout == f"eval-skills {project()['project']['version']}\n"


@pytest.mark.slow
def test_p63_the_installed_command_evaluates(installed: Installed, tmp_path: Path, new_database: Path) -> None:
    (tmp_path / "prefect").mkdir()
    shutil.copy(new_database, tmp_path / "prefect" / "prefect.db")
    shutil.copytree(ROOT / "examples" / "skills" / "calculator", tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    done = installed.run(
        "eval-skills", "eval", "--skills", "mine", "--exit-on-fail", "--min-completion", "1", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["finished"], document["gate"]["passed"]) == (20, True)
    assert all(Path(file).is_file() for file in document["files"])
