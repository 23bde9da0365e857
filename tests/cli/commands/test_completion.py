"""`completion`: scripts for shells."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


WORDS = ("trend", "history", "show", "metric", "skills-dir")
"""Of commands and options: what takes no value is followed by the next word, and what does by a file."""


@pytest.mark.slow
def test_bash(run_here: Run) -> None:
    result = run_here("completion", "bash")
    assert (result.code, result.err) == (0, "")
    assert all(word in result.out for word in (*WORDS, "complete -o default -F"))
    if shutil.which("bash"):
        subprocess.run(["bash", "-n"], input=result.out, text=True, check=True)


@pytest.mark.slow
def test_fish(run_here: Run) -> None:
    fish = run_here("completion", "fish").out
    assert all(word in fish for word in WORDS)
    valued = set(re.search(r"options_with_values '(.*)'", fish).group(1).split())  # type: ignore[union-attr]
    assert {"--skills", "--tasks", "--format"} <= valued
    assert valued.isdisjoint(
        {"--exit-on-fail", "--cache", "--keep-ties", "--no-judge-cache", "--strict", "-v", "--json", "--no-color"}
    )


@pytest.mark.slow
def test_zsh_and_json_which_holds_the_script(run_here: Run) -> None:
    result = run_here("completion", "zsh", "--json").json
    assert result["shell"] == "zsh"
    zsh = result["script"]
    assert zsh.startswith("#compdef eval-skills")
    assert all(word in zsh for word in WORDS)
    assert re.search(r"'\*--tasks\[[^'\n]*\]:tasks:_files'", zsh)
    assert re.search(r"'\*--skills\[[^'\n]*\]:skills:_files'", zsh)
    assert "'--json[Print one JSON document on stdout and nothing else]'" in zsh


def test_an_unknown_shell_is_refused(run_here: Run) -> None:
    result = run_here("completion", "fsh")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert 'Did you mean "fish"?' in result.err
