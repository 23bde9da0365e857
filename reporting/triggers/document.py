"""The triggers of an Agent Skill as a file: Markdown and one self-contained HTML page for people, JSON and JUnit for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from eval_skills.core.text import encodable
from eval_skills.core.triggers import QueryResult, Triggers
from eval_skills.reporting.escape import json_document
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import html_template, page_assets
from eval_skills.reporting.junit_report import xml_document, xml_text
from eval_skills.reporting.markdown import template
from eval_skills.reporting.triggers import figures
from eval_skills.reporting.writing import DocumentFormat, write_document


def render_json(found: Triggers) -> str:
    """All of it, unrounded."""
    return json_document(found.to_json()) + "\n"


def render_markdown(found: Triggers) -> str:
    """The rates first, then the queries that did not do as they should, then all of them."""
    shown = {name: getattr(figures, name) for name in ("title", "rate_rows", "query_cells", "confusion_lines")}
    columns = {"rate_columns": figures.RATE_COLUMNS, "query_columns": figures.QUERY_COLUMNS}
    return encodable(template("triggers.md.jinja").render(found=found, **shown, **columns))


def render_html(found: Triggers, *, navigation: Navigation | None = None) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name and query as plain text.

    Queries that went wrong stand by themselves, those that missed a load and false alarms apart, and so do unknown ones.
    """
    return html_template("triggers.html.jinja").render(
        nav=navigation,
        found=found,
        heading=figures.title(found),
        rates=figures.rates_with_meaning(found),
        loads=figures.load_rows(found),
        confusion=figures.confusion_lines(found),
        missed=[each for each in found.failed if each.should_trigger],
        alarms=[each for each in found.failed if not each.should_trigger],
        assets=page_assets(
            ("elements", "printing", "theme", "sorting", "csv", "exports", "triggers_page"), ("style", "triggers"), libraries=()
        ),
        **{name: getattr(figures, name) for name in ("outcome", "should", "others")},
    )


def render_junit(found: Triggers) -> bytes:
    """A case for each query, which fails where it did not do as it should, and is skipped where missing runs leave that open. Of
    one that was never observed it is an error: to who reads the file, a skipped one is in order."""
    root = ElementTree.Element("testsuites", name=xml_text(f"triggers of {found.skill}"))
    counts = {
        "tests": len(found.queries),
        "failures": len(found.failed),
        "errors": len(found.unknown),
        "skipped": sum(_is_open(each) for each in found.queries),
    }
    totals = {name: str(count) for name, count in counts.items()}
    root.attrib.update(totals)
    suite = ElementTree.SubElement(root, "testsuite", {"name": xml_text(found.skill), **totals})
    for each in found.queries:
        _case(suite, each)
    return xml_document(root)


def _case(suite: ElementTree.Element, each: QueryResult) -> None:
    kind = "should trigger" if each.should_trigger else "near-miss"
    case = ElementTree.SubElement(suite, "testcase", classname=kind, name=xml_text(f"{each.id}: {each.query}"))
    if each.passed is None:
        ElementTree.SubElement(case, "error", type="NOT_OBSERVED", message="no run of it was observed")
    elif _is_open(each):
        ElementTree.SubElement(case, "skipped", message="missing runs could turn it")
    elif not each.passed:
        ElementTree.SubElement(case, "failure", type="TRIGGER", message=xml_text(figures.failure_words(each)))


def _is_open(each: QueryResult) -> bool:
    return bool(each.passed) and each.left_open


TRIGGER_FORMATS: Mapping[str, DocumentFormat[Triggers]] = {
    "json": DocumentFormat("json", render_json),
    "markdown": DocumentFormat("md", render_markdown),
    "html": DocumentFormat("html", render_html),
    "junit": DocumentFormat("xml", render_junit),
}


def write_triggers(found: Triggers, formats: Iterable[str], folder: Path | str) -> list[Path]:
    """Write them into `folder` in those of the formats that they have; the paths of the files.

    Raises:
        UsageError: the folder cannot be written to.
    """
    return write_document(found, TRIGGER_FORMATS, formats, folder, f"triggers-{found.run_id}")
