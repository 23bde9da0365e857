"""The benchmark: every bar of the house, measured here and now.

    python -m tests.performance [--only NAME ...] [--quick] [--json FILE]

Exit code 0 when all bars are met, 1 when one is missed or could not be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from tests.performance.bar import Bar
from tests.performance.isolation import measure_apart
from tests.performance.rows import ROWS
from tests.performance.table import table_of


def main() -> int:
    """Measure the chosen rows one after the other, print the table, write the JSON."""
    options = _options()
    print(_conditions(quick=options.quick), flush=True)
    bars: list[Bar] = []
    for name in options.only or ROWS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        bars += measure_apart(ROWS[name], quick=options.quick)
    print(table_of(bars))
    if options.json:
        document = {"machine": _machine(), "quick": options.quick, "bars": [bar.to_json() for bar in bars]}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if all(bar.verdict == "met" for bar in bars) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.performance", description="Measure the speed bars as ratios in one run."
    )
    parser.add_argument("--only", nargs="+", choices=list(ROWS), metavar="NAME", help=f"these rows only: {', '.join(ROWS)}")
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes and fewer rounds: an impression, no verdict to rely on"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    return parser.parse_args()


def _conditions(*, quick: bool) -> str:
    machine = _machine()
    line = f"Python {machine['python']}, {machine['cores']} cores, load {machine['load']:.2f} at the start"
    return line + ("; --quick: smaller sizes, an impression only" if quick else "")


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


if __name__ == "__main__":
    sys.exit(main())
