"""The dimensions on which an agent's run is judged."""

DIMENSIONS = ("tool_accuracy", "sequence_correctness", "output_quality", "hallucination")
"""The dimensions of an agent's run, each with a column of its own in the store. An evaluator may add others."""
