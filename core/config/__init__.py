"""Layered configuration: flags over variables over files over defaults, merged key by key."""

from eval_skills.core.config.editing import set_in_file
from eval_skills.core.config.judging import LlmSettings
from eval_skills.core.config.layers import LayeredConfig, is_silent, load_config
from eval_skills.core.config.options import Config
from eval_skills.core.config.values import ID_OR_PATH, PATH, WrittenPath

__all__ = [
    "ID_OR_PATH",
    "PATH",
    "Config",
    "LayeredConfig",
    "LlmSettings",
    "WrittenPath",
    "is_silent",
    "load_config",
    "set_in_file",
]
