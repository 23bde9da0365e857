"""A program as users write it; `test_prefect_together.py` runs it where no Prefect is loaded and no server is there."""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import psutil

import eval_skills as es
from eval_skills.core.errors import RunError

TASK = [{"id": "a", "input": "x", "expected": "X"}]
app = logging.getLogger("app")
app.addHandler(logging.FileHandler("app.log", mode="w"))
app.setLevel(logging.INFO)
logging.root.setLevel(logging.ERROR)
logging.getLogger("uvicorn").addHandler(logging.NullHandler())
all_met, main_has_left = threading.Barrier(3, timeout=120), threading.Event()


def servers() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if "eval_skills.cli.prefect_server.process" in each.cmdline()]


def state() -> object:
    loggers = [logging.root, *map(logging.getLogger, ("uvicorn", "fastapi", "app"))]
    logged = [(each.level, each.propagate, each.handlers[:]) for each in loggers]
    return dict(os.environ), random.getstate(), logged, logging.raiseExceptions


def interrupted(text: str) -> str:
    all_met.wait()
    os.kill(os.getpid(), signal.SIGINT)
    sleep(1)
    return text


def going_on(text: str) -> str:
    all_met.wait()
    assert main_has_left.wait(60)
    return text.upper()


def killing(text: str) -> str:
    for each in servers():
        each.kill()
        each.wait()
    try:
        es.evaluate(str.upper, TASK, prefect=True)
    except RunError as error:
        print(error)
    return text.upper()


app.info("before")
before = state()
with ThreadPoolExecutor(2) as threads:
    calls = [threads.submit(es.evaluate, going_on, TASK, prefect=True, verbose=verbose) for verbose in (True, False)]
    try:
        es.evaluate(interrupted, TASK, prefect=True)
    except KeyboardInterrupt:
        assert len(servers()) == 1, servers()
        print("interrupted, and the others go on")
    main_has_left.set()
    for call in calls:
        assert call.result().completion == 1
        print(call.result().run_id)
assert servers() == []
assert state() == before
lost = es.evaluate(killing, TASK, prefect=True)
assert lost.completion == 1
print(*lost.remarks, lost.run_id)
assert servers() == []
assert state() == before
app.info("after")
