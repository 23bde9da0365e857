"""The report as one HTML file that opens without a network: ranking, then each skill's items to sort, filter and search.

Templates escape every text; a page contains its own styles and scripts, and a policy that allows nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ReportContext, dimension_title, mean_of, ranked, shown_dimensions
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html.across import totals
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.payload import payload, skill_names
from eval_skills.reporting.judging import judging_of, skills_table
from eval_skills.reporting.ranking import completion_text, rank_interval, rank_text, ranking_notes
from eval_skills.reporting.sections import SKILLS_SHOWN, forbidden_tool_alerts


@dataclass(frozen=True, slots=True)
class RankedSkill:
    """A row of the ranking; `gate` and `selected` are None where the run had no gate or did not select the skill."""

    rank: str
    name: str
    report: SkillCompletionReport
    gate: bool | None
    selected: int | None


def render(reports: Sequence[SkillCompletionReport], context: ReportContext, *, navigation: Navigation | None = None) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name, answer and message as plain text.

    Of a long text about 2,000 characters are shown, or fewer where a report holds very many of them; the page says how much is
    missing, and the JSON report has all of it. `navigation` is the bar of the viewer, where the page belongs to one.
    """
    best_first = ranked(reports)
    return html_template("report.html.jinja").render(
        context=context,
        nav=navigation,
        rows=_rows(best_first, context),
        benchmarks=list(dict.fromkeys(report.benchmark_id for report in best_first)),
        methods=_methods(best_first),
        totals=totals(best_first),
        command=_command(context, navigation),
        models=_models(best_first),
        forbidden_tool_alerts=forbidden_tool_alerts(best_first, skill_names(best_first)),
        skills_shown=SKILLS_SHOWN,
        dimensions=shown_dimensions(best_first),
        ranking=any(report.ranking for report in best_first),
        notes=[*context.notes, *ranking_notes(best_first)],
        judging=skills_table(list(zip(skill_names(best_first), best_first, strict=True))),
        first_token=any(report.latency.time_to_first_token_p50_ms is not None for report in best_first),
        data=script_json(payload(best_first, context, task_page=navigation.task_page if navigation else None)),
        assets=page_assets((*SCRIPTS[:-1], "csv", "exports", "live", SCRIPTS[-1]), is_live=navigation.is_live)
        if navigation
        else assets(),
    )


def _rows(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[RankedSkill]:
    return [
        RankedSkill(rank_text(report, place), name, report, context.meets_gate(report), context.selected_rank(report))
        for place, (name, report) in enumerate(zip(skill_names(reports), reports, strict=True), start=1)
    ]


def _command(context: ReportContext, navigation: Navigation | None) -> str | None:
    """What repeats the run; not in an export of the viewer, since it names folders of this machine."""
    is_export = navigation is not None and not navigation.is_live
    return None if is_export or context.provenance is None else context.provenance.command


def _models(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The models that judged, each with its prompt."""
    judging = [found for report in reports if (found := judging_of(report)) is not None]
    return list(dict.fromkeys(f"{judge.model} ({judge.prompt})" for each in judging for judge in each.judges))


def _methods(reports: Sequence[SkillCompletionReport]) -> list[str]:
    intervals = [report.summary.confidence_interval for report in reports]
    return list(dict.fromkeys(f"{each.level * 100:g} %, {each.method or 'method not recorded'}" for each in intervals))


FIGURES = (numbers.rate, numbers.interval, numbers.score, numbers.milliseconds, numbers.usd, numbers.count)


def html_template(name: str) -> Template:
    """A template of this package; a text put into it is escaped, with its control characters made visible, and None is a dash."""
    return _environment().get_template(name)


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
    plain = (plural, dimension_title, mean_of, visible, completion_text, rank_interval)
    environment.filters |= {function.__name__: function for function in (*FIGURES, *plain, script_json)}
    return environment


def _shown(value: Any) -> Any:
    if value is None:
        return numbers.UNKNOWN
    return visible(value) if type(value) is str else value


TEMPLATES = Path(__file__).parents[1] / "templates"
VENDOR = TEMPLATES / "vendor"
SCRIPTS = (
    "elements", "printing", "paging", "theme", "sorting", "arrows", "place", "matrix", "groups", "scatter", "latency", "filters",
    "grid", "failures", "calls", "turns", "differences", "task", "skill", "paper", "page",
)  # fmt: skip
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


def assets() -> Assets:
    """Those of the report."""
    return page_assets(SCRIPTS)


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
