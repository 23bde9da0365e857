"""The flows as the package gives them."""

from __future__ import annotations

import subprocess
import sys

import cloudpickle  # type: ignore[import-untyped]
import pytest

from eval_skills import flows

FLOWS = ("evaluate", "pipeline", "nightly", "backfill", "monitor")


def test_a_flows_name_is_the_flow_whatever_was_imported_before() -> None:
    program = (
        "import eval_skills.flows.nightly\n"
        f"from eval_skills.flows import {', '.join(reversed(FLOWS))}\n"
        "from prefect import Flow\n"
        f"assert all(isinstance(flow, Flow) for flow in ({', '.join(FLOWS)}))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", FLOWS)
def test_a_served_flow_can_be_handed_to_the_process_that_runs_it(name: str) -> None:
    assert cloudpickle.loads(cloudpickle.dumps(getattr(flows, name))).name == name
