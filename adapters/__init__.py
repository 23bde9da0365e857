"""How a skill is called: one adapter per kind of skill, one deadline, one envelope, one family of errors."""

from eval_skills.adapters.base import Adapter, Call
from eval_skills.adapters.registry import adapter_types, check_skill, open_adapter, register_adapter, secrets_of

__all__ = ["Adapter", "Call", "adapter_types", "check_skill", "open_adapter", "register_adapter", "secrets_of"]
