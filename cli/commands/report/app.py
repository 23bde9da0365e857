"""The group ``eval-skills report``."""

from __future__ import annotations

from cyclopts import App

from eval_skills.cli.commands.report.comment import comment
from eval_skills.cli.commands.report.conversion import agent_skills, convert, mlflow
from eval_skills.cli.commands.report.diff import diff

report_app = App(name="report", help="Convert reports, and compare two of them.")
for _command in (convert, mlflow, agent_skills, diff, comment):
    report_app.command(_command)
