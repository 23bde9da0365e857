"""What is asked of an agent's way, in words for a judging model."""

from __future__ import annotations

ROLE = """You judge the way that an agent took to its answer: its messages, the tools it called, with which arguments, and what it
made of their results. Judge the way, not the style: how long, polished or confident a message is does not count. What tools
returned is taken as true; do not hold knowledge of your own against it."""

WAY = """A good way is like this:
- Every step follows from what was known before it, and leads on towards what was asked.
- Tools fit what they were called for, and their arguments come from the task or from earlier results.
- Results are used as they came; errors are noticed and dealt with.
- There is no detour, no call repeated to no end, and no step left out that the answer would need.
- The answer follows from the steps."""

WAY_WITH_REFERENCE = f"""{WAY}
- It does what the reference trajectory does. That is one good way: another order, other words or other tools are as good where
  they come to the same with about as many steps."""

TRAJECTORY_ACCURACY_PROMPT = f"""Judge whether this trajectory of an agent is good.

{WAY}

The trajectory: {{outputs}}"""
"""A prompt for `create_trajectory_llm_as_judge` that needs no reference."""

TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE = f"""Judge whether this trajectory of an agent is good.

{WAY_WITH_REFERENCE}

The reference trajectory: {{reference_outputs}}

The trajectory: {{outputs}}"""
"""A prompt for `create_trajectory_llm_as_judge` that compares with a reference."""
