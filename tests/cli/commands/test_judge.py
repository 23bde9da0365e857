"""``judge calibrate`` from the command line."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eval_skills.core.store import Store
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

Run = Callable[..., Any]
JUDGED = {"evaluator": {"type": "llm_judge", "criteria": "Be right."}}
SUMS = {"id": "sums", "name": "Sums", "version": "2.0.0", "tasks": [{"id": f"t{n}", **JUDGED} for n in range(4)]}
LABELS = "task_id,label,answer\n" + "".join(
    f"t{n % 4},{'pass' if n % 3 else 'fail'},{'good' if n % 3 or n == 0 else 'bad'} {n}\n" for n in range(32)
)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    def good(asked: Asked) -> Says:
        return verdict(1.0 if "\ngood " in asked.prompt else 0.0)

    with ScriptedModel() as server:
        server.otherwise = good
        yield server


@pytest.fixture
def calibrate(run_here: Run, place: Any, model: ScriptedModel) -> Run:
    """Calls the command with the scripted model."""
    llm = {"model": "openai/scripted", "apiBase": model.url, "cacheDir": "cache"}
    place.write("eval-skills.config.yaml", {"llm": llm})
    place.write("sums.json", SUMS)
    place.write("labels.csv", LABELS)
    return lambda *arguments: run_here("judge", "calibrate", *arguments)


@pytest.mark.slow
def test_answers_are_judged_now_and_the_agreement_is_kept(calibrate: Run, place: Any) -> None:
    result = calibrate("--labels", "labels.csv", "--benchmark", "./sums.json")
    assert result.code == 0, result.err
    assert "judge   openai/scripted (llm_judge 1, prompt 1) on sums@2.0.0" in result.out
    assert "labels  32 of 4 tasks" in result.out
    assert re.search(r"sensitivity \(passes what people pass\) +1\.00 ", result.out)
    assert re.search(r"people: fail +10 +1\n", result.out)
    assert "now show the judge-corrected completion rate" in result.out
    again = calibrate("--labels", "labels.csv", "--benchmark", "./sums.json", "--json", "--no-judge-check")
    [found] = again.json["calibrations"]
    assert (found["labels"], found["correctable"], found["table"]) == (32, True, [[10, 1], [0, 21]])
    assert found["accuracy"]["value"] == pytest.approx(31 / 32)
    assert len(Store(place.folder / "eval-store").calibrations()) == 2


@pytest.mark.slow
def test_labels_of_answers_that_it_did_not_judge_stand_beside_the_others(calibrate: Run, model: ScriptedModel) -> None:
    model.otherwise = lambda asked: failure(400, "not this") if "\nbad " in asked.prompt else verdict(1.0)
    result = calibrate("--labels", "labels.csv", "--benchmark", "./sums.json", "--no-judge-check")
    assert result.code == 3, result.err
    assert "labels  22 of 4 tasks; 10 more not judged\n" in result.out


@pytest.mark.slow
def test_p13_interrupted_over_a_stored_run_it_promises_nothing_of_a_cache(place: Any) -> None:
    (place.folder / "eval-store").mkdir()
    os.mkfifo(labels := place.folder / "labels.csv")
    process = place.begin("judge", "calibrate", "--labels", "labels.csv", "--run", "latest")
    while process.poll() is None:
        try:
            writing = os.open(labels, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # nobody reads it yet
            time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    ended = process.output(timeout=120)
    os.close(writing)
    assert ended == (130, "", "eval-skills: interrupted; no model was asked\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "--labels", id="no-labels"),
        pytest.param(["--labels", "nowhere.csv"], "nowhere.csv: cannot be read", id="no-file"),
        pytest.param(["--labels", "labels.csv"], "name it with --benchmark", id="no-benchmark"),
        pytest.param(["--labels", "labels.csv", "--run", "latest"], "no such store", id="no-store"),
        pytest.param(["--labels", "labels.csv", "--benchmark", "nope"], "unknown benchmark 'nope'", id="unknown-benchmark"),
        pytest.param(["--labels", "labels.csv", "--benchmark", "coding-easy"], "has no task 't0'", id="another-benchmark"),
        pytest.param(["--labels", "labels.csv", "--benchmark", "sums.json", "--pass-at", "7"], "--pass-at", id="pass-at"),
        pytest.param(["--labels", "labels.csv", "--benchmark", "sums.json", "--pass-at", "nan"], "--pass-at", id="pass-at-nan"),
        pytest.param(["--labels", "bad.csv", "--benchmark", "sums.json"], "line 2: the label 'maybe' is neither", id="bad-label"),
    ],
)
def test_p40_bad_input_is_one_line_and_exit_2(calibrate: Run, place: Any, arguments: list[str], message: str) -> None:
    place.write("bad.csv", "task_id,label\nt0,maybe\n")
    result = calibrate(*arguments)
    assert (result.code, result.out) == (2, ""), result.err
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
