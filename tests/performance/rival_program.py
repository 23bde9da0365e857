"""Run by the Python that has inspect_ai: the rate of one evaluation with a solver and a scorer that do nothing."""
# mypy: ignore-errors

import json
import sys
from tempfile import TemporaryDirectory
from time import perf_counter

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

CONCURRENCY = 4


@solver
def idle():
    async def solve(state, generate):
        return state

    return solve


@scorer(metrics=[accuracy()])
def content():
    async def score(state, target):
        return Score(value=1)

    return score


def evaluate_s(samples: int) -> float:
    """The duration of one `eval`, log file included."""
    dataset = MemoryDataset([Sample(input=str(n), target="done") for n in range(samples)])
    with TemporaryDirectory() as folder:
        began = perf_counter()
        [log] = eval(
            Task(dataset=dataset, solver=idle(), scorer=content()),
            model="mockllm/model",
            max_samples=CONCURRENCY,
            display="none",
            log_dir=folder,
        )
        duration = perf_counter() - began
    if log.status != "success" or log.results.completed_samples != samples:
        raise RuntimeError(f"inspect_ai ended with {log.status}")
    return duration


evaluate_s(10)
count = int(sys.argv[1])
print(json.dumps({"samplesPerS": count / evaluate_s(count)}))
