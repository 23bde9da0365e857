"""Did the agent load the skill that it should have?"""

from __future__ import annotations

from dataclasses import dataclass

from eval_skills.core.errors import ScorerError
from eval_skills.core.models import Reason, SkillResponse
from eval_skills.core.models.base import Text
from eval_skills.core.text import first_of
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score


@scorer("skill_loaded")
@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLoaded:
    """1 when the agent loaded the Agent Skill `skill` (read its ``SKILL.md``), else 0; with `loaded` false the other way round.

    Names are compared whole, as they are. What the agent answered does not count. Where it is unknown which skills were loaded,
    as the answer does not say it, or a call of the agent may have loaded more, that is an error of the item, never a verdict:
    else every query that should not load it would pass.
    """

    skill: Text
    loaded: bool = True

    def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason names the skills that were loaded.

        Raises:
            ScorerError: which skills were loaded is unknown.
        """
        if response.skills_loaded is None:
            raise ScorerError(
                "SKILLS_LOADED_UNKNOWN: which skills the agent loaded is unknown: only agents report it (adapterType agent), or "
                "one of its calls reads in the folder of skills in a way that is not understood"
            )
        loaded = list(dict.fromkeys(response.skills_loaded))
        was = f"it loaded {first_of(loaded, 5)}" if loaded else "it loaded none"
        if (self.skill in loaded) == self.loaded:
            return Score(1.0, reason=was)
        code, wanted = ("SKILL_NOT_LOADED", "load") if self.loaded else ("SKILL_LOADED", "not load")
        message = f"expected the agent to {wanted} the skill {self.skill}, and {was}"
        return Score(0.0, reasons=(Reason(code=code, message=message, where="skillsLoaded"),))
