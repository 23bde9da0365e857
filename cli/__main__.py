"""The process ``eval-skills``, which is also ``python -m eval_skills.cli``: from its first import on, Ctrl-C ends it with 130."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Import the command line, and run one command; on Windows, say where it runs, and exit with 2."""
    if sys.platform == "win32":
        from eval_skills.core.errors import UNSUPPORTED

        print(f"eval-skills: {UNSUPPORTED}", file=sys.stderr)
        raise SystemExit(2)
    try:
        from eval_skills.cli.main import main as called
    except KeyboardInterrupt:
        print("eval-skills: interrupted", file=sys.stderr)
        os._exit(130)
    try:
        called()
    finally:
        # What has been imported goes with the process; looking through it first would take a third of a second. DuckDB looks
        # itself at the end, and would report what is frozen as leaked.
        if "duckdb" not in sys.modules:
            gc.freeze()


if __name__ == "__main__":
    main()
