"""Where a benchmark is looked for, in which order, and what is said when it is nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval_skills.benchmarks.locations import BUILTIN_DIR, benchmark_folder, builtin_ids, known_ids, locate
from eval_skills.core.errors import InputError

BUILTIN = ["agent-skill-package", "coding-easy", "gaia-v1", "skill-quality", "toolbench-lite", "web-search-basic"]


def _touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def test_builtin_ids_are_the_five_documented_ones() -> None:
    assert builtin_ids() == BUILTIN


@pytest.mark.parametrize("name", ["benchmark.json", "benchmark.yaml", "benchmark.yml"])
def test_a_folder_stands_for_the_benchmark_in_it(tmp_path: Path, name: str) -> None:
    file = _touch(tmp_path / "mine" / name)
    assert locate(tmp_path / "mine") == file


@pytest.mark.parametrize("name", ["mine/benchmark.json", "mine/benchmark.yaml", "mine.json", "mine.yaml", "mine.yml"])
def test_an_id_is_found_in_the_benchmarks_folder(tmp_path: Path, name: str) -> None:
    file = _touch(tmp_path / name)
    assert locate("mine", benchmarks_dir=tmp_path) == file
    assert known_ids(tmp_path) == sorted([*BUILTIN, "mine"])


def test_ones_own_folder_beats_the_built_in_and_a_path_beats_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("coding-easy", benchmarks_dir=tmp_path / "own") == BUILTIN_DIR / "coding-easy" / "benchmark.json"
    own = _touch(tmp_path / "own" / "coding-easy.json")
    assert locate("coding-easy", benchmarks_dir=tmp_path / "own") == own
    _touch(tmp_path / "coding-easy" / "benchmark.json")
    assert locate("coding-easy", benchmarks_dir=tmp_path / "own") == Path("coding-easy/benchmark.json")


def test_a_folder_that_only_shares_the_name_hides_no_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "coding-easy").mkdir()
    monkeypatch.chdir(tmp_path)
    assert locate("coding-easy") == BUILTIN_DIR / "coding-easy" / "benchmark.json"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param("coding-esy", "did you mean 'coding-easy'?", id="nearest-id"),
        pytest.param("Coding-Easy", "known are agent-skill-package, coding-easy, gaia-v1", id="ids-are-lower-case"),
        pytest.param("", "unknown benchmark ''", id="empty"),
        pytest.param("nowhere.json", "nowhere.json: no such benchmark file or folder", id="file"),
        pytest.param("no/where", "no/where: no such benchmark file or folder", id="folder"),
        pytest.param("../coding-easy", "no such benchmark file or folder", id="an-id-is-no-way-out-of-a-folder"),
        pytest.param("hollow", "none of benchmark.json, benchmark.yaml, benchmark.yml", id="folder-without-a-benchmark"),
    ],
)
def test_what_cannot_be_found_is_refused_with_what_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, message: str
) -> None:
    (tmp_path / "here" / "hollow").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError) as refused:
        locate(given, benchmarks_dir=tmp_path / "absent")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_benchmarks_folder_is_listed_among_what_would_be_valid(tmp_path: Path) -> None:
    _touch(tmp_path / "my-own.json")
    with pytest.raises(InputError, match=r"did you mean 'my-own'\?.*skill-quality"):
        locate("my-ovn", benchmarks_dir=tmp_path)


def test_the_folder_of_a_benchmark_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(tmp_path / "mine.json")
    monkeypatch.chdir(tmp_path)
    assert benchmark_folder("mine.json") == tmp_path.resolve()
    assert benchmark_folder("coding-easy") == (BUILTIN_DIR / "coding-easy").resolve()


@pytest.mark.slow
def test_p63_built_in_benchmarks_are_found_from_any_folder(tmp_path: Path) -> None:
    program = (
        "from eval_skills.benchmarks import builtin_ids, load_benchmark; print([load_benchmark(i).id for i in builtin_ids()])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(BUILTIN)


@pytest.mark.slow
def test_listing_the_ids_imports_nothing_heavy() -> None:
    program = (
        "import sys; from eval_skills.benchmarks import builtin_ids; builtin_ids(); "
        "print(sorted({'prefect', 'litellm', 'pandas', 'jsonschema', 'eval_skills.scorers'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
