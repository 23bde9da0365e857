"""The Python object that an entrypoint names: ``module:attribute`` or ``file.py:attribute``."""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.adapters.config import source_of
from eval_skills.core.errors import InputError
from eval_skills.core.models import Skill


@dataclass(frozen=True, slots=True)
class PythonEntrypoint:
    """`place` is a module's dotted name, or the path of a file that ends with ``.py``; `attribute` a dotted name in it."""

    place: str
    attribute: str

    @property
    def is_file(self) -> bool:
        """Whether the place is a file, relative to the skill's folder."""
        return self.place.endswith(".py")

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the skill's folder that may hold it."""
        module = self.place.replace(".", "/")
        return (self.place,) if self.is_file else (f"{module}.py", f"{module}/__init__.py")

    def __str__(self) -> str:
        return f"{self.place}:{self.attribute}"


def python_entrypoint(skill: Skill) -> PythonEntrypoint:
    """The object that `skill` names.

    Raises:
        InputError: the entrypoint has another form, or names a file that is not there.
    """
    place, _, attribute = skill.entrypoint.strip().rpartition(":")
    entrypoint = PythonEntrypoint(place, attribute)
    if not (_is_dotted(attribute) and (entrypoint.is_file or _is_dotted(place))):
        valid = "write module:attribute, for example agent:run, package.agent:graph or agent.py:run"
        raise InputError(
            f"{skill.entrypoint!r} does not name a Python object; {valid}", source=source_of(skill), path="entrypoint"
        )
    if entrypoint.is_file and skill.folder is not None and not (skill.folder / place).is_file():
        raise InputError(f"the skill's folder has no file {place!r}", source=source_of(skill), path="entrypoint")
    return entrypoint


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
