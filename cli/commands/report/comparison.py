"""Two evaluations compared: what all commands that do it take."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from eval_skills.cli.options import COMPARED, decimal
from eval_skills.core.errors import UsageError

MinEffect = Annotated[
    float | None,
    Parameter(
        group=COMPARED,
        converter=decimal,
        help="Smallest change of completion, from 0 to 1, that counts as better or worse [default: 0]",
    ),
]
FailOn = Annotated[
    Literal["worse", "not-proven"] | None,
    Parameter(
        group=COMPARED,
        help="Exit 1 when a skill is worse, or when it is not proven that it lost less than --margin; "
        "and when that could not be judged",
    ),
]
Margin = Annotated[
    float | None,
    Parameter(
        group=COMPARED,
        converter=decimal,
        help="Loss of completion, from 0 to 1, that --fail-on not-proven tolerates [default: 0.03]",
    ),
]


def check_shares(min_effect: float | None, fail_on: str | None, margin: float | None) -> None:
    """Refuse a share that is not one, and a margin that nothing would look at.

    Raises:
        UsageError: one of them is wrong.
    """
    if margin is not None and fail_on != "not-proven":
        raise UsageError("--margin is what --fail-on not-proven tolerates; give both, or neither")
    shares = {"--min-effect": min_effect, "--margin": margin}
    if wrong := next((name for name, share in shares.items() if share is not None and not 0 <= share <= 1), None):
        raise UsageError(f"{wrong}: give a share from 0 to 1, as 0.02 for 2 percentage points; got {shares[wrong]:g}")
