"""The report as JUnit XML: what a CI system shows as tests. A skill is a suite, an item is a case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ERROR_STATUSES, FORBIDDEN_TOOL_CALLED
from eval_skills.core.text import plural
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.escape import shortened
from eval_skills.reporting.sections import calls_line, forbidden_calls, reasons
from eval_skills.reporting.table import Row, skill_rows

EXCERPT_LENGTH = 10_000
_OUTSIDE_XML = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END = re.compile(r"\r\n?")


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> bytes:
    """The document in UTF-8, best skill first: a suite per report named ``id@version``, with the figures that are known as
    properties, and a case per item, named ``task#run`` (runs count from 1, as in the names of Prefect task runs). Its class is
    the skill with the benchmark: CI systems know a test by its class and name, and would take those of two skills for one.

    A wrong answer is a `failure`; an error or a timeout is an `error`. `time` is in seconds, and absent where it is not known. A
    report that holds figures only has one skipped case: an empty suite would look like a success. So would what a run did not
    evaluate: items without a result, and skills that could not be used, are errors in a suite of the run. What XML 1.0 cannot
    hold, and the control characters it should not hold, are removed.
    """
    suites = [_suite(report, row) for report, row in zip(ranked(reports), skill_rows(reports, context), strict=True)]
    if not context.is_whole:
        suites.append(_suite_of_the_run(context))
    root = ElementTree.Element("testsuites", _attributes(name=context.title, **totals(suites)))
    root.extend(suites)
    return xml_document(root)


def xml_document(root: ElementTree.Element) -> bytes:
    """The document in UTF-8, an element a line."""
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def xml_text(text: str) -> str:
    """The text without what XML 1.0 cannot hold (section 2.2) or discourages; every line end becomes a newline, as in parsers."""
    return _OUTSIDE_XML.sub("", _LINE_END.sub("\n", text))


def _suite(report: SkillCompletionReport, row: Row) -> ElementTree.Element:
    items, classname = report.task_results, f"{report.skill_key}.{report.benchmark_id}"
    known = [item.latency_ms for item in items if item.latency_ms is not None]
    suite = ElementTree.Element(
        "testsuite",
        _attributes(
            name=report.skill_key,
            tests=max(1, len(items)),
            failures=sum(item.status == "fail" for item in items),
            errors=sum(item.status in ERROR_STATUSES for item in items),
            skipped=0 if items else 1,
            time=_seconds(sum(known)) if known else None,
            timestamp=report.timestamp.isoformat(),
        ),
    )
    _add_properties(suite, row)
    for item in items:
        _add_case(suite, classname, item)
    if not items:
        case = ElementTree.SubElement(suite, "testcase", _attributes(classname=classname, name="items"))
        ElementTree.SubElement(case, "skipped", _attributes(message="this report holds figures only, no items"))
    return suite


def _suite_of_the_run(context: ReportContext) -> ElementTree.Element:
    """What was asked for and not evaluated, an error each."""
    missing = {f"skill that could not be used #{number}": why for number, why in enumerate(context.skipped, start=1)}
    if context.partial is not None:
        done, planned = context.partial
        missing["every item"] = f"the run is unfinished: {done:,} of {plural(planned, 'item')}; of the others nothing is known"
    counts = {"tests": len(missing), "failures": 0, "errors": len(missing), "skipped": 0}
    name = f"run {context.run_id}"
    suite = ElementTree.Element("testsuite", _attributes(name=name, **counts, timestamp=context.created_utc.isoformat()))
    for what, why in missing.items():
        case = ElementTree.SubElement(suite, "testcase", _attributes(classname=name, name=what))
        ElementTree.SubElement(case, "error", _attributes(type="NOT_EVALUATED", message=why))
    return suite


def _add_properties(suite: ElementTree.Element, row: Row) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in row.items():
        if value is not None:
            ElementTree.SubElement(properties, "property", _attributes(name=name, value=value))


def _add_case(suite: ElementTree.Element, classname: str, item: TaskResult) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        _attributes(
            classname=classname,
            name=item.name,
            time=None if item.latency_ms is None else _seconds(item.latency_ms),
        ),
    )
    if item.status == "pass":
        return
    code, message = _cause(item)
    element = ElementTree.SubElement(
        case, "failure" if item.status == "fail" else "error", _attributes(type=code, message=shortened(message, EXCERPT_LENGTH))
    )
    element.text = xml_text(_explanation(item))


def _cause(item: TaskResult) -> tuple[str, str]:
    """The code and the message of the first reason; all of them where forbidden tools were called, after an alert."""
    if calls := forbidden_calls(item):
        return FORBIDDEN_TOOL_CALLED, "FORBIDDEN TOOL CALLED: " + "; ".join(call.message for call in calls)
    if item.reasons:
        return item.reasons[0].code, item.reasons[0].text
    return item.error_kind or item.status, item.error_message or item.status


def _explanation(item: TaskResult) -> str:
    said = [shortened(reason, EXCERPT_LENGTH) for reason in reasons(item)]
    shown = {"expected": item.expected, "answer": item.output, "calls": calls_line(item)}
    return "\n".join(
        [*said, *(f"{name}: {shortened(value, EXCERPT_LENGTH)}" for name, value in shown.items() if value is not None)]
    )


def totals(suites: Iterable[ElementTree.Element]) -> dict[str, int]:
    """The counts of these suites together, by attribute."""
    return {name: sum(int(suite.get(name, "0")) for suite in suites) for name in ("tests", "failures", "errors", "skipped")}


def _attributes(**values: Any) -> dict[str, str]:
    """The values that are known, as text; truth in lower case."""
    known = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items() if value is not None
    }
    return {name: xml_text(value) for name, value in known.items()}


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.6f}"
