"""The options of a scorer: its own parameters, checked when a benchmark is loaded."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError, create_model
from pydantic.alias_generators import to_camel as pydantic_to_camel

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from eval_skills.core.models.base import Text
from eval_skills.core.models.expectation import HallucinationMode
from eval_skills.core.text import nearest
from eval_skills.scorers.judging.panel import Aggregate, Panel
from eval_skills.scorers.settings import ScoringSettings

to_camel = cache(pydantic_to_camel)
"""Of a few names, for every task of a benchmark."""

FILLED_IN = ("task", "settings")
"""Parameters that a benchmark cannot write."""

EXPECTATIONS = {
    "value": "value",
    "keywords": "keywords",
    "schema": "json_schema",
    "patterns": "patterns",
    "criteria": "criteria",
    "judge_prompt": "judge_prompt",
    "custom_scorer_path": "custom_scorer_path",
}
"""Options that `expectedOutput` can give as well, with the attribute that holds them there."""

OWN_EXPECTATION = "expected"
"""The option that says what a scorer expects where it compares with nothing: that an answer refuses, say."""

IGNORE_EXPECTED_VALUE = frozenset(
    {
        "answer_relevance", "code_tests", "command_passes", "faithfulness", "file_exists", "goal_achieved", "hallucination",
        "pii", "refusal", "safety", "trajectory_match", "uncertainty",
    }
)  # fmt: skip
"""Scorers that get the task and do not look at ``expectedOutput.value``."""


def reference_answer(given: Any, task: EvalTask) -> Any:
    """What judges are shown as the right answer: the one that was `given` as their option, else ``expectedOutput.value``.

    None where there is neither.

    Raises:
        InputError: there are both.
    """
    if given is not None and task.expected_value is not None:
        raise InputError("given in evaluator and as expectedOutput.value; keep one", path="reference")
    return task.expected_value if given is None else given


@dataclass(frozen=True, slots=True)
class Option:
    """One parameter of a scorer that a benchmark may write."""

    name: str
    required: bool
    hint: Any

    @property
    def written(self) -> str:
        """The name as benchmark files write it."""
        return to_camel(self.name)


class _Arrays:
    """In an annotated type: an array of a benchmark file may stand for a tuple or a set, at any depth."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return self._accepting(handler(source))

    def _accepting(self, schema: Any) -> Any:
        if isinstance(schema, list | tuple):
            return type(schema)(map(self._accepting, schema))
        if not isinstance(schema, dict):
            return schema
        accepting = {key: self._accepting(value) for key, value in schema.items() if key != "metadata"}
        return accepting | {"strict": False} if schema.get("type") in ("tuple", "set", "frozenset") else accepting


class _Values(BaseModel):
    """Values are taken strictly: ``"5"`` is not a number, and neither are true and NaN."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)


class Options(dict[str, Option]):
    """The options of one scorer by name, and how their values are checked."""

    @cached_property
    def model(self) -> type[_Values]:
        """A field ``given_<name>`` for each, since an option may be called like an attribute of models (`schema`)."""
        fields: dict[str, Any] = {
            f"given_{each.name}": (Annotated[each.hint, _Arrays()], Field(default=None, alias=each.name))
            for each in self.values()
        }
        return create_model("Values", __base__=_Values, **fields)

    @cached_property
    def writable(self) -> dict[str, Option]:
        """Those that a benchmark may write, by each of their spellings."""
        own = [each for each in self.values() if each.name not in FILLED_IN]
        return {spelling: each for each in own for spelling in (each.name, each.written)}

    def checked(self, given: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
        """The values in the types of their parameters (an array as a tuple, where that is asked for), by name; `given` are these
        with their places.

        Raises:
            InputError: a value is of another type, or out of bounds.
        """
        values = {name: value for name, (_, value) in given.items()}
        try:
            fields = self.model.model_validate(values)
        except ValidationError as error:
            wrong = problems_in(error, values)[0]
            name = re.split(r"[.\[]", wrong.path, maxsplit=1)[0]
            raise InputError(wrong.message, path=given[name][0] + wrong.path.removeprefix(name)) from None
        return {name: getattr(fields, f"given_{name}") for name in given}


def options_of(target: Callable[..., Any]) -> Options:
    """The options of a scorer class (its constructor's parameters) or function (those after the response), by name."""
    parameters = list(inspect.signature(target).parameters.values())
    if not isinstance(target, type):
        parameters = parameters[1:]
    annotated = {each.name: each.annotation for each in parameters if each.annotation is not each.empty}
    # only these annotations are resolved: a scorer may import the types of its other names for type checking alone
    hints = get_type_hints(SimpleNamespace(__annotations__=annotated), _names_known_to(target), include_extras=True)
    named = (Option(each.name, each.default is each.empty, hints.get(each.name, Any)) for each in parameters)
    return Options({each.name: each for each in named})


def _names_known_to(target: Callable[..., Any]) -> dict[str, Any]:
    """What its annotations may name: a class inherits options, and with them the words of another module."""
    owners = reversed(target.__mro__) if isinstance(target, type) else (target,)
    return {name: value for owner in owners for name, value in vars(sys.modules[owner.__module__]).items()}


ONE = "evaluator"
"""The place of a scorer that is not one of several."""

Written = Mapping[str, tuple[str, Any]]
"""The options of one scorer as a benchmark spells them, each with its place and its value."""


def given_options(
    scorer: str, options: Options, task: EvalTask, settings: ScoringSettings, written: Written | None = None, place: str = ONE
) -> dict[str, Any]:
    """The arguments of `scorer`, which has these `options`: those `written` at its place (None: in the task's `evaluator`), then
    those of `expectedOutput`, checked; `task` and `settings` are filled in.

    Raises:
        InputError: an option is unknown, given twice, missing, or of the wrong type; `path` names it.
    """
    given = _from_evaluator(scorer, options, written_in(task) if written is None else written, place)
    for name, attribute in EXPECTATIONS.items():
        if name in options and _is_expected(task, attribute):
            if name in given:
                raise InputError("given in evaluator and in expectedOutput; keep one", path=given[name][0])
            given[name] = (f"expectedOutput.{to_camel(name)}", getattr(task.expected_output, attribute))
    arguments = options.checked(given)
    filled_in = {name: value for name, value in (("task", task), ("settings", settings)) if name in options}
    _refuse_missing(scorer, options, arguments | filled_in, place)
    return arguments | filled_in


def written_in(task: EvalTask) -> Written:
    """The options of the task's one evaluator."""
    options = task.evaluator.options if task.evaluator is not None else {}
    return {spelling: (f"{ONE}.{spelling}", value) for spelling, value in options.items()}


ENTRY_KEYS = ("name", "not", "options", "required", "threshold", "weight")
"""What may stand beside the options of a scorer that is one of several."""


def _from_evaluator(scorer: str, options: Options, written: Written, place: str) -> dict[str, tuple[str, Any]]:
    writable = options.writable
    given: dict[str, tuple[str, Any]] = {}
    for spelling, (path, value) in written.items():
        if spelling not in writable:
            names = ", ".join(sorted({option.written for option in writable.values()})) or "none"
            others = () if place == ONE else ENTRY_KEYS
            beside = f"; beside them may stand {', '.join(others)}" if others else ""
            hint = nearest(spelling, [*writable, *others])
            raise InputError(f"scorer {scorer!r} has no such option{hint}; its options: {names}{beside}", path=path)
        name = writable[spelling].name
        if name in given:
            raise InputError(f"the option is given twice, as {given[name][0]!r} too; keep one", path=path)
        given[name] = (path, value)
    return given


def _is_expected(task: EvalTask, attribute: str) -> bool:
    expected = task.expected_output
    if expected is None:
        return False
    return expected.has_value if attribute == "value" else getattr(expected, attribute) is not None


def _refuse_missing(scorer: str, options: Mapping[str, Option], arguments: dict[str, Any], place: str) -> None:
    which = "" if place == ONE else f" of {place}"
    for option in options.values():
        if option.required and option.name not in arguments:
            there = "expectedOutput" if option.name in EXPECTATIONS else place
            raise InputError(f"scorer {scorer!r}{which} needs this value; add it", path=f"{there}.{option.written}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOptions:
    """The base of such a scorer: `model` takes the place of the run's; `models` makes it a panel (null is the run's model), and
    `votes` asks each model so often, at `temperature` (0.7 unless set); `aggregate` (``median`` unless set, ``majority`` or
    ``mean``) makes one of them. With ``majority`` more than half must pass the answer, for any `minScore`; half of an even
    number is a tie, and a tie does not pass.

    Raises:
        InputError: these exclude each other, have no effect, or name a model twice.
    """

    model: Text | None = None
    models: tuple[Text | None, ...] = (None,)
    aggregate: Aggregate | None = None
    votes: int = 1
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    settings: ScoringSettings
    panel: Panel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "panel", self._panel())
        object.__setattr__(self, "models", self.panel.models)  # what is asked, and checked before the run

    def _panel(self) -> Panel:
        if self.model is not None and self.models != (None,):
            raise InputError("model and models exclude each other; keep one", path="models")
        if self.temperature is not None and self.votes == 1:
            raise InputError("it is for several votes; set votes, or llm.temperature for every question", path="temperature")
        if len(self.models) > 1 and None in self.models and (run := (self.settings.llm.model or "").strip()) in self.models:
            raise InputError(f"null is the run's model, which is {run!r} and named as well; keep one", path="models")
        models = self.models if self.model is None else (self.model,)
        panel = Panel(models=models, votes=self.votes, temperature=self.temperature, aggregate=self.aggregate or "median")
        if self.aggregate is not None and panel.is_single:
            raise InputError("there is one vote only, so nothing to aggregate; name models, or set votes", path="aggregate")
        return panel


def refuse_nothing_to_find(kinds: Collection[str], known: Iterable[str]) -> None:
    """Refuse an empty option `kinds`: the scorer would pass every answer."""
    if not kinds:
        raise InputError(f"the list is empty, so nothing is checked; name some of {', '.join(known)}", path="kinds")


def refuse_idle_model(model: str | None, mode: HallucinationMode) -> None:
    """Refuse a `model` that is named and that the `mode` never asks."""
    if model is not None and mode == "deterministic":
        raise InputError("a model is named, and the mode deterministic asks none; set mode to judged or both", path="model")
