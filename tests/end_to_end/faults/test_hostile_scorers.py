"""A benchmark's own scorers that do their worst, among healthy tasks, below Prefect."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import RunPlan, make_plan
from tests.end_to_end.faults.below_prefect import Traces, run
from tests.end_to_end.faults.conftest import none_within, processes_with

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at processes and files in /proc, which only Linux has"
)

PATIENCE_S = 60.0
ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}), flush=True)
"""
BAIT = "a" * 60 + "b"

OWN: dict[str, tuple[str, str, str | None, str]] = {
    "loops": ("while True: pass", "error", "scorer", "did not answer within 700 ms"),
    "starts-others": (
        "subprocess.Popen([sys.executable, '-c', STAY, MARK], start_new_session=True)\n    time.sleep(600)",
        "error",
        "scorer",
        "did not answer within",
    ),
    "leaves": ("sys.exit()", "error", "scorer", "raised SystemExit"),
    "leaves-at-once": ("os._exit(0)", "error", "scorer", "ended with exit code 0 and without an answer"),
    "is-killed": ("os.kill(os.getpid(), 9)", "error", "scorer", "ended with exit code -9"),
    "prints-a-verdict": ("print('{\"result\": 1}', flush=True); os.write(1, b'{\"result\": 1}\\n'); return 0", "fail", None, ""),
    "prints-50-mb": ("[print('x' * 9_999) for _ in range(5_000)]; return 1", "pass", None, ""),
    "closes-everything": ("os.closerange(0, 100); return 1", "error", "scorer", "without an answer"),
    "reads-outside": ("return len(open(OUTSIDE).read())", "error", "scorer", "lies outside the benchmark's folder"),
    "writes-outside": ("open(OUTSIDE, 'w').write('x'); return 1", "error", "scorer", "lies outside the benchmark's folder"),
    "litters": ("[tempfile.mkstemp() for _ in range(100)]; open(tempfile.mkdtemp() + '/x', 'w'); return 1", "pass", None, ""),
    "recurses": ("return score(output, expected, task)", "error", "scorer", "RecursionError"),
    "answers-too-much": ("return {'score': 1, 'reason': 'x' * 50_000_000}", "error", "scorer", "more than 1000000 bytes"),
    "is-generous": ("return 7", "error", "scorer", "between 0 and 1"),
}
"""The body of `score`, and the status, the error kind and the words that become of it."""

BUILT_IN: dict[str, tuple[dict[str, Any], str]] = {
    "regex-for-ever": ({"type": "regex", "patterns": ["(a|aa)+$"]}, "was stopped after 300 ms"),
    "schema-for-ever": ({"type": "json_schema", "schema": {"pattern": "(a|aa)+$"}}, "was stopped after 300 ms"),
    "schema-that-doubles": (
        {
            "type": "json_schema",
            "schema": {"$ref": "#/$defs/n0", "$defs": {
                **{f"n{n}": {"allOf": [{"$ref": f"#/$defs/n{n + 1}"}] * 2} for n in range(40)}, "n40": {}}},
        },
        "was stopped after 300 ms",
    ),
}  # fmt: skip
"""Expectations that a built-in scorer cannot decide in time; the answer fails, with words that say so."""


def furnish(folder: Path, mark: str) -> list[dict[str, Any]]:
    """A skill that says what it is told, and a task for each scorer, with a healthy one between any two."""
    (folder / "skills" / "echo").mkdir(parents=True)
    config = {"persistent": True, "env": {"MARK": mark}}
    described = {"id": "echo", "name": "Echo", "version": "1.0.0", "adapterType": "subprocess", "adapterConfig": config}
    (folder / "skills" / "echo" / "skill.json").write_text(
        json.dumps(described | {"entrypoint": f"{sys.executable} -ISs skill.py"})
    )
    (folder / "skills" / "echo" / "skill.py").write_text(ECHO)
    (folder / "bench").mkdir()
    outside = folder / "outside.txt"
    outside.write_text("untouched")
    stay = "import time; time.sleep(600)"
    given = f"STAY, MARK, OUTSIDE = {stay!r}, {mark!r}, {str(outside)!r}\n"
    tasks = []
    for name, (body, *_) in OWN.items():
        source = f"import os, subprocess, sys, tempfile, time\n{given}def score(output, expected, task):\n    {body}\n"
        (folder / "bench" / f"{name}.py").write_text(source)
        limit = 700 if name in {"loops", "starts-others"} else 60_000
        tasks.append(
            task(name, {"type": "custom", "customScorerPath": f"{name}.py"}, evaluator={"type": "custom", "timeoutMs": limit})
        )
        tasks.append(task(f"after-{name}", {"value": BAIT}))
    for name, (expected, _) in BUILT_IN.items():
        tasks.append(task(name, expected, evaluator={"type": expected["type"], "timeoutMs": 300}))
        tasks.append(task(f"after-{name}", {"value": BAIT}))
    return tasks


def task(name: str, expected: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": name, "inputData": {"say": BAIT}, "expectedOutput": expected, **fields}


def planned(folder: Path, tasks: list[dict[str, Any]]) -> RunPlan:
    (folder / "bench" / "tasks.json").write_text(json.dumps(tasks))
    return make_plan(
        EvaluateRequest(
            skills=[str(folder / "skills")],
            tasks=str(folder / "bench" / "tasks.json"),
            timeout_ms=int(PATIENCE_S * 1000),
            store=str(folder / "store"),
            allow_custom_code=True,
        )
    )


@pytest.mark.slow
def test_p11_each_costs_its_own_item_says_why_and_leaves_nothing(tmp_path: Path, mark: str) -> None:
    plan = planned(tmp_path, furnish(tmp_path, mark))
    files = sorted(path for path in tmp_path.rglob("*") if "store" not in path.parts)
    run(
        plan.narrowed([item for item in plan.items if item.task in {"after-loops", "regex-for-ever"}])
    )  # loads what is loaded once
    before = Traces.now()
    plan = planned(tmp_path, json.loads((tmp_path / "bench" / "tasks.json").read_text()))
    results, left = run(plan)
    said = {
        name: (result.status, result.error_kind, "; ".join(reason.message for reason in result.reasons))
        for (_, name), result in results.items()
    }
    wanted = {name: tuple(rest) for name, (_, *rest) in OWN.items()}
    wanted |= {name: ("fail", None, words) for name, (_, words) in BUILT_IN.items()}
    wrong = {
        name: said[name]
        for name, (status, kind, words) in wanted.items()
        if said[name][:2] != (status, kind) or not re.search(words or "", said[name][2])
    }
    assert wrong == {}
    assert {name: outcome for name, outcome in said.items() if name.startswith("after-") and outcome[0] != "pass"} == {}
    assert all(result.output == BAIT for result in results.values())  # p09: whatever broke, the answer is kept
    assert (tmp_path / "outside.txt").read_text() == "untouched"
    assert sorted(path for path in tmp_path.rglob("*") if "store" not in path.parts) == files
    assert left == []
    assert before.more() == []
    assert none_within(PATIENCE_S, lambda: processes_with(mark))


@pytest.fixture
def fetched() -> Iterator[tuple[str, list[str]]]:
    """The address of a schema on a server, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/schema.json", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_p07_a_remote_reference_refuses_the_benchmark_and_is_not_followed(
    tmp_path: Path, mark: str, fetched: tuple[str, list[str]]
) -> None:
    url, asked = fetched
    furnish(tmp_path, mark)
    tasks = [task("fine", {"value": BAIT}), task("remote", {"type": "json_schema", "schema": {"items": {"$ref": url}}})]
    with pytest.raises(InputError, match=r"has no target within the schema, and nothing is fetched"):
        planned(tmp_path, tasks)
    assert asked == []
    assert none_within(PATIENCE_S, lambda: processes_with(mark))
