"""Write the reference pages from the code: commands, configuration, scorers, rules, the store's columns, the Python API.

``python -m docs.generate`` writes them into ``docs/reference/``, and a test compares them with the code, so they are never stale.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import yaml
from cyclopts import App, Group
from cyclopts.argument import Argument, ArgumentCollection
from cyclopts.help import create_parameter_help_panel
from pydantic import TypeAdapter

from eval_skills.agent_skills.linting import rules as agent_skill_rules
from eval_skills.cli.app import app
from eval_skills.cli.configuration import UNCONFIGURED, Option, options_of
from eval_skills.core.config import Config
from eval_skills.core.models import EvalTask, EvaluatorEntry
from eval_skills.core.store.schema import RUN_SCHEMA, SCHEMAS, TURN_SCHEMA
from eval_skills.core.store.sql import VIEWS
from eval_skills.scorers.description import describe_scorer, type_words
from eval_skills.scorers.registry import ScorerEntry, find_scorer, scorer_names

DOCS = Path(__file__).parent
ROOT = DOCS.parent
_ANNOTATED: Any = Annotated
DRAFT = "<!-- Written by docs/generate.py from the code: change the code, not this page. -->\n\n"

PUBLIC = {
    "Evaluate and compare": ("eval_skills", None),
    "Score answers": ("eval_skills.scorers", ["score_response", "score_response_sync", "scorer", "Score"]),
    "Trajectories": ("eval_skills.scorers.trajectory", None),
    "Skills in folders": ("eval_skills.core.skills", ["load_skill", "discover_skills"]),
    "Models": (
        "eval_skills.core.models",
        ["Skill", "Benchmark", "EvalTask", "SkillResponse", "ItemResult", "SkillCompletionReport"],
    ),
    "Figures": ("eval_skills.core.metrics", ["skill_reports"]),
    "Selection": ("eval_skills.core.selection", ["SelectStrategy", "select"]),
    "Search": ("eval_skills.core.search", ["search"]),
    "Differences": ("eval_skills.core.diff", ["diff_reports"]),
    "Adapters": ("eval_skills.adapters", ["Adapter"]),
    "Prefect flows": ("eval_skills.flows", ["evaluate", "pipeline", "nightly", "backfill", "monitor"]),
}
"""The documented names: a heading, a module, and its names (None: all that the module makes public)."""


def pages() -> dict[str, str]:
    """Every generated page, by its path below ``docs/``."""
    return {
        "reference/commands.md": commands_page(),
        "reference/configuration.md": configuration_page(),
        "reference/scorers.md": scorers_page(),
        "reference/agent-skill-rules.md": rules_page(),
        "reference/store.md": store_page(),
        "reference/python.md": python_page(),
    }


def commands_page() -> str:
    """Every command with its description, its options in their groups, and the configuration key of each option."""
    sections = [_command(command, inner) for command, inner in commands_of(app)]
    head = (
        "# Commands\n\nThe options of every command, as `eval-skills COMMAND --help` shows them. A *key* is the option's name in "
        "the [configuration](configuration.md), below the group of its command or, if marked *shared*, at the top level too.\n\n"
        + _global_options()
        + EXIT_CODES
    )
    return DRAFT + head + "\n\n" + "\n".join(sections)


EXIT_CODES = """
## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | a gate failed, or a check of `doctor` |
| 2 | wrong usage, configuration or input |
| 3 | the run could not finish, or a part of it could not be judged |
| 130 | interrupted (143 by SIGTERM or a closed terminal, which `nohup` lets a run outlive) |
| 141 | the reader of the output left before the end, as `head` does |
"""


def commands_of(level: App, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """Every command that does something, in the order of the help."""
    for name in level:
        if not name.startswith("-"):
            command, inner = (*above, name), level[name]
            if inner.default_command is not None:
                yield command, inner
            yield from commands_of(inner, command)


def _global_options() -> str:
    rows = [_option_row(each, None, entry) for each, entry in _entries(app.meta.assemble_argument_collection())]
    return "## Global options\n\nThey work with every command, before or after its name.\n\n" + _table(OPTION_HEAD, rows)


NEGATIVE = re.compile(r"--(empty|no)-")
"""What the parser adds to names: ``--empty-format``, ``--no-json``."""

OPTION_HEAD = ("option", "meaning", "default", "key")


def _command(command: tuple[str, ...], inner: App) -> str:
    arguments = inner.assemble_argument_collection()
    keys = {option.argument.names: option for option in options_of(command, arguments)}
    text, examples = _description(inner.default_command.__doc__ or "")  # its help is the line that its list has of it
    parts = [f"## eval-skills {' '.join(command)}\n", text]
    if examples:
        parts.append("```console\n" + "\n".join(f"$ {each}" for each in examples) + "\n```\n")
    for group in arguments.groups:
        rows = [_option_row(each, keys.get(each.names), entry) for each, entry in _entries(arguments.filter_by(group=group))]
        if rows:
            parts.append(f"**{group.name}**\n\n" + _table(OPTION_HEAD, rows))
    return "\n".join(parts)


def _description(help_text: str) -> tuple[str, list[str]]:
    """The paragraphs of a command's help, and its examples apart."""
    paragraphs = [" ".join(each.split()) for each in inspect.cleandoc(help_text).split("\n\n")]
    examples = [each.removeprefix("Example: ") for each in paragraphs if each.startswith("Example: ")]
    rest = [_markdown(each) for each in paragraphs if not each.startswith("Example: ")]
    return "\n\n".join(rest) + "\n", examples


def _entries(arguments: ArgumentCollection) -> Iterator[tuple[Argument, Any]]:
    """The arguments that are shown in the help, each with its entry there."""
    for argument in arguments:
        if argument.parse and argument.show and argument.names[0] != "*":
            alone = ArgumentCollection([argument])  # type: ignore[no-untyped-call]
            panel = create_parameter_help_panel(Group("Options"), alone, "plaintext")
            yield argument, panel.entries[0]


def _option_row(argument: Argument, option: Option | None, entry: Any) -> tuple[str, ...]:
    names = [name for name in argument.names if not NEGATIVE.match(name) or name == argument.names[0]]
    values = f" {entry.metavar}" if entry.metavar and not names[0].isupper() else ""
    text, _, default = " ".join((argument.parameter.help or "").split()).partition(" [default: ")
    meaning = _markdown(text)
    if entry.choices:
        meaning += " (" + ", ".join(f"`{each}`" for each in entry.choices) + ")"
    default = default.removesuffix("]") or entry.default or ""
    default = "required" if entry.required else f"`{default}`" if default else ""
    key = "" if option is None else f"`{'.'.join(option.leaf)}`" + (", shared" if len(option.leaves) > 1 else "")
    return (" ".join(f"`{name}`" for name in names) + values, meaning, default, key)


def configuration_page() -> str:
    """Every key of the top level with its type, default, variable and meaning, and the keys of every command's group."""
    rows = [row for name, field in Config.model_fields.items() for row in _key_rows((field.alias or name,), field, "")]
    groups = [
        (f"`{'.'.join(option.leaf)}`", f"`{_variable(option.leaf)}`", f"`eval-skills {' '.join(command)} {option.name}`")
        for command, inner in commands_of(app)
        for option in options_of(command, inner.assemble_argument_collection())
    ]
    without = [(f"`eval-skills {' '.join(command)}`", reason) for command, reason in UNCONFIGURED.items()]
    return (
        DRAFT
        + "# Configuration keys\n\nHow the layers are merged is in [Configure](../how-to/configure.md).\n\n"
        + "## Keys at the top level\n\n"
        + _table(("key", "type", "default", "variable", "meaning"), rows)
        + "\n## Keys of commands\n\nA key in the group of a command holds for "
        "that command alone.\n\n"
        + _table(("key", "variable", "option"), groups)
        + "\n## What must be typed\n\n"
        + _table(("argument", "why"), without)
    )


def _key_rows(leaf: tuple[str, ...], field: Any, above: str) -> Iterator[tuple[str, ...]]:
    inner = getattr(field.annotation, "model_fields", None)
    if inner:
        for name, each in inner.items():
            yield from _key_rows((*leaf, each.alias or name), each, f"{above}{_sentence(field.description)}: ")
        return
    schema = TypeAdapter(_ANNOTATED[(field.annotation, *field.metadata)] if field.metadata else field.annotation).json_schema()
    default = field.get_default(call_default_factory=True)
    yield (
        f"`{'.'.join(leaf)}`",
        type_words(schema),
        "" if default in (None, [], {}) else f"`{_written(default)}`",
        f"`{_variable(leaf)}`",
        _markdown(field.description or ""),
    )


def _sentence(text: str | None) -> str:
    return (text or "").rstrip(".")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _variable(leaf: tuple[str, ...]) -> str:
    return "EVAL_SKILLS_" + "__".join(re.sub(r"([A-Z])", r"_\1", part.replace("-", "_")).upper() for part in leaf)


def scorers_page() -> str:
    """Every scorer with what it answers and the options that a benchmark may write."""
    entries: dict[int, ScorerEntry] = {}
    for name in scorer_names():
        entry = find_scorer(name)
        entries.setdefault(id(entry.target), entry)
    built_in = [entry for entry in entries.values() if entry.target.__module__.startswith("eval_skills.")]
    head = (
        "# Scorers\n\nA task names its scorer in `evaluator: {type: …}` and gives the options beside the type; options "
        "marked with * may stand in `expectedOutput` instead. [Write a benchmark](../how-to/write-a-benchmark.md) shows how.\n\n"
    )
    parts = [_scorer(entry) for entry in sorted(built_in, key=lambda entry: entry.name)]
    return DRAFT + head + "\n".join([*parts, _several()])


def rules_page() -> str:
    """Every rule that `eval-skills lint` knows, by its source."""
    head = (
        "# Rules for Agent Skills\n\nWhat `eval-skills lint` holds against folders with a `SKILL.md`; "
        "[Lint an Agent Skill](../how-to/lint-agent-skills.md) shows how. Rules with * are about several skills together.\n"
    )
    parts = []
    for source in agent_skill_rules.SOURCES:
        rules = {code: rule for code, rule in agent_skill_rules.RULES.items() if rule.source == source}
        rows = [(f"`{code}`{' *' if rule.of_many else ''}", rule.severity, rule.summary) for code, rule in rules.items()]
        parts.append(f"\n## {source}\n\n{_table(('code', 'severity', 'what holds'), rows)}")
    return DRAFT + head + "".join(parts)


SEVERAL = """## Several evaluators

A task may have `evaluators` in place of one `evaluator`. What they say together is in
[Write a benchmark](../how-to/write-a-benchmark.md#several-evaluators). Beside them stand in the task:

"""


def _several() -> str:
    """The keys of several evaluators: those of the task, and those of each entry."""
    of_task = [_entry_row(EvalTask, name) for name in ("evaluators", "combine", "threshold", "cost_order")]
    of_entry = [_entry_row(EvaluatorEntry, name) for name in EvaluatorEntry.model_fields]
    head, words = (
        ("key", "type", "meaning"),
        "Each of them is a scorer's name, or an object with a scorer's options and these keys:",
    )
    return f"{SEVERAL}{_table(head, of_task)}\n{words}\n\n{_table(head, of_entry)}"


ENTRIES = "list of scorers' names and objects"
RULES = 'one of `all`, `any`, `weighted`, `{"atLeast": n}`'


def _entry_row(model: type[EvalTask] | type[EvaluatorEntry], name: str) -> tuple[str, ...]:
    field = model.model_fields[name]
    words = {"evaluators": ENTRIES, "combine": RULES}.get(name)
    if words is None:
        hint: Any = _ANNOTATED[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        words = type_words(TypeAdapter(hint).json_schema())
    return (f"`{field.alias or name}`", words, field.description or "")


def _scorer(entry: ScorerEntry) -> str:
    found = describe_scorer(entry)
    names = " or ".join(f"`{each}`" for each in (found.name, *found.aliases))
    rows = [
        (
            f"`{option.name}`" + (" *" if option.expected else ""),
            option.type,
            "required" if option.required else f"`{option.default}`" if option.default else "",
        )
        for option in found.options
    ]
    options = _table(("option", "type", "default"), rows) if rows else "It has no options.\n"
    return f"## {found.name}\n\nType: {names}\n\n{_markdown(found.text)}\n\n{options}"


def store_page() -> str:
    """Every view of the store with its columns."""
    meanings = yaml.safe_load((DOCS / "columns.yaml").read_text(encoding="utf-8"))
    schemas: dict[str, Any] = dict(SCHEMAS.items()) | {"runs": RUN_SCHEMA, "turns": TURN_SCHEMA, "items_all": SCHEMAS["items"]}
    notes = {id(schema): text for schema, text in _schema_notes()}
    parts = [
        DRAFT
        + "# Columns of the store\n\nThe views of `eval-skills query` and `Store.query`. All but `runs` also have `date`, the "
        "UTC day on which the run began. How the store is laid out is in [The store](../explanation/store.md).\n"
    ]
    for view in VIEWS:
        rows = [
            (
                f"`{column.name}`",
                f"`{column.type}`",
                meanings.get(view, {}).get(column.name) or meanings["shared"].get(column.name, ""),
            )
            for column in schemas[view]
            if view != "items_all"
        ]
        shown = _table(("column", "type", "meaning"), rows) if rows else "The columns of `items`: every scoring of each item.\n"
        parts.append(f"## {view}\n\n{notes[id(schemas[view])]}\n\n" + shown)
    return "\n".join(parts)


def _schema_notes() -> Iterator[tuple[Any, str]]:
    """The text below each schema in the source, by the schema."""
    rooms = [module for name, module in sorted(sys.modules.items()) if name.startswith("eval_skills.core.store.")]
    for module in rooms:
        body = ast.parse(inspect.getsource(module)).body
        for before, after in pairwise(body):
            if isinstance(before, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                target = before.targets[0]
                if isinstance(target, ast.Name):
                    yield getattr(module, target.id), _docstring(str(after.value.value))


def python_page() -> str:
    """The documented names, each rendered from its docstring by mkdocstrings."""
    head = (
        "# Python API\n\n[Evaluate from Python](../how-to/python-api.md) shows the way in. Where this page is built "
        "(`make docs`), every `:::` line is a signature with its docstring.\n"
    )
    parts = [DRAFT + head]
    shown: set[str] = set()
    for heading, (module, names) in PUBLIC.items():
        places = [place_of(module, name) for name in (names or public_names(module))]
        if fresh := [place for place in places if place not in shown]:
            shown.update(fresh)
            parts.append(f"## {heading}\n\n`from {module} import …`\n")
            parts += [f"::: {place}\n" for place in fresh]
    return "\n".join(parts)


def public_names(module: str) -> list[str]:
    """The functions and classes in the module's ``__all__``."""
    found = import_module(module)
    return [name for name in getattr(found, "__all__", []) if callable(getattr(found, name)) and not name.startswith("_")]


def place_of(module: str, name: str) -> str:
    """Where a public name is defined: what mkdocstrings, which does not import, can find."""
    found = getattr(import_module(module), name)
    defined: Callable[..., Any] = getattr(found, "fn", found)
    return f"{defined.__module__}.{defined.__qualname__}"


def _docstring(text: str) -> str:
    """A docstring as Markdown: double backquotes become single ones."""
    return _markdown(inspect.cleandoc(text).replace("``", "`"))


def _markdown(text: str) -> str:
    return text.replace("<", "&lt;").replace("*.", "\\*.")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines: list[Sequence[str]] = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    for page, content in pages().items():
        (DOCS / page).write_text(content, encoding="utf-8")
