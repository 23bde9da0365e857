"""``eval-skills report comment``."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from eval_skills.cli.commands.report.comparison import FailOn, Margin, MinEffect, check_shares
from eval_skills.cli.configuration import Mark, Own
from eval_skills.cli.context import GATE_FAILED, current, print_json
from eval_skills.cli.options import COMPARED, RESULTS, PastResults
from eval_skills.core.errors import UsageError


def comment(
    source: Annotated[
        str, Mark.ID_OR_PATH, Parameter(help="A JSON report, a run id of the store or its beginning, or latest")
    ] = "latest",
    /,
    *,
    baseline: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=COMPARED, help="What it is compared with, likewise [default: nothing]"),
    ] = None,
    min_effect: MinEffect = None,
    fail_on: FailOn = None,
    margin: Margin = None,
    format: Annotated[  # noqa: A002 - the word that people use
        Literal["github"],
        Own("a comment has a format of its own"),
        Parameter(group=RESULTS, help="Whose Markdown, limits and rules: github"),
    ] = "github",
    key: Annotated[
        str | None,
        Parameter(
            group=RESULTS,
            help="Tells the comments of several evaluations of one pull request apart [default: the benchmark's id]",
        ),
    ] = None,
    store: PastResults = None,
) -> int:
    """Write the comment of a pull request: verdicts, the tasks that flipped, worst first, and details that fold.

    The first line is hidden and says which comment the next one replaces. It fits into GitHub's limit, and names, answers and
    reasons are shown as code, where they mention nobody, add no links and contain no HTML. --json adds the conclusion of a check.

    Example: eval-skills report comment latest --baseline main.json --fail-on worse
    """
    from eval_skills.engine.report_diff import compared
    from eval_skills.engine.stored_runs.reports import read_source
    from eval_skills.reporting.pull_request import comment_of, page_of_run

    if baseline is None and (wrong := _first_given({"--fail-on": fail_on, "--margin": margin, "--min-effect": min_effect})):
        raise UsageError(f"{wrong} is about a comparison; name what the run is compared with: --baseline")
    check_shares(min_effect, fail_on, margin)
    folder = current().config({"store": store}).store
    found = read_source(source, folder)
    document = None
    if baseline is not None:
        document = compared(read_source(baseline, folder), found, fail_on=fail_on, margin=margin, min_effect=min_effect or 0.0)
    made = comment_of(
        found.reports, found.context, compared=document, key=key, remarks=found.remarks, page=page_of_run(os.environ)
    )
    if current().json:
        print_json(made.to_json())
    else:
        sys.stdout.write(made.body)
    return GATE_FAILED if fail_on and made.failures else 0


def _first_given(options: dict[str, object]) -> str | None:
    return next((name for name, value in options.items() if value is not None), None)
