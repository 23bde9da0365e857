"""Every key from every layer, and which layer wins."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_skills.core.config import LayeredConfig, load_config
from eval_skills.core.errors import ConfigError

# Each key with two values that are not its default: a higher layer's and a lower layer's.
KEYS: dict[str, tuple[Any, Any]] = {
    "concurrency": (8, 9),
    "timeoutMs": (5000, 6000),
    "retries": (2, 3),
    "runs": (3, 5),
    "evaluator": ("contains", "regex"),
    "format": (["csv"], ["json", "csv"]),
    "outputDir": ("/a/out", "/b/out"),
    "store": ("/a/store", "s3://bucket/store"),
    "minCompletion": (0.9, 0.5),
    "exitOnFail": (True, True),
    "failFast": (True, True),
    "skillsDir": ("/a/skills", "/b/skills"),
    "benchmark": ("web-search-basic", "/b/benchmark.json"),
    "benchmarksDir": ("/a/benchmarks", "/b/benchmarks"),
    "skipUnreadable": (True, False),
    "itemsPerTask": (100, 10),
    "taskRunner": ("dask", "ray://127.0.0.1:10001"),
    "memoryMb": (512, 256),
    "cpuSeconds": (60, 30),
    "openFiles": (256, 64),
    "maxOutputBytes": (1_000_000, 2_000_000),
    "maxCost": (2.5, 5.0),
    "maxTokens": (1000, 2000),
    "maxDurationS": (60.5, 3600.0),
    "rate": ("60/min", "10/s"),
    "sandbox": ("bwrap", "bwrap"),
    "sandboxNetwork": ("none", "all"),
    "sandboxPaths": ("none", "declared"),
    "sandboxProcesses": (256, 64),
    "sandboxMb": (256, 64),
    "allowCustomCode": (True, True),
    "limit": (5, 6),
    "topK": (3, 1),
    "keepTies": (True, True),
    "strategy": ("/a/strategy.yaml", "/b/strategy.yaml"),
    "weights.toolAccuracy": (1.0, 2.0),
    "weights.outputQuality": (0.25, 0.0),
    "weights.sequenceCorrectness": (0.5, 0.75),
    "toolCategories": ({"read": ["cat", "less"]}, {"read": ["more"]}),
    "toolNames": ("normalised", "normalised"),
    "llm.model": ("gpt-4o", "claude"),
    "llm.apiBase": ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"),
    "llm.apiKeyEnv": ("MY_KEY", "OTHER_KEY"),
    "llm.embeddingModel": ("openai/a", "openai/b"),
    "llm.temperature": (0.5, 1.0),
    "llm.timeoutMs": (5000, 6000),
    "llm.inputPrice": (0.5, 1.0),
    "llm.outputPrice": (2.0, 4.0),
    "llm.embeddingPrice": (0.02, 0.1),
    "llm.cacheDir": ("/a/cache", "/b/cache"),
    "judgeConcurrency": (2, 8),
    "maxJudgeCost": (0.5, 10.0),
    "noJudgeCache": (True, True),
    "noJudgeCheck": (True, True),
    "secrets": (["TOKEN"], ["TOKEN", "MY_KEY"]),
    "json": (True, True),
    "color": (False, False),
    "verbose": (True, True),
}
LAYERS = ("flag", "variable", "project", "home")


@dataclass
class Machine:
    """A folder, a home and variables of one's own."""

    cwd: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    flags: dict[str, Any] = field(default_factory=dict)

    @property
    def project_file(self) -> Path:
        return self.cwd / "eval-skills.config.yaml"

    @property
    def home_file(self) -> Path:
        return self.home / ".eval-skills" / "config.yaml"

    def say(self, layer: str, key: str, value: Any) -> str:
        """Say it in that layer alone; the origin that the value should have."""
        return self.say_all(layer, {key: value})[key]

    def say_all(self, layer: str, values: dict[str, Any]) -> dict[str, str]:
        """Say all of them in that layer alone; the origins that they should have."""
        if layer == "flag":
            self.flags = nested({snake(key): value for key, value in values.items()})
            return dict.fromkeys(values, "flag")
        if layer == "variable":
            names = {key: "EVAL_SKILLS_" + snake(key).upper().replace(".", "__") for key in values}
            told = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
            self.environ |= {names[key]: text for key, text in told.items()}
            return names
        file = self.project_file if layer == "project" else self.home_file
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(nested(values)))
        return dict.fromkeys(values, str(file))

    def load(self, config_path: Path | None = None) -> LayeredConfig:
        return load_config(self.flags, config_path=config_path, environ=self.environ, cwd=self.cwd, home=self.home)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    cwd, home = tmp_path / "project", tmp_path / "home"
    cwd.mkdir()
    home.mkdir()
    return Machine(cwd, home)


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def nested(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        *above, last = key.split(".")
        inner = found
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def test_the_table_below_names_every_key(machine: Machine) -> None:
    assert set(KEYS) == set(machine.load().flat())


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("key", KEYS)
def test_p58_every_key_takes_effect_from_every_layer(machine: Machine, key: str, layer: str) -> None:
    value, _ = KEYS[key]
    origin = machine.say(layer, key, value)
    loaded = machine.load()
    assert loaded.get(key) == value
    assert loaded.origin(key) == origin
    others = {name: loaded.origin(name) for name in KEYS if name != key}
    assert set(others.values()) == {"default"}


@pytest.mark.parametrize(("higher", "lower"), list(pairwise(LAYERS)))
def test_p58_the_higher_layer_wins(machine: Machine, higher: str, lower: str) -> None:
    machine.say_all(lower, {key: below for key, (_, below) in KEYS.items()})
    origins = machine.say_all(higher, {key: above for key, (above, _) in KEYS.items()})
    loaded = machine.load()
    assert {key: loaded.get(key) for key in KEYS} == {key: above for key, (above, _) in KEYS.items()}
    assert [key for key, origin in origins.items() if origin not in loaded.origin(key)] == []


def test_p58_layers_merge_key_by_key_at_every_depth(machine: Machine) -> None:
    home = machine.say("home", "llm", {"model": "far", "temperature": 1, "apiKeyEnv": "KEY"})
    project = machine.say("project", "llm", {"model": "near", "apiBase": "http://127.0.0.1:1"})
    variable = machine.say("variable", "llm.temperature", 0)
    loaded = machine.load()
    prices = {"inputPrice": None, "outputPrice": None, "embeddingPrice": None}
    rest = {"timeoutMs": 120_000, "cacheDir": None, "embeddingModel": None, **prices}
    assert loaded.get("llm") == {"model": "near", "apiBase": "http://127.0.0.1:1", "apiKeyEnv": "KEY", "temperature": 0, **rest}
    assert [loaded.origin(f"llm.{key}") for key in ("model", "apiKeyEnv", "temperature")] == [project, home, variable]
    assert set(loaded.origin("llm").split(", ")) == {home, project, variable, "default"}


def test_categories_of_several_layers_add_up(machine: Machine) -> None:
    machine.say("home", "toolCategories", {"read": ["cat"], "v1.2": ["x"]})
    machine.say("project", "toolCategories", {"write": ["tee"]})
    loaded = machine.load()
    assert loaded.config.tool_categories == {"read": ["cat"], "write": ["tee"], "v1.2": ["x"]}
    assert {key: loaded.origin(key) for key in loaded.flat() if key.startswith("toolCategories")} == {
        "toolCategories.read": str(machine.home_file),
        "toolCategories.v1.2": str(machine.home_file),
        "toolCategories.write": str(machine.project_file),
    }
    assert loaded.get("toolCategories.v1.2") == ["x"]


def test_defaults(machine: Machine) -> None:
    config = machine.load().config
    assert (config.concurrency, config.timeout_ms, config.retries, config.runs, config.min_completion) == (4, 30_000, 0, 1, 0.7)
    assert (config.evaluator, config.benchmark, config.format) == ("exact", "coding-easy", ["json", "markdown"])
    assert config.output_dir == str(machine.cwd / "reports")
    assert config.store == str(machine.cwd / "eval-store")
    assert config.skills_dir == str(machine.cwd / "skills")


def test_a_flag_that_is_none_was_not_given(machine: Machine) -> None:
    machine.say("project", "concurrency", 8)
    machine.flags = {"concurrency": None, "llm": {"model": None}, "format": ("csv", "json"), "output_dir": Path("here")}
    loaded = machine.load()
    assert (loaded.config.concurrency, loaded.config.llm.model) == (8, None)
    assert loaded.config.format == ["csv", "json"]
    assert loaded.config.output_dir == str(machine.cwd / "here")


@pytest.mark.parametrize("key", ["outputDir", "store", "skillsDir", "benchmarksDir", "strategy"])
def test_a_relative_path_starts_at_the_folder_of_its_file_or_at_the_current_one(machine: Machine, key: str) -> None:
    machine.say("home", key, "here/it.is")
    assert machine.load().get(key) == str(machine.home / ".eval-skills" / "here" / "it.is")
    for layer in ("project", "variable", "flag"):
        machine.say(layer, key, f"{layer}/it.is")
        assert machine.load().get(key) == str(machine.cwd / layer / "it.is")


@pytest.mark.parametrize(
    ("written", "relative_to", "read"),
    [
        pytest.param("~/bench", "home", "bench", id="home"),
        pytest.param("../bench", "cwd", "../bench", id="upwards"),
        pytest.param("./b.json", "cwd", "b.json", id="document"),
    ],
)
def test_a_benchmark_that_looks_like_a_path_is_one(machine: Machine, written: str, relative_to: str, read: str) -> None:
    machine.say("project", "benchmark", written)
    assert machine.load().config.benchmark == str(getattr(machine, relative_to) / read)


def test_a_named_file_takes_the_place_of_the_projects_own(machine: Machine) -> None:
    machine.say("project", "concurrency", 8)
    machine.say("home", "retries", 2)
    other = machine.cwd / "ci" / "nightly.yaml"
    other.parent.mkdir()
    other.write_text("runs: 7\nstore: data\n")
    loaded = machine.load(Path("ci/nightly.yaml"))
    assert (loaded.config.concurrency, loaded.config.retries, loaded.config.runs) == (4, 2, 7)
    assert loaded.config.store == str(other.parent / "data")
    assert loaded.origin("runs") == str(other)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "llm:\n  # model: gpt-4o\n", "weights:\ntoolCategories:\n"])
def test_a_file_that_says_nothing_changes_nothing(machine: Machine, text: str) -> None:
    machine.project_file.write_text(text)
    assert set(map(machine.load().origin, KEYS)) == {"default"}


def test_null_in_a_higher_layer_empties_an_optional_key(machine: Machine) -> None:
    machine.say("home", "topK", 3)
    machine.project_file.write_text("topK: null\n")
    assert machine.load().config.top_k is None


def test_both_spellings_name_one_key(machine: Machine) -> None:
    machine.say("home", "timeout_ms", 1)
    machine.say("project", "timeoutMs", 2)
    loaded = machine.load()
    assert (loaded.get("timeout_ms"), loaded.get("timeoutMs"), loaded.origin("timeout_ms")) == (2, 2, str(machine.project_file))


@pytest.mark.parametrize("ask", ["get", "origin"])
def test_asking_for_an_unknown_key_names_the_nearest(machine: Machine, ask: str) -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'llm\.modle' \(did you mean 'llm\.model'\?\)"):
        getattr(machine.load(), ask)("llm.modle")
