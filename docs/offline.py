"""Make the built site complete without a network, opened from a folder (``file://``) too.

A browser refuses a page of a folder what the search wants: to fetch its index and to start a worker. So the index becomes a
script, and ``docs/assets/file-worker.js`` runs the worker's program in a hidden frame. The programs of ``docs/`` are left out.

    python -m docs.offline SITE
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

SHIM = "assets/file-worker.js"
INDEX = "search.js"
FOREIGN = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?(https?://[^"'\s>]+)""")


def complete(site: Path) -> None:
    """Add the search of pages in a folder to every page.

    Raises:
        SystemExit: a page loads something from another host.
    """
    for program in [*site.glob("*.py"), *site.glob("*.yaml")]:
        program.unlink()
    (site / INDEX).write_text(f"var __index = {(site / 'search.json').read_text(encoding='utf-8')}", encoding="utf-8")
    foreign = [
        f"{page.relative_to(site)}: {address}" for page in sorted(site.rglob("*.html")) for address in _completed(page, site)
    ]
    if foreign:
        raise SystemExit("these pages load something from another host:\n" + "\n".join(foreign))


def _completed(page: Path, site: Path) -> list[str]:
    """What the page loads from elsewhere, once it has the script."""
    above = os.path.relpath(site, page.parent)
    text = page.read_text(encoding="utf-8")
    if SHIM not in text:
        text = text.replace("</head>", f'<script src="{above}/{SHIM}"></script></head>', 1)
        page.write_text(text, encoding="utf-8")
    return [address for address in FOREIGN.findall(text) if not _is_canonical(address, text)]


def _is_canonical(address: str, text: str) -> bool:
    return f'rel="canonical" href="{address}"' in text


if __name__ == "__main__":
    complete(Path(sys.argv[1]))
