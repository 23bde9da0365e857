"""`completion`: scripts for shells."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_knows_commands_and_options(run_here: Run, shell: str) -> None:
    result = run_here("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert all(word in result.out for word in ("trend", "history", "show", "metric", "skills-dir"))
    if shell == "bash" and shutil.which(shell):
        subprocess.run(["bash", "-n"], input=result.out, text=True, check=True)


@pytest.mark.slow
def test_what_takes_no_value_is_followed_by_the_next_word_and_what_does_by_a_file(run_here: Run) -> None:
    fish = run_here("completion", "fish").out
    valued = set(re.search(r"options_with_values '(.*)'", fish).group(1).split())  # type: ignore[union-attr]
    assert {"--skills", "--tasks", "--format"} <= valued
    assert valued.isdisjoint(
        {"--exit-on-fail", "--cache", "--keep-ties", "--no-judge-cache", "--strict", "-v", "--json", "--no-color"}
    )
    assert "complete -o default -F" in run_here("completion", "bash").out
    zsh = run_here("completion", "zsh").out
    assert re.search(r"'\*--tasks\[[^'\n]*\]:tasks:_files'", zsh)
    assert re.search(r"'\*--skills\[[^'\n]*\]:skills:_files'", zsh)
    assert "'--json[Print one JSON document on stdout and nothing else]'" in zsh


@pytest.mark.slow
def test_json_holds_the_script(run_here: Run) -> None:
    result = run_here("completion", "zsh", "--json").json
    assert result["shell"] == "zsh"
    assert result["script"].startswith("#compdef eval-skills")


def test_an_unknown_shell_is_refused(run_here: Run) -> None:
    result = run_here("completion", "fsh")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert 'Did you mean "fish"?' in result.err
