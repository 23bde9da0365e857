"""What real calls leave behind: exit code, files, store, and what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}")


@pytest.fixture
def two(served: Any, examples: Path, copy: Any) -> Any:
    """The calculator and its buggy sibling, with five tasks that tell them apart."""
    copy(examples / "calculator_buggy", served.folder / "skills" / "calculator_buggy")
    tasks = json.loads((examples.parents[1] / "benchmarks" / "coding-easy" / "benchmark.json").read_text())["tasks"]
    served.write("five.json", tasks[:5])
    return served


@pytest.mark.one_real_run
def test_run_json_files_store_gate_and_selection(two: Any) -> None:
    options = ["--tasks", "five.json", "--runs", "2", "--items-per-task", "3", "--concurrency", "2"]
    written = ["--format", "json", "markdown", "csv", "parquet", "--output-dir", "out", "--store", "kept.db"]
    result = two.call("run", *options, *written, "--top-k", "1", "--min-completion", "1", "--exit-on-fail", "--json")
    document = result.json  # p62: stdout is one document, whatever happened on the way
    assert result.code == 1, result.err
    failures = document["gate"].pop("failures")
    assert document["gate"] == {"minCompletion": 1.0, "passed": False}
    assert failures
    assert all(failure.endswith(" %, under 100.0 %") for failure in failures)
    assert (document["planned"], document["finished"]) == (20, 20)
    assert [choice["id"] for choice in document["selected"]] == ["calculator"]
    assert sorted(Path(file).suffix for file in document["files"]) == [".csv", ".json", ".md", ".parquet"]
    assert all(Path(file).parent == two.folder / "out" and Path(file).stat().st_size for file in document["files"])
    assert (two.folder / "kept.db").is_file()
    assert (two.folder / "kept.store" / "runs" / document["runId"] / "manifest.json").is_file()
    assert not (two.folder / "eval-store").exists()
    assert not (two.folder / "reports").exists()


@pytest.mark.slow
def test_p45_p46_find_and_select_read_what_runs_wrote(two: Any) -> None:
    first = two.call("eval", "--skills", "skills", "--tasks", "five.json", "--json")
    assert (first.code, first.json["gate"]) == (0, None), first.err
    rates = {report["skillId"]: report["summary"]["completionRate"] for report in first.json["reports"]}
    assert rates["calculator"] == 1 > rates["calculator_buggy"]

    found = two.call("find", "--json").json["skills"]
    assert {skill["id"]: skill["lastCompletion"] for skill in found} == rates
    assert found[0]["id"] == "calculator"
    assert [skill["id"] for skill in two.call("find", "--min-completion", "1", "--json").json["skills"]] == ["calculator"]

    report = next(file for file in first.json["files"] if file.endswith(".json"))
    for source in ([], ["--reports", report]):
        chosen = two.call("select", "--from", "skills", "--min-completion", "0.99", *source)
        assert [entry["skill"]["id"] for entry in chosen.json] == ["calculator"]

    two.write("s.yaml", "filters: {minCompletionRate: 0.99}\nsortBy: completionRate\norder: asc\n")
    asked = ["select", "--from", "skills", "--strategy", "s.yaml", "--json"]
    assert [entry["skill"]["id"] for entry in two.call(*asked).json] == ["calculator"]
    both = two.call(*asked, "--min-completion", "0").json  # an explicit flag beats the file, the rest of the file stays
    assert [entry["skill"]["id"] for entry in both] == ["calculator_buggy", "calculator"]
    assert len(two.call(*asked, "--min-completion", "0", "--top-k", "1").json) == 1

    two.write("s.yaml", "filters: {maxLatencyP95Ms: 0}\n")
    nothing = two.call("select", "--from", "skills", "--strategy", "s.yaml", "--output", "chosen/none.json")
    assert (nothing.code, nothing.out) == (0, "")
    assert json.loads((two.folder / "chosen" / "none.json").read_text()) == []
    assert "no skill was selected" in nothing.err
    for name in ("calculator", "calculator_buggy"):
        assert f"not selected: {name}@1.0.0: P95 " in nothing.err
    assert "ms is not 0 ms at most (maxLatencyP95Ms)" in nothing.err
    # a selection is a list of candidates again
    two.call("select", "--from", "skills", "--output", "best.json", "--top-k", "1")
    assert [entry["rank"] for entry in two.call("select", "--from", "best.json").json] == [1]


@pytest.mark.slow
def test_p54_fail_fast_stops_resume_goes_on_and_text_is_plain_on_a_pipe(two: Any) -> None:
    base = ["--tasks", "five.json", "--no-color"]
    gate = ["--min-completion", "0.9", "--exit-on-fail"]
    stopped = two.call("eval", "--skills", "skills/calculator_buggy", *base, *gate, "--fail-fast", "--concurrency", "1")
    assert stopped.code == 1, stopped.err
    assert "stopped early: " in stopped.out
    run_id = RUN_ID.search(stopped.out.partition("--resume ")[2])
    assert run_id is not None

    changed = two.call("eval", "--resume", run_id.group(), "--runs", "7")
    assert (changed.code, changed.out) == (2, "")
    assert changed.err.startswith("eval-skills: --runs decides results and was 1 when run ")

    resumed = two.call("eval", "--resume", "latest", "--no-color")
    assert (resumed.code, "gate failed" in resumed.out) == (1, True), "the gate that the run began with"
    assert "of them done already" in resumed.err
    assert "\x1b" not in resumed.out + resumed.err
    again = two.call("eval", "--resume", "latest", "--dry-run", "--json").json
    assert (again["items"], again["finished"]) == (0, 5)

    loosened = two.call("eval", "--skills", "skills/calculator_buggy", *base, "--resume", "latest", "--min-completion", "0.1",
                        "--exit-on-fail")  # fmt: skip
    assert loosened.code == 0, loosened.err
    assert "gate passed: every skill completes at least 10.0 %" in loosened.out
    kept = two.call("eval", "--resume", "latest", "--no-color")
    assert (kept.code, kept.out.count("at least 10.0 %")) == (0, 1), "the gate that it had last"


@pytest.mark.slow
def test_a_limit_counts_the_tokens_that_are_known_beside_unknown_ones_also_in_a_resume(served: Any) -> None:
    skill = {"id": "reader", "name": "Reader", "version": "1.0.0", "description": "Reads.", "adapterType": "custom"}
    served.write("reader/skill.json", skill | {"entrypoint": "reader.py:read"})
    served.write("reader/reader.py", 'def read(task):\n    return {"output": "ok", "usage": {"prompt_tokens": 100}}\n')
    served.write("own.json", [{"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": {"value": "ok"}} for n in range(5)])
    asked = ("--skills", "reader", "--tasks", "own.json", "--exit-on-fail", "--concurrency", "1", "--json")
    stopped = served.call("eval", *asked, "--max-tokens", "150")
    assert (stopped.code, stopped.json["gate"]["passed"], stopped.json["finished"]) == (3, False, 2), stopped.err
    assert "the number of tokens of 2 of 2 items is unknown, at least in part" in stopped.err
    resumed = served.call("eval", "--resume", "latest", "--max-tokens", "250", "--concurrency", "1", "--json")
    assert (resumed.code, resumed.json["finished"], resumed.json["stopped"]["spent"]) == (3, 3, 300), resumed.err


@pytest.mark.slow
def test_p59_timeout_retries_and_retry_errors(served: Any, examples: Path, copy: Any) -> None:
    copy(examples / "calculator_slow", served.folder / "slow" / "calculator_slow")
    served.write("one.json", [{"id": "t", "inputData": {"operation": "evaluate", "expression": "1+1"},
                               "expectedOutput": {"type": "exact", "value": 2}}])  # fmt: skip
    result = served.call("eval", "--skills", "slow", "--tasks", "one.json", "--timeout", "20", "--retries", "1", "--json")
    assert result.code == 0, result.err
    assert result.json["reports"][0]["summary"]["errorRate"] == 1
    from eval_skills.core.store import Store

    [row] = Store(served.folder / "eval-store").items().to_dict("records")
    assert (row["status"], len(row["attempts"])) == ("timeout", 2)
    assert served.call("eval", "--resume", "latest", "--dry-run", "--json").json["items"] == 0
    assert served.call("eval", "--resume", "latest", "--retry-errors", "--dry-run", "--json").json["items"] == 1


@pytest.mark.slow
def test_zero_selected_is_done_with_a_message_of_its_own_from_any_folder(served: Any, tmp_path: Path) -> None:
    served.write("strict.yaml", "filters: {maxLatencyP95Ms: 0}\n")
    served.write("one.json", [{"id": "t", "inputData": {"operation": "evaluate", "expression": "1+1"},
                               "expectedOutput": {"type": "exact", "value": 2}}])  # fmt: skip
    (tmp_path / "elsewhere").mkdir()
    work = served.folder
    result = served.call(
        "run", "--skills-dir", str(work / "skills"), "--strategy", str(work / "strict.yaml"), "--tasks", str(work / "one.json"),
        cwd=tmp_path / "elsewhere", environ={"NO_COLOR": "1"},
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "no skill was selected\nnot selected: calculator@1.0.0: P95 " in result.out
    assert "0 of 1 skills selected" in result.out
    assert "\x1b" not in result.out + result.err
    reports = list((tmp_path / "elsewhere" / "reports").glob("*.json"))
    assert len(reports) == 1
    assert f"report  {reports[0]}\n" in result.out  # a path is never folded
    assert (tmp_path / "elsewhere" / "eval-store").is_dir()
