"""The effect of an Agent Skill as a file: Markdown and one self-contained HTML page for people, JSON and JUnit for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from eval_skills.core.skill_effect.model import Arm, ArmComparison, SkillEffect, TaskEffect
from eval_skills.core.text import encodable
from eval_skills.reporting.escape import json_document
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import html_template, page_assets
from eval_skills.reporting.junit_report import totals, xml_document, xml_text
from eval_skills.reporting.markdown import template
from eval_skills.reporting.numbers import points
from eval_skills.reporting.skill_effect import figures
from eval_skills.reporting.writing import DocumentFormat, write_document

_SHOWN = {
    name: getattr(figures, name)
    for name in (
        "arm_cells", "comparison_line", "comparison_notes", "spending", "task_cells", "worse_tasks", "undiscerning_lines",
        "judging_cost",
        "title",
    )
}  # fmt: skip


def render_json(effect: SkillEffect) -> str:
    """All of it, unrounded."""
    return json_document(effect.to_json()) + "\n"


def render_markdown(effect: SkillEffect) -> str:
    """Verdicts first, then the arms, the tasks that lost, and what says nothing."""
    names: dict[str, object] = {**_SHOWN, "columns": figures.ARM_COLUMNS, "arms": arms_of(effect)}
    return encodable(template("skill-effect.md.jinja").render(effect=effect, **names))


def render_html(effect: SkillEffect, *, navigation: Navigation | None = None) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name and answer as plain text."""
    scale = max((_reach(each) for each in effect.comparisons), default=0.1)
    return html_template("skill-effect.html.jinja").render(
        nav=navigation,
        effect=effect,
        arms=arms_of(effect),
        columns=figures.ARM_COLUMNS,
        scale=scale,
        heading=figures.title(effect),
        assets=page_assets(
            ("elements", "printing", "theme", "sorting", "csv", "exports", "diff_bars", "effect_page"),
            ("style", "diff"),
            libraries=(),
        ),
        **{name: shown for name, shown in _SHOWN.items() if name != "title"},
    )


def _reach(found: ArmComparison) -> float:
    statistics = found.diff.statistics
    if statistics is None:
        return 0.1
    return max(2 * statistics.equivalence_margin, abs(statistics.interval.lower), abs(statistics.interval.upper))


def render_junit(effect: SkillEffect) -> bytes:
    """A suite for each comparison, with a case for its verdict and one for each task, which fails where fewer runs passed with
    the Agent Skill; and one for the set-up."""
    root = ElementTree.Element("testsuites", name=xml_text(f"skill-effect {', '.join(effect.names)}"))
    _setup_suite(root, effect)
    for each in effect.comparisons:
        _suite(root, effect, each)
    for name, total in totals(root).items():
        root.set(name, str(total))
    return xml_document(root)


def _setup_suite(root: ElementTree.Element, effect: SkillEffect) -> None:
    counts = {"tests": "1", "failures": "0", "errors": str(int(bool(effect.problems))), "skipped": "0"}
    suite = ElementTree.SubElement(root, "testsuite", {"name": "set-up", **counts})
    case = ElementTree.SubElement(suite, "testcase", classname="set-up", name="the arms differ as they should")
    if effect.problems:
        ElementTree.SubElement(case, "error", type="SET_UP", message=xml_text("; ".join(effect.problems)))


def _suite(root: ElementTree.Element, effect: SkillEffect, found: ArmComparison) -> None:
    name = f"with against {found.against}"
    suite = ElementTree.SubElement(root, "testsuite", name=name)
    verdict = ElementTree.SubElement(suite, "testcase", classname=name, name="verdict")
    if effect.problems or found.diff.statistics is None:
        message = effect.problems[0] if effect.problems else found.diff.explanation or "nothing could be compared"
        ElementTree.SubElement(verdict, "skipped", message=xml_text(message))
    elif found.diff.verdict == "worse":
        ElementTree.SubElement(verdict, "failure", type="WORSE", message=xml_text(figures.comparison_line(found, effect)))
    for task in effect.tasks:
        _task_case(suite, name, task, found.against)
    cases = list(suite)
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kind, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))


def _task_case(suite: ElementTree.Element, name: str, task: TaskEffect, against: Arm) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=name, name=xml_text(task.task_id))
    difference = task.difference(against)
    if difference is None:
        ElementTree.SubElement(case, "skipped", message="an arm has no verdict of it")
    elif difference < 0:
        ElementTree.SubElement(case, "failure", type="TASK_WORSE", message=xml_text(f"{points(difference)} with the Agent Skill"))


EFFECT_FORMATS: Mapping[str, DocumentFormat[SkillEffect]] = {
    "json": DocumentFormat("json", render_json),
    "markdown": DocumentFormat("md", render_markdown),
    "html": DocumentFormat("html", render_html),
    "junit": DocumentFormat("xml", render_junit),
}


def arms_of(effect: SkillEffect) -> list[Arm]:
    """The arms of an effect, in their order."""
    return [each.arm for each in effect.arms]


def write_effect(effect: SkillEffect, formats: Iterable[str], folder: Path | str) -> list[Path]:
    """Write it into `folder` in those of the formats that an effect has; the paths of the files.

    Raises:
        UsageError: the folder cannot be written to.
    """
    return write_document(effect, EFFECT_FORMATS, formats, folder, f"skill-effect-{effect.run_id}")
