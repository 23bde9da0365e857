"""Run the blocks of the documentation and write what they print into the pages.

``python -m docs.refresh [PAGE …]`` changes an output only where more than times and ids of it changed; ``--all`` writes all anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from docs.blocks import Step, Workplace, lasting, steps_of, written_pages
from docs.scripted_judge import scripted_judge


@contextmanager
def surroundings() -> Iterator[Mapping[str, str]]:
    """The variables of all pages: a Prefect server of our own, and a scripted model that judges."""
    from eval_skills.cli.prefect_server.api_server import prefect_api

    with tempfile.TemporaryDirectory() as home:
        os.environ.update({"PREFECT_HOME": home, "PREFECT_SERVER_API_PORT": "1"})
        os.environ.pop("PREFECT_API_URL", None)
        with prefect_api() as server, scripted_judge() as judge:
            server.wait_until_ready()
            yield {"PREFECT_API_URL": server.url, "PREFECT_HOME": home, "JUDGE_URL": judge}


def refresh(page: Path, variables: Mapping[str, str], everything: bool) -> list[str]:
    """Write the outputs of a page; the places of those that changed."""
    changed: list[tuple[Step, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        workplace = Workplace(Path(folder).resolve(), variables)
        workplace.prepare()
        try:
            for step in steps_of(page):
                try:
                    now = workplace.run(step.block)
                except AssertionError as failure:
                    print(failure, file=sys.stderr)
                    continue
                if step.output is not None and (everything or lasting(now) != lasting(step.output.text)):
                    changed.append((step, now))
        finally:
            workplace.close()
    lines = page.read_text(encoding="utf-8").splitlines()
    for step, now in reversed(changed):
        assert step.output is not None
        start, indent = step.output.line - 1, step.output.indent
        lines[start : start + len(step.output.text.splitlines())] = [f"{indent}{line}".rstrip() for line in now.splitlines()]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [step.output.place for step, _ in changed if step.output is not None]


def main(arguments: list[str]) -> None:
    """Refresh the pages that are named, or all."""
    named = [Path(each).resolve() for each in arguments if not each.startswith("--")]
    with surroundings() as variables:
        for page in named or written_pages():
            if any(step.block.is_run for step in steps_of(page)):
                print(page.name, *refresh(page, variables, "--all" in arguments), sep="\n  ", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
