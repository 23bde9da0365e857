"""The pages' blocks, run: they end as the page says, and print what the page shows up to times and ids."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.blocks import QUICK, Workplace, lasting, steps_of, written_pages
from docs.scripted_judge import scripted_judge
from tests.warm_command import WarmCommand

RUN = [page for page in written_pages() if any(step.block.is_run for step in steps_of(page))]
FAST, SLOW = ([page for page in RUN if (QUICK in page.read_text(encoding="utf-8")) is quick] for quick in (True, False))


@pytest.fixture(scope="module")
def judge() -> Iterator[str]:
    with scripted_judge() as url:
        yield url


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, warm_command: WarmCommand) -> Path:
    """The folder of an `eval-skills` that has done its imports."""
    return warm_command.shim(tmp_path_factory.mktemp("command"))


def check(page: Path, folder: Path, command: Path, **variables: str) -> None:
    """Run the page in `folder`; the page's outputs are those that are printed. Its Python has done the same imports."""
    path = os.pathsep.join([str(command), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables |= {"PATH": path, "PREFECT_HOME": str(folder / "prefect")}
    workplace = Workplace(folder, variables, [str(command / "eval-skills")])
    workplace.prepare()
    try:
        for step in steps_of(page):
            now = workplace.run(step.block)
            if step.output is not None:
                assert lasting(now) == lasting(step.output.text), (
                    f"{step.output.place}: python -m docs.refresh {step.output.place.partition(':')[0]}\n{now}"
                )
    finally:
        workplace.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", FAST, ids=lambda page: page.stem)
def test_a_quick_page_does_what_it_says(page: Path, tmp_path: Path, judge: str, command: Path) -> None:
    check(page, tmp_path, command, JUDGE_URL=judge)


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize("page", SLOW, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, server_url: str, judge: str, command: Path) -> None:
    check(page, tmp_path, command, PREFECT_API_URL=server_url, JUDGE_URL=judge)


def test_both_kinds_of_pages_are_run() -> None:
    assert FAST
    assert SLOW
