"""Run by any Python that has a ``create_trajectory_match_evaluator``: the processor time of one match, by mode, in µs."""

# It runs where nothing of the project is installed, so it holds the trajectories of the row as well.
import json
import sys
from importlib import import_module
from time import process_time
from typing import Any

CHUNKS = 10
MODES = ("strict", "unordered", "subset", "superset")


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    """One call in OpenAI's notation."""
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def result(number: int, content: str) -> dict[str, Any]:
    """A tool's answer."""
    return {"role": "tool", "content": content, "tool_call_id": f"call_{number}"}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    """An assistant's message."""
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def trajectory(*, swapped: bool) -> list[dict[str, Any]]:
    """10 messages with 4 calls, two of them parallel and, if `swapped`, the other way round."""
    flights = call(1, "search", query="flights to Bern", limit=10, filters={"date": "2026-05-04", "direct": True})
    hotels = call(2, "search", query="hotels in Bern", limit=5)
    return [
        {"role": "system", "content": "You book trips."},
        {"role": "user", "content": "Three days in Bern in May, please."},
        asks(hotels, flights) if swapped else asks(flights, hotels),
        result(1, "3 flights"),
        result(2, "2 hotels"),
        asks(call(3, "lookup", id=17, fields=["price", "stars"])),
        result(3, "90 CHF"),
        asks(call(4, "book", flight="LX 123", seats=2, note="by the window")),
        result(4, "booked"),
        {"role": "assistant", "content": "It is booked."},
    ]


def cpu_us(module: str, matches: int) -> dict[str, float]:
    """The processor time of one match of the swapped trajectory against the other one, by mode: the least of several chunks,
    since what else runs on the machine only adds to it.

    Raises:
        RuntimeError: the evaluator finds that they do not match.
    """
    factory = import_module(module).create_trajectory_match_evaluator
    output, reference = trajectory(swapped=True), trajectory(swapped=False)
    taken = {}
    for mode in MODES:
        evaluator = factory(trajectory_match_mode=mode)
        for _ in range(20):
            if evaluator(outputs=output, reference_outputs=reference)["score"] is not True:
                raise RuntimeError(f"{module}: {mode} finds no match")
        taken[mode] = min(_once_us(evaluator, output, reference, matches // CHUNKS) for _ in range(CHUNKS))
    return taken


def _once_us(evaluator: Any, output: Any, reference: Any, matches: int) -> float:
    began = process_time()
    for _ in range(matches):
        evaluator(outputs=output, reference_outputs=reference)
    return (process_time() - began) / matches * 1e6


if __name__ == "__main__":
    print(json.dumps(cpu_us(sys.argv[1], int(sys.argv[2]))))
