"""A production log to write, and a monitor of it without Prefect around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eval_skills.core.monitoring import StatusChange
from eval_skills.core.store import Store
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.monitor.summary import MonitorSummary


def record(number: int, output: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"id": f"i{number}", "input": f"question {number}", "output": output, "expected": "ok", **more}


def write(log: Path, *records: Any) -> Path:
    with log.open("a", encoding="utf-8") as file:
        file.writelines(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records)
    return log


def monitor(log: Path, store: Store, **options: Any) -> tuple[MonitorSummary, list[StatusChange]]:
    changes: list[StatusChange] = []
    request = MonitorRequest(**{"log": str(log), "store": store.path, "rate": 1.0, **options})
    with MonitorSession(request) as session:
        for batch in session.batches():
            session.judge(batch, changes.append)
        return session.summary(), changes


def ids(store: Store) -> list[str]:
    return list(store.samples()["interaction_id"])
