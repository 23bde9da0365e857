"""`make simulate`: run the simulations in full, and write their tables into the statistics page."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from time import monotonic

from tests.simulations import intervals, newly_failing, nights, outages, paired, power, proving, ranking, sequential, trends

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def main() -> None:
    """Simulate, print, and replace the tables of the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulations", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="simulated comparisons per setting [2000]")
    draws = parser.parse_args().draws
    begun = monotonic()
    tables = {
        "outages": outages.table(outages.simulate(draws)),
        "ranking": ranking.table(ranking.simulate(draws)),
        "intervals": intervals.table(intervals.simulate(draws)),
        "paired": paired.table(paired.simulate(draws)),
        "power": power.table(power.simulate(draws)),
        "newly failing": newly_failing.table(newly_failing.simulate(draws)),
        "proving": proving.table(proving.simulate(draws)),
        "sequential": sequential.table(sequential.simulate(draws)),
        "trends": trends.table(trends.simulate(draws)),
        "nights": nights.table(nights.simulate(draws // 4)),  # a draw is a history of up to 90 nights
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, table in tables.items():
        print(f"{name}\n{table}\n")
        page = written(page, name, table)
    PAGE.write_text(page, encoding="utf-8")
    print(f"{draws:,} draws per setting in {monotonic() - begun:.0f} s")


def written(page: str, name: str, table: str) -> str:
    """The page with this table between its two comments."""
    place = re.compile(rf"(<!-- simulated: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert place.search(page), f"{PAGE.name} has no place for {name}"
    return place.sub(lambda found: f"{found[1]}{table}\n{found[2]}", page)


if __name__ == "__main__":
    main()
