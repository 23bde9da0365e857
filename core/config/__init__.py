"""Layered configuration: flags over variables over files over defaults, merged key by key."""

from eval_skills.core.config.editing import set_in_file
from eval_skills.core.config.layered import LayeredConfig, load_config
from eval_skills.core.config.settings import Config, LlmSettings

__all__ = ["Config", "LayeredConfig", "LlmSettings", "load_config", "set_in_file"]
