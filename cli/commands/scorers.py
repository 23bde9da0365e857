"""``eval-skills scorers``: what can judge an answer, and the options of each scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.options import SHOWN
from eval_skills.core.errors import InputError

if TYPE_CHECKING:
    from eval_skills.scorers.description import ScorerDescription

WIDTH = 100


def scorers_command(
    name: Annotated[str | None, Parameter(group=SHOWN, help="The scorer to show, with its options [default: list all]")] = None,
    /,
) -> int:
    """List the scorers, or show one of them with its options.

    A task names its scorer in evaluator, with the options beside its type; those marked with * may stand in expectedOutput
    instead. Installed plug-ins are listed, too.

    Example: eval-skills scorers

    Example: eval-skills scorers levenshtein
    """
    import eval_skills.scorers  # noqa: F401 - registers those that ship with the package
    from eval_skills.scorers.description import describe_scorer
    from eval_skills.scorers.registry import find_scorer, scorer_names

    if name is not None:
        _show_one(describe_scorer(find_scorer(name)))
        return 0
    found = []
    for each in scorer_names():
        try:
            found.append(describe_scorer(find_scorer(each)))
        except InputError as error:  # a plug-in of somebody else's that cannot be loaded
            current().remark(str(error))
    _show_all(found)
    return 0


def _show_all(found: list[ScorerDescription]) -> None:
    from eval_skills.cli.output.tables import Column, print_table

    if current().json:
        print_json({"scorers": [_document(each) for each in found]})
        return
    rows = [[printable(" or ".join((each.name, *each.aliases))), printable(_plain(each.summary))] for each in found]
    print_table([Column("scorer"), Column("what it says of an answer", least=20)], rows)


def _show_one(found: ScorerDescription) -> None:
    from rich.text import Text

    from eval_skills.cli.output.tables import Column, print_table

    if current().json:
        print_json(_document(found))
        return
    out = current().out(pipe_width=WIDTH)
    out.print(Text(printable(" or ".join((found.name, *found.aliases))), style="bold"))
    for paragraph in found.text.split("\n\n"):
        if not paragraph.startswith("Raises:"):  # said where a benchmark is read
            out.print(Text(f"\n{printable(_plain(' '.join(paragraph.split())))}"))
    out.print()
    if not found.options:
        out.print("It has no options.")
        return
    rows = [
        [
            printable(f"{option.name}{' *' if option.expected else ''}"),
            printable(_plain(option.type)),
            "required" if option.required else printable(option.default),
        ]
        for option in found.options
    ]
    print_table([Column("option"), Column("type", least=20), Column("default")], rows)


def _plain(text: str) -> str:
    return text.replace("`", "")


def _document(found: ScorerDescription) -> dict[str, Any]:
    options = [
        {
            "name": option.name,
            "type": _plain(option.type),
            "required": option.required,
            "default": option.default or None,
            "inExpectedOutput": option.expected,
        }
        for option in found.options
    ]
    return {"name": found.name, "aliases": list(found.aliases), "text": _plain(found.text), "options": options}
