"""The options of every scorer that can ask several models, or one model several times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models.base import Text
from eval_skills.scorers.judging.panel import Aggregate, Panel
from eval_skills.scorers.settings import ScoringSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOptions:
    """The base of such a scorer: `model` takes the place of the run's; `models` makes it a panel (null is the run's model), and
    `votes` asks each model so often, at `temperature` (0.7 unless set); `aggregate` (``median`` unless set, ``majority`` or
    ``mean``) makes one of them. With ``majority`` more than half must pass the answer, whatever its `minScore`; half of an even
    number is a tie, and a tie does not pass.

    Raises:
        InputError: these exclude each other, say nothing, or name a model twice.
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
            raise InputError("it is that of several votes; set votes, or llm.temperature for every question", path="temperature")
        if len(self.models) > 1 and None in self.models and (run := self.settings.llm.model) in self.models:
            raise InputError(f"null is the run's model, which is {run!r} and named as well; keep one", path="models")
        models = self.models if self.model is None else (self.model,)
        panel = Panel(models=models, votes=self.votes, temperature=self.temperature, aggregate=self.aggregate or "median")
        if self.aggregate is not None and panel.is_single:
            raise InputError("there is one vote only, and nothing to put together; name models, or set votes", path="aggregate")
        return panel
