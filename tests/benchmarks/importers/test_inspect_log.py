"""Logs of Inspect become recorded runs with Inspect's verdicts; the logs are made by hand in its format."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eval_skills.adapters.recorded import read_recorded
from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.benchmarks.importers.writing import write_benchmark
from eval_skills.core.errors import InputError
from eval_skills.engine.evaluation.recordings import read_recordings
from eval_skills.scorers import score_response
from eval_skills.scorers.tools.calls import known_calls
from tests.tables import each_row

HEADER = {"version": 2, "status": "success", "eval": {"task": "capitals", "model": "openai/gpt-4o", "task_id": "x"}}
CALL = {"id": "c1", "function": "search", "arguments": {"q": "France"}, "type": "function"}


def sample(name: Any, epoch: int, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "epoch": epoch, "input": "Capital?", "target": "Paris",
        "scores": {"match": {"value": value, "answer": "Paris"}},
        "messages": [
            {"role": "user", "content": "Capital?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "Paris", "tool_call_id": "c1", "function": "search"},
            {"role": "assistant", "content": "Paris"},
        ],
        "output": {"completion": "Paris"}, "total_time": 1.5,
        "model_usage": {"m": {"input_tokens": 7, "output_tokens": 3}}, **more,
    }  # fmt: skip


def zipped(folder: Path, *samples: Any, header: Any = HEADER) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        if header is not None:
            log.writestr("header.json", json.dumps(header))
        log.writestr("summaries.json", "[]")
        for each in samples:
            log.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


def zstandard(folder: Path, *samples: Any) -> Path:
    """The archive with its parts compressed as Inspect does, which Python 3.11 cannot write."""
    path = folder / "log.eval"
    parts = {"header.json": HEADER} | {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    content, index = b"", b""
    for name, part in parts.items():
        raw = json.dumps(part).encode()
        packed = pa.Codec("zstd").compress(raw, asbytes=True)
        about = b"".join(
            number.to_bytes(size, "little")
            for number, size in [(63, 2), (0, 2), (93, 2), (0, 4), (zlib.crc32(raw), 4), (len(packed), 4), (len(raw), 4)]
        ) + len(name).to_bytes(2, "little")
        index += b"PK\1\2" + b"\x3f\0" + about + bytes(12) + len(content).to_bytes(4, "little") + name.encode()
        content += b"PK\3\4" + about + bytes(2) + name.encode() + packed
    ends = [(0, 2), (0, 2), (len(parts), 2), (len(parts), 2), (len(index), 4), (len(content), 4), (0, 2)]
    path.write_bytes(content + index + b"PK\5\6" + b"".join(number.to_bytes(size, "little") for number, size in ends))
    return path


SAMPLES = [sample(1, 1, "C"), sample(1, 2, "I"), sample(2, 1, 0.5), sample(2, 2, None, scores=None, error={"message": "broke"})]


@pytest.mark.parametrize("kind", ["eval", "zstandard", "json"])
async def test_every_epoch_is_a_recorded_run_with_inspects_verdict(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": SAMPLES}))
    made = {"eval": zipped, "zstandard": zstandard}
    found = import_tasks(made[kind](tmp_path, *SAMPLES) if kind in made else path)
    assert (found.kind.name, found.benchmark.id, [task.id for task in found.benchmark.tasks]) == (
        "inspect-log",
        "capitals",
        ["1", "2"],
    )
    _, runs = write_benchmark(found, tmp_path / "out")
    recorded = [read_recorded(line.encode(), "line") for line in runs.read_text().splitlines()]
    assert [(run.task_id, run.run_index) for run in recorded] == [("1", 0), ("1", 1), ("2", 0), ("2", 1)]
    tasks = {task.id: task for task in found.benchmark.tasks}
    passed = [(await score_response(tasks[run.task_id], run.answer)).passed for run in recorded[:3]]
    assert passed == [True, False, False]
    assert str(recorded[3].failure) == "broke"
    answer = recorded[0].answer
    assert (answer.latency_ms, answer.usage and answer.usage.prompt_tokens) == (1500, 7)
    read = read_recordings(runs, tasks=set(tasks), benchmark="capitals")
    assert ([skill.id for skill in read.skills], read.runs) == (["openai-gpt-4o"], {"openai-gpt-4o@0.0.0": 2})


def test_the_calls_are_kept_in_a_notation_that_is_read(tmp_path: Path) -> None:
    [run] = import_tasks(zipped(tmp_path, sample(1, 1, "C"))).runs
    assert run["messages"][1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": {"q": "France"}}}
    ]


def test_a_result_keeps_its_tool_and_why_it_failed(tmp_path: Path) -> None:
    error = {"type": "timeout", "message": "too slow"}
    failed = {"role": "tool", "content": "", "tool_call_id": "c0", "function": "pay", "error": error}
    [run] = import_tasks(zipped(tmp_path, sample(1, 1, "C", messages=[failed, {"role": "assistant", "content": "Paris"}]))).runs
    response = read_recorded(json.dumps(run).encode(), "line").answer
    assert [(call.name, call.error) for call in known_calls(response) or ()] == [("pay", "too slow")]
    assert run["messages"][0]["content"] == "too slow"


def test_calls_of_a_sub_agent_are_those_of_events_and_a_cut_answer_says_so(tmp_path: Path) -> None:
    own = {"event": "tool", **CALL}
    sub = {"event": "tool", "id": "c2", "function": "pay", "arguments": {"eur": 5}}
    choices = [{"stop_reason": "max_tokens", "message": {"role": "assistant", "content": "Pa"}}]
    samples = [
        sample(1, 1, "C", events=[{"event": "model"}, own, sub], output={"choices": choices}),
        sample(2, 1, "C", events=[{**own, "events": [sub]}]),
        sample(3, 1, "C", events=[own]),
        sample(4, 1, None, scores=None, error={"message": "broke"}, events=[own, sub]),
    ]
    runs = import_tasks(zipped(tmp_path, *samples)).runs
    cut, nested, alone, broken = (read_recorded(json.dumps(run).encode(), "f").answer for run in runs)
    for answer in (cut, nested, broken):
        assert [(call.name, call.arguments) for call in answer.tool_calls or ()] == [
            ("search", {"q": "France"}),
            ("pay", {"eur": 5}),
        ]
    assert (alone.tool_calls, cut.finish_reason, alone.finish_reason) == (None, "max_tokens", None)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        pytest.param(
            {"a": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 117, "input_tokens_cache_read": 100,
                   "input_tokens_cache_write": 10}},
            {"promptTokens": 115, "completionTokens": 2}, id="cached-tokens-beside",
        ),
        pytest.param(
            {"a": {"input_tokens": 115, "output_tokens": 2, "total_tokens": 117, "input_tokens_cache_read": 100}},
            {"promptTokens": 115, "completionTokens": 2}, id="cached-tokens-within",
        ),
        pytest.param(
            {"a": {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 100}},
            {"completionTokens": 2}, id="nobody-says-which",
        ),
        pytest.param(
            {"a": {"input_tokens": 5, "output_tokens": 2}, "b": {"input_tokens": 7, "output_tokens": None}},
            {"promptTokens": 12}, id="a-part-is-unknown",
        ),
        pytest.param({"a": {"total_tokens": 9}}, None, id="unknown-is-not-zero"),
    ],
)  # fmt: skip
def test_tokens_are_all_of_them_or_unknown(tmp_path: Path, usage: dict[str, Any], tokens: dict[str, int] | None) -> None:
    [run] = import_tasks(zipped(tmp_path, sample(1, 1, "C", model_usage=usage))).runs
    assert run.get("usage") == tokens


def test_what_was_not_scored_is_counted_and_left_out(tmp_path: Path) -> None:
    found = import_tasks(zipped(tmp_path, sample(1, 1, "C"), sample(2, 1, "C", scores={}), sample(1, 2, 1, scores=None)))
    assert (found.read, len(found.benchmark.tasks), len(found.runs)) == (2, 1, 1)
    assert any(remark.startswith("2 of the samples' epochs were not scored") for remark in found.remarks)


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_nan_is_no_score_and_never_a_failure(tmp_path: Path, kind: str) -> None:
    samples = [sample(1, 1, "C"), sample(2, 1, float("nan"))]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": samples}))
    found = import_tasks(zipped(tmp_path, *samples) if kind == "eval" else path)
    assert [(run["taskId"], run["output"]["result"]) for run in found.runs] == [("1", True)]
    assert (found.read, len(found.benchmark.tasks)) == (2, 1)


@each_row(
    ("samples", "message"),
    [
        (
            [("a", 1), ("b", 1), ("a", 1)],
            r"samples\[2\]: epoch: epoch 1 of the sample 'a' is at .*samples\[0\], too; keep",
        ),
        ([(1, 1), ("1", 2)], r"samples\[1\]: id: its id '1' is that of .*samples\[0\], too, once a number and"),
    ],
)
def test_samples_that_occur_twice_are_refused(tmp_path: Path, samples: list[tuple[Any, int]], message: str) -> None:
    log = {**HEADER, "samples": [sample(name, epoch, "C") for name, epoch in samples]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(InputError, match=message):
        import_tasks(tmp_path / "log.json")


def test_only_logs_may_hold_nan(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('[{"input": "a", "target": NaN}]')
    with pytest.raises(InputError, match=r"NaN \(line 1\) is not JSON"):
        import_tasks(tmp_path / "rows.json", "inspect")


def test_several_values_of_one_scorer_are_as_many_scorers(tmp_path: Path) -> None:
    found = import_tasks(zipped(tmp_path, sample(1, 1, {"a": 1, "b": 0})))
    assert [(run["output"]["scorer"], run["output"]["result"]) for run in found.runs] == [("match.a", True)]
    assert "several scorers judged (match.a, match.b); a run passes where match.a gave 1" in found.remarks


def test_invalidated_samples_are_no_runs_and_a_reducer_is_said_to_be_left_out(tmp_path: Path) -> None:
    invalid = {"invalidation": {"author": "ann", "reason": "wrong target"}}
    samples = [sample("a", 1, "C"), sample("a", 2, "C", **invalid), sample("b", 1, "C", **invalid)]
    about = {**HEADER["eval"], "config": {"epochs": 2, "epochs_reducer": ["mean", "at_least_2"]}}  # type: ignore[dict-item]
    found = import_tasks(zipped(tmp_path, *samples, header={**HEADER, "eval": about}))
    assert [(run["taskId"], run["runIndex"]) for run in found.runs] == [("a", 0)]
    assert list(found.skipped) == ["it was invalidated in Inspect"]
    said = " ".join(found.remarks)
    assert "2 of the samples' epochs were invalidated in Inspect" in said
    assert "by at_least_2: that is left out" in said
    assert "were not scored" not in said


def test_a_log_that_did_not_end_in_success_is_remarked(tmp_path: Path) -> None:
    found = import_tasks(zipped(tmp_path, sample(1, 1, "C"), header=HEADER | {"status": "error"}))
    assert any(remark.startswith('Inspect\'s own run ended as "error"') for remark in found.remarks), found.remarks


def test_a_damaged_part_is_not_read(tmp_path: Path) -> None:
    path = zstandard(tmp_path, sample(1, 1, "C"))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(zlib.crc32(json.dumps(sample(1, 1, "C")).encode()).to_bytes(4, "little"), bytes(4)))
    with pytest.raises(InputError, match=r"not a readable log of Inspect: Bad CRC-32 for file 'samples/1_epoch_1\.json'"):
        import_tasks(path)


@each_row(
    ("samples", "header", "message"),
    [
        ([], HEADER, "nothing to import: it holds no entries"),
        ([sample(1, 1, "C")], None, r"it holds no header\.json"),
        ([sample(1, 1, "C")], {"eval": {}}, r"eval\.model: expected the model's name"),
        ([sample(1, 1, "X")], HEADER, r"samples\[0\]: scores\.match\.value: expected a number or one of C, P, I, N"),
        ([sample(1, 0, "C")], HEADER, r"samples\[0\]: epoch: expected a whole number from 1"),
        ([sample(1, 1, "C", scores="C")], HEADER, r"scores: expected an object"),
    ],
)
def test_a_malformed_log_is_refused_with_its_place(tmp_path: Path, samples: Any, header: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        import_tasks(zipped(tmp_path, *samples, header=header), "inspect-log")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_text("no zip")
    with pytest.raises(InputError, match=r"log\.eval: not a readable log of Inspect"):
        import_tasks(tmp_path / "log.eval")
