"""What all pages share: their templates, and what stands between their tags.

Templates escape every text; a page contains its own styles and scripts, and a policy that allows nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import script_json, visible


def html_template(name: str, *filters: Callable[..., Any]) -> Template:
    """A template of this package; a text put into it is escaped, with its control characters made visible, and None is a dash.

    `filters` are what it uses, by their names, beside those of all pages.
    """
    environment = _environment()
    environment.filters |= {function.__name__: function for function in filters}
    return environment.get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (*numbers.FIGURES, plural, visible, script_json, version_kept_whole)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def _shown(value: Any) -> Any:
    if value is None:
        return numbers.UNKNOWN
    return visible(value) if type(value) is str else value


def version_kept_whole(skill: str) -> Markup:
    """A skill's ``id@version``, which a narrow column breaks before the ``@``, and not within the version if that fits."""
    return escape(visible(skill)).replace("@", Markup("<wbr>@"))


TEMPLATES = Path(__file__).parents[1] / "templates"
VENDOR = TEMPLATES / "vendor"
CHARTS, TABLES = "chart.js", "@tanstack/table-core"
"""The vendored libraries: one draws, the other sorts, filters and pages."""

_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Assets:
    """What stands between the tags of a page: its style, the chart library (may be empty), its own script, and their policy."""

    style: Markup
    library: Markup
    script: Markup
    is_live: bool = False

    @property
    def policy(self) -> str:
        """A Content-Security-Policy under which these texts run, nothing else does, and nothing is fetched or sent.

        A page that `is_live` may talk to the server that it came from.

        No string becomes markup or code either (``require-trusted-types-for``), where a browser knows that.
        """
        scripts = " ".join(_source(text) for text in (self.library, self.script) if text)
        server = "connect-src 'self'; " if self.is_live else ""
        return (
            f"default-src 'none'; {server}script-src {scripts}; style-src {_source(self.style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        )


@cache
def page_assets(
    scripts: tuple[str, ...],
    styles: tuple[str, ...] = ("style",),
    *,
    libraries: tuple[str, ...] = (CHARTS,),
    is_live: bool = False,
) -> Assets:
    """A page's own files, by their names in ``templates/html``, and the vendored `libraries` that it needs; read once."""
    script = "\n".join(_read(TEMPLATES / "html" / f"{name}.js") for name in scripts)
    return Assets(
        style=_inline("\n".join(_read(TEMPLATES / "html" / f"{name}.css") for name in (*styles, "print"))),
        library=_inline(_vendored(libraries)) if libraries else Markup(),
        script=_inline(f'(() => {{\n"use strict";\n{script}}})();\n'),
        is_live=is_live,
    )


def _vendored(libraries: tuple[str, ...]) -> str:
    """These vendored scripts, each below its licence texts, without the line that sends developer tools to a source map."""
    texts = []
    for entry in json.loads(_read(VENDOR / "vendor.json")):
        if entry["name"] not in libraries:
            continue
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
