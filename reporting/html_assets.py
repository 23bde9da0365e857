"""The styles and scripts that a page carries in itself, and the policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
VENDOR = TEMPLATES / "vendor"
SCRIPTS = ("elements", "theme", "sorting", "arrows", "latency", "filters", "grid", "failures", "calls", "task", "skill", "page")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Assets:
    """What stands between the tags of a page: its style, the chart library (may be empty), its own script, and their policy."""

    style: Markup
    library: Markup
    script: Markup

    @property
    def policy(self) -> str:
        """A Content-Security-Policy under which these texts run, nothing else does, and nothing is fetched or sent.

        No string becomes markup or code either (``require-trusted-types-for``), where a browser knows that.
        """
        scripts = " ".join(_source(text) for text in (self.library, self.script) if text)
        return (
            f"default-src 'none'; script-src {scripts}; style-src {_source(self.style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        )


def assets() -> Assets:
    """Those of the report."""
    return page_assets(SCRIPTS)


@cache
def page_assets(scripts: tuple[str, ...], styles: tuple[str, ...] = ("style",), *, charts: bool = True) -> Assets:
    """A page's own files, by their names in ``templates/html``, and the vendored library where it has `charts`; read once."""
    script = "\n".join(_read(TEMPLATES / "html" / f"{name}.js") for name in scripts)
    return Assets(
        style=_inline("\n".join(_read(TEMPLATES / "html" / f"{name}.css") for name in styles)),
        library=_inline(_vendored()) if charts else Markup(),
        script=_inline(f'(() => {{\n"use strict";\n{script}}})();\n'),
    )


def _vendored() -> str:
    """The vendored scripts, each below its licence texts, without the line that sends developer tools to a source map."""
    texts = []
    for entry in json.loads(_read(VENDOR / "vendor.json")):
        texts += [f"/*\n{_read(VENDOR / name)}*/" for name in entry["licenses"]]
        texts.append(_SOURCE_MAP.sub("", _read(VENDOR / entry["file"])))
    return "\n".join(texts)


def _inline(text: str) -> Markup:
    """Text of our own files as the content of a tag. The line breaks around it count in its hash."""
    return Markup(f"\n{text.strip()}\n")  # noqa: S704 - files of this package; the tests hold that none can end its tag


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
