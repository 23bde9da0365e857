"""One process and its requests, at the edges of their order."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eval_skills.adapters.process.launch import Launch
from eval_skills.adapters.process.worker import Worker
from eval_skills.core.errors import ContractError

ANSWER = """print('{"jsonrpc": "2.0", "id": 1, "result": "early"}', flush=True)"""
SPREAD = """print('{"jsonrpc": "2.0",', '"id": 1,', '"result": "early"}', sep=chr(10))"""


def worker(folder: Path, source: str) -> Worker:
    return Worker(Launch(argv=(sys.executable, "-S", "-E", "-c", source), cwd=folder, env={}), 1000)


@pytest.mark.parametrize("last", [True, False])
async def test_an_answer_that_was_there_before_its_request_counts(tmp_path: Path, last: bool) -> None:
    early = worker(tmp_path, ANSWER)
    await early.start()
    await early._child.ended
    assert (await early.ask(1, {}, last=last)).result() == "early"
    assert early.take_logs() == ""


async def test_an_answer_over_several_lines_that_was_there_before_its_request_counts(tmp_path: Path) -> None:
    early = worker(tmp_path, SPREAD)
    await early.start()
    await early._child.ended
    assert (await early.ask(1, {}, last=True)).result() == "early"
    assert early.take_logs() == ""


async def test_too_long_a_line_before_the_request_is_an_error_of_the_request(tmp_path: Path) -> None:
    early = worker(tmp_path, "print('x' * 2000)")
    await early.start()
    await early._child.ended
    with pytest.raises(ContractError, match="more than 1,000 bytes"):
        await early.ask(1, {}, last=True)
