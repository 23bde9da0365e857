"""A prompt with places for data: the places name material, they never take it in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError, nearest
from eval_skills.scorers.judging.question import Material

# braces twice are braces; anything but a name between braces is text, such as JSON
_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A text with places such as ``{outputs}``; ``{{`` and ``}}`` are braces. In what a model is told, a place is the name of
    the material between markers below, so that nothing an agent wrote can pass for an instruction.
    """

    text: str

    @classmethod
    def of(cls, prompt: object) -> PromptTemplate:
        """The template of a prompt as a caller gave it.

        Raises:
            InputError: it is no text, or blank.
        """
        if not isinstance(prompt, str):
            raise InputError(
                f"the prompt must be a text with places such as {{outputs}}, got {type(prompt).__name__}", path="prompt"
            )
        if not prompt.strip():
            raise InputError("the prompt is blank; say what is asked of the trajectory", path="prompt")
        return cls(prompt.strip())

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its places, each once, in order."""
        return tuple(dict.fromkeys(found[1] for found in _PLACE.finditer(self.text) if found[1]))

    @property
    def instructions(self) -> str:
        """The text with each place replaced by where its material stands."""
        return _PLACE.sub(_worded, self.text)

    def materials(self, given: Mapping[str, Any]) -> tuple[Material, ...]:
        """The material for each place.

        Raises:
            InputError: a place has none; None is none.
        """
        return tuple(Material.of(name, _value(name, given)) for name in self.places)


def _worded(found: re.Match[str]) -> str:
    return f'(see the material named "{found[1]}" below)' if found[1] else found[0][0]


def _value(name: str, given: Mapping[str, Any]) -> Any:
    if (value := given.get(name)) is None:
        known = [each for each, value in given.items() if value is not None]
        message = (
            f"the prompt has the place {{{name}}}, and {name} was not given{nearest(name, known)}; given: {', '.join(known)}"
        )
        raise InputError(message, path="prompt")
    return value
