"""The page of a flow run: said where it will answer, and nowhere else."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from eval_skills.cli.context import begin, current
from eval_skills.cli.prefect_server.api_server import ApiServer
from eval_skills.cli.running import flow_run_pages
from eval_skills.tasks.prefect_settings import served_by


@pytest.mark.slow
def test_it_is_said_of_a_server_that_stays_and_not_of_a_private_one(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["true"]) as process:
        private = ApiServer("http://127.0.0.1:4311/api", process=process)
    for server, page in ((ApiServer("http://127.0.0.1:4311/api"), "http://127.0.0.1:4311/runs/flow-run/abc"), (private, None)):
        with served_by(server.url):
            begin(replace(current(), flow_run_pages=flow_run_pages(server), flow_run="abc"))
        assert current().flow_run_page == page
        current().say_stored("./store", "run x")
        assert capsys.readouterr().out == "store   ./store   run x\n" + (f"prefect {page}\n" if page else "")
