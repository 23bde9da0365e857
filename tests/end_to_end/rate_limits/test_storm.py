"""Several processes at once at a service that allows less than they could ask: nothing is lost, and little of what is allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.limited_service import limited_service
from tests.warm_command import WarmCommand

PER_S, PROCESSES, ITEMS = 40, 4, 1_600

PROGRAM = """
import json, sys
import eval_skills as es
skill, items, store = sys.argv[1:]
tasks = [{"id": f"t{n}", "inputData": {"n": n}, "expectedOutput": {"value": "ok"}} for n in range(int(items))]
result = es.evaluate(skill, tasks, concurrency=8, store=store)
print(json.dumps([result.completion, *sorted({item.attempts for item in result.reports[0].task_results})]))
"""


@pytest.mark.slow
def test_four_processes_ask_as_much_as_is_allowed_and_no_item_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_command: WarmCommand
) -> None:
    with limited_service(PER_S, burst=PER_S) as service:
        (tmp_path / "skill").mkdir()
        described = {"id": "web", "name": "web", "version": "1.0.0", "adapterType": "http", "entrypoint": service.url}
        (tmp_path / "skill" / "skill.json").write_text(json.dumps(described))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        processes = [
            warm_command.python(PROGRAM, str(tmp_path / "skill"), str(ITEMS // PROCESSES), str(tmp_path / f"store-{n}"))
            for n in range(PROCESSES)
        ]
        said = [process.output(timeout=600)[1] for process in processes]
    answered = service.bucket.answered
    assert [json.loads(each) for each in said] == [[1.0, 1]] * PROCESSES
    assert len(answered) == ITEMS
    assert len(service.bucket.refused) < ITEMS / 20
    assert ITEMS / (answered[-1] - answered[0]) >= 0.9 * PER_S
