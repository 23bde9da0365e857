"""How a skill is called: one adapter per kind of skill, one deadline, one envelope, one family of errors."""

from eval_skills.adapters.base import Adapter
from eval_skills.adapters.call import Call
from eval_skills.adapters.registry import adapter_types, asks_services, check_skill, open_adapter, register_adapter, warnings_for
from eval_skills.adapters.sandbox.limits import Confinement
from eval_skills.adapters.secrets import secrets_of

__all__ = [
    "Adapter",
    "Call",
    "Confinement",
    "adapter_types",
    "asks_services",
    "check_skill",
    "open_adapter",
    "register_adapter",
    "secrets_of",
    "warnings_for",
]
